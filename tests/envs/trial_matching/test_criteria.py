"""Criteria on one hand-written patient: what each says, and what is not known."""

from datetime import date

import pytest

from healthgym.envs.trial_matching.chart import Chart, DrugUse, Finding, Patient, Reading
from healthgym.envs.trial_matching.criteria import (
    Age,
    Allergic,
    AtLeast,
    AttributeIs,
    BySex,
    Duration,
    Has,
    IfThen,
    Not,
    SexIs,
    Takes,
    Use,
    Value,
    is_fragile,
)
from healthgym.envs.trial_matching.trials import Trial, grade


@pytest.fixture(scope="module")
def chart():
    return Chart(
        Patient(
            today=date(2022, 6, 15),
            sex="female",
            birth_date=date(1960, 6, 16),
            primary="cll",
            findings=(
                Finding("cll", 460, True, (("rai", "2"),)),
                Finding("ulcerative_colitis", 2500, True),
                Finding("mi", 130, False),
                Finding("depression", 950, False),
                Finding("melanoma", 1300, False),
                Finding("nmsc", 800, True),
            ),
            drugs=(
                DrugUse("warfarin", 60),
                DrugUse("ibrutinib", 300, 120, "single-agent ibrutinib"),
            ),
            readings=(
                Reading("hemoglobin", 9.0, 20),
                Reading("ecog", 1.0),
                Reading("alt", 21.0),
                Reading("triglycerides", 125.0),
            ),
            allergies=("cephalosporin",),
            body=(165, 70),
            smoking=(0.0, 0),
            denied=("hiv",),
            relatives=("breast_cancer",),
            complaint="fatigue",
        )
    )


UNKNOWN = Value("platelets", ">=", 50)


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        (Has("cll", active=True), True),
        (Has("hematologic_malignancy"), True),  # by hierarchy
        (Has("ibd", active=True), True),
        (Has("crohn"), False),
        (Has("breast_cancer"), False),  # a relative's
        (Has("hiv"), False),  # not mentioned, or denied: not so
        (Has("mi", within=182), True),
        (Has("mi", within=91), False),
        (Has("mi", active=True), False),  # an event is over
        (Has("depression"), True),
        (Has("depression", active=True), False),
        (Has("malignancy", other_than="cll"), True),  # the melanoma
        (Has("malignancy", within=1826, other_than="cll"), True),
        (Has("melanoma", within=1299), False),
        (Has("melanoma", within=1300), True),  # the boundary counts
        (Has("malignancy", within=28, other_than="cll"), True),  # the skin cancer, still present
        (Has("ulcerative_colitis", within=28), True),  # began long ago, and is there today
        (Duration("cll", 365, at_least=True), True),
        (Duration("cll", 365, at_least=False), False),
        (Duration("cll", 460, at_least=True), True),
        (Duration("depression", 365, at_least=True), False),  # not present any more
        (AttributeIs("cll", "rai", ("1", "2")), True),
        (AttributeIs("cll", "rai", ("3", "4")), False),
        (AttributeIs("cll", "del17p", ("absent",)), None),
        (Value("hemoglobin", ">=", 9.0), True),
        (Value("hemoglobin", ">", 9.0), False),
        (Value("hemoglobin", "<=", 9.0), True),
        (Value("hemoglobin", "<", 9.0), False),
        (Value("hemoglobin", ">=", 8.0, within=28), True),
        (Value("hemoglobin", ">=", 8.0, within=14), None),  # too old to tell
        (UNKNOWN, None),
        (BySex(Value("hemoglobin", ">=", 8.0), Value("hemoglobin", ">=", 10.0)), True),
        (BySex(Value("hemoglobin", ">=", 10.0), Value("hemoglobin", ">=", 8.0)), False),
        (Takes("anticoagulant", Use.CURRENT), True),
        (Takes("doac", Use.CURRENT), False),
        (Takes("vka", Use.STABLE, 28), True),
        (Takes("vka", Use.STABLE, 60), True),
        (Takes("vka", Use.STABLE, 91), False),
        (Takes("btk", Use.CURRENT), False),
        (Takes("btk", Use.RECENT, 182), True),
        (Takes("btk", Use.RECENT, 91), False),
        (Takes("anticancer", Use.EVER), True),
        (Takes("statin", Use.EVER), False),
        (Allergic("systemic_antibiotic"), True),
        (Allergic("penicillin"), False),
        (Age(61, 61), True),  # 62 tomorrow
        (Age(62, None), False),
        (Age(None, 61), True),
        (SexIs("female"), True),
        (SexIs("male"), False),
        (SexIs(""), True),
        (Not(Has("hiv")), True),
        (Not(UNKNOWN), None),
        (AtLeast(1, (Has("hiv"), UNKNOWN)), None),
        (AtLeast(1, (Has("mi"), UNKNOWN)), True),
        (AtLeast(2, (Has("mi"), UNKNOWN)), None),
        (AtLeast(2, (Has("hiv"), UNKNOWN)), False),
        (AtLeast(2, (Has("mi"), Has("cll"), UNKNOWN)), True),
        (IfThen(Has("hiv"), UNKNOWN), True),
        (IfThen(Has("mi"), UNKNOWN), None),
        (IfThen(Takes("vka", Use.CURRENT), Takes("vka", Use.STABLE, 91)), False),
        (IfThen(UNKNOWN, Has("cll")), True),
    ],
    ids=repr,
)
def test_truth(chart, criterion, expected):
    assert criterion.holds(chart) is expected


@pytest.mark.parametrize(
    ("inclusion", "exclusion", "expected"),
    [
        ((Has("cll"),), (), 2),
        ((Has("cll"),), (Has("hiv"),), 2),
        ((Has("cll"),), (UNKNOWN,), 2),  # an exclusion that nobody can decide does not apply
        ((Has("cll"), UNKNOWN), (), 0),  # an inclusion that nobody can decide is not met
        ((Has("cll"),), (Has("mi"),), 1),
        ((Has("cll"), Has("hiv")), (Has("mi"),), 0),  # not met goes before excluded
    ],
)
def test_grades(chart, inclusion, exclusion, expected):
    trial = Trial("NCT00000001", "cll", "x", 0, SexIs(""), Age(18, None), inclusion, exclusion)
    assert grade(trial, chart) == expected


def test_age_and_sex_of_the_record_are_criteria(chart):
    for sex, age in ((SexIs("male"), Age(18, None)), (SexIs(""), Age(18, 60))):
        assert grade(Trial("NCT00000001", "cll", "x", 0, sex, age, (Has("cll"),), ()), chart) == 0


def test_values_near_a_threshold_are_fragile_where_units_may_be_converted(chart):
    assert is_fragile(Value("hemoglobin", ">=", 9.0), chart)
    assert is_fragile(AtLeast(1, (Has("mi"), Not(Value("hemoglobin", "<", 8.8)))), chart)
    assert not is_fragile(Value("hemoglobin", ">=", 8.0), chart)
    assert not is_fragile(Value("ecog", "<=", 1.0), chart)  # has no other unit
    assert not is_fragile(UNKNOWN, chart)


@pytest.mark.parametrize(
    "criterion",
    [
        Value("alt", ">", 20),  # 21 U/L is 0.5 times the upper limit of normal, and so is 20
        Value("triglycerides", ">", 120),  # 125 mg/dL is 1.4 mmol/L, and so is 120
    ],
    ids=repr,
)
def test_values_that_another_unit_would_round_onto_the_threshold_are_fragile(chart, criterion):
    assert criterion.holds(chart) is True
    assert is_fragile(criterion, chart)
