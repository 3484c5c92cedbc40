"""A call between the two seats as it is on record, and what can be said on it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome

#: Who speaks, in this order.
SIDES = (PROVIDER, PAYER)
#: Most characters of one turn; two minutes of speech have about 2,000.
LONGEST = 4_000
_WORD = re.compile(r"[^\W\d_]{2,}")
_RUN = re.compile(r"\w+")
#: No word in Latin letters is longer; one of so many or more has a vowel, in most words.
_LONGEST_WORD, _LONG_WORD = 40, 4
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
#: Scripts that one turn is written in at most: names and units may be in another one.
_SCRIPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One turn of a call.

    Attributes:
        side: Who speaks.
        message: What is said.
        position: What the side thinks ought to come of the call.
        ready: Whether it has nothing to add.
        at: When.
    """

    side: str
    message: str
    position: PeerToPeerOutcome
    ready: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A call between the two seats.

    Attributes:
        request_id: The request for it.
        case_id: The case.
        opened_at: When it began.
        turns: What was said.
        ended: Why it is over; empty while it lasts.
    """

    request_id: str
    case_id: str
    opened_at: datetime
    turns: tuple[Utterance, ...] = ()
    ended: str = ""

    @property
    def speaker(self) -> str:
        """Whose turn it is; empty once the call is over."""
        return "" if self.ended else SIDES[len(self.turns) % len(SIDES)]

    def last(self, side: str) -> Utterance | None:
        """Return what a side said last; None if it said nothing."""
        return next((turn for turn in reversed(self.turns) if turn.side == side), None)

    def position(self, side: str) -> str | None:
        """Return the position that a side stated last."""
        said = self.last(side)
        return str(said.position) if said else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A call that the provider asked for.

    Attributes:
        id: Id of this record.
        case_id: The case.
        contact: Whom the provider would talk to; may be empty.
        at: When it asked.
        refused: Why the payer refused; empty if it did not.
    """

    id: str
    case_id: str
    contact: str
    at: datetime
    refused: str = ""


def require_speech(text: str, name: str = "message") -> None:
    """Refuse what nobody could say or understand.

    Args:
        text: What is said.
        name: Name of the argument, for the sentence.

    Raises:
        Refusal: If it is empty, longer than a turn may be, holds signs that are no text, or no
            words but noise in letters.
    """
    if not text.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, f"{name}: say something, in words.")
    if len(text) > LONGEST:
        raise Refusal(
            RefusalCode.UNREASONABLE_TEXT,
            f"{name} has {len(text)} characters; a turn has at most {LONGEST}.",
        )
    readable = all(sign.isprintable() or sign in "\n\t" for sign in text)
    if not readable or not _worded(text):
        raise Refusal(RefusalCode.UNREASONABLE_TEXT, f"{name}: these are no words; use words.")


def _worded(text: str) -> bool:
    """Return whether letters make words, as far as their shape tells.

    Bytes that are read as text give letters with accents, letters of all scripts, or none between
    which there is a space or a vowel.
    """
    letters = "".join(_WORD.findall(text))
    scripts = Counter(unicodedata.name(sign, "").partition(" ")[0] for sign in letters)
    plain = sum(map(str.isascii, letters))
    runs = [run for run in _RUN.findall(text) if run.isascii()]
    endless = sum(len(run) for run in runs if len(run) > _LONGEST_WORD)
    long = [run for run in runs if run.isalpha() and len(run) >= _LONG_WORD]
    voiced = sum(_VOWEL.search(run) is not None for run in long)
    return (
        bool(letters)
        and len(scripts) <= _SCRIPTS
        and 2 * plain >= scripts["LATIN"]
        and 2 * endless <= len(letters)
        and 2 * voiced >= len(long)
    )
