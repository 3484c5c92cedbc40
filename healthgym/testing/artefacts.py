"""Nothing about how a task looks tells its answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from healthgym.core.env import HealthEnv
from healthgym.core.proofs import Allowance, Item
from healthgym.core.seeding import Split, stable_hash
from healthgym.core.task import AnyInstance
from healthgym.core.tool import ToolKind
from healthgym.rewards.metrics import auroc
from healthgym.testing.play import keeping_env, require
from healthgym.testing.scripts import oracle_script, sampled, tools_written

Floats = NDArray[np.float64]
#: AUROC that nothing may exceed for sure: what is left to be told by chance and by shape.
TOLD = 0.55
#: Fewest tasks with and without a positive label before anything is said of an item, and fewest
#: labels of either class.
_FEWEST = 12
#: Most labels that one task adds to an item: a pool of hundreds is one draw of one generator.
_EACH = 24
#: Columns of the hashed features, and resamples of the tasks for an interval.
_COLUMNS, _RESAMPLES = 1024, 100
#: Labels after which an item that was always answered alike is taken for a constant.
_CONSTANT = 24
_RIDGE = 3.0
_WORD = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|[^\sA-Za-z\d]")
_CLOCK = re.compile(r"\b\d{1,2}:(\d\d)(?::(\d\d))?\b")
_NUMBER = re.compile(r"\d+(?:\.(\d+))?")
_RUNS = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class Telling:
    """How well an item can be told.

    Attributes:
        auroc: AUROC on test labels of a classifier fitted to train labels.
        error: Its standard error, from resampling tasks.
        labels: Test labels.
        by: What it was told by: ``told`` (the words before any tool is used) or ``shown`` (order,
            ids, lengths, formatting and times of tool results), and the classifier.
    """

    auroc: float
    error: float
    labels: int
    by: str

    def low(self, comparisons: int = 1) -> float:
        """Return the lower end of its 95 % interval, as one of so many that are looked at.

        Of forty intervals that are each right in 95 % of cases one is wrong as a rule; so each of
        them is made as wide as it takes that all of them are right together (Bonferroni).
        """
        return self.auroc - NormalDist().inv_cdf(1 - 0.025 / comparisons) * self.error


@dataclass(slots=True)
class _Examples:
    """Labels of an item, each with its features by their names, and the task it is of."""

    labels: list[bool] = field(default_factory=list)
    told: list[set[str]] = field(default_factory=list)
    shown: list[set[str]] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)

    def settled(self, labels: int) -> bool:
        """Return whether there are so many labels, or some that are always the same."""
        constant = len(self.labels) >= _CONSTANT and len(set(self.labels)) == 1
        return constant or len(self.labels) >= labels

    @property
    def enough(self) -> bool:
        """Return whether there are some of either class."""
        return min(sum(self.labels), len(self.labels) - sum(self.labels)) >= _FEWEST


def artefact_rates(env_id: str, labels: int = 1500, tasks: int = 1500) -> dict[str, list[Telling]]:
    """Classify what a task asks by how it looks, and measure how well that goes.

    Two classifiers are fitted to labels of train tasks and tried on test tasks: one that weighs all
    features, and one that knows the best single one. Features of a kind of task that is not told
    by its instruction, such as which tools the oracle writes with, are asked of each kind apart.

    Args:
        env_id: The environment.
        labels: Labels of each item and side to collect.
        tasks: Most tasks of each side that are drawn for it.

    Returns:
        What was measured, by item; items of which there are too few labels are left out.
    """
    env = keeping_env(env_id)
    train = _collect(env, (Split.TRAIN,), labels, tasks)
    test = _collect(env, (Split.TEST, Split.VALIDATION), labels, tasks)
    return {
        name: list(_tellings(train[name], test[name]))
        for name in train
        if name in test and train[name].enough and test[name].enough
    }


def check_artefacts(env_id: str, labels: int = 1500, tasks: int = 1500) -> dict[str, list[Telling]]:
    """Require that no item is told for sure with an AUROC above 0.55, but for those declared.

    Sure is what lies above in an interval that is corrected for the number of items looked at.

    Args:
        env_id: The environment.
        labels: Labels of each item and side to collect.
        tasks: Most tasks of each side that are drawn for it.

    Returns:
        What :func:`artefact_rates` measured.
    """
    rates = artefact_rates(env_id, labels, tasks)
    declared = keeping_env(env_id).family.proofs.artefacts
    looks = sum(map(len, rates.values()))
    faults = [
        f"{name} is told by {found.by} with AUROC {found.auroc:.2f} (at least "
        f"{found.low(looks):.2f}, {found.labels} labels)"
        for name, tellings in rates.items()
        for found in tellings
        if found.low(looks) > _most(name, declared)
    ]
    require(not faults, f"{env_id}: {'; '.join(faults)}.")
    return rates


def _most(name: str, declared: Mapping[str, Allowance]) -> float:
    return declared[name].most if name in declared else TOLD


# -- collecting --------------------------------------------------------------------------------


def _collect(
    env: HealthEnv, splits: Sequence[Split], labels: int, tasks: int
) -> dict[str, _Examples]:
    """Return labels with their features, by item, until there are enough."""
    found: dict[str, _Examples] = {}
    drawn = 0
    for split in splits:
        for index in sampled(env, split, tasks - drawn):
            instance = env.family.generator.generate(split, index)
            items = list(env.family.proofs.items(instance)) or _writes(env, instance)
            texts = _looked(env, instance, split, index)
            for name, chosen in _by_name(items, instance).items():
                _add(found.setdefault(name, _Examples()), chosen, instance, texts, drawn)
            drawn += 1
            if all(one.settled(labels) for one in found.values()):
                return found
    return found


def _writes(env: HealthEnv, instance: AnyInstance) -> list[Item]:
    """Return which tools the oracle writes with, asked of each kind of task apart."""
    catalog = env.family.roles[env.role].catalog
    used = tools_written(catalog, oracle_script(env, instance))
    kind = instance.task.kind
    tools = [spec.name for spec in catalog.specs if spec.kind is ToolKind.WRITE]
    return [Item(f"{kind}: {name}", name in used) for name in tools]


def _looked(env: HealthEnv, instance: AnyInstance, split: Split, index: int) -> list[str]:
    """Return what the calls answer that show the items."""
    looks = env.family.proofs.looks(instance)
    if not looks:
        return []
    env.reset(options={"split": str(split), "index": index})
    return [env.step(action)[0] for action in looks]


def _by_name(items: Iterable[Item], instance: AnyInstance) -> dict[str, list[tuple[int, Item]]]:
    """Return a task's items by name with their places, few of each and both classes alike."""
    named: dict[str, list[tuple[int, Item]]] = {}
    for place, item in enumerate(items):
        named.setdefault(item.name, []).append((place, item))
    rng = np.random.default_rng(stable_hash(instance.task.task_id))
    return {name: _few(held, rng) for name, held in named.items()}


