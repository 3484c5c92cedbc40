"""The source's rubrics for a judge that is asked for: a language model with votes and quotations.

By default nobody is asked, and what stands in for the rubrics is in the environments' docstrings.
With a judge, each rubric is one more check under the source's rules. What the judge says is heard
by the world, and so on record; an episode that is played again asks nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

from healthgym.core.borders import JsonObject
from healthgym.core.endpoint import Endpoint
from healthgym.core.verdict import Check, CheckResult
from healthgym.core.world import World
from healthgym.errors import ConfigurationError
from healthgym.rewards.rubrics import Finding, Record, Rubric, RubricJudge


class Desk(StrEnum):
    """Whose work is judged."""

    REQUEST = "request"
    REVIEW = "review"
    CARE = "care"


class Judge(Protocol):
    """Something that judges a record by a rubric, such as ``rewards.rubrics.RubricJudge``."""

    def ballot(self, rubric: Rubric, record: Record) -> str:
        """Return what is said of it, as it is to be kept.

        Raises:
            EndpointError: If nobody can be asked.
        """

    def count(self, ballot: str, rubric: Rubric, record: Record) -> Finding:
        """Return what that comes to, without asking anybody.

        Raises:
            EndpointError: If it leaves open whether the record meets the rubric.
        """


def judge_of(given: Judge | Endpoint | JsonObject | None) -> Judge | None:
    """Return who is asked about the rubrics; None if nobody is.

    Args:
        given: A judge; an endpoint, or its fields, with the number of ``votes`` among them.

    Raises:
        ConfigurationError: If it is none of these.
    """
    if isinstance(given, Endpoint | Mapping):
        return RubricJudge.of(given)
    if given is not None and not hasattr(given, "ballot"):
        raise ConfigurationError(f"{given!r:.80} is no judge.")
    return given


@dataclass(frozen=True, slots=True)
class Question:
    """A rubric of a desk, and the check that it becomes."""

    check: Check
    text: str
    evidence: tuple[str, ...]

    def rubric(self, expected: str) -> Rubric:
        """Return the rubric with what the judge knows."""
        return Rubric(self.check.name, self.text, expected, self.evidence)


@cache
def questions(desk: Desk) -> tuple[Question, ...]:
    """Return the rubrics of a desk, from ``data/rubrics.json``."""
    table = json.loads((files(__package__) / "data" / "rubrics.json").read_text("utf-8"))
    return tuple(
        Question(
            Check(row["name"], row["requirement"], by_rule=tuple(row["by_rule"])),
            row["question"],
            tuple(row["evidence"]),
        )
        for row in table[desk]
    )


def judged(
    judge: Judge, world: World, desk: Desk, expected: str, record: Record, *left_out: str
) -> Iterator[CheckResult]:
    """Yield what a judge finds by each rubric of a desk.

    Args:
        judge: The judge.
        world: The world after the episode, which hears what the judge says.
        desk: The desk.
        expected: What is right, in words, for the judge alone.
        record: What was written and said, and what it rests on.
        left_out: Names of rubrics about stages that are not the episode's.

    Raises:
        EndpointError: If the judge cannot tell.
    """
    for question in questions(desk):
        if question.check.name in left_out:
            continue
        rubric = question.rubric(expected)
        ballot = world.hear(rubric.name, partial(judge.ballot, rubric, record))
        found = judge.count(ballot, rubric, record)
        votes = f"{found.in_favour} of {found.votes} votes with a quotation"
        yield question.check.result(found.met, votes)
