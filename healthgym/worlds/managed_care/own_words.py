"""Words of somebody's own: whether they can stand in a letter, a reason, a note or a call.

Read is what holds whatever a case is about: a form that was not filled in, abuse and threats, and
words that take back what they say ("it is false that", "I made this up"). And, where it is known
what was decided, a statement of another decision; where it is known until when somebody may appeal,
one of other rights. What is supposed, was decided before or of something else, or is denied of
being so ("is not denied") is no statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.word_forms import form, untitled


class Said(StrEnum):
    """A decision that words can state.

    Attributes:
        APPROVED: What was asked for is granted.
        DENIED: It is not.
        WHOLE: It is granted, or denied, as a whole and not in part.
    """

    APPROVED = "approved"
    DENIED = "denied"
    WHOLE = "whole"


#: What cannot stand anywhere, by the name of its expression; capitals are looked for as they are.
_CANNOT_STAND = {
    "unfilled": "a slot that nobody filled in",
    "capitals": "a slot that nobody filled in",
    "abuse": "abuse or a threat",
    "disowning": "words that take back what they say",
}
_SENTENCE = re.compile(r"[.;!?\n]+(?=\s|$)")
#: What a heading begins with.
_HEADING = re.compile(r"(?m:^\s*#{1,6} )")
#: Characters of a sentence of which is kept what it says: of such a one there are few enough.
_LONGEST = 400
_CLAUSE = re.compile(r",|\b(?:but|however|yet|still|nevertheless|although|though)\b")


@short_text_cache(512, 20_000)
def unsound(text: str) -> str:
    """Return what about a text cannot stand in any record, and where; blank if nothing does."""
    flat = " ".join(_HEADING.sub("", text).replace("’", "'").split())
    small = flat.casefold()
    for name, kind in _CANNOT_STAND.items():
        found = form(name).search(flat if name == "capitals" else small)
        if found is not None:
            return f"{kind}: {found[0].strip()[:60]!r}"
    return ""


def says(words: Iterable[Said], text: str) -> str:
    """Return a clause that states one of some decisions; blank if none does.

    What is supposed is no statement, nor a clause that is about another time, or about no case. A
    condition on what is granted is a denial, and leave to go ahead at the plan's cost a grant.

    Args:
        words: The decisions that are looked for.
        text: The text.
    """
    known = frozenset(words)
    if not known:
        return ""
    if Said.WHOLE in known:
        whole = next(filter(_of_the_whole, stated_sentences(text)), "")
        return whole or says(known - {Said.WHOLE}, text)
    for sentence in _sentences(text):
        if _decides(sentence, known):
            return sentence
    return next(filter(None, (_states(each, known) for each in stated_sentences(text))), "")


@short_text_cache(2048, _LONGEST)
def _decides(sentence: str, known: frozenset[Said]) -> bool:
    """Return whether a sentence denies by a condition, or grants leave to go ahead."""
    if Said.DENIED in known and form("conditions").search(sentence):
        return True
    granted = Said.APPROVED in known and form("grants").search(sentence)
    return bool(granted) and not form("open").search(sentence)


@short_text_cache(2048, _LONGEST)
def _states(sentence: str, known: frozenset[Said]) -> str:
    """Return what of a sentence states one of some decisions; blank if nothing does."""
    if any(form(f"of_all_{word}").search(sentence) for word in known):
        return sentence
    for clause in dict.fromkeys((sentence, *map(str.strip, _CLAUSE.split(sentence)))):
        here = not form("elsewhere").search(clause)
        if here and any(form(f"says_{word}").search(clause) for word in known):
            return clause
    return ""


def _of_the_whole(sentence: str) -> bool:
    """Return whether a sentence grants or denies all that was asked for."""
    if form("whole_denied").search(sentence):
        return True
    if form("elsewhere").search(sentence):
        return False
    if form("whole_granted").search(sentence):
        return True
    return not form("in_part").search(sentence) and form("says_denied").search(sentence) is not None


def stated_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, in small letters, that suppose nothing."""
    return filter(None, map(_outright, _sentences(text)))


@short_text_cache(256, 20_000)  # one text is asked for each decision, and for criteria
def _sentences(text: str) -> tuple[str, ...]:
    parts = (" ".join(part.split()) for part in _SENTENCE.split(untitled(text.casefold())))
    return tuple(filter(None, parts))


@short_text_cache(2048, _LONGEST)
def _outright(sentence: str) -> str:
    """Return what a sentence says outright: of one that supposes what it takes for granted."""
    return presumed(sentence) if form("supposed").search(sentence) else sentence


def presumed(sentence: str) -> str:
    """Return what a sentence takes for granted ("is it true that …"); blank if nothing.

    Args:
        sentence: A question or supposition, in small letters.
    """
    found = form("presumes").search(sentence)
    return (found["what"] or found["when"]).strip() if found else ""
