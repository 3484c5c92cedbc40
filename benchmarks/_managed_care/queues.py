"""What became of queues: the cases that were solved, with intervals, and how the others failed."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from _harness import Figures

from healthgym.core.verdict import Profile
from healthgym.policies.statistics import pass_at_k, pass_hat_k
from healthgym.policies.suites import published_interval

#: What is told of a queue besides what was solved; means over queues.
_TOLD = (
    "abandoned",
    "deadline_misses",
    "wrong_case_writes",
    "carried_facts",
    "calls_per_touched_case",
)
#: Shares that are told with their interval.
_BOUNDED = ("solved", "finished")


class Tally:
    """What became of the queues that one policy worked.

    Cases of one queue are not independent: intervals are the published bootstrap over queues, 1,000
    resamples from seed 0.

    Args:
        attempts: How often each queue is worked.
    """

    def __init__(self, attempts: int = 1) -> None:
        self._attempts = attempts
        self._shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._told: dict[str, list[float]] = defaultdict(list)
        self._solved: Counter[tuple[str, str]] = Counter()
        self._modes: Counter[str] = Counter()
        self._failed = 0

    def add(self, episode: Any) -> None:
        """Count an episode."""
        queue = episode.task.task_id
        strict, paper = (episode.verdict(profile=one) for one in (Profile.STRICT, Profile.PAPER))
        found = strict.metrics
        self._shares["solved"][queue].append(found["solved"] / found["cases"])
        self._shares["finished"][queue].append(found["finished"] / found["cases"])
        self._shares["paper_solved"][queue].append(paper.metrics["solved"] / found["cases"])
        self._shares["whole_queue"][queue].append(float(strict.success))
        for name in _TOLD:
            self._told[name].append(found[name])
        for key, part in strict.parts.items():
            self._solved[queue, key] += part.success
            if not part.success:
                self._failed += 1
                self._modes.update(part.failure_modes)

    def figures(self) -> Figures:
        """Return shares with their intervals, what is told besides, and the kinds of failure.

        Shares of kinds of failure are of the cases that were not solved; one may have several.
        """
        figures: Figures = {"queues": len(self._shares["solved"])}
        for name, shares in self._shares.items():
            found = published_interval(shares)
            figures[name] = found.estimate
            if name in _BOUNDED:
                figures |= {f"{name}_low": found.low, f"{name}_high": found.high}
        figures |= {name: float(np.mean(each)) for name, each in self._told.items()}
        modes = {mode: count / self._failed for mode, count in self._modes.most_common()}
        return {**figures, "failures": modes}

    def passes(self, k: int) -> Figures:
        """Return pass@1, pass@k and pass^k of a case, averaged over cases, with their intervals."""
        figures: Figures = {}
        for name, rate in (("pass_at", pass_at_k), ("pass_hat", pass_hat_k)):
            for many in (1, k):
                rates: dict[str, list[float]] = defaultdict(list)
                for (queue, _), hits in self._solved.items():
                    rates[queue].append(rate(self._attempts, hits, many))
                found = published_interval(rates)
                figures[f"{name}_{many}"] = found.estimate
                figures |= {f"{name}_{many}_low": found.low, f"{name}_{many}_high": found.high}
        return figures
