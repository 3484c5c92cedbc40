"""Entries of the leaderboard, checked again: by their records, or by playing them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from healthgym.errors import HealthGymError, TrajectoryError
from healthgym.policies.evaluation import evaluate
from healthgym.policies.leaderboard import Entry
from healthgym.testing.vouching import Claimed, Found, file_hash, is_scripted, player, vouch
from healthgym.version import __version__


class Standing(StrEnum):
    """What a check of an entry came to."""

    REPLAYED = "replayed"
    PLAYED_AGAIN = "played again"
    NOT_REPLAYED = "not replayed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """An entry that was checked.

    Attributes:
        standing: What came of it.
        reason: In a sentence.
    """

    standing: Standing
    reason: str


def recheck(entry: Entry, record: Path, on_episode: Callable[[], None] = lambda: None) -> Checked:
    """Play the record of an entry again, and compare.

    Args:
        entry: The entry.
        record: Its record.
        on_episode: Called after each episode.
    """
    if file_hash(record) != entry.record.sha256:
        return Checked(Standing.REFUSED, f"{record.name} is another record than the entry's.")
    claimed = _claimed(entry)
    if entry.healthgym != __version__:
        return Checked(
            Standing.NOT_REPLAYED,
            f"it was played with healthgym {entry.healthgym}, and this is {__version__}.",
        )
    try:
        found = vouch(claimed, record, on_episode)
        if len(found.success) != entry.record.episodes:
            raise TrajectoryError(f"The record holds {len(found.success)} episodes.")
        _require_entry(entry, claimed, found)
    except HealthGymError as error:
        return Checked(Standing.REFUSED, str(error))
    return Checked(Standing.REPLAYED, f"{len(found.success)} episodes gave what it says.")


def _claimed(entry: Entry) -> Claimed:
    return Claimed(
        entry.env_id, entry.env_kwargs, entry.profile, entry.policy, entry.tasks, entry.k,
        entry.healthgym,
    )  # fmt: skip


def _require_entry(entry: Entry, claimed: Claimed, found: Found) -> None:
    if found.hits(claimed) != entry.hits:
        raise TrajectoryError("The record comes to other successes than the entry tells of.")
    if abs(found.tokens - entry.tokens) > 0.1:
        raise TrajectoryError(f"The record has {found.tokens:.1f} tokens an episode.")
    if is_scripted(found.of) != entry.scripted or player(found.of) != entry.policy:
        raise TrajectoryError("The record names another policy.")


def play_again(entry: Entry, on_episode: Callable[[], None] = lambda: None) -> Checked:
    """Play a scripted policy's entry anew, and compare what it comes to, and its record.

    Args:
        entry: The entry.
        on_episode: Called after each episode.
    """
    if not entry.scripted:
        return Checked(Standing.NOT_REPLAYED, "it is a model's, and there is no record here.")
    if entry.healthgym != __version__:
        return Checked(Standing.NOT_REPLAYED, f"it was played with healthgym {entry.healthgym}.")
    with TemporaryDirectory() as folder:
        record = Path(folder) / "runs.jsonl"
        try:
            evaluation = evaluate(
                entry.env_id, entry.policy, episodes=entry.tasks, seed=entry.seed,
                env_kwargs=entry.settings, samples_per_task=entry.k, record=record, floor=False,
                resume={"policy": entry.policy, "seed": entry.seed},
                on_result=lambda _: on_episode(),
            )  # fmt: skip
        except HealthGymError as error:
            return Checked(Standing.REFUSED, str(error))
        same = record.is_file() and file_hash(record) == entry.record.sha256
    found = Found(success={(r.index, r.attempt): r.success for r in evaluation.scored})
    claimed = _claimed(entry)
    if found.hits(claimed) != entry.hits:
        return Checked(Standing.REFUSED, "played again, it succeeds at other tasks.")
    how = "byte for byte" if same else "in every success; pictures or numbers are rounded otherwise"
    return Checked(Standing.PLAYED_AGAIN, f"{entry.record.episodes} episodes, the same {how}.")
