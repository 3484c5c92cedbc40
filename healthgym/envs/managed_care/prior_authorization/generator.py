"""Tasks from seeds: what a request deserves first, then policy, patient and everything around."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta

import numpy as np

from healthgym.core.seeding import Split, TaskStreams
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.managed_care.cases.clinic import (
    REGION,
    draw_morning,
    staff,
    standing_handbook,
    workforce,
)
from healthgym.envs.managed_care.cases.drawing import (
    AROUND,
    ENDING,
    MISREAD,
    NUMBERS,
    PATIENT,
    RULES,
    STREAMS,
    DrawnCase,
    draw_case,
)
from healthgym.envs.managed_care.cases.patients import CasePatient
from healthgym.envs.managed_care.cases.rulebook import Rulebook
from healthgym.envs.managed_care.cases.same_service import with_same_service
from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.cases.situations import Course, Situation
from healthgym.envs.managed_care.cases.subjects import draw_others, draw_subject
from healthgym.envs.managed_care.prior_authorization.choices import (
    Ask,
    Ending,
    canonical_tries,
    choices_of,
    composed,
    narrowed,
)
from healthgym.envs.managed_care.prior_authorization.reference import reference_of
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationConfig,
    AuthorizationInstance,
    AuthorizationReference,
    AuthorizationTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.wording import brief
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.apps.provider.opening import first_line
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.desk_plan import DeskPlan
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.service_levels import ServiceLevel, service_level
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    TriageUrgency,
    Urgency,
)

#: How many pages of the handbook a task changes at most, policies and bulletins among them.
_PAGES_MOST = 20
#: A case is opened so long after its order at least, and handed in so long after that.
_OPENED = timedelta(minutes=40)
_FIRST_CASE = 6100
_OTHER_STATUSES = (CaseStatus.DRAFT, CaseStatus.DOCS_NEEDED, CaseStatus.SUBMITTED)


class AuthorizationGenerator(AuthorizationTaskGenerator):
    """Draws tasks.

    The action is drawn first, as often one as another, then a kind of service and a policy of it,
    each as often whatever the action is, then why the action is right, how the payer handles the
    service, the policy's numbers, and a patient whose chart makes it so. A draw in which the
    finished chart does not deserve the ending is drawn again.

    Args:
        config: What requests are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        rules: Which rules the offices keep.
        handbook: How large a handbook stands in them.
        requests: What the tasks of the test split are about, in order; those of the other splits
            end as these do, under any service. None for an unlimited test split.
        shelf: The payer's policies; those of the library if None.
    """

    def __init__(
        self,
        config: AuthorizationConfig,
        difficulty: str,
        name: str,
        rules: Rules,
        *,
        handbook: HandbookSize = HandbookSize.COMPACT,
        requests: tuple[Ask, ...] | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self.config, self.difficulty, self.name, self.rules = config, difficulty, name, rules
        self.handbook, self.shelf = handbook, shelf
        self._requests = requests or ()
        # Here rather than at the first task, for whoever asks for what cannot be.
        self._mix = composed(config, requests) if requests else (config, choices_of(config, shelf))
        self.tests = len(requests) if requests else None

    def draw(self, split: Split, index: int) -> AuthorizationInstance:
        """Return a task."""
        return self.drawn(split, index)[1]

    def drawn(
        self, split: Split, index: int, shift: Shift | None = None
    ) -> tuple[DrawnCase, AuthorizationInstance]:
        """Return a task, after the case it is about.

        Args:
            split: The split.
            index: Its number.
            shift: The cases beside which it is to stand; None if it stands alone. Patient, policy
                and ending are the same either way, unless that cannot be.
        """
        # Tasks of one index are other tasks at every difficulty.
        family = f"{self.name}/{self.difficulty}"
        streams = TaskStreams(family, split, index, STREAMS)
        config, cases = self._asked(split, index, streams)
        begins = draw_morning(streams[ENDING])
        begins = shift.begins if shift else begins
        for ending, policy in cases:
            try:
                taken = shift.patients if shift else ()
                subject = draw_subject(streams[PATIENT], policy, split, taken)
                case = draw_case(
                    config,
                    policy,
                    ending,
                    subject,
                    begins.date(),
                    streams,
                    self.shelf,
                    shift=shift,
                )
                reference = self.judged(case)
            except ConfigurationError:
                continue
            around, patient, drawn = streams[AROUND], case.patient, case.drawn
            others = draw_others(case.subject, self.config.patients, self.config.twins, around)
            others = with_same_service(
                others, patient.chart.patient, patient.order, self.config.same_service, around
            )
            numbers = shift.numbers if shift else self.numbers(streams[NUMBERS], case.book)
            first = shift.first_case if shift else _FIRST_CASE
            changed = shift.changed if shift else edition().overlay(numbers)
            start = self._start(
                case.book, patient, drawn, others, begins, numbers, first, around, changed
            )
            task = Task(
                TaskKey(self.name, split, index),
                f"{drawn.action}-{ending}",
                brief(start, patient, drawn),
                {"difficulty": self.difficulty},
            )
            return case, Instance(task, reference, start)
        raise ConfigurationError("No policy gives a request that ends in such a way.")

    def numbers(self, rng: np.random.Generator, book: Rulebook | None = None) -> OperatingRules:
        """Return the numbers that the offices keep to.

        Args:
            rng: Where they come from.
            book: The policies of the task, whose pages change too; None if they are several tasks'.
        """
        most = _PAGES_MOST - (len(book.pages) if book else 0)
        return edition().within(draw(rng, decisive=self.config.numbers), most)

    def judged(self, case: DrawnCase) -> AuthorizationReference:
        """Return the right handling of a case.

        Raises:
            ConfigurationError: If the case will not do, and another is to be drawn.
        """
        return reference_of(case)

    def _asked(
        self, split: Split, index: int, streams: Sequence[np.random.Generator]
    ) -> tuple[AuthorizationConfig, Iterator[tuple[Ending, Policy]]]:
        """Return what the request of a task is like, and the endings and policies to try."""
        rules = streams[RULES]
        if self.is_fixed(split):
            asked = self._requests[index]
            return narrowed(self.config, asked), canonical_tries(asked, rules)
        config, choices = self._mix
        return config, choices.cases(choices.action(streams[ENDING]), rules)

    # -- what stands around ----------------------------------------------------------------------

    def _start(
        self,
        book: Rulebook,
        patient: CasePatient,
        drawn: Situation,
        others: tuple[PatientChart, ...],
        begins: datetime,
        numbers: OperatingRules,
        first_case: int,
        rng: np.random.Generator,
        changed: Sequence[Page],
    ) -> WorldStart:
        people = workforce()
        coordinators = people.with_role(WorkerRole.PA_COORDINATOR)
        own = patient.chart.patient.id
        # Beside other cases the policies may be an earlier one's, whose error is not this one's.
        misread = {own: book.misread} if book.misread and drawn.ending in MISREAD else {}
        asked = {own: book.on_request} if book.on_request else {}
        plan = DeskPlan(
            policies=book.book,
            on_request=asked,
            misread=misread,
            stubborn=frozenset({own} if drawn.ending is Course.EXTERNAL else ()),
            calls={own: book.call(rng.spawn(1)[0])} if drawn.ending is Course.PEER_CALL else {},
        )
        return WorldStart(
            now=begins,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((patient.chart, *others)),
            records=self._cases(others, begins, numbers, first_case, rng),
            rules=self.rules,
            operations=numbers,
            handbook=standing_handbook(self.handbook, self.shelf).overlay((*changed, *book.pages)),
            policies=book.book,
            desk=plan,
            actor=coordinators[int(rng.integers(len(coordinators)))].id,
        )

    def _cases(
        self,
        others: tuple[PatientChart, ...],
        begins: datetime,
        numbers: OperatingRules,
        first_case: int,
        rng: np.random.Generator,
    ) -> tuple[object, ...]:
        """Return open cases of other patients, as the work list has them."""
        orders = [order for chart in others for order in chart.orders]
        states = {chart.patient.id: chart.patient.address_state for chart in others}
        picked = [orders[int(n)] for n in rng.permutation(len(orders))[: self.config.cases]]
        records: list[object] = []
        for place, order in enumerate(picked, 1):
            status = _OTHER_STATUSES[int(rng.integers(len(_OTHER_STATUSES)))]
            level = service_level(numbers, TriageUrgency.ROUTINE, states[order.patient_id])
            records += _case_of(order, f"CASE-{first_case + 7 * place}", status, begins, level, rng)
        return tuple(records)


def _case_of(
    order: ServiceRequest,
    case_id: str,
    status: CaseStatus,
    begins: datetime,
    level: ServiceLevel,
    rng: np.random.Generator,
) -> tuple[object, ...]:
    """Return a case and its line: opened after the order, and handed in on the last afternoon."""
    opened = _office_day(begins.date() - timedelta(days=int(rng.integers(1, 9))), time(10, 30))
    opened = max(opened, order.requested_date + _OPENED)
    handed_in = max(opened + _OPENED, _office_day(begins.date() - timedelta(days=1), time(15, 40)))
    coordinators = workforce().with_role(WorkerRole.PA_COORDINATOR)
    sent = status is CaseStatus.SUBMITTED
    case = PriorAuthCase(
        id=case_id,
        external_case_id=case_id.replace("CASE-", "PA-"),
        patient_id=order.patient_id,
        service_request_id=order.id,
        status=status,
        urgency=Urgency.STANDARD,
        requested_by=order.ordering_practitioner_id,
        assigned_to=coordinators[int(rng.integers(len(coordinators)))].id,
        created_at=opened,
        updated_at=handed_in if sent else opened,
        decision_due_at=level.deadline(handed_in if sent else begins),
    )
    return case, first_line(order, case_id)


def _office_day(day: date, at: time) -> datetime:
    """Return a local time on the last day up to another on which the office is open, in UTC."""
    calendar = office_calendar(REGION)
    while not calendar.is_business_day(day):
        day -= timedelta(days=1)
    return calendar.utc(day, at)
