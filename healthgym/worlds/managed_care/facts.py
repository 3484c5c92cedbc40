"""What is true of a patient, before anybody writes it down.

Charts, policies and cases share these: a chart is drawn as facts and rendered as records and notes,
so that they agree; a criterion of a policy asks for facts; a case is made by planting the facts
that a criterion finds satisfied, insufficient, contradicted or absent. Immutable.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


class StopReason(StrEnum):
    """Why a medicine or a therapy was ended."""

    INEFFECTIVE = "ineffective"
    INTOLERANCE = "intolerance"
    CONTRAINDICATED = "contraindicated"
    COMPLETED = "completed"
    COST = "cost"
    PATIENT_CHOICE = "patient_choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something true of a patient.

    Attributes:
        id: Unique within the patient, such as ``F-0042``.
        noted_in: Kinds of documents that state it; records of the chart do besides where the kind
            of fact has one. Empty for what only the structured record knows.
    """

    id: str
    noted_in: tuple[DocumentKind, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(Fact):
    """A condition.

    Attributes:
        code: ICD-10-CM code, such as ``M17.11``.
        display: Its name.
        onset: Since when.
        active: Whether it is still there.
    """

    code: str
    display: str
    onset: date
    active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Fact):
    """A laboratory result, a vital sign or the score of an instrument.

    Attributes:
        code: LOINC code, such as ``4548-4``; a score without one has a code of ours.
        display: Its name.
        value: The value, in ``unit``.
        unit: UCUM unit, such as ``%`` or ``kg/m2``.
        taken: The day.
    """

    code: str
    display: str
    value: float
    unit: str
    taken: date


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationCourse(Fact):
    """A medicine, for as long as it was taken.

    Attributes:
        medication: Generic name.
        drug_class: Its class, as step-therapy rules name it.
        dose: Such as ``15 mg``.
        frequency: Such as ``once weekly``.
        started: First day.
        ended: Last day; None while it is taken.
        stop_reason: Why it ended; None while it is taken, or where nobody wrote it down.
    """

    medication: str
    drug_class: str
    dose: str
    frequency: str
    started: date
    ended: date | None = None
    stop_reason: StopReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TherapyCourse(Fact):
    """A treatment without medicines: physical therapy, counselling, CPAP, compression.

    Attributes:
        kind: What it is, in the words of the rules: ``physical_therapy``.
        display: Its name.
        sessions: Sessions attended; nights used for what is used nightly.
        started: First day.
        ended: Last day; None while it goes on.
        stop_reason: Why it ended, if it did.
    """

    kind: str
    display: str
    sessions: int
    started: date
    ended: date | None = None
    stop_reason: StopReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureDone(Fact):
    """A procedure that was carried out.

    Attributes:
        code: CPT or HCPCS code.
        display: Its name.
        performed: The day.
        result: What came of it, in words; empty if nothing is to be told.
    """

    code: str
    display: str
    performed: date
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Fact):
    """What somebody saw: on an image, at an examination, in an interview.

    Attributes:
        key: What is looked at, in the words of the rules: ``knee.joint_space_narrowing``.
        display: Its name.
        value: What was found: a grade such as ``severe``, or ``present`` or ``absent``.
        found: The day.
    """

    key: str
    display: str
    value: str
    found: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Intolerance(Fact):
    """An allergy, or a reason never to give something.

    Attributes:
        substance: Generic name or drug class.
        reaction: What happens.
        recorded: The day it was written down.
        contraindication: Whether it forbids the substance rather than makes it unwelcome.
    """

    substance: str
    reaction: str
    recorded: date
    contraindication: bool = False


AnyFact = (
    Diagnosis
    | Measurement
    | MedicationCourse
    | TherapyCourse
    | ProcedureDone
    | Finding
    | Intolerance
)
