"""What one does who knows the answer, and what those do who do not look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.situations import Bar, Course
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationInstance,
    AuthorizationReference,
)
from healthgym.worlds.managed_care.apps.provider.forms import UNKNOWN
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    ProviderDeterminationAction,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Plays calls from the beginning, and returns the world in which that ends.
Rehearsal = Callable[[Sequence[ToolCall]], ManagedCareWorld]
#: Ids that a world gives the first of their kind.
CASE, BUNDLE, UPLOAD = "CASE-ACT-001", "DOC-BUNDLE-0001", "DOC-UP-0001"
_LETTER = "letter_of_medical_necessity"
_FORM = "questionnaire_form"
_PATIENCE = timedelta(days=55)
_FINISH = call("finish")
SENDS = ProviderDeterminationAction.SUBMIT_PA


def solve(instance: AuthorizationInstance, rng: np.random.Generator, rehearse: Rehearsal) -> Script:
    """Find patient, order and policy, decide, fill and send what has to be, and see it through.

    Args:
        instance: The task.
        rng: Nothing is left to chance.
        rehearse: Plays calls in a world of its own; tells which times the payer will offer.
    """
    wanted, start = instance.reference, instance.start
    begun = opening(wanted, start)
    if wanted.action is not SENDS:
        return [*begun, _FINISH]
    sent = [*begun, _wait(start.now)]
    if wanted.course is Course.PEER_CALL:
        world = rehearse(sent)
        (request,) = world.peer.requests.values()
        return [*sent, *called(wanted, request, world.clock.now), _FINISH]
    return [*sent, *answers(wanted, start, start.charts[wanted.patient_id]), _FINISH]


def opening(wanted: AuthorizationReference, start: WorldStart) -> list[ToolCall]:
    """Return the calls up to the decision, and to the submission where there is one.

    Args:
        wanted: The right handling.
        start: What the world begins with.
    """
    chart = start.charts[wanted.patient_id]
    patient = chart.patient
    policy = wanted.policy
    pages = [page_path(policy.id)]
    looks = [
        call("chart.search_patients", last_name=patient.last_name),
        call("chart.get_patient_chart_by_patient", patient_id=patient.id),
        call("chart.list_candidate_orders", patient_id=patient.id),
        call("handbook.search", query=policy.title),
        *(call("handbook.read", path=page) for page in pages if page in start.handbook),
        open_case(chart.orders[0]),
    ]
    if wanted.action is not SENDS:
        reason = f"{reason_of(wanted, chart)}; {follow_up(start)}"
        return [*looks, decide(wanted.action, override_reason=reason)]
    return [*looks, *submission(wanted, start, chart)]


def open_case(order: ServiceRequest) -> ToolCall:
    """Return the call that opens a case for an order on file."""
    return call(
        "cases.create_from_order",
        patient_id=order.patient_id,
        ordering_practitioner_id=order.ordering_practitioner_id,
        source_order_id=order.id,
        service_type=str(order.service_type),
        procedure_code=order.procedure_code,
        description=order.description,
        priority=str(order.priority),
        diagnosis_codes=list(order.diagnosis_codes),
        site_of_service=str(order.site_of_service),
    )


def decide(action: ProviderDeterminationAction, **more: object) -> ToolCall:
    """Return the call that records a decision."""
    return call(
        "auth.finalize_provider_determination", case_id=CASE, final_action=str(action), **more
    )


def reason_of(wanted: AuthorizationReference, chart: PatientChart) -> str:
    """Return the reason of a request that is not submitted, and what it rests on."""
    policy, coverage = wanted.policy.id, chart.coverage
    if wanted.bar is None:
        gaps = [*sorted(wanted.gaps), *(f"missing: {kind}" for kind in sorted(wanted.missing))]
        return f"{policy}: {'; '.join(gaps)}"
    match wanted.bar:
        case Bar.INACTIVE:
            rests_on = f"ended {coverage.termination_date if coverage else UNKNOWN}"
        case Bar.OUT_OF_NETWORK:
            plan = coverage.plan_name if coverage else UNKNOWN
            rests_on = f"{plan}, no exception in {policy}"
        case Bar.NOT_REQUIRED:
            rests_on = f"{policy} lists {wanted.procedure_code} without authorization"
        case Bar.CONTRADICTED:
            rests_on = f"{policy}, {', '.join(sorted(wanted.gaps))}"
    return f"{wanted.bar}: {rests_on}"


def follow_up(start: WorldStart) -> str:
    """Return when a request that is not sent is looked at again, as its record says it."""
    return f"again on {start.now.date() + timedelta(days=start.operations.follow_up_days)}"


def submission(
    wanted: AuthorizationReference, start: WorldStart, chart: PatientChart
) -> list[ToolCall]:
    """Return the calls that fill the forms, make the packet, decide and send it."""
    calls: list[ToolCall] = [call("forms.list_required_forms", case_id=CASE)]
    answers = {**request_answers(start, chart, wanted), **policy_answers(wanted)}
    calls.append(call("forms.save_form_response", case_id=CASE, answers=answers))
    documents = chosen(wanted, chart)
    if _LETTER in wanted.kinds:
        calls.append(
            call(
                "docs.upload_evidence",
                case_id=CASE,
                kind=_LETTER,
                title="Letter of medical necessity",
                content=(
                    f"We ask for {chart.orders[0].description}. The attached documents show what "
                    f"{wanted.policy.id} requires."
                ),
            )
        )
        documents.append(UPLOAD)
    # The answered questionnaire goes into the packet as a document of its own.
    inside = len(documents) + bool(wanted.policy.form.questions)
    channel = start.operations.channel(wanted.urgency, inside)
    return [
        *calls,
        call("docs.create_submission_bundle", case_id=CASE, document_ids=documents),
        decide(SENDS, bundle_document_id=BUNDLE),
        call(
            "auth.submit_authorization",
            case_id=CASE,
            channel=str(channel),
            # A compat world sends an empty packet where none is named.
            bundle_document_id=BUNDLE,
        ),
    ]


def chosen(wanted: AuthorizationReference, chart: PatientChart) -> list[str]:
    """Return few documents that show what is needed, and one of each kind that is required."""
    open_facts = set(wanted.needed)
    picked: list[str] = []
    able = [
        document
        for document in chart.documents
        if document.id in wanted.documents and str(document.kind) not in wanted.on_request
    ]
    while open_facts:
        best = max(
            able,
            key=lambda each: len(open_facts & chart.shows.get(each.id, frozenset())),
            default=None,
        )
        shown = chart.shows.get(best.id, frozenset()) if best else frozenset()
        if best is None or not open_facts & shown:
            break
        picked.append(best.id)
        open_facts -= shown
    kinds = {str(document.kind) for document in chart.documents if document.id in picked}
    for kind in sorted(wanted.kinds - kinds):
        found = next((each.id for each in able if str(each.kind) == kind), None)
        picked += [found] if found else []
    return picked


def policy_answers(wanted: AuthorizationReference) -> dict[str, str]:
    """Return the answers to the policy's questions."""
    return {
        question.key: wanted.answers.get(question.key, UNKNOWN)
        for question in wanted.policy.form.questions
    }


