"""How much happens in a life: stays by programme, values by control, and tables of the ordinary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.worlds.managed_care.control import Control
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.vocabulary.care import CMProgram, DiseaseControlStatus
from healthgym.worlds.managed_care.voices import Topic

_DAY = timedelta(days=1)
#: Days between an event and the end of a window, so that nobody argues over the day it fell on.
_MARGIN = 3
#: How often a discharge is so late that the episode may be urgent.
_SOON = 0.5
#: How often somebody is in the emergency department so often that it raises the level by itself.
_OFTEN = 0.14
#: How often somebody may have had stays where the programme asks for none.
_STAYED = 0.55
#: Claims lag by so many days: what came later is in the chart alone.
LAG = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How much happens besides what decides.

    Attributes:
        stale: Chance of each thing that is too old to count: a stay, a visit, a score.
        lagging: Chance of an emergency visit so late that the referral does not know of it.
        day_surgery: Chance of a planned one-day procedure.
        screened: Chance of a screening score of the last visit.
        polypharmacy: Chance of many medicines, where there are not many anyway.
        coded_barriers: Chance of each usual barrier to stand in the chart with a code.
    """

    stale: float = 0.35
    lagging: float = 0.2
    day_surgery: float = 0.2
    screened: float = 0.25
    polypharmacy: float = 0.3
    coded_barriers: float = 0.12


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilization:
    """How many stays and visits somebody had, and how well conditions are in hand.

    Attributes:
        discharged: Whether the first stay ended within the days of transitions of care.
        inside: Further stays within the months that count.
        before: Stays before these months.
        visits: Emergency visits within the months that count.
        visits_before: Emergency visits before these months.
        uncontrolled: Whether a condition has to be uncontrolled.
        calm: Whether none may be.
    """

    discharged: bool
    inside: int
    before: int
    visits: int
    visits_before: int
    uncontrolled: bool = False
    calm: bool = False

    @classmethod
    def draw(
        cls,
        program: CMProgram,
        rules: OperatingRules,
        life: Life,
        rng: np.random.Generator,
        *,
        countable: bool,
        event: bool,
    ) -> Utilization:
        """Draw so that a programme is right.

        Args:
            program: The programme.
            rules: The task's numbers.
            life: How much happens besides.
            rng: Where chance comes from.
            countable: Whether enough conditions count for complex care.
            event: Whether the referral comes after a stay.
        """
        least, drawn = rules.admissions_least, rng.random()
        few = int(rng.integers(least)) if rng.random() < _STAYED else 0
        by_values = drawn < 0.6
        inside = {
            CMProgram.TRANSITIONS_OF_CARE: 0 if drawn < 0.78 else least - 1 + int(drawn > 0.92),
            CMProgram.BEHAVIORAL_HEALTH: min(few, 1) if drawn < 0.8 else least,
            CMProgram.COMPLEX_CARE: few if by_values and countable else least + int(drawn > 0.85),
            CMProgram.CHRONIC_DISEASE: few,
        }[program]
        discharged = program is CMProgram.TRANSITIONS_OF_CARE
        if event and not discharged:
            inside = max(inside, 1)
        often = rng.random() < _OFTEN
        visits = int(rng.integers(rules.ed_visits_least))
        return cls(
            discharged=discharged,
            inside=inside,
            before=int(rng.random() < life.stale) + int(rng.random() < life.stale / 2),
            visits=rules.ed_visits_least + int(rng.integers(2)) if often else visits,
            visits_before=int(rng.random() < life.stale) + int(rng.random() < life.stale / 2),
            uncontrolled=program is CMProgram.COMPLEX_CARE and by_values and countable,
            calm=program is CMProgram.CHRONIC_DISEASE and countable,
        )

    def admissions(
        self, day: date, rules: OperatingRules, rng: np.random.Generator
    ) -> Iterator[tuple[date, date]]:
        """Yield between which days each stay ends, the one of the referral first.

        Args:
            day: The day of the referral.
            rules: The task's numbers.
            rng: Where chance comes from.
        """
        if self.discharged:
            # Never on the last day of a window, nor on the first after it.
            urgent = timedelta(days=rules.urgent_discharge_days)
            if rng.random() < _SOON:
                yield day - urgent + _DAY, day - _DAY
            else:
                yield (
                    day - timedelta(days=rules.transition_program_days - 1),
                    day - urgent - 2 * _DAY,
                )
        first = months_before(day, rules.utilization_months) + timedelta(days=_MARGIN)
        latest = day - timedelta(days=rules.transition_program_days + _MARGIN)
        # Some have just left the days of transitions of care behind.
        near = max(first, latest - timedelta(days=25))
        for number in range(self.inside):
            close = number == 0 and not self.discharged and rng.random() < 0.35
            yield (near if close else first), latest
        for _ in range(self.before):
            yield _before(first)

    def emergencies(
        self, day: date, rules: OperatingRules, rng: np.random.Generator
    ) -> Iterator[tuple[date, date]]:
        """Yield between which days each emergency visit falls of which the referral knows."""
        first = months_before(day, rules.utilization_months) + timedelta(days=_MARGIN)
        for _ in range(self.visits):
            yield first, day - timedelta(days=LAG + 1)
        for _ in range(self.visits_before):
            yield _before(first)


def _before(first: date) -> tuple[date, date]:
    last = first - timedelta(days=2 * _MARGIN)
    return last - timedelta(days=300), last


def draw_value(
    row: Control, status: DiseaseControlStatus, rules: OperatingRules, rng: np.random.Generator
) -> float:
    """Draw a value at which a condition is controlled, suboptimal or uncontrolled.

    Args:
        row: What tells how the condition is controlled.
        status: How it is to be.
        rules: The task's numbers.
        rng: Where chance comes from.
    """
    good, bad = row.bounds(rules)
    sign, step = (-1 if row.lower else 1), 10.0**-row.decimals
    # How far values lie beyond a bound: scores have wide ranges, and narrow ones in between.
    wide = max(abs(good - bad), 0.4 * good if row.unit in ("{score}", "d") else 0.0)
    share = float(rng.random())
    if status is DiseaseControlStatus.CONTROLLED:
        value = good + sign * (step + share * (0.6 * wide - step))
    elif status is DiseaseControlStatus.UNCONTROLLED:
        value = bad - sign * (step + share * 0.7 * wide)
    else:
        value = good + share * (bad - good)
    return max(0.0, float(round(value, row.decimals)))


@cache
def _day_surgeries() -> tuple[tuple[int, str, str], ...]:
    rows = json.loads((files(__package__) / "data" / "day_surgery.json").read_text("utf-8"))
    return tuple((least, code, name) for least, code, name in rows)


def day_surgeries(age: int) -> tuple[tuple[str, str], ...]:
    """Return what planned one-day procedures are for at an age: ICD-10-CM codes and titles."""
    return tuple((code, name) for least, code, name in _day_surgeries() if age >= least)


@cache
def social_codes() -> Mapping[Topic, tuple[str, str]]:
    """Return the ICD-10-CM code and title of each social barrier that has one."""
    rows = json.loads((files(__package__) / "data" / "social.json").read_text("utf-8"))
    return {Topic(topic): (code, name) for topic, (code, name) in rows.items()}
