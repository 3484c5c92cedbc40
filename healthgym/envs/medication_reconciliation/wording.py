"""What clinicians read: the instruction, and each section of either half, a line for each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from healthgym.envs.medication_reconciliation.rules import LONGEST_SINCE_COLLECTED
from healthgym.worlds.reconciliation.formulary import formulary
from healthgym.worlds.reconciliation.record import Record
from healthgym.worlds.reconciliation.world import PHARMACIST, PHYSICIAN, TITLES, other_role

_RULES = f"""\
What becomes of a medicine follows from these rules; the first that applies decides. They are \
rules of this exercise and no guidance for care.
1. allergy: the patient is allergic to its group: stop.
2. stopped_by_gp: a letter of the practice stopped it after it was last prescribed or confirmed: \
stop.
3. renal: the eGFR is below the threshold under which it is avoided: stop.
4. duplicate: another medicine of its class remains: keep the one prescribed or confirmed last \
(one bought without a prescription yields to any other), stop the others.
5. not_collected: the community pharmacy supplies it, and it was not collected in the last \
{LONGEST_SINCE_COLLECTED} days: clarify. What the ward started, a hospital clinic supplies or the \
patient bought need not be collected.
6. renal: the dose is above the limit for the eGFR: change to the limit.
7. newer_dose: admission list and label differ in dose: the newer date holds. If that is the \
label, change to its dose; if it is the list, continue.
8. current: none of these: continue.
A dose that differs from the admission list's is a change; so is a lower one for a medicine that \
is not on the admission list. Doses are mg a day."""

_TASK = """\
{patient}, is discharged at {discharge:%H:%M} today, {begins:%Y-%m-%d}. The ward physician has \
the hospital's chart; the community pharmacist has the dispensing history, allergies and letters \
of the practice. Neither sees the other's half. Together you make one medication list: a line for \
each medicine of either half, with what becomes of it (continue, change, stop or clarify), the \
daily dose where it goes on, and the rule that decides. One proposes a line, the other agrees. \
Then both sign. A message hands the turn over. A list that is not signed by both at discharge \
lapses.

{rules}

Renal limits: {limits}."""


def brief(patient: str, begins: datetime, discharge: datetime) -> str:
    """Return what both clinicians are told."""
    return _TASK.format(
        patient=patient, begins=begins, discharge=discharge, rules=_RULES, limits=_limits()
    )


def greeting(role: str) -> str:
    """Return what a role is told before that."""
    return f"You are the {TITLES[role]}; your colleague is the {TITLES[other_role(role)]}."


def _limits() -> str:
    """Return the renal limits in words."""
    parts = []
    for medicine in formulary().values():
        limit = medicine.renal
        if limit is not None:
            most = f"at most {limit.most:g} mg" if limit.most else "avoid"
            parts.append(f"{medicine.name} {most} below an eGFR of {limit.below}")
    return "; ".join(parts)


# -- the sections of either half -----------------------------------------------------------------


def admission_list(record: Record) -> list[str]:
    """Return the lines of the admission list."""
    return [
        f"{row.medicine}: {row.dose:g} mg a day, confirmed {row.confirmed}, from the {row.supply}"
        for row in record.chart.listed
    ]


def ward_orders(record: Record) -> list[str]:
    """Return what the ward started."""
    return [
        f"{row.medicine}: {row.dose:g} mg a day, ordered on the ward {row.started}, to go on"
        for row in record.chart.ordered
    ]


def results(record: Record) -> list[str]:
    """Return conditions and kidney function."""
    conditions = [f"condition: {condition}" for condition in record.chart.conditions]
    return [*conditions, f"eGFR: {record.chart.egfr} mL/min/1.73 m2"]


def dispensing(record: Record) -> list[str]:
    """Return the dispensing history."""
    return [
        f"{row.medicine}: label {row.dose:g} mg a day, prescribed {row.prescribed}, last "
        f"collected {row.collected}"
        for row in record.pharmacy.dispensed
    ]


def counter(record: Record) -> list[str]:
    """Return allergies and sales without a prescription."""
    allergies = [f"allergy: {group}" for group in record.pharmacy.allergies]
    bought = [
        f"{row.medicine}: {row.dose:g} mg a day, bought without a prescription {row.bought}"
        for row in record.pharmacy.bought
    ]
    return [*(allergies or ["allergy: none known"]), *bought]


def letters(record: Record) -> list[str]:
    """Return the practice's letters."""
    return [
        f"{row.medicine}: stopped by the general practitioner, letter of {row.written}"
        for row in record.pharmacy.letters
    ]


Section = Callable[[Record], list[str]]
#: The sections of each role's half, by the tool that opens them.
SECTIONS: Mapping[str, Mapping[str, Section]] = {
    PHYSICIAN: {
        "read_admission_list": admission_list,
        "read_ward_orders": ward_orders,
        "read_results": results,
    },
    PHARMACIST: {
        "read_dispensing": dispensing,
        "read_counter": counter,
        "read_letters": letters,
    },
}


def section(record: Record, role: str, name: str) -> str:
    """Return a section as its reader sees it."""
    lines = SECTIONS[role][name](record)
    return "\n".join(f"- {line}" for line in lines) if lines else "Nothing."
