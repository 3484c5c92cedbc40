"""The leaderboard: entries kept as files, each with the hash of the record that proves it.

An entry tells of every task how many attempts succeeded; rates and intervals beside them are
worked out, and a file in which they are others is no entry. Whether the attempts went as it says
is what :mod:`healthgym.testing.vouching` finds out from the record.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from healthgym.core.borders import JsonDict
from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.policies.results import EpisodeResult, Evaluation
from healthgym.registration import TABLE

#: Layout of an entry.
ENTRY_SCHEMA: Literal["healthgym.leaderboard_entry/1"] = "healthgym.leaderboard_entry/1"
#: Layout of a whole board.
BOARD_SCHEMA = "healthgym.leaderboard/1"
#: Numbers of tasks that an entry may have, where it has not the whole split: they are set, so
#: that nobody stops where it looks best.
SIZES = (30, 50, 100, 200, 300, 500, 1000)
#: Largest file that is read as an entry, in bytes.
_MOST_BYTES = 1 << 20
#: How far a rate that is told may be from one that is worked out, for rounding alone.
_ROUNDING = 1e-6

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
#: What somebody else wrote comes onto a page, and a command into a shell: no marks of either.
Words = Annotated[str, Field(pattern=r"^[\w .,:;/@+()'#=?&%~-]*$", max_length=300)]
_MARKS = re.compile("[<>`]")


class _Part(BaseModel):
    """A part of an entry: it never changes, and has no fields that are not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Rate(_Part):
    """A share with its 95 % interval, all in [0, 1]."""

    low: Share
    estimate: Share
    high: Share


class Passed(_Part):
    """pass@k and pass^k: one attempt of k succeeds, or all of them do."""

    k: Annotated[int, Field(ge=1)]
    pass_at_k: Share
    pass_hat_k: Share


class Spent(_Part):
    """What an endpoint reported of a run, or we estimated; nobody can check it from a record."""

    prompt_tokens: Count
    completion_tokens: Count
    requests: Count
    usd: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None


