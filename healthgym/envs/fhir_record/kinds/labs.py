"""Task types about the latest glucose, potassium and HbA1c, and what to do about it.

Sources: MedAgentBench v1, tasks 6, 7, 9 and 10; magnesium's are in a module of their own. Windows
are closed on both sides: a row dated after the question was asked is not a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.kinds.latest_lab import LatestLab
from healthgym.envs.fhir_record.kinds.magnesium import MagnesiumReplacement, RecentMagnesium
from healthgym.envs.fhir_record.kinds.readings import (
    A1C,
    AT_ONCE,
    GLUCOSE,
    MINUTES_OF_DAY,
    POTASSIUM,
    in_window,
    months_before,
    plant_series,
)
from healthgym.envs.fhir_record.task import (
    NOTHING,
    Decision,
    Dose,
    Facts,
    OrderSpec,
    instant,
    number,
)
from healthgym.envs.fhir_record.view import ChartView


class MeanGlucose(LatestLab):
    """v1-T6: the mean of all glucose values within some hours, or -1."""

    name = "v1-t6"
    title = "mean glucose over a window"
    branches = (Branch("present", False), Branch("absent", False, share=0.04))
    omit = frozenset({"GLU"})
    codes: ClassVar = {"glucose": "GLU"}
    analyte = GLUCOSE

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant several readings inside the window, or none."""
        window = round(60 * self.number(draft.stated, "hours"))
        recent = []
        if branch == "present":
            for _ in range(draft.integer(*draft.config.window)):
                recent.append((draft.minutes_ago(0, window), draft.number(62, 310, 0)))
        plant_series(draft, GLUCOSE, recent, history_age=(window + 1, window + 60 * 24 * 11))
        return self.facts(draft)

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search the window, all of it."""
        since = (facts.now - timedelta(hours=self.number(facts, "hours"))).isoformat()
        until = facts.now.isoformat()
        window = {"since": since, "until": until, "limit": 50}
        code = facts.codes["glucose"]
        return [call("search_observations", patient=facts.patient, code=code, **window)]

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Average the window."""
        readings = view.readings(facts.patient, facts.codes["glucose"])
        hours = self.number(facts, "hours")
        values = [r.in_unit_of("glucose") for r in in_window(readings, facts.now, hours)]
        if not values:
            return Decision("absent", (NOTHING,))
        return Decision(
            "present", (number(round(sum(values) / len(values), 4), 0.1, self.analyte.unit),)
        )


class LatestGlucose(LatestLab):
    """v1-T7: the newest glucose of all; -1 if there is none."""

    name = "v1-t7"
    title = "latest glucose"
    branches = (Branch("present", False), Branch("absent", False, share=0.04))
    omit = frozenset({"GLU"})
    codes: ClassVar = {"glucose": "GLU"}
    analyte = GLUCOSE

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant a series, or leave the patient without one."""
        if branch == "present":
            when = draft.minutes_ago(1, 60 * 24 * 3)
            recent = [(when, draft.number(62, 310, 0))]
            oldest = (draft.at_now - when) // 60 + 1
            plant_series(draft, GLUCOSE, recent, history_age=(oldest, oldest + 60 * 24 * 20))
        else:
            self.plant_elsewhere(draft, (62, 310), 4000)
        return self.facts(draft)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Read the newest value."""
        reading, value = self.newest(view, facts)
        if reading is None:
            return Decision("absent", (NOTHING,))
        return Decision("present", (number(value, 0.5, self.analyte.unit),))


