"""What an evaluation measured, and how it is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from healthgym.core.borders import JsonDict, Settings
from healthgym.core.spending import Usage, estimate_tokens
from healthgym.policies.reports import Report, Tabling
from healthgym.policies.statistics import (
    Interval,
    bootstrap_mean_interval,
    pass_at_k,
    pass_hat_k,
    wilson_interval,
)
from healthgym.version import __version__

#: Layout of :meth:`Evaluation.to_json`.
SCHEMA = "healthgym.evaluation/1"


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """One attempt at one task.

    Attributes:
        task_id: The task.
        kind: Its type.
        index: Its index in the split.
        attempt: Which attempt at it, from 0.
        success: Success by profile; empty if the episode was interrupted.
        reward: Sum of the rewards.
        calls: Tool calls made, refused ones included.
        refused: Calls that were refused.
        submitted: Whether an answer was handed in.
        characters: Characters read and written, each counted once.
        usage: What a model's answers cost, as far as the policy knows.
        failure_modes: Kinds of failure under the deciding profile, where the family names them.
        error: Failure outside the episode that interrupted it; such an episode has no score, it
            is masked.
        cause: Kind of that failure, such as ``EndpointTimeoutError``.
    """

    task_id: str
    kind: str
    index: int
    attempt: int = 0
    success: Mapping[str, bool] = field(default_factory=dict)
    reward: float = 0.0
    calls: int = 0
    refused: int = 0
    submitted: bool = False
    characters: int = 0
    usage: Usage = field(default_factory=Usage)
    failure_modes: tuple[str, ...] = ()
    error: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: the episodes of a task type, or all of them.

    Attributes:
        label: The task type.
        tasks: Tasks attempted.
        episodes: Episodes scored.
        success: Success rate. Wilson's 95 % interval where each task was attempted once; else
            the mean over tasks, with an interval from resampling tasks.
        floor: Success rate of doing nothing on the same tasks; None if that was not run.
        other: Success rate under the profiles that do not decide.
        reward: Mean return.
        calls: Mean number of calls.
        refused: Share of calls refused.
        tokens: Mean number of tokens read and written, estimated at four characters a token.
    """

    label: str
    tasks: int
    episodes: int
    success: Interval
    floor: float | None
    other: Mapping[str, float]
    reward: float
    calls: float
    refused: float
    tokens: float


