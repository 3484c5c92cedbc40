"""Entries of the leaderboard: made of a result and its record, and checked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from healthgym.core.borders import JsonDict
from healthgym.core.spending import Usage
from healthgym.errors import ConfigurationError, TrajectoryError
from healthgym.policies.leaderboard import (
    Entry,
    Passed,
    Rate,
    Recorded,
    Spent,
    rates,
    rerun_command,
)
from healthgym.policies.results import EpisodeResult, Evaluation
from healthgym.policies.statistics import Interval
from healthgym.testing.cards.machine import machine
from healthgym.testing.vouching import (
    Attempt,
    Claimed,
    Found,
    is_scripted,
    missing,
    named,
    same_number,
    vouch,
)

#: Largest result that is read, in bytes.
_MOST_BYTES = 64 << 20
#: What of a model's settings an entry tells, as `eval --record` marks episodes with them.
_TOLD = ("api", "calling", "temperature", "max_tokens", "max_context", "showing")


class _Read(BaseModel):
    """What is read of a result; its other fields are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Episode(_Read):
    index: int
    attempt: int
    success: dict[str, bool]
    reward: float
    error: str


class _Row(_Read):
    label: str
    success: Rate


class Result(_Read):
    """A result of ``healthgym eval --json``, as far as an entry is made of it."""

    layout: Literal["healthgym.evaluation/1"] = Field(alias="schema")
    healthgym: str
    env_id: str
    env_kwargs: JsonDict
    policy: str
    split: str
    profile: str
    samples_per_task: int = Field(ge=1)
    seed: int
    stopped: str
    success_of_all: Rate
    usage: Usage
    rows: list[_Row]
    passed: list[Passed] = Field(alias="pass")
    results: list[_Episode]


@dataclass(frozen=True, slots=True)
class Words:
    """What an entry says beside what was measured.

    Attributes:
        name: Name of a model in tables; that of the result if empty.
        version: Its version or revision.
        by: Who enters it.
        where: Where the record can be had.
        date: When it was played, ISO 8601; the day on which the record was last written if empty.
    """

    name: str = ""
    version: str = ""
    by: str = ""
    where: str = ""
    date: str = ""


def read_result(path: Path) -> Result:
    """Return a result.

    Raises:
        ConfigurationError: If it is none that an entry can be made of.
    """
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise ConfigurationError(f"There is no result {path}.")
    try:
        result = Result.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ConfigurationError(
            f"{path} is not what `healthgym eval --json` writes: {where}: {first['msg']}."
        ) from None
    if result.split != "test":
        raise ConfigurationError(f"The board is of the test split, not of {result.split[:40]}.")
    if result.stopped:
        raise ConfigurationError("The evaluation stopped early: let the same command go on.")
    if not result.results:
        raise ConfigurationError("The result lists no episodes: evaluate without --summary.")
    return result


def entered(
    result: Result,
    record: Path,
    words: Words | None = None,
    on_episode: Callable[[], None] = lambda: None,
) -> Entry:
    """Return the entry of a result whose record gives its numbers.

    Args:
        result: The result.
        record: Its record, with no other episode in it.
        words: What else the entry says.
        on_episode: Called after each episode that was played again.

    Raises:
        ConfigurationError: If no record could prove it.
        TrajectoryError: If this record does not.
    """
    words = words or Words()
    if not record.is_file():
        raise ConfigurationError(f"There is no record {record}, and no entry without one.")
    masked, tasks = _masked(result), len({each.index for each in result.results})
    claimed = Claimed(
        result.env_id, result.env_kwargs, result.profile, named(result.policy), tasks,
        result.samples_per_task, result.healthgym,
    )  # fmt: skip
    found = vouch(claimed, record, on_episode)
    missing(claimed, found, masked)
    _require_same(result, found)
    scripted = is_scripted(found.of)
    if scripted and words.name:
        raise ConfigurationError("A scripted policy has its own name: leave out --name.")
    return _entry(result, claimed, found, words, _day(record, words.date))


def _masked(result: Result) -> frozenset[Attempt]:
    """Return the attempts without a score.

    Raises:
        ConfigurationError: If the result lists an attempt twice.
    """
    counts = Counter((each.index, each.attempt) for each in result.results)
    (index, attempt), most = counts.most_common(1)[0]
    if most > 1:
        raise ConfigurationError(f"The result lists task {index}, attempt {attempt}, twice.")
    return frozenset((each.index, each.attempt) for each in result.results if each.error)


