"""What is said on a call, and what of it is no number and no day."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.utilization_management.calls import _moment
from healthgym.envs.managed_care.utilization_management.hearing_out import heard_facts
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    MeasurementCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.vocabulary.authorization import ItemOperator

A1C = MeasurementCriterion(
    id="C1",
    display="HbA1c",
    code="4548-4",
    operator=ItemOperator.GTE,
    threshold=8,
    unit="%",
    months=6,
)
THERAPY = TherapyCriterion(id="C2", display="Physical therapy", therapy="pt", months=6)
MEASURED = "HbA1c: that was {} % on {}. I have the result in front of me."
TREATED = "There was a course of Physical therapy: {} sessions, begun on {}. "


def test_a_value_is_heard() -> None:
    (fact,) = heard_facts(MEASURED.format("8.4", "2026-01-28"), A1C)
    assert fact.value == 8.4  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("said", "item"),
    [
        (MEASURED.format("\u00b2", "2026-01-28"), A1C),
        (MEASURED.format("nan", "2026-01-28"), A1C),
        (MEASURED.format("9" * 400, "2026-01-28"), A1C),
        (MEASURED.format("8.4", "2026-13-45"), A1C),
        (MEASURED.format("8.4", "\u0968\u0966\u0968\u096c-\u0966\u0967-\u0968\u096e"), A1C),
        (TREATED.format("9" * 5000, "2026-01-28"), THERAPY),
        (TREATED.format("8", "0000-00-00"), THERAPY),
    ],
)
def test_what_is_no_number_and_no_day_states_no_fact(said: str, item: AnyCriterion) -> None:
    assert heard_facts(said, item) == ()


@pytest.mark.parametrize("text", ["", "noon", "0001-01-01T00:00:00+14:00"])
def test_a_call_has_no_time_where_none_can_be_read(text: str) -> None:
    assert _moment(text) is None
