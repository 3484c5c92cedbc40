"""FHIR dates as half-open ranges of microseconds, and the nine comparison prefixes.

A partial date stands for the whole period it names (FHIR R4, Search, section 3.1.1.4.5). A stored
time given to the second or finer is taken as an instant, as production servers index it, so that
``gt10:15:00.000Z`` does not match a value stored as ``10:15:00+00:00``.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

SECOND = 1_000_000
DAY = 86_400 * SECOND
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_APPROXIMATION_DIVISOR = 10  # "ap" widens by 10 % of the distance between the date and now

_DATE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2})"
    # A "+" in a query string that was not escaped arrives as a space: accept it before an offset.
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?P<zone>Z|[+\- ]\d{2}:\d{2})?)?)?)?",
    re.ASCII,
)


class Interval(NamedTuple):
    """The microseconds since 1970 (UTC) from ``low`` up to but excluding ``high``."""

    low: int
    high: int


class Prefix(StrEnum):
    """Comparison prefixes of date, number and quantity parameters."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    LT = "lt"
    GE = "ge"
    LE = "le"
    SA = "sa"
    EB = "eb"
    AP = "ap"


_PREFIXES = frozenset(Prefix)


def split_prefix(text: str) -> tuple[Prefix, str]:
    """Split ``ge2023-11-13`` into its prefix (``eq`` when absent) and the rest."""
    if text[:2] in _PREFIXES:
        return Prefix(text[:2]), text[2:]
    return Prefix.EQ, text


def microseconds(moment: datetime) -> int:
    """Return the microseconds since 1970 of a timezone-aware datetime."""
    return (moment - _EPOCH) // _MICROSECOND


def parse_interval(text: str) -> Interval:
    """Return the period a FHIR date, dateTime or instant names; no offset means UTC.

    Raises:
        ValueError: If ``text`` is not such a date or names a day that does not exist.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a FHIR date: {text!r}")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    start = date(int(year), int(month or 1), int(day or 1))
    low = (start.toordinal() - _EPOCH_ORDINAL) * DAY
    if month is None:
        return Interval(low, low + (366 if calendar.isleap(start.year) else 365) * DAY)
    if day is None:
        return Interval(low, low + calendar.monthrange(start.year, start.month)[1] * DAY)
    if hour is None:
        return Interval(low, low + DAY)
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"not a time of day: {text!r}")
    low += (hours * 3600 + minutes * 60 + seconds) * SECOND
    if zone not in (None, "Z"):
        offset = (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60) * SECOND
        low += offset if zone[0] == "-" else -offset
    if second is None:
        return Interval(low, low + 60 * SECOND)
    if fraction is None:
        return Interval(low, low + SECOND)
    low += int(fraction[:6].ljust(6, "0"))
    return Interval(low, low + 10 ** max(0, 6 - len(fraction)))


def stored_interval(text: str) -> Interval:
    """Return the period a stored value covers; seconds and finer are an instant.

    Raises:
        ValueError: As :func:`parse_interval`.
    """
    interval = parse_interval(text)
    if interval.high - interval.low <= SECOND:
        return Interval(interval.low, interval.low + 1)
    return interval


@overload
def compare(prefix: Prefix, low: int, high: int, asked: Interval, now: int) -> bool: ...
@overload
def compare(
    prefix: Prefix, low: NDArray[np.int64], high: NDArray[np.int64], asked: Interval, now: int
) -> NDArray[np.bool_]: ...
def compare(
    prefix: Prefix,
    low: int | NDArray[np.int64],
    high: int | NDArray[np.int64],
    asked: Interval,
    now: int,
) -> bool | NDArray[np.bool_]:
    """Say whether stored periods stand in the asked relation to a period.

    Args:
        prefix: The relation.
        low: Start of the stored period(s), microseconds; a scalar or an array of shape ``(n,)``.
        high: End of the stored period(s), excluded; same shape.
        asked: The period named by the search.
        now: The current time in microseconds; only ``ap`` uses it.

    Returns:
        One truth value per stored period.
    """
    contained = (asked.low <= low) & (high <= asked.high)
    match prefix:
        case Prefix.EQ:
            return contained
        case Prefix.NE:
            return contained ^ True
        case Prefix.GT:
            return high > asked.high
        case Prefix.LT:
            return low < asked.low
        case Prefix.GE:
            return (high > asked.high) | contained
        case Prefix.LE:
            return (low < asked.low) | contained
        case Prefix.SA:
            return low >= asked.high
        case Prefix.EB:
            return high <= asked.low
        case Prefix.AP:
            slack = abs(now - asked.low) // _APPROXIMATION_DIVISOR
            return (low < asked.high + slack) & (high > asked.low - slack)
