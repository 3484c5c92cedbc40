"""The records of one open case of another member, each written when somebody first reads it.

Besides its id and its case, what is written at once is what the payer's deadlines follow from, and
where the case lies: the rest is read of few of a task's cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import staff, workforce
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.worlds.managed_care.apps.payer.arriving import came_in
from healthgym.worlds.managed_care.apps.payer.intake_handoff import code_set
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    PriorAuthLine,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.doors import Arrival
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
from healthgym.worlds.managed_care.service_levels import ServiceLevel
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

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from healthgym.worlds.managed_care.world import ManagedCareWorld

_SENT_MOST = 3
_TAKEN_IN, _TRIAGED, _READ = timedelta(minutes=40), timedelta(hours=1), timedelta(hours=1)
_WRITTEN = timedelta(minutes=30)
_INSIDE = ProviderNetworkStatus.IN_NETWORK
_STANDARD = PayerRouteTarget.STANDARD_UM
_URGENCY = str(UrgencyLevel.STANDARD)
#: Orders of which is kept what intake enters.
_KEPT = 4_096


def _but(kind: type[DataclassInstance], *known: str) -> tuple[str, ...]:
    """Return the names of a record's fields but those that are known at once."""
    return tuple(item.name for item in fields(kind) if item.name not in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCase:
    """Where a case lies, and what its records are written from.

    Attributes:
        chart: The member's chart.
        order: What is asked for.
        case_id: The case.
        stage: Where it lies.
        at: When it was handed in.
        level: Its limit.
        clerk: Who took it in and sorted it.
        nurse: Who reads it.
        ids: Ids of its records, by the beginning that those of a kind have.
        channel: How it came in.
    """

    chart: PatientChart
    order: ServiceRequest
    case_id: str
    stage: StartStage
    at: datetime
    level: ServiceLevel
    clerk: str
    nurse: str
    ids: Mapping[str, str]
    channel: SubmissionChannel = SubmissionChannel.PORTAL

    def arrival(self, world: ManagedCareWorld) -> Arrival:
        """Return what lies at a front door of a case that waits there."""
        patient, sent = self.chart.patient, self.chart.documents[-_SENT_MOST:]
        return came_in(world, self._case(), patient, self._packet(), sent)

    def records(self) -> Iterator[object]:
        """Yield the records, from the case to the last word that was said on it."""
        case_id, ids = self.case_id, self.ids
        yield _Case.later(self, id=case_id, patient_id=self.order.patient_id, status=self._status)
        yield _Line.later(self, id=f"LINE-{case_id}", case_id=case_id)
        yield _Packet.later(self, id=ids["SUB-"], case_id=case_id)
        yield _Intake.later(
            self,
            id=ids["intake-"],
            case_id=case_id,
            status=self._taken_in,
            received_at=self.at,
            level_of_urgency=None if self.waits else _URGENCY,
            state=None if self.waits else self.chart.patient.address_state,
        )
        if not self.late:
            return
        due = self.level.deadline(self.at)
        yield _Triage.later(self, id=ids["TRG-"], case_id=case_id, sla_deadline=due)
        yield _Routing.later(self, id=ids["RTE-"], case_id=case_id)
        yield _Task.later(self, id=ids["RTASK-"], case_id=case_id, status=self._reading)
        if self.handed_on:
            yield _Word.later(self, id=ids["NCR-"], case_id=case_id)

    @property
    def waits(self) -> bool:
        """Whether it waits at a front door."""
        return self.stage is StartStage.FRONT_DOOR

    @property
    def late(self) -> bool:
        """Whether it is past triage."""
        return self.stage in (StartStage.NURSE_REVIEW, StartStage.MD_REVIEW)

    @property
    def handed_on(self) -> bool:
        """Whether the nurse has handed it on."""
        return self.stage is StartStage.MD_REVIEW

    @property
    def _status(self) -> CaseStatus:
        return CaseStatus.UNDER_REVIEW if self.late else CaseStatus.SUBMITTED

    @property
    def _taken_in(self) -> IntakeStatus:
        if self.waits:
            return IntakeStatus.NEW
        lies = self.stage is StartStage.INTAKE
        return IntakeStatus.IN_PROGRESS if lies else IntakeStatus.COMPLETE

    @property
    def _reading(self) -> PayerReviewStatus:
        return PayerReviewStatus.COMPLETED if self.handed_on else PayerReviewStatus.QUEUED

    def _case(self) -> PriorAuthCase:
        coordinators = _coordinators()
        return PriorAuthCase(
            id=self.case_id,
            external_case_id=self.case_id.replace("CASE-", "PA-"),
            patient_id=self.order.patient_id,
            service_request_id=self.order.id,
            status=self._status,
            urgency=Urgency.STANDARD,
            requested_by=self.order.ordering_practitioner_id,
            assigned_to=coordinators[int(self.case_id[-2:]) % len(coordinators)].id,
            created_at=self.at - _WRITTEN,
            updated_at=self.at,
            decision_due_at=self.level.deadline(self.at),
            submission_channel=self.channel,
            payer_intake_case_id=self.ids["intake-"],
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
            id=self.ids["SUB-"],
            case_id=self.case_id,
            channel=self.channel,
            payload={"bundle_document_id": None, "questionnaire_answers": {}, "line_updates": {}},
            source_surface="provider_submission",
            attached_document_ids=tuple(page.id for page in sent),
            submitted_at=self.at,
            status=str(CaseStatus.SUBMITTED),
        )

    def _intake(self) -> IntakeCase:
        name, kind = self.ids["intake-"], AuthorizationType.SP
        if self.waits:
            return IntakeCase(id=name, case_id=self.case_id, auth_type=kind, received_at=self.at)
        coverage, done = self.chart.coverage, self.stage is not StartStage.INTAKE
        inside = coverage is not None and coverage.network_status == _INSIDE
        network = _INSIDE if inside else ProviderNetworkStatus.OUT_OF_NETWORK
        asked = _asked(self.order)
        return IntakeCase(
            id=name,
            case_id=self.case_id,
            auth_type=kind,
            status=self._taken_in,
            received_at=self.at,
            completed_at=self.at + _TAKEN_IN if done else None,
            state=self.chart.patient.address_state,
            owner=self.clerk,
            request_date=self.at.date().isoformat(),
            request_source=str(RequestSource(self.channel)),
            method=str(self.channel),
            level_of_urgency=_URGENCY,
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

    def _triage(self) -> TriageRecord:
        return TriageRecord(
            id=self.ids["TRG-"],
            case_id=self.case_id,
            intake_case_id=self.ids["intake-"],
            urgency_level=TriageUrgency.ROUTINE,
            receipt_timestamp=self.at,
            state=self.chart.patient.address_state,
            sla_deadline=self.level.deadline(self.at),
            sla_hours=self.level.hours,
            sla_rule_source=self.level.rule_source,
            disposition=TriageDisposition.NURSE_REVIEW,
            disposition_reason="By its policy.",
            created_at=self.at + _TRIAGED,
            actor=self.clerk,
        )

    def _routing(self) -> PayerRoutingRecord:
        return PayerRoutingRecord(
            id=self.ids["RTE-"],
            case_id=self.case_id,
            intake_case_id=self.ids["intake-"],
            recommended_target=_STANDARD,
            reason="Routed to standard um, by the rules of its policy.",
            created_at=self.at + _TRIAGED,
            actor=self.clerk,
        )

    def _task(self) -> PayerReviewTask:
        triaged = self.at + _TRIAGED
        return PayerReviewTask(
            id=self.ids["RTASK-"],
            case_id=self.case_id,
            intake_case_id=self.ids["intake-"],
            route_target=_STANDARD,
            required_role=PayerRole.UM_NURSE,
            review_type=ReviewType.CLINICAL_REVIEW,
            status=self._reading,
            queue_name=str(_STANDARD),
            assigned_to=self.nurse if self.handed_on else None,
            assigned_role=PayerRole.UM_NURSE if self.handed_on else None,
            sla_due_at=self.level.deadline(self.at),
            created_at=triaged,
            updated_at=triaged,
        )

    def _word(self) -> NurseCaseRecommendation:
        return NurseCaseRecommendation(
            id=self.ids["NCR-"],
            case_id=self.case_id,
            intake_case_id=self.ids["intake-"],
            reviewer_id=self.nurse,
            recommendation=NurseReviewRecommendation.ESCALATE,
            clinical_notes="A criterion is not met by what was sent.",
            created_at=self.at + _TRIAGED + _READ,
        )


class _Case(Deferred, PriorAuthCase):
    __slots__ = ("_write",)
    plain = PriorAuthCase
    late = _but(PriorAuthCase, "id", "patient_id", "status")
    written = staticmethod(OpenCase._case)


class _Line(Deferred, PriorAuthLine):
    __slots__ = ("_write",)
    plain = PriorAuthLine
    late = _but(PriorAuthLine, "id", "case_id")
    written = staticmethod(OpenCase._line)


class _Packet(Deferred, SubmissionPacket):
    __slots__ = ("_write",)
    plain = SubmissionPacket
    late = _but(SubmissionPacket, "id", "case_id")
    written = staticmethod(OpenCase._packet)


class _Intake(Deferred, IntakeCase):
    __slots__ = ("_write",)
    plain = IntakeCase
    late = _but(IntakeCase, "id", "case_id", "status", "received_at", "level_of_urgency", "state")
    written = staticmethod(OpenCase._intake)


class _Triage(Deferred, TriageRecord):
    __slots__ = ("_write",)
    plain = TriageRecord
    late = _but(TriageRecord, "id", "case_id", "sla_deadline")
    written = staticmethod(OpenCase._triage)


class _Routing(Deferred, PayerRoutingRecord):
    __slots__ = ("_write",)
    plain = PayerRoutingRecord
    late = _but(PayerRoutingRecord, "id", "case_id")
    written = staticmethod(OpenCase._routing)


class _Task(Deferred, PayerReviewTask):
    __slots__ = ("_write",)
    plain = PayerReviewTask
    late = _but(PayerReviewTask, "id", "case_id", "status")
    written = staticmethod(OpenCase._task)


class _Word(Deferred, NurseCaseRecommendation):
    __slots__ = ("_write",)
    plain = NurseCaseRecommendation
    late = _but(NurseCaseRecommendation, "id", "case_id")
    written = staticmethod(OpenCase._word)


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
    code, name = order.procedure_code, order.description
    asked = IntakeProcedure(name=name, code=code, code_set=code_set(code), is_primary=True)
    return _Asked(
        diagnoses=tuple(IntakeDiagnosis(name="", code=c, is_primary=not n) for n, c in codes),
        item=IntakeLineItem(
            line_number=1,
            service_type=order.service_type,
            request_date=order.requested_date.date().isoformat(),
            level_of_urgency=_URGENCY,
            urgency_requested_by=order.ordering_practitioner_id,
            place_of_service=order.site_of_service,
            procedures=(asked,),
        ),
        insider=replace(outsider, in_network=True),
        outsider=outsider,
    )
