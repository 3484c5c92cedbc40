"""Which episodes a configuration can draw, and the canonical 25."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import TypeVar

import numpy as np

from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.task import CareConfig, Ending, Strength
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.conversation.persona import PersonaKind
from healthgym.worlds.managed_care.vocabulary.care import CMProgram

_T = TypeVar("_T")
#: How often an ending is drawn, in relation to the others: half of all tasks end with a plan, and
#: more where fewer refusals are kept.
SHARES = {ending: 2 if ending is Ending.PLANNED else 1 for ending in Ending}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What an episode is like.

    Attributes:
        program: The right programme.
        condition: Name of the condition of the referral.
        kind: What the person is like on the phone.
        strength: How much it takes to win them.
        ending: What is right in the end.
    """

    program: CMProgram
    condition: str
    kind: PersonaKind
    strength: Strength
    ending: Ending


@lru_cache(maxsize=64)
def ways(config: CareConfig) -> tuple[tuple[CMProgram, tuple[str, ...]], ...]:
    """Return the programmes of a configuration, each with the conditions it can be right for.

    Raises:
        ConfigurationError: If a programme has none of its conditions.
    """
    found = []
    for program in config.programs:
        able = tuple(
            name for name in config.conditions if program in care_conditions()[name].programs
        )
        if not able:
            raise ConfigurationError(
                f"{program} is right for none of {', '.join(config.conditions)}; name another "
                "condition, or leave the programme out."
            )
        found.append((program, able))
    return tuple(found)


def draw_choice(config: CareConfig, rng: np.random.Generator) -> Choice:
    """Draw what an episode is like; whom it is about tells nothing of how it ends."""
    program, conditions = _one(ways(config), rng)
    condition = _one(conditions, rng)
    kind, strength = _one(config.kinds, rng), _one(config.strengths, rng)
    weights = np.array([SHARES[ending] for ending in config.endings], dtype=float)
    ending = config.endings[int(rng.choice(len(weights), p=weights / weights.sum()))]
    if ending is Ending.DECLINED and Ending.PLANNED in config.endings:
        # From a stream beside, so that all other episodes stay what they are.
        kept = rng.spawn(1)[0].random() < config.declined
        ending = Ending.DECLINED if kept else Ending.PLANNED
    return Choice(
        program=program,
        condition=condition,
        kind=kind,
        strength=strength,
        ending=ending,
    )


def _one(options: Sequence[_T], rng: np.random.Generator) -> _T:
    return options[int(rng.integers(len(options)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Canonical:
    """One of the 25 episodes that are composed like the source's.

    Attributes:
        condition: Name of the condition.
        kind: What the person is like.
        strength: How much it takes to win them.
    """

    condition: str
    kind: PersonaKind
    strength: Strength


@lru_cache(maxsize=1)
def canonical_episodes() -> tuple[Canonical, ...]:
    """Return what the canonical episodes are like, in order; all end with a plan."""
    text = files(__package__).joinpath("data/canonical.json").read_text("utf-8")
    return tuple(
        Canonical(
            condition=row["condition"],
            kind=PersonaKind(row["kind"]),
            strength=Strength(row["strength"]),
        )
        for row in json.loads(text)["episodes"]
    )


def _usual(name: str) -> tuple[CMProgram, ...]:
    """Return the programmes that the name of a condition stands for in the source."""
    condition = care_conditions()[name]
    if condition.event is not None:
        return (CMProgram.TRANSITIONS_OF_CARE,)
    if condition.behavioral:
        return (CMProgram.BEHAVIORAL_HEALTH,)
    return (CMProgram.COMPLEX_CARE,) if name.startswith("complex_") else condition.programs


def narrowed(config: CareConfig, asked: Canonical) -> CareConfig:
    """Return a configuration that draws one kind of episode.

    What comes after an event is a transition, a disorder of the mind is one for behavioural
    health, and what is called complex is complex; of the rest each programme may be right.

    Args:
        config: What referrals are like besides.
        asked: What the episode is like.
    """
    return replace(
        config,
        programs=_usual(asked.condition),
        conditions=(asked.condition,),
        kinds=(asked.kind,),
        strengths=(asked.strength,),
        endings=(Ending.PLANNED,),
    )
