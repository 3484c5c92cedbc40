"""Sides that want the reward without the work, or err in one named way.

Each is a worker like those who know the answer, and does one thing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.payer import PayerOracle, Reviewing
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import Seat, Worker
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    ProviderDeterminationAction,
)

#: Makes somebody who sits at a desk.
Making = Callable[[Seat, ArenaInstance], Worker]


class _Approving(Reviewing):
    """Finds every criterion met, whatever was sent."""

    def evaluations(self) -> tuple[NurseCriterionEvaluation, ...]:
        """Return findings that say yes to everything, with the documents of the packet."""
        return tuple(replace(row, result=CriterionResult.MET) for row in super().evaluations())


class RubberStamp(PayerOracle):
    """Approves whatever comes in."""

    reviewing = _Approving

    def decided(self, review: Reviewing) -> None:
        """Have the review end with an approval."""
        nurse = review.wanted.policy.nurse_may_approve
        review.wanted = replace(
            review.wanted,
            path=Path.NURSE_APPROVES if nurse else Path.PHYSICIAN_APPROVES,
            lapses=False,
            wanted=frozenset(),
            recommendation=NurseReviewRecommendation.APPROVE if nurse else None,
            decision=None if nurse else MdReviewDecision.APPROVE,
            determination=DeterminationDecision.APPROVED,
            letters=(LetterType.APPROVAL,),
            notices=("approval",),
        )


class DenyAll(PayerOracle):
    """Denies whatever comes in."""

    def decided(self, review: Reviewing) -> None:
        """Have the review end with a denial."""
        nurse = review.wanted.policy.nurse_may_approve
        review.wanted = replace(
            review.wanted,
            path=Path.DENIED,
            lapses=False,
            wanted=frozenset(),
            recommendation=NurseReviewRecommendation.ESCALATE if nurse else None,
            decision=MdReviewDecision.DENY,
            determination=DeterminationDecision.DENIED,
            letters=(LetterType.DENIAL,),
            notices=("denial",),
        )


class Absent(Worker):
    """Does nothing, and says that it is done."""

    def turn(self) -> None:
        """Finish."""
        self.seat.do("finish")


class SubmitsAll(ProviderOracle):
    """Submits every request, with every document of the chart."""

    def begin(self) -> None:
        """Send the whole chart."""
        chart = self.start.charts[self.wanted.patient_id]
        answers = {
            **oracle.request_answers(self.start, chart, self.wanted),
            **{question.key: "yes" for question in self.wanted.policy.form.questions},
        }
        do = self.seat.do
        made = oracle.open_case(chart.orders[0])
        do(made.name, **made.arguments)
        do("forms.save_form_response", case_id=oracle.CASE, answers=answers)
        do(
            "docs.create_submission_bundle",
            case_id=oracle.CASE,
            document_ids=[page.id for page in chart.documents],
        )
        sent = oracle.decide(
            ProviderDeterminationAction.SUBMIT_PA, bundle_document_id=oracle.BUNDLE
        )
        do(sent.name, **sent.arguments)
        do("auth.submit_authorization", case_id=oracle.CASE, channel="portal")


class Silent(ProviderOracle):
    """Sends what is right, and answers nothing."""

    def answer(self) -> None:
        """Leave the question open."""


SIDES: Mapping[str, Mapping[str, Making]] = {
    PROVIDER: {
        "oracle": ProviderOracle,
        "absent": lambda seat, _: Absent(seat),
        "submits_all": SubmitsAll,
        "silent": Silent,
    },
    PAYER: {
        "oracle": PayerOracle,
        "absent": lambda seat, _: Absent(seat),
        "rubber_stamp": RubberStamp,
        "deny_all": DenyAll,
    },
}
