"""Reading the lines of either half back, out of whatever text they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from healthgym.envs.medication_reconciliation.rules import HEALTHY_EGFR
from healthgym.worlds.reconciliation.formulary import formulary
from healthgym.worlds.reconciliation.record import (
    Bought,
    Chart,
    Dispensed,
    Listed,
    Ordered,
    Pharmacy,
    Record,
    StopLetter,
    Supply,
)

_DOSE, _DATE = r"([\d.]+) mg a day", r"(\d{4}-\d\d-\d\d)"
_LINE = re.compile(r"^- ([a-z ]+): (.+)$", re.MULTILINE)
_LISTED = re.compile(rf"{_DOSE}, confirmed {_DATE}, from the (.+)")
_ORDERED = re.compile(rf"{_DOSE}, ordered on the ward {_DATE}")
_DISPENSED = re.compile(rf"label {_DOSE}, prescribed {_DATE}, last collected {_DATE}")
_BOUGHT = re.compile(rf"{_DOSE}, bought without a prescription {_DATE}")
_LETTER = re.compile(rf"stopped by the general practitioner, letter of {_DATE}")
_EGFR = re.compile(r"- eGFR: (\d+)")
_ALLERGY = re.compile(r"- allergy: (.+)")


def read_back(text: str, today: date) -> Record:
    """Return the record that a text tells of."""
    lines = sorted(set(_LINE.findall(text)))
    egfr = _EGFR.search(text)
    allergies = sorted({group for group in _ALLERGY.findall(text) if group != "none known"})
    listed = tuple(
        Listed(name, float(dose), date.fromisoformat(at), Supply(supply))
        for name, (dose, at, supply) in _matches(_LISTED, lines)
    )
    ordered = tuple(
        Ordered(name, float(dose), date.fromisoformat(at))
        for name, (dose, at) in _matches(_ORDERED, lines)
    )
    dispensed = tuple(
        Dispensed(name, float(dose), date.fromisoformat(at), date.fromisoformat(collected))
        for name, (dose, at, collected) in _matches(_DISPENSED, lines)
    )
    bought = tuple(
        Bought(name, float(dose), date.fromisoformat(at))
        for name, (dose, at) in _matches(_BOUGHT, lines)
    )
    letters = tuple(
        StopLetter(name, date.fromisoformat(at)) for name, (at,) in _matches(_LETTER, lines)
    )
    chart = Chart(listed, ordered, int(egfr[1]) if egfr else HEALTHY_EGFR)
    return Record(chart, Pharmacy(dispensed, bought, letters, tuple(allergies)), today)


def _matches(
    pattern: re.Pattern[str], lines: list[tuple[str, str]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a pattern finds in lines of medicines, with their names."""
    for name, rest in lines:
        found = pattern.match(rest)
        if found is not None and name in formulary():
            yield name, found.groups()


def named(text: str) -> list[str]:
    """Return the medicines that a text names, in alphabetical order."""
    lower = text.lower()
    return [name for name in formulary() if re.search(rf"\b{re.escape(name)}\b", lower)]
