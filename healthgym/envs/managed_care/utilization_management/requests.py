"""What was asked of the provider: which criteria and documents, and until when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from healthgym.envs.managed_care.reading.reasons import Reason, read_reason
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.worlds.managed_care.apps.payer.pends import items
from healthgym.worlds.managed_care.policies.documents import documents_for
from healthgym.worlds.managed_care.policies.postures import settles
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    NurseReviewRecommendation,
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request for information that was made in the episode.

    Attributes:
        text: What it lists.
        deadline: Until when, as it was entered; blank for the day that the rules give.
        at: When it was made.
        by: Who asked.
    """

    text: str
    deadline: str
    at: datetime
    by: str

    def in_time(self, pend: timedelta) -> bool:
        """Return whether the day is the one that the rules give."""
        if not self.deadline.strip():
            return True
        try:
            given = datetime.fromisoformat(self.deadline.strip()).date()
        except ValueError:
            return False
        return given == (self.at + pend).date()


def asked(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> tuple[Asked, ...]:
    """Return the requests for information of an episode, oldest first.

    Args:
        before: The world as it began.
        after: The world now.
        case_id: The case.
    """
    return tuple(sorted(_asked(before, after, case_id), key=lambda each: each.at))


def _asked(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> Iterator[Asked]:
    for word in after.nursing.of(case_id):
        asks = word.recommendation is NurseReviewRecommendation.REQUEST_INFO
        if asks and word.id not in before.nursing.recommendations:
            yield Asked(
                text=word.info_requested,
                deadline=word.info_deadline,
                at=word.created_at,
                by=word.reviewer_id,
            )
    for decision in after.medical.of(case_id):
        asks = decision.decision is MdReviewDecision.REQUEST_INFO
        if asks and decision.id not in before.medical.decisions:
            yield Asked(
                text=decision.info_requested,
                deadline=decision.info_deadline,
                at=decision.created_at,
                by=decision.reviewer_id,
            )


class Wanted:
    """What is rightly asked for, and whether requests ask for that.

    A request names the criteria that a further record could settle, or the kinds of documents that
    are missing. Where a policy leaves a choice, any criteria do whose evidence would be enough.

    Args:
        reference: The right handling.
        postures: How the packet stood to each criterion when it was asked.
    """

    def __init__(self, reference: ReviewReference, postures: Mapping[str, Posture]) -> None:
        self.policy, self.postures = reference.policy, postures
        self.criteria = reference.wanted & postures.keys()
        self.kinds = reference.wanted - postures.keys()

    def right(self, requests: tuple[Asked, ...]) -> bool:
        """Return whether requests together ask for what is missing, and for nothing else."""
        named = [read_reason(item) for one in requests for item in items(one.text)]
        if not named or not all(map(self._fits, named)):
            return False
        criteria = frozenset(name for one in named for name in one.criteria)
        kinds = frozenset(kind for one in named for kind in one.kinds)
        return self._enough(criteria) and self.kinds <= kinds

    def _fits(self, item: Reason) -> bool:
        """Return whether an item names something that is missing, and nothing that is there."""
        if item.criteria:
            return all(self._is_open(name) for name in item.criteria)
        return bool(item.kinds & self.kinds)

    def _is_open(self, name: str) -> bool:
        return self.postures.get(name) in _OPEN or name in self.criteria or name in self._about

    @property
    def _about(self) -> frozenset[str]:
        """Criteria that missing kinds of documents are to show."""
        needs = documents_for(self.policy.id, self.policy.criteria)
        return frozenset(
            name for need in needs if str(need.kind) in self.kinds for name in need.criteria
        )

    def _enough(self, named: frozenset[str]) -> bool:
        if self.criteria <= named:
            return True
        return bool(named) and settles(self.policy.criteria, self.postures, named)
