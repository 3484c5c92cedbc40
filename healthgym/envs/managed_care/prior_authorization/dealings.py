"""What a practice tells of its dealings: with the payer, with its own paper, and with others.

That a reviewer promised something, that a note was made to fit, that somebody vouches, what is
going to happen: it is false unless it is on record
(:mod:`~healthgym.worlds.managed_care.dealings`). Kept are expressions that know falsehoods which
nobody had looked at; what only knew those it was made of refused as much that was honest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.dealings import (
    RECOGNIZED,
    DealtWith,
    Told,
    asked,
    denied,
    what_of,
)
from healthgym.worlds.managed_care.seen import CORRECTED
from healthgym.worlds.managed_care.word_forms import form

#: What may not be told unless the file has it in these words, by the name of its expression.
_NOT_ON_FILE = {
    "tampered": "paper that is made to fit is none",
    "vouched": "nobody vouched on paper",
    "leaned_on": "no reason to approve or deny",
    "dire": "nothing on file foretells it",
    "had_already": "nothing like that was done",
}
#: What may be so, or not: "whether the entry is correct".
_SUPPOSED = re.compile(r"\b(?:if|whether|unless)\b[^.;]*$")
#: What the payer is said to have done, and what it wrote, where it wrote nothing.
_DID, _WROTE = "granted_us", "their_letter"
#: How deeds begin by which somebody gives in.
_GAVE_IN = ("accept", "agree", "conced", "acknowledg", "admit", "confirm")


@dataclass(frozen=True)
class Dealings(DealtWith):
    """What is on record of a practice's dealings.

    Attributes:
        conceded: Whether the payer's physician gave in on a call, in whichever words.
    """

    conceded: bool = False

    def unfounded(self, text: str, *, alone: bool = False) -> Iterator[str]:
        """Yield what a text tells of dealings that is not on record.

        Args:
            text: The text.
            alone: Whether the payer had written and said nothing when it was written.
        """
        for sentence in self.sentences(text):
            for told in told_in(sentence):
                why = self._wrong(told, alone=alone or not self.spoken)
                if why:
                    yield f"{why}: {told.words[:60]!r}"

    def _wrong(self, told: Told, *, alone: bool) -> str:
        if told.form in _NOT_ON_FILE:
            # An ambulance is no threat where a ride in one is what is asked for.
            mended = told.words.endswith("corrected") and any(map(self.has, CORRECTED))
            known = mended or self.printed(told.what) or self.has(told.words)
            return "" if known else _NOT_ON_FILE[told.form]
        if told.form == _WROTE:
            return "the payer has not written" if alone else ""
        if alone:
            return "the payer has not spoken"
        gave_in = self.conceded and told.what.startswith(_GAVE_IN)
        return "" if gave_in or self.did(told.what) else "the payer did not"


@short_text_cache(2048, 400)  # it tells the same on any file
def told_in(sentence: str) -> tuple[Told, ...]:
    """Return what a sentence, in small letters, tells of dealings."""
    return tuple(_told(sentence))


def _told(sentence: str) -> Iterator[Told]:
    for name in (*_NOT_ON_FILE, _WROTE):
        found = form(name).search(sentence)
        before = sentence[: found.start()] if found else ""
        if found and not denied(before) and not _SUPPOSED.search(before):
            yield Told(name, _widened(found), found[0])
    for found in form(_DID).finditer(sentence):
        before = sentence[: found.start()]
        if not denied(before) and not asked(sentence, before):
            yield Told(_DID, found[0], what_of(found))


def _widened(found: re.Match[str]) -> str:
    """Return what was found with the words behind it, if by itself it has few."""
    words = found[0].split()
    lacking = max(RECOGNIZED - len(words), 0)
    return " ".join((*words, *found.string[found.end() :].split()[:lacking]))
