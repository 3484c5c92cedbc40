"""Play a recorded episode again and compare every byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import Protocol

from healthgym.core.borders import Options
from healthgym.core.episode import AnyEpisode
from healthgym.core.family import AnyFamily, EpisodeConfig
from healthgym.core.images import Image
from healthgym.core.trajectory import Trajectory, Turn
from healthgym.errors import HealthGymError, SeatCrashedError, TrajectoryError
from healthgym.registration import arena_ids, make_health_env
from healthgym.version import __version__


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A replay that gave the same bytes.

    Attributes:
        task_id: The task.
        turns: Number of turns compared.
        success: Whether every role succeeded, under the profile of the environment.
    """

    task_id: str
    turns: int
    success: bool


def replay(
    trajectory: Trajectory,
    env: Replayable | None = None,
    on_images: Callable[[Sequence[Image]], None] = lambda images: None,
    *,
    exact_pictures: bool = True,
) -> ReplayReport:
    """Play a trajectory's actions again and compare observations, rewards and verdicts.

    Nobody outside is asked: what endpoints said, and what seats did that they filled, is in the
    record.

    Args:
        trajectory: The record.
        env: Environment to play on; made from the recorded id and arguments if omitted.
        on_images: Handed the pictures of each turn that shows any, which a record only names.
        exact_pictures: Whether pictures must be the same to the last grey level. A processor of
            another kind may round an exponential otherwise, so that a pixel differs by one level
            where text and verdict do not; with False only their number is compared.

    Raises:
        TrajectoryError: If the environment cannot be made, or something comes out differently;
            it tells the first difference.
    """
    inner = env or remade(trajectory)
    episodes = played(trajectory, inner, on_images)
    episode = next(episodes)
    fresh = inner.trajectory()
    for name in ("kind", "instructions", "tools"):
        _compare(trajectory, name, getattr(trajectory, name), getattr(fresh, name))
    for number, (turn, _) in enumerate(zip(trajectory.turns, episodes, strict=False), 1):
        _compare_turns(trajectory, number, turn, episode.turns[number - 1], exact_pictures)
    for _ in episodes:
        pass
    again = inner.trajectory()
    for name in ("verdicts", "rewards"):
        _compare(trajectory, name, getattr(trajectory, name), getattr(again, name))
    profile = str(inner.config.profile)
    success = not trajectory.fault and all(
        verdicts[profile]["success"] for verdicts in again.verdicts.values()
    )
    return ReplayReport(trajectory.task_id, len(trajectory.turns), success)


def played(
    trajectory: Trajectory,
    env: Replayable,
    on_images: Callable[[Sequence[Image]], None] = lambda images: None,
) -> Iterator[AnyEpisode]:
    """Play a trajectory's actions again, whatever they come to; yield the episode as it goes.

    Args:
        trajectory: The record.
        env: Environment to play on.
        on_images: Handed the pictures of each turn that shows any.

    Yields:
        The episode: at its start, after each recorded turn, and at its end.

    Raises:
        TrajectoryError: If the task cannot be opened, or a role is to act that is done.
    """
    try:
        env.reset(options={"task_id": trajectory.task_id, "record": trajectory})
    except HealthGymError as error:
        raise TrajectoryError(f"{trajectory.task_id} cannot be opened: {error}") from error
    episode = env.episode
    yield episode
    for number, turn in enumerate(trajectory.turns, 1):
        if number > len(episode.turns):  # otherwise a counterpart has played it by itself
            if turn.role not in episode.roles or episode.done(turn.role):
                raise _difference(trajectory, f"turn {number}", "a turn", f"{turn.role} is done")
            if turn.news:
                episode.news(turn.role)
            _step(trajectory, episode, turn, on_images)
        yield episode
    for role in trajectory.stopped:
        if not episode.stopped(role):  # a counterpart leaves by itself
            episode.stop(role)
    yield episode


def _step(
    trajectory: Trajectory,
    episode: AnyEpisode,
    turn: Turn,
    on_images: Callable[[Sequence[Image]], None],
) -> None:
    try:
        outcome = episode.step(turn.action, turn.role)
    except SeatCrashedError:
        if not trajectory.fault:
            raise
    else:
        if outcome.images:
            on_images(outcome.images)


