"""What the task types share that turn on one laboratory test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import TaskKind
from healthgym.envs.fhir_record.kinds.readings import Analyte, as_stated, latest
from healthgym.envs.fhir_record.task import Decision, Facts
from healthgym.envs.fhir_record.view import ChartView, Reading


class LatestLab(TaskKind):
    """Shared look-up of the task types that turn on one laboratory test."""

    analyte: ClassVar[Analyte]

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search the test's results."""
        code = facts.codes[self.analyte.concept]
        return [call("search_observations", patient=facts.patient, code=code)]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that there is no result, and order nothing."""
        return [], [-1]

    def plant_elsewhere(self, draft: Draft, values: tuple[float, float], oldest: int) -> None:
        """Plant a result of the test in the chart of each other patient."""
        test = as_stated(self.analyte, draft)
        for other in draft.others:
            value = draft.number(*values, test.decimals)
            draft.lab(test.code, draft.minutes_ago(5, oldest), value, test.unit, mrn=other.mrn)

    def newest(
        self, view: ChartView, facts: Facts, hours: float | None = None
    ) -> tuple[Reading | None, float]:
        """Return the newest reading and its value in the unit asked for."""
        readings = view.readings(facts.patient, facts.codes[self.analyte.concept])
        reading = latest(readings, facts.now, hours)
        return reading, reading.in_unit_of(self.analyte.concept) if reading else -1.0
