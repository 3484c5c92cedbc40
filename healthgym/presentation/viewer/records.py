"""Recorded episodes as the page reads them: a short row for the table, and a body for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from healthgym.core.action import parse, text_of
from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.tool import ToolCall
from healthgym.core.trajectory import Trajectory, Turn
from healthgym.errors import ToolError

#: Finds a picture by its fingerprint, as a data URL; None if there is none.
PictureFinder = Callable[[str], str | None]
#: The profile whose checks decide in the table.
_PROFILE = "strict"
#: Most characters of an answer that was refused or given which the page repeats.
_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What would have been right, as only the verifier knows it.

    Attributes:
        calls: What the oracle does.
        reference: The verifier's half of the task, as JSON values.
    """

    calls: tuple[ToolCall, ...]
    reference: JsonDict


@dataclass(frozen=True, slots=True)
class Shown:
    """An episode that is to be shown.

    Attributes:
        run: The recording.
        source: Of which run it is one, such as the file's name.
        answer: What would have been right; None where the page is not to tell.
        progress: The progress after each turn, where it was worked out anew; else empty.
    """

    run: Trajectory
    source: str
    answer: Answer | None = None
    progress: tuple[float, ...] = ()


@dataclass(slots=True)
class Words:
    """Numbers the words that many rows repeat, in the order they come up."""

    places: dict[str, int] = field(default_factory=dict)

    def place(self, word: str) -> int:
        """Return a word's number."""
        return self.places.setdefault(word, len(self.places))


@dataclass(slots=True)
class Index:
    """The rows of the table, with the words in them numbered."""

    runs: Words = field(default_factory=Words)
    envs: Words = field(default_factory=Words)
    kinds: Words = field(default_factory=Words)
    checks: Words = field(default_factory=Words)
    rows: list[list[object]] = field(default_factory=list)

    def add(self, shown: Shown) -> None:
        """Add an episode's row; ``index.js`` names its places."""
        run = shown.run
        setting = ", ".join(f"{name}={value!r}" for name, value in run.env_kwargs.items())
        self.rows.append(
            [
                self.runs.place(shown.source),
                self.envs.place(f"{run.env_id} ({setting})" if setting else run.env_id),
                self.kinds.place(run.kind),
                run.task_id,
                int(solved(run)),
                # An episode of several roles is solved if each of them is.
                round(min(run.rewards.values(), default=0.0), 6),
                len(run.turns),
                sum(len(turn.errors) for turn in run.turns),
                sum(turn.images for turn in run.turns),
                sorted({self.checks.place(name) for name in failed_checks(run)}),
                "failure of the policy" if run.fault else "stopped" if run.stopped else "",
            ]
        )

    def to_dict(self) -> JsonDict:
        """Return the index as JSON values."""
        words = {name: list(getattr(self, name).places) for name in ("runs", "envs", "kinds")}
        return {**words, "checks": list(self.checks.places), "rows": self.rows}


def solved(run: Trajectory) -> bool:
    """Return whether every role succeeded under the strict profile."""
    return bool(run.verdicts) and all(
        bool(each.get(_PROFILE, {}).get("success", False)) for each in run.verdicts.values()
    )


def failed_checks(run: Trajectory) -> list[str]:
    """Return the checks that failed under the strict profile, those of parts by the part's name."""
    return [
        name for profiles in run.verdicts.values() for name in _failed(profiles.get(_PROFILE, {}))
    ]


def _failed(verdict: JsonObject) -> list[str]:
    # Of a queue the parts are its cases, whose ids mean nothing beside those of another episode.
    own = [check["name"] for check in verdict.get("checks", ()) if check.get("passed") is not True]
    return [*own, *(name for part in verdict.get("parts", {}).values() for name in _failed(part))]


def body(shown: Shown, pictures: Callable[[str], int | None]) -> JsonDict:
    """Return all else of an episode, as ``episode.js`` shows it.

    Args:
        shown: The episode.
        pictures: Finds the number of a picture on the page by its fingerprint; None if there is
            none.
    """
    run = shown.run
    told: JsonDict = {
        "version": run.version,
        "instructions": run.instructions,
        "turns": [_turn(turn, pictures) for turn in run.turns],
        "verdicts": run.verdicts,
        "rewards": run.rewards,
        "stopped": list(run.stopped),
        "fault": run.fault,
        "progress": list(shown.progress),
    }
    if shown.answer is not None:
        told["answer"] = {
            "calls": [[call.name, dict(call.arguments)] for call in shown.answer.calls],
            "reference": shown.answer.reference,
        }
    return told


def _turn(turn: Turn, pictures: Callable[[str], int | None]) -> JsonDict:
    calls, said = _calls(turn.action)
    found = [place for name in turn.pictures if (place := pictures(name)) is not None]
    told: Mapping[str, object] = {
        "role": turn.role,
        "time": turn.time,
        "calls": calls,
        "said": said,
        "result": turn.observation,
        "reward": turn.reward,
        "errors": list(turn.errors),
        "pictures": found,
        "missing": turn.images - len(found),
        "news": turn.news,
    }
    return {name: value for name, value in told.items() if value not in ("", [], 0, None)}


def _calls(action: str) -> tuple[list[list[object]], str]:
    """Return the calls in an action, and its text where it holds more than them."""
    try:
        calls = parse(action)
    except ToolError:
        return [], action[:_MOST]
    plain = len(calls) == 1 and text_of(calls[0]) == action
    return [[call.name, dict(call.arguments)] for call in calls], "" if plain else action[:_MOST]
