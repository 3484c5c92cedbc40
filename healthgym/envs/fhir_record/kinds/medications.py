"""Task types that check a medication list for duplicates, hazards and companions.

Sources: MedAgentBench v2, tasks 2, 7 and 8. The published rule of task 2 is satisfied by any one
stop and by a lone wrong drug left in place; here the state after the writes decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.kinds.drugs import (
    NALOXONE,
    OPIOIDS,
    QT_PROLONGING,
    active_orders,
    days_apart,
    drugs_stated,
    formulary,
    is_anticoagulant,
    is_prophylactic_heparin,
    pick,
    plant_decoys,
    plant_order,
    plant_other_orders,
    told_apart,
)
from healthgym.envs.fhir_record.kinds.readings import Analyte, as_stated, latest, plant_series
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
from healthgym.worlds.fhir.cohort import Medication

_HEPARIN = "heparin (porcine) 5000 units"


class ThrombosisProphylaxis(TaskKind):
    """v2-T2: leave exactly one active anticoagulant, heparin 5,000 units SC at one interval.

    The answer is how many there were, and when the one that stays was ordered: a count alone would
    be the same on every chart that needs no change.
    """

    name = "v2-t2"
    title = "DVT prophylaxis hygiene"
    orders: ClassVar = {"heparin": "MedicationRequest"}
    branches = (
        Branch("none", True, share=0.3),
        Branch("one_correct", False),
        Branch("heparin_newest", True),
        Branch("other_newest", True),
        Branch("no_heparin", True),
        Branch("lone_other", True),
    )
    omit = frozenset({"anticoagulant"})

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the branch's active orders, newest last, among ended ones and line flushes."""
        timing = f"Q{self.number(draft.stated, 'interval'):g}H"
        right = tuple(row for row in formulary("heparin_5000") if row.timing == timing)
        wrong = self._wrong(draft, timing)
        drugs: list[Medication] = []
        if branch in ("no_heparin", "lone_other"):
            count = 1 if branch == "lone_other" else draft.integer(2, 4)
            drugs = [pick(draft, wrong) for _ in range(count)]
        elif branch == "one_correct":
            drugs = [pick(draft, right)]
        elif branch != "none":
            ours = branch == "heparin_newest"
            drugs = [pick(draft, wrong) for _ in range(draft.integer(0, 2))]
            other = wrong if ours and draft.chance(0.6) else right
            drugs.insert(draft.integer(0, len(drugs)), pick(draft, other))
            drugs.append(pick(draft, right if ours else wrong))
        ages = reversed(days_apart(draft, len(drugs)))
        for drug, age in zip(drugs, ages, strict=True):
            plant_order(draft, drug, age)
        if draft.trap():
            plant_order(draft, pick(draft, formulary("heparin_flush")), draft.integer(1, 9))
        plant_decoys(draft, formulary("anticoagulant", without="heparin_flush"))
        plant_other_orders(draft, self.omit)
        return self.facts(draft)

    @staticmethod
    def _wrong(draft: Draft, timing: str) -> tuple[Medication, ...]:
        """Return what may be a wrong order: other heparin orders only where traps may be set."""
        rows = formulary("anticoagulant", without="heparin_flush")
        others = tuple(row for row in rows if "HEPARIN" not in row.text)
        heparins = tuple(row for row in rows if "HEPARIN" in row.text and row.timing != timing)
        return heparins if draft.trap() else others

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Keep the newest correct order, stop all others, order one if there is none."""
        orders = [o for o in active_orders(view, facts.patient) if is_anticoagulant(o)]
        hours = self.number(facts, "interval")
        correct = [order for order in orders if is_prophylactic_heparin(order, hours)]
        if not correct:
            branch = ("none", "lone_other", "no_heparin")[min(len(orders), 2)]
            answer = (number(len(orders)), NOTHING)
            stops = frozenset(order.id for order in orders)
            return Decision(branch, answer, (self._heparin(facts),), stops)
        kept = correct[-1]
        answer = (number(len(orders)), instant(kept.time.isoformat()))
        stops = frozenset(order.id for order in orders if order is not kept)
        if not stops:
            return Decision("one_correct", answer)
        branch = "heparin_newest" if orders[-1] is kept else "other_newest"
        return Decision(branch, answer, stops=stops)

    def _heparin(self, facts: Facts) -> OrderSpec:
        return OrderSpec(
            "heparin",
            "MedicationRequest",
            "heparin",
            words=("heparin",),
            dose=Dose(5000, "units"),
            route="subcutaneous",
            frequency=f"q{self.number(facts, 'interval'):g}h",
            within=timedelta(days=1),
            course=timedelta(days=1),
            text=_HEPARIN,
        )

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """List the active orders."""
        return [_active(facts)]

    def assumed(self, facts: Facts) -> Decision:
        """Answer that one order is wrong: it cannot be stopped unseen, but half the answer can be.

        Heparin beside it would be a stray order on more charts than call for it.
        """
        return Decision("lone_other", (number(1), NOTHING))

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Order heparin, as where there is nothing."""
        heparin = call(
            "create_medication_request",
            patient=facts.patient,
            medication=_HEPARIN,
            dose=5000,
            dose_unit="units",
            route="subcutaneous",
            frequency=f"q{self.number(facts, 'interval'):g}h",
        )
        return [heparin], [0, -1]


