"""The report of a run: its figures as sections above its test episodes, on one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from healthgym.integrations.trl.evaluation import Score, differences, gain, points, table
from healthgym.integrations.trl.folder import CHECKPOINTS
from healthgym.presentation.pictures import data_url
from healthgym.presentation.viewer import PageData, Section, Shown


@dataclass(frozen=True, slots=True)
class ReportData:
    """What a report shows.

    Attributes:
        title: Its heading.
        scores: Checkpoints on the test split, in the order of training.
        sampled: The same with replies drawn as in training, if they were scored so.
        floors: Scripted policies on the same tasks.
        elsewhere: Checkpoints on other tasks, by what these are.
        notes: Further findings, a sentence or two each.
        picture: The learning curves, PNG.
        episodes: The test episodes, each of the run that its checkpoint is called by.
        facts: Settings and versions, as pairs of text.
        seconds: Time by stage: by the clock, and of the processor.
    """

    title: str
    scores: Sequence[Score]
    sampled: Sequence[Score]
    floors: Sequence[Score]
    elsewhere: Mapping[str, Sequence[Score]]
    notes: Sequence[str]
    picture: Path
    episodes: Iterable[Shown]
    facts: Sequence[tuple[str, str]]
    seconds: Mapping[str, tuple[float, float]]


def report_page(data: ReportData) -> PageData:
    """Return the page of a report."""
    compared = (CHECKPOINTS["sft"], CHECKPOINTS["grpo"])
    both = {each.name for each in data.scores} >= set(compared)
    note = "What training made of a model, and below it each test episode of each checkpoint."
    return PageData(
        data.title, data.episodes, note, list(_sections(data)), compared if both else None
    )


def _sections(data: ReportData) -> Iterator[Section]:
    curves = data_url(data.picture.read_bytes())
    yield Section(notes=[headline(data.scores)], lead=True)
    yield Section(picture=curves, alt="learning curves")
    yield Section(
        "Success on held-out test tasks, % [95 % interval]",
        table(data.scores, data.floors, data.elsewhere),
        notes=[
            "The same tasks for every column; likeliest token, no sampling. The last columns are "
            "scripted policies; none reads but one that demonstrates. A task counts as solved when "
            "every check of its verifier passed and an answer was handed in."
        ],
    )
    yield Section(
        "Difference on the same tasks, in points [95 % interval]",
        differences(data.scores, data.sampled),
        notes=data.notes,
    )
    if data.sampled:
        yield Section(
            "The same, sampled as in training",
            table(data.sampled, ()),
            notes=[
                "Replies drawn at temperature 1, which is the policy that the reward improves; one "
                f"rollout a task. {headline(data.sampled)}"
            ],
        )
    yield Section("Per episode", _usage(data.scores))
    facts = [["setting", "value"], *([key, value] for key, value in data.facts)]
    yield Section("Settings and versions", facts, closed=True)
    rows = [[stage, f"{wall:.0f} s", f"{cpu:.0f} s"] for stage, (wall, cpu) in data.seconds.items()]
    walls, cpus = (sum(spent[place] for spent in data.seconds.values()) / 60 for place in (0, 1))
    total = ["all", f"{walls:.1f} min", f"{cpus:.1f} min"]
    yield Section("Time", [["stage", "wall clock", "processor"], *rows, total], closed=True)


def headline(scores: Sequence[Score]) -> str:
    """Return in a sentence or two what reward added to imitation, and to more imitation."""
    by_name = {each.name: each for each in scores}
    if not {CHECKPOINTS["sft"], CHECKPOINTS["grpo"]} <= by_name.keys():
        return "No checkpoint has been compared yet."
    before, after = by_name[CHECKPOINTS["sft"]], by_name[CHECKPOINTS["grpo"]]
    told = (
        f"{before.name}: {before.total.text()} % of {before.total.episodes} test tasks; "
        f"{after.name}: {after.total.text()} %, which is {points(gain(after, before))} points."
    )
    control = by_name.get(CHECKPOINTS["control"])
    if control is None:
        return told
    return (
        f"{told} As much computing spent on more imitation: {control.total.text()} %; reward over "
        f"that: {points(gain(after, control))} points."
    )


def _usage(scores: Sequence[Score]) -> list[list[str]]:
    rows = [["checkpoint", "submitted", "calls", "refused", "tokens"]]
    for item in scores:
        submitted = f"{100 * item.submitted / item.total.episodes:.1f} %"
        rows.append(
            [item.name, submitted, f"{item.calls:.2f}", f"{item.refused:.2f}", f"{item.tokens:.0f}"]
        )
    return rows
