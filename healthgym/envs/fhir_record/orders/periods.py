"""Moments and periods of an order."""

from __future__ import annotations

from datetime import datetime, timedelta

from healthgym.envs.fhir_record.view import parse_time

_DAY = timedelta(days=1)


def read_period(period: object) -> tuple[datetime | None, datetime | None] | None:
    """Return start and end of a FHIR Period; None if it cannot be read, or ends too early."""
    if not isinstance(period, dict) or period.keys() - {"start", "end", "id"}:
        return None
    ends: list[datetime | None] = []
    for name in ("start", "end"):
        value = period.get(name)
        moment = parse_time(value) if isinstance(value, str) else None
        if value is not None and moment is None:
            return None
        ends.append(moment)
    start, end = ends
    if start is not None and end is not None and end < start:
        return None
    return start, end


def in_reach(moment: datetime, earliest: datetime, latest: datetime) -> bool:
    """Return whether a moment lies in a window; a bare date counts as its whole day."""
    if earliest <= moment <= latest:
        return True
    bare = moment == moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return bare and moment <= latest and moment + _DAY > earliest
