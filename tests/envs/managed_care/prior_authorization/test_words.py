"""What answers, reasons and letters say, told from how they say it."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization.answers import same_answer
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.envs.managed_care.reading.reasons import read_reason
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.stated import numbers_after, stated
from tests.envs.managed_care.prior_authorization.playing import (
    answering,
    fails,
    first_of,
    play,
    solution,
)


@pytest.mark.parametrize(
    ("expected", "given", "same"),
    [
        ("1200", "1,200", True),
        ("1200", "1.2", False),
        ("7.5", "7,5", True),
        ("7.5", "7.50 points", True),
        ("7.5", "7.6", False),
        ("yes", "Y", True),
        ("yes", "not documented", False),
        ("no", "absent", True),
        ("2026-03-14", "March 14, 2026", True),
        ("2026-03-14", "03/15/2026", False),
        ("severe", " Severe ", True),
        ("severe", "moderate to severe", False),
        (None, "Not documented.", True),
        (None, "no", False),
        ("0", "not documented", False),
    ],
)
def test_an_answer_says_the_same(expected: str | None, given: str, same: bool) -> None:
    assert same_answer(expected, given) is same


def test_a_value_in_another_unit_may_be_carried_over_and_rounded() -> None:
    item, code = next(
        (item, each.code)
        for policy in library().values()
        for each in criteria(policy.criteria)
        for item in evidence_items(each)
        if getattr(each, "code", "") == "4548-4" and item.threshold_unit == "%"
    )
    bound = float(item.threshold_value)
    off = bound + 0.34567
    assert same_answer(f"{off:g}", f"{off:.1f}", item, code)
    assert same_answer(f"{off:g}", f"{off:.2f} %", item, code)
    assert same_answer(f"{off:g}", f"{(off - 2.152) / 0.09148:.4f} mmol/mol", item, code)
    assert not same_answer(f"{off:g}", f"{off + 0.2:.1f}", item, code)
    # A value as it was charted is not rounded, and none is rounded over the bound.
    assert not same_answer(f"{bound + 0.04:g}", f"{bound:.1f}", item, code)
    just = bound - 0.0312345 if item.operator in ("gte", "gt") else bound + 0.0312345
    assert not same_answer(f"{just:.6f}", f"{bound:.1f}", item, code)


def test_a_reason_is_read_wherever_things_stand() -> None:
    found = read_reason(
        "mp-sur-042-AM, not MP-SUR-042: c03/C5; Imaging-Reports, dx C34.90; ended Feb. 28, 2026",
        ["MP-SUR-042", "MP-SUR-042-AM"],
    )
    assert found.policies == {"MP-SUR-042", "MP-SUR-042-AM"}
    assert found.criteria == {"C3", "C5"}
    assert found.kinds == {"imaging_report"}
    assert {day.isoformat() for day in found.days} == {"2026-02-28"}
    assert not found.codes


def test_what_a_letter_states_is_told_from_what_it_counts() -> None:
    said = stated(
        "1. Seen 3 May 2024 at 09:30, and in June 2023.\n2. BMI 41.0 (E66.01), 27447; MP-SUR-014 "
        "C3.\n3. We attach 4 documents."
    )
    assert {day.isoformat() for day in said.days} == {"2024-05-03"}
    assert said.loose == {(2023, 6, 0)}
    assert said.codes == {"E66.01", "27447"}
    assert said.numbers == {"41"}


@pytest.mark.parametrize(
    ("text", "days", "loose"),
    [
        ("3/4/2025, 2025-02-30", {"2025-03-04"}, set()),
        ("the 21st of September 2024", {"2024-09-21"}, set()),
        ("sept. 4, 2024; apr 5 2024", {"2024-09-04", "2024-04-05"}, set()),
        ("since Feb., 2024", set(), {(2024, 2, 0)}),
        ("on 3rd May, then July 14", set(), {(0, 5, 3), (0, 7, 14)}),
        ("\u017fep 3 and 2024", set(), {(0, 9, 3), (2024, 0, 0)}),
        ("2021-2024, 2023 mg, in 2020", set(), {(2021, 0, 0), (2024, 0, 0), (2020, 0, 0)}),
        ("06/09/2025 to 07-21, 02/26 and 4/5", {"2025-06-09"}, {(0, 7, 21), (0, 2, 26)}),
        ("the 72 of February 2", set(), {(0, 2, 2)}),
        ("it may be 3 or 20245", set(), set()),
    ],
)
def test_a_day_is_read_in_every_form(
    text: str, days: set[str], loose: set[tuple[int, int, int]]
) -> None:
    said = stated(text)
    assert {day.isoformat() for day in said.days} == days
    assert said.loose == loose


def test_a_number_is_told_by_what_stands_before_it() -> None:
    text = "hemoglobin a1c on 3 may 2024 was 8.1 %. weight 80 kg; the policy asks for a1c of 7."
    assert list(numbers_after("hemoglobin a1c", text)) == [("8.1", "hemoglobin a1c on   was 8.1 %")]
    assert [number for number, _ in numbers_after("weight", text)] == ["80"]
    assert not list(numbers_after("height", text))


def test_digits_of_names_and_ordinals_are_no_numbers() -> None:
    said = stated("HbA1c, PHQ-9 and L4-L5 at the 2nd visit; ICD-10; a 6-month course of 40mg.")
    assert said.numbers == {"6", "40"}


@pytest.mark.parametrize(
    ("ending", "said", "right"),
    [
        ("_record", "not documented", True),
        ("_record", "no", True),
        ("_record", "yes", False),
        ("_agents", "not documented", True),
        ("_agents", "0", True),
        ("_agents", "1", False),
    ],
)
def test_nothing_on_record_may_be_said_in_several_ways(ending: str, said: str, right: bool) -> None:
    def silent(instance: AuthorizationInstance) -> list[str]:
        return [key for key in instance.reference.silent if key.endswith(ending)]

    instance = first_of(Course.APPROVED, silent)
    script = answering(solution(instance), **dict.fromkeys(silent(instance), said))
    assert ("forms_true" in fails(play(instance, script))) is not right


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("T2D and T1D", set()),
        ("M1A.0710, C7B.0 and D3A", {"M1A.0710", "C7B.0", "D3A"}),
        ("E11.9 beside J0256", {"E11.9", "J0256"}),
    ],
)
def test_a_code_has_no_letter_that_icd_has_not(text: str, codes: set[str]) -> None:
    assert stated(text).codes == codes
