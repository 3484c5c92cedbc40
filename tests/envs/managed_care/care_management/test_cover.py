"""The oracle solves whatever can be drawn: pair by pair here, and everybody in the slow run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, product

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management.choices import ways
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    USUAL_ENDINGS,
    CareConfig,
    CareInstance,
    Ending,
    Strength,
)
from healthgym.errors import ConfigurationError
from healthgym.rewards import PotentialReward
from healthgym.worlds.managed_care.conversation.persona import PersonaKind
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.care import CMProgram
from tests.envs.managed_care.care_management.playing import FAMILY
from tests.envs.managed_care.covering import Row, covering, pairs, possible

#: What goes with any programme and condition. Of whom forgets every call only the source's profile
#: judges: see test_compat.py.
FREE: Mapping[str, Sequence[object]] = {
    "kind": tuple(PersonaKind),
    "strength": tuple(Strength),
    "ending": USUAL_ENDINGS,
    "difficulty": ("easy", "medium", "hard"),
    "busy": (False, True),
    "rules": tuple(Rules),
}
#: Seeds of a kind that are tried before it is said to give no task.
_TRIES = 30


@dataclass(frozen=True)
class Kind:
    """What a task is wanted to be: what is right, who answers, and whether at a bad time."""

    program: CMProgram
    condition: str
    kind: PersonaKind
    strength: Strength
    ending: Ending
    difficulty: str
    busy: bool
    rules: Rules

    @property
    def config(self) -> CareConfig:
        """Return the level, narrowed to what is wanted."""
        return replace(
            PRESETS[self.difficulty],
            programs=(self.program,),
            conditions=(self.condition,),
            kinds=(self.kind,),
            strengths=(self.strength,),
            endings=(self.ending,),
            busy=float(self.busy),
        )


@cache
def table() -> Sequence[Row]:
    """Return the programmes, each with the conditions that it can be right for."""
    return tuple(
        {"program": program, "condition": name}
        for program, names in ways(CareConfig())
        for name in names
    )


@cache
def rows() -> Sequence[Kind]:
    """Return tasks that hold every pair."""
    return tuple(Kind(**row) for row in covering(table(), FREE))  # type: ignore[arg-type]


def drawn(kind: Kind) -> CareInstance:
    """Return the first task of a kind; a bad time needs numbers that leave a call to spare."""
    name = f"cover-{kind.program}-{kind.condition}"
    making = CareGenerator(kind.config, kind.difficulty, name, kind.rules)
    for index in range(_TRIES):
        try:
            instance = making.generate(Split.TEST, index)
        except ConfigurationError:
            continue
        if (instance.reference.persona.busy is not None) == kind.busy:
            return instance
    raise AssertionError(f"{kind}: nothing could be drawn")


def require_solved(kind: Kind) -> None:
    """Play the oracle: no check fails, and under strict rules the shaped return is 1."""
    instance = drawn(kind)
    wanted = instance.reference
    found = (wanted.program, wanted.persona.kind, wanted.ending, instance.task.kind)
    assert found == (kind.program, kind.kind, kind.ending, kind.condition)
    script = FAMILY.oracle(instance, np.random.default_rng(0))
    assert len(script) <= FAMILY.rules.max_turns
    episode = Episode(FAMILY, instance, PotentialReward(), FAMILY.rules)
    for action in script:
        step = episode.step(action)
        assert not step.errors, f"{kind}: {action}: {step.observation[-400:]}"
    forgetful = kind.rules is Rules.COMPAT
    for profile in (Profile.PAPER,) if forgetful else Profile:
        verdict = episode.verdict(profile=profile)
        failed = [each for each in verdict.checks if each.passed is False]
        assert verdict.success, f"{kind}, {profile}: {failed}"
        assert not failed
    assert forgetful or episode.total_reward() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", PersonaKind)
def test_every_pair_is_solved(kind: PersonaKind) -> None:
    for row in rows():
        if row.kind is kind:
            require_solved(row)


def test_the_rows_hold_every_pair_that_can_be() -> None:
    held = {pair for row in rows() for pair in pairs(vars(row))}
    assert held == possible(table(), FREE)


def test_no_pair_is_left_out_that_could_be_drawn() -> None:
    known = {(row["program"], row["condition"]) for row in table()}
    left_out = set(product(CMProgram, care_conditions())) - known
    assert left_out
    for program, name in left_out:
        with pytest.raises(ConfigurationError, match="right for none of"):
            ways(replace(CareConfig(), programs=(program,), conditions=(name,)))


def everybody(program: CMProgram, kind: PersonaKind) -> Iterator[Kind]:
    """Yield all that a kind of person may be in a programme; the surroundings take turns."""
    of = [row for row in table() if row["program"] is program]
    turns = cycle(product(*(FREE[name] for name in ("difficulty", "busy", "rules"))))
    people = product(of, Strength, USUAL_ENDINGS)
    for (row, strength, ending), (level, busy, rules) in zip(people, turns, strict=False):
        yield Kind(
            **row,  # type: ignore[arg-type]
            kind=kind,
            strength=strength,
            ending=ending,
            difficulty=level,
            busy=busy,
            rules=rules,
        )


@pytest.mark.slow
@pytest.mark.parametrize("program", CMProgram)
@pytest.mark.parametrize("kind", PersonaKind)
def test_everybody_is_solved_on_every_condition(program: CMProgram, kind: PersonaKind) -> None:
    for row in everybody(program, kind):
        require_solved(row)
