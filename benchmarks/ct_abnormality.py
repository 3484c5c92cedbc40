"""Measure CtAbnormality-v0, each figure in a fresh process; write results/ct_abnormality.json.

    python benchmarks/ct_abnormality.py               every figure but the pictures
    python benchmarks/ct_abnormality.py reset views   only these
    python benchmarks/ct_abnormality.py pictures      writes docs/images/ct_abnormality.png

Times are medians of tasks not seen before in the process, with slices of 512 x 512. Baselines and
the solver play the first tasks of the test split; accuracy by finding is the solver's.
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
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENV_ID = "HealthAgent/CtAbnormality-v0"
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "ct_abnormality.json"
PICTURE = ROOT / "docs" / "images" / "ct_abnormality.png"
BOUNDS = {
    "reset.medium_ms": "<= 20",
    "views.axial_ms": "<= 40",
    "views.coronal_ms": "<= 40",
    "views.sagittal_ms": "<= 40",
    "materialize.seconds": "<= 60",
    "memory.100_envs_mib": "<= 2048",
}
#: Tasks of the test split that policies play.
TASKS = int(os.environ.get("CT_TASKS", "100"))


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
    return {name: round(1e3 * statistics.median(v), 2) for name, v in durations.items()}


def measure_reset() -> dict[str, float]:
    """Reset to a new task."""
    figures = {}
    for difficulty in ("easy", "medium", "hard"):
        env = make(difficulty)
        env.reset(options={"index": 0})
        found = milliseconds(lambda i, env=env: env.reset(options={"index": i}), range(1, 60))
        figures.update({f"{difficulty}_{unit}": value for unit, value in found.items()})
    return figures


def measure_views() -> dict[str, float]:
    """Show slices never shown before, of scans whose vessels are grown."""
    from healthgym.core.tool import call

    figures: dict[str, float] = {}
    env = make()
    for plane in ("axial", "coronal", "sagittal"):

        def show(index: int, plane: str = plane) -> None:
            env.step(call("view_slice", plane=plane, position=-60.0 + 2.5 * (index % 50)))

        values: dict[str, list[float]] = defaultdict(list)
        for task in range(4):
            env.reset(options={"index": task})
            env.step(call("view_slice", plane=plane, position=-70.0))
            for unit, value in milliseconds(show, range(12)).items():
                values[unit].append(value)
        figures.update({f"{plane}_{u}": statistics.median(v) for u, v in values.items()})
    return figures


def measure_tools() -> dict[str, float]:
    """Take every measurement on scans not measured before; the first pays for the survey."""
    from healthgym.core.tool import call
    from healthgym.envs.ct_abnormality.workstation import QUANTITIES

    values: dict[str, list[float]] = defaultdict(list)
    env = make()
    for task in range(5):
        env.reset(options={"index": 100 + task})
        for name, action in [("volume_info", call("volume_info"))] + [
            (quantity, call("measure", quantity=quantity)) for quantity in QUANTITIES
        ]:
            start = time.process_time()
            env.step(action)
            values[f"{name}_cpu_ms"].append(1e3 * (time.process_time() - start))
    return {name: round(statistics.median(found), 1) for name, found in values.items()}


def measure_materialize() -> dict[str, float]:
    """Write a scan of 400 slices or more to disk, uncompressed."""
    from healthgym.core.seeding import Split
    from healthgym.worlds.volumes.nifti import write_nifti

    generator = make("hard").unwrapped.family.generator
    index = next(
        i for i in range(100) if generator.generate(Split.TEST, i).start.source.grid.shape[2] >= 400
    )
    source = generator.generate(Split.TEST, index).start.source
    with tempfile.TemporaryDirectory() as folder:
        start, cpu = time.perf_counter(), time.process_time()
        path = write_nifti(source, Path(folder) / "scan.nii")
        return {
            "slices": source.grid.shape[2],
            "seconds": round(time.perf_counter() - start, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
            "mib": round(path.stat().st_size / 2**20),
        }


def measure_memory() -> dict[str, float]:
    """Hold a hundred environments that have looked at a slice and measured."""
    from healthgym.core.tool import call

    envs = [make() for _ in range(100)]
    for index, env in enumerate(envs):
        env.reset(options={"index": index})
        env.step(call("view_slice"))
        if index < 25:
            env.step(call("measure", quantity="heart_ratio"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"100_envs_mib": round(peak)}


def measure_baselines() -> dict[str, float]:
    """Play the scripted policies, nop and random on tasks of the test split."""
    from healthgym.core.seeding import Split
    from healthgym.core.verdict import Profile
    from healthgym.policies.scripted import NopPolicy, RandomPolicy, ScriptPolicy
    from healthgym.testing.play import actions_of

    figures: dict[str, float] = defaultdict(float)
    for difficulty in ("easy", "medium", "hard"):
        env = make(difficulty, split="test").unwrapped
        blind = [name for name in env.family.baselines() if name != "oracle"]
        players = [NopPolicy(), *(ScriptPolicy(name) for name in blind)]
        for player, count in [*((p, TASKS) for p in players), (RandomPolicy(), TASKS // 5),
                              (ScriptPolicy("oracle"), TASKS // 5)]:  # fmt: skip
            for index in range(count):
                for action in actions_of(env, player, Split.TEST, index):
                    env.step(action)
                for profile in Profile:
                    verdict = env.episode.verdict(profile=profile)
                    key = f"{difficulty}.{player.name}.{profile}"
                    figures[f"{key}.success"] += verdict.success / count
                    figures[f"{key}.accuracy"] += verdict.metrics["accuracy"] / count
    return {key: round(value, 4) for key, value in figures.items()}


def measure_solver() -> dict[str, float]:
    """Play the solver on tasks of the test split; accuracy by finding."""
    figures: dict[str, float] = {}
    for difficulty in ("easy", "medium", "hard"):
        figures.update(_solve(difficulty))
    return figures


def _solve(difficulty: str) -> dict[str, float]:
    from healthgym.core.seeding import Split
    from healthgym.policies.scripted import ScriptPolicy
    from healthgym.testing.play import actions_of

    env = make(difficulty, split="test").unwrapped
    right: dict[str, list[bool]] = defaultdict(list)
    solved = accuracy = 0.0
    for index in range(TASKS):
        for action in actions_of(env, ScriptPolicy("solver"), Split.TEST, index):
            env.step(action)
        verdict = env.episode.verdict()
        solved += verdict.success
        accuracy += verdict.metrics["accuracy"]
        truth = env.family.generator.generate(Split.TEST, index).reference.truth
        for line in env.episode.world.lines:
            label, _, answer = line.partition(": ")
            right[label].append((answer == "yes") == truth[label])
    figures = {
        f"{difficulty}.success": round(solved / TASKS, 4),
        f"{difficulty}.accuracy": round(accuracy / TASKS, 4),
    }
    for label, hits in sorted(right.items()):
        figures[f"{difficulty}.{label}"] = round(sum(hits) / len(hits), 3)
    return figures


def contact_sheet() -> Any:
    """Return a sheet of findings in the windows they are read in, shape (h, w, 3), uint8."""
    import numpy as np

    from healthgym.worlds.imaging import raster
    from healthgym.worlds.volumes import views
    from healthgym.worlds.volumes.disease import Finding
    from healthgym.worlds.volumes.drawing import draw_disease
    from healthgym.worlds.volumes.patient import draw_acquisition, draw_patient
    from healthgym.worlds.volumes.volume import SyntheticVolume

    lung = {Finding.EMPHYSEMA, Finding.ATELECTASIS, Finding.NODULE, Finding.OPACITY,
            Finding.FIBROSIS, Finding.MOSAIC, Finding.PERIBRONCHIAL, Finding.CONSOLIDATION,
            Finding.BRONCHIECTASIS, Finding.SEPTAL}  # fmt: skip
    heights = {Finding.ARTERIAL_CALCIFICATION: 24.0, Finding.LYMPHADENOPATHY: 44.0,
               Finding.EMPHYSEMA: 45.0, Finding.MOSAIC: 10.0,
               Finding.PERIBRONCHIAL: -30.0, Finding.BRONCHIECTASIS: -34.0,
               Finding.SEPTAL: -40.0}  # fmt: skip
    images, labels = [], []
    for number, finding in enumerate([None, None, *Finding]):
        rng = np.random.default_rng(200 + number)
        patient = draw_patient(rng)
        scan = draw_acquisition(rng, patient, (300, 300), (7.0, 9.0))
        present = [finding] if finding else []
        volume = SyntheticVolume(
            patient, draw_disease(rng, patient, present, ("blatant",), 0.0), scan
        )
        plane, window = "axial", "lung" if finding in lung else "mediastinal"
        z = heights.get(finding, patient.dome + 35) if finding else -20.0
        places = {
            Finding.ATELECTASIS: lambda d: d.plates[0].centre,
            Finding.NODULE: lambda d: d.nodules[0].blob.centre,
            Finding.OPACITY: lambda d: d.glass[0].blob.centre,
            Finding.CONSOLIDATION: lambda d: d.dense[0].blob.centre,
            Finding.FIBROSIS: lambda d: d.scars[0].points[0],
            Finding.CORONARY_CALCIFICATION: lambda d: d.calcium[0].points[0],
            Finding.MEDICAL_MATERIAL: lambda d: d.devices[0].points[0],
        }
        if finding in places:
            z = places[finding](volume.disease)[2]
        if number == 1:
            plane, window, z = "coronal", "lung", -30.0
        index = volume.grid.index(views.ACROSS[plane], z)
        values = views.slice_values(volume, plane, index, views.whole(volume.grid, plane))
        images.append(views.picture(values, volume.grid, plane, views.WINDOWS[window], 232)[:200])
        labels.append(str(finding) if finding else f"no finding, {plane}")
    return raster.contact_sheet(images, 5, labels)


def save_pictures() -> None:
    """Write the sheet into the documentation, in 48 greys to keep it small."""
    from PIL import Image

    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    sheet = Image.fromarray(contact_sheet()).quantize(48)
    sheet.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1024:.0f} KiB")


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "reset": measure_reset,
    "views": measure_views,
    "tools": measure_tools,
    "materialize": measure_materialize,
    "memory": measure_memory,
    "baselines": measure_baselines,
    "solver": measure_solver,
}


def main() -> int:
    """Measure what is named, or everything, and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", help=", ".join([*MEASURES, "pictures"]))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(MEASURES[args.one]()))
        return 0
    unknown = set(args.measures) - MEASURES.keys() - {"pictures"}
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    if "pictures" in args.measures:
        save_pictures()
    known = json.loads(RESULTS.read_text())["figures"] if RESULTS.exists() else {}
    named = [name for name in args.measures if name != "pictures"]
    for name in named or ([] if args.measures else MEASURES):
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
        "tasks": TASKS,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    report = {"machine": machine, "bounds": BOUNDS, "figures": known}
    RESULTS.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
