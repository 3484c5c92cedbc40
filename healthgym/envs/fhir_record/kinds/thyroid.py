"""A treatment protocol for a raised TSH. Source: MedAgentBench v2, task 6."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.kinds.events import MINUTES_OF_DAY
from healthgym.envs.fhir_record.kinds.readings import Analyte, as_stated, in_window, latest
from healthgym.envs.fhir_record.task import (
    NOTHING,
    Decision,
    Dose,
    Expected,
    Facts,
    OrderSpec,
    number,
)
from healthgym.envs.fhir_record.view import ChartView, Reading

TSH = Analyte("tsh", "TSH", "uIU/mL", None, (0.3, 10.0), 2)
FT4 = Analyte("ft4", "FT4", "ng/dL", None, (0.4, 2.4), 2)

#: How many days off a repeat in weeks or in months may be planned.
_SLACK_A, _SLACK_B = 3, 8
_DAYS_OF_MONTH = 365.25 / 12


class ThyroidProtocol(TaskKind):
    """v2-T6: act on the newest TSH and free T4 by a two-armed protocol.

    A, two TSH that are high, drawn far enough apart: levothyroxine daily, both tests again after
    weeks. B, newest TSH raised with free T4 in its range: both tests again after months. A comes
    first. As published: above 10 and 30 days apart, 25 mcg, 6 weeks; 4.5 to 10 with 0.8 to 1.8, 3
    months.
    """

    name = "v2-t6"
    title = "thyroid protocol"
    orders: ClassVar = {
        "levothyroxine": "MedicationRequest",
        "tsh_repeat": "ServiceRequest",
        "ft4_repeat": "ServiceRequest",
    }
    branches = (
        Branch("protocol_a", True),
        Branch("protocol_b", True),
        Branch("high_once", False),
        Branch("ft4_outside", False),
        Branch("normal", False),
        Branch("absent", False, share=0.1),
    )
    omit = frozenset({"TSH", "FT4", "levothyroxine"})
    codes: ClassVar = {"tsh": "TSH", "ft4": "FT4", "tsh_loinc": "3016-3", "ft4_loinc": "3024-7"}

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the branch's newest TSH and free T4, and older values that do not change it."""
        newest_age = draft.integer(30, 20 * MINUTES_OF_DAY)
        tsh = self._tsh(draft, branch)
        if tsh is not None:
            self._row(draft, TSH, newest_age, tsh)
            self._earlier_tsh(draft, branch, newest_age)
        ft4 = self._ft4(draft, branch)
        if ft4 is not None:
            age = newest_age if draft.chance(0.6) else draft.integer(30, 40 * MINUTES_OF_DAY)
            self._row(draft, FT4, age, ft4)
            older = (age + 1, age + 600 * MINUTES_OF_DAY)
            draft.results(as_stated(FT4, draft).code, older, FT4.usual, FT4.unit, FT4.decimals)
        for other in draft.others:
            self._row(draft, TSH, draft.integer(5, 90000), draft.number(0.3, 14, 2), other.mrn)
            self._row(draft, FT4, draft.integer(5, 90000), draft.number(0.5, 2, 2), other.mrn)
        if draft.trap():
            ahead = -draft.integer(30, 3 * MINUTES_OF_DAY)
            self._row(draft, TSH, ahead, draft.number(0.3, 14, 2))
            self._row(draft, FT4, ahead, draft.number(*FT4.usual, 2))
        return self.facts(draft)

    def _tsh(self, draft: Draft, branch: str) -> float | None:
        if branch == "absent":
            return None
        if branch in ("protocol_a", "high_once"):
            return self._high_tsh(draft)
        raised, high = (self.number(draft.stated, name) for name in ("raised", "high"))
        if branch == "normal":
            under = _beside(raised, -1)
            return draft.edge_or((under, round(raised - 0.1, 2)), 0.3, under, 2)
        return draft.edge_or((raised, high), raised, high, 2)

    def _high_tsh(self, draft: Draft, *, edges: bool = True) -> float:
        high = self.number(draft.stated, "high")
        low, most = _beside(high, 1), 32
        if not edges:
            return draft.number(low, most, 2)
        return draft.edge_or((low, round(high + 0.1, 2)), low, most, 2)

    def _ft4(self, draft: Draft, branch: str) -> float | None:
        low, high = (self.number(draft.stated, name) for name in ("ft4_low", "ft4_high"))
        if branch == "protocol_b":
            return draft.edge_or((low, high), low, high, 2)
        if branch == "ft4_outside":
            if draft.chance(0.15):
                return None
            if draft.chance(0.75):
                under = _beside(low, -1)
                return draft.edge_or((under, round(low - 0.1, 2)), 0.3, under, 2)
            over = _beside(high, 1)
            return draft.edge_or((over, round(high + 0.1, 2)), over, 2.4, 2)
        if draft.chance(0.5 if branch == "absent" else 0.15):
            return None
        return draft.edge_or((low, high), *FT4.usual, 2)

    def _earlier_tsh(self, draft: Draft, branch: str, newest_age: int) -> None:
        """Plant older TSH values; high ones only as the branch needs it, or one alone."""
        apart = round(self.number(draft.stated, "apart")) * MINUTES_OF_DAY
        if branch == "protocol_a":
            gap = apart if draft.chance(1 / 3) else draft.integer(apart, 300 * MINUTES_OF_DAY)
            self._row(draft, TSH, newest_age + gap, self._high_tsh(draft))
        elif branch == "high_once" and draft.chance(0.7):
            # 29 days apart, or a minute short of 30, is not 30 days apart.
            edges = (apart - 1, apart - MINUTES_OF_DAY)
            gap = edges[draft.integer(0, 1)] if draft.chance(0.5) else draft.integer(60, apart - 1)
            self._row(draft, TSH, newest_age + gap, self._high_tsh(draft, edges=False))
        elif branch != "high_once" and draft.chance(0.5):
            self._row(draft, TSH, newest_age + 2 * apart, self._high_tsh(draft, edges=False))
        raised, high = (self.number(draft.stated, name) for name in ("raised", "high"))
        for _ in range(draft.integer(*draft.config.history)):
            gap = draft.integer(1, 600 * MINUTES_OF_DAY)
            usual = draft.edge_or((high, raised), TSH.usual[0], high, 2)
            self._row(draft, TSH, newest_age + gap, usual)

    @staticmethod
    def _row(draft: Draft, test: Analyte, age: int, value: float, mrn: str = "") -> None:
        test = as_stated(test, draft)
        draft.lab(test.code, draft.at_now - 60 * age, value, test.unit, mrn=mrn)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Try protocol A on all TSH values, then B on the newest ones."""
        results = in_window(view.readings(facts.patient, facts.codes["tsh"]), facts.now)
        tsh = latest(results, facts.now)
        ft4 = latest(view.readings(facts.patient, facts.codes["ft4"]), facts.now)
        answer = (_value(tsh, TSH), _value(ft4, FT4))
        if tsh is None:
            return Decision("absent", answer)
        limit = self.number(facts, "high")
        high = [reading.time for reading in results if reading.value > limit]
        if high and high[-1] - high[0] >= timedelta(days=self.number(facts, "apart")):
            due = round(7 * self.number(facts, "weeks"))
            repeats = self._repeats(facts, due - _SLACK_A, due + _SLACK_A)
            return Decision("protocol_a", answer, (self._levothyroxine(facts), *repeats))
        if tsh.value > limit:
            return Decision("high_once", answer)
        if tsh.value < self.number(facts, "raised"):
            return Decision("normal", answer)
        low, top = self.number(facts, "ft4_low"), self.number(facts, "ft4_high")
        if ft4 is None or not low <= ft4.value <= top:
            return Decision("ft4_outside", answer)
        return Decision("protocol_b", answer, self._in_months(facts))

    def _in_months(self, facts: Facts) -> tuple[OrderSpec, ...]:
        due = round(_DAYS_OF_MONTH * self.number(facts, "months"))
        return self._repeats(facts, due - _SLACK_B, due + _SLACK_B)

    def assumed(self, facts: Facts) -> Decision:
        """Take both values for the lowest at which the second arm acts."""
        answer = (number(self.number(facts, "raised")), number(self.number(facts, "ft4_low")))
        return Decision("protocol_b", answer, self._in_months(facts))

    def _levothyroxine(self, facts: Facts) -> OrderSpec:
        """Return the order that starts treatment."""
        dose = self.number(facts, "dose")
        return OrderSpec(
            "levothyroxine",
            "MedicationRequest",
            "levothyroxine",
            words=("levothyroxine",),
            dose=Dose(dose, "mcg"),
            route="oral",
            frequency="daily",
            within=timedelta(days=7),
            course=timedelta(days=28),
            text=f"levothyroxine {dose:g} mcg tablet",
        )

    def _repeats(self, facts: Facts, soonest: int, last: int) -> tuple[OrderSpec, ...]:
        """Return orders of both tests, by local code or LOINC, between two numbers of days."""
        window = (facts.now + timedelta(days=soonest), facts.now + timedelta(days=last))
        return tuple(
            OrderSpec(
                f"{test}_repeat",
                "ServiceRequest",
                test,
                codes=(facts.codes[test], facts.codes[f"{test}_loinc"]),
                occurrence=window,
                text=title,
            )
            for test, title in (("tsh", "TSH, repeat"), ("ft4", "FT4 (free T4), repeat"))
        )

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search both tests."""
        return [
            call("search_observations", patient=facts.patient, code=facts.codes[test], limit=50)
            for test in ("tsh", "ft4")
        ]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that there are no results."""
        return [], [-1, -1]


def _beside(limit: float, sign: int) -> float:
    """Return the next value above (1) or below (-1) a limit, in hundredths."""
    return round(limit + sign / 100, 2)


def _value(reading: Reading | None, test: Analyte) -> Expected:
    return NOTHING if reading is None else number(reading.value, 0.005, test.unit)


THYROID_KINDS: tuple[TaskKind, ...] = (ThyroidProtocol(),)
