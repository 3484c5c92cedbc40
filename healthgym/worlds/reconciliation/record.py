"""The two halves of a patient's medication record. Immutable; doses are mg a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Supply(StrEnum):
    """Where a patient gets a medicine."""

    PHARMACY = "community pharmacy"
    CLINIC = "hospital clinic"


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the admission list: what the patient is said to take.

    Attributes:
        medicine: Generic name.
        dose: Daily dose in mg.
        confirmed: When a prescriber last started, restarted, changed or confirmed it.
        supply: Where it comes from.
    """

    medicine: str
    dose: float
    confirmed: date
    supply: Supply = Supply.PHARMACY


@dataclass(frozen=True, slots=True)
class Ordered:
    """A medicine that the ward started and means to go on after discharge."""

    medicine: str
    dose: float
    started: date


@dataclass(frozen=True, slots=True)
class Chart:
    """The hospital's half.

    Attributes:
        listed: The admission list.
        ordered: What the ward started.
        egfr: Estimated glomerular filtration rate, in mL/min/1.73 m².
        conditions: Diagnoses, for the reader.
    """

    listed: tuple[Listed, ...]
    ordered: tuple[Ordered, ...]
    egfr: int
    conditions: tuple[str, ...] = ()

    def rows(self) -> tuple[Listed | Ordered, ...]:
        """Return what the patient takes, as far as this half knows."""
        return (*self.listed, *self.ordered)


@dataclass(frozen=True, slots=True)
class Dispensed:
    """A prescription in the pharmacy's history.

    Attributes:
        medicine: Generic name.
        dose: Daily dose on the label, in mg.
        prescribed: Date of the prescription.
        collected: When the patient last collected it.
    """

    medicine: str
    dose: float
    prescribed: date
    collected: date


@dataclass(frozen=True, slots=True)
class Bought:
    """A medicine bought without a prescription, and taken daily."""

    medicine: str
    dose: float
    bought: date


@dataclass(frozen=True, slots=True)
class StopLetter:
    """The general practitioner's letter that a medicine was stopped."""

    medicine: str
    written: date


@dataclass(frozen=True, slots=True)
class Pharmacy:
    """The community pharmacy's half.

    Attributes:
        dispensed: Dispensing history.
        bought: Sales without a prescription.
        letters: The practice's letters.
        allergies: Groups of medicines that the patient is allergic to.
    """

    dispensed: tuple[Dispensed, ...]
    bought: tuple[Bought, ...]
    letters: tuple[StopLetter, ...]
    allergies: tuple[str, ...]

    def rows(self) -> tuple[Dispensed | Bought, ...]:
        """Return what the patient takes, as far as this half knows."""
        return (*self.dispensed, *self.bought)


@dataclass(frozen=True, slots=True)
class Record:
    """Both halves, as of a day.

    Attributes:
        chart: The hospital's half.
        pharmacy: The community pharmacy's half.
        today: The day of discharge.
    """

    chart: Chart
    pharmacy: Pharmacy
    today: date

    def medicines(self) -> tuple[str, ...]:
        """Return the medicines of either half, in alphabetical order."""
        rows = (*self.chart.rows(), *self.pharmacy.rows())
        return tuple(sorted({row.medicine for row in rows}))
