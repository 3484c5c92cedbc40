"""What is asked, and how often: what the user names, or what each published benchmark asks.

The counts of task types, and of branches where they are known (v1 throughout; of v2 the numbers of
tasks that act and that do not), are the published ones. How v2's tasks divide within those two
groups was never published; there the division is ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources

from healthgym.core.family import CEILING
from healthgym.core.proofs import Allowance
from healthgym.envs.fhir_record.generator import Mix
from healthgym.envs.fhir_record.kinds import KINDS, TaskKind
from healthgym.errors import ConfigurationError

_Counts = Mapping[str, Mapping[str, int]]


def choose_mix(
    benchmark: str | None,
    task_types: Sequence[str] | Mapping[str, float] | None,
    kinds: Mapping[str, TaskKind] = KINDS,
) -> Mix:
    """Return what is drawn, and how often.

    Args:
        benchmark: ``"v1"``, ``"v2"``, ``"v3"`` or None.
        task_types: Task types, with weights if a mapping; if None those of the benchmark, as often
            as it asks them, or all published ones alike.
        kinds: The task types that can be named.

    Raises:
        ConfigurationError: If there is no such benchmark or task type.
    """
    if task_types is None:
        return published_mix(benchmark) if benchmark else Mix(dict.fromkeys(KINDS, 1.0))
    if isinstance(task_types, str):
        task_types = [task_types]
    weights = task_types if isinstance(task_types, Mapping) else dict.fromkeys(task_types, 1.0)
    unknown = weights.keys() - kinds.keys()
    if unknown or not weights:
        named = ", ".join(sorted(unknown)) or "nothing"
        raise ConfigurationError(
            f"task_types names {named}; the task types are {', '.join(kinds)}."
        )
    return Mix(dict(weights))


def published_mix(benchmark: str) -> Mix:
    """Return the mix of a benchmark: ``"v1"`` (300 tasks), ``"v2"`` (300) or ``"v3"`` (508).

    The test split holds exactly that many tasks, in the order of types and branches. The other
    splits are unlimited and balanced: types alike, and branches that act and that do not.

    Raises:
        ConfigurationError: If there is no such benchmark.
    """
    counts = _published_counts(benchmark)
    fixed = tuple(
        (kind, branch)
        for kind, branches in counts.items()
        for branch, count in branches.items()
        for _ in range(count)
    )
    return Mix(
        kinds=dict.fromkeys(counts, 1.0),
        fixed=fixed,
    )


def published_floors(benchmark: str) -> Mapping[str, Allowance]:
    """Return what a constant solves of a benchmark's test split, by task type, and why.

    On some branches the chart has nothing to read, and the answer is the same each time. How often
    they are asked is as published, so what such an answer solves is the floor of that benchmark.
    """
    floors = {}
    for kind, branches in _published_counts(benchmark).items():
        total = sum(branches.values())
        same = sum(
            count
            for branch, count in branches.items()
            if branch in _ALIKE and not KINDS[kind].branch(branch).acts
        )
        if same > CEILING * total:
            reason = f"Of the {total} published tasks {same} have nothing to read, and one answer."
            floors[kind] = Allowance(same / total, reason)
    return floors


#: Branches that have the same answer on all charts, where they call for no change.
_ALIKE = ("absent", "none", "no_opioid", "not_found_birth_date", "not_found_name")


def _published_counts(benchmark: str) -> _Counts:
    """Return how many tasks of each type and branch a benchmark's test split has."""
    text = resources.files(__package__).joinpath("data/mixes.json").read_text(encoding="utf-8")
    data: Mapping[str, _Counts] = json.loads(text)
    if benchmark not in data:
        raise ConfigurationError(f"benchmark {benchmark!r} is not one of {', '.join(data)}.")
    # The audit kept both benchmarks, and of five types only as many tasks as it could balance.
    return {**data["v1"], **data["v2"], **data["v3"]} if benchmark == "v3" else data[benchmark]
