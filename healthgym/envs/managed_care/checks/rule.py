"""A check of the source: its requirement, when it applies, and the function that answers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.core.verdict import Check, CheckResult
from healthgym.envs.managed_care.checks.case_file import CaseFile

#: What a check says of a case; None where it does not apply.
Answer = bool | None
Question = Callable[[CaseFile], Answer]
Condition = Callable[[CaseFile], bool]


class FailureMode(StrEnum):
    """The source's taxonomy of failures."""

    CRITERIA = "criteria misapplied"
    POLICY = "policy misread"
    SKIPPED = "step skipped"
    STUCK = "abstained or stuck"
    TOOL_USE = "tool use"
    INVENTED = "invented fact"
    CONSENT = "illegitimate consent"
    PRIVACY = "privacy not kept"  #: ours: the source counts it among the illegitimate consents


def always(_: CaseFile) -> bool:
    """Return that a check is always asked."""
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of a stage.

    A check that is not asked is absent from the verdict; one that is asked and does not apply is
    in it, and counts for nothing. The source distinguishes the two, and so do its published runs.

    Attributes:
        check: What must hold.
        not_applicable: When it does not apply, in a sentence; empty where it always does.
        ask: Answers it.
        asked: Whether it is asked at all.
    """

    check: Check
    not_applicable: str
    ask: Question
    asked: Condition = always

    def judge(self, case: CaseFile) -> CheckResult:
        """Return what is found of a case."""
        answer = self.ask(case)
        if answer is None:
            return self.left_out()
        return self.check.result(answer)

    def left_out(self) -> CheckResult:
        """Return that it does not apply."""
        return self.check.not_applicable(self.not_applicable)


def rule(name: str, ask: Question, asked: Condition = always, *, suffix: str = "") -> Rule:
    """Return a rule of the catalogue.

    Args:
        name: Its name in the catalogue, which is the source's.
        ask: Answers it.
        asked: Whether it is asked at all.
        suffix: What is added to the name of a check that is made for each of several things.
    """
    row = _rows()[name]
    check = Check(
        name + suffix,
        row["requirement"],
        idle=row.get("idle", False),
        failure_mode=FailureMode(row["failure_mode"]),
    )
    return Rule(check, row["not_applicable"], ask, asked)


def catalog() -> Mapping[str, tuple[str, ...]]:
    """Return the names of the catalogue, by stage."""
    return {stage: tuple(rows) for stage, rows in _catalog().items()}


def ask_all(rules: Iterable[Rule], case: CaseFile) -> list[CheckResult]:
    """Return the results of the rules that are asked, in order."""
    return [one.judge(case) for one in rules if one.asked(case)]


@cache
def _catalog() -> Mapping[str, Mapping[str, JsonObject]]:
    text = (files(__package__) / "data" / "catalog.json").read_text("utf-8")
    loaded: Mapping[str, Mapping[str, JsonObject]] = json.loads(text)
    return loaded


@cache
def _rows() -> Mapping[str, JsonObject]:
    return {name: row for rows in _catalog().values() for name, row in rows.items()}
