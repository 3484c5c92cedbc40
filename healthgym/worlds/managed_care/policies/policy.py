"""A coverage policy: for whom, for what, under which criteria, and how it is handled.

A policy is one value, and everything else is made from it: `amend` one number and the page, the
questionnaire, the documents asked for, the case card, the catalog of criteria, planted cases and
evaluations follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from typing import ClassVar, NamedTuple

from pydantic import ConfigDict

from healthgym.core.borders import JsonDict
from healthgym.core.records import replace
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.documents import documents_for, required_kinds
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.keeping import Keeping, kept
from healthgym.worlds.managed_care.policies.questionnaire import Form, form_for
from healthgym.worlds.managed_care.policies.tree import Node, criteria, transform
from healthgym.worlds.managed_care.policies.wording import criterion_text
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.records.review import ClinicalCriterionCatalogItem
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    PayerRouteTarget,
    PlaceOfService,
    ServiceTypeCategory,
    UploadableDocumentKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureCode:
    """A service that a policy is about.

    Attributes:
        code: CPT or HCPCS code.
        display: Its name.
        authorization: Whether it needs an authorization.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    code: str
    display: str
    authorization: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Where requests under a policy go besides the usual review.

    Attributes:
        gold_card: Whether providers with a gold card are approved without review.
        notification_only: Whether telling the plan is enough.
        delegated_program: Who reviews in the plan's place; empty if the plan does.
        specialty_program: The plan's program that reviews; empty for general review.
        external_vendor: The vendor that reviews; empty if none does.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    gold_card: bool = False
    notification_only: bool = False
    delegated_program: str = ""
    specialty_program: str = ""
    external_vendor: str = ""

    @property
    def target(self) -> PayerRouteTarget:
        """Where a request goes, by the order of priority of the routes."""
        if self.notification_only:
            return PayerRouteTarget.NOTIFICATION_ONLY_LANE
        if self.gold_card:
            return PayerRouteTarget.GOLD_CARD_LANE
        if self.external_vendor:
            return PayerRouteTarget.EXTERNAL_VENDOR
        if self.delegated_program:
            return PayerRouteTarget.DELEGATE
        if self.specialty_program:
            return PayerRouteTarget.SPECIALTY_PROGRAM
        return PayerRouteTarget.STANDARD_UM


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """What a page says besides what follows from the policy's parameters.

    Attributes:
        scope: What the policy is about.
        background: What a reader should know of the service.
        exclusions: What is not covered.
        notes: Hints for whoever files or reviews.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    scope: str
    background: str = ""
    exclusions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Keeping):
    """A coverage policy.

    Attributes:
        id: Such as ``MP-SUR-014``; versions of one policy share it.
        title: Its title.
        version: Such as ``2026.1``.
        effective: First day it is in force.
        terminated: Last day; None while no end is set.
        payer: Whose it is.
        plans: Plans it holds for.
        states: Two-letter states it holds in; empty for all.
        category: Kind of service.
        authorization_type: Kind of authorization.
        procedures: The services it is about.
        diagnosis_prefixes: ICD-10-CM codes, or their beginnings, that a request may give.
        sites: Places of service a request may name.
        criteria: What is required.
        extra_documents: Documents required besides those that show the criteria.
        lanes: Where requests go.
        standard_hours: Turnaround of standard requests.
        expedited_hours: Turnaround of expedited ones.
        nurse_may_approve: Whether a nurse approves alone when everything is met.
        out_of_network: Whether providers outside the network may ask.
        related: Ids of sibling policies.
        texts: What its page says besides.
        history: Former versions and what changed in each, newest first.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: str
    title: str
    version: str = "2026.1"
    effective: date
    terminated: date | None = None
    payer: str = "Larkfield Health Plan"
    plans: tuple[str, ...] = ("Larkfield Choice PPO",)
    states: tuple[str, ...] = ()
    category: ServiceTypeCategory
    authorization_type: AuthorizationType = AuthorizationType.SP
    procedures: tuple[ProcedureCode, ...]
    diagnosis_prefixes: tuple[str, ...]
    sites: tuple[PlaceOfService, ...]
    criteria: Node
    extra_documents: tuple[UploadableDocumentKind, ...] = ()
    lanes: Lanes = Lanes()
    standard_hours: int = 168
    expedited_hours: int = 72
    nurse_may_approve: bool = True
    out_of_network: bool = False
    related: tuple[str, ...] = ()
    texts: Texts
    history: tuple[tuple[str, str], ...] = ()

    @property
    def required_documents(self) -> tuple[UploadableDocumentKind, ...]:
        """Kinds of documents that a packet must hold, in the order of their first use."""
        return _required_documents(self)

    @property
    def citations(self) -> tuple[str, ...]:
        """What letters cite: the policy, its version and the section of the criteria."""
        return (f"{self.id} ({self.version}), Criteria",)

    @property
    def form(self) -> Form:
        """The questionnaire."""
        return _form(self)

    def cite(self, criterion_id: str) -> str:
        """Return how a letter cites one criterion."""
        return f"{self.id} ({self.version}), Criteria, {criterion_id}"

    def in_force(self, day: date) -> bool:
        """Return whether the policy holds on a day."""
        return self.effective <= day and (self.terminated is None or day <= self.terminated)

    def requires_authorization(self, code: str) -> bool:
        """Return whether a service needs an authorization under this policy."""
        return any(item.code == code and item.authorization for item in self.procedures)

    def covers_diagnosis(self, codes: tuple[str, ...]) -> bool:
        """Return whether one of the codes is among those a request may give."""
        return any(code.startswith(self.diagnosis_prefixes) for code in codes)

    def criterion(self, criterion_id: str) -> AnyCriterion:
        """Return a criterion by id.

        Raises:
            ConfigurationError: If the policy has no such criterion.
        """
        found = _by_id(self)
        if criterion_id not in found:
            raise ConfigurationError(
                f"{self.id} has no criterion {criterion_id!r}; it has {', '.join(found)}."
            )
        return found[criterion_id]

    def text(self, criterion_id: str) -> str:
        """Return the sentence that states a criterion, as the page has it."""
        return _texts(self)[self.criterion(criterion_id).id]


