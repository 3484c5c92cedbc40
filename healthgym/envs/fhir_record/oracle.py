"""What an agent that knows the decision does, and what ones that do not look do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np

from healthgym.core.family import Script
from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.kinds import FOLDER_KINDS
from healthgym.envs.fhir_record.kinds.base import example_answer
from healthgym.envs.fhir_record.task import Decision, FhirInstance, OrderSpec


def solve(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Look up, order, stop and answer as the rule says."""
    reference = instance.reference
    facts, decision = reference.facts, reference.decision
    lookups = list(FOLDER_KINDS[reference.kind].lookups(facts, decision))
    opened = any("patient" in lookup.arguments for lookup in lookups)
    return [
        *lookups,
        *orders_of("" if opened else facts.patient, facts.now, decision),
        call("finish", value=example_answer(decision.answer)),
    ]


def prior(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Play the best guess of the task type, without a look at the chart."""
    reference = instance.reference
    orders, value = FOLDER_KINDS[reference.kind].prior(reference.facts)
    return [*orders, call("finish", value=list(value))]


def eager(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Act by the question alone: order as if the chart called for it, and guess its value.

    What the prior leaves undone earns part of a credit where it was called for, and what that is
    worth on average belongs to the chance that is taken off.
    """
    facts = instance.reference.facts
    decision = FOLDER_KINDS[instance.reference.kind].assumed(facts)
    if decision is None:
        return prior(instance, rng)
    orders = orders_of(facts.patient, facts.now, decision)
    return [*orders, call("finish", value=example_answer(decision.answer))]


def flood(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Order whatever the question names a code for, as drug and as service, and answer -1."""
    facts = instance.reference.facts
    orders = []
    for code in facts.codes.values():
        orders.append(
            call("create_service_request", patient=facts.patient, code=code, priority="stat")
        )
        orders.append(call("create_medication_request", patient=facts.patient, code=code))
    return [*orders, call("finish", value=[-1])]


def finish_empty(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Answer nothing."""
    return [call("finish", value=[])]


def finish_minus_one(instance: FhirInstance, rng: np.random.Generator) -> Script:
    """Answer -1."""
    return [call("finish", value=[-1])]


def orders_of(patient: str, now: datetime, decision: Decision) -> Iterator[ToolCall]:
    """Yield the calls that make the record as the decision wants it.

    Args:
        patient: Whom the orders name; empty if that chart is open.
        now: When the question is asked.
        decision: The decision.
    """
    for spec in decision.orders:
        yield order_call(patient, now, spec)
    for order_id in sorted(decision.stops, key=lambda text: (len(text), text)):
        yield call("stop_medication_request", id=order_id)


def order_call(patient: str, now: datetime, spec: OrderSpec) -> ToolCall:
    """Return the call that meets an order specification."""
    arguments: dict[str, object] = {"patient": patient} if patient else {}
    if spec.resource_type == "Observation":
        arguments |= {"flowsheet": spec.codes[0], "value": spec.value}
        return ToolCall("record_observation", arguments)
    code = spec.codes[0] if spec.codes else ""
    optional: dict[str, object] = {"code": code, "system": spec.system}
    if spec.resource_type == "MedicationRequest":
        optional |= {
            "medication": spec.text or " ".join(spec.words),
            "route": spec.route,
            "frequency": spec.frequency,
        }
        if spec.dose:
            optional |= {"dose": spec.dose.value, "dose_unit": spec.dose.unit}
        if spec.hours:
            optional |= {"rate": spec.hours, "rate_unit": "h"}
        if not code:
            del optional["system"]
        name = "create_medication_request"
    else:
        optional |= {
            "text": spec.text or " ".join(spec.words),
            "priority": spec.priority,
            "note": spec.note,
            "occurrence": _planned(now, *spec.occurrence) if spec.occurrence else "",
        }
        name = "create_service_request"
    return ToolCall(name, arguments | {key: value for key, value in optional.items() if value})


def _planned(now: datetime, earliest: datetime, latest: datetime) -> str:
    """Return the time a careful agent writes: the middle of a window, the start of an hour."""
    short = latest - earliest < timedelta(hours=1)
    moment = earliest if short else earliest + (latest - earliest) / 2
    if moment.date() - now.date() == timedelta(days=1):
        return f"tomorrow {moment:%H:%M}"
    return moment.isoformat()