def request_answers(
    start: WorldStart, chart: PatientChart, wanted: AuthorizationReference
) -> dict[str, str]:
    """Return the answers of the request form."""
    patient, coverage, order = chart.patient, chart.coverage, chart.orders[0]
    doctor = start.staff.practitioners[wanted.practitioner_id]
    return {
        "request_patient_name": f"{patient.first_name} {patient.last_name}",
        "request_patient_dob": patient.dob.isoformat(),
        "request_member_number": coverage.member_number if coverage else UNKNOWN,
        "request_group_number": (coverage.group_number if coverage else None) or UNKNOWN,
        "request_payer_name": coverage.payer_name if coverage else UNKNOWN,
        "request_plan_name": coverage.plan_name if coverage else UNKNOWN,
        "request_requesting_provider_name": doctor.name,
        "request_requesting_provider_npi": doctor.npi or UNKNOWN,
        "request_servicing_provider_name": doctor.name,
        "request_servicing_provider_npi": doctor.npi or UNKNOWN,
        "request_service_type": str(order.service_type),
        "request_procedure_code": order.procedure_code,
        "request_description": order.description,
        "request_site_of_service": str(order.site_of_service),
        "request_diagnosis_codes": ", ".join(order.diagnosis_codes),
    }


def answers(
    wanted: AuthorizationReference, start: WorldStart, chart: PatientChart
) -> Iterable[ToolCall]:
    """Yield the calls that see a submitted request through.

    Args:
        wanted: The right handling.
        start: What the world begins with.
        chart: The patient's chart.
    """
    if wanted.course is Course.PENDED:
        asked = [d.id for d in chart.documents if str(d.kind) in wanted.on_request]
        yield call(
            "auth.respond_to_pend", case_id=CASE, note="As asked for.", document_ids=asked[-1:]
        )
        yield _wait(start.now)
    if wanted.course in (Course.APPEALED, Course.EXTERNAL):
        rationale = (
            f"The denial cites a superseded version. {wanted.policy.id} {wanted.policy.version} is "
            "in force, and the packet shows what it requires."
        )
        yield call("auth.file_appeal", case_id=CASE, rationale=rationale)
        yield _wait(start.now)
        if wanted.course is Course.EXTERNAL:
            yield call("auth.file_external_appeal", case_id=CASE, rationale=rationale)
            yield _wait(start.now)


