"""At what time of day things happen: in the office hours of the patient's site, the same each time.

Times follow from patient and day alone, so that a visit, what was measured at it and the notes of
it agree without one being looked up in the other.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.records.chart import Patient

#: The first appointment, and the last one, by the site's clocks.
_FIRST, _LAST = time(8), time(16, 10)
#: Minutes between appointments.
_SLOT = 10
#: No visit begins later by UTC: notes are written on the day of the visit wherever it is read.
_LATEST_UTC = time(21, 30)
#: Blood is drawn from half an hour before the office opens.
_BEFORE_OPENING = timedelta(minutes=30)


def visit_start(patient: Patient, day: date) -> datetime:
    """Return when a patient is seen on a day, in UTC.

    Args:
        patient: Who is seen, at the site of their state.
        day: The day.
    """
    return _start(patient.id, patient.address_state or "", day)


def drawn_at(patient: Patient, day: date) -> datetime:
    """Return when blood is drawn on a day, in UTC; arguments as of `visit_start`."""
    return _draw(patient.id, patient.address_state or "", day)


def business_day(day: date, state: str = "") -> date:
    """Return the day if offices open on it, or the nearest on which they do."""
    return _nearest(day, state)


@lru_cache(maxsize=16384)
def some_business_day(day: date) -> date:
    """Return the day if offices open on it, or one within three days, no weekday preferred."""
    office = office_calendar()
    if office.is_business_day(day):
        return day
    near = [day + timedelta(days=away) for away in (-3, -2, -1, 1, 2, 3)]
    able = [each for each in near if office.is_business_day(each)]
    return able[day.toordinal() * 7919 // 7 % len(able)]


@lru_cache(maxsize=4096)
def _nearest(day: date, state: str) -> date:
    office = office_calendar(state)
    for away in range(8):
        # A Saturday goes back to Friday, a Sunday on to Monday.
        for near in (day - timedelta(days=away), day + timedelta(days=away)):
            if office.is_business_day(near):
                return near
    return day


@lru_cache(maxsize=2048)
def _appointments(state: str, day: date) -> tuple[datetime, int]:
    """Return the first appointment of a day, and how many there are."""
    office = office_calendar(state)
    first = office.utc(day, _FIRST)
    last = min(office.utc(day, _LAST), datetime.combine(day, _LATEST_UTC, UTC))
    return first, max(1, (last - first) // timedelta(minutes=_SLOT))


# Asked for every row of a chart, several of which are of one day.
@lru_cache(maxsize=4096)
def _start(patient_id: str, state: str, day: date) -> datetime:
    opening, slots = _appointments(state, day)
    return opening + timedelta(minutes=_SLOT * (_mixed(patient_id, day) % slots))


@lru_cache(maxsize=512)
def _draw(patient_id: str, state: str, day: date) -> datetime:
    opening, _ = _appointments(state, day)
    return opening - _BEFORE_OPENING + timedelta(minutes=_mixed(patient_id, day) // 64 % 100)


def _mixed(patient_id: str, day: date) -> int:
    """Return a number that looks drawn, from patient and day."""
    number = int.from_bytes(patient_id.encode()[-4:], "big")
    mixed = (number * 2654435761 + day.toordinal() * 40503) & 0xFFFFFFFF
    mixed ^= mixed >> 15
    return (mixed * 2246822519 & 0xFFFFFFFF) >> 7
