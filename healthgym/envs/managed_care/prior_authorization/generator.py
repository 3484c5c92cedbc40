"""Tasks from seeds: what a request deserves first, then policy, patient and everything around."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.managed_care.cases.clinic import (
    draw_morning,
    staff,
    standing_handbook,
    workforce,
)
from healthgym.envs.managed_care.cases.patients import (
    CasePatient,
    Subject,
    draw_others,
    draw_subject,
    plan_patient,
    write_patient,
)
from healthgym.envs.managed_care.cases.rulebook import Rulebook, draw_rulebook
from healthgym.envs.managed_care.cases.situations import (
    Bar,
    Course,
    Gap,
    Situation,
    fits,
    situation,
)
from healthgym.envs.managed_care.prior_authorization.reference import assess, reference_of
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationConfig,
    AuthorizationInstance,
    AuthorizationTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.wording import brief
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.charts.sections import age_on
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.desk_plan import DeskPlan
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, draw
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.case import PriorAuthCase, PriorAuthLine
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    PlaceOfService,
    Urgency,
)

#: Streams of a task: what it deserves, its policy, its patient, what stands around, and the numbers
#: that the offices keep to.
_ENDING, _RULES, _PATIENT, _AROUND, _NUMBERS = range(5)
_TRIES = 40
_OTHER_STATUSES = (CaseStatus.DRAFT, CaseStatus.DOCS_NEEDED, CaseStatus.SUBMITTED)


class AuthorizationGenerator(AuthorizationTaskGenerator):
    """Draws tasks.

    The action is drawn first, as often one as another, then why it is right, then a policy under
    which that can be, its numbers, and a patient whose chart makes it so. A draw in which the
    finished chart does not deserve the ending is drawn again.

    Args:
        config: What requests are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        rules: Which rules the offices keep.
        handbook: How large a handbook stands in them.
    """

    def __init__(
        self,
        config: AuthorizationConfig,
        difficulty: str,
        name: str,
        rules: Rules,
        *,
        handbook: HandbookSize = HandbookSize.COMPACT,
    ) -> None:
        self.config, self.difficulty, self.name, self.rules = config, difficulty, name, rules
        self.handbook = handbook

    def draw(self, split: Split, index: int) -> AuthorizationInstance:
        """Return a task."""
        streams = [task_rng(self.name, split, index, key) for key in range(5)]
        ending = self._ending(streams[_ENDING])
        begins = draw_morning(streams[_ENDING])
        for _ in range(_TRIES):
            try:
                subject = draw_subject(streams[_PATIENT])
                book, patient, drawn, found = self._case(ending, subject, begins.date(), streams)
                reference = reference_of(book, patient, drawn, found)
            except ConfigurationError:
                continue
            others = draw_others(subject, self.config.patients, self.config.twins, streams[_AROUND])
            numbers = draw(streams[_NUMBERS], decisive=self.config.numbers)
            start = self._start(book, patient, drawn, others, begins, numbers, streams[_AROUND])
            task = Task(
                TaskKey(self.name, split, index),
                f"{drawn.action}-{ending}",
                brief(start, patient, drawn),
                {"difficulty": self.difficulty},
            )
            return Instance(task, reference, start)
        raise ConfigurationError(f"No policy gives a request that ends {ending.value!r}.")

    def _ending(self, rng: np.random.Generator) -> Course | Gap | Bar:
        """Return how the request is to end: each action as often, each way of it as often."""
        ways: tuple[tuple[Course | Gap | Bar, ...], ...] = (
            self.config.courses,
            tuple(Gap),
            tuple(Bar),
        )
        action = ways[int(rng.integers(len(ways)))]
        return action[int(rng.integers(len(action)))]

    def _case(
        self,
        ending: Course | Gap | Bar,
        subject: Subject,
        today: date,
        streams: list[np.random.Generator],
    ) -> tuple[Rulebook, CasePatient, Situation, PolicyAssessment]:
        known = _policies_for(ending, *self.config.criteria)
        rng = streams[_RULES]
        policy = known[int(rng.integers(len(known)))]
        book = draw_rulebook(policy, self.config, today, rng)
        background = subject.background
        drawn = situation(
            book.in_force,
            ending,
            self.config.gaps[1],
            Request(
                procedure_code="",
                diagnosis_codes=(),
                site=PlaceOfService.OFFICE,
                age=age_on(background.patient.dob, today),
                sex=background.patient.sex,
            ),
            today,
            streams[_PATIENT],
        )
        # What may have to be drawn again comes before the chart, which costs the most.
        planned = plan_patient(background, drawn, streams[_PATIENT], today)
        if ending in (Course.APPEALED, Course.EXTERNAL):
            book = book.with_misread(drawn, planned.facts, today, rng)
        found = assess(book, planned, drawn, today)
        patient = write_patient(planned, streams[_PATIENT], today)
        if ending is Course.PENDED:
            book = book.asking_for(_besides(patient.chart, drawn), rng)
        return book, patient, replace(drawn, policy=book.in_force), found

    # -- what stands around ----------------------------------------------------------------------

    def _start(
        self,
        book: Rulebook,
        patient: CasePatient,
        drawn: Situation,
        others: tuple[PatientChart, ...],
        begins: datetime,
        numbers: OperatingRules,
        rng: np.random.Generator,
    ) -> WorldStart:
        people = workforce()
        coordinators = people.with_role(WorkerRole.PA_COORDINATOR)
        own = patient.chart.patient.id
        misread = {own: book.misread} if book.misread else {}
        asked = {own: book.on_request} if book.on_request else {}
        plan = DeskPlan(
            policies=book.book,
            on_request=asked,
            misread=misread,
            stubborn=frozenset({own} if drawn.ending is Course.EXTERNAL else ()),
        )
        return WorldStart(
            now=begins,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((patient.chart, *others)),
            records=self._cases(others, begins, rng),
            rules=self.rules,
            operations=numbers,
            handbook=standing_handbook(self.handbook).overlay(
                (*edition().overlay(numbers), *book.pages)
            ),
            policies=book.book,
            desk=plan,
            actor=coordinators[int(rng.integers(len(coordinators)))].id,
        )

    def _cases(
        self, others: tuple[PatientChart, ...], begins: datetime, rng: np.random.Generator
    ) -> tuple[object, ...]:
        """Return open cases of other patients, as the work list has them."""
        orders = [order for chart in others for order in chart.orders]
        picked = [orders[int(n)] for n in rng.permutation(len(orders))[: self.config.cases]]
        records: list[object] = []
        for place, order in enumerate(picked, 1):
            status = _OTHER_STATUSES[int(rng.integers(len(_OTHER_STATUSES)))]
            records += _case_of(order, f"CASE-{6100 + 7 * place}", status, begins, rng)
        return tuple(records)


@cache
def _policies_for(ending: Course | Gap | Bar, low: int, high: int) -> tuple[Policy, ...]:
    """Return the policies of so many criteria under which a request can end so; else of any."""
    fitting = tuple(policy for policy in library().values() if fits(policy, ending))
    sized = (policy for policy in fitting if low <= len(criteria(policy.criteria)) <= high)
    return tuple(sized) or fitting


def _besides(chart: PatientChart, drawn: Situation) -> set[DocumentKind]:
    """Return the kinds of documents on file that say nothing of what the policy asks for."""
    names = stating(chart.shows, {fact.id for fact in drawn.facts})
    telling = {document.kind for document in chart.documents if document.id in names}
    return {document.kind for document in chart.documents} - telling


def _case_of(
    order: ServiceRequest,
    case_id: str,
    status: CaseStatus,
    begins: datetime,
    rng: np.random.Generator,
) -> tuple[object, ...]:
    opened = datetime.combine(
        begins.date() - timedelta(days=int(rng.integers(1, 9))), time(16, 30), UTC
    )
    coordinators = workforce().with_role(WorkerRole.PA_COORDINATOR)
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
        updated_at=opened,
        decision_due_at=begins + timedelta(days=14),
    )
    line = PriorAuthLine(
        id=f"LINE-{case_id}",
        case_id=case_id,
        line_number=1,
        procedure_code=order.procedure_code,
        diagnosis_codes=order.diagnosis_codes,
        site_of_service=order.site_of_service,
    )
    return case, line
