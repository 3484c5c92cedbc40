"""Scores a checkpoint, or a scripted policy, on the same held-out tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Self

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode
from healthgym.core.seeding import Split, task_rng
from healthgym.errors import InfrastructureError
from healthgym.integrations.trl.rollout import Played
from healthgym.policies.statistics import (
    Interval,
    paired_bootstrap_difference,
    wilson_interval,
)

#: What the row of a table is called that counts all task types.
TOTAL = "all"
#: Stream of a task's random numbers from which scripted policies draw.
_STREAM = 7_002


@dataclass(frozen=True, slots=True)
class Rate:
    """Successes among a number of episodes."""

    successes: int
    episodes: int

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval."""
        return wilson_interval(self.successes, self.episodes)

    def text(self) -> str:
        """Return the rate and its interval in per cent, such as ``62.5 [55.6-69.0]``."""
        found = self.interval
        return f"{100 * found.estimate:.1f} [{100 * found.low:.1f}–{100 * found.high:.1f}]"


@dataclass(frozen=True, slots=True)
class Score:
    """How a policy did.

    Attributes:
        name: The policy.
        total: Over all episodes.
        kinds: By task type.
        solved: Whether each task was solved, by its id.
        submitted: Episodes with an answer handed in.
        calls: Mean number of tool calls.
        refused: Mean number of refused calls.
        tokens: Mean length of a conversation; 0 for scripts.
        masked: Tasks without a score, by id: something outside the episode failed, such as an
            endpoint. They are in none of the other numbers.
        reasons: How many are masked for each kind of failure.
    """

    name: str
    total: Rate
    kinds: Mapping[str, Rate]
    solved: Mapping[str, bool]
    submitted: int
    calls: float
    refused: float
    tokens: float
    masked: tuple[str, ...] = ()
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def of_all(self) -> Rate:
        """The rate over all episodes, with masked ones counted as failures."""
        return Rate(self.total.successes, self.total.episodes + len(self.masked))

    def to_dict(self) -> JsonDict:
        """Return the score as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: JsonObject) -> Self:
        """Read a score back."""
        kinds = {kind: Rate(**rate) for kind, rate in data["kinds"].items()}
        masked = tuple(data.get("masked", ()))
        total = Rate(**data["total"])
        return cls(**{**data, "total": total, "kinds": kinds, "masked": masked})


def score(name: str, rollouts: Sequence[Played]) -> Score:
    """Return the score of a policy over finished rollouts, at least one.

    Raises:
        InfrastructureError: If something outside failed in each of them.
    """
    played = [item for item in rollouts if not item.outage]
    if not played:
        raise InfrastructureError(f"No episode has a score. {rollouts[0].outage}")
    outcomes: defaultdict[str, list[bool]] = defaultdict(list)
    solved: dict[str, bool] = {}
    for item in played:
        episode = item.episode
        won = episode.submitted() and episode.verdict().success
        outcomes[episode.task.kind].append(won)
        solved[episode.task.task_id] = won
    kinds = {kind: Rate(sum(won), len(won)) for kind, won in sorted(outcomes.items())}
    events = [item.episode.events for item in played]
    count = len(played)
    return Score(
        name,
        Rate(sum(rate.successes for rate in kinds.values()), count),
        kinds,
        solved,
        sum(item.episode.submitted() for item in played),
        sum(map(len, events)) / count,
        sum(bool(event.error) for calls in events for event in calls) / count,
        sum(item.tokens for item in played) / count,
        tuple(item.episode.task.task_id for item in rollouts if item.outage),
        dict(Counter(item.outage.partition(":")[0] for item in rollouts if item.outage)),
    )


def gain(after: Score, before: Score) -> Interval:
    """Return what was gained on the same tasks, and its 95 % interval: tasks drawn anew.

    A task that an outage cost one of the two is left out of both.

    Raises:
        ConfigurationError: If the two are scores of different tasks.
    """
    lost = {*after.masked, *before.masked}
    new, old = (
        {task: [float(won)] for task, won in each.solved.items() if task not in lost}
        for each in (after, before)
    )
    return paired_bootstrap_difference(new, old)


def end(episode: AnyEpisode) -> None:
    """End an episode that was left before its end, so that it has a verdict."""
    if not episode.done():
        episode.stop()


def play_script(
    env: HealthEnv,
    name: str,
    tasks: Iterable[tuple[Split, int]],
    progress: Callable[[int], None] = lambda count: None,
) -> list[Played]:
    """Play one of the family's scripted policies on tasks."""
    played = []
    for split, index in tasks:
        instance = env.family.generator.generate(split, index)
        episode = env.episode_of(instance)
        rng = task_rng(env.family.generator.name, split, index, _STREAM)
        player = env.family.player(name, instance, rng, env.role)
        action = player.act()
        while action is not None and not episode.done():
            action = player.act(episode.step(action).observation)
        end(episode)
        played.append(Played(episode))
        progress(1)
    return played