def called(
    wanted: AuthorizationReference, request: PayerPeerToPeerRequest, now: datetime
) -> Iterable[ToolCall]:
    """Yield the calls that see a call of peers through.

    Args:
        wanted: The right handling.
        request: The call, with the times that are offered.
        now: The time.
    """
    slot = request.offered_slots[0]
    point = (
        f"Your intended denial goes by a superseded version. {wanted.policy.id} "
        f"{wanted.policy.version} is in force, and the packet shows what it requires."
    )
    yield call("inbox.list_messages", case_id=CASE)
    yield call(
        "auth.respond_to_peer_to_peer", case_id=CASE, request_id=request.id, selected_slot=slot
    )
    yield call("wait", until=slot)
    yield call("p2p_session.get_context", request_id=request.id)
    yield call("p2p_session.send_turn", request_id=request.id, message=point)
    yield call(
        "p2p_session.submit_summary",
        request_id=request.id,
        summary=f"The version was in dispute; it was agreed which is in force. {point}",
        proposed_result=str(PeerToPeerOutcome.OVERTURN_TO_APPROVAL),
    )
    yield _wait(now)


def _wait(begins: datetime) -> ToolCall:
    return call("wait", until=f"{begins + _PATIENCE:%Y-%m-%dT%H:%M}")


# -- those who do not look ---------------------------------------------------------------------


def baselines() -> Mapping[str, Baseline[Task, AuthorizationReference, WorldStart]]:
    """Return the scripts that do not read what decides."""
    gather = ProviderDeterminationAction.GATHER_MORE_EVIDENCE
    leave = ProviderDeterminationAction.DO_NOT_SUBMIT

    def constant(
        action: ProviderDeterminationAction, reason: str
    ) -> Baseline[Task, AuthorizationReference, WorldStart]:
        def play(instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
            order = instance.start.charts[instance.reference.patient_id].orders[0]
            return [open_case(order), decide(action, override_reason=reason), _FINISH]

        return play

    def flood(instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
        """Send the whole chart."""
        wanted, start = instance.reference, instance.start
        chart = start.charts[wanted.patient_id]
        answers = {
            **request_answers(start, chart, wanted),
            **{question.key: "yes" for question in wanted.policy.form.questions},
        }
        return [
            open_case(chart.orders[0]),
            call("forms.save_form_response", case_id=CASE, answers=answers),
            call(
                "docs.upload_evidence",
                case_id=CASE,
                kind=_LETTER,
                title="Letter of medical necessity",
                content="Everything that is required is met.",
            ),
            call(
                "docs.create_submission_bundle",
                case_id=CASE,
                document_ids=[*(d.id for d in chart.documents), UPLOAD],
            ),
            decide(SENDS, bundle_document_id=BUNDLE),
            call("auth.submit_authorization", case_id=CASE, channel="portal"),
            _wait(start.now),
            _FINISH,
        ]

    every = ", ".join(f"C{n}" for n in range(1, 21))
    return {
        "flood": flood,
        "prior": constant(gather, "C1"),
        "gather_everything": constant(gather, every),
        "gather_nothing": constant(gather, "More evidence is needed."),
        "never_submit": constant(leave, str(Bar.INACTIVE)),
        "not_required": constant(leave, str(Bar.NOT_REQUIRED)),
        "contradicted": constant(leave, f"{Bar.CONTRADICTED}: C1"),
    }
