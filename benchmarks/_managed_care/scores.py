"""Who solves the tasks of a desk: with the answer, by reading, and without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from _harness import Figures, Run, Suite, make, mean_scores, with_prefix

#: Difficulties that are scored; the drill is a lesson, and has a script of its own.
DIFFICULTIES = ("easy", "medium", "hard")
_TASKS = 200


@dataclass(frozen=True)
class Played:
    """A measure: some policies on the first test tasks of each difficulty.

    Attributes:
        env_id: The environment.
        policies: Who plays.
    """

    env_id: str
    policies: tuple[str, ...]

    def __call__(self, run: Run) -> Figures:
        """Play."""
        tasks = run.tasks(_TASKS)
        figures: Figures = {"tasks": tasks}
        for difficulty in DIFFICULTIES:
            env = make(self.env_id, difficulty=difficulty, split="test").unwrapped
            figures |= with_prefix(difficulty, mean_scores(env, self.policies, tasks))
        return figures


def add_scores(suite: Suite, env_id: str, readers: Sequence[str], blind: Iterable[str]) -> None:
    """Let a suite play an environment with and without skill.

    Args:
        suite: The suite.
        env_id: The environment.
        readers: Policies that read what an agent reads: the pages of today, and those that go by
            the numbers of the standing edition.
        blind: Policies that do not look.
    """
    suite.measure("oracle")(Played(env_id, ("oracle",)))
    suite.measure("readers")(Played(env_id, tuple(readers)))
    suite.measure("blind")(Played(env_id, ("nop", "random", *blind)))
