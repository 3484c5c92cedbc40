"""When a patient is seen: hospital stays and clinic visits within a window of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from healthgym.worlds.fhir.cohort.tables import Bools, Floats, Ints

DAY_S = 86_400
CLOSING_S = 900
"""The last event lies at least this long before the window's end, so that it can be released."""

_CURRENT_STAY = 0.45
_PACIFIC_STANDARD_S, _PACIFIC_DAYLIGHT_S = 8 * 3600, 7 * 3600
_FIRST_YEAR, _LAST_YEAR = 1990, 2060


@dataclass(frozen=True, slots=True)
class Course:
    """Stays (``start``, ``cumulative`` lengths in seconds) and clinic ``visits``."""

    start: Floats
    cumulative: Floats
    visits: Floats

    def moments(self, rng: np.random.Generator, inpatient: Bools) -> Ints:
        """Draw one moment for each entry of ``inpatient``: within a stay or at a visit.

        Returns:
            Epoch seconds on the full minute, unordered; shape (N,).
        """
        u = rng.random(len(inpatient))
        within = u * self.cumulative[-1]
        stay = np.minimum(self.cumulative.searchsorted(within, "right"), len(self.start) - 1)
        before = np.concatenate(([0.0], self.cumulative[:-1]))
        moments = self.start[stay] + within - before[stay]
        visit = (u * len(self.visits)).astype(np.int64)
        moments = np.where(inpatient, moments, self.visits[visit])
        return moments.astype(np.int64) // 60 * 60


def draw_course(rng: np.random.Generator, start: int, end: int, density: float) -> Course:
    """Draw the stays and visits between two epoch seconds.

    About one stay in five years at the lowest density and 17 at density 1; in nearly half of the
    courses the last stay is still going on at ``end``.
    """
    root = density**0.5
    stays, visits = rng.poisson((16 * root, 45 * root)).tolist()
    stays, visits = stays + 1, visits + 3
    last = end - CLOSING_S
    length = np.minimum(rng.lognormal(1.3, 0.6, stays), 30.0) * DAY_S
    length = np.minimum(length, (last - start) / 2)
    u = rng.random(stays + 2 * visits + 2)
    begin = start + u[:stays] * (last - length - start)
    if u[-1] < _CURRENT_STAY:
        begin[0] = last - length[0] * (0.2 + 0.8 * u[-2])
        length[0] = last - begin[0]
    # Clinics see patients from 15:00 to 24:00 UTC, the working day on the Pacific coast.
    day = np.floor((start + u[stays : stays + visits] * (last - start)) / DAY_S) * DAY_S
    seen = day + (15 + 9 * u[stays + visits : stays + 2 * visits]) * 3600
    seen = np.where(seen > last, seen - DAY_S, seen)
    return Course(start=begin, cumulative=length.cumsum(), visits=np.maximum(seen, start))


def spread_out(moments: Ints) -> Ints:
    """Sort moments and move them back by minutes until no two agree; none gets later."""
    steps = 60 * np.arange(len(moments))
    return np.minimum.accumulate((np.sort(moments) - steps)[::-1])[::-1] + steps


def local_midnight(moments: Ints) -> Ints:
    """Return the Pacific midnight at or before each moment: 08:00Z, or 07:00Z in summer.

    The published server dates orders so; it follows the daylight saving rule in force since 2007
    (second Sunday of March to first Sunday of November).
    """
    summer = _daylight_limits().searchsorted(moments, "right") % 2 == 1
    offset = np.where(summer, _PACIFIC_DAYLIGHT_S, _PACIFIC_STANDARD_S)
    return (moments - offset) // DAY_S * DAY_S + offset


@cache
def _daylight_limits() -> Ints:
    """Return when summer time begins and ends, in turn, in epoch seconds."""
    years = np.arange(_FIRST_YEAR, _LAST_YEAR).astype(str)
    limits = []
    for month, sunday, offset in (
        ("03", 2, _PACIFIC_STANDARD_S),
        ("11", 1, _PACIFIC_DAYLIGHT_S),
    ):
        first = np.char.add(years, f"-{month}-01").astype("datetime64[D]").astype(np.int64)
        # 1970-01-01 was a Thursday, so day numbers that are 3 modulo 7 are Sundays.
        day = first + (3 - first) % 7 + 7 * (sunday - 1)
        limits.append(day * DAY_S + offset + 2 * 3600)
    return np.stack(limits, axis=1).ravel()
