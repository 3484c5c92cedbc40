"""Measure TumorAreaSelection-v0, each figure in a fresh process; write results/tumor_area.json.

    python benchmarks/tumor_area.py              every figure
    python benchmarks/tumor_area.py reset views  only these
    python benchmarks/tumor_area.py picture      the contact sheet of the documentation

Times are medians, wall clock and processor; regions and tiles were not seen before in the process,
and lie at and around the metastases. Baselines and the solver play the first tasks of the test
split.
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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ENV_ID = "HealthAgent/TumorAreaSelection-v0"
RESULTS = Path(__file__).parent / "results" / "tumor_area.json"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "tumor_area.png"
DIFFICULTIES = ("easy", "medium", "hard")
BOUNDS = {
    "reset.medium_cpu_ms": "<= 20",
    "reset.hard_cpu_ms": "<= 20",
    **{f"views.region_1024_downsample_{d}_cpu_ms": "<= 120" for d in (1, 2, 4, 8, 16, 32, 64, 128)},
    "views.tile_statistic_cpu_ms": "<= 15",
    "files.20000_px_jpeg_cpu_s": "<= 90",
    "memory.100_environments_mib": "<= 2048",
}


def make(difficulty: str = "medium", **kwargs: Any) -> Any:
    """Make the environment without Gymnasium's per-step checks."""
    from healthgym.registration import make_health_env

    return make_health_env(ENV_ID, {"difficulty": difficulty, **kwargs})


def milliseconds(action: Callable[[Any], Any], items: Sequence[Any]) -> dict[str, float]:
    """Return the median duration of an action over items, and its median processor time."""
    clocks = {"ms": time.perf_counter, "cpu_ms": time.process_time}
    durations: dict[str, list[float]] = {name: [] for name in clocks}
    for item in items:
        start = {name: clock() for name, clock in clocks.items()}
        action(item)
        for name, clock in clocks.items():
            durations[name].append(clock() - start[name])
    return {name: 1e3 * statistics.median(values) for name, values in durations.items()}


def measure_reset() -> dict[str, float]:
    """Reset to a new task."""
    figures = {}
    for difficulty in DIFFICULTIES:
        env = make(difficulty)
        env.reset(options={"index": 10_000})
        taken = milliseconds(lambda i, env=env: env.reset(options={"index": i}), range(60))
        figures |= {f"{difficulty}_{name}": value for name, value in taken.items()}
    return figures


