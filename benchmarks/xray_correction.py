"""Measure XrayCorrection-v0, each figure in a fresh process; write results/xray_correction.json.

    python benchmarks/xray_correction.py              every figure
    python benchmarks/xray_correction.py reset solver only these
    python benchmarks/xray_correction.py --sheet      the contact sheet, docs/images

Times are medians of tasks not seen before in the process. Baselines and the solver play the first
tasks of the test split.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENV_ID = "HealthAgent/XrayCorrection-v0"
ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "xray_correction.json"
SHEET = ROOT / "docs" / "images" / "xray_correction.png"
DIFFICULTIES = ("easy", "medium", "hard")
BOUNDS = {
    "reset.easy_ms": "<= 20",
    "reset.medium_ms": "<= 20",
    "reset.hard_ms": "<= 20",
    "render.frontal_512_ms": "<= 60",
    "render.lateral_512_ms": "<= 60",
    "memory.100_environments_mib": "<= 2048",
}


def make(difficulty: str = "medium", **kwargs: Any) -> Any:
    """Make the environment without Gymnasium's per-step checks."""
    import gymnasium as gym

    import healthgym  # noqa: F401

    return gym.make(ENV_ID, difficulty=difficulty, disable_env_checker=True, **kwargs)


def milliseconds(action: Callable[[int], Any], indices: range) -> dict[str, float]:
    """Return the median duration of an action over tasks, and its median processor time.

    The two differ where other programs run beside this one.
    """
    clocks = {"ms": time.perf_counter, "cpu_ms": time.process_time}
    durations: dict[str, list[float]] = {name: [] for name in clocks}
    for index in indices:
        start = {name: clock() for name, clock in clocks.items()}
        action(index)
        for name, clock in clocks.items():
            durations[name].append(clock() - start[name])
    return {name: 1e3 * statistics.median(values) for name, values in durations.items()}


def measure_reset() -> dict[str, float]:
    """Reset to a new task."""
    figures = {}
    for difficulty in DIFFICULTIES:
        env = make(difficulty)
        env.reset(options={"index": 10_000})
        fresh = milliseconds(lambda index, env=env: env.reset(options={"index": index}), range(100))
        figures |= {f"{difficulty}_{name}": value for name, value in fresh.items()}
    return figures


def scenes(count: int) -> list[Any]:
    """Return the last scenes of the first training tasks."""
    from healthgym.core.seeding import Split

    generator = make("medium").unwrapped.family.generator
    return [generator.generate(Split.TRAIN, n).start.radiographs._scenes[-1] for n in range(count)]


def measure_render() -> dict[str, float]:
    """Render pictures that nobody has seen, and measure one."""
    from healthgym.worlds.radiography.frontal import render_frontal
    from healthgym.worlds.radiography.landmarks import find_landmarks
    from healthgym.worlds.radiography.lateral import render_lateral

    drawn = scenes(20)
    figures: dict[str, float] = {}
    for name, action in (
        ("frontal_512", lambda n: render_frontal(drawn[n], 512)),
        ("lateral_512", lambda n: render_lateral(drawn[n], 512)),
        ("frontal_1024", lambda n: render_frontal(drawn[n], 1024)),
    ):
        figures |= {f"{name}_{k}": v for k, v in milliseconds(action, range(20)).items()}
    pictures = [render_frontal(scene, 512) for scene in drawn]
    marks = milliseconds(lambda n: find_landmarks(pictures[n]), range(20))
    return figures | {f"landmarks_{name}": value for name, value in marks.items()}


def measure_memory() -> dict[str, float]:
    """Hold 100 live environments that have looked at a picture and measured it."""
    from healthgym.core.tool import call

    def resident() -> float:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20

    make("medium").reset(options={"index": 5000})
    before, envs = resident(), []
    for index in range(100):
        env = make("medium")
        env.reset(options={"index": index})
        env.step(call("view_image", study=1))
        env.step(call("measure", what="heart"))
        envs.append(env)
    return {"100_environments_mib": resident() - before}