QTC = Analyte("qtc", "QTCINTERVAL", "ms", None, (390, 570), 0)


class ProlongedQtc(TaskKind):
    """v2-T7: with a QTc above a limit, stop the drugs that prolong it and repeat the ECG."""

    name = "v2-t7"
    title = "prolonged QTc: stop drugs and repeat the ECG"
    orders: ClassVar = {"ecg": "ServiceRequest"}
    branches = (
        Branch("none", False, share=0.1),
        Branch("normal", False),
        Branch("prolonged", True),
        Branch("prolonged_no_drug", True, trap=True),
    )
    omit = frozenset({"QTCINTERVAL", "qt_prolonging"})
    codes: ClassVar = {"qtc": "QTCINTERVAL", "ecg": "445118002"}

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant the newest QTc on the branch's side of the limit, and drugs that prolong it or not.

        Where the published grader's reading is to agree, all values lie on the newest one's side:
        it takes the one uploaded last.
        """
        limit = self.number(draft.stated, "limit")
        if branch == "none":
            test = as_stated(QTC, draft)
            for other in draft.others:
                when = draft.minutes_ago(5, 9000)
                draft.lab(test.code, when, draft.number(*test.usual, 0), test.unit, mrn=other.mrn)
        else:
            low, high, edges = (
                (390.0, limit, (limit, limit - 1))
                if branch == "normal"
                else (limit + 1, limit + 80, (limit + 1,))
            )
            age = draft.integer(1, 4000)
            recent = [(draft.at_now - 60 * age, draft.edge_or(edges, low, high, 0))]
            series = QTC if draft.traps_allowed else replace(QTC, usual=(low, high))
            plant_series(draft, series, recent, history_age=(age + 1, age + 60 * 24 * 90))
        facts = self.facts(draft)
        drugs, spared = told_apart(
            formulary("qt_prolonging"), drugs_stated(facts, "drugs", QT_PROLONGING)
        )
        if branch == "prolonged" or (branch != "prolonged_no_drug" and draft.chance(0.7)):
            for age in days_apart(draft, draft.integer(1, 4)):
                plant_order(draft, pick(draft, drugs), age)
        plant_decoys(draft, drugs)
        plant_other_orders(draft, self.omit)
        if draft.stated.details and draft.chance(0.5):  # prolongs it, too, and is not on the list
            plant_order(draft, pick(draft, spared), draft.integer(1, 60))
        if draft.chance(0.7):
            plant_order(draft, pick(draft, formulary("ppi")), draft.integer(1, 60))
        return facts

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Compare the newest QTc with the limit; stop every active drug of the list."""
        reading = latest(view.readings(facts.patient, facts.codes["qtc"]), facts.now)
        if reading is None:
            return Decision("none", (NOTHING,))
        answer = (number(reading.value, 0.5, QTC.unit),)
        if reading.value <= self.number(facts, "limit"):
            return Decision("normal", answer)
        orders = active_orders(view, facts.patient)
        drugs = drugs_stated(facts, "drugs", QT_PROLONGING)
        stops = frozenset(order.id for order in orders if order.names(drugs))
        branch = "prolonged" if stops else "prolonged_no_drug"
        return Decision(branch, answer, (self._ecg(facts),), stops)

    def _ecg(self, facts: Facts) -> OrderSpec:
        due = facts.now + timedelta(hours=self.number(facts, "ecg_hours"))
        return OrderSpec(
            "ecg",
            "ServiceRequest",
            "ecg",
            codes=(facts.codes["ecg"],),
            occurrence=(due - timedelta(hours=2), due + timedelta(hours=2)),
            text="12-lead ECG",
        )

    def assumed(self, facts: Facts) -> Decision:
        """Take the QTc for the first one above the limit, without a drug to stop."""
        value = self.number(facts, "limit") + 1
        return Decision("prolonged_no_drug", (number(value),), (self._ecg(facts),))

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search the QTc, and the active orders if it is prolonged."""
        qtc = call("search_observations", patient=facts.patient, code=facts.codes["qtc"])
        return [qtc, _active(facts)] if decision.acts else [qtc]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that there is no QTc."""
        return [], [-1]


