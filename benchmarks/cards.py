"""Measure a card of every registered environment; write results/cards.json.

    python benchmarks/cards.py                                           # all of them
    python benchmarks/cards.py --only HealthAgent/TrialMatching-v1       # repeatable
    python benchmarks/cards.py --train RUNS --only HealthAgent/FhirRecord-v1

A card says how many tasks were played, on which processor and of which commit. With ``--train`` the
small model is trained as well, in a folder below RUNS; a card that is measured anew without it
keeps what was known. `healthgym card ID` measures the same, and the page of an environment shows
it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from _harness import Figures, Run, Suite

from healthgym.registration import TABLE

ROOT = Path(__file__).resolve().parents[1]


class Cards(Suite):
    """A suite whose measures are ids."""

    def merged(self, report: Mapping[str, Any], name: str, figures: Figures) -> dict[str, Any]:
        """Replace the card of an id, and keep its training if there is no new one."""
        known = report.get("figures", {}).get(name, {})
        if figures["training"] is None:
            figures = {**figures, "training": known.get("training")}
        return super().merged(report, name, figures)

    def rows(self, name: str, figures: Figures) -> Iterator[str]:
        """Yield the success of each policy, and the share of groups without variance."""
        for one in figures["baselines"]:
            rate = one["success"]
            yield f"{name} {one['policy']:<24} {rate['estimate']:>7.1%} of {rate['n']}"
        for one in figures["groups"]:
            same = one["same_success"]
            yield f"{name} groups of {one['policy']:<14} {same['estimate']:>7.1%} of {same['n']}"


def card(env_id: str, run: Run) -> Figures:
    """Return the card of an environment."""
    from healthgym.testing.cards import Effort, measure, train

    effort = Effort(run.tasks(40), 2.0 if run.quick else run.options.seconds)
    told = partial(print, file=sys.stderr, flush=True)
    found = measure(env_id, effort, checkout=ROOT, told=told)
    if run.options.train:
        out = run.options.train / env_id.rpartition("/")[2]
        trained = train(env_id, out, quick=run.quick, checkout=ROOT)
        found = found.model_copy(update={"training": trained})
    figures: Figures = json.loads(found.model_dump_json())
    return figures


suite = Cards("cards", __doc__)
suite.parser.add_argument("--seconds", type=float, default=20.0, help="of a policy, about")
suite.parser.add_argument("--train", type=Path, metavar="RUNS", help="train the small model, too")
for row in TABLE:
    suite.measure(row.id)(partial(card, row.id))


if __name__ == "__main__":
    raise SystemExit(suite.main())