@kept
def _required_documents(policy: Policy) -> tuple[UploadableDocumentKind, ...]:
    return tuple(dict.fromkeys([*required_kinds(policy.criteria), *policy.extra_documents]))


@kept
def _form(policy: Policy) -> Form:
    return form_for(policy.id, policy.title, policy.criteria)


@kept
def _by_id(policy: Policy) -> Mapping[str, AnyCriterion]:
    return {item.id: item for item in criteria(policy.criteria)}


@kept
def _texts(policy: Policy) -> Mapping[str, str]:
    return {item.id: criterion_text(policy.id, item) for item in criteria(policy.criteria)}


def amend(policy: Policy, criterion_id: str, **changes: object) -> Policy:
    """Return a policy whose criterion has other parameters.

    Args:
        policy: The policy.
        criterion_id: Which criterion.
        **changes: New parameters by name, such as ``threshold=38.0``.

    Raises:
        ConfigurationError: If there is no such criterion or parameter.
    """
    old = policy.criterion(criterion_id)
    unknown = [name for name in changes if name in ("id", "kind") or not hasattr(old, name)]
    if unknown:
        raise ConfigurationError(f"{old.kind} criteria have no parameter {unknown[0]!r} to change.")

    # `replace` cannot be typed for names that are known at run time only.
    def swap(item: AnyCriterion) -> AnyCriterion:
        return replace(item, **changes) if item.id == criterion_id else item  # type: ignore[arg-type]

    return replace(policy, criteria=transform(policy.criteria, swap))


class _Listed(Deferred, ClinicalCriterionCatalogItem):
    """A criterion whose sentence is written when a reviewer reads it."""

    __slots__ = ("_write",)

    plain = ClinicalCriterionCatalogItem
    late = ("criterion_text",)


def catalog(policy: Policy, stage: str, line: int = 1) -> tuple[ClinicalCriterionCatalogItem, ...]:
    """Return the criteria as reviewers get them for a line of a case.

    Args:
        policy: The policy.
        stage: ``nurse_review`` or ``md_review``.
        line: Line number.
    """
    return tuple(
        _Listed.later(
            partial(policy.text, item.id),
            criterion_id=item.id,
            line_number=line,
            stage=stage,
            criteria_source=policy.id,
            criteria_version=policy.version,
            evidence_items=evidence_items(item),
        )
        for item in criteria(policy.criteria)
    )


def to_case_policy(
    policy: Policy,
    case_id: str,
    procedure_code: str,
    answers: Mapping[str, str] | None = None,
) -> CasePolicy:
    """Return the card by which a payer's rules treat one case.

    Args:
        policy: The policy.
        case_id: The case.
        procedure_code: What is asked for.
        answers: Answers that the questionnaire should have, by key; empty if they do not matter.
    """
    card = CasePolicy(
        id=f"POL-{case_id}",
        case_id=case_id,
        authorization_required=policy.requires_authorization(procedure_code),
        required_documents=policy.required_documents,
        required_questionnaire_answers=dict(answers or {}),
        policy_summary=f"{policy.title}: {policy.texts.scope}",
        route_target=policy.lanes.target,
        delegated_program=policy.lanes.delegated_program or None,
        specialty_program=policy.lanes.specialty_program or None,
        external_vendor=policy.lanes.external_vendor or None,
        gold_card_eligible=policy.lanes.gold_card,
        notification_only=policy.lanes.notification_only,
        allow_nurse_approval=policy.nurse_may_approve,
        standard_turnaround_hours=policy.standard_hours,
        expedited_turnaround_hours=policy.expedited_hours,
        policy_version=policy.version,
        policy_citations=policy.citations,
        expected_authorization_type=policy.authorization_type,
        policy_family=policy.id,
        policy_document_ids=(policy.id,),
        applicability_summary=", ".join(policy.plans),
    )
    known = {item.name: getattr(card, item.name) for item in _KNOWN}
    return _Card.later(partial(_printed, policy), **known)


class _Printed(NamedTuple):
    """What the card of a case says in the words of the policy's page."""

    submission_requirements: tuple[str, ...]
    required_form_fields: tuple[str, ...]
    form_definitions: tuple[JsonDict, ...]


class _Card(Deferred, CasePolicy):
    """A card on which the words of the page are put when somebody reads them."""

    __slots__ = ("_write",)

    plain = CasePolicy
    late = _Printed._fields


_KNOWN = tuple(item for item in fields(CasePolicy) if item.name not in _Card.late)


def _printed(policy: Policy) -> _Printed:
    needs = documents_for(policy.id, policy.criteria)
    return _Printed(
        submission_requirements=tuple(need.text for need in needs),
        required_form_fields=tuple(question.key for question in policy.form.questions),
        form_definitions=(policy.form.definition(),),
    )


def superseded(policy: Policy, version: str, effective: date, terminated: date) -> Policy:
    """Return a policy as a former version, in force between two days."""
    return replace(policy, version=version, effective=effective, terminated=terminated, history=())


def variant(
    policy: Policy, policy_id: str, *, plans: tuple[str, ...], states: tuple[str, ...] = ()
) -> Policy:
    """Return a near-duplicate of a policy for other plans or states, under an id of its own."""
    return replace(
        policy,
        id=policy_id,
        plans=plans,
        states=states,
        related=tuple(dict.fromkeys([policy.id, *policy.related])),
    )
