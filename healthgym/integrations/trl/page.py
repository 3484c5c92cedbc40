"""The page of a report: one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from healthgym.core.borders import JsonDict
from healthgym.core.trajectory import Trajectory
from healthgym.errors import TrajectoryError
from healthgym.integrations.trl.evaluation import Score, differences, gain, points, table
from healthgym.integrations.trl.folder import CHECKPOINTS
from healthgym.presentation.html import PictureFinder, inline, pictures_of
from healthgym.presentation.pictures import png
from healthgym.testing.replay import replayed_pictures

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #20242a; background: #fafaf7;
  max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
img { max-width: 100%; border: 1px solid #ddd; background: white; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
td, th { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #e4e4de; }
td:first-child, th:first-child { text-align: left; }
tr:last-child td { font-weight: 600; border-top: 2px solid #999; }
.scroll { overflow-x: auto; }
.columns { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); }
.episode { background: white; border: 1px solid #ddd; border-radius: 6px; padding: .7rem .9rem;
  font-size: 12.5px; overflow-wrap: anywhere; }
.episode h4 { margin: 0 0 .4rem; font-size: 13px; }
pre { white-space: pre-wrap; margin: .15rem 0 .5rem; font-size: 11.5px; color: #555; }
.call { font-family: ui-monospace, monospace; font-size: 11.5px; color: #1f4f6b; }
.ok { color: #2f7d32; } .no { color: #b0413e; }
.lead { font-size: 1.05rem; } .quiet { color: #666; }
"""


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
        episodes: For each task to show, the trajectory of each checkpoint by name.
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
    episodes: Sequence[Mapping[str, Trajectory]]
    facts: Sequence[tuple[str, str]]
    seconds: Mapping[str, tuple[float, float]]


def render_report(data: ReportData) -> str:
    """Return the report as HTML."""
    image = base64.b64encode(data.picture.read_bytes()).decode("ascii")
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width, initial-scale=1'>",
        f"<title>{escape(data.title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(data.title)}</h1>",
        f"<p class=lead>{escape(headline(data.scores))}</p>",
        f'<img alt="learning curves" src="data:image/png;base64,{image}">',
        "<h2>Success on held-out test tasks, % [95 % interval]</h2>",
        _table(table(data.scores, data.floors, data.elsewhere)),
        "<p class=quiet>The same tasks for every column; likeliest token, no sampling. The first "
        "columns are scripted policies; none reads but one that demonstrates. A task counts as "
        "solved when every check of its verifier passed and an answer was handed in.</p>",
        "<h2>Difference on the same tasks, in points [95 % interval]</h2>",
        _table(differences(data.scores, data.sampled)),
        *(f"<p class=quiet>{escape(note)}</p>" for note in data.notes),
        *_drawn(data.sampled),
        _usage(data.scores),
        "<h2>Episodes</h2>",
    ]
    for runs in data.episodes:
        shown = "".join(_episode(name, run) for name, run in runs.items())
        first = next(iter(runs.values()))
        instruction = next(iter(first.instructions.values()))
        parts.append(f"<h3>{escape(first.task_id)} <span class=quiet>({escape(first.kind)})</span>")
        parts.append(f"</h3><p>{escape(instruction)}</p><div class=columns>{shown}</div>")
    parts.append("<h2>Settings and versions</h2>")
    parts.append(_table([["setting", "value"], *([key, value] for key, value in data.facts)]))
    parts.append("<h2>Time</h2>")
    rows = [[stage, f"{wall:.0f} s", f"{cpu:.0f} s"] for stage, (wall, cpu) in data.seconds.items()]
    walls, cpus = (sum(spent[place] for spent in data.seconds.values()) / 60 for place in (0, 1))
    total = ["all", f"{walls:.1f} min", f"{cpus:.1f} min"]
    parts.append(_table([["stage", "wall clock", "processor"], *rows, total]))
    parts.append("</body></html>\n")
    return "\n".join(parts)


def _drawn(scores: Sequence[Score]) -> Sequence[str]:
    if not scores:
        return ()
    return (
        "<h2>The same, sampled as in training</h2>",
        _table(table(scores, ())),
        "<p class=quiet>Replies drawn at temperature 1, which is the policy that the reward "
        f"improves; one rollout a task. {escape(headline(scores))}</p>",
    )


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


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<div class=scroll><table><tr>{head}</tr>{body}</table></div>"


def _usage(scores: Sequence[Score]) -> str:
    rows = [["checkpoint", "submitted", "calls", "refused", "tokens"]]
    for item in scores:
        submitted = f"{100 * item.submitted / item.total.episodes:.1f} %"
        rows.append(
            [item.name, submitted, f"{item.calls:.2f}", f"{item.refused:.2f}", f"{item.tokens:.0f}"]
        )
    return "<h2>Per episode</h2>" + _table(rows)


def _episode(name: str, run: Trajectory) -> str:
    pictures = _pictures(run)
    verdict: JsonDict = _strict(run)
    mark = "<b class=ok>solved</b>" if verdict["success"] else "<b class=no>not solved</b>"
    parts = [f"<div class=episode><h4>{escape(name)}: {mark}</h4>"]
    for turn in run.turns:
        parts.append(f"<div class=call>{escape(turn.action)}</div>")
        parts.append(f"<pre>{escape(turn.observation)}</pre>")
        parts.append(pictures_of(turn, pictures))
    if not run.turns:
        parts.append("<p class=quiet>No tool was called.</p>")
    for check in verdict["checks"]:
        sign = "<span class=ok>✓</span>" if check["passed"] else "<span class=no>✗</span>"
        parts.append(f"<div>{sign} {escape(check['name'])}: {escape(check['requirement'])}</div>")
    return "".join([*parts, "</div>"])


def _pictures(run: Trajectory) -> PictureFinder:
    """Return what finds the pictures of an episode, by playing it again if it showed any."""
    found: dict[str, str] = {}
    if any(turn.pictures for turn in run.turns):
        with contextlib.suppress(TrajectoryError):  # the page says that pictures are missing
            found = {
                name: inline(png(image), 480) for name, image in replayed_pictures(run).items()
            }
    return found.get


def _strict(run: Trajectory) -> JsonDict:
    verdict: JsonDict = next(iter(run.verdicts.values()))["strict"]
    return verdict