@dataclass(frozen=True, slots=True)
class Evaluation(Report):
    """A policy's score on the first tasks of a split.

    Attributes:
        env_id: The environment.
        env_kwargs: Arguments it was made with, as JSON values.
        policy: Name of the policy.
        split: The split.
        profile: The profile that decides success.
        samples_per_task: Attempts at each task.
        seed: Seed of the policy and of the resampling.
        results: Every episode, by task and attempt.
        floor: Episodes of doing nothing on the same tasks, one each; empty if not run.
        stopped: Why the run ended early, or empty.
    """

    env_id: str
    env_kwargs: Settings
    policy: str
    split: str
    profile: str
    samples_per_task: int
    seed: int
    results: tuple[EpisodeResult, ...]
    floor: tuple[EpisodeResult, ...] = ()
    stopped: str = ""

    @property
    def scored(self) -> tuple[EpisodeResult, ...]:
        """The episodes that have a score."""
        return tuple(result for result in self.results if not result.error)

    @property
    def errors(self) -> tuple[EpisodeResult, ...]:
        """The episodes that something outside them interrupted."""
        return tuple(result for result in self.results if result.error)

    @property
    def success(self) -> Interval | None:
        """Success rate and 95 % interval; None if nothing was scored."""
        return self._rate(self.scored) if self.scored else None

    @property
    def masked(self) -> float:
        """Share of the episodes that have no score; 0 if none was played."""
        return len(self.errors) / len(self.results) if self.results else 0.0

    @property
    def reasons(self) -> dict[str, int]:
        """How many episodes are masked for each kind of failure, the commonest first."""
        return dict(Counter(result.cause for result in self.errors).most_common())

    @property
    def success_of_all(self) -> Interval | None:
        """Success rate and 95 % interval with masked episodes counted as failures.

        What an agent might gain by having its failures masked shows in the difference to
        :attr:`success`. None if nothing was played.
        """
        return self._rate(self.results) if self.results else None

    @property
    def usage(self) -> Usage:
        """What the models' answers cost, interrupted episodes included."""
        return sum((result.usage for result in self.results), Usage())

    def successes(self, profile: str | None = None) -> dict[str, list[float]]:
        """Return 1 or 0 for each scored attempt, by task id; for paired comparisons."""
        return _by_task(self.scored, profile or self.profile)

    def pass_at(self) -> dict[int, tuple[float, float]]:
        """Return pass@k and pass^k by k, averaged over the tasks with that many attempts."""
        table = {}
        attempts = list(self.successes().values())
        for k in range(1, self.samples_per_task + 1):
            enough = [(len(hits), int(sum(hits))) for hits in attempts if len(hits) >= k]
            if enough:
                at = sum(pass_at_k(n, c, k) for n, c in enough) / len(enough)
                hat = sum(pass_hat_k(n, c, k) for n, c in enough) / len(enough)
                table[k] = (at, hat)
        return table

    def failure_modes(self) -> dict[str, float]:
        """Return each kind of failure with its share of the failed episodes, the commonest first.

        An episode may have failed in several ways; so the shares need not add up to one.
        """
        failed = [result for result in self.scored if not result.success[self.profile]]
        counts = Counter(mode for result in failed for mode in result.failure_modes)
        return {mode: count / len(failed) for mode, count in counts.most_common()}

    def rows(self) -> tuple[Row, ...]:
        """Return a row for each task type, then one for all; none if nothing was scored."""
        kinds = sorted({result.kind for result in self.scored}, key=_in_number_order)
        rows = [self._row(kind, kind) for kind in kinds]
        return (*rows, self._row("all", None)) if rows else ()

    def _row(self, label: str, kind: str | None) -> Row:
        chosen = [r for r in self.scored if kind in (None, r.kind)]
        tasks = {result.task_id for result in chosen}
        idle = [r for r in self.floor if r.task_id in tasks and not r.error]
        others = sorted({name for r in chosen for name in r.success} - {self.profile})
        calls = sum(result.calls for result in chosen)
        return Row(
            label,
            len(tasks),
            len(chosen),
            self._rate(chosen),
            _mean([float(r.success[self.profile]) for r in idle]) if idle else None,
            {name: self._rate(chosen, name).estimate for name in others},
            _mean([result.reward for result in chosen]),
            calls / len(chosen),
            sum(result.refused for result in chosen) / max(calls, 1),
            _mean([float(estimate_tokens(result.characters)) for result in chosen]),
        )

    def _rate(self, results: Sequence[EpisodeResult], profile: str | None = None) -> Interval:
        hits = _by_task(results, profile or self.profile)
        total, count = sum(map(sum, hits.values())), sum(map(len, hits.values()))
        # Where all attempts ended alike there is nothing to resample; the tasks are still few.
        if self.samples_per_task == 1 or total in (0, count):
            return wilson_interval(len(hits) if total == count else int(total), len(hits))
        return bootstrap_mean_interval(hits, seed=self.seed)

    def to_dict(self, *, episodes: bool = True) -> JsonDict:
        """Return the evaluation as JSON values.

        Args:
            episodes: Whether every episode is listed beside the summary.
        """
        usage, modes, every = self.usage, self.failure_modes(), self.success_of_all
        return {
            "schema": SCHEMA,
            "healthgym": __version__,
            "env_id": self.env_id,
            "env_kwargs": dict(self.env_kwargs),
            "policy": self.policy,
            "split": self.split,
            "profile": self.profile,
            "samples_per_task": self.samples_per_task,
            "seed": self.seed,
            "stopped": self.stopped,
            "errors": len(self.errors),
            "masked": {"rate": self.masked, "reasons": self.reasons},
            "success_of_all": asdict(every) if every else None,
            "usage": asdict(usage),
            "rows": [asdict(row) for row in self.rows()],
            "pass": [
                {"k": k, "pass_at_k": at, "pass_hat_k": hat}
                for k, (at, hat) in self.pass_at().items()
            ],
            **({"failure_modes": modes} if modes else {}),
            "results": [_episode(result) for result in self.results if episodes],
            "floor": [_episode(result) for result in self.floor if episodes],
        }

    def to_json(self, *, episodes: bool = True) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(episodes=episodes), indent=1) + "\n"

    def told(self, table: Tabling) -> str:
        """Return the tables and notes."""
        title = f"{self.env_id}: {self.policy} on {self.split}, profile {self.profile}"
        parts = [title]
        rows = self.rows()
        if rows:
            others = list(rows[-1].other)
            head = ["task type", "tasks", "episodes", "success", "95% interval", "do nothing"]
            head += [f"({name})" for name in others] + ["return", "calls", "refused", "tokens"]
            parts.append(table(head, [_cells(row, others) for row in rows]))
        modes = self.failure_modes()
        if modes:
            shares = [[mode, f"{share:.1%}"] for mode, share in modes.items()]
            parts.append(table(["failure mode", "of failed episodes"], shares))
        parts.append("\n".join(self._notes()))
        return "\n\n".join(parts) + "\n"

    def _notes(self) -> list[str]:
        notes = []
        if self.samples_per_task > 1:
            found = [f"k={k}: {at:.1%} / {hat:.1%}" for k, (at, hat) in self.pass_at().items()]
            notes.append(f"pass@k / pass^k: {', '.join(found)}; intervals by resampling tasks.")
        notes.append("Tokens are read and written once, estimated at four characters a token.")
        usage = self.usage
        if usage.requests:
            counted = f" ({usage.estimated} requests estimated)" if usage.estimated else ""
            # Without prices nobody knows what it cost, which is not nothing.
            paid = f", {usage.usd:.4f} USD" if usage.usd else ""
            notes.append(
                f"Endpoint: {usage.requests:,} requests, {usage.prompt_tokens:,} tokens read, "
                f"{usage.completion_tokens:,} written{counted}{paid}."
            )
        every = self.success_of_all
        if self.errors and every:
            causes = ", ".join(f"{cause} {count}" for cause, count in self.reasons.items())
            notes.append(
                f"{len(self.errors)} of {len(self.results)} episodes masked, {self.masked:.1%} "
                f"({causes}); the first: {self.errors[0].error}"
            )
            notes.append(f"Masked ones counted as failures, success is {_told(every)}.")
        if self.stopped:
            notes.append(f"Stopped early: {self.stopped}")
        return notes


