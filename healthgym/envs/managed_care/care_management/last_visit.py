"""The last visit to the practice before a referral: values, scores, medicines, barriers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from healthgym.envs.managed_care.care_management.circumstances import works
from healthgym.envs.managed_care.care_management.conditions import CareCondition, extras
from healthgym.envs.managed_care.care_management.ledger import PRESSURE, Ledger, NoRoomError
from healthgym.envs.managed_care.care_management.lives import (
    Life,
    Utilization,
    draw_value,
    social_codes,
)
from healthgym.worlds.managed_care.charts.hours import business_day
from healthgym.worlds.managed_care.charts.stays import Stay
from healthgym.worlds.managed_care.control import Control, control_of, counted
from healthgym.worlds.managed_care.facts import Diagnosis
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.care import DiseaseControlStatus
from healthgym.worlds.managed_care.voices import Topic

_DAY = timedelta(days=1)
#: Days between the last visit of the background and one that is added: nearer ones are one visit.
_APART = 11
#: Days before the referral within which the visit falls.
_LATE = 80
#: How often a condition that counts is measured at the last visit.
_MEASURED = 0.92
_DIASTOLIC, _PULSE = "8462-4", "8867-4"
#: Of so many visits, the latest, medicines come that are added.
_VISITS = 12
_CONTROLLED, _SUBOPTIMAL, _UNCONTROLLED = (
    DiseaseControlStatus.CONTROLLED,
    DiseaseControlStatus.SUBOPTIMAL,
    DiseaseControlStatus.UNCONTROLLED,
)


def last_visit(ledger: Ledger, stays: Sequence[Stay], referred: date) -> date:
    """Draw the day on which the practice saw the member last.

    Args:
        ledger: What is true so far.
        stays: When the member was in hospital.
        referred: The day of the referral.

    Raises:
        NoRoomError: If there is none.
    """
    first = max(ledger.days[-1] + timedelta(days=_APART), referred - timedelta(days=_LATE))
    span = (referred - _DAY - first).days
    for _ in range(20 if span >= 0 else 0):
        day = first + timedelta(days=int(ledger.rng.integers(span + 1)))
        day = business_day(day, ledger.state)
        inside = any(x.begun - 3 * _DAY <= day <= x.ended + 3 * _DAY for x in stays)
        if first <= day < referred and not inside:
            return day
    raise NoRoomError


class LastVisit:
    """Adds what came of the last visit.

    Args:
        ledger: What is true so far; added to.
        seen: The day of the visit.
        referred: The day of the referral.
        rules: The task's numbers.
        life: How much happens besides.
    """

    def __init__(
        self, ledger: Ledger, seen: date, referred: date, rules: OperatingRules, life: Life
    ) -> None:
        self._ledger, self._rng = ledger, ledger.rng
        self._seen, self._day = seen, referred
        self._rules, self._life = rules, life

    def measure(self, used: Utilization) -> None:
        """Measure what tells how conditions are controlled, and what is taken every time."""
        rows = [row for row in map(control_of, counted(self._ledger.active())) if row is not None]
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
            self._ledger.add_value(row.loinc, row.measure, value, row.unit, self._seen)
        self._vitals(taken, {row.loinc for row in rows})

    def _vitals(self, taken: Mapping[str, float], deciding: set[str]) -> None:
        """Take what is taken at every visit, where it decides nothing."""
        add, seen = self._ledger.add_value, self._seen
        systolic = taken.get(PRESSURE)
        if systolic is None and PRESSURE not in deciding:
            systolic = float(round(self._rng.uniform(108, 138)))
            add(PRESSURE, "systolic blood pressure", systolic, "mm[Hg]", seen)
        if systolic is not None:
            diastolic = float(round(0.4 * systolic + 24 + self._rng.normal(0, 5)))
            add(_DIASTOLIC, "diastolic blood pressure", diastolic, "mm[Hg]", seen)
        if _PULSE not in deciding:
            add(_PULSE, "heart rate", float(round(self._rng.uniform(62, 90))), "/min", seen)

    def _band(self, *, bad: bool, calm: bool) -> DiseaseControlStatus:
        drawn = self._rng.random()
        if bad:
            return _UNCONTROLLED
        if drawn < 0.4:
            return _CONTROLLED
        return _SUBOPTIMAL if calm or drawn < 0.8 else _UNCONTROLLED

    def screen(self) -> None:
        """Add scores of screenings, new and old."""
        for loinc, name, most in (
            ("44261-6", "PHQ-9 total score", 16),
            ("70274-6", "GAD-7 total score", 14),
        ):
            known = self._ledger.measured(loinc)
            if self._seen not in known and self._rng.random() < self._life.screened:
                value = float(self._rng.integers(most))
                self._ledger.add_value(loinc, name, value, "{score}", self._seen)
            if not known and self._rng.random() < self._life.stale:
                visits = [x for x in self._ledger.visits if 100 < (self._day - x).days < 900]
                if visits:
                    then = visits[int(self._rng.integers(len(visits)))]
                    value = float(self._rng.integers(most + 4))
                    self._ledger.add_value(loinc, name, value, "{score}", then)

    def add_medicines(self) -> None:
        """Add what many people take besides, in some to many medicines."""
        ledger = self._ledger
        going = len(ledger.going())
        many = self._rules.polypharmacy_medicines
        wanted = int(self._rng.integers(0, 3))
        if self._rng.random() < self._life.polypharmacy:
            wanted = max(many - going, 0) + int(self._rng.integers(0, 2))
        elif going < many:
            wanted = min(wanted, many - going - 1)
        able = ledger.untaken(ledger.some(extras(), len(extras())))
        days = ledger.visits[-_VISITS:] or ledger.days[-1:]
        for chosen in able[:wanted]:
            day = days[int(self._rng.integers(len(days)))]
            ledger.facts.append(ledger.course(chosen, day, ledger.note))

    def add_barriers(self, condition: CareCondition) -> frozenset[Topic]:
        """Add codes of social barriers, and return the subjects that have one."""
        ledger, found = self._ledger, set[Topic]()
        for topic in condition.barriers:
            if self._rng.random() < self._life.coded_barriers:
                if topic is Topic.WORK and not works(ledger.patient, self._seen):
                    continue  # who is retired has no hours at work
                code, name = social_codes()[topic]
                found.add(topic)
                ledger.facts.append(
                    Diagnosis(
                        id=ledger.new_id(),
                        noted_in=ledger.note,
                        code=code,
                        display=name,
                        onset=self._seen,
                    )
                )
        return frozenset(found)


def _calmest(rows: Sequence[Control], row: Control, value: float, rules: OperatingRules) -> float:
    """Return a value that leaves no condition uncontrolled that is judged by the same measure."""
    same = [each for each in rows if each.loinc == row.loinc]
    bounds = [each.bounds(rules)[1] for each in same]
    return min(value, *bounds) if row.lower else max(value, *bounds)
