"""Whether what is asked for beside an order with a time of its own names another time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta

from healthgym.envs.fhir_record.orders.quantities import Dimension, amount, unit_names
from healthgym.envs.fhir_record.task import OrderSpec

_UNITS = "|".join(unit_names(Dimension.TIME))
_AHEAD = re.compile(rf"\bin (\d+|an?) ?({_UNITS})\b(?! of\b)")
#: Longest span, in hours, that is still a date.
_LONGEST = 1e6
#: How far from its window a time in words may lie: they are rounded.
_SLACK = timedelta(days=1)


_DAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_WEEKDAY = re.compile(rf"\b(?<!since )(?<!last )({'|'.join(_DAYS)})day\b")
#: "Later" without a day; what is asked for "no later than noon" or "later today" has one.
_LATER = re.compile(
    r"(?<!no )(?<!not )(?<!\d )(?<!days )(?<!weeks )(?<!hours )\blater\b(?! (?:today|this|than))"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_DAY = re.compile(
    r"(?<![\d/.-])(?P<m>1[0-2]|0?[1-9])/(?P<d>[0-3]?\d)(?![\d/])"
    rf"|\b(?P<day>[0-3]?\d) (?P<month>{'|'.join(_MONTHS)})[a-z]*\b(?!,? \d{{4}})"
    rf"|\b(?P<name>{'|'.join(_MONTHS)})[a-z]* (?P<nth>[0-3]?\d)\b(?!,? \d{{4}})"
)
_DAY_AFTER = re.compile(r"\bday after\b(?: tomorrow)?(?= |$)")
#: Spans in which something is to be done, with the shortest that orders must allow for them.
_SPANS = {"shift": 0, "morning": 0, "afternoon": 0, "evening": 0, "week": 7, "month": 30}
_SPAN = re.compile(
    rf"\b(?:during |within |by the end of |before the end of )?(?:this|the) ({'|'.join(_SPANS)})\b"
    r"(?! (?:of|before|after)\b)"
)


def without_span(spec: OrderSpec, asked: str) -> str:
    """Return what is asked for without the span it is asked within, if the order is due so late.

    Args:
        spec: The order.
        asked: What is asked for, in the form in which text is scanned.
    """

    def fits(found: re.Match[str]) -> str:
        return " " if spec.within >= timedelta(days=_SPANS[found[1]]) else found[0]

    return asked if spec.occurrence else _SPAN.sub(fits, asked)


def is_at_another_time(spec: OrderSpec, begin: datetime, asked: str) -> bool:
    """Return whether what is asked for is to be done at another time than the order.

    Args:
        spec: The order.
        begin: When the question was asked.
        asked: What is asked for, in the form in which text is scanned.
    """
    if spec.occurrence is None:
        return _is_too_late(begin + max(spec.within, _SLACK), begin, asked)
    moments = []
    for count, unit in _AHEAD.findall(asked):
        span = amount(1.0 if count[0] == "a" else float(count), unit)
        if span is not None and span.value < _LONGEST:
            moments.append(begin + timedelta(hours=span.value))
    if re.search(r"\btomorrow\b", asked):
        moments.append(begin + timedelta(days=1))
    first, last = (moment.date() for moment in spec.occurrence)
    if last - begin.date() < timedelta(days=len(_DAYS)):  # of a week further on a day is any week's
        moments += [begin + timedelta(days=count) for count in _days_ahead(begin, asked)]
    slack = _SLACK if last - first > _SLACK else timedelta(0)
    return any(not first - slack <= moment.date() <= last + slack for moment in moments)


def _is_too_late(latest: datetime, begin: datetime, asked: str) -> bool:
    """Return whether what is due by a day is put off to a later one, or to no day at all."""
    if _LATER.search(asked):
        return True
    days = _days_ahead(begin, asked)
    days += [2] if _DAY_AFTER.search(asked) else []
    dates = [(begin + timedelta(days=count)).date() for count in days]
    return any(day > latest.date() for day in (*dates, *_dates_in(asked, begin)))


def _days_ahead(begin: datetime, asked: str) -> list[int]:
    """Return how many days ahead the days of the week lie that are named."""
    return [(_DAYS.index(day) - begin.weekday()) % len(_DAYS) for day in _WEEKDAY.findall(asked)]


def _dates_in(asked: str, begin: datetime) -> Iterator[date]:
    """Yield the days of this year that are written without one: "11/20", "20 nov", "nov 20"."""
    for found in _MONTH_DAY.finditer(asked):
        month = found["m"] or str(_MONTHS.index((found["month"] or found["name"])[:3]) + 1)
        day = found["d"] or found["day"] or found["nth"]
        with suppress(ValueError):
            yield date(begin.year, int(month), int(day))
