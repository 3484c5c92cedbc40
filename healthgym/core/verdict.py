"""Named checks, and the verdict they add up to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from healthgym.core.borders import JsonDict


class Profile(StrEnum):
    """How an episode is scored."""

    PAPER = "paper"  #: the source benchmark's rule, to the letter
    STRICT = "strict"  #: our rule for training, with the source's holes closed


class Combine(StrEnum):
    """How the parts of a verdict make the whole.

    Under either rule a verdict succeeds when its own checks and all of its parts do; they differ in
    what an unfinished whole is worth.
    """

    MEAN = "mean"  #: the mean progress of the parts
    SOLVED = "solved"  #: the share of the parts that succeed


class Harm(StrEnum):
    """What a failed check says was done to others; a reward may charge for it."""

    LATE = "late"  #: a deadline of the role's own passed
    WRONG_SUBMISSION = "wrong_submission"  #: what should not have been sent was, or not as it was
    FOREIGN_WRITE = "foreign_write"  #: something that is none of the task's business was changed
    PRESSURE = "pressure"  #: somebody was pressed, misled, or asked once more after a refusal
    PRIVACY = "privacy"  #: somebody's private matters were told, or drawn out of them, unasked


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement, declared once and evaluated per episode.

    Attributes:
        name: Short snake_case name.
        requirement: What must hold, in one sentence.
        idle: Whether an agent that does nothing at all would pass it. Idle checks never add to
            the progress; they can only take it away, all of it unless the result leaves some.
        loophole: The exploit this check closes, if it was written for one.
        weight: Share of the progress, relative to the other checks that are not idle.
        failure_mode: What kind of failure it is not to meet it, in the words of the family's
            taxonomy; empty where there is none.
        harm: What was done to others if it is not met; None if nothing was.
        by_rule: Names of checks of the strict profile that ask the same by rule, where a judge is
            asked; for the report of how far they agree.
    """

    name: str
    requirement: str
    idle: bool = False
    loophole: str = ""
    weight: float = 1.0
    failure_mode: str = ""
    harm: Harm | None = None
    by_rule: tuple[str, ...] = ()

    def result(self, passed: bool, detail: str = "", *, credit: float | None = None) -> CheckResult:
        """Return the outcome of this check.

        Args:
            passed: Whether the requirement holds.
            detail: What the agent did, for a reader; it must not state the expected answer.
            credit: Partial credit in [0, 1] towards the progress, or, of an idle check, the share
                of the progress that is left; full or none if omitted.
        """
        share = float(passed) if credit is None or passed else min(max(credit, 0.0), 1.0)
        return CheckResult(self, passed, detail, share)

    def not_applicable(self, detail: str = "") -> CheckResult:
        """Return that the requirement does not apply.

        Under ``paper`` the check is left out of account. Under ``strict`` it counts as not met:
        what does not apply yet must not be worth more than what was done.
        """
        return CheckResult(self, None, detail)

    def untouched(self) -> CheckResult:
        """Return the outcome for an agent that did nothing."""
        return CheckResult(self, self.idle)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check.

    Attributes:
        check: The check.
        passed: Whether it passed; None if it does not apply.
        detail: What the agent did.
        credit: Partial credit in [0, 1]; of an idle check, the share of the progress it leaves.
    """

    check: Check
    passed: bool | None
    detail: str = ""
    credit: float = 0.0

    def __post_init__(self) -> None:
        # Comparisons of arrays give numpy's False, which `is False` would not recognize.
        if self.passed is not None:
            object.__setattr__(self, "passed", bool(self.passed))

    def to_dict(self) -> JsonDict:
        """Return the result as JSON values."""
        found = {
            "name": self.check.name,
            "requirement": self.check.requirement,
            "idle": self.check.idle,
            "passed": self.passed,
            "detail": self.detail,
        }
        if self.check.failure_mode:
            found["failure_mode"] = str(self.check.failure_mode)
        if self.check.by_rule:
            found["by_rule"] = list(self.check.by_rule)
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """The judgement of a stage or a case, a part of the whole.

    Attributes:
        name: Name of the stage, or id of the case.
        judgement: What was found of it.
        weight: Its weight among the parts.
    """

    name: str
    judgement: Judgement
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a verifier found; the engine makes a verdict of it.

    Attributes:
        results: The evaluated checks.
        progress: How much of the answer is right, in [0, 1], or below 0 where more was spoilt than
            done; the weighted credit of the checks if None.
        chance: How much of it is expected to be right of who answers without looking, in [0, 1):
            by the answer itself, such as from how often it says yes. If None, what the family has
            measured for the task's kind.
        metrics: Further numbers, such as F1.
        parts: Stages or cases that were judged each by itself.
        combine: What the parts are worth together.
    """

    results: tuple[CheckResult, ...] = ()
    progress: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    combine: Combine = Combine.MEAN
    chance: float | None = None

    @classmethod
    def of(
        cls,
        results: Sequence[CheckResult],
        *,
        progress: float | None = None,
        chance: float | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> Self:
        """Return a judgement without parts."""
        return cls(tuple(results), progress, dict(metrics or {}), chance=chance)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one episode under one profile.

    Attributes:
        profile: The scoring profile.
        success: Whether every check that applies passed, those of the parts included.
        progress: Potential in [-1, 1]; 1 exactly when ``success``, 0 for what not looking is
            expected to be worth.
        checks: The evaluated checks, in the verifier's order, the engine's own first.
        metrics: Further numbers of the family, such as F1.
        parts: The verdict on each stage or case, by name.
    """

    profile: Profile
    success: bool
    progress: float
    checks: tuple[CheckResult, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, Verdict] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        profile: Profile,
        results: Sequence[CheckResult],
        *,
        progress: float | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> Self:
        """Combine check results; see :meth:`from_judgement`.

        Raises:
            ValueError: If no check is given: a verdict that nothing can fail is a bug.
        """
        return cls.from_judgement(
            profile, Judgement.of(results, progress=progress, metrics=metrics)
        )

    @classmethod
    def from_judgement(
        cls, profile: Profile, judgement: Judgement, own: Sequence[CheckResult] = ()
    ) -> Self:
        """Return the verdict of a judgement.

        Unless the judgement states a progress it is the weighted credit of the checks that are not
        idle, together with the parts, less what idle checks that fail take of it, which is all of
        it unless they leave a share: doing nothing is worth nothing, and doing harm never pays.
        What is right by chance is then taken off
        (:func:`above_chance`). The progress of a failed episode stays below 1.

        Args:
            profile: The scoring profile.
            judgement: What the verifier found.
            own: Results of the engine's own checks.

        Raises:
            ValueError: If there is no check at all (a verdict that nothing can fail is a bug), two
                parts have one name, or the progress is no number.
        """
        checks = (*own, *judgement.results)
        if not checks and not judgement.parts:
            raise ValueError("A verdict needs at least one check.")
        if profile is Profile.STRICT:
            checks = tuple(_met_or_not(result) for result in checks)
        parts = {part.name: cls.from_judgement(profile, part.judgement) for part in judgement.parts}
        if len(parts) < len(judgement.parts):
            raise ValueError("Two parts of a verdict have one name.")
        success = all(result.passed is not False for result in checks)
        success = success and all(part.success for part in parts.values())
        progress = judgement.progress
        if progress is None:
            progress = _weighted(checks, judgement, parts)
        if math.isnan(progress):
            raise ValueError("The progress of a verdict is not a number.")
        progress = above_chance(min(max(progress, -1.0), 1.0), judgement.chance or 0.0)
        bounded = 1.0 if success else min(progress, 0.99)
        return cls(profile, success, bounded, checks, dict(judgement.metrics), parts)

    @property
    def fraction(self) -> float:
        """Share of the checks that apply which passed, those of the parts included."""
        applied = [r for r in self.all_checks() if r.passed is not None]
        return sum(r.passed is True for r in applied) / len(applied) if applied else 1.0

    @property
    def failure_modes(self) -> tuple[str, ...]:
        """The failure modes of the checks that failed, each once, in order."""
        failed = (r.check.failure_mode for r in self.all_checks() if r.passed is False)
        return tuple(dict.fromkeys(mode for mode in failed if mode))

    @property
    def harms(self) -> frozenset[Harm]:
        """What was done to others, by the checks that failed."""
        failed = (r.check.harm for r in self.all_checks() if r.passed is False)
        return frozenset(harm for harm in failed if harm is not None)

    def all_checks(self) -> tuple[CheckResult, ...]:
        """Return the checks, and those of all parts."""
        inner = (result for part in self.parts.values() for result in part.all_checks())
        return (*self.checks, *inner)

    def to_dict(self) -> JsonDict:
        """Return the verdict as JSON values."""
        found = {
            "profile": str(self.profile),
            "success": self.success,
            "progress": self.progress,
            "checks": [result.to_dict() for result in self.checks],
            "metrics": dict(self.metrics),
        }
        if self.parts:
            found["parts"] = {name: part.to_dict() for name, part in self.parts.items()}
        return found


def above_chance(reached: float, chance: float) -> float:
    """Return how far an answer is above what guessing reaches: 1 all right, 0 as good as a guess.

    With the share of right answers, and the share that answers of the same frequencies would have
    by chance, it is Cohen's kappa; with the mean of sensitivity and specificity, and a half, it is
    Youden's J.

    Args:
        reached: How much is right, in [0, 1].
        chance: How much of it is expected to be right without looking, in [0, 1].

    Returns:
        A number in [-1, 1]; 0 where a guess cannot be told from the answer.
    """
    if chance >= 1.0:
        return 0.0
    return max((reached - chance) / (1.0 - chance), -1.0)


def _met_or_not(result: CheckResult) -> CheckResult:
    if result.passed is not None:
        return result
    return CheckResult(result.check, False, result.detail or "it does not apply yet")


def _weighted(
    checks: Sequence[CheckResult], judgement: Judgement, parts: Mapping[str, Verdict]
) -> float:
    """Return the weighted credit of checks and parts, less what failed idle checks take of it."""
    failed = (result for result in checks if result.check.idle and result.passed is False)
    left = math.prod(result.credit for result in failed)
    if not left:
        return 0.0
    active = [result for result in checks if not result.check.idle and result.passed is not None]
    total = sum(result.check.weight for result in active)
    earned = sum(result.check.weight * result.credit for result in active)
    for part in judgement.parts:
        verdict = parts[part.name]
        solved = judgement.combine is Combine.SOLVED
        total += part.weight
        earned += part.weight * (float(verdict.success) if solved else verdict.progress)
    return left * earned / total if total else 0.0
