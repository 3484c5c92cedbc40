"""Open cases of other members, in various stages: what else lies on the payer's desks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import cache, lru_cache

import numpy as np

from healthgym.envs.managed_care.cases.clinic import REGION, staff, workforce
from healthgym.envs.managed_care.utilization_management.chain import in_first
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    PriorAuthLine,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.intake import (
    IntakeCase,
    IntakeDiagnosis,
    IntakeLineItem,
    IntakeProcedure,
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.records.review import (
    NurseCaseRecommendation,
    PayerReviewTask,
    PayerRoutingRecord,
    TriageRecord,
)
from healthgym.worlds.managed_care.service_levels import service_level
from healthgym.worlds.managed_care.staff import Worker, WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    CaseStatus,
    IntakeStatus,
    NurseReviewRecommendation,
    PayerReviewStatus,
    PayerRole,
    PayerRouteTarget,
    ProviderNetworkStatus,
    RequestSource,
    ReviewType,
    SubmissionChannel,
    TriageDisposition,
    TriageUrgency,
    Urgency,
    UrgencyLevel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Stages in which other cases lie, and how long ago each was handed in: minutes, at least and most.
_STAGES = {
    StartStage.INTAKE: (20, 150),
    StartStage.TRIAGE: (90, 300),
    StartStage.NURSE_REVIEW: (120, 480),
    StartStage.MD_REVIEW: (240, 600),
}
_SENT_MOST = 3
_TAKEN_IN = timedelta(minutes=40)
_INSIDE = ProviderNetworkStatus.IN_NETWORK
_NOON, _DAY = time(12), timedelta(days=1)
#: An order is handed in so long after it was made at least, week-ends within.
_SETTLED = timedelta(days=4)
#: Orders of which is kept what intake enters.
_KEPT = 4_096
_STANDARD = PayerRouteTarget.STANDARD_UM


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """Writes the records of one case.

    Attributes:
        world: The world whose calendars, staff and counters they follow.
        chart: The member's chart.
        order: What is asked for.
        case_id: The case.
        stage: Where it lies.
        at: When it was handed in.
        clerk: Who took it in and sorted it.
        nurse: Who reads it.
    """

    world: ManagedCareWorld
    chart: PatientChart
    order: ServiceRequest
    case_id: str
    stage: StartStage
    at: datetime
    clerk: str
    nurse: str

    def records(self) -> Iterator[object]:
        """Yield the records, from the case to the last word that was said on it."""
        level = service_level(
            self.world.operations, TriageUrgency.ROUTINE, self.chart.patient.address_state
        )
        due = level.deadline(self.at)
        intake = self._intake()
        late = self.stage in (StartStage.NURSE_REVIEW, StartStage.MD_REVIEW)
        yield self._case(intake.id, due, CaseStatus.UNDER_REVIEW if late else CaseStatus.SUBMITTED)
        yield self._line()
        yield self._packet()
        yield intake
        if late:
            yield from self._reviewed(intake, due, level.hours, level.rule_source)

    def _case(self, intake_id: str, due: datetime, status: CaseStatus) -> PriorAuthCase:
        coordinators = _coordinators()
        return PriorAuthCase(
            id=self.case_id,
            external_case_id=self.case_id.replace("CASE-", "PA-"),
            patient_id=self.order.patient_id,
            service_request_id=self.order.id,
            status=status,
            urgency=Urgency.STANDARD,
            requested_by=self.order.ordering_practitioner_id,
            assigned_to=coordinators[int(self.case_id[-2:]) % len(coordinators)].id,
            created_at=self.at - timedelta(minutes=30),
            updated_at=self.at,
            decision_due_at=due,
            submission_channel=SubmissionChannel.PORTAL,
            payer_intake_case_id=intake_id,
        )

    def _line(self) -> PriorAuthLine:
        return PriorAuthLine(
            id=f"LINE-{self.case_id}",
            case_id=self.case_id,
            line_number=1,
            procedure_code=self.order.procedure_code,
            diagnosis_codes=self.order.diagnosis_codes,
            site_of_service=self.order.site_of_service,
        )

    def _packet(self) -> SubmissionPacket:
        sent = self.chart.documents[-_SENT_MOST:]
        return SubmissionPacket(
            id=self.world.authorizations.draw_id("SUB-"),
            case_id=self.case_id,
            channel=SubmissionChannel.PORTAL,
            payload={"bundle_document_id": None, "questionnaire_answers": {}, "line_updates": {}},
            source_surface="provider_submission",
            attached_document_ids=tuple(page.id for page in sent),
            submitted_at=self.at,
            status=str(CaseStatus.SUBMITTED),
        )

    def _intake(self) -> IntakeCase:
        coverage, done = self.chart.coverage, self.stage is not StartStage.INTAKE
        inside = coverage is not None and coverage.network_status == _INSIDE
        network = _INSIDE if inside else ProviderNetworkStatus.OUT_OF_NETWORK
        asked = _asked(self.order)
        return IntakeCase(
            id=self.world.intake.draw_id("intake-"),
            case_id=self.case_id,
            auth_type=AuthorizationType.SP,
            status=IntakeStatus.COMPLETE if done else IntakeStatus.IN_PROGRESS,
            received_at=self.at,
            completed_at=self.at + _TAKEN_IN if done else None,
            state=self.chart.patient.address_state,
            owner=self.clerk,
            request_date=self.at.date().isoformat(),
            request_source=str(RequestSource.PORTAL),
            method=str(SubmissionChannel.PORTAL),
            level_of_urgency=str(UrgencyLevel.STANDARD),
            urgency_requested_by=self.order.ordering_practitioner_id,
            diagnoses=asked.diagnoses,
            line_items=(asked.item,),
            requesting_provider=asked.insider if inside else asked.outsider,
            plan_type=coverage.plan_name if coverage else None,
            provider_network_status=network,
            decision_request_complete=True if done else None,
            decision_member_eligible=True if done else None,
            decision_service_covered=True if done else None,
            decision_provider_network_status=network if done else None,
        )

    def _reviewed(
        self, intake: IntakeCase, due: datetime, hours: int, source: str
    ) -> Iterator[object]:
        triaged = self.at + timedelta(minutes=60)
        triage = TriageRecord(
            id=self.world.triage.draw_id("TRG-"),
            case_id=self.case_id,
            intake_case_id=intake.id,
            urgency_level=TriageUrgency.ROUTINE,
            receipt_timestamp=self.at,
            state=intake.state,
            sla_deadline=due,
            sla_hours=hours,
            sla_rule_source=source,
            disposition=TriageDisposition.NURSE_REVIEW,
            disposition_reason="By its policy.",
            created_at=triaged,
            actor=self.clerk,
        )
        yield triage
        yield PayerRoutingRecord(
            id=self.world.triage.draw_id("RTE-"),
            case_id=self.case_id,
            intake_case_id=intake.id,
            recommended_target=_STANDARD,
            reason="Routed to standard um, by the rules of its policy.",
            created_at=triaged,
            actor=self.clerk,
        )
        yield from self._task(intake, due, triaged)

    def _task(self, intake: IntakeCase, due: datetime, triaged: datetime) -> Iterator[object]:
        handed_on = self.stage is StartStage.MD_REVIEW
        yield PayerReviewTask(
            id=self.world.triage.draw_id("RTASK-"),
            case_id=self.case_id,
            intake_case_id=intake.id,
            route_target=_STANDARD,
            required_role=PayerRole.UM_NURSE,
            review_type=ReviewType.CLINICAL_REVIEW,
            status=PayerReviewStatus.COMPLETED if handed_on else PayerReviewStatus.QUEUED,
            queue_name=str(_STANDARD),
            assigned_to=self.nurse if handed_on else None,
            assigned_role=PayerRole.UM_NURSE if handed_on else None,
            sla_due_at=due,
            created_at=triaged,
            updated_at=triaged,
        )
        if handed_on:
            yield NurseCaseRecommendation(
                id=self.world.nursing.draw_id("NCR-"),
                case_id=self.case_id,
                intake_case_id=intake.id,
                reviewer_id=self.nurse,
                recommendation=NurseReviewRecommendation.ESCALATE,
                clinical_notes="A criterion is not met by what was sent.",
                created_at=triaged + timedelta(minutes=60),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What intake enters of an order, the same in every task."""

    diagnoses: tuple[IntakeDiagnosis, ...]
    item: IntakeLineItem
    insider: IntakeProviderInfo
    outsider: IntakeProviderInfo


