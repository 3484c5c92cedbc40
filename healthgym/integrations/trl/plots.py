"""The curves of a run as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from healthgym.core.borders import JsonObject
from healthgym.integrations.trl.evaluation import Score

_INK = {"sft": "#8a6d3b", "control": "#b0413e", "grpo": "#1f6f8b", "base": "#9aa0a6"}
_TITLES = {"sft": "SFT", "control": "more SFT instead", "grpo": "GRPO"}
#: What is drawn of GRPO's signal: whether groups differ, how free the policy is, what is masked.
_SIGNAL = {"groups/informative": "#1f6f8b", "entropy": "#8a6d3b", "env/masked": "#b0413e"}


def draw_curves(
    rows: Sequence[JsonObject],
    scores: Sequence[Score],
    floors: Sequence[Score],
    path: Path,
) -> None:
    """Draw loss, reward, held-out success over training, and the final scores.

    Args:
        rows: The lines of ``metrics.jsonl``.
        scores: Scores of the checkpoints on the test split, in the order of training.
        floors: Scores of the scripted policies.
        path: The PNG to write.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 7.2), dpi=110, layout="constrained")
    axes = figure.subplots(2, 3)
    for axis in axes.flat:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    _line(axes[0][0], rows, "sft", "loss", "SFT: loss on the assistant's tokens", log=True)
    _line(axes[0][1], rows, "grpo", "reward", "GRPO: reward and success of the rollouts")
    _line(axes[0][1], rows, "grpo", "env/success", None, colour="#5b8c5a")
    axes[0][1].legend(["reward", "success"], frameon=False)
    _line(axes[1][0], rows, "control", "loss", "More SFT instead: loss", log=True)
    for key, colour in _SIGNAL.items():
        _line(axes[1][1], rows, "grpo", key, None, colour=colour)
    axes[1][1].set_title("GRPO: share of groups with mixed outcomes", loc="left", fontsize=10)
    axes[1][1].legend(["informative groups", "entropy, nats", "masked rollouts"], frameon=False)
    _validation(axes[0][2], rows)
    _bars(axes[1][2], scores, floors)
    figure.savefig(path)


def _series(rows: Sequence[JsonObject], stage: str, key: str) -> tuple[list[int], list[float]]:
    found = [row for row in rows if row["stage"] == stage and key in row]
    return [row["step"] for row in found], [row[key] for row in found]


def _line(
    axis: Any,
    rows: Sequence[JsonObject],
    stage: str,
    key: str,
    title: str | None,
    *,
    colour: str = "",
    log: bool = False,
) -> None:
    steps, values = _series(rows, stage, key)
    axis.plot(steps, values, color=colour or _INK[stage], linewidth=1.4)
    axis.set_xlabel(f"{_TITLES[stage]} step")
    if log and any(value > 0 for value in values):
        axis.set_yscale("log")
    if title:
        axis.set_title(title, loc="left", fontsize=10)


def _validation(axis: Any, rows: Sequence[JsonObject]) -> None:
    """Draw the success on validation tasks: SFT, then what goes on from it, side by side."""
    for stage, begin in (("sft", 0), ("control", 1), ("grpo", 1)):
        steps, values = _series(rows, stage, "validation/success")
        if not steps:
            continue
        # Stages differ in steps; each fills the same width.
        shifted = [begin + step / max(steps[-1], 1) for step in steps]
        percent = [100 * value for value in values]
        axis.plot(shifted, percent, "o-", color=_INK[stage], markersize=3.5, label=_TITLES[stage])
        bounds = (_series(rows, stage, f"validation/{end}")[1] for end in ("low", "high"))
        band = [[100 * value for value in values] for values in bounds]
        axis.fill_between(shifted, *band, color=_INK[stage], alpha=0.15, linewidth=0)
    axis.axvline(1, color="#888888", linewidth=0.8, linestyle=":")
    axis.set_ylim(-2, 102)
    axis.set_xticks([0, 1, 2], ["start", "SFT done", "end"])
    axis.set_title("Success on validation tasks, %, 95 % band", loc="left", fontsize=10)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(frameon=False)


def _bars(axis: Any, scores: Sequence[Score], floors: Sequence[Score]) -> None:
    """Draw test success with its interval, scripted policies first."""
    columns = [*floors, *scores]
    for place, column in enumerate(columns):
        found = column.total.interval
        below, above = found.estimate - found.low, found.high - found.estimate
        axis.bar(
            place,
            100 * found.estimate,
            yerr=[[100 * below], [100 * above]],
            color=_INK["base"] if column in floors else _INK["grpo"],
            capsize=4,
            width=0.65,
        )
        axis.text(place, 100 * found.high + 1.5, f"{100 * found.estimate:.1f}", ha="center")
    names = [column.name for column in columns]
    axis.set_xticks(range(len(names)), names, rotation=20, ha="right", fontsize=8)
    axis.set_ylim(0, 110)
    axis.set_title("Success on test tasks, % with 95 % interval", loc="left", fontsize=10)
