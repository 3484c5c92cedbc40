"""Measure what the look of a task tells of its answer; write results/artefacts.json.

    python benchmarks/artefacts.py                                       # all of them
    python benchmarks/artefacts.py --only HealthAgent/TrialMatching-v1   # repeatable
    python benchmarks/artefacts.py --tasks 100                           # of each side, at most

Classifiers learn from train tasks what `healthgym.testing.check_artefacts` names, and are tried on
held-out ones. An item is told if the lower end of its interval lies above 0.55, corrected for how
many were looked at; what an environment cannot help telling it declares with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from _harness import Figures, Run, Suite

from healthgym.registration import TABLE

#: Most tasks of each side, by a part of the id, where 1500 labels would take too many.
TASKS = {"EhrEventModelling": 70, "Marathon": 60, "Arena": 1000}
LABELS = 1500


class Artefacts(Suite):
    """A suite whose measures are ids."""

    def rows(self, name: str, figures: Figures) -> Iterator[str]:
        """Yield what is told best of each item."""
        for item, one in figures["items"].items():
            yield (
                f"{name} {item:<40} {one['auroc']:>6.3f} (at least {one['low']:.3f}, "
                f"allowed {one['allowed']:.2f}) by {one['by']}, {one['labels']} labels"
            )


def told(env_id: str, run: Run) -> Figures:
    """Return how well the best classifier tells each item of an environment, on held-out tasks."""
    from healthgym.registration import make_health_env
    from healthgym.testing.artefacts import TOLD, artefact_rates

    fewer = (tasks for word, tasks in TASKS.items() if word in env_id)
    rates = artefact_rates(env_id, LABELS, run.tasks(next(fewer, LABELS)))
    declared = make_health_env(env_id).family.proofs.artefacts
    looks = sum(map(len, rates.values()))
    items = {}
    for name, tellings in rates.items():
        best = max(tellings, key=lambda one: one.low(looks))
        items[name] = {
            "auroc": best.auroc,
            "low": best.low(looks),
            "labels": best.labels,
            "by": best.by,
            "allowed": declared[name].most if name in declared else TOLD,
            "reason": declared[name].reason if name in declared else "",
        }
    return {"looks": looks, "items": items}


suite = Artefacts("artefacts", __doc__)
for row in TABLE:
    suite.measure(row.id)(partial(told, row.id))


if __name__ == "__main__":
    raise SystemExit(suite.main())
