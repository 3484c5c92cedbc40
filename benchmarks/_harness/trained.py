"""What came of a run of ``healthgym train``, read from its folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from _harness.suite import Figures
from healthgym.core.borders import JsonObject
from healthgym.integrations.trl.evaluation import Score, gain
from healthgym.integrations.trl.folder import CHECKPOINTS, RunFolder


def told(folder: Path) -> Figures:
    """Return what a run reached: shares by checkpoint, what reward added, and the time."""
    stages = json.loads((folder / "stages.json").read_text(encoding="utf-8"))
    reached = {kind: _reached(stages, kind) for kind in ("score", "sampled")}
    transfer = {
        place: {name: Score.from_dict(one).total.interval.estimate for name, one in scores.items()}
        for place, scores in stages.get("transfer", {}).get("scores", {}).items()
    }
    spent = {
        f"{clock.removesuffix('seconds')}minutes": sum(one[clock] for one in stages.values()) / 60
        for clock in ("seconds", "processor_seconds")
    }
    floors = {
        one["name"]: one["total"]["successes"] / one["total"]["episodes"]
        for one in stages["floors"]["scores"]
    }
    further: Figures = {}
    if "copy" in stages:  # only a model made in the run has to learn it
        further["copied"] = stages["copy"]["collapsed"]
        further["copy_steps"] = sum(stages["copy"]["steps"])
    if "control" in stages:  # a run may leave it out
        further["control_steps"] = stages["control"]["steps"]
    return {
        "likeliest": reached["score"],
        "drawn": reached["sampled"],
        "transfer": transfer,
        "scripted": floors,
        **further,
        "informative_groups": _informative(folder),
        **spent,
    }


def _reached(stages: Mapping[str, JsonObject], kind: str) -> Figures:
    scores = {
        name: Score.from_dict(stages[f"score {name}"][kind])
        for name in CHECKPOINTS
        if f"score {name}" in stages
    }
    shares = {name: one.total.interval.estimate for name, one in scores.items()}
    added = {}
    for name in ("sft", "control"):
        if name not in scores:
            continue
        found = gain(scores["grpo"], scores[name])
        added[f"over_{name}"] = {"gain": found.estimate, "low": found.low, "high": found.high}
    kinds = {
        task: {name: one.kinds[task].interval.estimate for name, one in scores.items()}
        for task in scores["grpo"].kinds
    }
    return {"tasks": scores["grpo"].total.episodes, **shares, **added, "kinds": kinds}


def _informative(folder: Path) -> float:
    """Return the share of GRPO's groups whose rollouts were not all paid alike."""
    rows = [row for row in RunFolder(folder).curve() if "groups/informative" in row]
    return float(sum(row["groups/informative"] for row in rows) / len(rows))


def commit() -> str:
    """Return the commit of the code that runs."""
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"
