"""The three desks at which a queue can be worked: how its cases are drawn, and when one is over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import date, datetime, timedelta

import numpy as np

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.marathon.task import CaseInstance, Piece
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.utilization_management.drill import DrillGenerator
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.roster import roster
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.covering import ends_with_intake
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.queue import QueueOffices
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.vocabulary.care import CMCaseStatus

#: Business days before on which a request may have been sent whose case begins with the others.
_DAYS_BEFORE = 3
_DAY = timedelta(days=1)
_HELD = frozenset({CaseStatus.CLOSED, CaseStatus.DOCS_NEEDED})
_ANSWERED = frozenset(
    {
        CaseStatus.APPROVED,
        CaseStatus.PARTIALLY_APPROVED,
        CaseStatus.APPEAL_UPHELD,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEAL_UPHELD,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    }
)
_OVER = frozenset({CMCaseStatus.CLOSED, CMCaseStatus.DISENROLLED, CMCaseStatus.ASSESSMENT_BLOCKED})


class Desk(ABC):
    """A desk at which the cases of a queue are worked.

    Attributes:
        bystanders: Whether who stands around a case has a chart and cases, too; elsewhere the
            other cases of the queue are what else lies on the desk.
    """

    bystanders = False

    @abstractmethod
    def numbers(self, rng: np.random.Generator) -> OperatingRules:
        """Return the numbers of an episode."""

    def morning(self, drawn: datetime) -> datetime:
        """Return the morning of an episode for which one was drawn."""
        return drawn

    @abstractmethod
    def draw(self, split: Split, index: int, shift: Shift) -> tuple[CaseInstance, DrawnCase | None]:
        """Return a case that stands beside those of a shift.

        Raises:
            ConfigurationError: If there is none.
        """

    def handbook(self, shift: Shift, size: HandbookSize) -> Library:
        """Return the handbook of an episode.

        Args:
            shift: Its cases.
            size: How large a handbook stands in the offices.
        """
        return shift.handbook(size)

    def policies(self, shift: Shift) -> PolicyBook | None:
        """Return the payer's policies; None where cases fall under none."""
        return shift.policies()

    @abstractmethod
    def key(self, instance: CaseInstance) -> str:
        """Return the name of a case in verdicts."""

    @staticmethod
    @abstractmethod
    def finished(world: QueueOffices, piece: Piece) -> bool:
        """Return whether a case was taken to an end, right or wrong."""


class RequestDesk(Desk):
    """The provider's: orders that may need an authorization.

    Args:
        cases: Draws one case.
    """

    bystanders = True

    def __init__(self, cases: AuthorizationGenerator) -> None:
        self._cases = cases

    def numbers(self, rng: np.random.Generator) -> OperatingRules:
        """Return the numbers of an episode."""
        return self._cases.numbers(rng)

    def draw(self, split: Split, index: int, shift: Shift) -> tuple[CaseInstance, DrawnCase | None]:
        """Return a case that stands beside those of a shift."""
        case, instance = self._cases.drawn(split, index, shift)
        return instance, case

    def key(self, instance: CaseInstance) -> str:
        """Return the order: there is no case yet."""
        order: str = instance.reference.order_id
        return order

    @staticmethod
    def finished(world: QueueOffices, piece: Piece) -> bool:
        """Return whether the payer has said its last word, or the order is held with a reason."""
        own = [one for one in world.cases.cases.values() if one.patient_id == piece.patient_id]
        return any(
            one.status in _ANSWERED
            or (one.status in _HELD and world.authorizations.determination(one.id) is not None)
            for one in own
        )


