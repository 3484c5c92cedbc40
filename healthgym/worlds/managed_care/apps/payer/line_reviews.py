"""What nurses' and physicians' reviews share: findings line by line, and one conclusion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from healthgym.core.records import replace
from healthgym.core.state import Table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer.criteria import require_sound
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    Part,
    acting,
    require_desk,
    require_independent,
    require_role,
)
from healthgym.worlds.managed_care.records.review import LineReview, NurseCriterionEvaluation
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, PayerRole

ReviewT = TypeVar("ReviewT", bound=LineReview)


class Conclusion(Protocol):
    """What a reviewer concludes of a case, until it is superseded."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def case_id(self) -> str:
        """The case."""

    @property
    def created_at(self) -> datetime:
        """When it was written, in UTC."""

    @property
    def superseded_by(self) -> str | None:
        """Why it no longer counts; None while it does."""


ConclusionT = TypeVar("ConclusionT", bound=Conclusion)


class LineReviews(App, Generic[ReviewT, ConclusionT]):
    """A desk whose reviewers answer the criteria of each line and come to one conclusion.

    Attributes:
        written: Which record a review is.
        prefix: How ids of reviews begin.
        review_name: What a review is called in a refusal.
        conclusion_name: What a conclusion is called in a refusal.
        save_action: What the log calls a saved review.
        result_name: Under which name a saved review is returned.
        part: What part in a case its reviewer has.
    """

    written: type[ReviewT]
    prefix: str
    review_name: str
    conclusion_name: str
    save_action: str
    result_name: str
    part: Part
    reviews: Table[str, ReviewT]

    @property
    @abstractmethod
    def conclusions(self) -> Table[str, ConclusionT]:
        """Every conclusion, by id."""

    @property
    @abstractmethod
    def may_review(self) -> tuple[PayerRole, ...]:
        """Whose roles allow a review."""

    def require_reviewer(self, case_id: str, worker: str) -> None:
        """Refuse anybody but a reviewer who has no other part in a case under review.

        Raises:
            Refusal: If the worker may not review the case now.
        """
        require_role(self.world, worker, self.may_review)
        require_independent(self.world, case_id, worker, self.part)
        require_under_review(self.world.cases.get(case_id).status, case_id)

    def of(self, case_id: str) -> tuple[ConclusionT, ...]:
        """Return the conclusions on a case, oldest first."""
        return tuple(one for one in self.conclusions.values() if one.case_id == case_id)

    def active(self, case_id: str) -> ConclusionT | None:
        """Return the conclusion that counts; None if there is none."""
        return next((one for one in self.of(case_id) if not one.superseded_by), None)

    def reviews_of(self, case_id: str) -> tuple[ReviewT, ...]:
        """Return the reviews of a case, oldest first."""
        return tuple(one for one in self.reviews.values() if one.case_id == case_id)

    def save(
        self,
        case_id: str,
        line_number: int,
        *,
        review_id: str | None = None,
        evaluations: tuple[NurseCriterionEvaluation, ...] | None = None,
        reviewer_id: str = "SYSTEM",
    ) -> Mapping[str, ReviewT]:
        """Write down what a reviewer found about the criteria of a line.

        Args:
            case_id: The case.
            line_number: The line, from 1.
            review_id: The review to write on; a new one without.
            evaluations: The findings, in place of earlier ones; those stay if left out.
            reviewer_id: The reviewer.

        Raises:
            Refusal: If the case has no intake record, there is no such review, or, in a strict
                world, somebody else writes, a finding names what does not exist, or the reviewer
                has concluded already.
        """
        require_desk(self.world)
        intake = self.world.intake.get(case_id)
        worker = acting(self.world, reviewer_id)
        now = self.world.clock.now
        if self.strict:
            self.require_reviewer(case_id, worker)
            self._require_open(case_id, line_number, review_id, evaluations or ())
        if review_id:
            old = self._review(case_id, review_id)
            found = old.criteria_evaluations if evaluations is None else evaluations
            writer = old.reviewer_id if worker == "SYSTEM" else worker
            kept = replace(old, criteria_evaluations=found, reviewer_id=writer, updated_at=now)
        else:
            triage = self.world.triage.of(case_id)
            kept = self.written(
                id=self.draw_id(self.prefix),
                case_id=case_id,
                intake_case_id=intake.id,
                triage_record_id=triage.id if triage else "",
                line_number=line_number,
                reviewer_id=worker,
                criteria_evaluations=evaluations or (),
                created_at=now,
                updated_at=now,
            )
        self.reviews[kept.id] = kept
        self.world.triage.looked("get_triage", case_id, worker)
        self.audit(self.save_action, case_id, worker)
        return {self.result_name: kept}

    def _review(self, case_id: str, review_id: str) -> ReviewT:
        found = self.reviews.get(review_id)
        if found is None or found.case_id != case_id:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"Case {case_id} has no {self.review_name} {review_id[:60]!r}; leave review_id out "
                "to begin one.",
            )
        return found

    def _require_open(
        self,
        case_id: str,
        line_number: int,
        review_id: str | None,
        evaluations: tuple[NurseCriterionEvaluation, ...],
    ) -> None:
        """Refuse a finding that comes too late, or rests on nothing."""
        if self.active(case_id):
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"The {self.review_name} of case {case_id} ended with a {self.conclusion_name}; "
                "findings can no longer be changed.",
            )
        if review_id is None:
            require_first(self.reviews_of(case_id), self.of(case_id), line_number)
        require_sound(self.world, self.world.cases.get(case_id), line_number, evaluations)


def require_under_review(status: CaseStatus, case_id: str) -> None:
    """Refuse clinical work on a case that is not in clinical review.

    Raises:
        Refusal: If triage has not sent it there, or it has left.
    """
    if status is not CaseStatus.UNDER_REVIEW:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case_id} is {status} and not in clinical review; triage sends cases there, "
            "and they leave it when decided or pended.",
        )


def require_first(
    reviews: Iterable[LineReview], conclusions: Iterable[Conclusion], line_number: int
) -> None:
    """Refuse a second review of a line in one round; a superseded conclusion ends a round.

    Args:
        reviews: What reviewers of one kind wrote about the case so far.
        conclusions: What they recommended or decided so far.
        line_number: The line.

    Raises:
        Refusal: If the line has a review in this round.
    """
    ended = [one.created_at for one in conclusions if one.superseded_by]
    for review in reviews:
        begun = not ended or review.created_at > max(ended)
        if review.line_number == line_number and begun:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Line {line_number} of case {review.case_id} has review {review.id}; name it as "
                "review_id to write on it.",
            )
