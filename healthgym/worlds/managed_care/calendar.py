"""Business hours by region: when an office is open, and what is so many business hours from now.

Times are UTC throughout. A state, by its two letters, is served by the region that the operating
rules put it into: on that region's clock and in its hours, closed on weekends, federal holidays
and those of the state. Summer time is from the second Sunday of March to the first of November
(Energy Policy Act of 2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache

from healthgym.worlds.managed_care.handbook.rules import OperatingRules, Region
from healthgym.worlds.managed_care.holidays import holiday, nth_weekday

#: Standard time of the zones in which there are regions, in hours from UTC, and what they are
#: called.
_STANDARD = {
    "America/New_York": -5,
    "America/Chicago": -6,
    "America/Denver": -7,
    "America/Los_Angeles": -8,
}
_NAMES = {-5: "Eastern", -6: "Central", -7: "Mountain", -8: "Pacific"}
_SUNDAY = 6
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_NOTHING = timedelta(0)
_NEVER = datetime.min.replace(tzinfo=UTC)


def is_state(state: str) -> bool:
    """Return whether two letters are those of a state, or of the District of Columbia."""
    return bool(state) and state in _regions()


class OfficeCalendar:
    """The business hours of an office, which never change.

    Args:
        state: Where it is, two letters; elsewhere it is served by the first region and keeps
            federal holidays only.
        hours: From when to when it is open, local time, within one day; those of the region if
            left out.
    """

    def __init__(self, state: str = "", hours: tuple[time, time] | None = None) -> None:
        region = _regions().get(state, _regions()[""])
        self.state = state
        self.opens, self.closes = hours or (time(region.opens), time(region.closes))
        self._standard = timedelta(hours=_STANDARD[region.zone])
        self.zone = _NAMES[_STANDARD[region.zone]]
        self._summer = self._standard + _HOUR
        # What was last answered: from when, until when, and whether it is open all the while.
        self._known = (_NEVER, _NEVER, False)

    def local(self, at: datetime) -> datetime:
        """Return what the office's clocks show, without a zone.

        Args:
            at: Timezone-aware.
        """
        if at.tzinfo is not UTC:
            at = at.astimezone(UTC)
        begins, ends = _summer(at.year, self._standard)
        offset = self._summer if begins <= at < ends else self._standard
        return (at + offset).replace(tzinfo=None)

    def utc(self, day: date, clock: time) -> datetime:
        """Return when the office's clocks show a time, in UTC."""
        return _utc(day, clock, self._standard)

    def holiday(self, day: date) -> str | None:
        """Return the holiday that is kept that day; None if none is."""
        return holiday(day, self.state)

    def is_business_day(self, day: date) -> bool:
        """Return whether the office opens that day."""
        return _is_business_day(day, self.state)

    def is_open(self, at: datetime) -> bool:
        """Return whether the office is open; at closing time it is not."""
        since, until, known = self._known
        if not since <= at < until:  # the same desk is asked of the same hours, call by call
            since, until, known = self._known = self._spell(at)
        return known

    def _spell(self, at: datetime) -> tuple[datetime, datetime, bool]:
        """Return from when, and until when, the office is open, or closed, as it is at a time."""
        local = self.local(at)
        if self.opens <= local.time() < self.closes and self.is_business_day(local.date()):
            return at, self.utc(local.date(), self.closes), True
        return at, self.next_opening(at), False

    def next_opening(self, at: datetime) -> datetime:
        """Return when the office is open next: now, if it is."""
        local = self.local(at)
        day, clock = local.date(), local.time()
        if not self.is_business_day(day) or clock >= self.closes:
            day = self.next_business_day(day)
        elif clock >= self.opens:
            return at.astimezone(UTC)
        return self.utc(day, self.opens)

    def next_business_day(self, day: date) -> date:
        """Return the first day after this one on which the office opens."""
        day += _DAY
        while not self.is_business_day(day):
            day += _DAY
        return day

    def add_business_days(self, at: datetime, days: int) -> datetime:
        """Return the same time of day so many business days later.

        Args:
            at: Timezone-aware. What comes in on a closed day counts as of the next business day.
            days: Business days, from 0.
        """
        local = self.local(at)
        day = local.date()
        if not self.is_business_day(day):
            day = self.next_business_day(day)
        for _ in range(days):
            day = self.next_business_day(day)
        return self.utc(day, local.time())

    def add_business_hours(self, at: datetime, amount: timedelta) -> datetime:
        """Return when the office will have been open for so long.

        Args:
            at: Timezone-aware.
            amount: Of business time; if it is none, the time itself is returned.
        """
        if amount <= _NOTHING:
            return at.astimezone(UTC)
        at = self.next_opening(at)
        day = self.local(at).date()
        while True:
            rest = self.utc(day, self.closes) - at
            if amount <= rest:
                return at + amount
            amount -= rest
            day = self.next_business_day(day)
            at = self.utc(day, self.opens)

    def business_time(self, start: datetime, end: datetime) -> timedelta:
        """Return for how long the office is open from one time to a later one."""
        total = _NOTHING
        at = self.next_opening(start)
        while at < end:
            day = self.local(at).date()
            total += min(end, self.utc(day, self.closes)) - at
            at = self.utc(self.next_business_day(day), self.opens)
        return total


@cache
def office_calendar(state: str = "", hours: tuple[time, time] | None = None) -> OfficeCalendar:
    """Return the calendar of an office; one for all who ask.

    Args:
        state: Where it is, two letters.
        hours: Its hours, where they are not those of the region.
    """
    return OfficeCalendar(state, hours)


@lru_cache(maxsize=8192)
def _is_business_day(day: date, state: str) -> bool:
    return day.weekday() < 5 and holiday(day, state) is None


# Mostly of when offices open and close, on the same days.
@lru_cache(maxsize=8192)
def _utc(day: date, clock: time, standard: timedelta) -> datetime:
    at = datetime.combine(day, clock, tzinfo=UTC) - standard
    begins, ends = _summer((at - _HOUR).year, standard)
    return at - _HOUR if begins <= at - _HOUR < ends else at


@cache
def _summer(year: int, standard: timedelta) -> tuple[datetime, datetime]:
    """Return when summer time begins and ends: at two o'clock as the clocks then show."""
    two = time(2)
    begins = datetime.combine(nth_weekday(year, 3, _SUNDAY, 2), two, tzinfo=UTC) - standard
    ends = datetime.combine(nth_weekday(year, 11, _SUNDAY, 1), two, tzinfo=UTC) - standard
    return begins, ends - _HOUR


@cache
def _regions() -> Mapping[str, Region]:
    regions = OperatingRules().regions
    return {"": regions[0]} | {state: region for region in regions for state in region.states}
