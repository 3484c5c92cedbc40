"""A disease over the years: what is measured, what is tried, why it is changed.

Every measure follows the treatment: it starts untreated, drifts, and falls within some two months
after each step that works. A step is taken when the measure is beyond its goal and the last one
has had time; a medicine that is not tolerated is stopped early, and one that does not work when
the next takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

from healthgym.core.records import replace
from healthgym.worlds.managed_care.charts.hours import business_day
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
from healthgym.worlds.managed_care.population.conditions import (
    Condition,
    Course,
    Prescription,
    available,
)
from healthgym.worlds.managed_care.population.kidney import creatinine_of
from healthgym.worlds.managed_care.population.pressure import LOWER, UPPER, below
from healthgym.worlds.managed_care.population.suitability import closed_by
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Time in which a medicine reaches most of its effect, in days.
_ONSET_OF_EFFECT = 60.0
#: A step is given so many days before the next is considered.
_PATIENCE = 150
#: Share of medicines that do not work, and that are not tolerated.
_FAILS, _NOT_TOLERATED = 0.3, 0.13


@dataclass(frozen=True, slots=True)
class Habits:
    """How a patient's notes are kept.

    Attributes:
        note: Kind of the usual visit note.
        recent: Since when notes tell what was measured; before, the structured record does alone.
    """

    note: DocumentKind
    recent: date


@dataclass(slots=True)
class _Step:
    """A step of treatment under way."""

    prescription: Prescription
    started: date
    drops: tuple[float, ...]
    ended: date | None = None
    reason: StopReason | None = None


@dataclass(slots=True)
class _State:
    """What the simulation carries from visit to visit."""

    steps: list[_Step] = field(default_factory=list)
    next_step: int = 0
    changed: date = date.min


def draw_disease(
    condition: Condition,
    patient: Patient,
    visits: Sequence[date],
    habits: Habits,
    numbers: Iterator[int],
    rng: np.random.Generator,
    closed: frozenset[str] = frozenset(),
) -> tuple[AnyFact, ...]:
    """Draw a patient's course of a disease.

    Args:
        condition: The disease.
        patient: Who has it.
        visits: Days on which the patient is seen, ascending, at least one.
        habits: How notes are kept.
        numbers: Numbers of the facts' ids.
        rng: Where chance comes from.
        closed: Drug classes of which nothing is given, for what else the patient takes or has.
    """
    return _Drawing(condition, patient, visits, habits, numbers, rng, closed).facts()


class _Drawing:
    def __init__(
        self,
        condition: Condition,
        patient: Patient,
        visits: Sequence[date],
        habits: Habits,
        numbers: Iterator[int],
        rng: np.random.Generator,
        closed: frozenset[str],
    ) -> None:
        self._condition, self._patient, self._rng = condition, patient, rng
        self._visits, self._habits, self._numbers = visits, habits, numbers
        self._state, self._closed = _State(), closed
        self._starts = [float(rng.uniform(*course.start)) for course in condition.courses]
        least, most = condition.years
        before = visits[-1] - timedelta(days=int(rng.uniform(least, most) * 365))
        adult = patient.dob + timedelta(days=19 * 365)
        self._onset = min(max(before, adult), visits[-1])
        self._consult = int(rng.integers(max(len(visits) - 6, 0), len(visits)))
        self._facts: list[AnyFact] = []
        self._imaged: date | None = None

    def _found(self, told: DocumentKind, seen: Sequence[date]) -> date:
        """Return the day of a finding: of the study, if it is on an image."""
        if told is DocumentKind.IMAGING_REPORT and self._imaged is not None:
            return self._imaged
        return seen[int(self._rng.integers(len(seen)))]

    def _id(self) -> str:
        return f"B-{next(self._numbers):03d}"

    def facts(self) -> tuple[AnyFact, ...]:
        """Draw the course and return its facts."""
        code, display = self._condition.diagnoses[
            int(self._rng.integers(len(self._condition.diagnoses)))
        ]
        note = (self._habits.note,)
        told = (*note, DocumentKind.SPECIALIST_CONSULT_NOTE) if self._has_consult() else note
        self._facts.append(
            Diagnosis(id=self._id(), noted_in=told, code=code, display=display, onset=self._onset)
        )
        self._always()
        seen = [day for day in self._visits if day >= self._onset]
        if self._onset < self._visits[0]:
            # Long known: the first step was taken before our records begin.
            self._intensify(self._onset + timedelta(days=int(self._rng.integers(14, 200))))
        for place, day in enumerate(seen):
            self._visit(place, day)
        self._close(note)
        self._therapies(seen)
        self._procedures(seen)
        self._signs(seen)
        return tuple(self._facts)

    def _has_consult(self) -> bool:
        return self._consult % 3 == 0

    def _always(self) -> None:
        options = [x for x in self._condition.always if x.drug_class not in self._closed]
        if options:
            chosen = options[int(self._rng.integers(len(options)))]
            begun = min(
                self._onset + timedelta(days=int(self._rng.integers(5, 60))), self._visits[-1]
            )
            begun = available(chosen.medication, begun)
            self._facts.append(self._course(chosen, begun, None, None))

    def _course(
        self,
        chosen: Prescription,
        begun: date,
        ended: date | None,
        reason: StopReason | None,
    ) -> MedicationCourse:
        return MedicationCourse(
            id=self._id(),
            noted_in=(self._habits.note,),
            medication=chosen.medication,
            drug_class=chosen.drug_class,
            dose=chosen.dose,
            frequency=chosen.frequency,
            started=begun,
            ended=ended,
            stop_reason=reason,
        )

    def _intensify(self, day: date) -> None:
        """Take the next step that is open, in the place of the last or beside it."""
        state, condition = self._state, self._condition
        going = [step.prescription for step in state.steps if step.ended is None]
        closed = self._closed
        if condition.add:
            closed |= closed_by({each.drug_class for each in going})
        options: tuple[Prescription, ...] = ()
        while not options and state.next_step < len(condition.steps):
            step_options = condition.steps[state.next_step]
            options = tuple(each for each in step_options if each.drug_class not in closed)
            state.next_step += 1
        if not options:
            return
        chosen = options[int(self._rng.integers(len(options)))]
        day = available(chosen.medication, day)
        works = 0.15 if self._rng.random() < _FAILS else 1.0
        drops = tuple(works * float(self._rng.uniform(*x.drop)) for x in condition.courses)
        if not condition.add:
            self._replace(chosen, day)
        state.steps.append(_Step(chosen, day, drops))
        state.changed = day

    def _replace(self, chosen: Prescription, day: date) -> None:
        """End what is going on; a new dose of the same medicine does not make it ineffective."""
        for step in self._state.steps:
            if step.ended is None:
                same = step.prescription.medication == chosen.medication
                step.ended = day
                step.reason = StopReason.COMPLETED if same else StopReason.INEFFECTIVE

    def _visit(self, place: int, day: date) -> None:
        values = self._measure(place, day)
        self._stop_early(day)
        running = [step for step in self._state.steps if step.ended is None]
        patient_enough = (day - self._state.changed).days > _PATIENCE if running else True
        first = values.get(0, self._value(0, day)) if self._condition.courses else None
        needed = not running if first is None else self._condition.worse(first)
        last = day == self._visits[-1]
        if needed and patient_enough and not last and self._rng.random() < 0.75:
            self._intensify(day)

    def _stop_early(self, day: date) -> None:
        if self._state.next_step >= len(self._condition.steps):
            return  # nothing is left that could take its place
        for step in self._state.steps:
            since = (day - step.started).days
            if step.ended is None and 20 < since < 200 and step.started >= self._visits[0]:
                draw = self._rng.random()
                if draw < _NOT_TOLERATED:
                    step.ended, step.reason = day, StopReason.INTOLERANCE
                    self._remember(step.prescription, day)
                elif draw < _NOT_TOLERATED + 0.02:
                    step.ended, step.reason = day, StopReason.COST
                elif draw < _NOT_TOLERATED + 0.04:
                    step.ended, step.reason = day, StopReason.PATIENT_CHOICE

    def _remember(self, chosen: Prescription, day: date) -> None:
        known = any(
            isinstance(x, Intolerance) and x.substance == chosen.medication for x in self._facts
        )
        if not known and self._rng.random() < 0.4:
            reactions = ("dizziness", "nausea", "rash", "headache", "fatigue", "stomach upset")
            self._facts.append(
                Intolerance(
                    id=self._id(),
                    noted_in=(self._habits.note,),
                    substance=chosen.medication,
                    reaction=reactions[int(self._rng.integers(len(reactions)))],
                    recorded=day,
                )
            )

    def _value(self, place: int, day: date) -> float:
        """Return the value of a measure on a day, without noise and not rounded."""
        course = self._condition.courses[place]
        value = self._starts[place] + course.drift * (day - self._visits[0]).days / 365
        for step in self._state.steps:
            until = step.ended or day
            if day > step.started:
                worn = math.exp(-max((day - until).days, 0) / _ONSET_OF_EFFECT)
                reached = 1 - math.exp(-(min(day, until) - step.started).days / _ONSET_OF_EFFECT)
                value -= step.drops[place] * reached * worn
        return value

    def _measure(self, place: int, day: date) -> dict[int, float]:
        found: dict[int, float] = {}
        by_code: dict[str, float] = {}
        for number, course in enumerate(self._condition.courses):
            if place % course.every and day != self._visits[-1]:
                continue
            if course.every > 20 and place:
                continue
            value = self._value(number, day)
            value += float(self._rng.normal(0, course.noise + course.cv * abs(value) or 1e-9))
            if course.code == LOWER:
                value = below(value, by_code.get(UPPER))
            if course.source:
                value = creatinine_of(by_code.get(course.source, value), self._patient, day)
            value = float(round(min(max(value, course.least), course.most), course.decimals))
            found[number] = by_code[course.code] = value
            self._facts.append(self._measurement(course, value, day))
        return found

    def _measurement(self, course: Course, value: float, day: date) -> Measurement:
        taken = day
        if course.lab:
            ahead = day - timedelta(days=2 + day.toordinal() % 5)
            ahead = business_day(ahead, self._patient.address_state or "")
            taken = ahead if ahead >= max(self._visits[0], self._onset) else day
        noted: tuple[DocumentKind, ...] = ()
        if day >= self._habits.recent:
            noted = (self._habits.note,)
            if self._has_consult() and day == self._visits[self._consult]:
                noted = (*noted, DocumentKind.SPECIALIST_CONSULT_NOTE)
            if course.lab and day >= self._visits[max(len(self._visits) - 3, 0)]:
                noted = (*noted, DocumentKind.LAB_RESULT)
            if course.form and day == self._visits[-1]:
                noted = (*noted, DocumentKind.QUESTIONNAIRE_FORM)
        return Measurement(
            id=self._id(),
            noted_in=noted,
            code=course.code,
            display=course.display,
            value=value,
            unit=course.unit,
            taken=taken,
        )

    def _close(self, note: tuple[DocumentKind, ...]) -> None:
        for step in self._state.steps:
            self._facts.append(
                self._course(step.prescription, step.started, step.ended, step.reason)
            )

    def _therapies(self, seen: Sequence[date]) -> None:
        for therapy in self._condition.therapies:
            if len(seen) < 3 or self._rng.random() > 0.5:
                continue
            place = int(self._rng.integers(0, len(seen) - 2))
            begun, ended = seen[place], seen[place + 1]
            goes_on = therapy.kind == "cpap"
            reason = StopReason.COMPLETED if self._rng.random() < 0.7 else StopReason.PATIENT_CHOICE
            self._facts.append(
                TherapyCourse(
                    id=self._id(),
                    noted_in=(self._habits.note,) if ended >= self._habits.recent else (),
                    kind=therapy.kind,
                    display=therapy.display,
                    sessions=int(self._rng.integers(therapy.least, therapy.most + 1)),
                    started=begun,
                    ended=None if goes_on else ended,
                    stop_reason=None if goes_on else reason,
                )
            )

    def _procedures(self, seen: Sequence[date]) -> None:
        for code, display, results in self._condition.procedures:
            if not seen or self._rng.random() > 0.7:
                continue
            day = seen[int(self._rng.integers(len(seen)))]
            noted = (self._habits.note,) if day >= self._habits.recent else ()
            if _is_imaging(code):
                self._imaged, noted = day, (DocumentKind.IMAGING_REPORT,)
            self._facts.append(
                ProcedureDone(
                    id=self._id(),
                    noted_in=noted,
                    code=code,
                    display=display,
                    performed=day,
                    result=results[int(self._rng.integers(len(results)))],
                )
            )

    def _signs(self, seen: Sequence[date]) -> None:
        for sign in self._condition.signs:
            if not seen or self._rng.random() > 0.6:
                continue
            found = self._found(sign.told, seen)
            self._tell_with(sign.told, found)
            self._facts.append(
                Finding(
                    id=self._id(),
                    noted_in=(sign.told,),
                    key=sign.key,
                    display=sign.display,
                    value=sign.values[int(self._rng.integers(len(sign.values)))],
                    found=found,
                )
            )

    def _tell_with(self, told: DocumentKind, day: date) -> None:
        """Let the document of a finding tell the problem and that day's measures, too."""
        if told is DocumentKind.IMAGING_REPORT:
            return
        for place, fact in enumerate(self._facts):
            near = isinstance(fact, Measurement) and 0 <= (day - fact.taken).days <= 6
            known = isinstance(fact, Diagnosis) and fact.onset < self._visits[0]
            if (near or known) and told not in fact.noted_in:
                self._facts[place] = replace(fact, noted_in=(*fact.noted_in, told))


def _is_imaging(code: str) -> bool:
    """Return whether a CPT code is a study that is reported with pictures."""
    return code.startswith(("70", "71", "72", "73", "74", "76", "77")) or code == "93306"
