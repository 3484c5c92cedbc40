"""What the right handling of a request is, from the policy in force and the finished chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from healthgym.envs.managed_care.cases.patients import CaseFacts, CasePatient
from healthgym.envs.managed_care.cases.rulebook import Rulebook
from healthgym.envs.managed_care.cases.situations import OWN_KINDS, Bar, Course, Gap, Situation
from healthgym.envs.managed_care.checks.expectation import (
    Contract,
    Expectation,
    OrderExpectation,
    PreSubmission,
    Stage,
)
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.facts import Finding, TherapyCourse
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.questionnaire import answers_from, silent_keys
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    Posture,
    ProviderDeterminationAction,
    UploadableDocumentKind,
)

_STATUSES = {
    Course.PARTIAL: CaseStatus.PARTIALLY_APPROVED,
    Course.APPEALED: CaseStatus.APPEAL_OVERTURNED,
    Course.EXTERNAL: CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
}
#: Facts of which no table knows.
_TOLD = (Finding, TherapyCourse)


def assess(book: Rulebook, planned: CaseFacts, drawn: Situation, today: date) -> PolicyAssessment:
    """Return what the facts show of the policy in force.

    Args:
        book: The policies of the task.
        planned: The patient, before the chart is written.
        drawn: What the request was drawn to deserve.
        today: The day of the request.

    Raises:
        ConfigurationError: If policy and facts do not deserve it after all.
    """
    _require_found(book, planned, today)
    kinds = tuple(k for k in UploadableDocumentKind if str(k) in planned.on_file or k in OWN_KINDS)
    seen = replace(drawn, request=replace(drawn.request, documents=kinds))
    found = seen.assess(planned.facts, today)
    _require_deserved(drawn, found)
    return found


def as_shown(patient: CasePatient, drawn: Situation, today: date) -> PolicyAssessment:
    """Return what can be read in a finished chart from which a document is missing.

    What notes alone tell is known of only where one of them is on file: with the document that a
    policy requires, what stands nowhere else is open, too.

    Args:
        patient: The patient with the finished chart.
        drawn: What the request was drawn to deserve.
        today: The day of the request.

    Raises:
        ConfigurationError: If the chart then speaks against the request.
    """
    chart = patient.chart
    told = {fact.id for fact in chart.facts if isinstance(fact, _TOLD) and fact.noted_in}
    shown = {fact for facts in stating(chart.shows, told).values() for fact in facts}
    kinds = {str(document.kind) for document in chart.documents}
    on_file = tuple(k for k in UploadableDocumentKind if str(k) in kinds or k in OWN_KINDS)
    seen = replace(drawn, request=replace(drawn.request, documents=on_file))
    found = seen.assess((fact for fact in chart.facts if fact.id not in told - shown), today)
    if found.posture is Posture.CONTRADICTS or not found.missing_documents:
        raise ConfigurationError("What is left of the chart asks for no evidence.")
    return found


def reference_of(
    book: Rulebook, patient: CasePatient, drawn: Situation, found: PolicyAssessment
) -> AuthorizationReference:
    """Return the right handling.

    Args:
        book: The policies of the task.
        patient: The patient with the finished chart.
        drawn: What the request was drawn to deserve.
        found: What the facts show, or where a document is missing, what is left of them.

    Raises:
        ConfigurationError: If the documents do not show what the chart knows.
    """
    chart, order = patient.chart, patient.order
    needed = drawn.needed(found)
    bearing = {fact for each in found.criteria.values() for fact in each.facts}
    telling = stating(chart.shows, bearing | needed)
    shown = {fact for facts in telling.values() for fact in facts}
    submits = isinstance(drawn.ending, Course)
    if submits and drawn.ending not in (Course.GOLD_CARD, Course.NOTIFICATION) and needed - shown:
        raise ConfigurationError("The documents do not show what the chart knows.")
    required = frozenset(map(str, book.in_force.required_documents))
    return AuthorizationReference(
        action=drawn.action,
        patient_id=chart.patient.id,
        order_id=order.id,
        practitioner_id=order.ordering_practitioner_id,
        procedure_code=order.procedure_code,
        diagnosis_codes=order.diagnosis_codes,
        service_type=book.in_force.category,
        site=drawn.request.site,
        urgency=order.priority,
        policy=book.in_force,
        postures={name: each.posture for name, each in found.criteria.items()},
        gaps=frozenset(_named(drawn, found)),
        missing=frozenset(map(str, found.missing_documents)),
        bar=drawn.ending if isinstance(drawn.ending, Bar) else None,
        needed=needed,
        documents=_documents(patient, telling, bearing, required),
        kinds=required,
        answers=answers_from(found.criteria),
        silent=silent_keys(found.criteria),
        course=drawn.ending if isinstance(drawn.ending, Course) else None,
        on_request=tuple(map(str, book.on_request)),
        status=_status(drawn),
        paper=_paper(book, patient, drawn),
    )


def _require_found(book: Rulebook, planned: CaseFacts, today: date) -> None:
    """Refuse a task in which the payer's book does not lead to the policy that was drawn."""
    latest = planned.coverages[0]
    found = book.book.in_force(
        planned.order.procedure_code, latest.plan_name, planned.patient.address_state, today
    )
    if found is not book.in_force:
        raise ConfigurationError("Another policy covers the service for this plan.")