class Recorded(_Part):
    """The record an entry was made from: SHA-256 and bytes of the file, episodes in it."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: Count
    episodes: Count


class Entry(_Part):
    """A line of the leaderboard.

    Attributes:
        layout: Name of this layout; ``schema`` in the file.
        env_id: The environment.
        env_kwargs: The arguments it was made with, the registered ones among them.
        split: Split of the tasks.
        profile: Profile that decides.
        policy: Who played: a scripted policy, or the name of a model.
        name: Name in tables; that of the policy if empty.
        version: Version or revision of the model or policy, as told.
        asked: How the policy was asked, such as temperature and calling.
        scripted: Whether anybody can play it again without a model.
        date: Day on which it was played, ISO 8601.
        tasks: Number of tasks: the first so many of the split.
        k: Attempts at each.
        seed: Seed of the policy and of the resampling.
        hits: Successful attempts at each task, in the order of their indices and with a space
            between, by profile. An attempt that something outside interrupted is none.
        success: Success under the profile: Wilson's interval, or by resampling tasks where there
            are several attempts.
        passes: pass@k and pass^k for each k; empty with one attempt.
        masked: Attempts that something outside interrupted.
        tokens: Mean tokens an episode, read and written once, at four characters a token.
        spent: What an endpoint reported; None if none was asked.
        healthgym: Version that played and judged.
        processor: What it ran on.
        record: The record.
        by: Who entered it.
        where: Where the record can be had; empty if it is made again by the command.
        command: What makes result and record again.
    """

    layout: Literal["healthgym.leaderboard_entry/1"] = Field(ENTRY_SCHEMA, alias="schema")
    env_id: Words
    env_kwargs: JsonDict
    split: Literal["test"]
    profile: Literal["paper", "strict"]
    policy: Annotated[Words, Field(min_length=1)]
    name: Words = ""
    version: Words
    asked: JsonDict
    scripted: bool
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    tasks: Annotated[int, Field(ge=1, le=1_000_000)]
    k: Annotated[int, Field(ge=1, le=1000)]
    seed: int
    hits: dict[str, Annotated[str, Field(pattern=r"^\d{1,4}( \d{1,4})*$")]]
    success: Rate
    passes: tuple[Passed, ...]
    masked: Count
    tokens: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    spent: Spent | None
    healthgym: Words
    processor: Words
    record: Recorded
    by: Words
    where: Words
    command: str

    @model_validator(mode="after")
    def _sums_up(self) -> Self:
        """Refuse rates that are not those of the attempts, and a command that is another's."""
        self._counts_up()
        success, passes = rates(self.evaluation())
        if not _alike(self.success, success):
            raise ValueError(f"success is {success.estimate:.4f} by the attempts it tells of")
        if len(passes) != len(self.passes) or not all(map(_alike, self.passes, passes)):
            raise ValueError("pass@k and pass^k are not those of the attempts it tells of")
        if _MARKS.search(json.dumps([self.env_kwargs, self.asked])):
            raise ValueError("arguments hold marks that a page would take for its own")
        if self.command != rerun_command(self):
            raise ValueError(f"the command that makes it again is {rerun_command(self)}")
        return self

    def _counts_up(self) -> None:
        for profile, told in self.hits.items():
            counts = counted(told)
            if len(counts) != self.tasks or max(counts) > self.k:
                raise ValueError(
                    f"{self.tasks} tasks have as many hits of 0 to {self.k}: {profile}"
                )
        if self.profile not in self.hits:
            raise ValueError(f"there are no hits under {self.profile}")
        if self.masked + self.record.episodes != self.tasks * self.k:
            raise ValueError("recorded and masked attempts are not as many as were made")

    @property
    def shown_name(self) -> str:
        """The name in tables."""
        return self.name or self.policy

    @property
    def file_name(self) -> str:
        """The name of its file: environment, policy and the beginning of the record's hash."""
        env = self.env_id.rpartition("/")[2]
        return f"{_slug(env)}--{_slug(self.shown_name)}--{self.record.sha256[:8]}.json"

    @property
    def settings(self) -> JsonDict:
        """The arguments of the environment beside those it is registered with."""
        registered = next((dict(row.kwargs) for row in TABLE if row.id == self.env_id), {})
        return {
            name: value
            for name, value in self.env_kwargs.items()
            if name not in registered or registered[name] != value
        }

    def evaluation(self) -> Evaluation:
        """Return the attempts as an evaluation, those that were interrupted as failures."""
        by_profile = {profile: counted(told) for profile, told in self.hits.items()}
        results = [
            EpisodeResult(
                str(index),
                "",
                index,
                attempt,
                {profile: attempt < counts[index] for profile, counts in by_profile.items()},
            )
            for index in range(self.tasks)
            for attempt in range(self.k)
        ]
        return Evaluation(
            env_id=self.env_id,
            env_kwargs=self.env_kwargs,
            policy=self.policy,
            split=self.split,
            profile=self.profile,
            samples_per_task=self.k,
            seed=self.seed,
            results=tuple(results),
        )

    def to_json(self) -> str:
        """Return the text of its file."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=1) + "\n"


def counted(hits: str) -> tuple[int, ...]:
    """Return successful attempts by task."""
    return tuple(int(each) for each in hits.split())


def rates(evaluation: Evaluation) -> tuple[Rate, tuple[Passed, ...]]:
    """Return success and, for several attempts, pass@k and pass^k of an evaluation.

    Raises:
        ConfigurationError: If nothing was played.
    """
    success = evaluation.success
    if success is None:
        raise ConfigurationError("An evaluation of no episode is no entry.")
    several = evaluation.pass_at().items() if evaluation.samples_per_task > 1 else ()
    passes = [Passed(k=k, pass_at_k=at, pass_hat_k=hat) for k, (at, hat) in several]
    return Rate(**asdict(success)), tuple(passes)


def _alike(told: BaseModel, worked_out: BaseModel) -> bool:
    pairs = zip(told.model_dump().values(), worked_out.model_dump().values(), strict=True)
    return all(abs(a - b) <= _ROUNDING for a, b in pairs)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "unnamed"


def rerun_command(entry: Entry) -> str:
    """Return the command line that makes the result and the record of an entry again."""
    words = ["healthgym", "eval", entry.env_id]
    if entry.asked:
        words += ["--policy", "llm", "--base-url", "URL", "--model", entry.policy]
        for name, value in entry.asked.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
    else:
        words += ["--policy", entry.policy]
    for name, value in entry.settings.items():
        words += ["--set", f"{name}={_told(value)}"]
    words += ["--episodes", str(entry.tasks), "--samples", str(entry.k)]
    words += ["--seed", str(entry.seed), "--no-floor"]
    return shlex.join([*words, "--record", "runs.jsonl", "--json", "result.json"])


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def read_entry(path: Path) -> Entry:
    """Return the entry of a file.

    Raises:
        DamagedDataError: If it is none; it says what is wrong.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise DamagedDataError(f"{path.name} is too large for an entry.")
    try:
        entry = Entry.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        reason = f"{place}: {first['msg']}" if place else first["msg"]
        raise DamagedDataError(f"{path.name} is no entry of a leaderboard: {reason}.") from None
    if path.name != entry.file_name:
        raise DamagedDataError(f"{path.name} holds the entry of {entry.file_name}.")
    return entry


