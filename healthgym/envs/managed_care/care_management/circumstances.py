"""How a member lives, as the chart has it: what they say on the phone has to agree with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.persona import persona_of
from healthgym.worlds.managed_care.conversation.persona import Circumstance
from healthgym.worlds.managed_care.records.chart import Patient

#: Years of age from which on somebody has grown children, or grandchildren.
_OLDER = 55
_TOGETHER = frozenset({"married", "partnered"})


def works(patient: Patient, today: date) -> bool:
    """Return whether somebody works, as the notes of their chart say."""
    return persona_of(patient, today.year).group == "worker"


def circumstances_of(patient: Patient, today: date) -> frozenset[Circumstance]:
    """Return how a member lives.

    Args:
        patient: Who it is.
        today: The day of the task.
    """
    return frozenset(_circumstances(patient, today))


def _circumstances(patient: Patient, today: date) -> Iterator[Circumstance]:
    woman = patient.sex == "F"
    if patient.marital_status in _TOGETHER:
        yield Circumstance.HUSBAND if woman else Circumstance.WIFE
    else:
        yield Circumstance.ALONE
    if patient.marital_status == "widowed":
        yield Circumstance.WIDOW if woman else Circumstance.WIDOWER
    yield Circumstance.WORKING if works(patient, today) else Circumstance.RETIRED
    if age_on(patient.dob, today) >= _OLDER:
        yield Circumstance.OLDER
