"""Measure TumorAreaSelection-v1 into results/tumor_area.json.

    python benchmarks/tumor_area.py                              every figure
    python benchmarks/tumor_area.py --only reset --only views    only these

Times are medians, wall clock and processor; regions and tiles were not seen before in the process,
and lie at and around the metastases. Baselines and the solver play the first tasks of the test
split.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from _harness import (
    Figures,
    Run,
    Suite,
    at_most,
    make,
    mean_scores,
    once,
    peak_mib,
    resident_mib,
    timed,
    with_prefix,
)

ENV_ID = "HealthAgent/TumorAreaSelection-v1"
DIFFICULTIES = ("easy", "medium", "hard")
DOWNSAMPLES = (1, 2, 4, 8, 16, 32, 64, 128)
BASELINES = (
    "oracle", "nop", "flood", "all_tissue", "prior", "darkest", "palest", "pinkest", "empty"
)  # fmt: skip

suite = Suite("tumor_area", __doc__)


@suite.measure(bounds={"medium_cpu_ms": at_most(20), "hard_cpu_ms": at_most(20)})
def reset(run: Run) -> Figures:
    """Reset to a new task."""
    figures: Figures = {}
    for difficulty in DIFFICULTIES:
        opened = partial(_open, make(ENV_ID, difficulty=difficulty))
        figures |= timed(opened, range(run.repeats(60)), warm_up=[10_000]).figures(difficulty)
    return figures


def _open(env: Any, index: int) -> None:
    env.reset(options={"index": index})


@suite.measure(
    bounds={
        **{f"region_1024_downsample_{each}_cpu_ms": at_most(120) for each in DOWNSAMPLES},
        "tile_statistic_cpu_ms": at_most(15),
    }
)
def views(run: Run) -> Figures:
    """Render regions of 1024 px around tumour at each level, an overview, a survey and tiles."""
    from healthgym.core.seeding import Split
    from healthgym.worlds.slides.sampling import survey, tile_statistics
    from healthgym.worlds.slides.show import overview

    generator = make(ENV_ID).unwrapped.family.generator
    instances = [generator.generate(Split.TEST, index) for index in range(run.repeats(6))]
    slides = [instance.start.slide for instance in instances]
    places = [(i.start.slide, tile) for i in instances for tile in i.reference.tiles[::5][:4]]
    figures: Figures = {}
    for level, downsample in enumerate(DOWNSAMPLES):
        taken = timed(partial(_region, level), places, warm_up=places[:1])
        figures |= taken.figures(f"region_1024_downsample_{downsample}")
    figures |= timed(overview, slides).figures("overview")
    figures |= timed(survey, slides).figures("survey_after_overview")
    return figures | timed(lambda place: tile_statistics(*place), places).figures("tile_statistic")


def _region(level: int, place: tuple[Any, tuple[int, int]]) -> None:
    """Read 1024 x 1024 px of a level around the middle of a tile."""
    from healthgym.worlds.slides.grid import TILE

    slide, tile = place
    x, y = ((number * TILE + TILE // 2) // DOWNSAMPLES[level] - 512 for number in tile)
    slide.read(level, x, y, 1024, 1024)


@suite.measure(bounds={"20000_px_jpeg_cpu_s": at_most(90)})
def files(run: Run) -> Figures:
    """Write a slide of 20,000 x 20,000 px with all levels."""
    from healthgym.core.seeding import Split
    from healthgym.envs.tumor_area.generator import TumorAreaGenerator
    from healthgym.envs.tumor_area.task import PRESETS
    from healthgym.worlds.slides.publish import write_slide

    slide = TumorAreaGenerator(PRESETS["easy"]).generate(Split.TRAIN, 0).start.slide

    class Sized:
        """The slide, repeated to 20,000 px: the cost is that of its tissue."""

        width = height = 2_000 if run.quick else 20_000
        mpp, key = slide.mpp, "sized"
        downsamples = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

        def read(self, level: int, x: int, y: int, width: int, height: int) -> Any:
            """Return a region of the slide."""
            return slide.read(level, x, y, width, height)

    figures: Figures = {"slide_width": slide.width, "slide_height": slide.height}
    with tempfile.TemporaryDirectory() as folder:
        for compression in ("jpeg", "deflate"):
            path = Path(folder) / f"{compression}.tif"
            _, timing = once(partial(write_slide, path, Sized(), compression))
            figures |= timing.figures(f"20000_px_{compression}", "s")
            figures[f"20000_px_{compression}_mb"] = path.stat().st_size / 1e6
    return figures | {"peak_memory_mib": peak_mib()}


@suite.measure(bounds={"100_environments_mib": at_most(2048)})
def memory(run: Run) -> Figures:
    """Hold 100 live environments on 100 slides that have been looked at."""
    from healthgym.core.tool import call

    before, envs = resident_mib(), []
    for index in range(run.repeats(100)):
        env = make(ENV_ID, difficulty="medium")
        env.reset(options={"index": index})
        env.step(call("view_overview"))
        env.step(call("view_region", level=0, x=40_000, y=40_000, width=512, height=512))
        envs.append(env)
    return {"100_environments_mib": resident_mib() - before, "process_mib": resident_mib()}


@suite.measure()
def baselines(run: Run) -> Figures:
    """Score the policies that do not look closely, and the oracle, on 50 tasks; random on 5."""
    figures = _play(run, BASELINES, 10, canonical=True)
    for difficulty in DIFFICULTIES:
        figures |= _play(run, BASELINES, 50, difficulty)
        figures |= _play(run, ["random"], 5, difficulty)
    return figures


@suite.measure()
def solver(run: Run) -> Figures:
    """Score the policy that reads numbers, on 50 tasks of each difficulty and the ten canonical."""
    figures = _play(run, ["solver"], 10, canonical=True)
    for difficulty in DIFFICULTIES:
        figures |= _play(run, ["solver"], 50, difficulty)
    return figures


def _play(
    run: Run, names: Sequence[str], usual: int, difficulty: str = "medium", canonical: bool = False
) -> Figures:
    """Play scripted policies on test tasks; return mean F1 and success under both profiles."""
    env = make(ENV_ID, difficulty=difficulty, split="test", canonical=canonical).unwrapped
    scores = mean_scores(env, names, run.tasks(usual), _scores)
    return with_prefix("canonical" if canonical else difficulty, scores)


def _scores(episode: Any) -> dict[str, float]:
    from healthgym.core.verdict import Profile

    verdicts = {profile: episode.verdict(profile=profile) for profile in Profile}
    scores = {"f1": verdicts[Profile.STRICT].metrics.get("f1", 0.0)}
    return scores | {str(name): float(each.success) for name, each in verdicts.items()}


if __name__ == "__main__":
    raise SystemExit(suite.main())
