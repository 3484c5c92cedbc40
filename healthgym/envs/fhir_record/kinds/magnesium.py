"""Task types about the latest magnesium, and its replacement.

Sources: MedAgentBench v1, tasks 4 and 5. Windows are closed on both sides: a row dated after the
question was asked is not a result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch
from healthgym.envs.fhir_record.kinds.latest_lab import LatestLab
from healthgym.envs.fhir_record.kinds.readings import AT_ONCE, MAGNESIUM, Analyte, plant_series
from healthgym.envs.fhir_record.stated import Stated, published
from healthgym.envs.fhir_record.task import NOTHING, Decision, Dose, Facts, OrderSpec, number
from healthgym.envs.fhir_record.view import ChartView


def _magnesium(draft: Draft) -> Analyte:
    """Return the test; where thresholds vary it has another decimal, so that few are alike."""
    return replace(MAGNESIUM, decimals=2) if draft.stated.numbers else MAGNESIUM


class RecentMagnesium(LatestLab):
    """v1-T4: the newest magnesium within some hours, or -1."""

    name = "v1-t4"
    title = "latest magnesium within a window"
    branches = (Branch("present", False), Branch("absent", False, share=0.04))
    omit = frozenset({"MG"})
    codes: ClassVar = {"magnesium": "MG"}
    analyte = MAGNESIUM

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant one or more readings inside the window, or none."""
        window = round(60 * self.number(draft.stated, "hours"))
        test, recent = _magnesium(draft), []
        if branch == "present":
            for _ in range(draft.integer(*draft.config.window)):
                value = draft.number(0.8, 2.9, test.decimals)
                recent.append((draft.minutes_ago(1, window), value))
        plant_series(draft, test, recent, history_age=(window + 5, window + 60 * 24 * 39))
        return self.facts(draft)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Read the newest value in the window."""
        reading, value = self.newest(view, facts, self.number(facts, "hours"))
        if reading is None:
            return Decision("absent", (NOTHING,))
        return Decision("present", (number(value, 0.005, self.analyte.unit),))


def magnesium_tier(facts: Facts, value: float) -> str:
    """Return the tier of the dosing table that a magnesium in mg/dL falls into."""
    limits = {**published("v1-t5").numbers, **facts.numbers}
    if value > limits["upper"]:
        return "normal"
    if value < limits["lower"]:
        return "severe"
    return "moderate" if value < limits["middle"] else "mild"


class MagnesiumReplacement(LatestLab):
    """v1-T5: replace a low magnesium by the dosing table, if it was measured within some hours."""

    name = "v1-t5"
    title = "magnesium check and intravenous replacement"
    orders: ClassVar = {"magnesium": "MedicationRequest"}
    branches = (
        Branch("absent", False, share=0.08),
        Branch("normal", False),
        Branch("mild", True),
        Branch("moderate", True),
        Branch("severe", True),
    )
    omit = frozenset({"MG"})
    codes: ClassVar = {"magnesium": "MG", "magnesium_ndc": "0338-1715-40"}
    analyte = MAGNESIUM

    def ranges(
        self, stated: Stated, decimals: int
    ) -> dict[str, tuple[tuple[float, ...], float, float]]:
        """Return boundary values, lowest and highest value of each tier, in mg/dL on a grid."""
        upper, middle, lower = (self.number(stated, name) for name in ("upper", "middle", "lower"))
        over, under_middle, under_lower = (
            round(limit + sign / 10**decimals, decimals)
            for limit, sign in ((upper, 1), (middle, -1), (lower, -1))
        )
        return {
            "normal": ((over,), over, round(upper + 0.9, 1)),
            "mild": ((middle, upper), middle, upper),
            "moderate": ((lower, under_middle), lower, under_middle),
            "severe": ((under_lower,), round(lower - 0.4, 1), under_lower),
        }

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the newest reading in the branch's tier, with older ones of any tier."""
        window = round(60 * self.number(draft.stated, "hours"))
        test = _magnesium(draft)
        ranges, recent = self.ranges(draft.stated, test.decimals), []
        if branch != "absent":
            edges, low, high = ranges[branch]
            when = draft.minutes_ago(1, window - 120)
            recent.append((when, draft.edge_or(edges, low, high, test.decimals)))
            if draft.config.window[1] > 1 and draft.chance(0.5):
                value = draft.number(0.8, 2.6, test.decimals)
                recent.append((when - 60 * draft.integer(30, 110), value))
        plant_series(
            draft,
            test,
            recent,
            history_age=(window + 5, window + 60 * 24 * 39),
            edges=[edge for edges, _, _ in ranges.values() for edge in edges],
        )
        return self.facts(draft)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Apply the dosing table to the newest value in the window."""
        reading, value = self.newest(view, facts, self.number(facts, "hours"))
        if reading is None:
            return Decision("absent", (NOTHING,))
        answer = (number(value, 0.005, self.analyte.unit),)
        branch = magnesium_tier(facts, value)
        if branch == "normal":
            return Decision(branch, answer)
        return Decision(branch, answer, (self._replacement(facts, branch),))

    def _replacement(self, facts: Facts, tier: str) -> OrderSpec:
        """Return the order that the dosing table has for a tier."""
        grams, hours = (self.number(facts, f"{tier}_{unit}") for unit in ("g", "h"))
        return OrderSpec(
            "magnesium",
            "MedicationRequest",
            codes=(facts.codes["magnesium_ndc"],),
            system="http://hl7.org/fhir/sid/ndc",
            item="magnesium",
            dose=Dose(grams, "g"),
            hours=hours,
            route="IV",
            within=AT_ONCE,
        )

    def assumed(self, facts: Facts) -> Decision:
        """Take the value for the first one of the lowest tier, whose limit is no other's."""
        value = round(self.number(facts, "lower") - 0.01, 2)
        tier = magnesium_tier(facts, value)
        return Decision(tier, (number(value),), (self._replacement(facts, tier),))
