"""Whatever is called on all surfaces, legal or not: what always holds of the offices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from healthgym.core.journal import Table
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import CASE, NURSE, finalized
from tests.worlds.managed_care.clerks import (
    Call,
    draw_call,
    draw_legal,
    draw_pause,
    house,
    pass_time,
    usual,
)
from tests.worlds.managed_care.invariants import violations
from tests.worlds.managed_care.replay import Answer, call

RULES = pytest.mark.parametrize("rules", Rules)
FEW, MANY, CALLS = 4, 400, 250
#: Doors that are opened in any such days, in some of them only those of one desk.
FEWEST = 12


def days(rules: Rules, seed: int) -> Iterator[tuple[ManagedCareWorld, Call, Answer]]:
    """Play a house for some days; half of the calls are ones that will be accepted."""
    rng = np.random.default_rng([seed, list(Rules).index(rules)])
    world = house(rules)
    for _ in range(CALLS):
        draw = draw_legal if rng.random() < 0.6 else draw_call
        made = draw(world, rng)
        yield world, made, call(world, *made)
        pass_time(world, draw_pause(world, rng))


@cache
def played(rules: Rules, seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """Play some days and hold after each call what always holds.

    Returns:
        The doors behind which something was accepted, and the statuses that were reached.
    """
    grown, done, reached = 0, set(), set()
    for world, (door, arguments), answer in days(rules, seed):
        assert list(violations(world)) == [], (door, arguments)
        rows = len(world.history.entries)
        assert rows >= grown
        grown = rows
        if not answer.refusal:
            done.add(door)
        reached |= {str(case.status) for case in world.cases.cases.values()}
        reached |= {str(case.status) for case in world.referrals.cases.values()}
    return frozenset(done), frozenset(reached)


@RULES
@pytest.mark.parametrize("seed", range(FEW))
def test_the_offices_stay_sound(rules: Rules, seed: int) -> None:
    done, _ = played(rules, seed)
    assert len(done) > FEWEST


@pytest.mark.slow
@RULES
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_the_offices_stay_sound_for_long(rules: Rules, seed: int) -> None:
    done, _ = played(rules, seed)
    assert len(done) > FEWEST


@RULES
def test_the_same_calls_make_the_same_world(rules: Rules) -> None:
    one, other = house(rules), house(rules)
    copy = one
    rng = np.random.default_rng([99, list(Rules).index(rules)])
    for _ in range(CALLS):
        made, pause = draw_legal(copy, rng), draw_pause(copy, rng)
        copy = copy.clone()
        for world in (copy, other):
            call(world, *made)
            pass_time(world, pause)
    assert copy.digest() == other.digest()
    assert one.digest() == house(rules).digest() != copy.digest()


@RULES
def test_a_refused_call_leaves_nothing(rules: Rules) -> None:
    rng = np.random.default_rng([7, list(Rules).index(rules)])
    world, refused = house(rules), 0
    for _ in range(CALLS // 5):
        before = world.digest()
        if call(world, *draw_call(world, rng)).refusal:
            assert world.digest() == before
            refused += 1
    assert refused > CALLS / 50


@pytest.mark.slow
@RULES
def test_the_calls_come_far(rules: Rules) -> None:
    """Else what always holds would hold of nothing."""
    done: set[str] = set()
    reached: set[str] = set()
    for seed in range(10):
        behind, statuses = played(rules, seed)
        done |= behind
        reached |= statuses
    assert len(done & set(usual())) >= 80
    assert reached >= {
        "submitted", "pended_action_required", "approved", "denied", "partially_approved",
        "appealed", "appeal_overturned", "external_appealed", "assessment_in_progress",
    }  # fmt: skip


def _decided() -> ManagedCareWorld:
    world = finalized(DeterminationDecision.DENIED)
    world.letters.generate(CASE, LetterType.DENIAL, actor=NURSE)
    assert list(violations(world)) == []
    return world


def _first(table: Table[str, Any]) -> Any:
    return next(iter(table.values()))


def _another_determination(world: ManagedCareWorld) -> None:
    made = world.determinations.determinations
    made["DET-X"] = replace(_first(made), id="DET-X")


def _no_determination(world: ManagedCareWorld) -> None:
    made = world.determinations.determinations
    del made[_first(made).id]


def _lost_case(world: ManagedCareWorld) -> None:
    letter = _first(world.letters.letters)
    world.letters.letters[letter.id] = replace(letter, case_id="CASE-0")


def _quiet_move(world: ManagedCareWorld) -> None:
    case = world.cases.get(CASE)
    world.cases.cases[CASE] = replace(case, status=CaseStatus.APPEALED)


def _two_parts(world: ManagedCareWorld) -> None:
    made = world.medical.decisions
    made[_first(made).id] = replace(_first(made), reviewer_id=NURSE)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_another_determination, "has 2 determinations that count"),
        (_no_determination, "which nobody decided"),
        (_no_determination, "is denied without a determination"),
        (_lost_case, "case_id 'CASE-0' is nowhere"),
        (_quiet_move, "is appealed, and by the log denied"),
        (_two_parts, "was nurse and physician"),
    ],
    ids=["two", "letter", "none", "lost", "quiet", "parts"],
)
def test_each_of_it_can_fail(spoil: Callable[[ManagedCareWorld], None], said: str) -> None:
    world = _decided()
    spoil(world)
    assert any(said in line for line in violations(world))
