"""The rules of reconciliation, stated once: planting, scoring and policies all use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from healthgym.worlds.reconciliation.formulary import formulary
from healthgym.worlds.reconciliation.record import (
    Bought,
    Chart,
    Dispensed,
    Listed,
    Ordered,
    Pharmacy,
    Record,
    Supply,
)
from healthgym.worlds.reconciliation.world import Disposition, Reason

#: A prescription that was last collected longer ago than this counts as not taken.
LONGEST_SINCE_COLLECTED = 90
#: An eGFR at which no limit holds.
HEALTHY_EGFR = 90


@dataclass(frozen=True, slots=True)
class Answer:
    """What the rules say of a medicine.

    Attributes:
        disposition: What is to become of it.
        dose: Daily dose in mg after discharge; 0 where it is not continued.
        reason: The first rule that applies.
    """

    disposition: Disposition
    dose: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class _Entry:
    """What both halves say of one medicine."""

    name: str
    listed: Listed | None
    ordered: Ordered | None
    dispensed: Dispensed | None
    bought: Bought | None

    @property
    def dose(self) -> float:
        """The dose that holds: of list and label the newer one."""
        if self.ordered is not None:
            return self.ordered.dose
        listed, dispensed = self.listed, self.dispensed
        if dispensed is not None and (listed is None or dispensed.prescribed > listed.confirmed):
            return dispensed.dose
        if listed is not None:
            return listed.dose
        assert self.bought is not None, "an entry is on some list"
        return self.bought.dose

    @property
    def prescribed(self) -> date | None:
        """When a prescriber last spoke of it; None if it was only bought."""
        dates = [
            *([self.listed.confirmed] if self.listed else []),
            *([self.ordered.started] if self.ordered else []),
            *([self.dispensed.prescribed] if self.dispensed else []),
        ]
        return max(dates, default=None)


def decide(record: Record) -> dict[str, Answer]:
    """Return what the rules say of each medicine of either half, in alphabetical order.

    The rules, in the order in which they apply; they are ours, for this exercise:

    1. ``allergy``: the patient is allergic to its group: stop.
    2. ``stopped_by_gp``: a letter stopped it after it was last prescribed or confirmed: stop.
    3. ``renal``: the eGFR is below the threshold under which it is avoided: stop.
    4. ``duplicate``: another medicine of its class remains: keep the one prescribed last (a bought
       one yields to any prescribed one) and stop the others.
    5. ``not_collected``: the community pharmacy supplies it, and it was not collected within 90
       days: clarify.
    6. ``renal``: the dose that holds is above the limit for the eGFR: change to the limit.
    7. ``newer_dose``: list and label differ in dose: the newer one holds.
    8. ``current``: none of these: continue.
    """
    entries = [_entry(record, name) for name in record.medicines()]
    found: dict[str, Answer] = {}
    for entry in entries:
        reason = _stopped(record, entry)
        if reason is not None:
            found[entry.name] = Answer(Disposition.STOP, 0.0, reason)
    staying = [entry for entry in entries if entry.name not in found]
    for entry in staying:
        if _yields(entry, staying):
            found[entry.name] = Answer(Disposition.STOP, 0.0, Reason.DUPLICATE)
        else:
            found[entry.name] = _goes_on(record, entry)
    return {entry.name: found[entry.name] for entry in entries}


def _entry(record: Record, name: str) -> _Entry:
    chart, pharmacy = record.chart, record.pharmacy
    return _Entry(
        name,
        next((row for row in chart.listed if row.medicine == name), None),
        next((row for row in chart.ordered if row.medicine == name), None),
        next((row for row in pharmacy.dispensed if row.medicine == name), None),
        next((row for row in pharmacy.bought if row.medicine == name), None),
    )


def _stopped(record: Record, entry: _Entry) -> Reason | None:
    """Return why a medicine is stopped, whatever else is taken."""
    medicine, last = formulary()[entry.name], entry.prescribed
    if medicine.allergy and medicine.allergy in record.pharmacy.allergies:
        return Reason.ALLERGY
    letters = [row.written for row in record.pharmacy.letters if row.medicine == entry.name]
    if letters and (last is None or max(letters) > last):
        return Reason.STOPPED_BY_GP
    if not medicine.allowed(entry.dose, record.chart.egfr):
        return Reason.RENAL
    return None


def _yields(entry: _Entry, staying: Iterable[_Entry]) -> bool:
    """Return whether another medicine of the class goes before this one."""
    group = formulary()[entry.name].group
    rivals = [each for each in staying if formulary()[each.name].group == group]
    return max(rivals, key=lambda each: (each.prescribed or date.min, each.name)) is not entry


def _goes_on(record: Record, entry: _Entry) -> Answer:
    """Return what becomes of a medicine that is not stopped."""
    if not _collected(record, entry):
        return Answer(Disposition.CLARIFY, 0.0, Reason.NOT_COLLECTED)
    listed, dispensed = entry.listed, entry.dispensed
    dose = formulary()[entry.name].allowed(entry.dose, record.chart.egfr)
    if dose != entry.dose:
        reason = Reason.RENAL
    elif listed and dispensed and listed.dose != dispensed.dose:
        reason = Reason.NEWER_DOSE
    else:
        reason = Reason.CURRENT
    changed = dose != (listed.dose if listed else entry.dose)
    return Answer(Disposition.CHANGE if changed else Disposition.CONTINUE, dose, reason)


def _collected(record: Record, entry: _Entry) -> bool:
    if entry.ordered or entry.bought or (entry.listed and entry.listed.supply is Supply.CLINIC):
        return True
    if entry.dispensed is None:
        return False
    return (record.today - entry.dispensed.collected).days <= LONGEST_SINCE_COLLECTED


def by_chart(record: Record) -> Mapping[str, Answer]:
    """Return what one says who reads the chart alone: as if the pharmacy only confirmed it."""
    dispensed = tuple(
        Dispensed(row.medicine, row.dose, row.confirmed, record.today)
        for row in record.chart.listed
    )
    return decide(replace(record, pharmacy=Pharmacy(dispensed, (), (), ())))


def by_pharmacy(record: Record) -> Mapping[str, Answer]:
    """Return what one says who reads the pharmacy's half alone, as if the chart confirmed it."""
    listed = tuple(
        Listed(row.medicine, row.dose, row.prescribed) for row in record.pharmacy.dispensed
    )
    return decide(replace(record, chart=Chart(listed, (), HEALTHY_EGFR)))


def mistaken(reading: Mapping[str, Answer], truth: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the medicines that a reading leaves out, or gets wrong in disposition or dose."""
    return tuple(
        name
        for name, right in truth.items()
        if name not in reading
        or (reading[name].disposition, reading[name].dose) != (right.disposition, right.dose)
    )
