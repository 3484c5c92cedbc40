"""Rows of raw tables as a hospital extracts them, and the draws they are made of."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np

from healthgym.core.borders import Json, JsonObject

#: A day, in minutes.
DAY = 24 * 60
#: Minute 0 of all times.
START = datetime(2130, 1, 1)
#: When first stays may begin, in minutes.
SPAN = 60 * 365 * DAY
#: Item numbers of each kind lie in the 9000 from here on.
_FIRST_ITEM = {
    "labs": 50_000,
    "vitals": 220_000,
    "outputs": 230_000,
    "infusions": 240_000,
    "procedures": 250_000,
    "datetimes": 260_000,
}
#: Tables of events, whose rows come in no order and sometimes twice.
_EVENTS = frozenset(
    {"hosp/labevents", "hosp/emar", "hosp/omr", "icu/chartevents", "icu/outputevents"}
)

Entry = TypeVar("Entry")


@cache
def vocabulary() -> JsonObject:
    """Return the words, items and columns that tables are made of."""
    text = files("healthgym.worlds.etl").joinpath("vocabulary.json").read_text("utf-8")
    return dict(json.loads(text))


class Extract:
    """Draws values and collects rows, table by table.

    Args:
        rng: Where the draws come from.
        busy: How much happens; 1 is about a hundred rows a patient.
    """

    def __init__(self, rng: np.random.Generator, busy: float) -> None:
        self._rng = rng
        self._drawn: list[float] = []
        self._busy = busy
        self.words = vocabulary()
        self.rows: dict[str, list[list[object]]] = {table: [] for table in self.words["columns"]}
        self.items = {
            kind: self._numbered(self.words[kind], first) for kind, first in _FIRST_ITEM.items()
        }
        self._next = self.within(20_000_000, 29_000_000)

    def _numbered(self, entries: Sequence[object], first: int) -> list[tuple[int, Any]]:
        numbers = first + self._rng.permutation(9000)[: len(entries)]
        return [(int(number), entry) for number, entry in zip(numbers, entries, strict=True)]

    def next_id(self) -> int:
        """Return an id that was not given before."""
        self._next += self.within(1, 900)
        return self._next

    def uniform(self) -> float:
        """Return a number in [0, 1). Drawn thousands at a time: single draws cost most of a row."""
        if not self._drawn:
            self._drawn = self._rng.random(4096).tolist()
        return self._drawn.pop()

    def one(self, values: Sequence[Entry]) -> Entry:
        """Return one of the values."""
        return values[int(self.uniform() * len(values))]

    def word(self, name: str, missing: float = 0.0) -> Json:
        """Return an entry of a list of the vocabulary, and now and then nothing."""
        return "" if self.uniform() < missing else self.one(self.words[name])

    def count(self, mean: float) -> int:
        """Return how often something happens."""
        return int(self._rng.poisson(mean * self._busy))

    def within(self, start: int, end: int) -> int:
        """Return an integer in [start, end), and start if there is none."""
        return start + int(self.uniform() * max(end - start, 1))

    def between(self, low: float, high: float) -> float:
        """Return a number in [low, high)."""
        return low + (high - low) * self.uniform()

    def later(self, minute: int, most: int, missing: float = 0.03) -> str:
        """Return when a row was stored: a while after the minute; now and then it is not said."""
        return "" if self.uniform() < missing else time_text(minute + self.within(1, most))

    def add(self, table: str, *values: object) -> None:
        """Add a row to a table."""
        self.rows[table].append(list(values))

    def reading(self, low: float, high: float) -> tuple[str, str]:
        """Return value and number: most are the same, some are text, some have a sign."""
        drawn = self.uniform()
        value = f"{self.between(low, high):.{1 if high > 3 else 2}f}"
        if drawn < 0.04:
            return self.one(("NEG", "SEE COMMENT", "___")), ""
        if drawn < 0.10:
            return f"<{value}", value
        return value, value

    def csv(self, table: str) -> bytes:
        """Return the rows of a table as CSV, in the order such an extract has."""
        rows = self.rows[table]
        order = self._rng.permutation(len(rows))
        repeated = order[: len(rows) // 60]  # some rows are there twice, as in real extracts
        sink = io.StringIO()
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(self.words["columns"][table])
        chosen = np.concatenate([order, repeated]) if table in _EVENTS else np.arange(len(rows))
        writer.writerows(rows[int(place)] for place in chosen)
        return sink.getvalue().encode()


def time_text(minute: int) -> str:
    """Return a time as the tables write it."""
    return (START + timedelta(minutes=minute)).isoformat(" ")


def day_text(minute: int) -> str:
    """Return a day as the tables write it."""
    return time_text(minute)[:10]
