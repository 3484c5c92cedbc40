"""What a reward function sees, and what it is."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from healthgym.core.verdict import Verdict


class Transition(NamedTuple):
    """What a reward function sees of one step.

    Attributes:
        progress: The role's potential after the step, in [-1, 1]; at the end the verdict's. Always
            0 where the reward did not ask for it.
        before: Its potential before the step, likewise.
        verdict: The role's verdict, with the step by which the episode is over; None until then.
        calls: Calls made in the step.
        refused: How many of them were refused.
        terminated: The role has submitted, and the episode is over: no role still plays.
        truncated: The role gave up or ran out of turns without submitting, and the episode is
            over.
    """

    progress: float
    before: float
    verdict: Verdict | None
    calls: int
    refused: int
    terminated: bool
    truncated: bool


class RewardFunction(Protocol):
    """Turns progress and verdicts into numbers."""

    @property
    def dense(self) -> bool:
        """Whether progress is needed after every step, not only the verdict at the end."""

    def __call__(self, transition: Transition) -> float:
        """Return the reward of one step."""