@cache
def _coordinators() -> tuple[Worker, ...]:
    return workforce().with_role(WorkerRole.PA_COORDINATOR)


@lru_cache(maxsize=_KEPT)
def _asked(order: ServiceRequest) -> _Asked:
    """Return what intake enters of an order; orders of the clinic's patients come again."""
    doctor = staff().practitioners[order.ordering_practitioner_id]
    outsider = IntakeProviderInfo(
        provider_name=doctor.name,
        provider_id=doctor.id,
        npi=doctor.npi,
        in_network=False,
        provider_group_name=workforce().provider.name,
        provider_specialty=doctor.specialty or None,
    )
    codes = enumerate(order.diagnosis_codes)
    procedure = IntakeProcedure(name=order.description, code=order.procedure_code, is_primary=True)
    return _Asked(
        diagnoses=tuple(IntakeDiagnosis(name="", code=c, is_primary=not n) for n, c in codes),
        item=IntakeLineItem(
            line_number=1,
            service_type=order.service_type,
            request_date=order.requested_date.date().isoformat(),
            level_of_urgency=str(UrgencyLevel.STANDARD),
            urgency_requested_by=order.ordering_practitioner_id,
            place_of_service=order.site_of_service,
            procedures=(procedure,),
        ),
        insider=replace(outsider, in_network=True),
        outsider=outsider,
    )


