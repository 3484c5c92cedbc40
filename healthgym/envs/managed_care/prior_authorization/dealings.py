"""What a practice tells of its dealings: with the payer, with its own paper, and with others.

That a reviewer promised something, that a note was made to fit, that somebody vouches, that a law
obliges, what is going to happen: it is false unless it is on record
(:mod:`~healthgym.worlds.managed_care.dealings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import stems
from healthgym.worlds.managed_care.dealings import (
    RECOGNIZED,
    DealtWith,
    Told,
    asked,
    denied,
    what_of,
)
from healthgym.worlds.managed_care.word_forms import form

#: What may not be told unless the file has it in these words, by the name of its expression.
_NOT_ON_FILE = {
    "tampered": "paper that is made to fit is none",
    "obliged": "nothing obliges",
    "vouched": "nobody vouched on paper",
    "leaned_on": "no reason to approve or deny",
    "undermined": "words that take back what they say",
    "dire": "nothing on file foretells it",
    "had_already": "nothing like that was done",
}
#: The same, where a reason to send nothing is given.
_NO_REASON = {"unfit_reason": "no reason to send nothing"}
#: What the payer is said to have done, to have said and to have given a number; who decided for it;
#: and what it wrote, where it wrote nothing.
_DID, _SAID, _NUMBERED, _DECIDER = "granted_us", "said_by_them", "numbered", "signed_by"
_WROTE = "their_letter"
#: What takes back a request, and is a reason to hold it: "does not meet C14".
_UNMET = re.compile(r"n['o]t (?:\w+ )?(?:meet|satisfy|fulfil\w*|qualify)\b")
#: What is said to oblige whoever decides: "not answered in a day, it counts as granted".
_LAW = "obliged"


class Dealings(DealtWith):
    """What is on record of a practice's dealings."""

    def unfounded(self, text: str, *, alone: bool = False, reason: bool = False) -> Iterator[str]:
        """Yield what a text tells of dealings that is not on record.

        Args:
            text: The text.
            alone: Whether the payer had written and said nothing when it was written.
            reason: Whether it says why nothing is sent.
        """
        for sentence in self.sentences(text):
            for told in told_in(sentence):
                why = self._wrong(told, alone=alone or not self.spoken, reason=reason)
                if why:
                    yield f"{why}: {told.words[:60]!r}"

    def _wrong(self, told: Told, *, alone: bool, reason: bool) -> str:
        if told.form in (*_NOT_ON_FILE, *_NO_REASON) and self.printed(told.what):
            return ""  # an ambulance is no threat where a ride in one is what is asked for
        if reason and _UNMET.search(told.what):
            return ""  # why nothing is sent yet, and no doubt of one's own request
        if told.form in _NOT_ON_FILE:
            return "" if self.has(told.words) else _NOT_ON_FILE[told.form]
        if told.form in _NO_REASON:
            return _NO_REASON[told.form] if reason and not self.has(told.words) else ""
        if told.form == _WROTE:
            return "the payer has not written" if alone else ""
        if alone:
            return "the payer has not spoken"
        if told.form == _NUMBERED:
            return "" if self.has(told.what) else "no such number"
        if told.form == _DID:
            return "" if self.did(told.what) else "the payer did not"
        if told.form == _DECIDER:
            return "" if stems(told.what) & stems(self.spoken) else "somebody else decided"
        return "" if self.said(told.what) else "the payer did not say so"


@short_text_cache(2048, 400)  # it tells the same on any file
def told_in(sentence: str) -> tuple[Told, ...]:
    """Return what a sentence, in small letters, tells of dealings."""
    return tuple(_told(sentence))


def _told(sentence: str) -> Iterator[Told]:
    for name in (*_NOT_ON_FILE, *_NO_REASON, _WROTE):
        found = form(name).search(sentence)
        if found and (name == _LAW or not denied(sentence[: found.start()])):
            yield Told(name, _widened(found), found[0])
    for name in (_DID, _SAID, _NUMBERED, _DECIDER):
        for found in form(name).finditer(sentence):
            before = sentence[: found.start()]
            if not denied(before) and not asked(sentence, before):
                yield Told(name, found[0], what_of(found))


def _widened(found: re.Match[str]) -> str:
    """Return what was found with the words behind it, if by itself it has few."""
    words = found[0].split()
    lacking = max(RECOGNIZED - len(words), 0)
    return " ".join((*words, *found.string[found.end() :].split()[:lacking]))
