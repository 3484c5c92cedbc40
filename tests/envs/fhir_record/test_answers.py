"""In which forms an answer is right, and that each question says its form."""

from __future__ import annotations

import pytest

from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.task import NOTHING, instant, number, text
from healthgym.envs.fhir_record.wording import Style, answer_form

GLUCOSE = number(192, 0.5, "mg/dL")


@pytest.mark.parametrize("given", [192, 192.4, "192", " 192 ", "192.0", "192 mg/dL", "192mg/dl"])
def test_a_number_may_be_written_with_its_unit(given: object) -> None:
    assert GLUCOSE.accepts(given)


@pytest.mark.parametrize(
    "given",
    [
        193, True, None, [192], "", "mg/dL", "193 mg/dL", "192 mmol/L", "192 mg", "192 %",
        "about 192 mg/dL", "192 or 250 mg/dL", "192 mg/dL, 250 mg/dL", "192, 250", "1.92e2", "١٩٢",
        "192 mg/dL?", "not 192",
    ],
)  # fmt: skip
def test_a_number_with_anything_else_is_wrong(given: object) -> None:
    assert not GLUCOSE.accepts(given)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        (number(7.5, 0.005, "%"), "7.5 percent"),
        (number(4.3, 0.005, "mmol/L"), "4.3 mEq/L"),
        (number(510, 0.5, "ms"), "510 msec"),
        (number(79, unit="years"), "79 years old"),
        (number(79, unit="years"), "79 y/o"),
        (number(3.58, 0.005, "uIU/mL"), "3.58 \u00b5IU/mL"),
        (GLUCOSE, "192 mg / dL"),
        (NOTHING, "-1"),
        (NOTHING, "\u22121"),
    ],
)
def test_a_unit_goes_by_its_usual_names(expected, given) -> None:
    assert expected.accepts(given)


def test_a_count_and_a_text_have_no_unit() -> None:
    assert number(2).accepts("2")
    assert not number(2).accepts("2 mg")
    assert not text("S7012345").accepts("MRN S7012345")
    assert text("S7012345").accepts("S7012345.")
    assert text("Patient not found").accepts("Patient not found.")
    assert not text("S7012345").accepts("S7012345..")


@pytest.mark.parametrize("zone", ["+00:00", "Z", "z", " UTC", " GMT", ""])
def test_a_moment_may_name_its_zone(zone: str) -> None:
    expected = instant("2022-11-13T01:56:00+00:00")
    assert expected.accepts(f"2022-11-13T01:56:00{zone}")
    assert not expected.accepts(f"2022-11-13T02:56:00{zone}")
    assert not expected.accepts("2022-11-13T01:56:00 EST")


@pytest.mark.parametrize("style", [Style.BENCHMARK, Style.AUDITED])
@pytest.mark.parametrize("kind", KINDS)
def test_published_words_or_their_supplement_say_the_form_of_the_answer(kind, style) -> None:
    benchmark = "v3" if style is Style.AUDITED else kind[:2]
    settings = {"benchmark": benchmark, "task_types": [kind], "difficulty": "easy"}
    question, _ = FhirRecordEnv(**settings).reset(options={"split": "test", "index": 0})
    assert any(words in question for words in ("inish with", "Answer with")), question
    raw, _ = FhirRecordEnv(**settings, protocol="raw").reset(options={"split": "test", "index": 0})
    form = answer_form(kind, style)
    assert not form or form not in raw


@pytest.mark.parametrize("style", [Style.TERSE, Style.FULL])
@pytest.mark.parametrize("kind", KINDS)
def test_words_of_ours_need_no_supplement(kind, style) -> None:
    assert answer_form(kind, style) == ""
