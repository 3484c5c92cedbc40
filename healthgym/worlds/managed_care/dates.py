"""Days and times as people write them down, and the one form in which they are kept.

The forms are those of the source: a day in ISO form (with or without a time), or month, day and
year with slashes or hyphens. The source checks them when it reads a record back, so that one bad
day locks every intake; here they are checked at the desk, before anything is kept.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

_AMERICAN = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})")


def normalized_day(text: str | None, what: str) -> str | None:
    """Return a day in ISO form; None if nothing is written.

    Args:
        text: As it was written: ``2026-03-13``, ``2026-03-13T09:00:00``, ``03/13/2026`` or
            ``03-13-2026``.
        what: What it is, for the sentence: ``request_date``.

    Raises:
        Refusal: If it is no day.
    """
    bare = (text or "").strip()
    if not bare:
        return None
    day = _day(bare)
    if day is None:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{what} is {bare[:40]!r}, which is no day; "
            "accepted are 2026-03-13, 03/13/2026 and 03-13-2026.",
        )
    return day.isoformat()


def moment(text: str, what: str) -> datetime:
    """Return a time; without a zone it is UTC.

    Args:
        text: As it was written: ``2026-03-20T09:00`` or ``2026-03-20T09:00:00Z``.
        what: What it is, for the sentence: ``sla_deadline``.

    Raises:
        Refusal: If it is no time.
    """
    found = moment_in(text)
    if found is None:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{what} is {text.strip()[:40]!r}, which is no time; accepted is 2026-03-20T09:00, "
            "in UTC.",
        )
    return found


def moment_in(text: str) -> datetime | None:
    """Return a time as :func:`moment` does; None if it is none."""
    try:
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # the year 9999 of one zone is 10000 in another
        return None


def _day(text: str) -> date | None:
    american = _AMERICAN.fullmatch(text)
    try:
        if american:
            return date(int(american[4]), int(american[1]), int(american[3]))
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None
