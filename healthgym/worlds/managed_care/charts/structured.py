"""Facts as structured records. Ids carry the patient's, so that no two patients share one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from healthgym.worlds.managed_care.charts.hours import drawn_at, visit_start
from healthgym.worlds.managed_care.charts.knowledge import flagged, measures
from healthgym.worlds.managed_care.charts.prose import begun
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.records.chart import (
    Allergy,
    Condition,
    Encounter,
    MedicationRequest,
    Observation,
    Patient,
    Procedure,
)

_T = TypeVar(
    "_T",
    bound=AnyFact,
)

#: What the medication record says of why a course ended.
STOPPED = {
    StopReason.INEFFECTIVE: "Ineffective",
    StopReason.INTOLERANCE: "Intolerance",
    StopReason.CONTRAINDICATED: "Contraindicated",
    StopReason.COMPLETED: "Course completed",
    StopReason.COST: "Cost",
    StopReason.PATIENT_CHOICE: "Patient choice",
}
#: CPT codes under which therapies are billed, by a part of their kind.
_THERAPIES = (
    ("physical", "97110"),
    ("occupational", "97530"),
    ("speech", "92507"),
    ("diet", "97803"),
    ("counsel", "90832"),
    ("psychotherap", "90837"),
    ("cbt", "90834"),
    ("cpap", "94660"),
    ("cardiac_rehab", "93798"),
    ("pulmonary_rehab", "94626"),
    ("education", "G0108"),
    ("photo", "96910"),
)


#: Minutes into a visit at which vital signs are taken, something is seen, done or prescribed.
_TAKEN, _SEEN, _DONE, _PRESCRIBED = 4, 12, 15, 20


@dataclass(frozen=True, slots=True)
class _Clock:
    """Times of day in a patient's records."""

    patient: Patient

    def at(self, day: date, minutes: int) -> datetime:
        return visit_start(self.patient, day) + timedelta(minutes=minutes)

    def of(self, fact: Measurement) -> datetime:
        known = measures().get(fact.code)
        if known is None or known.panel:
            return drawn_at(self.patient, fact.taken)
        return self.at(fact.taken, _TAKEN)


def id_tail(patient_id: str) -> str:
    """Return what ids of a patient's records carry: the patient's id without its prefix."""
    return patient_id.removeprefix("PAT-")


def encounter_id(patient_id: str, place: int) -> str:
    """Return the id of the encounter that a visit is, by its place."""
    return f"ENC-{id_tail(patient_id)}-{place + 1:03d}"


def document_key(patient_id: str) -> str:
    """Return what the ids of a patient's documents begin with, up to their number."""
    return f"DOC-{id_tail(patient_id)}-"


