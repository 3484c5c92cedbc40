"""The numbers of a task's own: which of the rules vary from task to task, and between what."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.core.records import replace
from healthgym.worlds.managed_care.handbook.rules import (
    OperatingRules,
    TurnaroundHours,
    usual_rules,
)
from healthgym.worlds.managed_care.vocabulary.authorization import SubmissionChannel
from healthgym.worlds.managed_care.vocabulary.care import CMProgram, FollowUpCadence


@cache
def _choosable() -> JsonObject:
    found = json.loads((files(__package__) / "draws.json").read_text("utf-8"))
    return dict(found)


def drawn_fields() -> tuple[str, ...]:
    """Return the fields that a task draws, in alphabetical order."""
    return tuple(sorted((*_choosable()["draws"], *_choosable()["decisive_draws"])))


def decisive_fields() -> frozenset[str]:
    """Return the fields on which it hangs in every task what is right."""
    return frozenset(_choosable()["decisive_draws"])


def draw(rng: np.random.Generator, share: float = 0.5, *, decisive: bool = True) -> OperatingRules:
    """Return a task's own variation of the rules.

    Args:
        rng: The task's generator.
        share: How often a field that may vary takes another value than the usual one.
        decisive: Whether :func:`decisive_fields` vary, too; they do in each such task, so that
            what was right in another is no guide.

    Returns:
        The default rules with some of :func:`drawn_fields` replaced.
    """
    usual = usual_rules()
    changes: dict[str, int | SubmissionChannel] = {}
    for name, choices in _choices():
        varied, chosen = rng.random() < share, int(rng.integers(len(choices)))
        if varied:
            changes[name] = int(choices[chosen])
    hours = dict(usual.state_hours)
    for code, rows in sorted(_choosable()["state_draws"].items()):
        varied, chosen = rng.random() < share, int(rng.integers(len(rows)))
        if varied:
            hours[code] = TurnaroundHours(*rows[chosen])
    if decisive:
        changes |= _decisive(rng)
    return replace(usual, state_hours=hours, **changes)  # type: ignore[arg-type]


@cache
def _choices() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the fields that vary, each with the values besides its usual one."""
    usual = usual_rules()
    return tuple(
        (name, tuple(value for value in values if value != getattr(usual, name)))
        for name, values in sorted(_choosable()["draws"].items())
    )


def care_fields() -> tuple[str, ...]:
    """Return the fields that :func:`draw_care` draws, in alphabetical order."""
    return tuple(sorted((*_choosable()["care_draws"], "cadences")))


def draw_care(rng: np.random.Generator) -> OperatingRules:
    """Return the rules with numbers of care management of a task's own.

    Args:
        rng: The task's generator.
    """
    changes: dict[str, int | float] = {
        name: values[int(rng.integers(len(values)))]
        for name, values in sorted(_choosable()["care_draws"].items())
    }
    cadences = {
        CMProgram(program): FollowUpCadence(kinds[int(rng.integers(len(kinds)))])
        for program, kinds in sorted(_choosable()["cadence_draws"].items())
    }
    usual = usual_rules()
    # In the order of the table, as the page prints it.
    own = {program: cadences.get(program, kind) for program, kind in usual.cadences.items()}
    return replace(usual, cadences=own, **changes)  # type: ignore[arg-type]


def conversation_fields() -> tuple[str, ...]:
    """Return the fields that :func:`draw_conversations` draws, in alphabetical order."""
    return tuple(sorted(_choosable()["conversation_draws"]))


def draw_conversations(rules: OperatingRules, rng: np.random.Generator) -> OperatingRules:
    """Return rules with numbers of the telephone of a task's own.

    Args:
        rules: The rules.
        rng: The task's generator.
    """
    changes = {
        name: values[int(rng.integers(len(values)))]
        for name, values in sorted(_choosable()["conversation_draws"].items())
    }
    return replace(rules, **changes)


def _decisive(rng: np.random.Generator) -> dict[str, int | SubmissionChannel]:
    drawn: dict[str, int | SubmissionChannel] = {}
    for name, values in sorted(_choosable()["decisive_draws"].items()):
        value = values[int(rng.integers(len(values)))]
        drawn[name] = SubmissionChannel(value) if isinstance(value, str) else int(value)
    return drawn