class ReviewDesk(Desk):
    """The payer's: requests at every stage.

    Args:
        cases: Draws one case.
    """

    def __init__(self, cases: ReviewGenerator) -> None:
        self._cases = cases

    def numbers(self, rng: np.random.Generator) -> OperatingRules:
        """Return the numbers of an episode."""
        return self._cases.numbers(rng)

    def morning(self, drawn: datetime) -> datetime:
        """Return a morning after a day of work: some cases have lain over one night, some none."""
        calendar = office_calendar(REGION)
        local = calendar.local(drawn)
        day = local.date()
        while not calendar.is_business_day(day - _DAY):
            day = calendar.next_business_day(day)
        return calendar.utc(day, local.time())

    def draw(self, split: Split, index: int, shift: Shift) -> tuple[CaseInstance, DrawnCase | None]:
        """Return a case that is taken over on the day on which the others are.

        How long the payer's people have had it depends on the case, so the day on which it was
        sent is looked for.
        """
        wanted = calendar_day(shift.begins)
        for at in _mornings(shift.begins):
            try:
                case, instance = self._cases.drawn(split, index, shift, at)
            except ConfigurationError:  # on another day its policy may be another one
                continue
            if calendar_day(instance.start.now) == wanted:
                return instance, case
        raise ConfigurationError(f"Case {index} is never taken over on {wanted}.")

    def handbook(self, shift: Shift, size: HandbookSize) -> Library:
        """Return the handbook, with the roster."""
        return shift.handbook(size, roster())

    def key(self, instance: CaseInstance) -> str:
        """Return the case's id."""
        case: str = instance.reference.case_id
        return case

    @staticmethod
    def finished(world: QueueOffices, piece: Piece) -> bool:
        """Return whether the decision was sent, or the case ended without one."""
        if world.cases.get(piece.key).status is CaseStatus.CLOSED:
            return True
        if ends_with_intake(world, piece.key):
            return True
        decided = world.determinations.active(piece.key)
        return decided is not None and any(
            one.delivered_at is not None and one.created_at >= decided.created_at
            for one in world.letters.of(piece.key)
        )


class DrillDesk(Desk):
    """A nurse's at the payer: findings on two criteria each, and nothing else.

    Args:
        cases: Draws one case.
    """

    def __init__(self, cases: DrillGenerator) -> None:
        self._cases = cases

    def numbers(self, rng: np.random.Generator) -> OperatingRules:
        """Return the numbers of an episode."""
        return draw(rng)

    def draw(self, split: Split, index: int, shift: Shift) -> tuple[CaseInstance, DrawnCase | None]:
        """Return a case that stands beside those of a shift."""
        case, instance = self._cases.drawn(split, index, shift)
        return instance, case

    def handbook(self, shift: Shift, size: HandbookSize) -> Library:
        """Return the pages of the cases, and no others."""
        return Library.of(shift.pages)

    def policies(self, shift: Shift) -> PolicyBook:
        """Return the policies of the cases, and no others."""
        return PolicyBook(shift.own_policies)

    def key(self, instance: CaseInstance) -> str:
        """Return the case's id."""
        case: str = instance.reference.case_id
        return case

    @staticmethod
    def finished(world: QueueOffices, piece: Piece) -> bool:
        """Return whether something is found on every criterion."""
        wanted: frozenset[str] = frozenset(piece.instance.reference.results)
        found = {
            each.criterion_id
            for review in world.nursing.reviews_of(piece.key)
            for each in review.criteria_evaluations
        }
        return wanted <= found


class CareDesk(Desk):
    """Care management's: referrals.

    Args:
        cases: Draws one case.
    """

    def __init__(self, cases: CareGenerator) -> None:
        self._cases = cases

    def handbook(self, shift: Shift, size: HandbookSize) -> Library:
        """Return the handbook, with the pages that deep conversations need."""
        return shift.handbook(size, *self._cases.more_pages(shift.numbers))

    def policies(self, shift: Shift) -> None:
        """Return nothing: referrals fall under no policy."""

    def numbers(self, rng: np.random.Generator) -> OperatingRules:
        """Return the numbers of an episode."""
        return self._cases.numbers(rng)

    def draw(self, split: Split, index: int, shift: Shift) -> tuple[CaseInstance, DrawnCase | None]:
        """Return a case that stands beside those of a shift."""
        return self._cases.drawn(split, index, shift), None

    def key(self, instance: CaseInstance) -> str:
        """Return the id that the episode of the referral has."""
        case: str = instance.reference.case_id
        return case

    @staticmethod
    def finished(world: QueueOffices, piece: Piece) -> bool:
        """Return whether the episode is closed, given up, or cannot go on."""
        case = world.referrals.cases.get(piece.key)
        return case is not None and case.status in _OVER


def _mornings(begins: datetime) -> Iterator[datetime]:
    """Yield when requests may have been sent: a day before, on the day at opening, or earlier.

    Of ten cases six are taken over on the morning after they were sent.
    """
    calendar = office_calendar(REGION)
    local = calendar.local(begins)
    days = [local.date()]
    for _ in range(_DAYS_BEFORE):
        day = days[-1] - _DAY
        while not calendar.is_business_day(day):
            day -= _DAY
        days.append(day)
    today, yesterday, *earlier = days
    yield calendar.utc(yesterday, local.time())
    yield calendar.utc(today, calendar.opens)
    yield from (calendar.utc(day, local.time()) for day in earlier)


def calendar_day(at: datetime) -> date:
    """Return the day that the offices write at a time."""
    return office_calendar(REGION).local(at).date()