class PotassiumRepletion(LatestLab):
    """v1-T9: replace a potassium below the goal by mouth and pair it with a level next morning."""

    name = "v1-t9"
    title = "potassium check, oral repletion and morning level"
    orders: ClassVar = {"potassium": "MedicationRequest", "morning_level": "ServiceRequest"}
    branches = (
        Branch("absent", False, share=0.08),
        Branch("normal", False),
        Branch("low", True),
    )
    omit = frozenset({"K"})
    codes: ClassVar = {
        "potassium": "K",
        "potassium_ndc": "40032-917-01",
        "potassium_loinc": "2823-3",
    }
    analyte = POTASSIUM

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the newest value on the branch's side of the threshold."""
        recent = []
        if branch != "absent":
            goal = self.number(draft.stated, "goal")
            under, spread = round(goal - 0.1, 1), 1.9 if draft.traps_allowed else 2.6
            ranges = {
                "normal": ((goal, round(goal + 0.1, 1)), goal, round(goal + spread, 1)),
                "low": ((under, round(goal - 0.5, 1)), round(goal - 1, 1), under),
            }
            when = draft.minutes_ago(1, 60 * 20)
            recent.append((when, draft.edge_or(*ranges[branch])))
            plant_series(draft, POTASSIUM, recent, history_age=(60 * 20 + 1, 60 * 24 * 30))
        else:
            self.plant_elsewhere(draft, (2.8, 5.0), 4000)
        return self.facts(draft)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Order so many mEq per 0.1 below the goal, and a level the next morning."""
        reading, value = self.newest(view, facts)
        if reading is None:
            return Decision("absent", (NOTHING,))
        answer = (number(value, 0.005, self.analyte.unit),)
        if value >= self.number(facts, "goal"):
            return Decision("normal", answer)
        return Decision("low", answer, self._repletion(facts, value))

    def _repletion(self, facts: Facts, value: float) -> tuple[OrderSpec, OrderSpec]:
        """Return the orders of the drug and of the level, for a value below the goal."""
        goal = self.number(facts, "goal")
        dose = round((goal - value) / 0.1 * self.number(facts, "per_tenth"), 1)
        medication = OrderSpec(
            "potassium",
            "MedicationRequest",
            codes=(facts.codes["potassium_ndc"],),
            system="http://hl7.org/fhir/sid/ndc",
            item="potassium",
            dose=Dose(dose, "mEq", tolerance=0.1),
            route="oral",
            within=AT_ONCE,
        )
        hour = int(self.number(facts, "hour"))
        morning = (facts.now + timedelta(days=1)).replace(hour=hour, minute=0, second=0)
        level = OrderSpec(
            "morning_level",
            "ServiceRequest",
            "potassium level",
            codes=(facts.codes["potassium_loinc"],),
            system="http://loinc.org",
            priority="stat",
            occurrence=(morning, morning + timedelta(minutes=59)),
        )
        return medication, level

    def assumed(self, facts: Facts) -> Decision:
        """Take the value for the first one below the goal."""
        value = round(self.number(facts, "goal") - 0.1, 1)
        return Decision("low", (number(value),), self._repletion(facts, value))


class A1cRecheck(LatestLab):
    """v1-T10: report the last HbA1c with its date; order a new one if it is too old."""

    name = "v1-t10"
    title = "HbA1c check and reorder"
    orders: ClassVar = {"a1c": "ServiceRequest"}
    branches = (Branch("fresh", False), Branch("stale", True), Branch("absent", True, share=0.25))
    omit = frozenset({"A1C"})
    codes: ClassVar = {"a1c": "A1C", "a1c_loinc": "4548-4"}
    analyte = A1C

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the newest value on the branch's side of the longest interval."""
        if branch == "absent":
            self.plant_elsewhere(draft, (4.8, 12.0), 60 * 24 * 700)
            return self.facts(draft)
        since = months_before(draft.now, int(self.number(draft.stated, "months")))
        limit = int((draft.now - since) / timedelta(minutes=1))
        year = 365 * MINUTES_OF_DAY
        low, high = (60, limit - 60) if branch == "fresh" else (limit + 60, limit + 2 * year)
        if draft.chance(0.25):  # close to the boundary
            low = limit - 1440 if branch == "fresh" else limit + 60
            high = limit - 60 if branch == "fresh" else limit + 1440
        when = draft.minutes_ago(low, high)
        age = (draft.at_now - when) // 60
        plant_series(
            draft,
            A1C,
            [(when, draft.number(4.8, 12.5))],
            history_age=(age + 60, age + 2 * year),
            decoy_age=(60, year),
        )
        return self.facts(draft)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Compare the newest value's date with the same date some months ago."""
        order = OrderSpec(
            "a1c",
            "ServiceRequest",
            "a1c",
            codes=(facts.codes["a1c_loinc"],),
            system="http://loinc.org",
            priority="stat",
            within=timedelta(days=1),
        )
        reading, value = self.newest(view, facts)
        if reading is None:
            return Decision("absent", (NOTHING,), (order,))
        answer = (number(value, 0.005, self.analyte.unit), instant(reading.stored_time))
        if reading.time < months_before(facts.now, int(self.number(facts, "months"))):
            return Decision("stale", answer, (order,))
        return Decision("fresh", answer)

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Order the test and answer that there is no result."""
        order = call(
            "create_service_request",
            patient=facts.patient,
            code=facts.codes["a1c_loinc"],
            system="http://loinc.org",
            priority="stat",
        )
        return [order], [-1]


LAB_KINDS: tuple[TaskKind, ...] = (
    RecentMagnesium(),
    MagnesiumReplacement(),
    MeanGlucose(),
    LatestGlucose(),
    PotassiumRepletion(),
    A1cRecheck(),
)
