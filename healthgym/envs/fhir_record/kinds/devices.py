"""Dwell time of a urinary catheter. Source: MedAgentBench v2, task 4."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.kinds.events import (
    MINUTES_OF_DAY,
    age_beside,
    newest,
    plant_procedures,
)
from healthgym.envs.fhir_record.task import NOTHING, Decision, Facts, OrderSpec, instant
from healthgym.envs.fhir_record.view import ChartView

_REMOVAL = "Remove Urinary Catheter"


class CatheterRemoval(TaskKind):
    """v2-T4: order removal of a urinary catheter in place for too long, unless ordered."""

    name = "v2-t4"
    title = "urinary catheter dwell time"
    orders: ClassVar = {"removal": "ServiceRequest"}
    branches = (
        Branch("overdue", True),
        Branch("removal_ordered", False),
        Branch("recent", False),
        Branch("none", False, share=0.1),
    )
    omit = frozenset({"urinary_catheter"})
    codes: ClassVar = {"catheter": "NUR1373"}

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the newest insertion on the branch's side of the limit, and removal orders."""
        age = None
        if branch != "none":
            limit = 60 * round(self.number(draft.stated, "hours"))
            over = branch in ("overdue", "removal_ordered")
            age = age_beside(draft, limit, over=over, youngest=10, oldest=9 * MINUTES_OF_DAY)
        code = self.code(draft, "catheter")
        span = 400 * MINUTES_OF_DAY
        plant_procedures(draft, self, (code,), age, span=span, decoys=("NUR1302", "NUR1410"))
        if branch == "removal_ordered":
            assert age is not None, "the branch has a catheter"
            self._removal(draft, draft.integer(1, age - 1), "active")
        if draft.chance(0.5):
            ended = ("completed", "revoked")[draft.integer(0, 1)]
            self._removal(draft, (age or 0) + draft.integer(60, span), ended)
        for other in draft.others:
            if draft.chance(0.4):
                self._removal(draft, draft.integer(1, 3000), "active", other.mrn)
        return self.facts(draft)

    def _removal(self, draft: Draft, age: int, status: str, mrn: str = "") -> None:
        draft.builder.service_request(
            mrn or draft.mrn,
            "",
            self.code(draft, "catheter"),
            _REMOVAL,
            draft.at_now - 60 * age,
            status=status,
        )

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Compare the time since the newest insertion with the limit; look for a removal order."""
        code = facts.codes["catheter"]
        last = newest(view.procedures(facts.patient, (code,)), facts.now)
        if last is None or last.time is None:
            return Decision("none", (NOTHING,))
        answer = (instant(last.stored_time),)
        if facts.now - last.time <= timedelta(hours=self.number(facts, "hours")):
            return Decision("recent", answer)
        if view.service_requests(facts.patient, code):
            return Decision("removal_ordered", answer)
        return Decision("overdue", answer, (self._order(facts),))

    def _order(self, facts: Facts) -> OrderSpec:
        return OrderSpec(
            "removal",
            "ServiceRequest",
            "catheter removal",
            codes=(facts.codes["catheter"],),
            within=timedelta(days=1),
            text=_REMOVAL,
        )

    def assumed(self, facts: Facts) -> Decision:
        """Order the removal; when the catheter was placed, nobody can guess."""
        return Decision("overdue", (NOTHING,), (self._order(facts),))

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search the insertions, then the orders to remove."""
        code = facts.codes["catheter"]
        return [
            call("search_procedures", patient=facts.patient, code=code),
            call("search_service_requests", patient=facts.patient, code=code, status="active"),
        ]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that there is no catheter."""
        return [], [-1]


DEVICE_KINDS: tuple[TaskKind, ...] = (CatheterRemoval(),)
