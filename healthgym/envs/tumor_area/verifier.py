"""The verdict on a selection of tiles.

The paper profile is HealthAgentBench's rule to the letter: tile F1 of at least 0.90, with its
reading of the submitted file. The strict profile asks the same of a selection that says one thing
only.
"""

from __future__ import annotations

from healthgym.core.task import Task
from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.tumor_area.submission import Reading, read_paper, read_strict
from healthgym.envs.tumor_area.task import PASS, TumorReference
from healthgym.rewards.metrics import agreement, f1_score
from healthgym.worlds.slides.grid import Tile
from healthgym.worlds.slides.sampling import tissue_of
from healthgym.worlds.slides.world import SlideWorld

F1 = Check(
    "tile_f1",
    "The F1 score of the selected tiles against the tumour tiles is at least 0.90.",
)
PLAIN = Check(
    "plain_selection",
    "A selection written as text has one row, for this task; its tiles are pairs of whole numbers "
    "inside the grid; contains_tumor, where given, agrees with them, and nothing else is said.",
    idle=True,
    loophole="Upstream only the first row of a submission counts, true and false pass as 1 and 0, "
    "and tiles that are no tiles are dropped without a word.",
)


class TumorAreaVerifier(Verifier[Task, TumorReference, SlideWorld]):
    """Judges the selection as it was handed in.

    Progress is Cohen's kappa over the tiles with tissue: 0 for all of them, and for a guess.
    """

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile."""
        return (F1,) if profile is Profile.PAPER else (F1, PLAIN)

    def judge(
        self, evidence: Evidence[Task, TumorReference, SlideWorld], profile: Profile
    ) -> Judgement:
        """Return what is found; total over whatever was selected."""
        reading = selection_of(evidence.after, evidence.task, profile)
        metrics = metrics_of(reading.tiles, evidence.reference)
        f1 = metrics["f1"]
        results = [F1.result(f1 >= PASS, f"F1 is {f1:.3f}", credit=f1)]
        if profile is Profile.STRICT:
            results.append(PLAIN.result(not reading.fault, reading.fault))
        made = agreement(
            frozenset() if reading.fault else reading.tiles,
            frozenset(evidence.reference.tiles),
            frozenset(tissue_of(evidence.after.slide)),
        )
        return Judgement.of(results, progress=made.reached, chance=made.chance, metrics=metrics)


def selection_of(world: SlideWorld, task: Task, profile: Profile) -> Reading:
    """Return the selected tiles as a profile reads them."""
    if world.text is None:
        return Reading(world.tiles)
    if profile is Profile.PAPER:
        return Reading(read_paper(world.text, task.task_id))
    return read_strict(world.text, task.task_id, task.instruction, world.grid)


def metrics_of(tiles: frozenset[Tile], reference: TumorReference) -> dict[str, float]:
    """Return the figures the source reports: 0 where nothing is selected.

    Args:
        tiles: The selected tiles; those outside of the grid count as wrong.
        reference: Where the tumour is.
    """
    gold = frozenset(reference.tiles)
    hits = len(tiles & gold)
    covered = sum(reference.areas.get(tile, 0) for tile in tiles)
    # The diagnostic counts the tumour's pixels wherever they lie, in tumour tiles or not.
    total = sum(reference.areas.values())
    return {
        "precision": hits / len(tiles) if tiles else 0.0,
        "recall": hits / len(gold) if gold else 0.0,
        "f1": f1_score(hits, len(tiles) - hits, len(gold) - hits) if tiles else 0.0,
        "tumor_coverage": covered / total if total else 0.0,
        "selected": float(len(tiles)),
    }
