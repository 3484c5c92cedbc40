"""What a run found, read back from its folder and written as a report.

``healthgym report RUN`` writes the report of a finished run anew.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from healthgym.core.borders import JsonObject
from healthgym.core.trajectory import read_trajectories
from healthgym.core.writing import written_whole
from healthgym.errors import (
    ConfigurationError,
    DamagedDataError,
    HealthGymError,
    MissingDependencyError,
    TrajectoryError,
)
from healthgym.integrations.trl.evaluation import Score
from healthgym.integrations.trl.folder import CHECKPOINTS, RunFolder
from healthgym.integrations.trl.page import ReportData, report_page
from healthgym.integrations.trl.plots import draw_curves
from healthgym.presentation.pictures import inline, png
from healthgym.presentation.terminal import shown
from healthgym.presentation.viewer import PictureFinder, Shown, write_page
from healthgym.testing.replay import replayed_pictures
from healthgym.version import __version__

_PACKAGES = ("torch", "transformers", "trl", "gymnasium", "numpy")
#: Of so many tasks the pictures are made again, and of so many pixels at most.
_SHOWN_EPISODES, _MAX_SIDE = 6, 480


def write_report(folder: RunFolder) -> Path:
    """Draw the curves and the report of a run, and return the report's path.

    Raises:
        ConfigurationError: If the run has not been scored to its end.
        MissingDependencyError: If the library that draws is not installed.
    """
    results, config = folder.results(), folder.config()
    scored = [name for name in CHECKPOINTS if name != "control" or config.control]
    needed = [*(f"score {name}" for name in scored), "floors"]
    if config.transfer:
        needed.append("transfer")
    missing = [stage for stage in needed if stage not in results]
    if missing:
        raise ConfigurationError(
            f"{folder.path} lacks {', '.join(missing)}; go on with it by "
            f"healthgym train --resume {folder.path}."
        )
    picture = folder.path / "learning_curves.png"
    scores, floors = checkpoint_scores(folder), floor_scores(folder)
    try:
        draw_curves(folder.curve(), scores, floors, picture)
    except ImportError as error:
        raise MissingDependencyError(
            f'Reports need the trl extra ({error}): pip install "healthgym[trl]".'
        ) from None
    facts = [(key, json.dumps(value)) for key, value in _flat(json.loads(config.to_json()))]
    data = ReportData(
        f"{config.env}: {config.model}",
        scores,
        sampled_scores(folder),
        floors,
        transfer_scores(folder),
        _notes(results),
        picture,
        _episodes(folder),
        [*facts, *_versions()],
        {stage: _spent(result) for stage, result in results.items()},
    )
    path = folder.path / "report.html"
    with written_whole(path) as file:
        write_page(file, report_page(data), _pictures(folder))
    return path


def checkpoint_scores(folder: RunFolder) -> list[Score]:
    """Return the scores of the checkpoints by their likeliest tokens, in the order of training."""
    return _scores(folder, "score")


def sampled_scores(folder: RunFolder) -> list[Score]:
    """Return their scores with replies drawn as in training; none of a run scored without."""
    return _scores(folder, "sampled")


def _scores(folder: RunFolder, kind: str) -> list[Score]:
    results = folder.results()
    found = (results.get(f"score {name}", {}) for name in CHECKPOINTS)
    return _read(folder, [result[kind] for result in found if kind in result])


def floor_scores(folder: RunFolder) -> list[Score]:
    """Return the scores of the scripted policies on the same tasks."""
    return _read(folder, folder.results().get("floors", {}).get("scores", []))


def transfer_scores(folder: RunFolder) -> dict[str, list[Score]]:
    """Return the scores of the trained models on other tasks, by what these are."""
    found: JsonObject = folder.results().get("transfer", {}).get("scores", {})
    return {place: _read(folder, list(scores.values())) for place, scores in found.items()}


def _notes(results: JsonObject) -> list[str]:
    """Return what else a run has found out, in sentences."""
    notes = []
    shown = results["demonstrations"]
    shares = [
        f"{name} {each['episodes']}, of which {100 * each['solved'] / each['episodes']:.0f} % pass "
        "the verifier"
        for name, each in shown.get("by", {}).items()
    ]
    if shares:
        notes.append(f"Demonstrations by policy: {'; '.join(shares)}.")
    if "copy" in results:
        steps, loss = results["copy"]["steps"], results["copy"]["loss"]
        notes.append(
            results["copy"]["warning"]
            or f"It learned to copy in {sum(steps)} steps (loss {loss[-1]:.2f} nats a token)."
        )
    if "control" in results:
        spent = [results[stage]["processor_seconds"] for stage in ("grpo", "control")]
        notes.append(
            f"SFT+SFT went on from SFT for {results['control']['steps']} steps on fresh "
            f"demonstrations, by the computing that GRPO took: {spent[0]:.0f} s of processor time "
            f"for GRPO, {spent[1]:.0f} s for the control, fresh demonstrations included."
        )
    return notes


def _spent(result: JsonObject) -> tuple[float, float]:
    return result["seconds"], result.get("processor_seconds", 0.0)


def _read(folder: RunFolder, scores: Sequence[JsonObject]) -> list[Score]:
    try:
        return [Score.from_dict(item) for item in scores]
    except (AttributeError, KeyError, TypeError) as error:
        raise DamagedDataError(
            f"{folder.path / 'stages.json'} holds a score that is damaged: {error!r}."
        ) from None


def _episodes(folder: RunFolder) -> Iterator[Shown]:
    """Yield the test episodes of all checkpoints."""
    for name, title in CHECKPOINTS.items():
        path = folder.path / "trajectories" / f"{name}.jsonl"
        for run in read_trajectories(path) if path.is_file() else ():
            yield Shown(run, title)


def _pictures(folder: RunFolder) -> PictureFinder:
    """Return what finds pictures: those of a few tasks of different types, played again.

    All of them would take as long as the evaluation did.
    """
    tasks: dict[str, str] = {}
    shown = [each.run for each in _episodes(folder) if any(t.pictures for t in each.run.turns)]
    for run in shown:
        tasks.setdefault(run.kind, run.task_id)
    wanted = set(list(tasks.values())[:_SHOWN_EPISODES])
    found: dict[str, str] = {}
    for run in shown:
        if run.task_id in wanted:
            with contextlib.suppress(TrajectoryError):  # the page says that pictures are missing
                made = replayed_pictures(run)
                found |= {name: inline(png(image), _MAX_SIDE) for name, image in made.items()}
    return found.get


def _flat(data: JsonObject, prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in data.items():
        name = f"{prefix}{key}"
        pairs += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return pairs


def _versions() -> list[tuple[str, str]]:
    found = [("healthgym", __version__), ("python", platform.python_version())]
    for package in _PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="healthgym report", description="Write the report of a training run anew."
    )
    made.add_argument("run", type=Path, help="folder of the run")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Write the report of a run anew: ``healthgym report RUN``."""
    path = parser().parse_args(argv).run
    try:
        if not path.is_dir():
            raise ConfigurationError(f"There is no run folder {path}.")
        sys.stdout.write(f"{write_report(RunFolder(path))}\n")
    except HealthGymError as error:
        sys.stderr.write(f"healthgym: {shown(str(error))}\n")
        return 2
    return 0
