"""Mean heart rate over two windows. Source: MedAgentBench v2, task 3."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.kinds.readings import Analyte, in_window, plant_series
from healthgym.envs.fhir_record.stated import Stated
from healthgym.envs.fhir_record.task import NOTHING, Decision, Expected, Facts, number
from healthgym.envs.fhir_record.view import ChartView, Reading

ECG_RATE = Analyte("heart_rate", "HEARTRATE", "bpm", None, (48, 135), 0)

_FLOWSHEET = "Heart Rate"


class MeanHeartRate(TaskKind):
    """v2-T3: mean ECG heart rate over two windows up to now, -1 for an empty one."""

    name = "v2-t3"
    title = "mean heart rate over two windows"
    branches = (Branch("both", False), Branch("only_12h", False), Branch("none", False, share=0.06))
    omit = frozenset({"HEARTRATE"})
    codes: ClassVar = {"heart_rate": "HEARTRATE"}

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant rows in the windows, and flowsheet heart rates that are not asked for."""
        short, long = self._windows(draft.stated)
        ages = []
        if branch == "both":
            ages = [self._age(draft, 0, 60 * short) for _ in self._some(draft)]
            if draft.chance(0.8):
                ages += [self._age(draft, 60 * short + 1, 60 * long) for _ in self._some(draft)]
        elif branch == "only_12h":
            ages = [self._age(draft, 60 * short + 1, 60 * long) for _ in self._some(draft)]
        # Distinct ages keep Draft.lab from moving a row of the oldest minute out of its window.
        recent = [
            (draft.at_now - 60 * age, draft.number(*ECG_RATE.usual, 0)) for age in sorted(set(ages))
        ]
        plant_series(draft, ECG_RATE, recent, history_age=(60 * long + 1, 60 * (long + 24 * 19)))
        for _ in range(draft.integer(1, 4)):
            when = draft.minutes_ago(1, 60 * long)
            draft.builder.vital(draft.mrn, _FLOWSHEET, when, f"{draft.integer(48, 135)}")
        return self.facts(draft)

    def _windows(self, stated: Stated | Facts) -> tuple[int, int]:
        return round(self.number(stated, "short")), round(self.number(stated, "long"))

    @staticmethod
    def _some(draft: Draft) -> range:
        return range(draft.integer(*draft.config.window))

    @staticmethod
    def _age(draft: Draft, low: int, high: int) -> int:
        """Return an age in minutes in [low, high], one of the ends a third of the time."""
        if draft.chance(1 / 3):
            return (low, high)[draft.integer(0, 1)]
        return draft.integer(low, high)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Average both windows, ends included."""
        readings = view.readings(facts.patient, facts.codes["heart_rate"])
        short, long = (in_window(readings, facts.now, hours) for hours in self._windows(facts))
        branch = "both" if short else "only_12h" if long else "none"
        return Decision(branch, (_mean(short), _mean(long)))

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search the longer window."""
        since = (facts.now - timedelta(hours=self._windows(facts)[1])).isoformat()
        code = facts.codes["heart_rate"]
        search = call(
            "search_observations", patient=facts.patient, code=code, since=since, limit=50
        )
        return [search]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that both windows are empty."""
        return [], [-1, -1]


def _mean(readings: Sequence[Reading]) -> Expected:
    if not readings:
        return NOTHING
    return number(
        round(sum(reading.value for reading in readings) / len(readings), 4), 0.1, ECG_RATE.unit
    )


HEART_KINDS: tuple[TaskKind, ...] = (MeanHeartRate(),)
