"""A case in a background that is silent on it, and what may be wrong with the paper."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.compose import compose, render_composition
from healthgym.worlds.managed_care.charts.disturbing import (
    ConflictingValue,
    Disturbance,
    ForeignDocument,
    MissingDocuments,
    OtherUnit,
    UnsignedDocument,
)
from healthgym.worlds.managed_care.charts.subjects import (
    Subjects,
    quiet,
    subjects_of,
    subjects_of_criteria,
    without,
)
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Measurement, MedicationCourse
from healthgym.worlds.managed_care.policies.evaluation import posture
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.population.background import draw_background
from healthgym.worlds.managed_care.population.drawing import Population
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    PlaceOfService,
)


def chart_with(
    population: Population, case: tuple[AnyFact, ...], *wrong: Disturbance
) -> PatientChart:
    home = population.backgrounds[1]
    background = quiet(home.diseases, subjects_of(case))
    return render_composition(
        compose(background, case, wrong),
        home.patient,
        home.coverages,
        home.orders,
        population.staff,
        np.random.default_rng(4),
        population.today,
    )


def test_a_background_keeps_silent_on_what_is_planted(
    population: Population, case: tuple[AnyFact, ...]
) -> None:
    rng = np.random.default_rng(1)
    home = draw_background(
        99, population.staff, rng, population.today, having=("osteoarthritis", "diabetes")
    )
    assert any(fact.id.startswith("B-") for fact in home.facts)
    facts = compose(home.facts, case).facts
    assert [x.value for x in facts if isinstance(x, Measurement) and x.code == "4548-4"] == [8.9]
    nsaids = [x for x in facts if isinstance(x, MedicationCourse) and x.drug_class == "nsaid"]
    assert [x.id for x in nsaids] == ["F-3"]
    assert [x.id for x in facts if isinstance(x, Diagnosis) and x.code == "M17.11"] == ["F-1"]


def test_no_weight_contradicts_a_planted_body_mass_index(population: Population) -> None:
    index = Measurement(
        id="F-1",
        code="39156-5",
        display="Body mass index",
        value=43.0,
        unit="kg/m2",
        taken=date(2026, 1, 20),
    )
    home = population.backgrounds[1]
    assert "29463-7" in {fact.code for fact in home.facts if isinstance(fact, Measurement)}
    facts = compose(quiet(home.diseases, subjects_of((index,))), (index,)).facts
    told = [fact.code for fact in facts if isinstance(fact, Measurement)]
    assert "29463-7" not in told
    assert told.count("39156-5") == 1


def test_a_disease_leaves_as_a_whole(population: Population) -> None:
    rng = np.random.default_rng(2)
    home = draw_background(99, population.staff, rng, population.today, having=("diabetes",))
    kept = {fact.id for fact in quiet(home.diseases, Subjects(codes=frozenset({"E11"})))}
    assert not kept & {fact.id for fact in home.diseases["diabetes"]}
    assert {fact.id for fact in home.diseases["body"]} <= kept
    gone = Subjects(classes=frozenset({"metformin"}), keys=frozenset({"diabetes_education"}))
    assert len(without(home.facts, gone)) < len(home.facts)


def test_a_background_silent_on_a_policy_decides_none_of_its_criteria(
    population: Population,
) -> None:
    """What is absent stays absent: the evaluation sees the same with the background and without."""
    asked = Request(
        procedure_code="", diagnosis_codes=(), site=PlaceOfService.OFFICE, age=50, sex="female"
    )
    decided = 0
    for policy in library().values():
        tree = criteria(policy.criteria)
        silence = subjects_of_criteria(tree)
        for home in population.backgrounds:
            left = quiet(home.diseases, silence)
            for each in tree:
                found = posture(each, left, asked, population.today).posture
                assert found is posture(each, (), asked, population.today).posture, each.id
                full = posture(each, home.facts, asked, population.today).posture
                decided += full is not found
    assert decided > 0, "the backgrounds never touch a policy; the test proves nothing"


def test_ids_of_background_and_case_must_differ(case: tuple[AnyFact, ...]) -> None:
    other = Measurement(
        id="F-1", code="1-1", display="x", value=1, unit="1", taken=date(2025, 1, 1)
    )
    with pytest.raises(ValueError, match="both have a fact F-1"):
        compose((other,), case)


def test_a_document_can_be_missing(population: Population, case: tuple[AnyFact, ...]) -> None:
    whole = chart_with(population, case)
    chart = chart_with(
        population, case, MissingDocuments(kind=DocumentKind.IMAGING_REPORT, fact_id="F-5")
    )
    assert whole.documents_showing("F-5")
    assert not chart.documents_showing("F-5")
    assert set(chart.shows) == {page.id for page in chart.documents}
    assert any(fact.id == "F-5" for fact in chart.facts), "it is still true"


def test_a_second_document_can_state_another_value(
    population: Population, case: tuple[AnyFact, ...]
) -> None:
    wrong = ConflictingValue(fact_id="F-2", kind=DocumentKind.LAB_RESULT, value=7.1)
    chart = chart_with(population, case, wrong)
    pages = [page for page in chart.documents if page.kind is DocumentKind.LAB_RESULT]
    assert sum("8.9%" in page.content for page in pages) == 1
    other = [page for page in pages if "7.1%" in page.content]
    assert [chart.shows[page.id] for page in other] == [frozenset()]
    assert other[0].id not in {page.id for page in chart_with(population, case).documents}


def test_documents_can_give_another_unit(population: Population, case: tuple[AnyFact, ...]) -> None:
    chart = chart_with(population, case, OtherUnit(fact_id="F-2", unit="mmol/mol"))
    shown = chart.documents_showing("F-2")
    assert shown
    assert all("74 mmol/mol" in page.content and "8.9%" not in page.content for page in shown)
    assert [o.value_quantity for o in chart.observations if o.code == "4548-4"] == [8.9]


def test_a_note_can_lack_its_signature(population: Population, case: tuple[AnyFact, ...]) -> None:
    wrong = UnsignedDocument(kind=DocumentKind.PROGRESS_NOTE, fact_id="F-4")
    chart = chart_with(population, case, wrong)
    drafts = [page for page in chart.documents if page.signed_at is None]
    assert len(drafts) == 1
    assert "not signed" in drafts[0].content
    assert "F-4" in chart.shows[drafts[0].id]
    assert (drafts[0].signed_by_name, drafts[0].signed_by_npi) == (None, None)


def test_a_page_can_be_of_somebody_else(population: Population, case: tuple[AnyFact, ...]) -> None:
    other = next(c for c in population.charts.values() if c.patient.id != "PAT-0002")
    kind = other.documents[-1].kind
    chart = chart_with(population, case, ForeignDocument(source=other, kind=kind))
    strange = [page for page in chart.documents if other.patient.id in page.content]
    assert len(strange) == 1
    assert strange[0].patient_id == chart.patient.id
    assert chart.shows[strange[0].id] == frozenset()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (OtherUnit(fact_id="F-2", unit="kg"), "cannot be given in kg"),
        (OtherUnit(fact_id="F-9", unit="kg"), "no fact F-9"),
        (
            ConflictingValue(fact_id="F-2", kind=DocumentKind.LAB_RESULT, value=8.9),
            "no conflict",
        ),
        (
            ConflictingValue(fact_id="F-1", kind=DocumentKind.LAB_RESULT, value=1.0),
            "cannot be stated",
        ),
        (MissingDocuments(kind=DocumentKind.LAB_RESULT, fact_id="F-1"), "told in no lab_result"),
        (UnsignedDocument(kind=DocumentKind.LAB_RESULT, fact_id="F-1"), "told in no lab_result"),
    ],
    ids=["unit", "unknown", "same-value", "no-value", "not-told", "not-told-unsigned"],
)
def test_what_cannot_be_disturbed_is_refused(
    case: tuple[AnyFact, ...], wrong: Disturbance, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compose((), case, (wrong,))