def measure_views() -> dict[str, float]:
    """Render regions of 1024 px around tumour at each level, an overview, a survey and tiles."""
    from healthgym.core.seeding import Split
    from healthgym.worlds.slides.grid import TILE
    from healthgym.worlds.slides.sampling import survey, tile_statistics
    from healthgym.worlds.slides.show import overview

    generator = make("medium").family.generator
    instances = [generator.generate(Split.TEST, index) for index in range(6)]
    places = [(i.start.slide, tile) for i in instances for tile in i.reference.tiles[::5][:4]]
    figures = {}
    for level in range(8):
        downsample = 2**level

        def region(place: Any, level: int = level, downsample: int = downsample) -> None:
            slide, (x, y) = place
            corner = [(n * TILE + TILE // 2) // downsample - 512 for n in (x, y)]
            slide.read(level, *corner, 1024, 1024)

        region(places[0])
        for name, value in milliseconds(region, places).items():
            figures[f"region_1024_downsample_{downsample}_{name}"] = value
    slides = [instance.start.slide for instance in instances]
    jobs: dict[str, tuple[Callable[[Any], Any], Sequence[Any]]] = {
        "overview": (overview, slides),
        "survey_after_overview": (survey, slides),
        "tile_statistic": (lambda place: tile_statistics(*place), places),
    }
    for job, (action, items) in jobs.items():
        figures |= {f"{job}_{name}": value for name, value in milliseconds(action, items).items()}
    return figures


def measure_files() -> dict[str, float]:
    """Write a slide of 20,000 x 20,000 px with all levels."""
    from healthgym.core.seeding import Split
    from healthgym.envs.tumor_area.generator import TumorAreaGenerator
    from healthgym.envs.tumor_area.task import slide_config
    from healthgym.worlds.slides.publish import write_slide

    slide = TumorAreaGenerator(slide_config("easy")).generate(Split.TRAIN, 0).start.slide

    class Sized:
        """The slide, repeated to 20,000 px: the cost is that of its tissue."""

        width = height = 20_000
        mpp, key = slide.mpp, "sized"
        downsamples = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

        def read(self, level: int, x: int, y: int, width: int, height: int) -> Any:
            return slide.read(level, x, y, width, height)

    figures = {"slide_width": float(slide.width), "slide_height": float(slide.height)}
    with tempfile.TemporaryDirectory() as folder:
        for compression in ("jpeg", "deflate"):
            path = Path(folder) / f"{compression}.tif"
            wall, cpu = time.perf_counter(), time.process_time()
            write_slide(path, Sized(), compression)  # type: ignore[arg-type]
            figures[f"20000_px_{compression}_s"] = time.perf_counter() - wall
            figures[f"20000_px_{compression}_cpu_s"] = time.process_time() - cpu
            figures[f"20000_px_{compression}_mb"] = path.stat().st_size / 1e6
    figures["peak_memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def resident_mib() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure_memory() -> dict[str, float]:
    """Hold 100 live environments on 100 slides that have been looked at."""
    from healthgym.core.tool import call

    before, envs = resident_mib(), []
    for index in range(100):
        env = make("medium")
        env.reset(options={"index": index})
        env.step(call("view_overview"))
        env.step(call("view_region", level=0, x=40_000, y=40_000, width=512, height=512))
        envs.append(env)
    return {"100_environments_mib": resident_mib() - before, "process_mib": resident_mib()}


def play(
    difficulty: str, names: Sequence[str], tasks: int, canonical: bool = False
) -> dict[str, float]:
    """Play scripted policies on test tasks; return mean F1 and success under both profiles."""
    from healthgym.policies.scripted import resolve

    env = make(difficulty, split="test", canonical=canonical)
    prefix = "canonical" if canonical else difficulty
    policies, figures = [resolve(name) for name in names], dict[str, float]()
    for index in range(tasks):
        # All policies on one slide before the next: what one has seen need not be drawn again.
        for policy in policies:
            observation, info = env.reset(options={"index": index})
            policy.begin(env, observation, info)
            while not env.episode.done():
                observation, _, _, _, info = env.step(policy.act(observation))
            verdicts = info["verdict"]
            scores = {"f1": verdicts["strict"]["metrics"].get("f1", 0.0)}
            scores |= {profile: verdicts[profile]["success"] for profile in ("paper", "strict")}
            for key, value in scores.items():
                name = f"{prefix}.{policy.name}.{key}"
                figures[name] = figures.get(name, 0.0) + value / tasks
    return {key: round(value, 4) for key, value in figures.items()}


BASELINES = ("oracle", "nop", "flood", "all_tissue", "prior", "darkest", "palest", "empty")


def measure_baselines() -> dict[str, float]:
    """Score the policies that do not look closely, and the oracle, on 50 tasks; random on 5."""
    figures = play("medium", BASELINES, 10, canonical=True)
    for difficulty in DIFFICULTIES:
        figures |= play(difficulty, BASELINES, 50)
        figures |= play(difficulty, ["random"], 5)
    return figures


def measure_solver() -> dict[str, float]:
    """Score the policy that reads numbers, on 50 tasks of each difficulty and the ten canonical."""
    figures = play("medium", ["solver"], 10, canonical=True)
    for difficulty in DIFFICULTIES:
        figures |= play(difficulty, ["solver"], 50)
    return figures


def contact_sheet(path: Path = PICTURE, index: int = 4) -> None:
    """Save a picture of what slides look like: an overview, and tissues at three powers."""
    import numpy as np

    from healthgym.core.seeding import Split
    from healthgym.worlds.imaging import raster
    from healthgym.worlds.slides import foci
    from healthgym.worlds.slides.anatomy import node_depths
    from healthgym.worlds.slides.show import overview
    from healthgym.worlds.slides.source import view

    generator = make("medium").family.generator
    scene, _ = generator.scene(Split.TRAIN, index)
    slide = generator.generate(Split.TRAIN, index).start.slide
    tumor, mimic = scene.tumor.values, scene.histiocytes.values
    node_depth = node_depths(scene.nodes, *foci.axes(slide.width, slide.height))[0]
    calm = (np.maximum(np.maximum(tumor, mimic), scene.sclerosis.values) < -2000) & (
        np.abs(node_depth - 3000) < 600
    )
    clear = np.where((tumor < -1500) & (scene.sclerosis.values < -1500), mimic, -9e9)
    places = {
        "metastasis": _deepest(tumor),
        "its edge": _nearest_edge(tumor),
        "histiocytes": _deepest(clear),
        "lymphoid tissue": _deepest(calm),
    }
    side = 230
    pictures, labels = [], []
    for name, (x, y) in places.items():
        for downsample in (1, 2, 8):
            corner = [place - side * downsample // 2 for place in (x, y)]
            pictures.append(view(slide, downsample, *corner, side, side))
            labels.append(f"{name}, {downsample * slide.mpp:g} um/px")
    sheet = raster.contact_sheet(pictures, 3, labels)
    whole = overview(slide)[0]
    scale = sheet.shape[0] / whole.shape[0]
    whole = raster.resize(whole, sheet.shape[0], round(whole.shape[1] * scale))
    path.parent.mkdir(parents=True, exist_ok=True)
    page = np.concatenate([whole, sheet], axis=1)
    small = raster.resize(page, round(page.shape[0] * 0.62), round(page.shape[1] * 0.62))
    image = raster.require("PIL.Image").fromarray(small)
    image.quantize(200, dither=0).save(path, optimize=True)
    print(f"{path}: {small.shape[1]} x {small.shape[0]}, {path.stat().st_size // 1024} KiB")


def _deepest(field: Any) -> tuple[int, int]:
    row, column = divmod(int(field.argmax()), field.shape[1])
    return column * 256 + 128, row * 256 + 128


def _nearest_edge(field: Any) -> tuple[int, int]:
    """Return where a row through the deepest point leaves the outline."""
    x, y = _deepest(field)
    row = field[y // 256]
    column = x // 256
    while column < len(row) - 1 and row[column] > 0:
        column += 1
    return column * 256, y


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "reset": measure_reset,
    "views": measure_views,
    "files": measure_files,
    "memory": measure_memory,
    "baselines": measure_baselines,
    "solver": measure_solver,
}


def main() -> int:
    """Measure what is named, or everything, and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", help=", ".join([*MEASURES, "picture"]))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(MEASURES[args.one]()))
        return 0
    if args.measures == ["picture"]:
        contact_sheet()
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
        "load_average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    report = {"machine": machine, "bounds": BOUNDS, "figures": known}
    RESULTS.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
