"""What befell a member before the referral: stays, visits, values, medicines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.care_management.conditions import (
    CareCondition,
    Coded,
    Event,
    after_stays,
    care_conditions,
)
from healthgym.envs.managed_care.care_management.last_visit import LastVisit, last_visit
from healthgym.envs.managed_care.care_management.ledger import Ledger, NoRoomError
from healthgym.envs.managed_care.care_management.lives import (
    LAG,
    Life,
    Utilization,
    day_surgeries,
)
from healthgym.envs.managed_care.care_management.panel import Member
from healthgym.envs.managed_care.care_management.rulings import Known
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind
from healthgym.worlds.managed_care.control import counted
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Measurement,
    MedicationCourse,
    ProcedureDone,
)
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.care import CMProgram
from healthgym.worlds.managed_care.voices import Topic

_DAY = timedelta(days=1)
#: How often a medicine is begun at discharge.
_STARTED = 0.4


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Codes of active conditions, the oldest first."""
        found = [fact for fact in self.facts if isinstance(fact, Diagnosis) and fact.active]
        return tuple(fact.code for fact in sorted(found, key=lambda one: (one.onset, one.code)))

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """Of these, codes of conditions that count as chronic, each condition once."""
        return counted(self.codes)

    @cached_property
    def measured(self) -> tuple[Measurement, ...]:
        """What was measured."""
        return tuple(fact for fact in self.facts if isinstance(fact, Measurement))

    @cached_property
    def medicines(self) -> tuple[MedicationCourse, ...]:
        """Medicines that are active."""
        return tuple(
            fact for fact in self.facts if isinstance(fact, MedicationCourse) and fact.ended is None
        )

    @cached_property
    def listed(self) -> tuple[Stay, ...]:
        """Stays of which the referral knows."""
        return tuple(stay for stay in self.stays if stay not in self.missed)

    @cached_property
    def _values(self) -> tuple[tuple[str, date, float], ...]:
        return tuple((fact.code, fact.taken, fact.value) for fact in self.measured)

    def known(self, *, score: float | None = None, safety: bool = False) -> Known:
        """Return what the chart shows."""
        return Known(
            day=self.day,
            main=self.main[0],
            codes=self.codes,
            values=self._values,
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
        self._ledger = Ledger(member, rng)
        self._stays: list[Stay] = []
        self._missed: list[Stay] = []

    def history(self) -> History:
        event = self._condition.event
        left = () if event is None or event.left is None else (event.left[0],)
        chronic = len(counted((*self._ledger.active(), *left)))
        used = Utilization.draw(
            self._program,
            self._rules,
            self._life,
            self._rng,
            countable=chronic >= self._rules.complex_conditions_least,
            event=event is not None,
        )
        self._stay_over(used)
        self._visit_emergency(used)
        self._operate()
        seen = last_visit(self._ledger, self._stays, self._day)
        visit = LastVisit(self._ledger, seen, self._day, self._rules, self._life)
        visit.measure(used)
        visit.screen()
        visit.add_medicines()
        social = visit.add_barriers(self._condition)
        self._stays.sort(key=lambda each: each.begun)
        return History(
            member=self._member,
            condition=self._condition,
            day=self._day,
            seen=seen,
            main=self._main(),
            facts=tuple(self._ledger.facts),
            stays=tuple(self._stays),
            missed=tuple(self._missed),
            social=social,
        )

    def _main(self) -> Coded:
        if self._condition.event is not None:
            return self._condition.event.stay
        # The disease of the referral was drawn first.
        found = [fact for fact in self._ledger.facts if isinstance(fact, Diagnosis)]
        return found[0].code, found[0].display

    def _stay_over(self, used: Utilization) -> None:
        event = self._condition.event
        for number, (first, last) in enumerate(used.admissions(self._day, self._rules, self._rng)):
            code = event.stay if event and not number else self._ledger.one(self._condition.stays)
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
        if any(first <= each <= last for each in self._ledger.days):
            return False
        near = timedelta(days=4)
        return all(last + near < each.begun or each.ended + near < first for each in self._stays)

    def _discharge(self, stay: Stay, *, of_event: bool) -> None:
        """Add the stay, and what it left behind."""
        event, ledger = self._condition.event, self._ledger
        changed: list[AnyFact] = []
        if event is not None and of_event:
            changed += _left_by(event, stay, ledger)
            begun_then = list(event.medicines)
        else:
            begun_then = ledger.some(after_stays(), int(self._rng.random() < _STARTED))
        changed += [ledger.course(each, stay.ended, ()) for each in ledger.untaken(begun_then)]
        ledger.facts += changed
        self._stays.append(replace(stay, changed=frozenset(each.id for each in changed)))

    def _visit_emergency(self, used: Utilization) -> None:
        for first, last in used.emergencies(self._day, self._rules, self._rng):
            code = self._ledger.one(self._condition.visits)
            self._stays.append(self._place(StayKind.EMERGENCY, code, first, last, 0))
        if self._rng.random() < self._life.lagging:
            code, last = self._ledger.one(self._condition.visits), self._day - _DAY
            late = self._place(StayKind.EMERGENCY, code, last - timedelta(days=LAG - 2), last, 0)
            self._stays.append(late)
            self._missed.append(late)

    def _operate(self) -> None:
        if self._rng.random() < self._life.day_surgery:
            options = day_surgeries(age_on(self._member.patient.dob, self._day))
            last = self._day - 2 * _DAY
            first = last - timedelta(days=int(self._rng.integers(12, 150)))
            self._stays.append(
                self._place(StayKind.DAY_SURGERY, self._ledger.one(options), first, last, 0)
            )


def _left_by(event: Event, stay: Stay, ledger: Ledger) -> Iterator[AnyFact]:
    """Yield what was done in the stay of an event, and what stays on the problem list."""
    code, name, result = event.procedure
    yield ProcedureDone(
        id=ledger.new_id(), code=code, display=name, performed=stay.begun + _DAY, result=result
    )
    if event.left is not None and event.left[0] not in ledger.active():
        code, name = event.left
        yield Diagnosis(id=ledger.new_id(), code=code, display=name, onset=stay.begun)
