"""Named checks, and the verdict they add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self


class Profile(StrEnum):
    """How an episode is scored."""

    PAPER = "paper"  #: the source benchmark's rule, to the letter
    STRICT = "strict"  #: our rule for training, with the source's holes closed


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement, declared once and evaluated per episode.

    Attributes:
        name: Short snake_case name.
        requirement: What must hold, in one sentence.
        idle: Whether an agent that does nothing at all would pass it. Idle checks never add to
            the progress; they can only take it away.
        loophole: The exploit this check closes, if it was written for one.
        weight: Share of the progress, relative to the other checks that are not idle.
    """

    name: str
    requirement: str
    idle: bool = False
    loophole: str = ""
    weight: float = 1.0

    def result(self, passed: bool, detail: str = "", *, credit: float | None = None) -> CheckResult:
        """Return the outcome of this check.

        Args:
            passed: Whether the requirement holds.
            detail: What the agent did, for a reader; it must not state the expected answer.
            credit: Partial credit in [0, 1] towards the progress; full or none if omitted.
        """
        share = float(passed) if credit is None or passed else min(max(credit, 0.0), 1.0)
        return CheckResult(self, passed, detail, share)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check."""

    check: Check
    passed: bool
    detail: str = ""
    credit: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "name": self.check.name,
            "requirement": self.check.requirement,
            "idle": self.check.idle,
            "passed": self.passed,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one episode under one profile.

    Attributes:
        profile: The scoring profile.
        success: Whether every check passed.
        progress: Potential in [0, 1]; 1 exactly when ``success``.
        checks: The evaluated checks, in the verifier's order.
        metrics: Further numbers of the family, such as F1.
    """

    profile: Profile
    success: bool
    progress: float
    checks: tuple[CheckResult, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        profile: Profile,
        results: Sequence[CheckResult],
        *,
        progress: float | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> Self:
        """Combine check results.

        Unless a progress is given it is the weighted credit of the checks that are not idle, and
        zero as soon as an idle check fails: doing nothing is worth nothing, and doing harm never
        pays. The progress of a failed episode stays below 1.

        Raises:
            ValueError: If no check is given: a verdict that nothing can fail is a bug.
        """
        if not results:
            raise ValueError("A verdict needs at least one check.")
        success = all(result.passed for result in results)
        if progress is None:
            active = [result for result in results if not result.check.idle]
            total = sum(result.check.weight for result in active)
            earned = sum(result.check.weight * result.credit for result in active)
            harmed = any(result.check.idle and not result.passed for result in results)
            progress = earned / total if total and not harmed else 0.0
        bounded = 1.0 if success else min(max(progress, 0.0), 0.99)
        return cls(profile, success, bounded, tuple(results), dict(metrics or {}))

    def withheld(self) -> Self:
        """Return the verdict without its progress.

        For a draft that has not been handed in, where it is a list of items: progress paid for
        each change of the list would tell which items are right.
        """
        return replace(self, progress=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {
            "profile": str(self.profile),
            "success": self.success,
            "progress": self.progress,
            "checks": [result.to_dict() for result in self.checks],
            "metrics": dict(self.metrics),
        }
