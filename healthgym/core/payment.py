"""What a step earns: the change of the progress on the way, and in the end by the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Generic

from healthgym.core.reward import RewardFunction, Transition
from healthgym.core.seating import EpisodeState, SeatState
from healthgym.core.settlement import Bench
from healthgym.core.task import ReferenceIn, StartIn, TaskIn
from healthgym.core.verdict import Profile
from healthgym.core.world import WorldIn


class Payment(Generic[TaskIn, ReferenceIn, StartIn, WorldIn]):
    """Pays the roles of an episode, each step once.

    Args:
        bench: Judges.
        reward: The reward function.
        profile: The profile that decides.
    """

    def __init__(
        self,
        bench: Bench[TaskIn, ReferenceIn, StartIn, WorldIn],
        reward: RewardFunction,
        profile: Profile,
    ) -> None:
        self._bench, self._reward, self._profile = bench, reward, profile

    def update_progress(self, state: EpisodeState[WorldIn], role: str, seat: SeatState) -> None:
        """Bring a role's progress up to date, where the reward depends on it.

        Raises:
            VerifierError: If the verifier fails.
        """
        if self._reward.dense:
            self._bench.progress(state.world, state.events, role, seat, self._profile)

    def pay(self, state: EpisodeState[WorldIn]) -> dict[str, float]:
        """Pay what is owed, all roles if the episode is settled; return who earns what.

        Raises:
            VerifierError: If the verifier fails.
        """
        acted, state.owed = state.owed, None
        if acted is None:
            return {}
        earned = {acted.role: self._earned(state, acted.role, acted.calls, len(acted.errors))}
        for other in state.seats if state.verdicts is not None else ():
            if other != acted.role:
                earned[other] = self._earned(state, other, 0, 0)
        return earned

    def settle(self, state: EpisodeState[WorldIn]) -> dict[str, float]:
        """Judge an episode that is over, unless it was; pay for its last step, and record that.

        Raises:
            VerifierError: If the verifier fails; the episode has no score.
            InfrastructureError: If something outside the episode fails, such as a judge.
        """
        if state.verdicts is None:
            state.verdicts = self._bench.settle(state.world, state.events, state.seats)
        acted, earned = state.owed, self.pay(state)
        if acted is not None and acted.place >= 0:
            turn = state.turns[acted.place]
            state.turns[acted.place] = replace(turn, reward=earned[acted.role])
        return earned

    def _earned(self, state: EpisodeState[WorldIn], role: str, calls: int, refused: int) -> float:
        """Return what a role earns by a step with so many calls, and add it to its total."""
        seat = state.seats[role]
        before = seat.potential
        verdict = None if state.verdicts is None else state.verdicts[role][self._profile]
        if verdict is not None:
            seat.progress = {"": verdict.progress}
        else:
            self.update_progress(state, role, seat)
        ended, submitted = verdict is not None, seat.submission is not None
        transition = Transition(
            seat.potential,
            before,
            verdict,
            calls,
            refused,
            terminated=ended and submitted,
            truncated=ended and not submitted,
        )
        reward = float(self._reward(transition))
        seat.total_reward += reward
        return reward
