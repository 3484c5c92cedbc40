"""Task types of no published benchmark, asked of folders of real charts.

The published types need what few public folders hold: magnesium, QTc, urinary catheters. Nearly all
of them hold orders of medications and immunizations.
"""

from __future__ import annotations

from collections.abc import Sequence

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.kinds.drugs import days_apart, pick, plant_order
from healthgym.envs.fhir_record.kinds.events import newest
from healthgym.envs.fhir_record.kinds.vaccines import InfluenzaVaccine
from healthgym.envs.fhir_record.task import NOTHING, Decision, Facts, instant
from healthgym.envs.fhir_record.view import ChartView, Entry
from healthgym.worlds.fhir.cohort import vocabulary

_NO_ORDER = ("entered-in-error", "draft")
_ENDED = ("stopped", "completed", "cancelled")


class DrugNoLongerTaken(TaskKind):
    """own-t1: a patient no longer takes a drug: discontinue whatever order of it is still active.

    The answer is when it was last ordered, active or not: who does not look cannot guess it on any
    branch but one.
    """

    name = "own-t1"
    title = "reconciliation of a drug no longer taken"
    branches = (
        Branch("active", True),
        Branch("ended", False),
        Branch("never", False, share=0.1),
    )

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant orders of the drug, the newest at a known age, among orders of others."""
        rows = list(vocabulary().medications)
        drug = pick(draft, rows)
        others = [row for row in rows if row.text != drug.text]
        count = 0 if branch == "never" else draft.integer(1, 3)
        standing = draft.integer(0, count - 1) if branch == "active" else -1
        for place, age in enumerate(days_apart(draft, count, most=2000)):
            active = place == standing or (branch == "active" and draft.chance(0.3))
            status = "active" if active else _ENDED[draft.integer(0, 2)]
            plant_order(draft, drug, age, status=status)
        low, high = draft.config.history
        for _ in range(draft.integer(low, high)):
            status = "active" if draft.chance(0.4) else _ENDED[draft.integer(0, 2)]
            plant_order(draft, pick(draft, others), draft.integer(1, 2000), status=status)
        for other in draft.others:
            if draft.chance(0.5):
                plant_order(draft, drug, draft.integer(1, 2000), mrn=other.mrn)
        return self.facts(draft, drug=drug.text)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Find all orders of the drug; those that are active must end."""
        orders = ordered(view.medication_orders(facts.patient, status=""), facts.details["drug"])
        last = newest(orders, facts.now)
        if last is None:
            return Decision("never", (NOTHING,))
        stops = frozenset(order.id for order in orders if order.status == "active")
        return Decision("active" if stops else "ended", (instant(last.stored_time),), stops=stops)

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """List all orders, whatever their status."""
        return [call("search_medication_requests", patient=facts.patient, limit=50)]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that it was never ordered."""
        return [], [-1]


def ordered(orders: Sequence[Entry], drug: str) -> list[Entry]:
    """Return the orders of a drug by its full name, case and space aside.

    What was entered in error, or is a draft, was not ordered.
    """
    wanted = " ".join(drug.lower().split())
    named = [order for order in orders if " ".join(order.text.lower().split()) == wanted]
    return [order for order in named if order.status not in _NO_ORDER]


class InfluenzaImmunization(InfluenzaVaccine):
    """own-t2: as v2-T9, where vaccinations are filed as what they are, Immunizations.

    Several codes stand for the vaccine; the question lists those of the folder, with commas.
    """

    name = "own-t2"
    title = "influenza immunization"

    def given(self, view: ChartView, facts: Facts) -> list[Entry]:
        """Return the immunizations that were completed."""
        return view.immunizations(facts.patient, facts.codes["vaccine"])

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search the immunizations."""
        code = facts.codes["vaccine"]
        return [call("search_immunizations", patient=facts.patient, code=code)]


OWN: tuple[TaskKind, ...] = (DrugNoLongerTaken(), InfluenzaImmunization())
