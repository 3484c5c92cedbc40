"""Medicines that go with a condition."""

from __future__ import annotations

from datetime import date

from healthgym.worlds.managed_care.facts import Diagnosis, MedicationCourse
from healthgym.worlds.managed_care.population.companions import companions
from healthgym.worlds.managed_care.population.conditions import available
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

TODAY = date(2026, 3, 13)
NOTE = (DocumentKind.PROGRESS_NOTE,)


def coronary(*, active: bool = True, onset: date = date(2024, 2, 5)) -> Diagnosis:
    name = "Atherosclerotic heart disease"
    return Diagnosis(id="F-1", code="I25.10", display=name, onset=onset, active=active)


def drugs(*never: str, ill: Diagnosis, known: tuple[MedicationCourse, ...] = ()) -> set[str]:
    return {x.medication for x in companions([ill], known, never, NOTE, TODAY)}


def test_coronary_disease_brings_its_drugs() -> None:
    found = list(companions([coronary()], (), (), NOTE, TODAY))
    assert {x.medication for x in found} == {"aspirin", "atorvastatin", "lisinopril"}
    assert all(coronary().onset < x.started < TODAY and x.ended is None for x in found)
    assert len({x.id for x in found}) == len(found)


def test_nothing_is_added_that_a_case_is_about_or_the_patient_takes() -> None:
    assert drugs("statin", "lisinopril", ill=coronary()) == {"aspirin"}
    one = next(iter(companions([coronary()], (), (), NOTE, TODAY)))
    assert one.medication not in drugs(ill=coronary(), known=(one,))


def test_what_is_over_or_has_just_begun_brings_nothing() -> None:
    assert not drugs(ill=coronary(active=False))
    assert not drugs(ill=coronary(onset=TODAY))


def test_no_medicine_is_taken_before_it_could_be_had() -> None:
    assert available("apixaban", date(2009, 1, 1)) == date(2013, 2, 1)
    assert available("aspirin", date(2009, 1, 1)) == date(2009, 1, 1)
