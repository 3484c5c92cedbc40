"""The verdict on a selection of tiles.

The paper profile is HealthAgentBench's rule to the letter: tile F1 of at least 0.90, with its
reading of the submitted file. The strict profile asks the same of a selection that says one thing
only.
"""

from __future__ import annotations

from healthgym.core.family import Evidence
from healthgym.core.verdict import Check, CheckResult, Profile, Verdict
from healthgym.envs.tumor_area.submission import Reading, read_paper, read_strict
from healthgym.envs.tumor_area.task import TumorReference
from healthgym.rewards.metrics import f1_score
from healthgym.worlds.slides.grid import Tile
from healthgym.worlds.slides.world import SlideWorld

PASS = 0.90

SUBMITTED = Check(
    "submitted",
    "The agent hands in its selection; running out of turns counts as failing.",
    weight=0.0,
)
F1 = Check(
    "tile_f1",
    "The F1 score of the selected tiles against the tumour tiles is at least 0.90.",
)
PLAIN = Check(
    "plain_selection",
    "A selection written as text has one row, for this task; its tiles are pairs of integers "
    "inside the grid, each named once; contains_tumor, where given, agrees with them.",
    idle=True,
    loophole="Upstream only the first row of a submission counts, true and false pass as 1 and 0, "
    "and tiles that are no tiles are dropped without a word.",
)


class TumorAreaVerifier:
    """Judges the selection as it stood when it was handed in."""

    def verify(self, evidence: Evidence[SlideWorld], profile: Profile) -> Verdict:
        """Return the verdict under a profile.

        Before the selection is handed in the progress is 0, whatever is selected: a reward for
        each change of the selection would tell which tiles are tumour.
        """
        reference = evidence.reference
        assert isinstance(reference, TumorReference)
        submitted = evidence.submission is not None
        results = [SUBMITTED.result(submitted)]
        checks = [F1] if profile is Profile.PAPER else [F1, PLAIN]
        if not submitted:
            results += [CheckResult(check, check.idle) for check in checks]
            return Verdict.of(profile, results, progress=0.0)
        reading = selection_of(evidence.after, evidence.task.task_id, profile)
        metrics = metrics_of(reading.tiles, reference)
        f1 = metrics["f1"]
        results.append(F1.result(f1 >= PASS, f"F1 is {f1:.3f}", credit=f1))
        if profile is Profile.STRICT:
            results.append(PLAIN.result(not reading.fault, reading.fault))
        return Verdict.of(profile, results, progress=0.0 if reading.fault else f1, metrics=metrics)


def selection_of(world: SlideWorld, task_id: str, profile: Profile) -> Reading:
    """Return the selected tiles as a profile reads them."""
    if world.text is None:
        return Reading(world.tiles)
    if profile is Profile.PAPER:
        return Reading(read_paper(world.text, task_id))
    return read_strict(world.text, task_id, world.grid)


def metrics_of(tiles: frozenset[Tile], reference: TumorReference) -> dict[str, float]:
    """Return the figures the source reports: 0 where nothing is selected.

    Args:
        tiles: The selected tiles; those outside of the grid count as wrong.
        reference: Where the tumour is.
    """
    gold = frozenset(reference.tiles)
    hits = len(tiles & gold)
    covered = sum(reference.areas.get(f"{x},{y}", 0) for x, y in tiles & _known(reference))
    # The diagnostic counts the tumour's pixels wherever they lie, in tumour tiles or not.
    total = sum(reference.areas.values())
    return {
        "precision": hits / len(tiles) if tiles else 0.0,
        "recall": hits / len(gold) if gold else 0.0,
        "f1": f1_score(hits, len(tiles) - hits, len(gold) - hits) if tiles else 0.0,
        "tumor_coverage": covered / total if total else 0.0,
        "selected": float(len(tiles)),
    }


def _known(reference: TumorReference) -> frozenset[Tile]:
    pairs = (key.split(",") for key in reference.areas)
    return frozenset((int(x), int(y)) for x, y in pairs)
