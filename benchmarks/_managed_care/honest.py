"""Honest sentences beside the right ones: what becomes of a call in which one more is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.task import CareInstance, Ending
from healthgym.rewards import SparseReward

_SAY = "cm_outreach.send_message"
#: Tasks that are looked through for those that fit.
_LOOKED_AT = 60
_AGREES = "Do you agree"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something honest to say.

    Attributes:
        text: The words.
        place: Where they fit: ``offer``, ``later`` or ``end``.
        register: How they are said.
    """

    text: str
    place: str
    register: str


def sentences(path: Path) -> tuple[Sentence, ...]:
    """Return the sentences of a file."""
    rows: list[dict[str, str]] = [json.loads(row) for row in path.read_text("utf-8").splitlines()]
    return tuple(Sentence(**row) for row in rows)


class Calls:
    """Right calls, in each of which one more sentence can be said.

    Args:
        count: How many people are called; sentences go round among them.
    """

    def __init__(self, count: int) -> None:
        self.family = CareFamily("medium")
        drawn = (self.family.generator.generate(Split.TEST, n) for n in range(_LOOKED_AT))
        fit = [each for each in drawn if each.reference.ending is Ending.PLANNED]
        self.tasks: Sequence[CareInstance] = fit[:count]
        self.scripts = [self._solved(each) for each in self.tasks]

    def _solved(self, task: CareInstance) -> list[ToolCall]:
        steps = self.family.oracle(task, np.random.default_rng(0))
        return [step for step in steps if isinstance(step, ToolCall)]

    def failed(self, number: int, sentence: Sentence | None) -> tuple[str, ...]:
        """Return the checks that fail when a sentence is added to a right call.

        Args:
            number: Which call, counted round.
            sentence: What is added to a message; None for the call as it is.
        """
        turn = number % len(self.tasks)
        script = list(self.scripts[turn])
        if sentence is not None:
            at = _place(script, sentence.place)
            said = script[at].arguments
            script[at] = replace(
                script[at], arguments={**said, "message": f"{said['message']} {sentence.text}"}
            )
        rules = EpisodeConfig(max_turns=200)
        episode = Episode(self.family, self.tasks[turn], SparseReward(), rules)
        for step in script:
            episode.step(step)
        if not episode.done():
            episode.stop()
        verdict = episode.verdict(profile=Profile.STRICT)
        return tuple(each.check.name for each in verdict.checks if each.passed is False)


def _place(script: Sequence[ToolCall], place: str) -> int:
    """Return where a sentence is added: with the offer, after the yes, or at the end."""
    said = [n for n, step in enumerate(script) if step.name == _SAY]
    if place == "offer":
        return next(n for n in said if "voluntary" in str(script[n].arguments["message"]))
    if place == "end":
        return said[-1]
    asked = [n for n in said if _AGREES in str(script[n].arguments["message"])]
    return next(n for n in said if n > asked[-1])
