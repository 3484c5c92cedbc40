"""What the intake desk has of a request before anybody has touched it: what its packet says.

The fields follow the source: header, diagnoses, lines and requesting provider from the case and
its order, eligibility and standing from the coverage. A resubmission or a reply to a request for
information fills them anew and opens the record again; when the request was first received stays,
because service levels count from there.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    PriorAuthLine,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.records.chart import Coverage, ServiceRequest
from healthgym.worlds.managed_care.records.intake import (
    IntakeCase,
    IntakeDiagnosis,
    IntakeLineItem,
    IntakeProcedure,
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    DiagnosisType,
    IntakeStatus,
    LineItemType,
    PlaceOfService,
    ProviderNetworkStatus,
    RequestSource,
    ServiceTypeCategory,
    SubmissionChannel,
    Urgency,
    UrgencyLevel,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Where a request came from, by the channel it used; in the source the API's gateway enters none.
_SOURCES = {
    SubmissionChannel.PORTAL: RequestSource.PORTAL,
    SubmissionChannel.PHONE: RequestSource.PHONE,
    SubmissionChannel.FAX: RequestSource.FAX,
    SubmissionChannel.EDI: RequestSource.EDI,
}


#: What a clerk enters, or takes over from the request.
_ENTERED = (
    "request_date", "level_of_urgency", "urgency_requested_by", "diagnosis_type", "diagnoses",
    "line_items", "requesting_provider",
)  # fmt: skip


def refreshed(
    world: ManagedCareWorld,
    intake: IntakeCase,
    packet: SubmissionPacket | None,
    *,
    reply: bool,
) -> IntakeCase:
    """Return an intake record filled from what was handed in.

    Args:
        world: The world.
        intake: The record so far.
        packet: What was submitted; None for a case that never was, such as one that was under
            review when the episode began.
        reply: Whether it answers a request for information; where the request came from is then
            left as it is.
    """
    case = world.cases.get(intake.case_id)
    line = world.cases.line(case.id)
    order = world.cases.order(case.service_request_id)
    chart, today = world.charts[case.patient_id], world.clock.now.date()
    # One that has ended says why the member is not eligible.
    coverage = chart.coverage_on(today) or next(iter(chart.coverages), None)
    channel = case.submission_channel if packet is None else packet.channel
    urgency = _urgency(world, case, channel)
    filled = replace(
        intake,
        status=IntakeStatus.IN_PROGRESS,
        completed_at=None,
        auth_type=_auth_type(line) if world.intake.strict else intake.auth_type,
        owner=intake.owner or next(iter(world.intake.clerks()), None),
        request_date=_day(world.clock.now if packet is None else packet.submitted_at),
        request_source=intake.request_source if reply else _source(world, channel, intake),
        method=str(channel or SubmissionChannel.API),
        level_of_urgency=urgency,
        urgency_requested_by=case.requested_by,
        diagnosis_type=_diagnosis_type(order),
        diagnoses=_diagnoses(world, case, line),
        line_items=(_line_item(world, case, line, order, urgency),),
        requesting_provider=_requesting_provider(world, order, coverage),
        member_eligible=chart.coverage_on(today) is not None and _active(coverage),
        plan_type=coverage.plan_name if coverage else None,
        coverage_details=_coverage_words(coverage),
        provider_network_status=_standing(coverage),
        provider_verification_details=_standing_words(coverage),
    )
    if not world.intake.strict:
        return filled
    return _answerable(world, _kept(intake, filled) if reply else filled)


def _kept(intake: IntakeCase, filled: IntakeCase) -> IntakeCase:
    """Return a record that a reply opened again: what a clerk entered before is still there.

    A reply brings documents and changes nothing of what was asked for, so an entry that is wrong
    is the clerk's to put right.
    """
    entered = {name: getattr(intake, name) for name in _ENTERED}
    return replace(filled, **{name: value for name, value in entered.items() if value})


def _answerable(world: ManagedCareWorld, intake: IntakeCase) -> IntakeCase:
    """Return a record whose verdicts are open again, under the law of the member's state.

    The source keeps the verdicts of the request as it was before, and asks nobody for the state.
    """
    return replace(
        intake,
        state=intake.state or world.intake.member_state(intake.case_id),
        decision_request_complete=None,
        decision_member_eligible=None,
        decision_service_covered=None,
        decision_provider_network_status=None,
    )


def _source(world: ManagedCareWorld, channel: SubmissionChannel | None, intake: IntakeCase) -> str:
    source = _SOURCES.get(channel) if channel else None
    if world.intake.strict and channel is SubmissionChannel.API:
        source = RequestSource.EDI  # what it brings is electronic data
    return str(source or intake.request_source or RequestSource.PORTAL)


def _urgency(
    world: ManagedCareWorld, case: PriorAuthCase, channel: SubmissionChannel | None
) -> str:
    """Return how urgent a request is taken to be: by the wrong channel, it waits with the rest."""
    urgent = case.urgency is Urgency.EXPEDITED
    if world.intake.strict and channel is not None:
        urgent = urgent and world.operations.hastens(channel)
    return str(UrgencyLevel.URGENT if urgent else UrgencyLevel.STANDARD)


def _diagnosis_type(order: ServiceRequest) -> str:
    behavioral = order.service_type == ServiceTypeCategory.BEHAVIORAL_HEALTH
    return str(DiagnosisType.BEHAVIORAL if behavioral else DiagnosisType.MEDICAL)


def _auth_type(line: PriorAuthLine) -> AuthorizationType:
    if line.drug_code or line.medication_name:
        return AuthorizationType.RX
    if line.site_of_service == PlaceOfService.INPATIENT_HOSPITAL:
        return AuthorizationType.IP
    return AuthorizationType.SP


def _diagnoses(
    world: ManagedCareWorld, case: PriorAuthCase, line: PriorAuthLine
) -> tuple[IntakeDiagnosis, ...]:
    names = {c.code: c.display for c in world.charts[case.patient_id].conditions}
    # The source puts the code where the chart has no name for it.
    strict = world.intake.strict
    return tuple(
        IntakeDiagnosis(
            name=names.get(code, "" if strict else code), code=code, is_primary=not place
        )
        for place, code in enumerate(line.diagnosis_codes)
    )


def _line_item(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    line: PriorAuthLine,
    order: ServiceRequest,
    urgency: str,
) -> IntakeLineItem:
    name = line.procedure_name or line.medication_name or order.description
    # The source takes every code for CPT.
    system = code_set(line.procedure_code) if world.intake.strict else "CPT"
    procedure = IntakeProcedure(
        name=name,
        code=line.procedure_code,
        code_set=line.procedure_code_set or system,
        is_primary=True,
    )
    return IntakeLineItem(
        line_number=line.line_number,
        service_type=order.service_type,
        request_date=_day(order.requested_date),
        line_item_type=str(LineItemType.INITIAL),
        level_of_urgency=urgency,
        urgency_requested_by=case.requested_by,
        place_of_service=line.site_of_service,
        requested_units=line.requested_units,
        unit_type=line.unit_type,
        procedures=(procedure,),
        servicing_provider=line.servicing_provider,
        same_as_requesting_provider=line.same_as_requesting_provider,
    )


def code_set(code: str | None) -> str:
    """Return the system of a procedure's code: those of HCPCS begin with a letter."""
    return "HCPCS" if (code or "")[:1].isalpha() else "CPT"


