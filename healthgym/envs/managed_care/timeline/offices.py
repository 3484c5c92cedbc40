"""Who somebody is, on which side, and what the clocks of an office show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from healthgym.worlds.managed_care.calendar import OfficeCalendar, office_calendar
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.world import ManagedCareWorld

_PROVIDERS = frozenset({WorkerRole.PA_COORDINATOR, WorkerRole.CLINICIAN})
#: Names in the log that are no people.
_OFFICES = {"calendar": "Calendar", "SYSTEM": "System", "": "System"}


class Offices:
    """The people of a world, and their clocks.

    Args:
        world: The world; it is not changed.
    """

    def __init__(self, world: ManagedCareWorld) -> None:
        self._staff = world.staff
        worker = world.staff.workers.get(world.actor)
        self.region = worker.region if worker else ""
        #: Of whoever sits at the desk: by it the page's days are told.
        self.home = self.calendar(world.actor)

    def name(self, person: str) -> str:
        """Return what somebody is called; the id itself where nobody knows."""
        for known in (self._staff.workers, self._staff.contacts, self._staff.practitioners):
            if person in known:
                return str(known[person].name)
        return _OFFICES.get(person, person)

    def role(self, person: str) -> str:
        """Return what somebody is employed as, in words; empty if nobody knows."""
        role = self._staff.role_of(person)
        return words(role) if role else ""

    def side(self, person: str) -> str:
        """Return whose somebody is: ``provider``, ``payer``, or ``calendar`` for what happens."""
        role = self._staff.role_of(person)
        if person in _OFFICES:
            return "calendar"
        if role is None:
            return "provider" if person in self._staff.practitioners else "payer"
        return "provider" if role in _PROVIDERS else "payer"

    def known(self, person: str) -> bool:
        """Return whether an id is somebody's."""
        return self.name(person) != person

    def region_of(self, person: str) -> str:
        """Return the region whose clock somebody works by; empty if nobody knows."""
        worker = self._staff.workers.get(person)
        return worker.region if worker else ""

    def calendar(self, person: str) -> OfficeCalendar:
        """Return the hours somebody keeps; those of the desk where none are known."""
        worker = self._staff.workers.get(person)
        return (
            office_calendar(worker.region, worker.hours) if worker else office_calendar(self.region)
        )

    def zone(self) -> str:
        """Return the name of the desk's time, such as ``central``."""
        regions = OperatingRules().regions
        found = (region.name for region in regions if self.region in region.states)
        return next(found, regions[0].name)


def closed_because(calendar: OfficeCalendar, day: date) -> str:
    """Return why an office is closed all day; empty if it opens."""
    if calendar.is_business_day(day):
        return ""
    return calendar.holiday(day) or "weekend"


def days_between(first: date, last: date) -> Iterator[date]:
    """Yield the days after one and before another."""
    day = first + timedelta(days=1)
    while day < last:
        yield day
        day += timedelta(days=1)


def shown_time(at: datetime) -> str:
    """Return a time of day, such as ``09:05``."""
    return f"{at:%H:%M}"


def words(name: object) -> str:
    """Return an identifier in words: ``docs_needed`` as ``docs needed``."""
    return str(name).replace("_", " ")