class OpioidNaloxone(TaskKind):
    """v2-T8: a patient with an active opioid order needs an active order of naloxone."""

    name = "v2-t8"
    title = "naloxone beside opioids"
    orders: ClassVar = {"naloxone": "MedicationRequest"}
    branches = (
        Branch("uncovered", True),
        Branch("covered", False),
        Branch("no_opioid", False, share=0.1),
    )
    omit = frozenset({"opioid", "naloxone"})

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Plant active opioids with or without naloxone, or none; ended orders of both besides."""
        facts = self.facts(draft)
        opioids, spared = told_apart(formulary("opioid"), drugs_stated(facts, "opioids", OPIOIDS))
        antidotes = formulary("naloxone")
        if branch != "no_opioid":
            for age in days_apart(draft, draft.integer(1, 11)):
                plant_order(draft, pick(draft, opioids), age)
        if branch == "covered" or (branch == "no_opioid" and draft.chance(0.2)):
            plant_order(draft, pick(draft, antidotes), draft.integer(1, 60))
        plant_decoys(draft, opioids)
        plant_decoys(draft, antidotes)
        plant_other_orders(draft, self.omit)
        if draft.stated.details and spared and draft.chance(0.5):  # not an opioid of the list
            plant_order(draft, pick(draft, spared), draft.integer(1, 60))
        return facts

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Count the active opioids, and look for naloxone in any form."""
        orders = active_orders(view, facts.patient)
        listed = drugs_stated(facts, "opioids", OPIOIDS)
        opioids = [order for order in orders if order.names(listed)]
        answer = (number(len(opioids)),)
        if not opioids:
            return Decision("no_opioid", answer)
        if any(order.names(NALOXONE) for order in orders):
            return Decision("covered", answer)
        dose = self.number(facts, "dose")
        naloxone = OrderSpec(
            "naloxone",
            "MedicationRequest",
            "naloxone",
            words=("naloxone",),
            dose=Dose(dose, "mg"),
            route="nasal",
            as_needed=True,
            within=timedelta(days=1),
            text=f"naloxone {dose:g} mg nasal spray",
        )
        return Decision("uncovered", answer, (naloxone,))

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """List the active orders."""
        return [_active(facts)]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Order naloxone, and guess that there is one opioid."""
        dose = self.number(facts, "dose")
        order = call(
            "create_medication_request",
            patient=facts.patient,
            medication=f"naloxone {dose:g} mg nasal spray",
            dose=dose,
            dose_unit="mg",
            route="nasal",
        )
        return [order], [1]


def _active(facts: Facts) -> ToolCall:
    return call("search_medication_requests", patient=facts.patient, status="active", limit=50)


MEDICATION_KINDS: tuple[TaskKind, ...] = (
    ThrombosisProphylaxis(),
    ProlongedQtc(),
    OpioidNaloxone(),
)
