"""When a patient was seen: encounters follow from the days on which something became true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from healthgym.worlds.managed_care.charts.hours import business_day
from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.facts import AnyFact

#: What comes within so many days before a visit belongs to it: bloods are drawn a week ahead.
_GATHERED = timedelta(days=10)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Visit:
    """A day on which the patient was seen.

    Attributes:
        day: The day.
        since: The first day whose results belong to it.
        facts: What became true in between.
    """

    day: date
    since: date
    facts: tuple[AnyFact, ...]


def visits_of(
    facts: Sequence[AnyFact], first: date, today: date, state: str = ""
) -> tuple[Visit, ...]:
    """Return the visits of a patient, oldest first, on days on which offices open.

    Args:
        facts: What is true of the patient.
        first: Since when records are kept; what is older is history.
        today: The day of the world; later days are left out.
        state: Where the patient is seen, for its holidays.
    """
    events: list[tuple[date, int]] = []
    for place, fact in enumerate(facts):
        for day in {begun(fact), day_of(fact)}:
            if first <= day <= today:
                events.append((day, place))
    events.sort()
    visits: list[Visit] = []
    group: list[tuple[date, int]] = []
    for event in events:
        # Where the office opens again only with what comes next, that belongs to it, too.
        apart = bool(group) and event[0] - group[0][0] > _GATHERED
        if apart and _opens(group[-1][0], state) < event[0]:
            visits.append(_visit(group, facts, state))
            group = []
        group.append(event)
    if group:
        visits.append(_visit(group, facts, state))
    return tuple(visits)


def _visit(group: list[tuple[date, int]], facts: Sequence[AnyFact], state: str) -> Visit:
    places = dict.fromkeys(place for _, place in group)
    day = _opens(group[-1][0], state)
    return Visit(day, group[0][0], tuple(facts[place] for place in places))


def _opens(day: date, state: str) -> date:
    """Return the day or the next on which the office opens."""
    while business_day(day, state) != day:
        day += _DAY
    return day


def visit_for(visits: Sequence[Visit], day: date) -> int | None:
    """Return the place of the first visit at or after a day, or of the last one before it.

    None if there are no visits.
    """
    for place, visit in enumerate(visits):
        if visit.day >= day:
            return place
    return len(visits) - 1 if visits else None
