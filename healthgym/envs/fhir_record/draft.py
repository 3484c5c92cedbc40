"""A chart under construction around one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from healthgym.envs.fhir_record.stated import AS_PUBLISHED, Stated
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.cohort import (
    PatientProfile,
    draw_mrn,
    draw_patient,
    namesake,
    write_chart,
    write_patient,
)

#: How often a value lies right at a limit; less often where a benchmark asks about one branch
#: nearly always, and the limit would be the answer.
_AT_LIMIT, _AT_LIMIT_PUBLISHED = 1 / 3, 0.05

HOUR = 3600
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class ChartConfig:
    """How much there is in a chart besides the answer.

    Attributes:
        density: Amount of background history; 1 is the published population's.
        others: Number of other patients in the record system.
        namesakes: How many of them share a name with the patient asked about.
        history: Fewest and most older results of the test asked about. A page holds twenty, in no
            order: from about fifty rows on, what decides is seldom among the first.
        events: Fewest and most older entries of the procedure asked about.
        window: Fewest and most rows inside the window asked about, where several may be.
        traps: Probability of each trap: future-dated rows, other units, rows of other patients.
        terse: Whether questions are put in one short, fixed form.
        varied: Whether short questions, too, state codes, limits and doses of their own.
    """

    density: float
    others: int
    namesakes: int
    history: tuple[int, int]
    events: tuple[int, int]
    window: tuple[int, int]
    traps: float
    terse: bool
    varied: bool = False


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, ChartConfig] = {
    # What a model of some hundred thousand parameters can be taught to do in minutes.
    "drill": ChartConfig(0.0, 1, 0, (1, 1), (0, 0), (1, 1), 0.0, True, varied=True),
    "easy": ChartConfig(0.0, 1, 0, (1, 3), (0, 0), (1, 3), 0.0, True),
    "medium": ChartConfig(0.005, 4, 1, (70, 130), (60, 110), (2, 6), 0.6, False),
    "hard": ChartConfig(0.02, 8, 3, (90, 170), (80, 150), (3, 14), 0.75, False),
}


class Draft:
    """Collects patients and rows for one task.

    Args:
        rng: Randomness of the task.
        now: When the question is asked.
        config: How much else there is.
        partition: Split whose patients may appear.
        traps_allowed: Whether rows may be planted that a published grader is known to misread.
        stated: Codes, numbers and words that the question states; the published ones if left out.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        now: datetime,
        config: ChartConfig,
        partition: str,
        *,
        traps_allowed: bool = True,
        stated: Stated = AS_PUBLISHED,
    ) -> None:
        self.rng = rng
        self.now = now
        self.config = config
        self.traps_allowed = traps_allowed
        self.stated = stated
        self.builder = ChartBuilder()
        self.at_now = int(now.timestamp())
        self._partition = partition
        self._mrns: set[str] = set()
        self._taken: set[tuple[str, str, int]] = set()
        self.patient: PatientProfile = draw_patient(rng, mrn=self._mrn(), now=now)
        twins = min(config.namesakes, config.others)
        self.others: list[PatientProfile] = [
            namesake(rng, self.patient, mrn=self._mrn(), now=now) for _ in range(twins)
        ]
        taken = {(self.patient.family, self.patient.given)}
        self.others += [
            draw_patient(rng, mrn=self._mrn(), now=now, avoid_names=taken)
            for _ in range(config.others - twins)
        ]

    @property
    def mrn(self) -> str:
        """Record number of the patient asked about."""
        return self.patient.mrn

    def _mrn(self) -> str:
        while True:
            mrn = draw_mrn(self.rng, self._partition)
            if mrn not in self._mrns:
                self._mrns.add(mrn)
                return mrn

    # -- randomness ----------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return bool(self.rng.random() < probability)

    def trap(self) -> bool:
        """Return whether to set a trap here, by the difficulty."""
        return self.traps_allowed and self.chance(self.config.traps)

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return int(self.rng.integers(low, high + 1))

    def number(self, low: float, high: float, decimals: int = 1) -> float:
        """Return a number in [low, high] on the grid of its decimals, ends included."""
        scale = 10**decimals
        return float(self.integer(round(low * scale), round(high * scale)) / scale)

    def edge_or(
        self, edges: tuple[float, ...], low: float, high: float, decimals: int = 1
    ) -> float:
        """Return one of the exact boundary values often, else any in the range."""
        if self.chance(_AT_LIMIT if self.traps_allowed else _AT_LIMIT_PUBLISHED):
            return float(self.rng.choice(edges))
        return self.number(low, high, decimals)

    def minutes_ago(self, least: float, most: float) -> int:
        """Return an epoch second, a whole minute, between two ages given in minutes."""
        return self.at_now - 60 * self.integer(round(least), round(most))

    # -- rows ----------------------------------------------------------------------------------

    def lab(self, code: str, when: int, value: float, unit: str, *, mrn: str = "") -> None:
        """Add a lab result; it is issued some time after the specimen was taken.

        Two results of a test never share a time: the newest is one and no other.
        """
        while (mrn, code, when) in self._taken:
            when -= 60
        self._taken.add((mrn, code, when))
        issued = when + 60 * self.integer(20, 240)
        self.builder.lab(mrn or self.mrn, code, when, value, unit, issued=issued)

    def results(
        self,
        code: str,
        ages: tuple[int, int],
        values: tuple[float, float],
        unit: str,
        decimals: int,
    ) -> None:
        """Add as many older results of a test as the difficulty says, no two at one time.

        Args:
            code: Its local code.
            ages: Youngest and oldest age, in minutes.
            values: Range that the values are drawn from, on the grid of their decimals.
            unit: Their unit.
            decimals: Decimals of a value.
        """
        youngest, oldest = ages
        count = min(self.integer(*self.config.history), oldest - youngest + 1)
        drawn = self.rng.choice(oldest - youngest + 1, count, replace=False)
        when = self.at_now - 60 * (youngest + drawn)
        scale = 10**decimals
        low, high = (round(value * scale) for value in values)
        numbers = self.rng.integers(low, high + 1, count) / scale
        issued = when + 60 * self.rng.integers(20, 241, count)
        self.builder.labs(self.mrn, code, when, numbers, unit, issued=issued)

    def finish_background(self, omit: frozenset[str]) -> None:
        """Write the patients and whatever else their charts hold, but for what is left out.

        Args:
            omit: Codes and classes that the question itself controls.
        """
        for person in [self.patient, *self.others]:
            write_patient(self.builder, person)
            if self.config.density > 0:
                write_chart(
                    self.builder,
                    person,
                    self.rng,
                    now=self.now,
                    years=1.5,
                    density=self.config.density,
                    omit=omit,
                )

    def iso(self, when: int) -> str:
        """Return an epoch second as the chart writes it."""
        moment = self.now + timedelta(seconds=when - self.at_now)
        return moment.strftime("%Y-%m-%dT%H:%M:%S+00:00")
