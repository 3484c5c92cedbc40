"""Where each hole of the source is closed: all of them, those of other desks included.

The holes are those of the source's tools and graders, numbered as they were listed, and five that
were measured since. What concerns the payer's reviewers or care management cannot be reached from
the provider's desk; it is closed in the world, and its environments will judge it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import pytest

from healthgym.testing import CHECKS
from healthgym.testing.leaks import check_non_interference

_HERE = "tests.envs.managed_care.prior_authorization"
_PAYER = "tests.worlds.managed_care.apps.payer"
_CARE = "tests.worlds.managed_care.apps.care_management"
#: Hole → module and name of a test that shows it closed.
CLOSED: Mapping[str, tuple[str, str]] = {
    "3 every desk's tools in reach": (
        f"{_HERE}.test_strangers", "test_no_tool_of_the_payer_is_offered",
    ),
    "5 scores that nobody was asked for": (
        f"{_CARE}.test_strict_sequences", "test_scores_that_nobody_answered_are_not_recorded",
    ),
    "6 a second call meets somebody else": (
        f"{_CARE}.test_episode", "test_a_second_call_meets_the_same_person",
    ),
    "7 an outcome of a call that was not held": (
        f"{_PAYER}.test_peer_refusals", "test_an_outcome_follows_a_call_that_was_held",
    ),
    "8 empty sections, empty packets": (
        f"{_HERE}.test_exploits", "test_it_pays_under_the_source_s_rules_only",
    ),
    "9 any lane for the asking": (
        f"{_PAYER}.test_triage", "test_only_a_strict_desk_refuses",
    ),
    "10 decisions of unknown people": (
        f"{_PAYER}.test_preflight", "test_an_approval_is_made_final_by_a_nurse_or_a_physician",
    ),
    "11 letters that say anything": (
        f"{_PAYER}.test_letters", "test_each_fact_that_goes_missing_is_found_by_name",
    ),
    "12 a share that rises by doing less": (
        f"{_HERE}.test_rewards", "test_doing_less_is_worth_less",
    ),
    "13 the class prior": (
        f"{_HERE}.test_blind", "test_the_shares_of_the_classes_help_nobody",
    ),
    "15 expectations written into the case": (
        f"{_HERE}.test_rewards",
        "test_what_is_paid_on_the_way_does_not_depend_on_what_is_right",
    ),
    "16 trying until the order of ids fits": (
        f"{_HERE}.test_exploits", "test_it_pays_under_the_source_s_rules_only",
    ),
    "repeats of finished steps": (
        f"{_HERE}.test_exploits", "test_it_pays_under_the_source_s_rules_only",
    ),
    "a plan wiped by a refused call": (
        f"{_CARE}.test_strict", "test_a_strict_world_refuses_what_a_compatible_one_accepts",
    ),
    "a pend answered by sending again": (
        f"{_HERE}.test_exploits",
        "test_a_pend_that_is_answered_by_sending_again_stays_open",
    ),
    "a day that locks the desk": (
        f"{_PAYER}.test_intake_hub", "test_a_day_that_is_none_leaves_nothing_behind",
    ),
    "a nurse's approval against her findings": (
        f"{_PAYER}.test_nurse_review", "test_a_nurse_does_not_approve_against_her_findings",
    ),
}  # fmt: skip
#: Holes that need no test: what they were made of is not there.
ABSENT = {
    "2 doors besides the tools": "a world has no server and no file that an agent writes",
    "4 a judge that can be replaced": "no model judges; the source's is left out",
    "14 the word false taken for true": "no verdict is text",
}


@pytest.mark.parametrize("hole", CLOSED)
def test_the_test_that_shows_it_closed_is_there(hole: str) -> None:
    module, name = CLOSED[hole]
    assert callable(getattr(import_module(module), name))


def test_the_truth_is_out_of_reach() -> None:
    assert check_non_interference in CHECKS


def test_every_hole_is_accounted_for() -> None:
    numbered = {int(name.split()[0]) for name in (*CLOSED, *ABSENT) if name[0].isdigit()}
    assert numbered | {1} == set(range(1, 17))
    assert sum(not name[0].isdigit() for name in CLOSED) == 5