def _requesting_provider(
    world: ManagedCareWorld, order: ServiceRequest, coverage: Coverage | None
) -> IntakeProviderInfo:
    clinician = world.staff.practitioners.get(order.ordering_practitioner_id)
    if clinician is None:
        return IntakeProviderInfo(provider_id=order.ordering_practitioner_id)
    return IntakeProviderInfo(
        provider_name=clinician.name,
        provider_id=clinician.id,
        npi=clinician.npi,
        in_network=_standing(coverage) is ProviderNetworkStatus.IN_NETWORK,
        provider_group_name=world.start.provider.name,
        provider_specialty=clinician.specialty or None,
    )


def _standing(coverage: Coverage | None) -> ProviderNetworkStatus:
    if coverage is None:
        return ProviderNetworkStatus.NOT_FOUND
    if coverage.network_status == ProviderNetworkStatus.IN_NETWORK:
        return ProviderNetworkStatus.IN_NETWORK
    return ProviderNetworkStatus.OUT_OF_NETWORK


def _standing_words(coverage: Coverage | None) -> str:
    if coverage is None:
        return "No plan to look the provider up in."
    return f"{coverage.plan_name} lists the provider as {_standing(coverage).replace('_', ' ')}."


def _active(coverage: Coverage | None) -> bool:
    return coverage is not None and coverage.active


def _coverage_words(coverage: Coverage | None) -> str:
    if coverage is None:
        return "No coverage on file."
    ends = f", ends {coverage.termination_date}" if coverage.termination_date else ""
    standing = "in force" if coverage.active else "not in force"
    return f"{coverage.plan_name}, member {coverage.member_number}, {standing}{ends}."


def _day(at: datetime) -> str:
    return at.date().isoformat()
