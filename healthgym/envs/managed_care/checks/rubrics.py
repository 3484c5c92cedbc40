"""The source's rubrics for a judge that is asked for: a language model with votes and quotations.

By default nobody is asked, and what stands in for the rubrics is in the environments' docstrings.
With a judge, each rubric is one more check under the source's rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Protocol

from healthgym.core.verdict import Check, CheckResult
from healthgym.rewards.rubrics import Finding, Rubric
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.world import ManagedCareWorld


class Desk(StrEnum):
    """Whose work is judged."""

    REVIEW = "review"
    CARE = "care"


class Judge(Protocol):
    """Something that judges a record by a rubric, such as ``rewards.rubrics.RubricJudge``."""

    def judge(self, rubric: Rubric, record: Mapping[str, str]) -> Finding:
        """Return whether a record meets a rubric.

        Raises:
            EndpointError: If it cannot tell.
        """


@dataclass(frozen=True, slots=True)
class Question:
    """A rubric of a desk, and the check that it becomes."""

    check: Check
    text: str

    def rubric(self, expected: str) -> Rubric:
        """Return the rubric with what the judge knows."""
        return Rubric(self.check.name, self.text, expected)


@cache
def questions(desk: Desk) -> tuple[Question, ...]:
    """Return the rubrics of a desk, from ``data/rubrics.json``."""
    table = json.loads((files(__package__) / "data" / "rubrics.json").read_text("utf-8"))
    return tuple(
        Question(Check(row["name"], row["requirement"]), row["question"]) for row in table[desk]
    )


def judged(
    judge: Judge, desk: Desk, expected: str, record: Mapping[str, str], *left_out: str
) -> Iterator[CheckResult]:
    """Yield what a judge finds by each rubric of a desk.

    Args:
        judge: The judge.
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
        found = judge.judge(question.rubric(expected), record)
        votes = f"{found.in_favour} of {found.votes} votes with a quotation"
        yield question.check.result(found.met, votes)


def review_record(world: ManagedCareWorld, case_id: str, policy: Policy) -> Mapping[str, str]:
    """Return what there is to read of a review, and what it rests on.

    Args:
        world: The world after the episode.
        case_id: The case.
        policy: The policy in force.
    """
    sessions = (one for one in world.peer.sessions.values() if one.case_id == case_id)
    letters = world.letters.of(case_id)
    return {
        "policy": "\n".join(f"{i.id}: {policy.text(i.id)}" for i in criteria(policy.criteria)),
        "packet": _texts((one.title, one.content) for one in world.documents.of_case(case_id)),
        "nurse review": _told((*world.nursing.reviews_of(case_id), *world.nursing.of(case_id))),
        "physician review": _told((*world.medical.reviews_of(case_id), *world.medical.of(case_id))),
        "call": _texts((t.speaker, t.message) for one in sessions for t in one.transcript),
        "letters": _texts((str(one.letter_type), one.body) for one in letters),
    }


def care_record(world: ManagedCareWorld, case_id: str) -> Mapping[str, str]:
    """Return what there is to read of an episode of care management, and what it rests on.

    Args:
        world: The world after the episode.
        case_id: The episode.
    """
    calls = world.outreach.calls(case_id)
    chart = world.care_chart.of(case_id) if case_id in world.referrals.cases else None
    documents = chart.documents if chart else ()
    reviews = (one for one in world.care_chart.reviews.values() if one.case_id == case_id)
    plans = (one for one in world.plans.plans.values() if one.case_id == case_id)
    return {
        "referral": _told(
            one for one in world.referrals.referrals.values() if one.case_id == case_id
        ),
        "chart": _texts((one.title, one.content) for one in documents),
        "chart review": _told(reviews),
        "call": _texts((m.role, m.content) for one in calls for m in one.messages),
        "assessment": _told(world.assessments.of(case_id)),
        "plan": _told(plans),
    }


def _texts(said: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{head}: {text}" for head, text in said) or "none"


def _told(records: Iterable[object]) -> str:
    """Return records as JSON, one a line."""
    return "\n".join(json.dumps(_plain(record)) for record in records) or "none"


def _plain(value: object) -> object:
    """Return a record as JSON values."""
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