def table(
    scores: Sequence[Score],
    floors: Sequence[Score],
    elsewhere: Mapping[str, Sequence[Score]] = MappingProxyType({}),
) -> list[list[str]]:
    """Return a table of success in per cent: a row per task type, a column per policy.

    Args:
        scores: Scores of the checkpoints.
        floors: Scores of scripted policies on the same tasks.
        elsewhere: Scores of some checkpoints on other tasks, by what these are; a row each.
    """
    columns = [*scores, *floors]
    kinds = sorted({kind for column in columns for kind in column.kinds})
    rows = [["task type", "n", *(column.name for column in columns)]]
    for kind in kinds:
        rates = [column.kinds.get(kind) for column in columns]
        count = max(rate.episodes for rate in rates if rate)
        rows.append([kind, str(count), *(rate.text() if rate else "-" for rate in rates)])
    total = columns[0].total.episodes if columns else 0
    if any(column.masked for column in columns):
        rows.append(["masked", "", *map(_masked, columns)])
        rows.append(["as failures", "", *(column.of_all.text() for column in columns)])
    rows.append([TOTAL, str(total), *(column.total.text() for column in columns)])
    for place, found in elsewhere.items():
        told = {each.name: each.total for each in found}
        count = max((rate.episodes for rate in told.values()), default=0)
        cells = [told[one.name].text() if one.name in told else "-" for one in columns]
        rows.append([f"transfer: {place}", str(count), *cells])
    return rows


def points(found: Interval) -> str:
    """Return a difference and its interval in points, such as ``+4.0 [-1.2, +9.1]``."""
    ends = ", ".join(f"{100 * end:+.1f}" for end in (found.low, found.high))
    return f"{100 * found.estimate:+.1f} [{ends}]"


def differences(scores: Sequence[Score], sampled: Sequence[Score]) -> list[list[str]]:
    """Return a table of what the last of several models solves more than each other one.

    Args:
        scores: Scores by the likeliest tokens, on the same tasks.
        sampled: The same with replies drawn, in the same order; none if there are none.
    """
    rows = [["", "likeliest tokens", *(["drawn as in training"] if sampled else [])]]
    last = len(scores) - 1
    for place in range(last - 1, -1, -1):
        name = f"{scores[last].name} - {scores[place].name}"
        kinds = [kind for kind in (scores, sampled) if kind]
        rows.append([name, *(points(gain(kind[last], kind[place])) for kind in kinds)])
    return rows


def _masked(column: Score) -> str:
    """Return how much is masked, and why."""
    if not column.masked:
        return "0.0"
    share = len(column.masked) / column.of_all.episodes
    told = ", ".join(f"{reason} {count}" for reason, count in column.reasons.items())
    return f"{100 * share:.1f} ({told})" if told else f"{100 * share:.1f}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as aligned text, with rules below its heading and above its total, if any."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    rule = "-" * len(lines[0])
    parts = [lines[0], rule]
    for row, line in zip(rows[1:], lines[1:], strict=True):
        parts += [rule, line] if row[0] == TOTAL else [line]
    return "\n".join(parts)
