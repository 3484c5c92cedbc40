"""Days counted in months and weeks."""

from __future__ import annotations

import calendar
from datetime import date


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last day if it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def weeks_between(first: date, last: date) -> int:
    """Return the completed weeks from one day to another."""
    return (last - first).days // 7
