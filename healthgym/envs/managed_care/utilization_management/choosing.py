"""Which documents of a chart a practice sends with a request, and which it overlooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.records.chart import DocumentReference

#: How many pages are sent along that have no bearing: fewest and most.
_BESIDES = (2, 4)
#: How many are sent along, at most, that say again what others say.
_ALSO = 2


class Shelf:
    """The documents of a chart, as somebody looks at them who puts a packet together.

    Args:
        case: The case.
    """

    def __init__(self, case: DrawnCase) -> None:
        chart, found = case.patient.chart, case.found
        facts = {fact for each in found.criteria.values() for fact in each.facts}
        self._case = case
        self._needed = case.drawn.needed(found)
        self._facts = frozenset(facts | self._needed)
        self._shows = stating(chart.shows, self._facts)
        self._kinds = sorted(map(str, case.book.in_force.required_documents))
        counting = [page for page in chart.documents if page.id not in case.patient.void]
        telling = {page.id for page in counting if facts & self._told(page.id)}
        kinds = {str(page.kind) for page in counting if page.id in telling}
        mute = set(self._kinds) - kinds
        self._able = [p for p in counting if p.id in telling or str(p.kind) in mute]

    def picked(self) -> tuple[str, ...]:
        """Return what is sent: few documents that show what is needed, or all that bears on it."""
        submits = isinstance(self._case.drawn.ending, Course)
        return self._few(self._able, self._needed if submits else self._facts)

    def also(self, kept: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
        """Return documents sent along that show no more of what bears on it than is sent already.

        Args:
            kept: What is sent.
            rng: Where chance comes from.
        """
        shown, kinds = self.shown(kept), {str(p.kind) for p in self._able if p.id in kept}
        able = [
            page.id
            for page in self._able
            if page.id not in kept and self._told(page.id) <= shown and str(page.kind) in kinds
        ]
        most = int(rng.integers(_ALSO + 1))
        return tuple(able[int(place)] for place in rng.permutation(len(able))[:most])

    def without(
        self, facts: frozenset[str], *, frank: bool = False
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what is sent if no document is that shows some facts, and what is lacking then.

        Args:
            facts: Ids of facts.
            frank: Whether the rest is sent whole, what stands against the request included.
        """
        meant = self._facts if frank else self._needed
        rest = [page for page in self._able if not facts & self._told(page.id)]
        kept = self._few(rest, meant)
        lacking = (meant | facts) - self.shown(kept)
        others = [page for page in self._able if page.id not in kept]
        held = self._cover(others, lacking)
        return kept, self._with_kinds(others, held, (*kept, *held))

    def besides(self, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return pages that a practice sends although they have no bearing on the policy.

        Without them whoever cites the whole packet would cite rightly, and whoever approves once
        something is sent in reply. Pages of the kinds that do bear on it come first, or whoever
        cites by the kind of a page would.

        Args:
            rng: Where chance comes from.

        Returns:
            Those that are sent with the request, and one that may be sent in reply.
        """
        bearing = {page.id for page in self._able} | self._case.patient.void
        kinds = {page.kind for page in self._able}
        able = [page for page in self._case.patient.chart.documents if page.id not in bearing]
        most = int(rng.integers(_BESIDES[0], _BESIDES[1] + 1))
        mixed = [able[int(place)] for place in rng.permutation(len(able))]
        order = [page.id for page in sorted(mixed, key=lambda page: page.kind not in kinds)]
        return tuple(order[:most]), tuple(order[most : most + 1])

    def shown(self, names: Iterable[str]) -> frozenset[str]:
        """Return what documents show of what bears on the policy."""
        return frozenset(fact for name in names for fact in self._told(name))

    def _few(self, pages: Sequence[DocumentReference], facts: Iterable[str]) -> tuple[str, ...]:
        picked = self._cover(pages, facts)
        return self._with_kinds(pages, picked, picked)

    def _cover(self, pages: Sequence[DocumentReference], facts: Iterable[str]) -> tuple[str, ...]:
        """Return few documents that show facts, as far as they do."""
        left, picked = set(facts), []
        while left and pages:
            best = max(pages, key=lambda page: len(left & self._told(page.id)))
            told = left & self._told(best.id)
            if not told:
                break
            picked.append(best.id)
            left -= told
        return tuple(picked)

    def _with_kinds(
        self,
        pages: Sequence[DocumentReference],
        picked: tuple[str, ...],
        there: tuple[str, ...],
    ) -> tuple[str, ...]:
        """Return documents, and the latest of each required kind that is not there."""
        kinds = {str(page.kind) for page in self._able if page.id in there}
        lacking = [kind for kind in self._kinds if kind not in kinds]
        more = [p.id for kind in lacking for p in [q for q in pages if str(q.kind) == kind][-1:]]
        return (*picked, *more)

    def _told(self, name: str) -> frozenset[str]:
        return self._shows.get(name, frozenset())
