"""From the rules to the words that pages hold a place for.

``{{pend_days}}`` is a number, ``{{pend_days|words}}`` the number in words, ``{{cms_hours.urgent}}``
and ``{{state_hours.CA.urgent}}`` one of a table, and ``{{turnaround_table}}`` a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from healthgym.worlds.managed_care.charts.knowledge import written_number, written_unit
from healthgym.worlds.managed_care.control import Control, controls
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.holidays import holidays_of
from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType, TriageUrgency

PLACEHOLDER = re.compile(r"\{\{([a-zA-Z0-9_.|]+)\}\}")


def fields_of(placeholder: str) -> tuple[str, ...]:
    """Return the fields of the rules that a placeholder shows."""
    name = placeholder.partition("|")[0].partition(".")[0]
    return _TABLE_FIELDS.get(name, (name,))


def wording(rules: OperatingRules, placeholder: str) -> str:
    """Return what stands in a placeholder's place.

    Args:
        rules: The rules.
        placeholder: Its inside, such as ``pend_days|words``.

    Raises:
        KeyError: If the rules have nothing of that name.
    """
    name, _, form = placeholder.partition("|")
    if name in _TABLES:
        return _TABLES[name](rules)
    value: object = rules
    for part in name.split("."):
        value = _part(value, part)
    text = _plain(value)
    if form == "words":
        return (
            SMALL_NUMBERS[int(text)] if text.isdigit() and int(text) < len(SMALL_NUMBERS) else text
        )
    if form:
        raise KeyError(placeholder)
    return text


def _part(value: object, name: str) -> object:
    if isinstance(value, Mapping):
        return value[name]
    if name.startswith("_") or not hasattr(value, name):
        raise KeyError(name)
    return getattr(value, name)


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        names = [_plain(item) for item in value]
        return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "none"
    if isinstance(value, int):
        return f"{value:,}" if value >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, str):
        return value.replace("_", " ")
    raise KeyError(type(value).__name__)


def clock(hour: int) -> str:
    """Return a full hour as pages write it, such as ``5:00 p.m.``."""
    return f"{(hour - 1) % 12 + 1}:00 {'a.m.' if hour < 12 else 'p.m.'}"


def long_date(day: date) -> str:
    """Return a day as pages write it, such as ``March 3, 2026``."""
    return f"{day:%B} {day.day}, {day.year}"


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _turnaround(rules: OperatingRules) -> str:
    rows: list[tuple[str, ...]] = [
        ("Federal (CMS)", *(str(rules.cms_hours.of(each)) for each in TriageUrgency))
    ]
    for state, hours in sorted(rules.state_hours.items()):
        rows.append((state, *(str(hours.of(each)) for each in TriageUrgency)))
    return table(("Rule", *(each.value.capitalize() for each in TriageUrgency)), rows)


def _governing(rules: OperatingRules) -> str:
    rows: list[tuple[str, ...]] = []
    for state in sorted(rules.state_hours):
        named = [rules.hours(urgency, state) for urgency in TriageUrgency]
        rows.append((state, *(f"{hours} h, `{source}`" for hours, source in named)))
    return table(("State", *(each.value.capitalize() for each in TriageUrgency)), rows)


def _region_table(rules: OperatingRules) -> str:
    rows = [
        (
            region.name.capitalize(),
            region.zone,
            f"{clock(region.opens)} to {clock(region.closes)}",
            ", ".join(region.states),
        )
        for region in rules.regions
    ]
    return table(("Region", "Time zone", "Office hours, Monday to Friday", "States"), rows)


def _holiday_table(rules: OperatingRules) -> str:
    rows = [
        (long_date(each.day), f"{each.day:%A}", each.name, each.state or "all")
        for each in rules.holidays
    ]
    return table(("Date", "Weekday", "Observance", "Offices"), rows)


def _state_holidays(rules: OperatingRules) -> str:
    federal = {each.day for each in rules.holidays}
    year = min(federal).year
    states = sorted(code for region in rules.regions for code in region.states)
    rows = [
        (code, "; ".join(f"{long_date(day)} ({name})" for day, name in sorted(own.items())))
        for code in states
        if (own := {d: n for d, n in holidays_of(year, code).items() if d not in federal})
    ]
    return table(("State", f"Also closed in {year}"), rows)


def _expedited_way(rules: OperatingRules) -> str:
    own = rules.expedited_channel
    if own is None:
        return "- An **expedited** request has no channel of its own: it goes by size, as below."
    return f"- An **expedited** request goes by `{own}`, whatever its size."


def _cadence_table(rules: OperatingRules) -> str:
    rows = [
        (f"`{program}`", cadence.value, str(cadence.days))
        for program, cadence in rules.cadences.items()
    ]
    return table(("Programme", "Follow-up", "Days between contacts"), rows)


def _control_table(rules: OperatingRules) -> str:
    rows = [
        (each.name, ", ".join(each.codes), each.measure, *_control_bounds(each, rules))
        for each in controls()
    ]
    return table(("Condition", "ICD-10-CM", "Measure", "Controlled", "Uncontrolled"), rows)


def _control_bounds(row: Control, rules: OperatingRules) -> tuple[str, str]:
    good, bad = (written_number(bound, row.decimals) for bound in row.bounds(rules))
    unit = written_unit(row.unit)
    unit = f" {unit}" if unit not in ("", "%") else unit
    words = ("below", "above") if row.lower else ("above", "below")
    return f"{words[0]} {good}{unit}", f"{words[1]} {bad}{unit}"


def _slot_list(kind: LetterType) -> Callable[[OperatingRules], str]:
    return lambda rules: "\n".join(f"- {slot}" for slot in rules.letter_slots[kind])


_TABLES: Mapping[str, Callable[[OperatingRules], str]] = {
    "turnaround_table": _turnaround,
    "governing_table": _governing,
    "region_table": _region_table,
    "holiday_table": _holiday_table,
    "state_holiday_table": _state_holidays,
    "cadence_table": _cadence_table,
    "control_table": _control_table,
    "expedited_way": _expedited_way,
    "approval_slots": _slot_list(LetterType.APPROVAL),
    "partial_approval_slots": _slot_list(LetterType.PARTIAL_APPROVAL),
    "denial_slots": _slot_list(LetterType.DENIAL),
    "pend_slots": _slot_list(LetterType.PEND),
    "call_hours": lambda rules: f"{clock(rules.call_opens)} to {clock(rules.call_closes)}",
}
_TABLE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "turnaround_table": ("cms_hours", "state_hours"),
    "governing_table": ("cms_hours", "state_hours"),
    "region_table": ("regions",),
    "holiday_table": ("holidays",),
    "state_holiday_table": ("holidays", "regions"),
    "cadence_table": ("cadences",),
    "control_table": (
        "a1c_controlled_below",
        "a1c_uncontrolled_above",
        "systolic_controlled_below",
        "systolic_uncontrolled_above",
    ),
    "expedited_way": ("expedited_channel",),
    **dict.fromkeys(
        ("approval_slots", "partial_approval_slots", "denial_slots", "pend_slots"),
        ("letter_slots",),
    ),
    "call_hours": ("call_opens", "call_closes"),
}
