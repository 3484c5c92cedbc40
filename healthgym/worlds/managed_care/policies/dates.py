"""Days counted in months and weeks."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

from numpy.random import Generator

#: Days that every month has.
_SHORTEST = 28


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last day if it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    if day.day <= _SHORTEST:
        return date(year, month + 1, day.day)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def weeks_between(first: date, last: date) -> int:
    """Return the completed weeks from one day to another."""
    return (last - first).days // 7


def day_within(rng: Generator, today: date, months: int) -> date:
    """Return a day before today that a look-back of so many months still covers."""
    span = (today - months_before(today, months)).days
    return today - timedelta(days=int(rng.integers(1, span + 1)))


def day_too_old(rng: Generator, today: date, months: int) -> date:
    """Return a day that a look-back misses, by three weeks at most."""
    return months_before(today, months) - timedelta(days=int(rng.integers(1, 22)))
