"""Comparison modes, roll-ups and normal forms, value by value."""

from __future__ import annotations

import pytest

from healthgym.core.borders import Json
from healthgym.envs.managed_care.checks.criteria import item_matches, roll_up
from healthgym.envs.managed_care.checks.expectation import ItemTruth
from healthgym.envs.managed_care.checks.normalize import (
    place_of_service,
    same,
    same_set,
    service_type,
)
from healthgym.worlds.managed_care.records.review import ClinicalEvidenceItemObservation
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult

MET, NOT, UNCLEAR = CriterionResult.MET, CriterionResult.NOT_MET, CriterionResult.UNCLEAR


def _seen(value: Json, unit: str = "", result: CriterionResult = MET) -> Json:
    return ClinicalEvidenceItemObservation(
        item_id="i", observed_value=value, observed_unit=unit, item_result=result
    )


@pytest.mark.parametrize(
    ("rule", "results", "rolled"),
    [
        ("all_items", (MET, MET), MET),
        ("all_items", (MET, UNCLEAR), UNCLEAR),
        ("all_items", (UNCLEAR, NOT), NOT),
        ("all_items", (), UNCLEAR),
        ("any_not_met", (MET, UNCLEAR), MET),
        ("any_not_met", (MET, NOT), NOT),
        ("any_not_met", (), MET),
        ("any_unclear_or_not_met", (MET, UNCLEAR), UNCLEAR),
        ("any_unclear_or_not_met", (UNCLEAR, NOT), NOT),
        ("any_unclear_or_not_met", (MET,), MET),
    ],
)
def test_items_roll_up_to_a_criterion(
    rule: str, results: tuple[CriterionResult, ...], rolled: CriterionResult
) -> None:
    assert roll_up(rule, results) is rolled


def test_an_unknown_roll_up_is_an_error() -> None:
    with pytest.raises(ValueError, match="no roll-up rule 'most'"):
        roll_up("most", (MET,))


@pytest.mark.parametrize(
    ("operator", "value", "result"),
    [
        ("lte", 40, MET),
        ("lt", 40, NOT),
        ("gte", 40, MET),
        ("gt", 40, NOT),
        ("eq", "40", MET),
        ("eq", "forty", UNCLEAR),
        ("gt", True, UNCLEAR),
    ],
)
def test_a_scalar_is_compared_anew(operator: str, value: Json, result: CriterionResult) -> None:
    truth = ItemTruth(
        item_id="i",
        comparison_mode="scalar",
        expected_observation=value,
        expected_item_result=result,
        operator=operator,
        threshold_value=40,
    )
    # What the reviewer wrote of the item does not count, only the value does.
    assert item_matches(truth, _seen(value, result=UNCLEAR))
    assert item_matches(truth, _seen(value, result=MET))


def test_a_value_on_the_right_side_of_the_threshold_is_still_wrong() -> None:
    truth = ItemTruth(
        item_id="i",
        comparison_mode="scalar",
        expected_observation=35,
        expected_item_result=MET,
        operator="lte",
        threshold_value=40,
        expected_unit="%",
    )
    assert item_matches(truth, _seen(" 35 ", "%"))
    assert not item_matches(truth, _seen(36, "%"))
    assert not item_matches(truth, _seen(35, "mmHg"))


@pytest.mark.parametrize("mode", ["enum", "boolean", "set"])
def test_equal_values_meet_an_item(mode: str) -> None:
    truth = ItemTruth(
        item_id="i",
        comparison_mode=mode,
        expected_observation="true",
        expected_item_result=MET,
    )
    assert item_matches(truth, _seen(True, result=NOT))
    assert not item_matches(truth, _seen(False))
    refuted = ItemTruth(
        item_id="i",
        comparison_mode=mode,
        expected_observation=False,
        expected_item_result=NOT,
        threshold_value=True,
    )
    assert item_matches(refuted, _seen("false"))


def test_presence_asks_for_the_row_and_absence_can_never_pass() -> None:
    there = ItemTruth(item_id="i", comparison_mode="presence", expected_item_result=UNCLEAR)
    assert item_matches(there, _seen("?", result=UNCLEAR))
    assert not item_matches(there, _seen("?", result=MET))
    gone = ItemTruth(
        item_id="i", comparison_mode="presence", expected_item_result=MET, operator="absent"
    )
    assert not item_matches(gone, _seen(None))


def test_a_result_alone_is_compared_alone() -> None:
    truth = ItemTruth(item_id="i", expected_item_result=NOT)
    assert item_matches(truth, _seen("whatever", result=NOT))
    assert not item_matches(truth, _seen("whatever", result=MET))


def test_values_lose_their_disguise() -> None:
    assert same(" 35", 35.0)
    assert same("TRUE", True)
    assert not same(True, 1)
    assert not same("nan", 0)
    assert same("nan", "nan ")
    assert same_set(["b", "a"], ("a", "b", "b"))
    assert same_set(["1"], [1.0])
    assert not same_set(["a"], ["a", "b"])


def test_places_and_services_have_canonical_names() -> None:
    assert place_of_service("22") == place_of_service("Sleep_Lab") == "outpatient_hospital"
    assert place_of_service("pharmacy") == "home"
    assert place_of_service("the moon") == "the moon"
    assert service_type(" Genetic Testing ") == service_type("sp") == "medical"
    assert service_type("outpatient_mri") == "radiology"
