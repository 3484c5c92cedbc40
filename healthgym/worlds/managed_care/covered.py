"""Whether what somebody claims in words of their own is covered by what they could see.

The words of an office are free: its handbook, its letters, and everyday language. What is claimed
beyond them has to be there: :mod:`.doubts` finds what a sentence brings up, and :mod:`.seen` knows
what could be seen. A quotation has to be one, and letters have to be read as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.disguises import disguised, flattened, plain_letters
from healthgym.worlds.managed_care.doubts import (
    DATED,
    DAY,
    LONGEST,
    Doubt,
    Fact,
    doubts_of,
)
from healthgym.worlds.managed_care.seen import MONTHS, Seen
from healthgym.worlds.managed_care.short_forms import short_forms, spelled_out
from healthgym.worlds.managed_care.word_forms import untitled

#: Looked for by the space or semicolon, which is sooner found than what is before and behind it.
_SENTENCE = re.compile(r"[\s;](?:(?<=[.!?]\s)\s*(?=[A-Z\"“(])|(?<=[;\n])[;\n]*)")
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_LEAST_QUOTED = 2
#: Results that a finding may have, which are no saying of anybody's.
_RESULTS = frozenset({"met", "not met", "unclear"})
#: Marks of a heading, of stress or of code, which are no part of a word.
_MARKS = re.compile(r"[*`]+|(?<!\w)#+|(?m:^\s*(?:[-+>]|\d+[.)])\s)")
#: What of a quotation may be written in another form: days and numbers.
_DATES = re.compile(rf"\b(?:\d+|{'|'.join(map(str.casefold, MONTHS))})\b")


def uncovered(text: str, seen: Seen, *, facts: bool = True) -> Iterator[str]:
    """Yield what a text claims that could not be seen.

    Args:
        text: What somebody wrote.
        seen: What could be seen.
        facts: Whether each word for what is there or not, as an illness or a test, is looked up,
            which takes all that is on file where it is not there.
    """
    yield from disguised(text, seen.has, seen.pages)
    clean = plain_letters(text.replace("’", "'"))
    for quoted in _QUOTED.findall(clean):
        parts = filter(None, map(_flat, re.split(r"\.{3}|…", quoted)))
        if _flat(quoted) in _RESULTS:
            continue  # "what the policy wants is 'not met'"
        if any(len(part.split()) >= _LEAST_QUOTED and not _stands(part, seen) for part in parts):
            yield f"nobody wrote or said: {quoted[:60]!r}"
    for sentence in _SENTENCE.split(untitled(_MARKS.sub(" ", clean))):
        told, shorts, doubts = _read(sentence, seen.pages)
        if shorts:
            doubts = doubts_of(_spelled_out(told, shorts, seen), seen.pages)
        asked = (doubt for doubt in doubts if facts or not isinstance(doubt, Fact))
        yield from filter(None, (doubt(seen) for doubt in asked))


@short_text_cache(2048, LONGEST)
def _read(
    sentence: str, pages: tuple[str, ...]
) -> tuple[str, tuple[re.Match[str], ...], tuple[Doubt, ...]]:
    """Return a sentence without its days, the abbreviations in it, and what it brings up."""
    told = " ".join(sentence.split())
    told = DAY.sub("0", told) if DATED.search(told) else told
    return told, tuple(short_forms(told)), doubts_of(told, pages)


def _spelled_out(sentence: str, shorts: Iterable[re.Match[str]], seen: Seen) -> str:
    """Return a sentence without abbreviations of what stands on file in full."""
    for found in reversed(tuple(shorts)):
        name = found[0].casefold()
        if not seen.has(name) and any(spelled_out(found[0], text) for text in seen.texts):
            sentence = f"{sentence[: found.start()]}0{sentence[found.end() :]}"
    return sentence


def _stands(quoted: str, seen: Seen) -> bool:
    """Return whether a quotation stands on file; a day in it may be in another form there."""
    if quoted in seen.texts.flat:
        return True
    parts = [re.escape(part.strip()) for part in _DATES.split(quoted) if part.strip()]
    if not parts or not _DATES.search(quoted):
        return False
    between = rf" (?:{_DATES.pattern} ?)+"
    return re.search(between.join(parts), seen.texts.flat) is not None


def _flat(text: str) -> str:
    return flattened(text.casefold())
