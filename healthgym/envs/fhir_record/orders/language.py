"""Whether free words are written in a language that is not read here.

Orders are written for a record system in English, and whoever reads a note in another language by
English words reads nothing of it. The few words that sentences of German, French and Spanish are
built with tell them; so do letters and endings that English has not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from healthgym.envs.fhir_record.orders.quantities import squeezed
from healthgym.envs.fhir_record.orders.tables import read_table

_OTHERS = ("german", "french", "spanish")
#: The last letter of the Latin alphabets of Western Europe.
_LATIN = 0x24F
#: What a word counts that may be English: "LA", "est" and "et al" are.
_SHARED = 0.4
#: Letters beside digits are a code, such as NUR1373, and no word.
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:'[^\W\d_]+)*(?!\w)")
#: Letters that English has in names and loans only.
_LETTER = re.compile(r"[äöüßéèêëàâáçñíìîïóòôúùûœæ¿¡]")
#: How words of these languages end and no English ones of charts.
_ENDING = re.compile(
    r".{3,}(?:ieren|iert|ierung|lich|keit|heit|schaft|mäßig|stimmen|eln|gabe|ción|mente|miento)$"
    r"|.{5,}(?:ungen|nisse?)$|(?:l|d|qu|j|n|s)'[aeiouhyéêè].+"
)


def is_foreign(text: str) -> bool:
    """Return whether a text is German, French, Spanish, or in letters that are not Latin.

    Args:
        text: Free text as written.
    """
    words = _WORD.findall(squeezed(text).replace("\u2019", "'"))
    if any(ord(letter) > _LATIN and letter.isalpha() and not _is_greek(letter) for letter in text):
        return True
    known = _words()
    own = sum(word in known["english"] for word in words)
    most = max(sum(_weight(word, name) for word in words) for name in _OTHERS)
    return most >= 1 and most > own


def _weight(word: str, language: str) -> float:
    """Return what a word says for a language; less than one where others have to say it, too.

    Those are letters, which English has in names, and words that are abbreviations in English.
    """
    known = _words()
    if word in known[language]:
        return _SHARED if word in known["shared"] else 1.0
    if _ENDING.match(word):
        return 1.0
    return 0.5 if _LETTER.search(word) else 0.0


def _is_greek(letter: str) -> bool:
    return 0x370 <= ord(letter) <= 0x3FF  # "β-blocker"


@cache
def _words() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in read_table("languages").items()}
