"""Looking through what is written into a field, however it is put together."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.apps.care_management.wording import (
    LONGEST_FIELD,
    LONGEST_LIST,
    require_reasonable,
)
from healthgym.worlds.managed_care.apps.texts import within
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.refusals import Refusal
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult


def finding(**item: object) -> NurseCriterionEvaluation:
    return NurseCriterionEvaluation(
        criterion_id="C1",
        criterion_text="Seen in the past month.",
        result=CriterionResult.MET,
        item_observations=(ClinicalEvidenceItemObservation(item_id="C1.record", **item),),  # type: ignore[arg-type]
    )


def test_what_lists_and_records_hold_is_found_however_deep() -> None:
    found = within([("outer", [finding(notes="inner", observed_value=["deep", 3])])])
    assert {"outer", "C1", "C1.record", "inner", "deep", 3} <= {
        each for each in found if isinstance(each, str | int)
    }


def test_texts_are_not_taken_apart() -> None:
    assert within(["abc", "", None, 0]) == ["abc", "", None, 0]


@pytest.mark.parametrize(
    ("item", "named"),
    [
        ({"notes": "x" * (LONGEST_FIELD + 1)}, "notes has 4001 characters"),
        ({"notes": "\x00"}, "notes holds characters that are no text"),
        ({"source_refs_used": ("DOC-1",) * (LONGEST_LIST + 1)}, "source_refs_used has 61 entries"),
    ],
    ids=["long text", "no text", "long list"],
)
def test_a_refusal_says_where_it_stands(item: dict[str, object], named: str) -> None:
    with pytest.raises(Refusal, match=named):
        require_reasonable(finding(**item))


@pytest.mark.parametrize("notes", ["x" * LONGEST_FIELD, "two\nlines", ""], ids=["long", "2", "0"])
def test_what_is_as_it_should_be_is_taken(notes: str) -> None:
    require_reasonable(finding(notes=notes))
