"""Whether a record gives the numbers that were claimed of it: what the leaderboard checks.

Each recorded episode is played again and has to come to the same answers, rewards and verdicts;
the tasks have to be the first of the split, each attempted as often as claimed. That proves what
the actions are worth. It cannot prove who thought of them.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.choice import Weighted
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.core.spending import estimate_tokens
from healthgym.core.task import TaskKey
from healthgym.core.trajectory import Trajectory, read_trajectories
from healthgym.errors import ConfigurationError, TrajectoryError
from healthgym.policies.leaderboard import SIZES
from healthgym.registration import ids, make_health_env
from healthgym.testing.replay import replay
from healthgym.testing.rescoring import rescore
from healthgym.version import __version__

#: Attempts that a refusal names.
_NAMED = 3
#: Arguments with which somebody outside has a say in the score; what they said is in the record,
#: and whoever wrote the record can have made it up.
_OUTSIDERS = ("judge", "speaker")

Attempt = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a record is said to be of.

    Attributes:
        env_id: The environment.
        env_kwargs: The arguments it was made with.
        profile: Profile that decides.
        policy: Who played.
        tasks: Number of tasks, the first of the test split.
        k: Attempts at each.
        healthgym: Version that played.
    """

    env_id: str
    env_kwargs: JsonObject
    profile: str
    policy: str
    tasks: int
    k: int
    healthgym: str


@dataclass(slots=True)
class Found:
    """What a record was found to hold.

    Attributes:
        success: Success by profile, for each attempt: (index, number of the attempt).
        rewards: Return of each attempt.
        characters: Characters read and written in all of them, each once.
        of: How the policy was asked, as recorded with each episode.
        sha256: Hash of the file.
        bytes: Its length.
    """

    success: dict[Attempt, Mapping[str, bool]] = field(default_factory=dict)
    rewards: dict[Attempt, float] = field(default_factory=dict)
    characters: int = 0
    of: JsonDict = field(default_factory=dict)
    sha256: str = ""
    bytes: int = 0

    @property
    def tokens(self) -> float:
        """Mean tokens an episode, at four characters a token."""
        return estimate_tokens(self.characters) / max(len(self.success), 1)

    def hits(self, claimed: Claimed) -> dict[str, str]:
        """Return successful attempts at each task, by profile, with a space between."""
        profiles = sorted({name for each in self.success.values() for name in each})
        counts = {name: [0] * claimed.tasks for name in profiles}
        for (index, _), success in self.success.items():
            for name, succeeded in success.items():
                counts[name][index] += succeeded
        return {name: " ".join(map(str, each)) for name, each in counts.items()}


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def vouch(claimed: Claimed, record: Path, on_episode: Callable[[], None] = lambda: None) -> Found:
    """Play every episode of a record again, and return what they come to.

    Args:
        claimed: What it is said to be of.
        record: The file.
        on_episode: Called after each episode.

    Raises:
        ConfigurationError: If no record could prove such a claim; it says why.
        TrajectoryError: If the record holds something else, an episode twice or one that is not of
            the claim, or an episode comes out differently; it tells the first of these.
    """
    env = _environment(claimed)
    try:
        found = Found()
        for trajectory in read_trajectories(record):
            attempt = _attempt(trajectory, claimed, env)
            if attempt in found.success:
                raise TrajectoryError(f"{trajectory.task_id}: the record holds this attempt twice.")
            if found.of and trajectory.run["of"] != found.of:
                raise TrajectoryError("The record holds episodes of two evaluations.")
            found.of = trajectory.run["of"]
            _same_again(trajectory, env)
            verdicts = trajectory.verdicts[trajectory.role]
            found.success[attempt] = {name: each["success"] for name, each in verdicts.items()}
            found.rewards[attempt] = trajectory.rewards[trajectory.role]
            found.characters += _characters(trajectory)
            on_episode()
    finally:
        env.close()
    found.sha256, found.bytes = file_hash(record), record.stat().st_size
    return found


def _environment(claimed: Claimed) -> HealthEnv:
    """Return the environment of a claim.

    Raises:
        ConfigurationError: If no record could prove the claim.
    """
    if claimed.env_id not in ids():
        raise ConfigurationError(f"{claimed.env_id[:80]} is no id that healthgym registers.")
    if claimed.healthgym != __version__:
        raise ConfigurationError(
            f"It was played with healthgym {claimed.healthgym[:40]}; this is {__version__}, whose "
            "rules may say otherwise."
        )
    outside = [name for name in _OUTSIDERS if claimed.env_kwargs.get(name) is not None]
    if outside:
        raise ConfigurationError(
            f"{' and '.join(outside)}: what somebody outside said is taken from the record, so no "
            "record proves it."
        )
    if claimed.env_kwargs.get("source", "synthetic") != "synthetic":
        raise ConfigurationError("Tasks from a folder of data cannot be played by everybody.")
    kwargs = {name: each for name, each in claimed.env_kwargs.items() if name != "render_mode"}
    env = make_health_env(claimed.env_id, kwargs)
    if str(env.config.profile) != claimed.profile:
        raise ConfigurationError(
            f"With these arguments {env.config.profile} decides, and not {claimed.profile[:40]}."
        )
    if not all(isinstance(each, str | Weighted) for each in env.counterparts.values()):
        raise ConfigurationError("What a model in another seat did is proven by no record.")
    size = env.family.generator.size(Split.TEST)
    if claimed.tasks != size and claimed.tasks not in SIZES:
        whole = "" if size > max(SIZES) else f" the whole split ({size}) or"
        raise ConfigurationError(
            f"{claimed.tasks} tasks: an entry has{whole} {', '.join(map(str, SIZES))}."
        )
    return env


