"""Measure what a reader finds in the handbook, into results/handbook_questions.json.

    python benchmarks/handbook_questions.py

Two hundred questions, the answer to each of which stands in one place. Who looks them up has the
tools and no model: found is the page among the first hits, answered the sentence in the passages
that fit best. The same questions are asked of pages with the numbers of tasks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from _harness import Figures, Run, Suite, at_least
from _managed_care.quoting import look_up, questions, reader_of

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.handbook.library import Library
    from healthgym.worlds.managed_care.handbook.rules import OperatingRules

QUESTIONS = (
    Path(__file__).resolve().parents[1] / "tests/worlds/managed_care/handbook/questions.jsonl"
)
_TASKS = 10

suite = Suite("handbook_questions", __doc__)


@suite.measure(bounds={"found_1": at_least(0.7), "found_3": at_least(0.9)})
def standing(run: Run) -> Figures:
    """Ask the standing edition."""
    from healthgym.worlds.managed_care.handbook.rules import OperatingRules

    return _asked([OperatingRules()])


@suite.measure(bounds={"found_1": at_least(0.7), "found_3": at_least(0.9)})
def numbers_of_tasks(run: Run) -> Figures:
    """Ask pages with numbers of their own, of both offices and of care management."""
    import numpy as np

    from healthgym.worlds.managed_care.handbook.draws import draw, draw_care

    seeds = range(run.tasks(_TASKS))
    drawn = [draw(np.random.default_rng(seed)) for seed in seeds]
    return _asked([*drawn, *(draw_care(np.random.default_rng(seed)) for seed in seeds)])


@suite.measure(bounds={"found_3": at_least(0.7)})
def full(run: Run) -> Figures:
    """Ask the full library, whose thousands of policies are in the way."""
    from healthgym.envs.managed_care.cases.clinic import page_of
    from healthgym.worlds.managed_care.handbook.full import full_library
    from healthgym.worlds.managed_care.handbook.medical import every_policy
    from healthgym.worlds.managed_care.handbook.rules import OperatingRules

    with tempfile.TemporaryDirectory() as folder:
        library = full_library(every_policy(page_of), Path(folder))
        return _asked([OperatingRules()], library)


def _asked(editions: Sequence[OperatingRules], base: Library | None = None) -> Figures:
    """Ask every question of every edition, over the written library or another, and count."""
    from healthgym.worlds.managed_care.handbook.edition import edition, written_library

    library = base or written_library()
    asked = questions(QUESTIONS)
    names = ("found_1", "found_3", "found_5", "answered_1", "answered_3")
    met = dict.fromkeys(names, 0)
    words = 0
    for rules in editions:
        tools = reader_of(library.overlay(edition().overlay(rules)))
        for each in asked:
            found, answer = look_up(tools, each.question), each.filled(rules)
            for most in (1, 3, 5):
                met[f"found_{most}"] += each.page in found.pages[:most]
            for most in (1, 3):
                met[f"answered_{most}"] += any(answer in text for text in found.passages[:most])
            words += len(found.passages[0].split()) if found.passages else 0
    total = len(asked) * len(editions)
    shares = {name: times / total for name, times in met.items()}
    return {"questions": len(asked), "editions": len(editions), **shares, "words": words / total}


if __name__ == "__main__":
    raise SystemExit(suite.main())