def play(difficulty: str, names: tuple[str, ...], count: int) -> dict[str, float]:
    """Return success and progress of scripted policies on the first test tasks."""
    from healthgym.core.seeding import Split
    from healthgym.core.verdict import Profile
    from healthgym.envs.xray_correction.verifier import sentence_errors
    from healthgym.policies.scripted import resolve
    from healthgym.testing.play import actions_of

    env = make(difficulty, split="test").unwrapped
    figures: dict[str, float] = {}
    sentences = right = 0
    for name in names:
        for index in range(count):
            for action in actions_of(env, resolve(name), Split.TEST, index):
                env.step(action)
            for profile in Profile:
                verdict = env.episode.verdict(profile=profile)
                parts = {"success": verdict.success, "progress": verdict.progress}
                for part, value in parts.items():
                    key = f"{difficulty}.{name}.{profile}.{part}"
                    figures[key] = figures.get(key, 0.0) + value / count
            said = env.episode.world.sentences
            if name == "solver":
                for n, truth in enumerate(env.episode._instance.reference.truth):
                    sentences += 1
                    right += not sentence_errors(truth, said[n])
    if sentences:
        figures[f"{difficulty}.solver.sentences_right"] = right / sentences
    return {key: round(value, 4) for key, value in figures.items()}


def measure_baselines() -> dict[str, float]:
    """Play the policies that look at no picture, and the oracle."""
    figures: dict[str, float] = {}
    for difficulty in DIFFICULTIES:
        names = ("nop", "random", "flood", "prior", "leave", "delete")
        figures |= play(difficulty, names, 40 if difficulty == "hard" else 100)
        figures |= play(difficulty, ("oracle",), 10 if difficulty == "hard" else 40)
    return figures


def measure_solver() -> dict[str, float]:
    """Play the solver, which reads the tools' numbers."""
    figures: dict[str, float] = {}
    for difficulty in DIFFICULTIES:
        figures |= play(
            difficulty, ("solver",), {"easy": 200, "medium": 200, "hard": 40}[difficulty]
        )
    return figures


def contact_sheet() -> None:
    """Write a picture of the world, for the documentation."""
    import numpy as np

    from healthgym.worlds.imaging.raster import contact_sheet, save_image
    from healthgym.worlds.radiography.frontal import render_frontal
    from healthgym.worlds.radiography.lateral import render_lateral
    from healthgym.worlds.radiography.scene import Scene, Sight, draw_build

    shown: tuple[tuple[str, tuple[Sight, ...], dict[str, Any]], ...] = (
        ("normal", (), {}),
        ("cardiomegaly", (), {"ratio": 0.66}),
        ("pleural effusion, left", (Sight("effusion", "left", amount=0.6),), {}),
        ("pneumothorax, right", (Sight("pneumothorax", "right", amount=0.7),), {}),
        ("consolidation, right upper", (Sight("consolidation", "right", "upper", 0.8),), {}),
        ("pulmonary edema", (Sight("edema", "bilateral", amount=0.8),), {"ratio": 0.57}),
        ("nodules, right mid", (Sight("nodule", "right", "mid", 0.8, 3),), {}),
        (
            "tubes and lines",
            (
                Sight("endotracheal_tube", place="appropriate"),
                Sight("enteric_tube", place="stomach"),
                Sight("central_line", "right", "lower_svc"),
                Sight("chest_tube", "left", count=2),
            ),
            {"supine": True},
        ),
        (
            "pacemaker, clips",
            (Sight("pacemaker", "left", count=2), Sight("clips", "right")),
            {},
        ),
    )
    pictures, labels = [], []
    for number, (label, sights, rest) in enumerate(shown):
        scene = Scene(draw_build(np.random.default_rng(number)), number, sights, **rest)
        pictures.append(render_frontal(scene, 270))
        labels.append(label)
    lateral = Scene(draw_build(np.random.default_rng(0)), 0)
    pictures.append(render_lateral(lateral, 270))
    labels.append("normal, lateral")
    SHEET.parent.mkdir(parents=True, exist_ok=True)
    save_image(SHEET, contact_sheet(pictures, 5, labels)[:, :, 0], optimize=True)


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "reset": measure_reset,
    "render": measure_render,
    "memory": measure_memory,
    "baselines": measure_baselines,
    "solver": measure_solver,
}


def main() -> int:
    """Measure what is named, or everything, and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", help=", ".join(MEASURES))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--sheet", action="store_true", help="write the contact sheet only")
    args = parser.parse_args()
    if args.sheet:
        contact_sheet()
        return 0
    if args.one:
        print(json.dumps(MEASURES[args.one]()))
        return 0
    unknown = set(args.measures) - MEASURES.keys()
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    known = json.loads(RESULTS.read_text())["figures"] if RESULTS.exists() else {}
    for name in args.measures or MEASURES:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{name} failed:\n{done.stderr}")
        known[name] = json.loads(done.stdout)
        for figure, value in known[name].items():
            print(f"{name}.{figure:<60} {value:>12.3f}   {BOUNDS.get(f'{name}.{figure}', '')}")
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    report = {"machine": machine, "bounds": BOUNDS, "figures": known}
    RESULTS.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
