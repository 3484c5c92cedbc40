"""A payer's front desk to play at: one request with the payer, and people to play with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

import pytest

from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.records.case import PriorAuthCase, PriorAuthLine
from healthgym.worlds.managed_care.records.chart import (
    Condition,
    Coverage,
    DocumentReference,
    Patient,
    ServiceRequest,
)
from healthgym.worlds.managed_care.records.intake import (
    IntakeCase,
    IntakeDiagnosis,
    IntakeLineItem,
    IntakeProcedure,
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.records.people import Organization, Practitioner
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff, Worker, WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    IntakeStatus,
    OrganizationKind,
    PayerMode,
    PayerRouteTarget,
    Urgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: A Friday, nine in the morning in Texas.
NOW = datetime(2026, 3, 13, 14, tzinfo=UTC)
CASE = "CASE-T"
NPI = "1111111111"
WORKERS = (
    ("W-INT", WorkerRole.INTAKE_COORDINATOR, (time(8), time(17))),
    ("W-NUR", WorkerRole.UM_NURSE, (time(8), time(17))),
    ("W-LATE", WorkerRole.UM_NURSE, (time(13), time(21))),
    ("W-MD", WorkerRole.PHYSICIAN_REVIEWER, (time(8), time(17))),
    ("W-SUP", WorkerRole.SUPERVISOR, (time(8), time(17))),
)
HEADER: Mapping[str, Any] = {
    "request_date": "2026-03-13",
    "state": "TX",
    "request_source": "fax",
    "method": "fax",
    "level_of_urgency": "standard",
}


def case(
    status: CaseStatus = CaseStatus.SUBMITTED, name: str = CASE, urgency: Urgency = Urgency.STANDARD
) -> PriorAuthCase:
    """Return a case that was handed in an hour ago."""
    return PriorAuthCase(
        id=name,
        external_case_id=name.replace("CASE-", "PA-"),
        patient_id="P1",
        service_request_id="SR-1",
        status=status,
        urgency=urgency,
        requested_by="PR-1",
        assigned_to="C-PA",
        created_at=NOW,
        updated_at=NOW,
        decision_due_at=NOW,
    )


def intake(status: IntakeStatus = IntakeStatus.COMPLETE, **fields: Any) -> IntakeCase:
    """Return an intake record in which everything is entered that every request has."""
    known: dict[str, Any] = {
        "id": "intake-1",
        "case_id": CASE,
        "received_at": NOW,
        "diagnoses": (IntakeDiagnosis(name="Atrial fibrillation", code="I48.0"),),
        "requesting_provider": IntakeProviderInfo(provider_name="Dr Orsini", npi=NPI),
        "line_items": (
            IntakeLineItem(
                line_number=1, procedures=(IntakeProcedure(name="Ablation", code="93653"),)
            ),
        ),
        **HEADER,
    }
    return IntakeCase(status=status, **{**known, **fields})


def policy(**fields: Any) -> CasePolicy:
    """Return the rule card of the case: an ordinary review, unless something else is said."""
    known: dict[str, Any] = {"id": f"POL-{CASE}", "case_id": CASE}
    return CasePolicy(**{**known, "route_target": PayerRouteTarget.STANDARD_UM, **fields})


def world(
    *records: object,
    rules: Rules = Rules.STRICT,
    now: datetime = NOW,
    actor: str = "W-INT",
    mode: PayerMode = PayerMode.AGENT,
    state: str = "TX",
) -> ManagedCareWorld:
    """Return a world with a case, its line and the records given."""
    given = {type(record) for record in records}
    usual = [*records]
    if PriorAuthCase not in given:
        usual.append(case())
    if CasePolicy not in given:
        usual.append(policy())
    usual.append(_line())
    return ManagedCareWorld(
        WorldStart(
            now=now,
            provider=Organization(id="ORG-1", name="Harbor", kind=OrganizationKind.PROVIDER),
            payer=Organization(id="ORG-2", name="Meridian", kind=OrganizationKind.PAYER),
            staff=_staff(),
            charts=ChartLibrary([_chart(state)]),
            records=tuple(usual),
            rules=rules,
            payer_mode=mode,
            actor=actor,
        )
    )


def refused(code: RefusalCode, act: Callable[[], object]) -> str:
    """Play a call that must be refused for this reason; return the sentence."""
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.code is code
    return str(caught.value)


def both(act: Callable[[Rules], object], code: RefusalCode) -> str:
    """Play one call in both kinds of world: strict refuses it, compat carries it out."""
    act(Rules.COMPAT)
    return refused(code, lambda: act(Rules.STRICT))


def _line() -> PriorAuthLine:
    return PriorAuthLine(
        id=f"LINE-{CASE}",
        case_id=CASE,
        line_number=1,
        procedure_code="93653",
        diagnosis_codes=("I48.0",),
        site_of_service="outpatient_hospital",
    )


def _staff() -> Staff:
    workers = tuple(
        Worker(id=known, name=known, role=role, organization_id="ORG-2", region="TX", hours=hours)
        for known, role, hours in WORKERS
    )
    clinician = Practitioner(
        id="PR-1",
        name="Dr Orsini",
        role="clinician",
        specialty="Cardiology",
        organization_id="ORG-1",
        npi=NPI,
    )
    return Staff(workers, (), (clinician, replace(clinician, id="PR-2", npi="2222222222")))


def _chart(state: str) -> PatientChart:
    order = ServiceRequest(
        id="SR-1",
        patient_id="P1",
        ordering_practitioner_id="PR-1",
        service_type="cardiology",
        procedure_code="93653",
        description="Ablation of atrial fibrillation",
        priority=Urgency.STANDARD,
        diagnosis_codes=("I48.0",),
        site_of_service="outpatient_hospital",
        requested_date=NOW,
    )
    return PatientChart(
        patient=Patient(
            id="P1",
            member_id="M-1",
            first_name="Ana",
            last_name="Bell",
            dob=date(1961, 4, 2),
            sex="F",
            address_state=state,
        ),
        coverages=(
            Coverage(
                id="COV-1",
                patient_id="P1",
                payer_name="Meridian",
                plan_name="Gold PPO",
                member_number="M-1",
            ),
        ),
        conditions=(
            Condition(id="CO-1", patient_id="P1", code="I48.0", display="Atrial fibrillation"),
        ),
        documents=(
            DocumentReference(
                id="DOC-1",
                patient_id="P1",
                case_id=CASE,
                kind=DocumentKind.CHART_NOTE,
                title="Note",
                content="Palpitations.",
                created_at=NOW,
            ),
        ),
        orders=(order,),
    )