def _few(held: list[tuple[int, Item]], rng: np.random.Generator) -> list[tuple[int, Item]]:
    if len(held) <= _EACH:
        return held
    kept: list[tuple[int, Item]] = []
    for label in (True, False):
        alike = [one for one in held if one[1].label is label]
        kept += [alike[int(n)] for n in rng.permutation(len(alike))[: _EACH // 2]]
    return sorted(kept, key=lambda one: one[0])


def _add(
    examples: _Examples,
    chosen: Sequence[tuple[int, Item]],
    instance: AnyInstance,
    texts: Sequence[str],
    task: int,
) -> None:
    words = {f"task {word}" for word in _words(instance.task.instruction)}
    ranks = {key: rank for rank, key in enumerate(sorted(item.key for _, item in chosen))}
    for place, item in chosen:
        examples.labels.append(item.label)
        examples.tasks.append(task)
        own = {f"said {word}" for word in (*_words(item.said), *_forms(item.said))}
        examples.told.append({*words, *own, f"place {place}", f"third {3 * place // len(chosen)}"})
        seen = set(_shown(item.key, texts)) if item.key else set()
        if seen:
            seen |= {f"rank {8 * ranks[item.key] // len(chosen)}"}
        examples.shown.append(seen)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, and each two that follow each other."""
    words = [word.lower() for word in _WORD.findall(text)]
    yield from words
    yield from (f"{one} {other}" for one, other in pairwise(words))


def _forms(text: str) -> Iterator[str]:
    """Yield what can be said of a text without reading it."""
    yield f"length {round(4 * math.log2(len(text) + 1))}"
    shape = re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "9", text)))
    yield from (f"shape {shape[at : at + 3]}" for at in range(len(shape) - 2))
    short = _RUNS.sub(r"\1", shape)
    yield from (f"form {short[at : at + 4]}" for at in range(len(short) - 3))
    for match in _CLOCK.finditer(text):
        yield f"minute {match[1]}"
        yield f"second {match[2]}"
    for match in _NUMBER.finditer(text):
        yield f"digit {match[0][-1]}"
        yield f"leading {match[0][:2]}"
        yield f"decimals {len(match[1] or '')}"
    yield f"spaces {text.count('  ')} {text != text.strip()}"


def _shown(key: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield how results show an item: where, how long, in which shape, at which times."""
    for number, text in enumerate(texts):
        lines = text.splitlines()
        for at, line in enumerate(lines):
            if key in line:
                yield f"result {number}"
                yield f"line {at}"
                yield f"tenth {10 * at // len(lines)}"
                yield from _forms(line)
                return


# -- classifying -------------------------------------------------------------------------------


def _tellings(train: _Examples, test: _Examples) -> Iterator[Telling]:
    """Yield how well test labels are told by what was learnt from train labels."""
    labels = np.array(test.labels)
    tasks = np.array(test.tasks)
    known = np.array(train.labels, dtype=np.float64)
    for by in ("told", "shown"):
        sides: tuple[list[set[str]], list[set[str]]] = getattr(train, by), getattr(test, by)
        if not any(sides[0]) or not any(sides[1]):
            continue
        seen, unseen = (_hashed(side) for side in sides)
        for name, scores in (
            ("all features", _ridge(seen, known, unseen)),
            ("one feature", _stump(seen, known, unseen)),
        ):
            error = _error(labels, scores, tasks)
            yield Telling(auroc(labels, scores), error, len(labels), f"what is {by}, {name}")


def _hashed(rows: Sequence[set[str]]) -> Floats:
    """Return features as columns, shape ``(rows, _COLUMNS)``; two may share one."""
    matrix = np.zeros((len(rows), _COLUMNS))
    columns: dict[str, int] = {}
    for number, row in enumerate(rows):
        for name in row:
            if name not in columns:
                columns[name] = stable_hash(name) % _COLUMNS
            matrix[number, columns[name]] = 1.0
    return matrix


def _ridge(seen: Floats, known: Floats, unseen: Floats) -> Floats:
    """Return scores of a linear classifier, fitted with a ridge penalty.

    Args:
        seen: Features of train labels, shape ``(train, columns)``.
        known: Those labels, 0 or 1.
        unseen: Features of test labels, shape ``(test, columns)``.
    """
    mean, spread = seen.mean(axis=0), seen.std(axis=0)
    used = spread > 0
    scale = np.sqrt(used.sum() or 1)
    left = (seen[:, used] - mean[used]) / spread[used] / scale
    right = (unseen[:, used] - mean[used]) / spread[used] / scale
    rows, columns = left.shape
    centred = known - known.mean()
    # The same weights either way: the smaller matrix is solved.
    if columns < rows:
        weights = np.linalg.solve(left.T @ left + _RIDGE * np.eye(columns), left.T @ centred)
    else:
        weights = left.T @ np.linalg.solve(left @ left.T + _RIDGE * np.eye(rows), centred)
    return np.asarray(right @ weights)


def _stump(seen: Floats, known: Floats, unseen: Floats) -> Floats:
    """Return scores by the single feature that goes with the train labels most closely."""
    centred = known - known.mean()
    spread = seen.std(axis=0)
    together = (seen - seen.mean(axis=0)).T @ centred
    strength = np.divide(together, spread, out=np.zeros_like(together), where=spread > 0)
    best = int(np.argmax(np.abs(strength)))
    return np.asarray(np.sign(strength[best]) * unseen[:, best])


def _error(labels: NDArray[np.bool_], scores: Floats, tasks: NDArray[np.int64]) -> float:
    """Return the standard error of an AUROC, from resampling whole tasks."""
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(tasks == task) for task in np.unique(tasks)]
    found: list[float] = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([rows[int(n)] for n in rng.integers(len(rows), size=len(rows))])
        if 0 < labels[chosen].sum() < len(chosen):
            found.append(auroc(labels[chosen], scores[chosen]))
    return float(np.std(found))
