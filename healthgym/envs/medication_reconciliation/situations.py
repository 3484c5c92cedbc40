"""What may be the matter with a medicine: rows for either half, whose sum decides.

Most situations have a twin that looks the same in one half and ends otherwise, so that neither half
settles a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

import numpy as np

from healthgym.worlds.reconciliation.formulary import Medicine, formulary
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

Wanted = Callable[[Medicine], bool]


class NoneLeftError(Exception):
    """No medicine of the formulary fits any more."""


class Draft:
    """A record in the making.

    Args:
        rng: Where what is drawn comes from.
        today: The day of discharge.
        egfr: The patient's eGFR.
    """

    def __init__(self, rng: np.random.Generator, today: date, egfr: int) -> None:
        self._rng, self._today, self._egfr = rng, today, egfr
        self._listed: list[Listed] = []
        self._ordered: list[Ordered] = []
        self._dispensed: list[Dispensed] = []
        self._bought: list[Bought] = []
        self._letters: list[StopLetter] = []
        self._allergies: list[str] = []
        self._used: list[Medicine] = []

    def __len__(self) -> int:
        return len(self._used)

    def record(self, conditions: tuple[str, ...]) -> Record:
        """Return the record, in an order that says nothing, with an allergy that may not matter."""
        groups = {each.allergy for each in formulary().values() if each.allergy}
        harmless = sorted(groups - {each.allergy for each in self._used})
        if harmless and self._rng.random() < 0.5:
            self._allergies.append(harmless[int(self._rng.integers(len(harmless)))])
        chart = Chart(
            tuple(sorted(self._listed, key=lambda row: row.medicine)),
            tuple(sorted(self._ordered, key=lambda row: row.medicine)),
            self._egfr,
            conditions,
        )
        pharmacy = Pharmacy(
            tuple(sorted(self._dispensed, key=lambda row: row.medicine)),
            tuple(sorted(self._bought, key=lambda row: row.medicine)),
            tuple(sorted(self._letters, key=lambda row: row.written)),
            tuple(sorted(self._allergies)),
        )
        return Record(chart, pharmacy, self._today)

    # -- continued, as far as the list goes ----------------------------------------------------

    def same(self) -> None:
        """Plant a medicine on which both halves agree."""
        medicine, dose = self._plain()
        self._list(medicine, dose, self._ago(100, 300))
        self._dispense(medicine, dose, self._ago(100, 300))

    def newer_on_chart(self) -> None:
        """Plant a dose that was changed after the label was written."""
        medicine, old, new = self._two_doses()
        self._list(medicine, new, self._ago(10, 60))
        self._dispense(medicine, old, self._ago(100, 300))

    def restarted(self) -> None:
        """Plant a medicine that the practice stopped, and somebody started again."""
        medicine, dose = self._plain()
        self._list(medicine, dose, self._ago(5, 40))
        self._dispense(medicine, dose, self._ago(250, 400))
        self._letters.append(StopLetter(medicine.name, self._ago(90, 200)))

    def from_clinic(self) -> None:
        """Plant a medicine that the pharmacy rightly has not handed out for long."""
        medicine, dose = self._plain()
        self._list(medicine, dose, self._ago(100, 300), Supply.CLINIC)
        if self._rng.random() < 0.5:
            self._dispense(medicine, dose, self._ago(310, 400), self._ago(100, 300))

    def tolerated_order(self) -> None:
        """Plant an order of the ward that nothing speaks against."""
        medicine, dose = self._plain(lambda each: bool(each.allergy))
        self._order(medicine, dose)

    def left_out(self) -> None:
        """Plant a medicine that the admission list forgot."""
        medicine, dose = self._plain()
        self._dispense(medicine, dose, self._ago(100, 300))

    def bought(self) -> None:
        """Plant a medicine bought without a prescription."""
        medicine, dose = self._plain(lambda each: each.counter)
        self._buy(medicine, dose)

    # -- changed -------------------------------------------------------------------------------

    def newer_on_label(self) -> None:
        """Plant a dose that was changed after the list was confirmed."""
        medicine, old, new = self._two_doses()
        self._list(medicine, old, self._ago(100, 300))
        self._dispense(medicine, new, self._ago(10, 60), self._ago(3, 9))

    def too_much_for_kidneys(self) -> None:
        """Plant a dose above the limit, listed and dispensed."""
        medicine, dose = self._limited()
        self._list(medicine, dose, self._ago(100, 300))
        self._dispense(medicine, dose, self._ago(100, 300))

    def too_much_and_left_out(self) -> None:
        """Plant a dose above the limit that the chart, where the eGFR is, does not list."""
        medicine, dose = self._limited()
        self._dispense(medicine, dose, self._ago(100, 300))

    # -- stopped -------------------------------------------------------------------------------

    def stopped_by_gp(self) -> None:
        """Plant a medicine that the practice stopped and the chart still lists."""
        medicine, dose = self._plain()
        self._list(medicine, dose, self._ago(210, 300))
        self._dispense(medicine, dose, self._ago(250, 400))
        self._letters.append(StopLetter(medicine.name, self._ago(90, 200)))

    def allergic(self) -> None:
        """Plant an order of the ward against an allergy that the pharmacy knows."""
        medicine, dose = self._plain(lambda each: bool(each.allergy))
        self._order(medicine, dose)
        self._allergies.append(medicine.allergy)

    def replaced_on_ward(self) -> None:
        """Plant an order of the ward that replaces what the pharmacy hands out."""
        new, old = self._pair()
        self._order(new, self._some(new))
        self._dispense(old, self._some(old), self._ago(100, 300))

    def replaced_by_gp(self) -> None:
        """Plant a new prescription in place of what a clinic supplied."""
        new, old = self._pair()
        self._list(old, self._some(old), self._ago(100, 300), Supply.CLINIC)
        self._dispense(new, self._some(new), self._ago(10, 60), self._ago(3, 9))

    def doubled_by_purchase(self) -> None:
        """Plant a purchase of the same class as an order of the ward."""
        new, old = self._pair(lambda each: each.counter)
        self._order(new, self._some(new))
        self._buy(old, self._some(old))

    def bought_against_kidneys(self) -> None:
        """Plant a purchase that is to be avoided, or is too much, with these kidneys."""
        medicine = self._pick(lambda each: each.counter and self._is_limited(each))
        self._buy(medicine, medicine.doses[-1])

    # -- to be clarified -----------------------------------------------------------------------

    def not_collected(self) -> None:
        """Plant a medicine that was not collected for long."""
        medicine, dose = self._plain()
        self._list(medicine, dose, self._ago(100, 300))
        self._dispense(medicine, dose, self._ago(310, 400), self._ago(100, 300))

    def never_collected(self) -> None:
        """Plant a listed medicine of which the pharmacy knows nothing."""
        medicine, dose = self._plain()
        self._list(medicine, dose, self._ago(100, 300))

    # -- what the situations share ---------------------------------------------------------------

    def _ago(self, least: int, most: int) -> date:
        return self._today - timedelta(days=int(self._rng.integers(least, most + 1)))

    def _is_limited(self, medicine: Medicine) -> bool:
        """Return whether the kidneys forbid the largest usual dose."""
        return medicine.allowed(medicine.doses[-1], self._egfr) < medicine.doses[-1]

    def _pick(self, wanted: Wanted) -> Medicine:
        taken = {each.group for each in self._used}
        fit = [m for m in formulary().values() if m.group not in taken and wanted(m)]
        if not fit:
            raise NoneLeftError
        medicine = fit[int(self._rng.integers(len(fit)))]
        self._used.append(medicine)
        return medicine

    def _plain(self, wanted: Wanted = lambda each: True) -> tuple[Medicine, float]:
        """Return a medicine that the kidneys do not limit, and a dose."""
        medicine = self._pick(lambda each: not self._is_limited(each) and wanted(each))
        return medicine, self._some(medicine)

    def _two_doses(self) -> tuple[Medicine, float, float]:
        medicine, _ = self._plain(lambda each: len(each.doses) > 1)
        one, two = (int(n) for n in self._rng.permutation(len(medicine.doses))[:2])
        return medicine, medicine.doses[one], medicine.doses[two]

    def _limited(self) -> tuple[Medicine, float]:
        """Return a medicine whose dose the kidneys limit but do not forbid, and too much of it."""
        medicine = self._pick(
            lambda each: self._is_limited(each) and each.allowed(each.doses[-1], self._egfr) > 0
        )
        above = [dose for dose in medicine.doses if medicine.allowed(dose, self._egfr) < dose]
        return medicine, above[int(self._rng.integers(len(above)))]

    def _pair(self, wanted: Wanted = lambda each: True) -> tuple[Medicine, Medicine]:
        """Return two medicines of one class; the second is as wanted."""

        def partners(medicine: Medicine) -> list[Medicine]:
            return [
                each
                for each in formulary().values()
                if each.group == medicine.group
                and each is not medicine
                and not self._is_limited(each)
            ]

        old, _ = self._plain(lambda each: wanted(each) and bool(partners(each)))
        fit = partners(old)
        new = fit[int(self._rng.integers(len(fit)))]
        self._used.append(new)
        return new, old

    def _some(self, medicine: Medicine) -> float:
        return medicine.doses[int(self._rng.integers(len(medicine.doses)))]

    def _list(
        self, medicine: Medicine, dose: float, confirmed: date, supply: Supply = Supply.PHARMACY
    ) -> None:
        self._listed.append(Listed(medicine.name, dose, confirmed, supply))

    def _order(self, medicine: Medicine, dose: float) -> None:
        self._ordered.append(Ordered(medicine.name, dose, self._ago(1, 6)))

    def _dispense(
        self, medicine: Medicine, dose: float, prescribed: date, collected: date | None = None
    ) -> None:
        at = collected or self._ago(3, 85)
        self._dispensed.append(Dispensed(medicine.name, dose, prescribed, at))

    def _buy(self, medicine: Medicine, dose: float) -> None:
        self._bought.append(Bought(medicine.name, dose, self._ago(3, 40)))


Situation = Callable[[Draft], None]

#: Situations by how they end, drawn first, so that no answer is much more likely than another.
ALONE: Mapping[str, tuple[Situation, ...]] = {
    "continue": (
        Draft.same,
        Draft.newer_on_chart,
        Draft.restarted,
        Draft.from_clinic,
        Draft.tolerated_order,
        Draft.left_out,
        Draft.bought,
    ),
    "change": (Draft.newer_on_label,),
    "stop": (Draft.stopped_by_gp, Draft.stopped_by_gp, Draft.allergic),
    "clarify": (Draft.not_collected, Draft.never_collected),
}
#: Those that need weak kidneys.
WEAK: Mapping[str, tuple[Situation, ...]] = {
    "change": (Draft.too_much_for_kidneys, Draft.too_much_and_left_out),
    "stop": (Draft.bought_against_kidneys,),
}
#: Those with two medicines, of which one is stopped and the other continued.
PAIRS: tuple[Situation, ...] = (
    Draft.replaced_on_ward,
    Draft.replaced_by_gp,
    Draft.doubled_by_purchase,
)
