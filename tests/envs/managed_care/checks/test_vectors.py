"""Our checks say what the source's said of its recorded runs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from healthgym.envs.managed_care.checks.paper import judge, score
from tests.envs.managed_care.checks.judged import (
    answers,
    answers_of,
    expectation_of,
    play,
    recorded,
)

#: What the source's export makes False by losing the link between a call and its transcript, and
#: what the rule says of these runs instead.
LOST: Mapping[str, Mapping[str, bool | None]] = {
    name: {
        "e2e.p2p_transcript_exists": True,
        "e2e.p2p_transcript_has_both_roles": name != "v-e2e-14",
        "e2e.p2p_no_simulator_turns": True,
        "e2e.p2p_outcome_after_transcript": True,
        "e2e.p2p_payer_position_recorded": True,
        "e2e.p2p_outcome_matches_transcript": name != "v-e2e-14",
        "e2e.p2p_provider_position_recorded": True if name in ("v-e2e-12", "v-e2e-15") else None,
    }
    for name in ("v-e2e-12", "v-e2e-14", "v-e2e-15", "v-e2e-17")
}


@pytest.mark.parametrize("name", recorded())
def test_every_check_says_what_it_said(name: str) -> None:
    row = recorded()[name]
    results = judge(play(row), expectation_of(row))
    assert answers(results) == {**answers_of(row), **LOST.get(name, {})}


@pytest.mark.parametrize("name", [name for name in recorded() if name not in LOST])
def test_the_score_is_what_it_was(name: str) -> None:
    row = recorded()[name]
    expected = expectation_of(row)
    found = score(judge(play(row), expected), expected.contract)
    binary, passed, applicable = row["score"]
    assert found.success is (binary == 1.0)
    if passed is not None:
        assert (found.passed, found.applicable) == (passed, applicable)
        assert found.fraction == passed / applicable


def test_the_runs_with_a_lost_link_are_those_that_the_recording_marks() -> None:
    assert {name for name, row in recorded().items() if row.get("defect")} == set(LOST)


@pytest.mark.parametrize("name", ["v-e2e-12", "v-e2e-17"])
def test_a_call_that_was_held_passes_by_the_rule(name: str) -> None:
    row = recorded()[name]
    assert score(judge(play(row), expectation_of(row))).success
