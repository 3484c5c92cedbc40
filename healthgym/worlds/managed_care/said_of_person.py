"""What a sentence says of the person whom a file is about, in words that no office prints.

What somebody does or has is on file, or nobody knows it, in however common words it is told.
"""

from __future__ import annotations

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import (
    contracted,
    desk_stems,
    everyday,
    kinds,
    small,
    stands,
)
from healthgym.worlds.managed_care.doubts import LONGEST
from healthgym.worlds.managed_care.named import JUDGED, LEAST_LETTERS
from healthgym.worlds.managed_care.numerals import is_number
from healthgym.worlds.managed_care.word_forms import CLAUSE, form

#: Kinds of words that are asked of each sentence already, or that join others, or by which somebody
#: is held against a policy ("exceeds the limit").
_PASSED = JUDGED | {"joining", "weighing"}
#: The same, with words for what an office gives, of which somebody who needs it has had nothing.
_NEEDED = _PASSED | {"given"}
#: Units of values, each without its plural's end.
_UNITS = frozenset(
    {
        *("milligram", "microgram", "gram", "kilogram", "pound", "ounce", "liter", "litre"),
        *("milliliter", "millilitre", "millimeter", "millimetre", "centimeter", "centimetre"),
        *("meter", "metre", "percent", "degree", "point", "unit"),
    }
)


@short_text_cache(2048, LONGEST)
def words_of_person(sentence: str, pages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that a sentence says of the patient and that an office does not print.

    Args:
        sentence: The sentence, in small letters, with "the patient" for a name.
        pages: Folders of the handbook whose words are free.
    """
    desk, words = desk_stems(pages), []
    for clause in CLAUSE.split(sentence):
        told = form("of_person").match(clause.strip())
        what = (told["what"] or told["deed"]) if told else ""
        if not what or form("allowed").match(what):
            continue
        # "Is an unpleasant effect" may be said of anything.
        of_anything = what.startswith(("is a ", "is an ", "was a ", "was an "))
        free = _NEEDED if what.startswith("needs ") else _PASSED
        for word in small(what):
            anything = of_anything and everyday(word) and not kinds(word) & JUDGED
            if not (anything or _names_nothing(word) or kinds(word) & free or stands(word, desk)):
                words.append(word)
    return tuple(words)


def _names_nothing(word: str) -> bool:
    """Return whether a word tells how, how many or nothing, whoever it is said of."""
    short = len(word) < LEAST_LETTERS or contracted(word)
    return short or word.endswith("ly") or is_number(word) or word.removesuffix("s") in _UNITS
