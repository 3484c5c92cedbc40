"""Strict rules part from the recorded calls where the table says so, and nowhere else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from healthgym.worlds.managed_care.refusals import RefusalCode
from tests.worlds.managed_care.recorded import vectors
from tests.worlds.managed_care.strictness import TABLE, table

#: What each refusal insists on, and how many recorded calls it meets: what the source let pass.
#: The recorded worlds name few people, ring at 05:00 and know no packet, which is where most of
#: these come from.
RULES: Mapping[RefusalCode, tuple[str, int]] = {
    RefusalCode.UNSUPPORTED_CLAIM: ("content: the work that the call claims was done", 196),
    RefusalCode.ROLE_FORBIDDEN: ("role: a known worker whose part it is does it", 139),
    RefusalCode.WRONG_STATE: ("order: the step before was taken", 110),
    RefusalCode.INCOMPLETE: ("content: what a section or a plan must hold is in it", 87),
    RefusalCode.OUT_OF_HOURS: ("time: people are called in their own daytime", 63),
    RefusalCode.MISSING_TEXT: ("content: reasons are given in words", 61),
    RefusalCode.NO_CONSENT: ("order: nobody is assessed who has not agreed", 56),
    RefusalCode.DUPLICATE: ("order: what is finished is not done again", 27),
    RefusalCode.ILLEGAL_TRANSITION: ("order: a case that stays where it is has not moved", 21),
    RefusalCode.INTAKE_INCOMPLETE: ("order: intake is complete before triage and review", 10),
    RefusalCode.BAD_ARGUMENT: ("content: dates, outcomes and fields are real ones", 11),
    RefusalCode.NOT_FOUND: ("content: what is removed was there", 1),
}


@cache
def found() -> Mapping[str, Any]:
    """Return the table as it is kept; that the world does so is tried once, for it takes long."""
    kept: Mapping[str, Any] = json.loads(TABLE.read_text("utf-8"))
    return kept


@pytest.mark.slow
def test_the_table_is_what_the_world_does() -> None:
    assert found() == table()


def test_every_refusal_has_its_rule_and_its_number() -> None:
    counted = {code: sum(map(len, tools.values())) for code, tools in found()["refused"].items()}
    assert counted == {str(code): number for code, (_, number) in RULES.items()}


def test_a_strict_world_accepts_nothing_that_was_refused() -> None:
    # There, a bad date that was kept makes every later look fail; here it was never kept.
    assert {line.split(".")[0] for line in found()["accepted"]} == {"intake-b02"}


def test_most_recorded_calls_are_answered_alike() -> None:
    calls = sum(len(trace["calls"]) for trace in vectors("traces")) + len(vectors("guards"))
    refused = Counter(
        {code: sum(map(len, tools.values())) for code, tools in found()["refused"].items()}
    ).total()
    assert (calls, refused, len(found()["otherwise"])) == (1747, 782, 11)
