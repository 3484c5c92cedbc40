"""What the judges of the three desks share: the source's checks, its rubrics, and our own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, TypeVar

from healthgym.core.task import Task
from healthgym.core.verdict import Check, CheckResult, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.managed_care.checks.expectation import DeskReference, Stage
from healthgym.envs.managed_care.checks.paper import checks_in
from healthgym.envs.managed_care.checks.paper import judge as judge_by_source
from healthgym.envs.managed_care.checks.rubrics import Desk, Judge, questions
from healthgym.worlds.managed_care.world import ManagedCareWorld

WantedT = TypeVar("WantedT", bound=DeskReference)


class DeskVerifier(Verifier[Task, WantedT, ManagedCareWorld]):
    """Judges the work of a desk: by the source's rules, or by ours.

    Args:
        asked: Asked about the source's rubrics under its profile; nobody by default.

    Attributes:
        desk: Whose work it is.
        stages: Stages of the source whose checks are asked.
        strict: Our own checks.
        met_before: Names of the source's checks that are met before anybody has done anything.
    """

    desk: ClassVar[Desk]
    stages: ClassVar[tuple[Stage, ...]]
    strict: ClassVar[tuple[Check, ...]]
    met_before: ClassVar[frozenset[str]]

    def __init__(self, asked: Judge | None = None) -> None:
        self._judge = asked

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile: ours, or the source's."""
        if profile is Profile.STRICT:
            return self.strict
        rubrics = questions(self.desk) if self._judge else ()
        source = tuple(map(self._labelled, checks_in(self.stages)))
        return (*source, *(each.check for each in rubrics))

    def judge(
        self, evidence: Evidence[Task, WantedT, ManagedCareWorld], profile: Profile
    ) -> Judgement:
        """Return what is found of the work."""
        if profile is Profile.STRICT:
            return Judgement.of(tuple(self.by_rules(evidence)))
        found = self.by_source(evidence)
        results = list(map(self._of_desk, found))
        if self._judge is not None:
            results += self.by_rubrics(evidence, self._judge)
        return Judgement.of(results)

    def by_source(
        self, evidence: Evidence[Task, WantedT, ManagedCareWorld]
    ) -> Iterable[CheckResult]:
        """Return what the source's checks find."""
        return judge_by_source(evidence.after, evidence.reference.paper)

    @abstractmethod
    def by_rules(
        self, evidence: Evidence[Task, WantedT, ManagedCareWorld]
    ) -> Iterable[CheckResult]:
        """Return what our own checks find."""

    @abstractmethod
    def by_rubrics(
        self, evidence: Evidence[Task, WantedT, ManagedCareWorld], judge: Judge
    ) -> Iterator[CheckResult]:
        """Yield what a judge finds of the stages that were the episode's.

        Args:
            evidence: What happened, and what was to happen.
            judge: Who is asked.

        Raises:
            EndpointError: If the judge cannot tell.
        """

    def _of_desk(self, result: CheckResult) -> CheckResult:
        check = self._labelled(result.check)
        return result if check is result.check else replace(result, check=check)

    def _labelled(self, check: Check) -> Check:
        known = check.idle or check.name not in self.met_before
        return check if known else replace(check, idle=True)
