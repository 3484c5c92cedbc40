"""How others work who look as carefully: by habit, or in smaller steps.

``house`` and ``cautious`` are whole practices that do not do what the question says: each opens the
chart, decides, orders and reports. Only the oracle goes by what the question states, so on the same
tasks they contradict each other, and the verifier says who is right. Demonstrations of several of
them are records of practitioners who disagree.

``stepwise`` is right as the oracle is, and leaves to a tool what a small model would have to do in
its head: it subtracts years with the calculator, and asks the chart what lies within a limit.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import Script
from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.kinds import FOLDER_KINDS
from healthgym.envs.fhir_record.kinds.base import example_answer
from healthgym.envs.fhir_record.kinds.labs import A1cRecheck
from healthgym.envs.fhir_record.kinds.lookups import PatientAge, birth_date
from healthgym.envs.fhir_record.kinds.own import DrugNoLongerTaken, InfluenzaImmunization
from healthgym.envs.fhir_record.kinds.readings import months_before
from healthgym.envs.fhir_record.oracle import orders_of, solve
from healthgym.envs.fhir_record.task import FhirInstance, OrderSpec
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.store import FhirStore

#: Step of the house's blood pressures, in mmHg. Pressures that end in 0 are the best known habit of
#: all ("terminal digit preference").
_STEP = 10


def house(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Go by the house's windows, limits and doses (the published ones), and round pressures."""
    return _as_usual(instance, share=1.0)


def cautious(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Do the same with half of each dose: start low, go slow."""
    return _as_usual(instance, share=0.5)


def stepwise(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Do what the oracle does, in steps none of which takes more than a look."""
    script = list(solve(instance, rng))
    reference = instance.reference
    facts, decision = reference.facts, reference.decision
    kind = FOLDER_KINDS[reference.kind]
    if isinstance(kind, PatientAge):
        (age,) = example_answer(decision.answer)
        view = ChartView(FhirStore(instance.start.base, clock=Clock(facts.now)))
        born = birth_date(view.patient(facts.patient))
        if born is not None:
            years = facts.now.year - born.year
            waits = " - 1" if years != age else ""
            worked = f"{facts.now.year} - {born.year}{waits}"
            script.insert(-1, call("calculate", expression=worked))
    elif isinstance(kind, A1cRecheck):
        since = months_before(facts.now, int(kind.number(facts, "months"))).isoformat()
        (look,) = kind.lookups(facts, decision)
        script[:1] = _in_two(look, since, found=decision.branch == "fresh")
    elif isinstance(kind, InfluenzaImmunization):
        since = (facts.now - kind.longest(facts)).isoformat()
        (look,) = kind.lookups(facts, decision)
        newest = call(look.name, **{**look.arguments, "limit": 1})
        script[:1] = _in_two(newest, since, found=decision.branch == "fresh")
    elif isinstance(kind, DrugNoLongerTaken):
        view = ChartView(FhirStore(instance.start.base, clock=Clock(facts.now)))
        active = reversed(view.medication_orders(facts.patient))
        stops = [call("stop_medication_request", id=o.id) for o in active if o.id in decision.stops]
        drug = facts.details["drug"]
        name, patient = "search_medication_requests", facts.patient
        script = [
            call(name, patient=patient, status="active", text=drug),
            *stops,
            call(name, patient=patient, text=drug, limit=1),
            script[-1],
        ]
    return script


def _in_two(look: ToolCall, since: str, *, found: bool) -> list[ToolCall]:
    """Return a look at what lies within a limit, and one at all of it where nothing does."""
    recent = call(look.name, **{**look.arguments, "since": since})
    return [recent] if found else [recent, look]


def _as_usual(instance: FhirInstance, share: float) -> Script:
    """Return what is done by the house's numbers, with a share of each dose."""
    kind, start = FOLDER_KINDS[instance.reference.kind], instance.start
    # What is not stated is as published.
    facts = replace(instance.reference.facts, numbers={})
    view = ChartView(FhirStore(start.base, clock=Clock(start.now)))
    decision = kind.decide(view, facts)
    orders = tuple(_by_habit(order, share) for order in decision.orders)
    lookups = list(kind.lookups(facts, decision))
    opened = any("patient" in lookup.arguments for lookup in lookups)
    patient = "" if opened else facts.patient
    return [
        *lookups,
        *orders_of(patient, facts.now, replace(decision, orders=orders)),
        call("finish", value=example_answer(decision.answer)),
    ]


def _by_habit(order: OrderSpec, share: float) -> OrderSpec:
    dose = order.dose
    if dose and share != 1:
        dose = replace(dose, value=_plain(share * dose.value))
    return replace(order, dose=dose, value=re.sub(r"\d+", _to_step, order.value))


def _to_step(number: re.Match[str]) -> str:
    return str(_STEP * round(int(number[0]) / _STEP))


def _plain(value: float) -> float:
    """Return a number as people write it: 4, not 4.0."""
    return int(value) if float(value).is_integer() else value