def _require_same(result: Result, found: Found) -> None:
    """Return if a result tells what its record comes to.

    Raises:
        TrajectoryError: If it does not; it tells the first difference.
    """
    for each in result.results:
        attempt = (each.index, each.attempt)
        if each.error:
            continue
        if dict(found.success[attempt]) != each.success:
            raise TrajectoryError(
                f"Task {each.index}: the result says {each.success}, its record "
                f"{dict(found.success[attempt])}."
            )
        if not same_number(each.reward, found.rewards[attempt]):
            raise TrajectoryError(
                f"Task {each.index}: the result says a return of {each.reward}, its record "
                f"{found.rewards[attempt]}."
            )
    evaluation = _evaluation(result, found)
    whole = next((row.success for row in result.rows if row.label == "all"), None)
    told = [*_numbers(result.success_of_all), *_numbers(whole), *map(_passed, result.passed)]
    passes = [(float(k), *both) for k, both in evaluation.pass_at().items()]
    come_to = [*_numbers(evaluation.success_of_all), *_numbers(evaluation.success), *passes]
    if len(told) != len(come_to) or not all(map(_same_numbers, told, come_to)):
        raise TrajectoryError(
            f"The result says {result.success_of_all.estimate:.1%} success with intervals and "
            f"pass@k, and its episodes do not come to the same."
        )


def _numbers(rate: Rate | Interval | None) -> list[tuple[float, ...]]:
    return [] if rate is None else [(rate.low, rate.estimate, rate.high)]


def _passed(each: Passed) -> tuple[float, ...]:
    return each.k, each.pass_at_k, each.pass_hat_k


def _same_numbers(told: tuple[float, ...], come_to: tuple[float, ...]) -> bool:
    return all(map(same_number, told, come_to))


def _evaluation(result: Result, found: Found) -> Evaluation:
    """Return the result's evaluation, worked out anew from what the record came to."""
    episodes = tuple(
        EpisodeResult(
            task_id=str(each.index),
            kind="",
            index=each.index,
            attempt=each.attempt,
            success=found.success.get((each.index, each.attempt), {}),
            error=each.error,
        )
        for each in result.results
    )
    return Evaluation(
        env_id=result.env_id, env_kwargs=result.env_kwargs, policy=result.policy,
        split=result.split, profile=result.profile, samples_per_task=result.samples_per_task,
        seed=result.seed, results=episodes,
    )  # fmt: skip


def _entry(result: Result, claimed: Claimed, found: Found, words: Words, day: str) -> Entry:
    scripted = is_scripted(found.of)
    version = f"healthgym {result.healthgym}" if scripted else ""
    asked = {} if scripted else {name: found.of[name] for name in _TOLD if name in found.of}
    made = _measured(result, claimed, found) | {
        "name": words.name,
        "version": words.version or version,
        "asked": asked,
        "scripted": scripted,
        "date": day,
        "by": words.by,
        "where": words.where,
    }
    # Rates are worked out from the attempts, as whoever reads the entry will do.
    blank: JsonDict = {"success": None, "passes": (), "command": ""}
    draft = Entry.model_construct(**made, **blank)
    success, passes = rates(draft.evaluation())
    made |= {"success": success, "passes": passes, "command": rerun_command(draft)}
    try:
        return Entry.model_validate(made)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(
            f"No entry can be made of it: {'.'.join(map(str, first['loc']))}: {first['msg']}."
        ) from None


def _measured(result: Result, claimed: Claimed, found: Found) -> JsonDict:
    """Return the fields of an entry that were measured."""
    usage, episodes = result.usage, len(found.success)
    spent = Spent(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        requests=usage.requests,
        usd=usage.usd or None,  # a run without prices is not one that cost nothing
    )
    return {
        "env_id": result.env_id,
        "env_kwargs": result.env_kwargs,
        "split": result.split,
        "profile": result.profile,
        "policy": claimed.policy,
        "tasks": claimed.tasks,
        "k": claimed.k,
        "seed": result.seed,
        "hits": found.hits(claimed),
        "masked": claimed.tasks * claimed.k - episodes,
        "tokens": round(found.tokens, 1),
        "spent": spent if usage.requests else None,
        "healthgym": result.healthgym,
        "processor": machine(None).cpu,
        "record": Recorded(sha256=found.sha256, bytes=found.bytes, episodes=episodes),
    }


def _day(record: Path, told: str) -> str:
    """Return a date as told, or the day on which a record was last written.

    Raises:
        ConfigurationError: If what is told is no date.
    """
    if not told:
        return datetime.fromtimestamp(record.stat().st_mtime, UTC).date().isoformat()
    try:
        return date.fromisoformat(told).isoformat()
    except ValueError:
        raise ConfigurationError(f"{told[:40]!r} is no date such as 2026-01-31.") from None
