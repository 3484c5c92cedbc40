"""Federal and state holidays, computed from the rules by which they fall.

The rules stand in ``data/holidays.json``: a fixed day, the nth weekday of a month, or a distance
from Easter. Federal ones are those of 5 U.S.C. 6103, moved off a weekend to the Friday before or
the Monday after; of the states, the days on which their public offices close.
"""

from __future__ import annotations

import json
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from healthgym.core.borders import Json, JsonObject

_SATURDAY, _SUNDAY = 5, 6


def holiday(day: date, state: str = "") -> str | None:
    """Return the holiday on which offices close that day; None if they do not.

    Args:
        day: The day.
        state: Two letters; without, federal holidays only.
    """
    return holidays_of(day.year, state).get(day)


@cache
def holidays_of(year: int, state: str = "") -> Mapping[date, str]:
    """Return the holidays of a year, on the days on which they are kept.

    Args:
        year: The year.
        state: Two letters; without, federal holidays only.
    """
    rules = [*_rules()["federal"], *_rules()["state"].get(state, ())]
    found: dict[date, str] = {}
    for rule in rules:
        # New Year's Day may be kept on the last day of the year before.
        for near in (year, year + 1):
            for day in _kept(rule, near):
                if day.year == year:
                    found.setdefault(day, str(rule["name"]))
    return dict(sorted(found.items()))


def states_with_holidays() -> tuple[str, ...]:
    """Return the states that keep holidays of their own, by their two letters."""
    return tuple(_rules()["state"])


def easter(year: int) -> date:
    """Return Easter Sunday, by the Gregorian computus (Meeus, Jones and Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth weekday of a month; nth -1 is the last one.

    Args:
        year: The year.
        month: 1 to 12.
        weekday: 0 is Monday.
        nth: From 1, or -1.
    """
    if nth > 0:
        first = date(year, month, 1)
        return first + timedelta((weekday - first.weekday()) % 7 + 7 * (nth - 1))
    last = date(year, month, monthrange(year, month)[1])
    return last - timedelta((last.weekday() - weekday) % 7)


def _kept(rule: JsonObject, year: int) -> Iterator[date]:
    """Yield the day on which a holiday of a year is kept, if it is."""
    if rule.get("years") == "even" and year % 2:
        return
    if "easter" in rule:
        yield easter(year) + timedelta(rule["easter"])
    elif "nth" in rule:
        found = nth_weekday(year, rule["month"], rule["weekday"], rule["nth"])
        yield found + timedelta(rule.get("plus", 0))
    else:
        yield _moved(date(year, rule["month"], rule["day"]), rule.get("moved", ""))


def _moved(day: date, moved: str) -> date:
    if day.weekday() == _SUNDAY and moved in ("both", "sunday"):
        return day + timedelta(1)
    if day.weekday() == _SATURDAY and moved == "both":
        return day - timedelta(1)
    return day


@cache
def _rules() -> Mapping[str, Json]:
    text = (files(__package__) / "data" / "holidays.json").read_text("utf-8")
    table: Mapping[str, Json] = json.loads(text)
    return table