def _attempt(trajectory: Trajectory, claimed: Claimed, env: HealthEnv) -> Attempt:
    """Return which attempt an episode is, by its mark.

    Raises:
        TrajectoryError: If it is none of the claim's.
    """
    told = (trajectory.env_id, trajectory.version)
    if told != (claimed.env_id, claimed.healthgym):
        raise TrajectoryError(f"{trajectory.task_id} is of {told[0]} with healthgym {told[1]}.")
    if trajectory.env_kwargs != claimed.env_kwargs:
        raise TrajectoryError(f"{trajectory.task_id} was played with other arguments.")
    if trajectory.fault or trajectory.said:
        raise TrajectoryError(f"{trajectory.task_id} hangs on what came from outside.")
    mark = trajectory.run
    result, of = mark.get("result"), mark.get("of")
    if not isinstance(result, dict) or not isinstance(of, dict) or not of:
        raise TrajectoryError(f"{trajectory.task_id} is no episode of `healthgym eval --record`.")
    index, attempt = result.get("index"), result.get("attempt")
    if type(index) is not int or type(attempt) is not int:
        raise TrajectoryError(f"{trajectory.task_id}: its mark has no index and attempt.")
    name = env.family.generator.name
    if trajectory.task_id != str(TaskKey(name, Split.TEST, index)) or mark["split"] != Split.TEST:
        raise TrajectoryError(f"{trajectory.task_id} is not task {index} of {name}'s test split.")
    if not (0 <= index < claimed.tasks and 0 <= attempt < claimed.k):
        raise TrajectoryError(f"{trajectory.task_id}, attempt {attempt}, is beyond the claim.")
    if player(of) != claimed.policy:
        raise TrajectoryError(f"{trajectory.task_id} was played by {player(of)[:80]}.")
    return index, attempt


def player(of: JsonObject) -> str:
    """Return who played, by what an evaluation keeps of its policy: the model, or a script."""
    policy = str(of.get("policy", ""))
    return named(str(of.get("model", "")) if policy == "llm" else policy)


def named(model: str) -> str:
    """Return the name of a model; of one in a folder of somebody's machine, the folder's."""
    placed = model.startswith(("/", "~", ".")) or "\\" in model
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1] if placed else model


def is_scripted(of: JsonObject) -> bool:
    """Return whether a policy is one of the environment's own, and no model."""
    policy = str(of.get("policy", ""))
    return policy != "llm" and "/" not in policy and "\\" not in policy


def _same_again(trajectory: Trajectory, env: HealthEnv) -> None:
    """Return if an episode comes to the same; pictures may differ in their last grey level.

    Raises:
        TrajectoryError: If it does not, or has no verdict.
    """
    if trajectory.role != env.role:
        raise TrajectoryError(f"{trajectory.task_id} is told of {trajectory.role[:40]}.")
    if not trajectory.verdicts.get(trajectory.role):
        raise TrajectoryError(f"{trajectory.task_id} has no verdict.")
    try:
        replay(trajectory, env, exact_pictures=False)
    except TrajectoryError:
        # A call that the machine was too slow for may be carried out now; its score may not change.
        slow = any(turn.unrepeatable for turn in trajectory.turns)
        if not slow or rescore(trajectory, env).changed:
            raise


def _characters(trajectory: Trajectory) -> int:
    own = [turn for turn in trajectory.turns if turn.role == trajectory.role]
    read = len(trajectory.instructions[trajectory.role])
    return read + sum(len(turn.action) + len(turn.observation) for turn in own)


def missing(claimed: Claimed, found: Found, masked: frozenset[Attempt] = frozenset()) -> None:
    """Return if a record and what is masked are all attempts of a claim.

    Raises:
        TrajectoryError: If some are missing, or an attempt is both.
    """
    wanted = {(i, a) for i in range(claimed.tasks) for a in range(claimed.k)}
    gone = sorted(wanted - found.success.keys() - masked)
    if gone:
        named = ", ".join(f"task {i} (attempt {a})" for i, a in gone[:_NAMED])
        more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
        raise TrajectoryError(f"The record lacks {named}{more}.")
    both = sorted(masked & found.success.keys())
    if both:
        raise TrajectoryError(
            f"Task {both[0][0]} is masked in the result and scored in the record."
        )


def same_number(told: object, worked_out: float) -> bool:
    """Return whether a number that was told is one that was worked out, but for rounding."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return False
    return math.isclose(told, worked_out, rel_tol=0.0, abs_tol=1e-9)
