"""Which chronic conditions count, and by which value one is controlled: the handbook's table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.vocabulary.care import DiseaseControlStatus

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.handbook.rules import OperatingRules


#: Units as people write them.
_UNITS = {"mm[Hg]": " mmHg", "{score}": "", "d": "", "%": " %"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A row of the table.

    Attributes:
        name: What the condition is called.
        codes: Beginnings of its ICD-10-CM codes.
        loinc: Code of the measure.
        measure: Its name.
        unit: UCUM unit.
        decimals: Decimals in which it is given.
        lower: Whether lower values are better.
        controlled: Values beyond this are controlled; a number, or the field of the rules.
        uncontrolled: Values beyond this, on the other side, are uncontrolled.
    """

    name: str
    codes: tuple[str, ...]
    loinc: str
    measure: str
    unit: str
    decimals: int
    lower: bool
    controlled: float | str
    uncontrolled: float | str

    def bounds(self, rules: OperatingRules) -> tuple[float, float]:
        """Return beyond which value it is controlled, and beyond which uncontrolled."""
        return _number(self.controlled, rules), _number(self.uncontrolled, rules)

    def status(self, value: float, rules: OperatingRules) -> DiseaseControlStatus:
        """Return how well the condition is controlled at a value; the bounds lie between."""
        good, bad = self.bounds(rules)
        if value < good if self.lower else value > good:
            return DiseaseControlStatus.CONTROLLED
        if value > bad if self.lower else value < bad:
            return DiseaseControlStatus.UNCONTROLLED
        return DiseaseControlStatus.SUBOPTIMAL


def _number(bound: float | str, rules: OperatingRules) -> float:
    return float(getattr(rules, bound)) if isinstance(bound, str) else bound


@cache
def controls() -> tuple[Control, ...]:
    """Return the table."""
    package = "healthgym.worlds.managed_care"
    rows = json.loads((files(package) / "data" / "control.json").read_text("utf-8"))
    return tuple(
        Control(
            name=row["name"],
            codes=tuple(row["codes"]),
            loinc=row["loinc"],
            measure=row["measure"],
            unit=row["unit"],
            decimals=row["decimals"],
            lower=row["better"] == "low",
            controlled=row["controlled"],
            uncontrolled=row["uncontrolled"],
        )
        for row in rows
    )


@lru_cache(maxsize=4096)
def control_of(code: str) -> Control | None:
    """Return the row of an ICD-10-CM code, that with the longest beginning; None if none is."""
    found = [
        (len(start), place)
        for place, each in enumerate(controls())
        for start in each.codes
        if code.startswith(start)
    ]
    return controls()[max(found)[1]] if found else None


def counted(codes: Iterable[str]) -> tuple[str, ...]:
    """Return of some ICD-10-CM codes those that count as chronic conditions, a row once."""
    found: dict[str, str] = {}
    for code in codes:
        row = control_of(code)
        if row is not None:
            found.setdefault(row.name, code)
    return tuple(found.values())


def status_of(
    code: str, values: Iterable[tuple[str, date, float]], day: date, rules: OperatingRules
) -> DiseaseControlStatus:
    """Return how well a condition is controlled: by its latest value that is not too old.

    Args:
        code: ICD-10-CM code of the condition, which counts.
        values: LOINC code, day and value of each measurement.
        day: The day from which its age is counted.
        rules: The rules, which say how old it may be.

    Raises:
        KeyError: If the table has no row for the code.
    """
    row, latest = _measured(code, values, day, rules)
    return row.status(latest[1], rules) if latest else DiseaseControlStatus.UNKNOWN


def basis_of(
    code: str, values: Iterable[tuple[str, date, float]], day: date, rules: OperatingRules
) -> str:
    """Return the value by which a condition is controlled or not, with its name and its day.

    Args:
        code: ICD-10-CM code of the condition, which counts.
        values: LOINC code, day and value of each measurement.
        day: The day from which its age is counted.
        rules: The rules, which say how old it may be.

    Raises:
        KeyError: If the table has no row for the code.
    """
    row, latest = _measured(code, values, day, rules)
    if latest is None:
        return f"No {row.measure} of the last {rules.control_months} months on file"
    taken, value = latest
    unit = _UNITS.get(row.unit, f" {row.unit}")
    return f"{row.measure}: {value:.10g}{unit} on {taken}"


def _measured(
    code: str, values: Iterable[tuple[str, date, float]], day: date, rules: OperatingRules
) -> tuple[Control, tuple[date, float] | None]:
    """Return a condition's row, and the latest value that is not too old, with its day, if any."""
    row = control_of(code)
    if row is None:
        raise KeyError(code)
    first = months_before(day, rules.control_months)
    known = ((taken, value) for name, taken, value in values if name == row.loinc)
    recent = (pair for pair in known if first <= pair[0] <= day)
    return row, max(recent, key=lambda pair: pair[0], default=None)
