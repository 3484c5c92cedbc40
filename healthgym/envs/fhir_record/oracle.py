"""From a decision to the calls that carry it out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.kinds.base import TaskKind, example_answer
from healthgym.envs.fhir_record.task import Decision, Facts, OrderSpec


def solve(kind: TaskKind, facts: Facts, decision: Decision) -> tuple[ToolCall, ...]:
    """Return the look-ups, the orders, the stops and the finish value of a perfect agent."""
    lookups = tuple(kind.lookups(facts, decision))
    opened = any("patient" in lookup.arguments for lookup in lookups)
    return (
        *lookups,
        *orders_of("" if opened else facts.patient, facts.now, decision),
        call("finish", value=example_answer(decision.answer)),
    )


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
            "route": spec.routes[0] if spec.routes else "",
            "frequency": spec.frequencies[0] if spec.frequencies else "",
        }
        if spec.dose:
            optional |= {"dose": spec.dose.value, "dose_unit": spec.dose.written}
        if spec.rate:
            optional |= {"rate": spec.rate.value, "rate_unit": spec.rate.written}
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