@dataclass(frozen=True)
class Structured:
    """The structured part of a chart: each kind in the order of its days, made when it is asked.

    A condition, a measurement, a medicine, a procedure and an allergy have a record always. A
    finding and a therapy that no document tells have one, too: an observation in words, a
    procedure.

    Attributes:
        patient: Whose it is.
        facts: What is true of the patient.
        seen: Writes the encounters.
    """

    patient: Patient
    facts: Sequence[AnyFact]
    seen: Callable[[], tuple[Encounter, ...]] = tuple

    @cached_property
    def encounters(self) -> tuple[Encounter, ...]:
        """Visits and stays."""
        return self.seen()

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Diagnoses."""
        own = _by_day(_of(self.facts, Diagnosis))
        return tuple(
            _condition(key, self.patient.id, one) for key, one in self._numbered("CON", own)
        )

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """Measurements, and what was found."""
        seen: list[Measurement | Finding] = [
            *_of(self.facts, Measurement),
            *(one for one in _of(self.facts, Finding) if not one.noted_in),
        ]
        known, clock = self._numbered("OBS", _by_day(seen)), self._clock
        return tuple(_observation(key, clock, one) for key, one in known)

    @cached_property
    def procedures(self) -> tuple[Procedure, ...]:
        """Procedures, and therapies."""
        done: list[ProcedureDone | TherapyCourse] = [
            *_of(self.facts, ProcedureDone),
            *(one for one in _of(self.facts, TherapyCourse) if not one.noted_in),
        ]
        known, clock = self._numbered("PRC", _by_day(done)), self._clock
        return tuple(_procedure(key, clock, one) for key, one in known)

    @cached_property
    def medications(self) -> tuple[MedicationRequest, ...]:
        """Medicines, those that ended too."""
        own, clock = _by_day(_of(self.facts, MedicationCourse)), self._clock
        return tuple(_medication(key, clock, one) for key, one in self._numbered("MED", own))

    @cached_property
    def allergies(self) -> tuple[Allergy, ...]:
        """Allergies, and what is not tolerated."""
        own, clock = _by_day(_of(self.facts, Intolerance)), self._clock
        return tuple(_allergy(key, clock, one) for key, one in self._numbered("ALG", own))

    @property
    def _clock(self) -> _Clock:
        return _Clock(self.patient)

    def _numbered(self, prefix: str, facts: Sequence[_T]) -> Iterator[tuple[str, _T]]:
        tail = id_tail(self.patient.id)
        return ((f"{prefix}-{tail}-{number:03d}", one) for number, one in enumerate(facts, 1))


def structured(
    patient: Patient,
    facts: Sequence[AnyFact],
    seen: Callable[[], tuple[Encounter, ...]] = tuple,
) -> Structured:
    """Return the records of facts.

    Args:
        patient: Whose they are.
        facts: What is true of the patient.
        seen: Writes the encounters.
    """
    return Structured(patient, facts, seen)


def _of(facts: Sequence[AnyFact], kind: type[_T]) -> list[_T]:
    return [fact for fact in facts if isinstance(fact, kind)]


def _by_day(facts: Sequence[_T]) -> list[_T]:
    return sorted(facts, key=lambda one: (begun(one), one.id))


def _condition(key: str, patient_id: str, fact: Diagnosis) -> Condition:
    return Condition(
        id=key,
        patient_id=patient_id,
        code=fact.code,
        display=fact.display,
        active=fact.active,
        onset_date=fact.onset,
    )


def _observation(key: str, clock: _Clock, fact: Measurement | Finding) -> Observation:
    if isinstance(fact, Finding):
        return Observation(
            id=key,
            patient_id=clock.patient.id,
            code=fact.key,
            display=fact.display,
            value_text=fact.value,
            observed_at=clock.at(fact.found, _SEEN),
        )
    return Observation(
        id=key,
        patient_id=clock.patient.id,
        code=fact.code,
        display=fact.display,
        value_quantity=fact.value,
        value_unit=fact.unit,
        observed_at=clock.of(fact),
        interpretation=flagged(fact),
    )


def _procedure(key: str, clock: _Clock, fact: ProcedureDone | TherapyCourse) -> Procedure:
    if isinstance(fact, ProcedureDone):
        return Procedure(
            id=key,
            patient_id=clock.patient.id,
            code=fact.code,
            display=fact.display,
            performed_at=clock.at(fact.performed, _DONE),
            notes=fact.result or None,
        )
    ended = f"to {fact.ended}" if fact.ended else "ongoing"
    reason = f"; {STOPPED[fact.stop_reason].lower()}" if fact.stop_reason else ""
    return Procedure(
        id=key,
        patient_id=clock.patient.id,
        code=next((code for part, code in _THERAPIES if part in fact.kind), "97799"),
        display=fact.display,
        performed_at=clock.at(fact.started, _DONE),
        notes=f"{fact.sessions} sessions, {ended}{reason}",
    )


def _medication(key: str, clock: _Clock, fact: MedicationCourse) -> MedicationRequest:
    if fact.ended is None:
        status = "active"
    else:
        status = "completed" if fact.stop_reason is StopReason.COMPLETED else "stopped"
    reason = STOPPED[fact.stop_reason] if fact.stop_reason else "Reason not recorded"
    return MedicationRequest(
        id=key,
        patient_id=clock.patient.id,
        medication_name=fact.medication,
        status=status,
        authored_on=clock.at(fact.started, _PRESCRIBED),
        dose=fact.dose,
        frequency=fact.frequency,
        # The record has no field for the end, and a rule on duration needs it.
        discontinued_reason=None if fact.ended is None else f"{reason}; ended {fact.ended}",
    )


#: What an entry warns of, where it is no medicine.
_CATEGORIES: Mapping[str, str] = MappingProxyType(
    {
        "latex": "environment",
        "peanut": "food",
        "shellfish": "food",
        "epidural injection": "procedure",
        "magnetic resonance imaging": "procedure",
        "neurostimulator lead": "device",
        "transcranial magnetic stimulation": "procedure",
    }
)


def _category(substance: str) -> str:
    return _CATEGORIES.get(substance, "medication")


def _allergy(key: str, clock: _Clock, fact: Intolerance) -> Allergy:
    return Allergy(
        id=key,
        patient_id=clock.patient.id,
        substance=fact.substance,
        category=_category(fact.substance),
        reaction=fact.reaction,
        criticality="high" if fact.contraindication else "low",
        recorded_at=clock.at(fact.recorded, _SEEN),
        notes="Contraindicated" if fact.contraindication else None,
    )