def entry_files(folder: Path) -> list[Path]:
    """Return the files of a board, by name.

    Raises:
        ConfigurationError: If there is no such folder.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder}.")
    return sorted(folder.glob("*.json"))


def read_board(folder: Path) -> list[Entry]:
    """Return the entries of a folder in the order of the board.

    Raises:
        ConfigurationError: If there is no such folder.
        DamagedDataError: If a file in it is no entry.
    """
    return ordered([read_entry(path) for path in entry_files(folder)])


def is_published(env_id: str) -> bool:
    """Return whether an id is a published benchmark's, with a fixed set of tasks."""
    kwargs = next((row.kwargs for row in TABLE if row.id == env_id), {})
    return bool(kwargs.get("canonical") or kwargs.get("benchmark"))


def ordered(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries by environment, published benchmarks first, and by success within one."""
    place = {row.id: number for number, row in enumerate(TABLE)}

    def key(entry: Entry) -> tuple[bool, int, str, int, float, str]:
        return (
            not is_published(entry.env_id),
            place.get(entry.env_id, len(place)),
            json.dumps([entry.settings, entry.profile], sort_keys=True),
            -entry.tasks,
            -entry.success.estimate,
            entry.shown_name,
        )

    return sorted(entries, key=key)


def grouped(entries: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield each table's heading and entries: those that may be compared with each other."""
    tables: dict[str, list[Entry]] = {}
    for entry in ordered(entries):
        told = [f"{name}={_told(value)}" for name, value in entry.settings.items()]
        tables.setdefault(", ".join([entry.env_id, *told, entry.profile]), []).append(entry)
    yield from tables.items()


#: Columns of a table of entries.
HEAD = ("policy", "tasks", "success", "95% interval", "pass^k", "tokens", "USD", "date", "record")


def cells(entry: Entry) -> list[str]:
    """Return the columns of an entry, as :data:`HEAD` names them."""
    last = entry.passes[-1] if entry.passes else None
    masked = f" ({entry.masked} masked)" if entry.masked else ""
    usd = entry.spent.usd if entry.spent else None
    named = entry.shown_name
    return [
        f"{named} ({entry.version})" if entry.version and not entry.scripted else named,
        f"{entry.tasks}{f' x {entry.k}' if entry.k > 1 else ''}{masked}",
        f"{entry.success.estimate:.1%}",
        f"{entry.success.low:.1%} – {entry.success.high:.1%}",
        f"{last.pass_hat_k:.1%} (k={last.k})" if last else "",
        f"{entry.tokens:,.0f}",
        "" if usd is None else f"{usd:.2f}",
        entry.date,
        entry.record.sha256[:12],
    ]


def table(entries: Sequence[Entry]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table, without columns in which no entry says anything."""
    rows = [cells(entry) for entry in entries]
    kept = [n for n in range(len(HEAD)) if any(row[n] for row in rows)]
    return [HEAD[n] for n in kept], [[row[n] for n in kept] for row in rows]