def replayed_pictures(trajectory: Trajectory) -> dict[str, Image]:
    """Play a recorded episode again and return the pictures it showed, by recorded fingerprint.

    Raises:
        TrajectoryError: If the environment cannot be made, or something other than the last grey
            level of a picture comes out differently.
    """
    made: list[Image] = []
    replay(trajectory, on_images=made.extend, exact_pictures=False)
    names = [name for turn in trajectory.turns for name in turn.pictures]
    return dict(zip(names, made, strict=False))


def progress_along(trajectory: Trajectory) -> list[float]:
    """Play a recorded episode again and return the progress of its role after each turn.

    It is the verifier's, as the shaped reward pays it: where a family withholds it, nothing before
    the work is handed in.

    Raises:
        TrajectoryError: If the environment cannot be made, or the episode cannot be played.
    """
    shaped = replace(trajectory, env_kwargs={**trajectory.env_kwargs, "reward": "shaped"})
    episode = None
    for episode in played(shaped, remade(shaped)):  # noqa: B007 - the last one is asked
        pass
    turns = episode.turns if episode is not None else ()
    paid = (turn.reward if turn.role == trajectory.role else 0.0 for turn in turns)
    return [round(total, 9) for total in accumulate(paid)]


class Replayable(Protocol):
    """What a record is played on: one of our environments, or an arena."""

    config: EpisodeConfig
    family: AnyFamily

    @property
    def episode(self) -> AnyEpisode:
        """The current episode."""

    def reset(self, *, options: Options) -> object:
        """Begin the episode of a task."""

    def trajectory(self) -> Trajectory:
        """Return the record of the current episode."""


def recorded_id(trajectory: Trajectory) -> str:
    """Return the id of the environment that a record names.

    A record is data, which may come from anybody: it names an environment that is registered
    already, and no module to import.

    Raises:
        TrajectoryError: If it names none.
    """
    if not trajectory.env_id:
        raise TrajectoryError(
            f"{trajectory.task_id} was recorded from an environment without an id; give one."
        )
    if ":" in trajectory.env_id:
        raise TrajectoryError(
            f"{trajectory.task_id} names {trajectory.env_id[:80]!r}, which would import a module. "
            "Import it yourself and register its environments, or give one."
        )
    return trajectory.env_id


def remade(trajectory: Trajectory) -> Replayable:
    """Return an environment such as the one that a record is of.

    Raises:
        TrajectoryError: If it cannot be made.
    """
    env_id = recorded_id(trajectory)
    kwargs = {k: v for k, v in trajectory.env_kwargs.items() if k != "render_mode"}
    try:
        if env_id in arena_ids():
            from healthgym.integrations.pettingzoo import raw_env

            return raw_env(env_id, **kwargs)
        return make_health_env(env_id, kwargs)
    except Exception as error:
        # A record may be a stranger's, and what it names as arguments trip any constructor.
        raise TrajectoryError(f"{env_id} cannot be made: {error}") from error


def _compare_turns(
    trajectory: Trajectory, number: int, then: Turn, now: Turn, exact_pictures: bool
) -> None:
    for item in fields(Turn):
        # Recorded before pictures had fingerprints, or none shown: `images` tells their number.
        if item.name == "pictures" and not (then.pictures and exact_pictures):
            continue
        before, after = getattr(then, item.name), getattr(now, item.name)
        if then.unrepeatable and before != after:
            raise TrajectoryError(
                f"{trajectory.task_id}, turn {number}: a call was refused because the machine took "
                "too long over it, and is carried out now; what follows cannot be compared."
            )
        _compare(trajectory, f"turn {number}, {item.name}", before, after)


def _compare(trajectory: Trajectory, what: str, then: object, now: object) -> None:
    # Through JSON, because the record has been: tuples have become lists.
    before, after = (json.dumps(value, sort_keys=True) for value in (then, now))
    if before != after:
        raise _difference(trajectory, what, before, after)


def _difference(trajectory: Trajectory, what: str, then: str, now: str) -> TrajectoryError:
    start = next((i for i, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), 0)
    window = slice(max(start - 40, 0), start + 80)
    recorded = trajectory.version or "an unknown version"
    return TrajectoryError(
        f"{trajectory.task_id}, {what}: recorded ...{then[window]}..., now ...{now[window]}... "
        f"(recorded with {recorded}, replayed with {__version__})."
    )
