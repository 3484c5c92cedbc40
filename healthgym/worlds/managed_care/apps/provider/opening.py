"""When a case may be opened, and by which rules it will be judged."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.provider.office import Limit, require_short
from healthgym.worlds.managed_care.apps.provider.readiness import coverage_of
from healthgym.worlds.managed_care.records.case import PriorAuthLine
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    UploadableDocumentKind,
)
from healthgym.worlds.managed_care.workflow import SETTLED

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Words of the directory for clinicians who may order.
ORDERING = ("clinician", "provider")
#: What a payer asks for where no rule card was filed for the order.
_USUAL = (UploadableDocumentKind.CHART_NOTE, UploadableDocumentKind.PROGRESS_NOTE)
#: How far ahead a service is ordered at most.
_AHEAD = timedelta(days=365)
_DIAGNOSIS = re.compile(r"[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?")
_PROCEDURE = re.compile(r"[0-9A-Z][0-9]{3}[0-9A-Z]")


def first_line(order: ServiceRequest, case_id: str) -> PriorAuthLine:
    """Return the line with which a case of an order is opened."""
    return PriorAuthLine(
        id=f"LINE-{case_id}",
        case_id=case_id,
        line_number=1,
        procedure_code=order.procedure_code,
        diagnosis_codes=order.diagnosis_codes,
        site_of_service=order.site_of_service,
    )


def require_openable(world: ManagedCareWorld, wish: ServiceRequest) -> str:
    """Refuse an order that names what is not there; return who coordinates the case.

    In a strict world that is whoever uses the tools, if authorizations are that person's work.

    Raises:
        Refusal: If patient, practitioner or order is unknown, the order is another patient's, codes
            or description are blank, or nobody coordinates authorizations.
    """
    if wish.patient_id not in world.charts:
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"There is no patient {wish.patient_id[:60]!r}; chart.search_patients finds them.",
        )
    if wish.ordering_practitioner_id not in world.staff.practitioners:
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"There is no practitioner {wish.ordering_practitioner_id[:60]!r}; "
            "people.list_ordering_providers names them.",
        )
    for what, there in (
        ("diagnosis code", wish.diagnosis_codes),
        ("procedure code", wish.procedure_code),
        ("description", wish.description),
    ):
        if not there:
            raise Refusal(RefusalCode.MISSING_TEXT, f"The order has no {what}; give one.")
    if wish.id and world.cases.order(wish.id).patient_id != wish.patient_id:
        raise Refusal(
            RefusalCode.WRONG_OWNER,
            f"Order {wish.id} is another patient's; chart.list_candidate_orders names those of "
            f"{wish.patient_id}.",
        )
    coordinators = _coordinators(world)
    if not coordinators:
        raise Refusal(
            RefusalCode.NOT_FOUND,
            "Nobody in the directory coordinates authorizations (pa_coordinator).",
        )
    # The source gives every case to the first of the directory; here it stays with who opens it.
    own = world.rules is Rules.STRICT and world.actor in coordinators
    return world.actor if own else coordinators[0]


def _coordinators(world: ManagedCareWorld) -> tuple[str, ...]:
    """Return who coordinates authorizations: the directory's contacts, then other workers."""
    contacts = world.staff.contacts.values()
    named = [one.id for one in contacts if one.role == WorkerRole.PA_COORDINATOR]
    workers = world.staff.workers.values()
    return (*named, *(one.id for one in workers if one.role is WorkerRole.PA_COORDINATOR))


def require_sound(world: ManagedCareWorld, wish: ServiceRequest) -> None:
    """Refuse, in a strict world, an order that no office would take.

    Codes have the form of codes, the person who orders is a clinician, an order that is taken over
    is taken over as it stands, and a service is asked for once.

    Raises:
        Refusal: If one of these fails.
    """
    require_short(wish.description, "The description", Limit.DESCRIPTION)
    role = world.staff.practitioners[wish.ordering_practitioner_id].role
    if role not in ORDERING:
        raise Refusal(
            RefusalCode.ROLE_FORBIDDEN,
            f"{wish.ordering_practitioner_id} is {role} and may not order; "
            "people.list_ordering_providers names who may.",
        )
    for code in wish.diagnosis_codes:
        if not _DIAGNOSIS.fullmatch(code):
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"{code[:20]!r} is no ICD-10-CM code; write it as in 'M17.11'.",
            )
    if not _PROCEDURE.fullmatch(wish.procedure_code):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{wish.procedure_code[:20]!r} is no CPT or HCPCS code; write it as in '27447'.",
        )
    if wish.id and world.cases.order(wish.id).procedure_code != wish.procedure_code:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"Order {wish.id} asks for {world.cases.order(wish.id).procedure_code}, not for "
            f"{wish.procedure_code}; leave source_order_id out to order something else.",
        )
    now, rules = world.clock.now, world.operations
    # The date of an order on file is its own, however long ago that was.
    own = world.cases.order(wish.id).requested_date if wish.id else None
    first = now - timedelta(days=rules.retrospective_days)
    if wish.requested_date != own and not first <= wish.requested_date <= now + _AHEAD:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"requested_date {wish.requested_date:%Y-%m-%d} is not within "
            f"{rules.retrospective_days} days back and {_AHEAD.days} ahead of {now:%Y-%m-%d}.",
        )
    _require_new(world, wish)


def _require_new(world: ManagedCareWorld, wish: ServiceRequest) -> None:
    done = SETTLED | {CaseStatus.CLOSED}
    for case in world.cases.cases.values():
        if case.patient_id != wish.patient_id or case.status in done:
            continue
        asked = world.cases.order(case.service_request_id)
        if asked.procedure_code == wish.procedure_code:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"{case.id} already asks for {wish.procedure_code} for {wish.patient_id}; "
                "work on that case.",
            )


def card_for(world: ManagedCareWorld, case_id: str, order: ServiceRequest) -> CasePolicy:
    """Return the rule card of a new case.

    A world may begin with cards that are filed under an order's id instead of a case's: the case
    that is opened for that order, or for the same service for the same patient, is judged by it.
    Else the payer's policy in force decides, where the world has its policies; a service that none
    of them covers needs no authorization. Else it is what payers usually ask for.

    Args:
        world: The world.
        case_id: The new case.
        order: What it asks for.
    """
    for card in tuple(world.cases.policies.values()):
        filed = world.cases.orders.get(card.case_id) or world.charts.order(card.case_id)
        if filed is None or filed.patient_id != order.patient_id:
            continue
        if filed.id == order.id or filed.procedure_code == order.procedure_code:
            return replace(card, id=f"POL-{case_id}", case_id=case_id)
    book = world.start.policies
    if book is None:
        return CasePolicy(id=f"POL-{case_id}", case_id=case_id, required_documents=_USUAL)
    coverage = coverage_of(world, order.patient_id)
    plan = coverage.plan_name if coverage else ""
    state = world.charts[order.patient_id].patient.address_state
    policy = book.in_force(order.procedure_code, plan, state, world.clock.now.date())
    if policy is None:
        return CasePolicy(id=f"POL-{case_id}", case_id=case_id, authorization_required=False)
    return book.card(policy, case_id, order.procedure_code)