def _require_deserved(drawn: Situation, found: PolicyAssessment) -> None:
    if drawn.ending is Course.PARTIAL:
        right = found.approved_quantity is not None and not found.missing_documents
    elif drawn.ending is Gap.DOCUMENT:
        right = set(map(str, found.missing_documents)) == set(drawn.missing)
        right = right and found.posture is Posture.SATISFIED
    else:
        right = found.action is drawn.action
        if drawn.action is not ProviderDeterminationAction.DO_NOT_SUBMIT:
            right = right and not found.missing_documents
    if not right:
        raise ConfigurationError(f"The chart does not deserve {drawn.ending.value}.")


def _documents(
    patient: CasePatient,
    shows: Mapping[str, frozenset[str]],
    bearing: set[str],
    required: frozenset[str],
) -> frozenset[str]:
    """Return the documents that bear on the policy.

    One of a kind that the policy requires bears on it even where none of its kind shows anything.
    """
    counting = [each for each in patient.chart.documents if each.id not in patient.void]
    telling = [each for each in counting if bearing & shows.get(each.id, frozenset())]
    mute = required - {str(each.kind) for each in telling}
    return frozenset(each.id for each in (*telling, *(d for d in counting if str(d.kind) in mute)))


def _named(drawn: Situation, found: PolicyAssessment) -> tuple[str, ...]:
    if isinstance(drawn.ending, Gap):
        return found.gaps
    return found.against if drawn.ending is Bar.CONTRADICTED else ()


def _status(drawn: Situation) -> CaseStatus:
    if isinstance(drawn.ending, Gap):
        return CaseStatus.DOCS_NEEDED
    if isinstance(drawn.ending, Bar):
        return CaseStatus.CLOSED
    return _STATUSES.get(drawn.ending, CaseStatus.APPROVED)


def _paper(book: Rulebook, patient: CasePatient, drawn: Situation) -> Expectation:
    """Return what the source's checks expect.

    Where the payer answers, the source's expectation of a submitted request (its status stays
    ``submitted``) has no right ending; the status expected is then the one the answer leads to, as
    the source allows, and the provider's action is left to the other checks.
    """
    order = patient.order
    submits = drawn.action is ProviderDeterminationAction.SUBMIT_PA
    return Expectation(
        contract=Contract.V5,
        target_patient_id=patient.chart.patient.id,
        stages=(Stage.NEW_REFERRAL, Stage.PRE_SUBMISSION),
        target_status=_status(drawn),
        service_request=OrderExpectation(
            acceptable_procedure_codes=(order.procedure_code,),
            required_diagnosis_codes=order.diagnosis_codes,
            acceptable_service_types=(str(book.in_force.category),),
            acceptable_sites_of_service=(str(order.site_of_service),),
        ),
        pre_submission=PreSubmission(
            final_action=None if submits else drawn.action,
            packet_must_be_absent=not submits,
            required_document_kinds=tuple(
                DocumentKind(str(kind)) for kind in book.in_force.required_documents
            )
            if submits
            else (),
        ),
    )
