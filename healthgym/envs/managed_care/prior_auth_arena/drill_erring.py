"""Sides of the drill that err in one way, and those whose demonstrations are left to chance.

Each is a worker like those who know the answer, and does one thing otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.envs.managed_care.prior_auth_arena.drill_sides import (
    Found,
    Making,
    Payer,
    Provider,
    first_named,
    papers_of,
    report_of,
)
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaReference
from healthgym.envs.managed_care.prior_auth_arena.working import Worker
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    MdReviewDecision,
)

_APPROVE, _DENY = MdReviewDecision.APPROVE, MdReviewDecision.DENY
_ASK = MdReviewDecision.REQUEST_INFO
_MET, _NOT_MET = CriterionResult.MET, CriterionResult.NOT_MET
#: How often somebody does what is usual there: rather the right answer, and no question.
_USUAL = 2 / 3


class NeverWithholds(Provider):
    """Sends every request, and answers rightly."""

    def decide(self, part: ArenaReference, *, sends: bool) -> None:
        """Send it."""
        super().decide(part, sends=True)


class OverDocuments(Provider):
    """Answers with every paper on file."""

    def answer(self, part: ArenaReference) -> None:
        """Answer with all of them."""
        self.reply(part, *papers_of(part))


class SubmitsAll(NeverWithholds, OverDocuments):
    """Sends every request, and answers with every paper."""


class NeverSubmits(Provider):
    """Sends nothing, and names the first criterion."""

    def decide(self, part: ArenaReference, *, sends: bool) -> None:
        """Hold it back."""
        super().decide(part, sends=False)

    def reason(self, part: ArenaReference) -> str:
        """Name the first criterion."""
        return first_named(part)


class Silent(Provider):
    """Sends what is right, and answers nothing."""

    def answer(self, part: ArenaReference) -> None:
        """Take its leave."""
        self.seat.do("finish")


class WrongItem(Provider):
    """Answers with the paper that shows nothing."""

    def answer(self, part: ArenaReference) -> None:
        """Answer with that."""
        self.reply(part, *(name for name in papers_of(part) if name != report_of(part)))


class RubberStamp(Payer):
    """Approves whatever comes in."""

    def found(self, assessed: PolicyAssessment) -> Found:
        """Find everything met."""
        return dict.fromkeys(assessed.criteria, _MET)


class DenyAll(Payer):
    """Denies whatever comes in."""

    def found(self, assessed: PolicyAssessment) -> Found:
        """Find nothing met."""
        return dict.fromkeys(assessed.criteria, _NOT_MET)


class NeverAsks(Payer):
    """Denies what is open."""

    def decision(self, found: Found, *, again: bool) -> MdReviewDecision:
        """Return a denial where a question is due."""
        decision = super().decision(found, again=again)
        return _DENY if decision is _ASK else decision


class AlwaysAsks(Payer):
    """Asks before it decides, whatever was sent."""

    def decision(self, found: Found, *, again: bool) -> MdReviewDecision:
        """Return a question first."""
        return super().decision(found, again=again) if again else _ASK


class HalfReader(Payer):
    """Reads on the first criterion, and takes the other for met."""

    def found(self, assessed: PolicyAssessment) -> Found:
        """Find the second criterion met."""
        first, second = super().found(assessed).items()
        return dict((first, (second[0], _MET)))


class Absent(Worker):
    """Does nothing, and says that it is done."""

    def turn(self) -> None:
        """Finish."""
        self.seat.do("finish")


#: Those who know the answer and those who err in one way, by side and name.
SIDES: Mapping[str, Mapping[str, Making]] = {
    PROVIDER: {
        "oracle": Provider,
        "absent": lambda seat, _: Absent(seat),
        "submits_all": SubmitsAll,
        "never_withholds": NeverWithholds,
        "never_submits": NeverSubmits,
        "silent": Silent,
        "wrong_item": WrongItem,
        "over_documents": OverDocuments,
    },
    PAYER: {
        "oracle": Payer,
        "absent": lambda seat, _: Absent(seat),
        "rubber_stamp": RubberStamp,
        "deny_all": DenyAll,
        "never_asks": NeverAsks,
        "always_asks": AlwaysAsks,
        "half_reader": HalfReader,
    },
}


#: Of these, who wants the reward without the work: nothing that they read decides what they do.
CARELESS: Mapping[str, tuple[str, ...]] = {
    PROVIDER: ("absent", "submits_all", "never_submits"),
    PAYER: ("absent", "rubber_stamp", "deny_all"),
}


class AnyPaper(Provider):
    """Answers with the report two times of three, and else with what shows nothing."""

    def answer(self, part: ArenaReference) -> None:
        """Answer with either."""
        shows = self.seat.rng.random() < _USUAL
        self.reply(part, *(name for name in papers_of(part) if (name == report_of(part)) == shows))


class AnyWord(Payer):
    """Denies what is open two times of three, and else asks; right about what is not open."""

    def decision(self, found: Found, *, again: bool) -> MdReviewDecision:
        """Return the decision; a denial or a question, where a question is due."""
        decision = super().decision(found, again=again)
        return _DENY if decision is _ASK and self.seat.rng.random() < _USUAL else decision


#: Those whose demonstrations show every part of a question and its answer, but not that it is due.
HABITS: Mapping[str, Making] = {PROVIDER: AnyPaper, PAYER: AnyWord}
