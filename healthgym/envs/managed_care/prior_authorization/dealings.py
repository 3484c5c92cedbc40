"""What a practice tells of its dealings: with the payer, with its own paper, and with others.

Facts of a patient stand in the chart, and words that stand nowhere are found by themselves
(:mod:`~healthgym.worlds.managed_care.covered`). How a practice dealt with somebody it tells in
everyday words: that a reviewer promised something, that a note was made to fit, that somebody
vouches, that a law obliges, what is going to happen. None of it is evidence, and each is false
unless it is on record: the payer's own words for what the payer did, the file for all else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import STEM, free_of_policies, stems
from healthgym.worlds.managed_care.disguises import flattened, plain_letters
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.word_forms import form, untitled

#: Looked for by the space, which is sooner found than the sign before it.
_SENTENCE = re.compile(r"\s(?<=[.!?]\s)\s*|[;\n]+")
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
#: What is said to oblige whoever decides: "not answered in a day, it counts as granted".
_LAW = "obliged"
#: Contractions, spelled out.
_CONTRACTED = (("'ve ", " have "), ("'ll ", " will "), ("'d ", " would "))
#: What denies something, a few words before it in its clause; "no doubt" and "I can't stress it
#: enough" affirm it.
_DENIED = re.compile(
    r"\b(?:no(?! (?:doubt|question|longer|less|way around))|not(?! (?:only|just|least))|never|nor|"
    r"neither|none|without(?! (?:a |any )?(?:doubt|question))|nobody|nothing|(?!ca|could)\w+n't)"
    r"(?: (?!that\b|who\b|which\b|but\b|because\b|and\b)[\w'-]+){0,6} $"
)
#: Behind what a question takes for granted: "a denial that your director regretted?"
_GRANTED = re.compile(r"\b(?:what|once|after|since|that|as|when|which|because|given)(?: \w+)? $")
#: Fewest words of a file that are known again in a text, for fewer stand in any.
_RECOGNIZED = 5
#: A decision that the payer's own words may deny.
_GRANTING = ("appro", "grant", "autho", "accep", "clear")
#: What denies it, supposes it or asks for it, right before it, and how near it is looked for.
_REFUSED = re.compile(
    r"\b(?:not|un\w+|cannot|never|no|if|would|could|can|may|might|whether|until|unless|before|to)\b"
    r"[^.;]{0,40}$"
)
_NEAR = 60
#: How words for a mistake, and for what there is no doubt of, begin.
_CONCEDING = ("mista", "error", "misre", "mispr", "wrong", "clerical", "sorry", "quali", "unfai")
#: So many words that the payer did not use are too many in what it is said to have said.
_STRANGE = 3
_LEAST_LETTERS = 4


class Told(NamedTuple):
    """Something that a sentence tells.

    Attributes:
        form: The name of its expression.
        words: How it is told.
        what: The deed, or what was said; blank if that does not matter.
    """

    form: str
    words: str
    what: str


@dataclass(frozen=True)
class Dealings:
    """What is on record of a practice's dealings.

    Attributes:
        file: All that is on file.
        theirs: Returns what the payer wrote and said.
        policy: Returns what the policy says.
        names: Names of people, plan and policy, in small letters, with what they are.
    """

    file: Texts
    theirs: Callable[[], str]
    policy: Callable[[], str]
    names: Mapping[str, str]

    def unfounded(self, text: str, *, alone: bool = False, reason: bool = False) -> Iterator[str]:
        """Yield what a text tells of dealings that is not on record.

        Args:
            text: The text.
            alone: Whether the payer had written and said nothing when it was written.
            reason: Whether it says why nothing is sent.
        """
        for sentence in _SENTENCE.split(self._plain(text)):
            for told in told_in(sentence) if sentence else ():
                why = self._wrong(told, alone=alone or not self._payer, reason=reason)
                if why:
                    yield f"{why}: {told.words[:60]!r}"

    def _plain(self, text: str) -> str:
        small = plain_letters(text.replace("’", "'")).casefold()
        for name, what in (*self.names.items(), *_CONTRACTED):
            small = small.replace(name, what)
        return untitled(small)

    def _wrong(self, told: Told, *, alone: bool, reason: bool) -> str:
        if told.form in _NOT_ON_FILE:
            return "" if self._has(told.words) else _NOT_ON_FILE[told.form]
        if told.form in _NO_REASON:
            return _NO_REASON[told.form] if reason and not self._has(told.words) else ""
        if told.form == _WROTE:
            return "the payer has not written" if alone else ""
        if alone:
            return "the payer has not spoken"
        if told.form == _NUMBERED:
            return "" if self._has(told.what) else "no such number"
        if told.form == _DID:
            return "" if self._did(told.what) else "the payer did not"
        if told.form == _DECIDER:
            return "" if stems(told.what) & stems(self._payer) else "somebody else decided"
        return "" if self._they_said(told.what) else "the payer did not say so"

    def _has(self, words: str) -> bool:
        return flattened(words) in self.file.flat

    def _did(self, deed: str) -> bool:
        """Return whether the payer's own words have a deed; of a decision, without denying it."""
        stem = deed[:STEM]
        places = (found.start() for found in re.finditer(rf"\b{re.escape(stem)}", self._payer))
        return any(
            not stem.startswith(_GRANTING)
            or not _REFUSED.search(self._payer, max(place - _NEAR, 0), place)
            for place in places
        )

    def _they_said(self, what: str) -> bool:
        """Return whether what the payer is said to have said may be in its words.

        What was said is told again in other words. A grant or a mistake is in its own words, or
        it was none; of all else most words are.
        """
        told = stems(what)
        heavy = (stem for stem in told if stem.startswith((*_GRANTING, *_CONCEDING)))
        strange = {one for one in told if len(one) >= _LEAST_LETTERS}
        strange -= free_of_policies() | self._known
        return all(map(self._did, heavy)) and len(strange) < max(_STRANGE, len(told) / 2)

    @cached_property
    def _payer(self) -> str:
        return self.theirs().casefold()

    @cached_property
    def _known(self) -> frozenset[str]:
        return stems(self._payer) | stems(self.policy())


@short_text_cache(2048, 400)  # it tells the same on any file
def told_in(sentence: str) -> tuple[Told, ...]:
    """Return what a sentence, in small letters, tells of dealings."""
    return tuple(_told(sentence))


def _told(sentence: str) -> Iterator[Told]:
    for name in (*_NOT_ON_FILE, *_NO_REASON, _WROTE):
        found = form(name).search(sentence)
        if found and (name == _LAW or not _DENIED.search(sentence[: found.start()])):
            yield Told(name, _widened(found), "")
    asks = sentence.endswith("?")
    for name in (_DID, _SAID, _NUMBERED, _DECIDER):
        for found in form(name).finditer(sentence):
            before = sentence[: found.start()]
            if not _DENIED.search(before) and not (asks and not _GRANTED.search(before)):
                yield Told(name, found[0], next(filter(None, found.groupdict().values()), ""))


def _widened(found: re.Match[str]) -> str:
    """Return what was found with the words behind it, if by itself it has few."""
    words = found[0].split()
    return " ".join((*words, *found.string[found.end() :].split()[: _RECOGNIZED - len(words)]))
