"""A patient as the latent model holds one: dated findings, drugs and readings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property

from healthgym.envs.trial_matching.vocabulary import Vocabulary, vocabulary

FEMALE, MALE = "female", "male"


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition or an event.

    Attributes:
        concept: What it is.
        days: Days since it began or happened.
        active: Whether it is present now; an event is not.
        attributes: Stage, type and the like, as (attribute, value).
    """

    concept: str
    days: int
    active: bool
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether it is present now and no event, so that it falls within every window."""
        return self.active and not vocabulary().is_event(self.concept)


@dataclass(frozen=True, slots=True)
class DrugUse:
    """A course of a drug.

    Attributes:
        drug: Its name.
        started: Days since it began.
        stopped: Days since it ended; None while it goes on.
        regimen: The regimen it was part of, or empty.
    """

    drug: str
    started: int
    stopped: int | None = None
    regimen: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured or counted value, in the unit of its measure, and how many days old it is."""

    measure: str
    value: float
    days: int = 0


@dataclass(frozen=True)
class Patient:
    """Everything that is true of a patient, and nothing that is not.

    Attributes:
        today: Day of the note.
        sex: ``"female"`` or ``"male"``.
        birth_date: Day of birth.
        primary: The condition the admission is about.
        findings: Conditions and events, the primary one first.
        drugs: Courses of drugs.
        readings: Values, at most one for each measure.
        allergies: Drug classes.
        body: Height in cm and weight in kg.
        smoking: Packs a day and years, both 0 for those who never smoked.
        denied: Findings the patient does not have and the note says so.
        relatives: Findings of relatives; they say nothing about the patient.
        complaint: What brought the patient in.
    """

    today: date
    sex: str
    birth_date: date
    primary: str
    findings: tuple[Finding, ...]
    drugs: tuple[DrugUse, ...]
    readings: tuple[Reading, ...]
    allergies: tuple[str, ...]
    body: tuple[int, int]
    smoking: tuple[float, int]
    denied: tuple[str, ...]
    relatives: tuple[str, ...]
    complaint: str

    @property
    def age(self) -> int:
        """Age in whole years on the day of the note."""
        today, born = self.today, self.birth_date
        return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


class Chart:
    """A patient's facts by every term they fall under, for fast evaluation of criteria.

    Args:
        patient: The patient.
    """

    def __init__(self, patient: Patient) -> None:
        terms: Vocabulary = vocabulary()
        self.patient = patient
        self.sex = patient.sex
        self.age = patient.age
        self.readings = {reading.measure: reading for reading in patient.readings}
        self.findings: dict[str, list[Finding]] = {}
        for finding in patient.findings:
            for term in terms.wider[finding.concept]:
                self.findings.setdefault(term, []).append(finding)
        self.drugs: dict[str, list[DrugUse]] = {}
        for use in patient.drugs:
            for term in terms.wider[terms.class_of[use.drug]]:
                self.drugs.setdefault(term, []).append(use)
        self.allergies = {term for name in patient.allergies for term in terms.wider[name]}

    @cached_property
    def attributes(self) -> dict[tuple[str, str], str]:
        """(condition, attribute) -> value, for those that are known."""
        return {
            (finding.concept, name): value
            for finding in self.patient.findings
            for name, value in finding.attributes
        }
