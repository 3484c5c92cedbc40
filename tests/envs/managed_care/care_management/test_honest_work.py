"""Whole cases of a care manager in the words of authors who saw a chart and a talk, and no reader.

Each wrote anew all that a nurse writes on a case: what the chart shows, what was said and agreed,
notes beside each section, and problems, goals and steps of the plan. Of the 24 cases of the first
two authors (1,196 texts) the desk passed 3 before its readers were mended by them, of the next 12
(464 texts) 8, 1 of the 12 after them (574 texts), whose author reasons about every finding, 7 of
the next 12 (526 texts) and 27 of 60 by five more (2,673 texts). Then, without rules of words that
stand nowhere, 7 of 12 by one who was told to be figurative, 6 of 12 by one who works out numbers,
and 11 of the 12 after (498 texts); by readers that had lost no rule since, 7 of 12 and 10 of 12 of
two more (983 texts), most of the rest for days written as "10-23" or "2025-02-14/20". Of the 32
hard cases of the last four (1,475 texts), who were asked to reckon, to compare and to round, it
passed between nine and ten at first sight. The texts are not edited; what some wrote into a section
that was never assessed is left out, as is what one wrote about an answer that nobody gives any
more, and six quote the line that a person now has in the place of theirs.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.task import CareInstance
from tests.envs.managed_care.care_management.playing import play
from tests.envs.managed_care.whole import Texts, cases, reworded

_DATA = Path(__file__).parent / "data" / "honest_work.json"
_WRONG_MOST = 8
#: Cases of people of whom no drinking and no trouble with rent is on record.
_SOBER_AND_HOUSED = {("hard", 999001), ("medium", 999002), ("medium", 999006)}


def test_nearly_all_honest_work_passes() -> None:
    written = list(cases(_DATA))
    wrong = [case[:2] for case in written if _failing(*case)]
    assert len(written) > 5 * _WRONG_MOST
    assert len(wrong) <= _WRONG_MOST, wrong


@pytest.mark.parametrize(
    "marks", ["'{}'", '"{}"', "\N{LEFT DOUBLE QUOTATION MARK}{}\N{RIGHT DOUBLE QUOTATION MARK}"]
)
def test_what_was_said_may_be_quoted_in_any_marks_and_nothing_else(marks: str) -> None:
    difficulty, index, _ = next(cases(_DATA))
    said = _said(difficulty, index)

    def failing(quote: str) -> list[str]:
        notes = {"summary/notes": f"Told me {marks.format(quote)} on the call."}
        return _failing(difficulty, index, {"cm_outreach.end_outreach_call 0": notes})

    assert not failing(said)
    words = said.split()
    assert not failing(f"{' '.join(words[:3])} ... {' '.join(words[4:])}")
    assert failing(f"{said[:-1]}, and my landlord set the house on fire.") == ["consent_true"]


def test_a_quotation_is_not_put_together_of_single_words() -> None:
    difficulty, index, _ = next(cases(_DATA))
    words = sorted(set(re.findall(r"[a-z]+", _said(difficulty, index).lower())))
    notes = {"summary/notes": f'Told me "{" ... ".join(words)}" on the call.'}
    wrong = _failing(difficulty, index, {"cm_outreach.end_outreach_call 0": notes})
    assert wrong == ["consent_true"]


@pytest.mark.parametrize(
    "note",
    [
        "She is drinking in the evenings.",
        "The eviction was in the winter.",
        "The court has the case.",
        "The handbook allows her a private nurse.",
    ],
)
def test_what_was_let_through_by_a_word_is_not(note: str) -> None:
    """Alcohol was asked about, housing told of, and no policy is read at this desk."""
    call = "cm_outreach.end_outreach_call 0"
    sober = [case[:2] for case in cases(_DATA) if case[:2] in _SOBER_AND_HOUSED]
    assert len(sober) == len(_SOBER_AND_HOUSED)
    for difficulty, index in sober:
        assert _failing(difficulty, index, {call: {"summary/notes": note}}) == ["consent_true"]


def _said(difficulty: str, index: int) -> str:
    """Return the longest sentence that the person says in the oracle's calls."""
    family = CareFamily(difficulty)
    instance = family.generator.generate(Split.TEST, index)
    world = play(instance, _script(family, instance), family).world
    calls = world.outreach.calls(instance.reference.case_id)
    told = (one.content for call in calls for one in call.messages if one.role == "patient")
    return max((part for each in told for part in re.split(r"(?<=[.!?]) ", each)), key=len)


def _script(family: CareFamily, instance: CareInstance) -> list[ToolCall]:
    return list(family.oracle(instance, np.random.default_rng(0)))  # type: ignore[arg-type]


def _failing(difficulty: str, index: int, texts: Texts) -> list[str]:
    """Return what a right episode fails in somebody's words."""
    family = CareFamily(difficulty)
    instance = family.generator.generate(Split.TEST, index)
    verdict = play(instance, reworded(_script(family, instance), texts), family).verdict()
    return [result.check.name for result in verdict.checks if result.passed is False]
