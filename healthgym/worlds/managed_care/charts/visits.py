"""When a patient was seen: encounters follow from the days on which something became true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Intolerance

#: What comes within so many days before a visit belongs to it: bloods are drawn a week ahead.
_GATHERED = timedelta(days=10)


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


def visits_of(facts: Sequence[AnyFact], first: date, today: date) -> tuple[Visit, ...]:
    """Return the visits of a patient, oldest first.

    Args:
        facts: What is true of the patient.
        first: Since when records are kept; what is older is history.
        today: The day of the world; later days are left out.
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
        if group and event[0] - group[0][0] > _GATHERED:
            visits.append(_visit(group, facts))
            group = []
        group.append(event)
    if group:
        visits.append(_visit(group, facts))
    return tuple(visits)


def _visit(group: list[tuple[date, int]], facts: Sequence[AnyFact]) -> Visit:
    places = dict.fromkeys(place for _, place in group)
    return Visit(group[-1][0], group[0][0], tuple(facts[place] for place in places))


def visit_for(visits: Sequence[Visit], day: date) -> int | None:
    """Return the place of the first visit at or after a day, or of the last one before it.

    None if there are no visits.
    """
    for place, visit in enumerate(visits):
        if visit.day >= day:
            return place
    return len(visits) - 1 if visits else None


def moment(day: date, minute: int) -> datetime:
    """Return a time of a day, in UTC.

    Args:
        day: The day.
        minute: Minutes after midnight.
    """
    return datetime.combine(day, time(minute // 60, minute % 60), UTC)


def concerns(visit: Visit) -> str:
    """Return in a few words why the patient was seen, for the encounter's summary."""
    fresh = [fact for fact in visit.facts if isinstance(fact, Diagnosis)]
    if fresh:
        return f"New problem: {fresh[0].display}"
    if any(isinstance(fact, Intolerance) for fact in visit.facts):
        return "Reaction to a medicine reviewed"
    return ""
