"""Whether a text calls criteria met, or not met, that the packet shows otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from healthgym.worlds.managed_care.own_words import stated_sentences
from healthgym.worlds.managed_care.policies.evaluation import Assessment
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult, Posture
from healthgym.worlds.managed_care.word_forms import form

#: Looked for by its first letter, which is sooner found than the beginning of a word.
_MET = re.compile(
    r"c(?<!\wc)(?:riterion )?\s?0*(\d{1,2})\b"
    r"(?P<said>(?:(?!\b(?:is|are|was|were)\b)[^.,;:]){0,40}?)\b(?:is|are|was|were|has been|"
    r"have been|stands as)(?P<not> not| un| hardly| never)?"
    r"(?: (?:clearly|fully|plainly|also|thus|now))?"
    r" ?(?:met|satisfied|fulfilled|shown|established|proven|demonstrated)\b"
    r"(?! (?:(?:by|in) )?(?:neither|nowhere|none|nothing)\b)"
)
#: "All but C9 are met" says nothing of C9.
_EXCEPT = re.compile(r"\b(?:but|except(?: for)?|save|apart from|other than)\s*$")


def misjudged(text: str, policy: Policy, found: Mapping[str, Assessment]) -> Iterator[str]:
    """Yield criteria that a text calls met or not met, and that the packet shows otherwise.

    Args:
        text: What somebody wrote.
        policy: The policy.
        found: What the packet shows of it.
    """
    good = favourable(policy.criteria)
    for sentence in stated_sentences(text):
        for said in _MET.finditer(sentence):
            name = f"C{int(said[1])}"
            shown = found.get(name)
            if shown is None or good.get(name) is not Posture.SATISFIED:
                continue  # of what must not hold, "met" may be meant either way
            before = sentence[: said.start()]
            if form("not_concluded").search(before) or _EXCEPT.search(before):
                continue
            if (shown.result is CriterionResult.MET) is bool(said["not"]):
                yield name
