"""Who solves the tasks of a desk: with the answer, by reading, and without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from _harness import Figures, Run, Suite, make, mean_scores, with_prefix

#: Difficulties that are scored; the drill is a lesson, and has a script of its own.
DIFFICULTIES = ("easy", "medium", "hard")


def add_scores(suite: Suite, env_id: str, readers: Sequence[str], blind: Iterable[str]) -> None:
    """Let a suite play an environment with and without skill.

    Args:
        suite: The suite.
        env_id: The environment.
        readers: Policies that read what an agent reads.
        blind: Policies that do not look.
    """

    def played(policies: tuple[str, ...], tasks: int) -> Figures:
        figures: Figures = {"tasks": tasks}
        for difficulty in DIFFICULTIES:
            env = make(env_id, difficulty=difficulty, split="test").unwrapped
            figures |= with_prefix(difficulty, mean_scores(env, policies, tasks))
        return figures

    @suite.measure()
    def oracle(run: Run) -> Figures:
        """Play the oracle, which is told the right handling."""
        return played(("oracle",), run.tasks(200))

    @suite.measure(name="readers")
    def reading(run: Run) -> Figures:
        """Play who reads today's pages, and who goes by the numbers of the standing edition."""
        return played(tuple(readers), run.tasks(200))

    @suite.measure(name="blind")
    def not_looking(run: Run) -> Figures:
        """Play those who do not look."""
        return played(("nop", "random", *blind), run.tasks(200))
