"""What reviewers name: the criteria that would turn a result, and what they ask to be sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

import pytest

from healthgym.worlds.managed_care.facts import AnyFact, Measurement
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
    AnyCriterion,
    FindingCriterion,
    MeasurementCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import combined, decisive
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import (
    AllOf,
    AnyOf,
    AtLeast,
    Node,
    Not,
    Unless,
    criteria,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    PlaceOfService,
    Posture,
    UploadableDocumentKind,
)

TODAY = date(2026, 3, 20)
GOOD, BAD, OPEN = Posture.SATISFIED, Posture.CONTRADICTS, Posture.ABSENT
_ONE, _TWO, _THREE, _FOUR = (AgeCriterion(id=f"C{n}", display="age") for n in range(1, 5))
#: Two branches: one of three criteria, one of a single one.
BRANCHES = AnyOf(id="G1", parts=(AllOf(id="G2", parts=(_ONE, _TWO, _THREE)), _FOUR))


@pytest.mark.parametrize(
    ("tree", "postures", "named"),
    [
        (BRANCHES, {"C1": BAD, "C2": BAD, "C3": GOOD, "C4": BAD}, ("C4",)),
        (BRANCHES, {"C1": GOOD, "C2": BAD, "C3": GOOD, "C4": BAD}, ("C2",)),
        (BRANCHES, {"C1": BAD, "C2": BAD, "C3": GOOD, "C4": GOOD}, ()),
        (
            AllOf(id="G1", parts=(Not(id="G2", part=_ONE), Not(id="G3", part=_TWO), _THREE)),
            {"C1": BAD, "C2": BAD, "C3": BAD},
            ("C3",),
        ),
        (Not(id="G1", part=AnyOf(id="G2", parts=(_ONE, _TWO))), {"C1": GOOD, "C2": BAD}, ("C1",)),
        (Not(id="G1", part=AllOf(id="G2", parts=(_ONE, _TWO))), {"C1": GOOD, "C2": GOOD}, ("C1",)),
        (
            AtLeast(id="G1", n=2, parts=(_ONE, _TWO, _THREE)),
            {"C1": GOOD, "C2": BAD, "C3": BAD},
            ("C2",),
        ),
        (Unless(id="G1", requirement=_ONE, exception=_TWO), {"C1": OPEN, "C2": BAD}, ("C1",)),
    ],
    ids=["shorter", "nearer", "carried", "negated", "any-of-not", "all-of-not", "some", "unless"],
)
def test_only_what_would_turn_the_result_is_named(
    tree: Node, postures: Mapping[str, Posture], named: tuple[str, ...]
) -> None:
    assert decisive(tree, postures) == named


def test_what_is_named_turns_every_policy_and_nothing_less_does() -> None:
    for policy in library().values():
        postures = {item.id: BAD for item in criteria(policy.criteria)}
        named = decisive(policy.criteria, postures)
        good = dict.fromkeys(named, GOOD)
        assert combined(policy.criteria, postures | good) is GOOD, policy.id
        for name in named:
            less = {**postures, **good, name: BAD}
            assert combined(policy.criteria, less) is not GOOD, (policy.id, name)


def _policy_with(kind: type[AnyCriterion]) -> tuple[Policy, AnyCriterion]:
    for policy in library().values():
        for item in criteria(policy.criteria):
            if isinstance(item, kind):
                return policy, item
    raise LookupError(kind)


def finding(policy: Policy, *facts: AnyFact, kinds: frozenset[str] = frozenset()) -> Finding:
    request = Request(
        procedure_code=policy.procedures[0].code,
        diagnosis_codes=(policy.diagnosis_prefixes[0],),
        site=PlaceOfService.OFFICE,
        age=50,
        sex="F",
        coverage_active=True,
        in_network=True,
        documents=tuple(kind for kind in UploadableDocumentKind if str(kind) in kinds),
    )
    packet = Packet(
        documents=("DOC-1",),
        kinds=kinds,
        facts=facts,
        sources={fact.id: ("DOC-1",) for fact in facts},
        request=request,
    )
    return Finding(policy, packet, evaluate(policy, facts, request, TODAY))


def test_a_finding_is_told_in_words_with_its_document() -> None:
    policy, item = _policy_with(MeasurementCriterion)
    assert isinstance(item, MeasurementCriterion)
    value = item.threshold * 3 if item.operator.value.startswith("l") else item.threshold / 3
    taken = Measurement(
        id="F1", code=item.code, display=item.display, value=value, unit=item.unit, taken=TODAY
    )
    told = finding(policy, taken)._shown(item.id)
    assert told.startswith("Finding (DOC-1): ")
    assert f"{value:g}" in told
    assert finding(policy)._shown(item.id) == "Finding: nothing that was sent shows it."


def test_a_summary_names_policy_version_and_no_more_criteria_than_turn_it() -> None:
    policy, _ = _policy_with(FindingCriterion)
    found = finding(policy)
    told = found.summary()
    assert told.startswith(f"{policy.id}, version {policy.version}: ")
    ids = {item.id for item in criteria(policy.criteria)}
    assert {name for name in ids if f" {name}: " in told} == set(found.named())


def test_closing_a_file_never_turns_silence_into_what_must_not_hold() -> None:
    for policy in library().values():
        found = finding(policy)
        postures = {
            one.criterion_id: {
                CriterionResult.MET: GOOD,
                CriterionResult.NOT_MET: BAD,
                CriterionResult.UNCLEAR: OPEN,
            }[one.result]
            for one in found.evaluations(closed=True)
        }
        if found.named():
            assert decisive(policy.criteria, postures), policy.id


@pytest.mark.parametrize("policy", library().values(), ids=lambda each: each.id)
def test_each_item_asked_for_has_kind_period_and_criterion(policy: Policy) -> None:
    found = finding(policy)
    wanted = found.wanted((), OperatingRules(), TODAY)
    documents = [item for item in wanted if item.startswith("Document: ")]
    lacking = found.assessment.missing_documents
    assert len(documents) == len(lacking)
    for kind, item in zip(lacking, documents, strict=True):
        assert item.startswith(f"Document: {str(kind).replace('_', ' ')}, dated 20")
        assert f" to {TODAY}" in item
    assert not any(sign in item for item in wanted for sign in ";\n")


@pytest.mark.parametrize("policy", library().values(), ids=lambda each: each.id)
def test_what_may_show_a_criterion_is_asked_for_in_prose(policy: Policy) -> None:
    asked = " ".join(finding(policy).wanted((), OperatingRules(), TODAY))
    for kinds in re.findall(r"Please send ([^,.]+)", asked):
        for kind in kinds.split(" or "):
            assert re.match(r"another document$|an [aeiou]|a (?![aeiou]|other)", kind), kind


def test_a_document_beyond_the_policys_is_asked_for_without_a_criterion() -> None:
    policy = next(iter(library().values()))
    kinds = frozenset(map(str, policy.required_documents))
    other = UploadableDocumentKind.OTHER
    (item, *_) = finding(policy, kinds=kinds).wanted((other,), OperatingRules(), TODAY)
    assert (
        item == f"Document: the latest other document on file up to {TODAY}, to complete the file"
    )
