"""What a packet shows, read from its texts: the same as the chart knows, and nothing more."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.reading.documents import Document, counting
from healthgym.envs.managed_care.reading.packet import facts_shown
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
)
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    DiagnosisCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import ItemOperator
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.sized import some

DAY = date(2026, 3, 10)
A1C = MeasurementCriterion(
    id="C1",
    display="hemoglobin A1c",
    code="4548-4",
    operator=ItemOperator.GTE,
    threshold=7,
    unit="%",
    months=6,
)
PHQ = MeasurementCriterion(
    id="C2",
    display="PHQ-9 score",
    code="44261-6",
    operator=ItemOperator.GTE,
    threshold=15,
    unit="{score}",
    months=3,
)
STEP = StepTherapyCriterion(
    id="C3",
    display="antidepressants",
    drug_class="antidepressant",
    drugs=("sertraline",),
    weeks=6,
    reasons=(StopReason.INEFFECTIVE,),
)
DIABETES = DiagnosisCriterion(
    id="C4", display="diabetes mellitus", prefixes=("E11",), examples=("E11.9",)
)
STUDY = ProcedureCriterion(id="C5", display="stress imaging study", codes=("93350",), months=12)
GLOBULIN = ContraindicationCriterion(
    id="C6", display="human immune globulin", substances=("immune globulin",)
)


def read(criterion: AnyCriterion, *lines: str) -> list[AnyFact]:
    text = "\n".join(("Doe, Ann | DOB 1960-01-01 | PAT-1", "2026-03-10 | A, MD", "", *lines))
    page = Document("DOC-1", "chart_note", "Visit", DAY, text)
    return [one.fact for one in facts_shown([page], [criterion])]


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_the_texts_show_what_the_chart_knows(level: str) -> None:
    family = ReviewFamily(level)
    for index in range(some(12, 6)):
        instance = family.generator.draw(Split.TRAIN, index)
        world, policy = ManagedCareWorld(instance.start), instance.reference.policy
        case = world.cases.get(instance.reference.case_id)
        day = case.created_at.date()
        packet = read_packet(world, case.id, policy, day)
        sent = [world.documents.get(name) for name in packet.documents]
        pages = [
            Document(page.id, str(page.kind), page.title, page.created_at.date(), page.content)
            for page in sent
            if page.signed_at is not None and not page.id.startswith("DOC-UP")
        ]
        shown = facts_shown(counting(pages, case.patient_id), criteria(policy.criteria))
        known = evaluate(policy, packet.facts, packet.request, day)
        seen = evaluate(policy, [one.fact for one in shown], packet.request, day)
        assert {name: one.result for name, one in seen.criteria.items()} == {
            name: one.result for name, one in known.criteria.items()
        }, index


@pytest.mark.parametrize(
    ("line", "value", "taken"),
    [
        ("hemoglobin A1c | 8.8% | H | 4-5.6", 8.8, DAY),
        ("- A1c 7.8% (12/18/2025)", 7.8, date(2025, 12, 18)),
        ("BP 130/80 mmHg; A1c 7.8% (2025-12-18); TSH 5.1 mIU/L", 7.8, date(2025, 12, 18)),
    ],
)
def test_a_value_has_its_day(line: str, value: float, taken: date) -> None:
    (fact,) = read(A1C, line)
    assert isinstance(fact, Measurement)
    assert (fact.value, fact.unit, fact.taken) == (value, "%", taken)


def test_a_summary_lists_values_one_after_the_other() -> None:
    found = read(A1C, "hemoglobin A1c: 6.5% on 2025-06-01; 7.1% on 2026-01-05")
    assert [one.value for one in found if isinstance(one, Measurement)] == [6.5, 7.1]


def test_a_value_that_is_compared_with_the_one_before_tells_both() -> None:
    found = read(
        A1C, "- T2DM: hemoglobin A1c 7.9%, up from 7.2% (2025-11-02) before. Diet reviewed."
    )
    values = [(one.value, one.taken) for one in found if isinstance(one, Measurement)]
    assert values == [(7.9, DAY), (7.2, date(2025, 11, 2))]


@pytest.mark.parametrize(
    "line",
    [
        "PHQ-9 score 22; PHQ-9 score 12 (Feb 19, 2026).",
        "PHQ-9 score: 22; PHQ-9 score 12 (Feb 19, 2026).",
        "- PHQ-9 score 12 (2026-02-19); mood low; PHQ-9 score 22",
    ],
)
def test_a_line_may_name_a_measure_twice(line: str) -> None:
    found = {(one.value, one.taken) for one in read(PHQ, line) if isinstance(one, Measurement)}
    assert found == {(22, DAY), (12, date(2026, 2, 19))}


@pytest.mark.parametrize("line", ["positive nodes | 0", "positive nodes: 0 in number"])
def test_a_count_may_stand_alone(line: str) -> None:
    nodes = replace(PHQ, display="positive nodes", code="NODES-POS", unit="{count}")
    (found,) = read(nodes, line)
    assert isinstance(found, Measurement)
    assert found.value == 0


def test_a_pressure_stands_in_a_pair() -> None:
    pressure = replace(A1C, display="systolic blood pressure", code="8480-6", unit="mm[Hg]")
    (fact,) = read(pressure, "VITAL SIGNS", "BP 152/84 mmHg (2026-03-01)")
    assert isinstance(fact, Measurement)
    assert (fact.value, fact.taken) == (152, date(2026, 3, 1))


def test_a_score_has_no_unit_and_a_day_all_the_same() -> None:
    (fact,) = read(PHQ, "PHQ-9 score 18 (2026-02-01).")
    assert isinstance(fact, Measurement)
    assert (fact.value, fact.taken) == (18, date(2026, 2, 1))


def test_what_is_no_value_of_it_is_not_read() -> None:
    assert read(A1C, "The A1c was talked about.", "prior A1c-like 8%", "A1c 8.8 mmol/L") == []


def test_a_course_has_its_reason() -> None:
    (fact,) = read(STEP, "- Sertraline 150 mg once daily, 2025-01-28 to 2025-04-23: lack of effect")
    assert isinstance(fact, MedicationCourse)
    assert (fact.ended, fact.stop_reason) == (date(2025, 4, 23), StopReason.INEFFECTIVE)


def test_a_course_that_another_page_ends_does_not_go_on() -> None:
    found = read(
        STEP,
        "- Sertraline 150 mg once daily, since 2025-01-28",
        "- Sertraline 150 mg once daily, 2025-01-28 to 2025-04-23: lack of effect",
    )
    assert [one.ended for one in found if isinstance(one, MedicationCourse)] == [date(2025, 4, 23)]


@pytest.mark.parametrize(
    ("line", "active"),
    [
        ("- Type 2 diabetes mellitus (E11.9), dx 2020-02-03", True),
        ("- Type 2 diabetes mellitus (E11.9), ruled out after work-up, entered 2020-02-03", False),
        ("- Type 2 diabetes mellitus (E11.9), history of, onset 2020-02-03", False),
    ],
)
def test_a_condition_is_held_or_was(line: str, active: bool) -> None:
    (fact,) = read(DIABETES, line)
    assert isinstance(fact, Diagnosis)
    assert (fact.active, fact.onset) == (active, date(2020, 2, 3))


def test_another_code_is_another_condition() -> None:
    assert read(DIABETES, "- Type 1 diabetes mellitus (E10.9), dx 2020-02-03") == []


def test_a_procedure_has_its_day() -> None:
    (fact,) = read(STUDY, "Seen today. Stress imaging study, performed 02/20/2025.")
    assert isinstance(fact, ProcedureDone)
    assert fact.performed == date(2025, 2, 20)


@pytest.mark.parametrize(("words", "forbids"), [("", False), (", contraindicated", True)])
def test_an_intolerance_is_a_contraindication_where_it_says_so(words: str, forbids: bool) -> None:
    (fact,) = read(GLOBULIN, f"- Immune globulin: headache{words}, noted 09/14/2023")
    assert isinstance(fact, Intolerance)
    assert fact.contraindication is forbids
