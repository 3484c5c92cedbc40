"""Names, abbreviations in capitals and months in a sentence, which have to be known to the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from healthgym.worlds.managed_care.claim_words import desk_words, everyday, kind, kinds
from healthgym.worlds.managed_care.seen import MONTHS, Seen
from healthgym.worlds.managed_care.short_forms import known_short
from healthgym.worlds.managed_care.word_forms import before

#: Kinds of words of which each sentence is asked how it speaks of them.
JUDGED = frozenset({"clinical", "conduct", "kin", "others", "private", "times"})
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]")
MONTH_NAMES = "|".join((*MONTHS, *(rf"{month[:3]}\b\.?" for month in MONTHS), r"Sept\b\.?"))
#: "May I ask" is no month.
_ASKS = r"(?<!May)|(?! (?:I|we|you|he|she|it|they|this|that|these|be|not)\b)"
MONTH = re.compile(rf"\b({MONTH_NAMES})(?!\w)(?! \d)(?:{_ASKS})")
#: Most letters of an abbreviation, and fewest of a word that is none.
_SHORTHAND, LEAST_LETTERS = 5, 4
_LEAST_PLURAL = 3
#: Before what is said not to be there.
_NONE = re.compile(r"\b(?:no|neither|nor|without|denies) $")
_VOWEL = re.compile(r"[aeiouy]")


def names_in(sentence: str, pages: tuple[str, ...]) -> Iterator[Callable[[Seen], str]]:
    """Yield names, and abbreviations in capitals, that no office has, each to be looked up.

    Args:
        sentence: The sentence.
        pages: Folders of the handbook whose words are free.
    """
    words, asked = list(WORD.finditer(sentence)), sentence.rstrip().endswith("?")
    folded = sentence.casefold()
    shouted = sum(word[0].isupper() and len(word[0]) > 1 for word in words) * 2 > len(words)
    for word in () if shouted else words[1:]:
        if not word[0][0].isupper():
            continue
        name = word[0].casefold().removesuffix("'s")
        if word[0].endswith("s") and word[0][:-1].isupper() and len(name) > _LEAST_PLURAL:
            name = name[:-1]  # "MRIs"
        if len(name) == 1 or _is_shorthand(word[0]):
            continue
        if _NONE.search(folded, 0, word.start()):
            continue  # "no Crohn's"
        ahead = sentence[max(word.start() - 2, 0) : word.start()].rstrip()
        opens = ahead.endswith((":", "(", '"', ";", ".", "\u2022", "\u2192", "\u2013", "-"))
        if opens or kind("known_names", name.split("'")[0]) or ("-" in name and _plain(name)):
            continue  # "I'd", "RN-approvable"
        owned = word[0].removesuffix("'s")
        if MONTH.fullmatch(owned) or name in desk_words(pages):  # months are asked for as such
            continue
        # Nobody says that there is what is asked for, or denied.
        if not (known_short(name) and (asked or before("not_there", folded, word.start()))):
            yield partial(_named, word[0], name)


def _is_shorthand(word: str) -> bool:
    """Return whether a word names nothing: short for what no table has (PN, Grp), or just loud."""
    name = word.casefold()
    if known_short(name) or kinds(name) & JUDGED:
        return False
    if word.isupper() and _plain(name):
        return True
    return (word.isupper() or not _VOWEL.search(name)) and len(name) <= _SHORTHAND


def _plain(name: str) -> bool:
    """Return whether all parts of a word are of everyday language or of any office."""
    return all(everyday(part) or kind("known_names", part) for part in name.split("-"))


def _named(word: str, name: str, seen: Seen) -> str:
    known = seen.has(name) or all(map(seen.has, name.split("-")))
    known = known or (known_short(name) and seen.stands(name)) or seen.begins(name)
    return "" if known else f"nowhere named: {word}"


def month_on_file(month: str, seen: Seen) -> str:
    """Return what is wrong with a month: blank if a day that could be seen is in it."""
    known = any(each.startswith(month.rstrip(".")) for each in seen.months())
    return "" if known else f"nowhere dated: {month}"
