"""Rows that a planted error makes look wrong, though they are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from healthgym.envs.ehr_data_quality.catalogue import catalogue
from healthgym.envs.ehr_data_quality.corpus import sort_key
from healthgym.envs.ehr_data_quality.ledger import Ledger, Place

#: Two results this close are compared by whoever looks for contradictions, in seconds: the
#: recipe's five minutes, on either side of a copy that is itself five minutes off.
_NEAR = 600
_TABLES = ("labevents", "chartevents")


class Witnesses:
    """Finds results of the same patient, item and moment as an anchor.

    Args:
        ledger: The corpus and what is planted in it.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        frames = ledger.corpus.frames
        self._keys = {name: sort_key(frames[name], "charttime") for name in _TABLES}
        self._twins: dict[int, set[int]] = {}
        for mirror in catalogue().mirrors:
            self._twins.setdefault(mirror.lab, set()).add(mirror.itemid)
            self._twins.setdefault(mirror.itemid, set()).add(mirror.lab)

    def of(self, anchors: Sequence[Place]) -> Iterator[Place]:
        """Yield the clean rows near the anchors, anchors among them."""
        for table, row in anchors:
            if table not in _TABLES:
                continue
            itemid, key = self._about(table, row)
            items = [itemid, *self._twins.get(itemid, ())]
            for name in _TABLES:
                near = np.searchsorted(self._keys[name], [key - _NEAR, key + _NEAR + 1])
                codes = self._ledger.corpus.frames[name].array("itemid")[near[0] : near[1]]
                for offset in np.flatnonzero(np.isin(codes, items)):
                    yield name, int(near[0] + offset)

    def _about(self, table: str, row: int) -> tuple[int, int]:
        """Return item and sort key of a row, clean or added."""
        frame = self._ledger.corpus.frames[table]
        if row < frame.rows:
            return int(frame.array("itemid")[row]), int(self._keys[table][row])
        cells = self._ledger.added[table][row - frame.rows]
        time = int(np.datetime64(cells["charttime"], "s").astype(np.int64))
        return int(cells["itemid"]), int(cells["subject_id"]) * 2**34 + time
