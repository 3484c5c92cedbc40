"""What befell a member before the referral: stays, visits, values, medicines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from healthgym.envs.managed_care.care_management.conditions import (
    CareCondition,
    Coded,
    after_stays,
    care_conditions,
    extras,
)
from healthgym.envs.managed_care.care_management.lives import (
    LAG,
    Life,
    Utilization,
    day_surgeries,
    draw_value,
    social_codes,
)
from healthgym.envs.managed_care.care_management.panel import Member
from healthgym.envs.managed_care.care_management.rulings import Known
from healthgym.worlds.managed_care.charts.hours import business_day
from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind
from healthgym.worlds.managed_care.control import Control, control_of, counted
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Measurement,
    MedicationCourse,
    ProcedureDone,
)
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.population.background import Background
from healthgym.worlds.managed_care.population.conditions import Prescription
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind
from healthgym.worlds.managed_care.vocabulary.care import CMProgram, DiseaseControlStatus
from healthgym.worlds.managed_care.voices import Topic

_DAY = timedelta(days=1)
#: Days between the last visit of the background and one that is added: nearer ones are one visit.
_APART = 11
#: How often a condition that counts is measured at the last visit.
_MEASURED = 0.92
#: How often a medicine is begun at discharge.
_STARTED = 0.4
#: What is taken at every visit.
_PRESSURE, _DIASTOLIC, _PULSE = "8480-6", "8462-4", "8867-4"
#: Of so many visits, the latest, medicines come that are added.
_VISITS = 12
_CONTROLLED, _SUBOPTIMAL, _UNCONTROLLED = (
    DiseaseControlStatus.CONTROLLED,
    DiseaseControlStatus.SUBOPTIMAL,
    DiseaseControlStatus.UNCONTROLLED,
)


class NoRoomError(Exception):
    """The member's calendar has no room for what is to have happened; another draw may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A member on the day of the referral.

    Attributes:
        member: Who it is.
        condition: The condition of the referral.
        day: The day of the referral.
        seen: The day of the last visit to the practice.
        main: Code and title of the main reason.
        facts: Everything true of the member.
        stays: Stays and emergency visits, oldest first.
        missed: Those of which the referral does not know.
        social: Barriers that the chart has a code for.
    """

    member: Member
    condition: CareCondition
    day: date
    seen: date
    main: Coded
    facts: tuple[AnyFact, ...]
    stays: tuple[Stay, ...]
    missed: tuple[Stay, ...] = ()
    social: frozenset[Topic] = frozenset()

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of active conditions, the oldest first."""
        found = [fact for fact in self.facts if isinstance(fact, Diagnosis) and fact.active]
        return tuple(fact.code for fact in sorted(found, key=lambda one: (one.onset, one.code)))

    @property
    def counted(self) -> tuple[str, ...]:
        """Of these, codes of conditions that count as chronic, each condition once."""
        return counted(self.codes)

    @property
    def medicines(self) -> tuple[MedicationCourse, ...]:
        """Medicines that are active."""
        return tuple(
            fact for fact in self.facts if isinstance(fact, MedicationCourse) and fact.ended is None
        )

    @property
    def listed(self) -> tuple[Stay, ...]:
        """Stays of which the referral knows."""
        return tuple(stay for stay in self.stays if stay not in self.missed)

    def known(self, *, score: float | None = None, safety: bool = False) -> Known:
        """Return what the chart shows."""
        return Known(
            day=self.day,
            main=self.main[0],
            codes=self.codes,
            values=tuple(
                (fact.code, fact.taken, fact.value)
                for fact in self.facts
                if isinstance(fact, Measurement)
            ),
            stays=self.stays,
            medicines=len(self.medicines),
            score=score,
            safety=safety,
        )


def draw_history(
    member: Member,
    program: CMProgram,
    day: date,
    rules: OperatingRules,
    life: Life,
    rng: np.random.Generator,
) -> History:
    """Draw what befell a member, so that a programme may be right.

    Args:
        member: Who it is.
        program: The programme.
        day: The day of the referral.
        rules: The task's numbers.
        life: How much happens besides.
        rng: Where chance comes from.

    Raises:
        NoRoomError: If the member's calendar has no room for it.
    """
    return _Drawing(member, program, day, rules, life, rng).history()