def open_cases(
    world: ManagedCareWorld,
    others: Sequence[PatientChart],
    case_ids: Sequence[str],
    rng: np.random.Generator,
) -> Iterator[object]:
    """Yield the records of other members' open cases; each is about another order.

    Args:
        world: The world at the time at which the agent begins.
        others: The members' charts.
        case_ids: Ids of the cases.
        rng: Where stages and times come from.
    """
    now = world.clock.now
    orders = [
        (chart, order)
        for chart in others
        for order in chart.orders
        if order.requested_date <= now - _SETTLED
    ]
    places = rng.permutation(len(orders))
    clerk, nurse = (
        in_first(world, [p for p in world.staff.with_role(role) if _here(world, p)], rng)[0]
        for role in (WorkerRole.INTAKE_COORDINATOR, WorkerRole.UM_NURSE)
    )
    for place, case_id in zip(places, case_ids, strict=False):
        chart, order = orders[int(place)]
        stage = tuple(_STAGES)[int(rng.integers(len(_STAGES)))]
        at = _handed_in(now, now - timedelta(minutes=int(rng.integers(*_STAGES[stage]))))
        desk = _Desk(
            world=world,
            chart=chart,
            order=order,
            case_id=case_id,
            stage=stage,
            at=at,
            clerk=clerk,
            nurse=nurse,
        )
        yield from desk.records()


def _here(world: ManagedCareWorld, person: str) -> bool:
    return world.staff.workers[person].region == REGION


def _handed_in(now: datetime, at: datetime) -> datetime:
    """Return a time, or one about noon of the last business day if the office was closed then.

    What was done on the case since falls into the office's hours, too.
    """
    calendar = office_calendar(REGION)
    if calendar.is_open(at):
        return at
    day = calendar.local(now).date() - _DAY
    while not calendar.is_business_day(day):
        day -= _DAY
    return calendar.utc(day, _NOON) + timedelta(minutes=at.minute)
