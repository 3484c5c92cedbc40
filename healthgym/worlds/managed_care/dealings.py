"""What is on record of how an office dealt with others, and how its own words tell of it.

Facts of a patient stand in the chart, and words that stand nowhere are found by themselves
(:mod:`.covered`). How an office dealt with somebody it tells in everyday words: that the other side
promised something, that paper was made to fit, that a law obliges. None of it is evidence, and each
is false unless it is on record: the other side's own words for what it did and said, the file for
all else. What either desk may tell is its own (``prior_authorization/dealings.py`` and
``utilization_management/dealings.py``); how it is looked up is here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from healthgym.worlds.managed_care.claim_words import STEM
from healthgym.worlds.managed_care.disguises import flattened, plain_letters
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.word_forms import untitled

#: Looked for by the space, which is sooner found than the sign before it.
_SENTENCE = re.compile(r"\s(?<=[.!?]\s)\s*|[;\n]+")
#: Contractions, spelled out.
CONTRACTED = (("'ve ", " have "), ("'ll ", " will "), ("'d ", " would "))
#: What denies something; "no doubt" and "I can't stress it enough" affirm it.
NOT = (
    r"\b(?:no(?! (?:doubt|question|longer|less|way around))|not(?! (?:only|just|least))|never|nor|"
    r"neither|none|without(?! (?:a |any )?(?:doubt|question))|nobody|nothing|(?!ca|could)\w+n't)"
)
#: The same, a few words before it in its clause.
_DENIED = re.compile(NOT + r"(?: (?!that\b|who\b|which\b|but\b|because\b|and\b)[\w'-]+){0,6} $")
#: Behind what a question takes for granted: "a denial that your director regretted?"
_GRANTED = re.compile(r"\b(?:what|once|after|since|that|as|when|which|because|given)(?: \w+)? $")
#: What makes a question of a statement, and takes nothing back: "you know that, don't you?"
_TAG = re.compile(
    r", (?:is|are|was|were|do|does|did|have|has|had|will|would|can|could)(?:n't)? "
    r"(?:i|you|he|she|it|we|they)\?$"
)
#: Fewest words of a file that are known again in a text, for fewer stand in any.
RECOGNIZED = 5
#: A decision that the other side's own words may deny.
_GRANTING = ("appro", "grant", "autho", "accep", "clear")
#: What denies it, supposes it or asks for it, right before it, and how near it is looked for.
_REFUSED = re.compile(
    r"\b(?:not|un\w+|cannot|never|no|if|would|could|can|may|might|whether|until|unless|before|to)\b"
    r"[^.;]{0,40}$"
)
_NEAR = 60


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
class DealtWith:
    """What is on record of an office's dealings.

    Attributes:
        file: All that is on file.
        theirs: Returns what the other side wrote and said.
        policy: Returns what the policy says, and what the service is called.
        names: Names of people, plan and policy, in small letters, with what they are.
    """

    file: Texts
    theirs: Callable[[], str]
    policy: Callable[[], str]
    names: Mapping[str, str]

    def sentences(self, text: str) -> Iterator[str]:
        """Yield the sentences of a text in small letters, names told as what they are."""
        small = plain_letters(text.replace("’", "'")).casefold()
        for name, what in (*self.names.items(), *CONTRACTED):
            small = small.replace(name, what)
        return filter(None, _SENTENCE.split(untitled(small)))

    def has(self, words: str) -> bool:
        """Return whether words stand on file side by side."""
        return flattened(words) in self.file.flat

    def printed(self, words: str) -> bool:
        """Return whether words are those of the service, or stand in its policy."""
        return flattened(words) in self._printed

    def did(self, deed: str) -> bool:
        """Return whether the other side's words have a deed; of a decision, without denying it."""
        stem = deed[:STEM]
        places = (found.start() for found in re.finditer(rf"\b{re.escape(stem)}", self.spoken))
        return any(
            not stem.startswith(_GRANTING)
            or not _REFUSED.search(self.spoken, max(place - _NEAR, 0), place)
            for place in places
        )

    @cached_property
    def spoken(self) -> str:
        """What the other side wrote and said, in small letters."""
        return self.theirs().casefold()

    @cached_property
    def _printed(self) -> str:
        return flattened(self.policy().casefold())


def denied(before: str) -> bool:
    """Return whether what stands before something in its clause denies it."""
    return _DENIED.search(before) is not None


def asked(sentence: str, before: str) -> bool:
    """Return whether a sentence asks for something, and does not take it for granted."""
    return sentence.endswith("?") and not (_TAG.search(sentence) or _GRANTED.search(before))


def what_of(found: re.Match[str]) -> str:
    """Return the deed, or what was said, of what was found; blank if it names none."""
    return next(filter(None, found.groupdict().values()), "")
