"""What facts show of criteria, and facts planted so that they show it."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.facts import (
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    StopReason,
)
from healthgym.worlds.managed_care.policies.criteria import (
    ContraindicationCriterion,
    CountCriterion,
    FindingCriterion,
    MeasurementCriterion,
    QuantityCriterion,
    SiteCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.policies.drawing import drawn
from healthgym.worlds.managed_care.policies.evaluation import evaluate, outcome, posture
from healthgym.worlds.managed_care.policies.evidence import evidence_items, item_result, roll_up
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.planting import (
    plant,
    plant_policy,
    possible,
    shape,
)
from healthgym.worlds.managed_care.policies.postures import combined, settles
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import AtLeast, Not, Unless, criteria
from healthgym.worlds.managed_care.policies.units import WHOLE as UNITS_WITHOUT_HALVES
from healthgym.worlds.managed_care.policies.units import convert
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    DeterminationDecision,
    ItemOperator,
    MdReviewDecision,
    NurseReviewRecommendation,
    PlaceOfService,
    Posture,
    ProviderDeterminationAction,
    ProviderFindingCode,
    RollUp,
)

TODAY = date(2026, 3, 13)
MET, NOT_MET, UNCLEAR = CriterionResult.MET, CriterionResult.NOT_MET, CriterionResult.UNCLEAR
SATISFIED, INSUFFICIENT = Posture.SATISFIED, Posture.INSUFFICIENT
CONTRADICTS, ABSENT = Posture.CONTRADICTS, Posture.ABSENT
POLICIES = sorted(library())
WHOLE = (SATISFIED, INSUFFICIENT, CONTRADICTS)


def request_for(policy):
    return Request(
        procedure_code=next(item.code for item in policy.procedures if item.authorization),
        diagnosis_codes=(policy.diagnosis_prefixes[0],),
        site=policy.sites[0],
        quantity=1,
        age=50,
        sex="female",
    )


@pytest.mark.parametrize("name", POLICIES)
def test_every_criterion_takes_every_posture_it_can(name):
    policy = library()[name]
    request = request_for(policy)
    rng = np.random.default_rng(7)
    for criterion in criteria(policy.criteria):
        for stance in possible(criterion):
            for _ in range(6):
                asked = shape(criterion, stance, request, rng)
                facts = plant(criterion, stance, asked, TODAY, rng)
                found = posture(criterion, facts, asked, TODAY)
                assert found.posture is stance, (criterion, facts)
                assert set(found.facts) <= {fact.id for fact in facts}
                assert all(
                    fact.value == int(fact.value)
                    for fact in facts
                    if isinstance(fact, Measurement) and fact.unit in UNITS_WITHOUT_HALVES
                )
        impossible = [stance for stance in Posture if stance not in possible(criterion)]
        for stance in impossible:
            with pytest.raises(ConfigurationError, match="cannot be"):
                plant(criterion, stance, request, TODAY, rng)


@pytest.mark.parametrize("name", POLICIES)
def test_a_planted_policy_has_the_posture_and_what_follows(name):
    rng = np.random.default_rng(11)
    for _ in range(4):
        policy = drawn(library()[name], rng)
        request = request_for(policy)
        for stance in WHOLE:
            case = plant_policy(policy, stance, request, TODAY, rng, first=100)
            found = evaluate(policy, case.facts, case.request, TODAY)
            assert found.posture is stance
            assert [fact.id for fact in case.facts] == [
                f"F-{100 + number:04d}" for number in range(len(case.facts))
            ]
            _check_consequences(policy, found, stance)
            for asked in (case.request, replace(case.request, diagnosis_codes=("Z99.9",))):
                told = evaluate(policy, case.facts, asked, TODAY)
                known = {name: one.posture for name, one in told.criteria.items()}
                assert known == case.postures
                action = (told.action, told.approved_quantity)
                assert outcome(policy, case.postures, asked) == action


def _check_consequences(policy, found, stance):
    approve = (
        NurseReviewRecommendation.APPROVE
        if policy.nurse_may_approve
        else NurseReviewRecommendation.ESCALATE
    )
    postures = {name: item.posture for name, item in found.criteria.items()}
    if stance is SATISFIED:
        assert found.action is ProviderDeterminationAction.SUBMIT_PA
        assert (found.recommendation, found.decision) == (approve, MdReviewDecision.APPROVE)
        assert found.determination is DeterminationDecision.APPROVED
        assert not found.gaps
    elif stance is INSUFFICIENT:
        assert found.action is ProviderDeterminationAction.GATHER_MORE_EVIDENCE
        assert found.recommendation is NurseReviewRecommendation.REQUEST_INFO
        assert found.determination is None
        assert found.gaps
        assert settles(policy.criteria, postures, found.gaps)
        assert not settles(policy.criteria, postures, ())
    else:
        assert found.action is ProviderDeterminationAction.DO_NOT_SUBMIT
        assert found.recommendation is NurseReviewRecommendation.ESCALATE
        assert found.against
        partly = found.approved_quantity is not None
        assert (found.decision is MdReviewDecision.PARTIAL_APPROVE) is partly
        assert (found.determination is DeterminationDecision.DENIED) is not partly


def test_single_criteria_can_be_fixed_in_a_planted_policy():
    policy = library()["MP-CAR-019"]
    rng = np.random.default_rng(3)
    case = plant_policy(
        policy, INSUFFICIENT, request_for(policy), TODAY, rng, wanted={"C1": ABSENT}
    )
    assert case.postures["C1"] is ABSENT
    with pytest.raises(ConfigurationError, match="No case makes MP-CAR-019"):
        plant_policy(policy, SATISFIED, request_for(policy), TODAY, rng, wanted={"C1": ABSENT})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"coverage_active": False}, ProviderFindingCode.COVERAGE_INACTIVE),
        ({"in_network": False}, ProviderFindingCode.PROVIDER_OUT_OF_NETWORK),
        ({"procedure_code": "72100"}, ProviderFindingCode.SERVICE_NOT_PA_REQUIRED),
    ],
    ids=["coverage", "network", "not-required"],
)
def test_what_blocks_a_submission_whatever_the_chart_shows(change, code):
    policy = library()["MP-RAD-021"]
    case = plant_policy(policy, SATISFIED, request_for(policy), TODAY, np.random.default_rng(5))
    assert evaluate(policy, case.facts, case.request, TODAY).findings == ()
    found = evaluate(policy, case.facts, replace(case.request, **change), TODAY)
    assert found.action is ProviderDeterminationAction.DO_NOT_SUBMIT
    assert found.findings == (code,)


def test_documents_and_diagnosis_are_gaps_of_a_satisfied_case():
    policy = library()["MP-SUR-014"]
    case = plant_policy(policy, SATISFIED, request_for(policy), TODAY, np.random.default_rng(5))
    bare = replace(case.request, documents=policy.required_documents[1:], diagnosis_codes=("Z00",))
    found = evaluate(policy, case.facts, bare, TODAY)
    assert found.action is ProviderDeterminationAction.GATHER_MORE_EVIDENCE
    assert found.missing_documents == policy.required_documents[:1]
    assert found.findings == (
        ProviderFindingCode.MISSING_REQUIRED_DOCUMENTS,
        ProviderFindingCode.DIAGNOSIS_POLICY_MISMATCH,
    )
    assert found.determination is None


def test_only_too_much_is_approved_in_part():
    policy = library()["MP-BEH-006"]
    request = request_for(policy)
    case = plant_policy(policy, SATISFIED, request, TODAY, np.random.default_rng(5))
    found = evaluate(policy, case.facts, replace(case.request, quantity=40), TODAY)
    assert found.decision is MdReviewDecision.PARTIAL_APPROVE
    assert found.determination is DeterminationDecision.PARTIALLY_APPROVED
    assert found.approved_quantity == 36
    worse = evaluate(policy, (), replace(case.request, quantity=40), TODAY)
    assert worse.determination is DeterminationDecision.DENIED


# --- measurements -----------------------------------------------------------------------------

A1C = MeasurementCriterion(
    id="C1",
    display="hemoglobin A1c",
    code="4548-4",
    operator=ItemOperator.GTE,
    threshold=7.0,
    unit="%",
    months=6,
)
ANYONE = Request(
    procedure_code="1", diagnosis_codes=("E11",), site=PlaceOfService.HOME, age=50, sex="male"
)
EDGE = months_before(TODAY, 6)


def a1c(value, taken=TODAY, unit="%", name="F-1"):
    return Measurement(id=name, code="4548-4", display="A1c", value=value, unit=unit, taken=taken)


@pytest.mark.parametrize(
    ("facts", "stance"),
    [
        ((), ABSENT),
        ((a1c(7.0),), SATISFIED),
        ((a1c(6.9),), CONTRADICTS),
        ((a1c(53.1, unit="mmol/mol"),), SATISFIED),
        ((a1c(52.0, unit="mmol/mol"),), CONTRADICTS),
        ((a1c(8.0, unit=""),), INSUFFICIENT),
        ((a1c(8.0, unit="mg/dL"),), INSUFFICIENT),
        ((a1c(8.0, taken=EDGE),), SATISFIED),
        ((a1c(8.0, taken=EDGE - timedelta(days=1)),), INSUFFICIENT),
        ((a1c(8.0, taken=TODAY + timedelta(days=1)),), ABSENT),
        ((a1c(6.0, taken=EDGE), a1c(7.5, name="F-2")), SATISFIED),
        ((a1c(7.5, taken=EDGE), a1c(6.0, name="F-2")), CONTRADICTS),
    ],
)
def test_the_latest_value_within_the_window_decides(facts, stance):
    assert posture(A1C, facts, ANYONE, TODAY).posture is stance


def test_any_value_within_the_window_is_enough_where_the_policy_says_so():
    ever = replace(A1C, recency="any")
    facts = (a1c(7.5, taken=EDGE), a1c(6.0, name="F-2"))
    assert posture(ever, facts, ANYONE, TODAY).facts == ("F-1",)
    assert posture(ever, facts[1:], ANYONE, TODAY).posture is CONTRADICTS
    blurred = (*facts[1:], a1c(9.0, unit="", name="F-3"))
    assert posture(ever, blurred, ANYONE, TODAY).posture is INSUFFICIENT


@pytest.mark.parametrize(
    ("days", "stance"),
    [
        ([], ABSENT),
        ([(0, 8.0), (30, 7.0)], SATISFIED),
        ([(0, 8.0), (0, 7.0)], INSUFFICIENT),
        ([(0, 8.0)], INSUFFICIENT),
        ([(0, 8.0), (300, 8.0)], INSUFFICIENT),
        ([(0, 8.0), (30, 6.0)], CONTRADICTS),
    ],
)
def test_counting_takes_different_days(days, stance):
    count = CountCriterion(
        id="C1",
        display="hemoglobin A1c",
        code="4548-4",
        operator=ItemOperator.GTE,
        threshold=7.0,
        unit="%",
        minimum=2,
        months=6,
    )
    facts = [
        a1c(value, TODAY - timedelta(days=ago), name=f"F-{number}")
        for number, (ago, value) in enumerate(days)
    ]
    assert posture(count, facts, ANYONE, TODAY).posture is stance


def test_units_convert_both_ways_or_not_at_all():
    assert convert(1.0, "kPa", "mm[Hg]", "2703-7") == pytest.approx(7.5006, abs=1e-3)
    assert convert(convert(70, "kg", "[lb_av]", ""), "[lb_av]", "kg", "") == pytest.approx(70)
    assert convert(5.5, "mmol/L", "mg/dL", "2345-7") == pytest.approx(99.1, abs=0.1)
    assert convert(5.5, "mmol/L", "mg/dL", "0000-0") is None


# --- treatments, findings ---------------------------------------------------------------------

STEP = StepTherapyCriterion(
    id="C1",
    display="antidepressants",
    drug_class="antidepressant",
    drugs=("sertraline", "bupropion"),
    excluded=("trazodone",),
    agents=1,
    weeks=8,
    reasons=(StopReason.INEFFECTIVE,),
    early=(StopReason.CONTRAINDICATED,),
)


def course(name="sertraline", weeks=8, reason=StopReason.INEFFECTIVE, days=0, ongoing=False):
    ended = TODAY - timedelta(days=0 if ongoing else 30)
    return MedicationCourse(
        id="F-" + name,
        medication=name,
        drug_class="antidepressant",
        dose="50 mg",
        frequency="once daily",
        started=ended - timedelta(weeks=weeks, days=days),
        ended=None if ongoing else ended,
        stop_reason=None if ongoing else reason,
    )


NEVER = Intolerance(
    id="F-9", substance="bupropion", reaction="seizure", recorded=TODAY, contraindication=True
)


@pytest.mark.parametrize(
    ("facts", "stance"),
    [
        ((), ABSENT),
        ((course(),), SATISFIED),
        ((course(days=-1),), CONTRADICTS),
        ((course(weeks=7),), CONTRADICTS),
        ((course(weeks=7, ongoing=True),), INSUFFICIENT),
        ((course(weeks=20, ongoing=True),), INSUFFICIENT),
        ((course(reason=None),), INSUFFICIENT),
        ((course(reason=StopReason.COST),), CONTRADICTS),
        ((course(reason=StopReason.COMPLETED),), CONTRADICTS),
        ((course(weeks=1, reason=StopReason.CONTRAINDICATED),), SATISFIED),
        ((course(name="trazodone"),), INSUFFICIENT),
        ((NEVER,), SATISFIED),
        ((replace(NEVER, contraindication=False),), ABSENT),
    ],
)
def test_a_trial_needs_drug_length_and_reason(facts, stance):
    assert posture(STEP, facts, ANYONE, TODAY).posture is stance


@pytest.mark.parametrize(
    ("facts", "stance"),
    [
        ((course(),), INSUFFICIENT),
        ((course(), course(name="bupropion")), SATISFIED),
        ((course(), course(name="trazodone")), INSUFFICIENT),
        ((course(), course(name="bupropion", weeks=2)), CONTRADICTS),
        ((course(), NEVER), SATISFIED),
    ],
)
def test_two_agents_are_two_different_ones(facts, stance):
    found = posture(replace(STEP, agents=2), facts, ANYONE, TODAY)
    assert found.posture is stance


@pytest.mark.parametrize(
    ("value", "ago", "stance"),
    [
        ("severe", 10, SATISFIED),
        ("mild", 10, CONTRADICTS),
        ("indeterminate", 10, INSUFFICIENT),
        ("severe", 400, INSUFFICIENT),
    ],
)
def test_a_finding_counts_by_grade_and_age(value, ago, stance):
    graded = FindingCriterion(
        id="C1",
        display="narrowing",
        key="imaging.narrowing",
        scale=("none", "mild", "severe"),
        accepted=("severe",),
        months=12,
    )
    day = TODAY - timedelta(days=ago)
    seen = Finding(id="F-1", key="imaging.narrowing", display="x", value=value, found=day)
    assert posture(graded, (seen,), ANYONE, TODAY).posture is stance
    assert posture(graded, (), ANYONE, TODAY).posture is ABSENT


# --- roll-ups and groups ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "results", "expected"),
    [
        (RollUp.ALL_ITEMS, (MET, MET), MET),
        (RollUp.ALL_ITEMS, (MET, UNCLEAR), UNCLEAR),
        (RollUp.ALL_ITEMS, (UNCLEAR, NOT_MET), NOT_MET),
        (RollUp.ALL_ITEMS, (), UNCLEAR),
        (RollUp.ANY_NOT_MET, (MET, UNCLEAR), MET),
        (RollUp.ANY_NOT_MET, (MET, NOT_MET), NOT_MET),
        (RollUp.ANY_NOT_MET, (), MET),
        (RollUp.ANY_UNCLEAR_OR_NOT_MET, (MET, UNCLEAR), UNCLEAR),
        (RollUp.ANY_UNCLEAR_OR_NOT_MET, (NOT_MET, UNCLEAR), NOT_MET),
        (RollUp.ANY_UNCLEAR_OR_NOT_MET, (), MET),
    ],
)
def test_items_roll_up_as_published(rule, results, expected):
    assert roll_up(rule, results) is expected


def test_silence_passes_where_the_roll_up_lets_it():
    free = ContraindicationCriterion(
        id="C1",
        display="it",
        substances=("it",),
        wanted=False,
        roll_up=RollUp.ANY_NOT_MET,
    )
    silent = posture(free, (), ANYONE, TODAY)
    assert silent.posture is SATISFIED
    (item,) = silent.items
    assert (item.observed_value, item.item_result) == (False, MET)
    strict = replace(free, roll_up=RollUp.ALL_ITEMS)
    assert posture(strict, (), ANYONE, TODAY).posture is ABSENT
    forbidden = replace(NEVER, substance="it")
    assert posture(free, (forbidden,), ANYONE, TODAY).posture is CONTRADICTS


def _site(name):
    return SiteCriterion(id=name, display="place of service", sites=(PlaceOfService.HOME,))


THREE = AtLeast(id="G1", n=2, parts=(_site("a"), _site("b"), _site("c")))


@pytest.mark.parametrize(
    ("postures", "expected"),
    [
        ((SATISFIED, SATISFIED, CONTRADICTS), SATISFIED),
        ((SATISFIED, ABSENT, CONTRADICTS), INSUFFICIENT),
        ((ABSENT, ABSENT, ABSENT), ABSENT),
        ((ABSENT, INSUFFICIENT, ABSENT), INSUFFICIENT),
        ((SATISFIED, CONTRADICTS, CONTRADICTS), CONTRADICTS),
        ((ABSENT, ABSENT, CONTRADICTS), INSUFFICIENT),
        ((ABSENT, CONTRADICTS, CONTRADICTS), CONTRADICTS),
    ],
)
def test_a_group_needs_some_number_of_its_parts(postures, expected):
    named = dict(zip("abc", postures, strict=True))
    assert combined(THREE, named) is expected
    flipped = {SATISFIED: CONTRADICTS, CONTRADICTS: SATISFIED}.get(expected, expected)
    assert combined(Not(id="G2", part=THREE), named) is flipped


def test_an_exception_waives_the_requirement():
    either = Unless(id="G1", requirement=_site("a"), exception=_site("b"))
    assert combined(either, {"a": CONTRADICTS, "b": SATISFIED}) is SATISFIED
    assert combined(either, {"a": CONTRADICTS, "b": ABSENT}) is INSUFFICIENT
    assert combined(either, {"a": CONTRADICTS, "b": CONTRADICTS}) is CONTRADICTS


def test_item_results_follow_from_value_and_threshold():
    item = evidence_items(QuantityCriterion(id="C1", display="x", maximum=4, unit="visits"))[0]
    results = [item_result(item, value) for value in (4, 5, None)]
    assert results == [MET, NOT_MET, UNCLEAR]
