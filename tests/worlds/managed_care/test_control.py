"""Which conditions count, and by which value one is controlled."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from healthgym.worlds.managed_care.control import Control, control_of, controls, counted, status_of
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, usual_rules
from healthgym.worlds.managed_care.population.conditions import conditions

DAY = date(2026, 3, 10)
PAGE = "care-manager/operational/chart-review.md"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("E11.65", "Diabetes"),
        ("N18.31", "Chronic kidney disease"),
        ("N18.6", "Kidney failure on dialysis"),
        ("F43.12", "Post-traumatic stress disorder"),
        ("F43.2", None),
        ("E78.5", None),
        ("Z96.641", None),
    ],
)
def test_the_longest_beginning_of_a_code_decides_its_row(code: str, name: str | None) -> None:
    found = control_of(code)
    assert (found and found.name) == name


def test_a_condition_counts_once() -> None:
    assert counted(["F33.1", "E78.5", "F32.1", "I10"]) == ("F33.1", "I10")


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (6.9, "controlled"),
        (7.0, "suboptimal"),
        (9.0, "suboptimal"),
        (9.1, "uncontrolled"),
    ],
)
def test_the_bounds_lie_between(value: float, status: str) -> None:
    assert status_of("E11.9", [("4548-4", DAY, value)], DAY, OperatingRules()) == status


def test_the_latest_value_that_is_not_too_old_decides() -> None:
    rules = usual_rules()
    old, new = date(2025, 3, 9), date(2025, 3, 10)
    assert status_of("E11.9", [("4548-4", old, 10.0)], DAY, rules) == "unknown"
    assert status_of("E11.9", [("4548-4", new, 10.0)], DAY, rules) == "uncontrolled"
    both = [("4548-4", date(2026, 3, 1), 6.0), ("4548-4", new, 10.0), ("8480-6", DAY, 190.0)]
    assert status_of("E11.9", both, DAY, rules) == "controlled"
    # A value of a later day than the referral was not known then.
    assert status_of("E11.9", [("4548-4", date(2026, 3, 11), 6.0)], DAY, rules) == "unknown"
    with pytest.raises(KeyError):
        status_of("E78.5", both, DAY, rules)


def test_higher_is_better_where_the_table_says_so() -> None:
    rules = usual_rules()
    found = [status_of("J45.40", [("HG-ACT", DAY, value)], DAY, rules) for value in (20, 18, 15)]
    assert found == ["controlled", "suboptimal", "uncontrolled"]


@pytest.mark.parametrize("row", controls(), ids=lambda row: row.name)
def test_every_row_leaves_room_and_is_measured_in_its_conditions(row: Control) -> None:
    good, bad = row.bounds(usual_rules())
    assert good <= bad if row.lower else good >= bad
    having = [
        each
        for each in conditions().values()
        if any(control_of(code) is row for code, _ in each.diagnoses)
    ]
    taken = {course.code for each in having for course in each.courses}
    # Blood pressure, pulse and weight are taken of everybody.
    assert having
    assert row.loinc in taken | {"8480-6", "8867-4", "39156-5"}


def test_the_page_prints_the_table_with_the_numbers_of_the_rules() -> None:
    rules = replace(usual_rules(), a1c_controlled_below=7.5, systolic_uncontrolled_above=155)
    page = next(each for each in edition().overlay(rules) if each.path == PAGE)
    assert "| Diabetes | E10, E11, E13 | Hemoglobin A1c | below 7.5% | above 9.0% |" in page.text
    assert "below 140 mmHg | above 155 mmHg" in page.text
    assert page.text.count("\n| ") == len(controls()) + 2