def _in_number_order(kind: str) -> list[tuple[str, int]]:
    """Return a sort key that puts ``t10`` after ``t9``."""
    parts = [*re.split(r"(\d+)", kind), "0"]
    return [(text, int(number)) for text, number in zip(parts[::2], parts[1::2], strict=True)]


def _episode(result: EpisodeResult) -> JsonDict:
    data = asdict(result)
    if not result.usage.requests:
        del data["usage"]
    for name in ("failure_modes", "cause"):
        if not data[name]:
            del data[name]
    return data


def _by_task(results: Sequence[EpisodeResult], profile: str) -> dict[str, list[float]]:
    hits: dict[str, list[float]] = {}
    for result in results:
        hits.setdefault(result.task_id, []).append(float(result.success.get(profile, False)))
    return hits


def _told(rate: Interval) -> str:
    return f"{rate.estimate:.1%} [{rate.low:.1%} – {rate.high:.1%}]"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _cells(row: Row, others: Sequence[str]) -> list[str]:
    return [
        row.label,
        str(row.tasks),
        str(row.episodes),
        f"{row.success.estimate:.1%}",
        f"{row.success.low:.1%} – {row.success.high:.1%}",
        "" if row.floor is None else f"{row.floor:.1%}",
        *(f"{row.other[name]:.1%}" for name in others),
        f"{row.reward:.3f}",
        f"{row.calls:.1f}",
        f"{row.refused:.1%}",
        f"{row.tokens:,.0f}",
    ]