class _Drawing:
    def __init__(
        self,
        member: Member,
        program: CMProgram,
        day: date,
        rules: OperatingRules,
        life: Life,
        rng: np.random.Generator,
    ) -> None:
        self._member, self._program, self._day = member, program, day
        self._rules, self._life, self._rng = rules, life, rng
        self._condition = care_conditions()[member.condition]
        self._home: Background = member.background
        self._facts = list(_outside(self._home.facts))
        self._note = (self._home.habits.note,)
        self._stays: list[Stay] = []
        self._missed: list[Stay] = []
        self._days = sorted({each for fact in self._facts for each in (begun(fact), day_of(fact))})
        self._visits = sorted(
            {x.taken for x in self._facts if isinstance(x, Measurement) and x.code == _PRESSURE}
        )
        self._added = 0

    def history(self) -> History:
        used = Utilization.draw(
            self._program,
            self._rules,
            self._life,
            self._rng,
            countable=self._countable(),
            event=self._condition.event is not None,
        )
        self._stay_over(used)
        self._visit_emergency(used)
        self._operate()
        seen = self._last_visit()
        self._measure(seen, used)
        self._screen(seen)
        self._add_medicines()
        social = self._social(seen)
        self._stays.sort(key=lambda each: each.begun)
        return History(
            member=self._member,
            condition=self._condition,
            day=self._day,
            seen=seen,
            main=self._main(),
            facts=tuple(self._facts),
            stays=tuple(self._stays),
            missed=tuple(self._missed),
            social=social,
        )

    # -- helpers ---------------------------------------------------------------------------------

    def _id(self) -> str:
        self._added += 1
        return f"C-{self._added:03d}"

    def _active(self) -> list[str]:
        return [x.code for x in self._facts if isinstance(x, Diagnosis) and x.active]

    def _countable(self) -> bool:
        """Return whether enough conditions count for complex care by their number."""
        event = self._condition.event
        left = () if event is None or event.left is None else (event.left[0],)
        return len(counted((*self._active(), *left))) >= self._rules.complex_conditions_least

    def _one(self, options: Sequence[Coded]) -> Coded:
        return options[int(self._rng.integers(len(options)))]

    def _main(self) -> Coded:
        if self._condition.event is not None:
            return self._condition.event.stay
        for fact in self._facts:
            # The disease of the referral was drawn first.
            if isinstance(fact, Diagnosis):
                return fact.code, fact.display
        raise NoRoomError

    # -- stays -----------------------------------------------------------------------------------

    def _stay_over(self, used: Utilization) -> None:
        event = self._condition.event
        for number, (first, last) in enumerate(used.admissions(self._day, self._rules, self._rng)):
            code = event.stay if event and not number else self._one(self._condition.stays)
            length = 2 + int(self._rng.integers(7))
            stay = self._place(StayKind.INPATIENT, code, first, last, length)
            self._discharge(stay, of_event=event is not None and not number)

    def _place(
        self, kind: StayKind, code: Coded, first: date, last: date, length: int, tries: int = 40
    ) -> Stay:
        """Return a stay that ends between two days, when nothing else is in the calendar."""
        span = (last - first).days
        for _ in range(tries if span >= 0 else 0):
            ended = first + timedelta(days=int(self._rng.integers(span + 1)))
            begins = ended - timedelta(days=length)
            if self._is_free(begins - _DAY, ended + _DAY):
                return Stay(kind=kind, begun=begins, ended=ended, code=code[0], name=code[1])
        raise NoRoomError

    def _is_free(self, first: date, last: date) -> bool:
        if any(first <= each <= last for each in self._days):
            return False
        near = timedelta(days=4)
        return all(last + near < each.begun or each.ended + near < first for each in self._stays)

    def _discharge(self, stay: Stay, *, of_event: bool) -> None:
        """Add the stay, and what it left behind."""
        event = self._condition.event
        changed: list[AnyFact] = []
        if event is not None and of_event:
            code, name, result = event.procedure
            done = stay.begun + _DAY
            changed.append(
                ProcedureDone(id=self._id(), code=code, display=name, performed=done, result=result)
            )
            if event.left is not None and event.left[0] not in self._active():
                code, name = event.left
                changed.append(Diagnosis(id=self._id(), code=code, display=name, onset=stay.begun))
            begun_then = list(event.medicines)
        else:
            begun_then = self._some(after_stays(), int(self._rng.random() < _STARTED))
        changed += [self._course(each, stay.ended, ()) for each in self._untaken(begun_then)]
        self._facts += changed
        self._stays.append(replace(stay, changed=frozenset(each.id for each in changed)))

    def _visit_emergency(self, used: Utilization) -> None:
        for first, last in used.emergencies(self._day, self._rules, self._rng):
            code = self._one(self._condition.visits)
            self._stays.append(self._place(StayKind.EMERGENCY, code, first, last, 0))
        if self._rng.random() < self._life.lagging:
            code, last = self._one(self._condition.visits), self._day - _DAY
            late = self._place(StayKind.EMERGENCY, code, last - timedelta(days=LAG - 2), last, 0)
            self._stays.append(late)
            self._missed.append(late)

    def _operate(self) -> None:
        if self._rng.random() < self._life.day_surgery:
            last = self._day - 2 * _DAY
            first = last - timedelta(days=int(self._rng.integers(12, 150)))
            self._stays.append(
                self._place(StayKind.DAY_SURGERY, self._one(day_surgeries()), first, last, 0)
            )

    # -- the last visit --------------------------------------------------------------------------

    def _last_visit(self) -> date:
        """Return a day on which the practice saw the member last, before the referral."""
        state = self._home.patient.address_state or ""
        first = max(self._days[-1] + timedelta(days=_APART), self._day - timedelta(days=80))
        span = (self._day - _DAY - first).days
        for _ in range(20 if span >= 0 else 0):
            day = first + timedelta(days=int(self._rng.integers(span + 1)))
            day = business_day(day, state)
            inside = any(x.begun - 3 * _DAY <= day <= x.ended + 3 * _DAY for x in self._stays)
            if first <= day < self._day and not inside:
                return day
        raise NoRoomError

    def _measure(self, seen: date, used: Utilization) -> None:
        """Measure at the last visit what tells how conditions are controlled."""
        rows = [row for row in map(control_of, counted(self._active())) if row is not None]
        worst = int(self._rng.integers(len(rows))) if rows else -1
        taken: dict[str, float] = {}
        for place, row in enumerate(rows):
            if row.loinc in taken:
                continue
            bad = used.uncontrolled and place == worst
            calm = used.calm
            if not (bad or calm) and self._rng.random() > _MEASURED:
                continue
            value = draw_value(row, self._band(bad=bad, calm=calm), self._rules, self._rng)
            if calm:
                value = _calmest(rows, row, value, self._rules)
            taken[row.loinc] = value
            self._add_value(row.loinc, row.measure, value, row.unit, seen)
        self._vitals(seen, taken, {row.loinc for row in rows})

    def _vitals(self, seen: date, taken: Mapping[str, float], deciding: set[str]) -> None:
        """Take at the last visit what is taken at every visit, where it decides nothing."""
        systolic = taken.get(_PRESSURE)
        if systolic is None and _PRESSURE not in deciding:
            systolic = float(round(self._rng.uniform(108, 138)))
            self._add_value(_PRESSURE, "systolic blood pressure", systolic, "mm[Hg]", seen)
        if systolic is not None:
            diastolic = float(round(0.4 * systolic + 24 + self._rng.normal(0, 5)))
            self._add_value(_DIASTOLIC, "diastolic blood pressure", diastolic, "mm[Hg]", seen)
        if _PULSE not in deciding:
            pulse = float(round(self._rng.uniform(62, 90)))
            self._add_value(_PULSE, "heart rate", pulse, "/min", seen)

    def _band(self, *, bad: bool, calm: bool) -> DiseaseControlStatus:
        drawn = self._rng.random()
        if bad:
            return _UNCONTROLLED
        if drawn < 0.4:
            return _CONTROLLED
        return _SUBOPTIMAL if calm or drawn < 0.8 else _UNCONTROLLED

    def _add_value(self, loinc: str, name: str, value: float, unit: str, day: date) -> None:
        display = next(
            (x.display for x in self._facts if isinstance(x, Measurement) and x.code == loinc), name
        )
        noted = self._note if day >= self._home.habits.recent else ()
        self._facts.append(
            Measurement(
                id=self._id(),
                noted_in=noted,
                code=loinc,
                display=display[:1].upper() + display[1:],
                value=value,
                unit=unit,
                taken=day,
            )
        )

    def _screen(self, seen: date) -> None:
        """Add scores of screenings, new and old."""
        for loinc, name, most in (
            ("44261-6", "PHQ-9 total score", 16),
            ("70274-6", "GAD-7 total score", 14),
        ):
            known = {x.taken for x in self._facts if isinstance(x, Measurement) and x.code == loinc}
            if seen not in known and self._rng.random() < self._life.screened:
                value = float(self._rng.integers(most))
                self._add_value(loinc, name, value, "{score}", seen)
            if not known and self._rng.random() < self._life.stale:
                visits = [x for x in self._visits if 100 < (self._day - x).days < 900]
                if visits:
                    then = visits[int(self._rng.integers(len(visits)))]
                    value = float(self._rng.integers(most + 4))
                    self._add_value(loinc, name, value, "{score}", then)

    # -- medicines, barriers ---------------------------------------------------------------------

    def _course(
        self, chosen: Prescription, day: date, noted: tuple[DocumentKind, ...]
    ) -> MedicationCourse:
        return MedicationCourse(
            id=self._id(),
            noted_in=noted,
            medication=chosen.medication,
            drug_class=chosen.drug_class,
            dose=chosen.dose,
            frequency=chosen.frequency,
            started=day,
        )

    def _some(self, options: Sequence[Prescription], count: int) -> list[Prescription]:
        return [options[int(n)] for n in self._rng.permutation(len(options))[:count]]

    def _untaken(self, wanted: Iterable[Prescription]) -> list[Prescription]:
        going = [x for x in self._facts if isinstance(x, MedicationCourse) and x.ended is None]
        taken = {x.drug_class for x in going} | {x.medication for x in going}
        return [x for x in wanted if not taken & {x.drug_class, x.medication}]

    def _add_medicines(self) -> None:
        """Add what many people take besides, in some to many medicines."""
        going = sum(isinstance(x, MedicationCourse) and x.ended is None for x in self._facts)
        many = self._rules.polypharmacy_medicines
        wanted = int(self._rng.integers(0, 3))
        if self._rng.random() < self._life.polypharmacy:
            wanted = max(many - going, 0) + int(self._rng.integers(0, 2))
        elif going < many:
            wanted = min(wanted, many - going - 1)
        able = self._untaken(self._some(extras(), len(extras())))
        days = self._visits[-_VISITS:] or self._days[-1:]
        for chosen in able[:wanted]:
            day = days[int(self._rng.integers(len(days)))]
            self._facts.append(self._course(chosen, day, self._note))

    def _social(self, seen: date) -> frozenset[Topic]:
        found: set[Topic] = set()
        for topic in self._condition.barriers:
            if self._rng.random() < self._life.coded_barriers:
                code, name = social_codes()[topic]
                found.add(topic)
                self._facts.append(
                    Diagnosis(
                        id=self._id(), noted_in=self._note, code=code, display=name, onset=seen
                    )
                )
        return frozenset(found)


def _outside(facts: Iterable[AnyFact]) -> Iterable[AnyFact]:
    """Yield what is true of a member without the hospital stays of the clinical model."""
    for fact in facts:
        told = tuple(kind for kind in fact.noted_in if kind is not DocumentKind.DISCHARGE_SUMMARY)
        if told == fact.noted_in:
            yield fact
        elif told or not isinstance(fact, Finding):
            yield replace(fact, noted_in=told)


def _calmest(rows: Sequence[Control], row: Control, value: float, rules: OperatingRules) -> float:
    """Return a value that leaves no condition uncontrolled that is judged by the same measure."""
    same = [each for each in rows if each.loinc == row.loinc]
    bounds = [each.bounds(rules)[1] for each in same]
    return min(value, *bounds) if row.lower else max(value, *bounds)
