"""What the right handling of a request is, from the policy in force and the finished chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.patients import CasePatient
from healthgym.envs.managed_care.cases.rulebook import Rulebook
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap, Situation
from healthgym.envs.managed_care.checks.expectation import (
    Contract,
    Expectation,
    OrderExpectation,
    PreSubmission,
    Stage,
)
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationReference,
    UnreadReference,
)
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.questionnaire import silent_keys
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    ProviderDeterminationAction,
)

_STATUSES = {
    Course.PARTIAL: CaseStatus.PARTIALLY_APPROVED,
    Course.APPEALED: CaseStatus.APPEAL_OVERTURNED,
    Course.EXTERNAL: CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
}


def reference_of(case: DrawnCase) -> AuthorizationReference:
    """Return the right handling of a case."""
    book, patient, drawn, found = case.book, case.patient, case.drawn, case.found
    chart, order = patient.chart, patient.order
    return UnreadReference.later(
        partial(_Unread, case),
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
        needed=drawn.needed(found),
        kinds=_required(case),
        course=drawn.ending if isinstance(drawn.ending, Course) else None,
        on_request=tuple(map(str, book.on_request)),
        told=(),
        drilled="",
        beside=frozenset(),
        status=_status(drawn),
    )


@dataclass(frozen=True, slots=True)
class _Unread:
    """What is found out when somebody asks."""

    case: DrawnCase

    @property
    def documents(self) -> frozenset[str]:
        """The documents that bear on the policy.

        One of a kind that the policy requires bears on it even where none of its kind shows
        anything.
        """
        patient, found = self.case.patient, self.case.found.criteria.values()
        bearing = frozenset(fact for each in found for fact in each.facts)
        shows = stating(patient.chart.shows, bearing)
        counting = [each for each in patient.chart.documents if each.id not in patient.void]
        telling = [each for each in counting if bearing & shows.get(each.id, frozenset())]
        kinds = _required(self.case) - {str(each.kind) for each in telling}
        mute = (each for each in counting if str(each.kind) in kinds)
        return frozenset(each.id for each in (*telling, *mute))

    @property
    def answers(self) -> Mapping[str, str]:
        return self.case.answers

    @property
    def silent(self) -> frozenset[str]:
        return silent_keys(self.case.found.criteria)

    @property
    def paper(self) -> Expectation:
        return _paper(self.case.book, self.case.patient, self.case.drawn)


def _required(case: DrawnCase) -> frozenset[str]:
    return frozenset(map(str, case.book.in_force.required_documents))


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
