"""Suites: several environments scored together as their source publishes them.

The source of the managed-care suite publishes pass@1, pass@3 and pass^3 with an interval of its own
kind, over 75 tasks of which 25 prior authorizations and 25 reviews share their cases. Its numbers
are told to the letter, and beside them an interval that takes cases, not tasks, for independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from random import Random  # noqa: TID251 - the published interval is drawn from this generator
from types import MappingProxyType

from healthgym.core.borders import JsonDict, Settings
from healthgym.errors import ConfigurationError
from healthgym.policies.evaluation import PolicyFactory, evaluate
from healthgym.policies.reports import Report, Tabling
from healthgym.policies.results import EpisodeResult, Evaluation
from healthgym.policies.statistics import Interval, clustered_interval

_RESAMPLES = 1000
#: Layout of :meth:`SuiteResult.to_json`.
SCHEMA = "healthgym.suite/1"


@dataclass(frozen=True, slots=True)
class Domain:
    """One environment of a suite.

    Attributes:
        name: What the source calls it.
        env_id: The environment.
        tasks: How many of its test tasks are of the suite, from the first.
        clusters: Name of what its tasks share with those of the same index in other domains of
            that name; its own name if empty.
    """

    name: str
    env_id: str
    tasks: int
    clusters: str = ""

    def cluster(self, index: int) -> str:
        """Return what the task of an index is drawn together with."""
        return f"{self.clusters or self.name}/{index}"


@dataclass(frozen=True, slots=True)
class Suite:
    """Environments that are scored together.

    Attributes:
        name: Its name on the command line.
        title: What it is.
        domains: Its environments.
    """

    name: str
    title: str
    domains: tuple[Domain, ...]


#: The suites by name.
SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        "managed-care": Suite(
            "managed-care",
            "prior authorization, utilization management and care management, 25 tasks each",
            (
                Domain("PA", "HealthAgent/PriorAuthorizationCanonical-v1", 25, "case"),
                Domain("UM", "HealthAgent/UtilizationManagementCanonical-v1", 25, "case"),
                Domain("CM", "HealthAgent/CareManagementCanonical-v1", 25),
            ),
        )
    }
)


def suite_named(name: str) -> Suite:
    """Return a suite.

    Raises:
        ConfigurationError: If there is none of that name.
    """
    if name not in SUITES:
        raise ConfigurationError(f"There is no suite {name!r}; there are: {', '.join(SUITES)}.")
    return SUITES[name]


@dataclass(frozen=True, slots=True)
class Score:
    """What a suite publishes of some tasks.

    Attributes:
        label: Of which: a domain, or all.
        tasks: Number of tasks.
        pass_1: Mean over tasks of the share of attempts that succeeded, with the published
            interval.
        pass_any: Share of tasks of which any attempt succeeded.
        pass_all: Share of tasks of which every attempt did, with as many attempts as were asked
            for.
        clustered: The same mean, with an interval from resampling cases.
    """

    label: str
    tasks: int
    pass_1: Interval
    pass_any: float
    pass_all: float
    clustered: Interval


@dataclass(frozen=True, slots=True)
class SuiteResult(Report):
    """A policy's score on a suite.

    Attributes:
        suite: The suite.
        policy: Name of the policy.
        attempts: Attempts at each task.
        evaluations: What was measured of each domain, by its name.
    """

    suite: Suite
    policy: str
    attempts: int
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)

    def scores(self, profile: str = "strict") -> tuple[Score, ...]:
        """Return the score of each domain, then of all tasks.

        Args:
            profile: Under which profile an attempt counts as a success.
        """
        hits: dict[str, dict[str, list[float]]] = {}
        clusters: dict[str, str] = {}
        for domain in self.suite.domains:
            played = self.evaluations[domain.name]
            # Two domains may be two settings of one environment, whose tasks have the same ids.
            found = {f"{domain.name} {t}": each for t, each in played.successes(profile).items()}
            for result in played.results:
                clusters[f"{domain.name} {result.task_id}"] = domain.cluster(result.index)
            if found:
                hits[domain.name] = found
        every = {task: each for found in hits.values() for task, each in found.items()}
        rows = [self._score(name, found, clusters) for name, found in hits.items()]
        return (*rows, self._score("all", every, clusters)) if every else ()

    def _score(
        self, label: str, hits: Mapping[str, Sequence[float]], clusters: Mapping[str, str]
    ) -> Score:
        return Score(
            label,
            len(hits),
            published_interval(hits),
            sum(any(each) for each in hits.values()) / len(hits),
            sum(len(each) == self.attempts and all(each) for each in hits.values()) / len(hits),
            clustered_interval(hits, clusters),
        )

    def to_dict(self) -> JsonDict:
        """Return the result as JSON values."""
        return {
            "schema": SCHEMA,
            "suite": self.suite.name,
            "policy": self.policy,
            "attempts": self.attempts,
            "scores": {
                profile: [asdict(score) for score in self.scores(profile)]
                for profile in ("strict", "paper")
            },
            "domains": {
                name: each.to_dict(episodes=True) for name, each in self.evaluations.items()
            },
        }

    def told(self, table: Tabling) -> str:
        """Return the tables and notes."""
        k = self.attempts
        head = ["domain", "tasks", "pass@1", "published interval", "by case"]
        head += [f"pass@{k}", f"pass^{k}"] if k > 1 else []
        parts = [f"{self.suite.name}: {self.policy}, {self.suite.title}"]
        for profile in ("strict", "paper"):
            rows = [_cells(score, k) for score in self.scores(profile)]
            parts.append(f"profile {profile}\n{table(head, rows)}")
        lost = sum(len(each.errors) for each in self.evaluations.values())
        if lost:
            every = [result for each in self.evaluations.values() for result in each.results]
            solved = sum(result.success.get("strict", False) for result in every)
            parts.append(
                f"{lost} of {len(every)} episodes masked, {lost / len(every):.1%}; counted as "
                f"failures, {solved / len(every):.1%} of all attempts succeed under strict."
            )
        parts += [f"Stopped early: {e.stopped}" for e in self.evaluations.values() if e.stopped]
        return "\n\n".join(parts) + "\n"


def _cells(score: Score, attempts: int) -> list[str]:
    cells = [
        score.label,
        str(score.tasks),
        f"{score.pass_1.estimate:.1%}",
        f"{score.pass_1.low:.1%} – {score.pass_1.high:.1%}",
        f"{score.clustered.low:.1%} – {score.clustered.high:.1%}",
    ]
    return [*cells, *([f"{score.pass_any:.1%}", f"{score.pass_all:.1%}"] if attempts > 1 else [])]


def published_interval(values: Mapping[str, Sequence[float]]) -> Interval:
    """Return the mean over tasks with the source's interval.

    A percentile bootstrap over tasks, 1,000 resamples from Python's generator at seed 0, of whose
    sorted means the 26th and the 975th are the ends.

    Args:
        values: Results by task id, at least one task and one result for each.

    Raises:
        ConfigurationError: If there is none.
    """
    if not values or not all(values.values()):
        raise ConfigurationError("An interval needs at least one task, each with a result.")
    means = [sum(values[task]) / len(values[task]) for task in sorted(values)]
    rng, n = Random(0), len(means)
    drawn = sorted(sum(means[rng.randrange(n)] for _ in range(n)) / n for _ in range(_RESAMPLES))
    low, high = int(0.025 * _RESAMPLES), int(0.975 * _RESAMPLES) - 1
    return Interval(drawn[low], drawn[high], sum(means) / n)


def run_suite(
    suite: Suite | str,
    policy: str | PolicyFactory,
    *,
    attempts: int = 1,
    seed: int = 0,
    workers: int = 1,
    env_kwargs: Settings | None = None,
    tasks: int | None = None,
    on_result: Callable[[EpisodeResult], None] | None = None,
) -> SuiteResult:
    """Score a policy on every task of a suite.

    Args:
        suite: The suite, or its name.
        policy: Name of a scripted policy, or a function that makes one.
        attempts: Attempts at each task.
        seed: Seed of a policy given by name.
        workers: Tasks played at the same time.
        env_kwargs: Further arguments of every environment, such as ``surface``.
        tasks: Only so many tasks of each domain, from the first.
        on_result: Called with each result as it comes in.

    Raises:
        ConfigurationError: If there is no such suite, or an argument is not accepted.
    """
    chosen = suite_named(suite) if isinstance(suite, str) else suite
    found = {}
    for domain in chosen.domains:
        found[domain.name] = evaluate(
            domain.env_id,
            policy,
            episodes=domain.tasks if tasks is None else min(tasks, domain.tasks),
            seed=seed,
            env_kwargs=env_kwargs,
            samples_per_task=attempts,
            workers=workers,
            floor=False,
            on_result=on_result,
        )
    name = next(iter(found.values())).policy
    return SuiteResult(chosen, name, attempts, found)
