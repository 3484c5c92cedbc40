"""Whether a written resource is the one an order specification asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from healthgym.core.borders import JsonDict
from healthgym.envs.fhir_record.task import OrderSpec
from healthgym.envs.fhir_record.view import concept_text, parse_time

Resource = JsonDict


def identifies(spec: OrderSpec, resource: Resource) -> bool:
    """Return whether a resource is meant as this order, right or wrong in its details."""
    if resource.get("resourceType") != spec.resource_type:
        return False
    concept = resource.get("medicationCodeableConcept") or resource.get("code")
    found = set(codes_of(concept))
    words = concept_text(concept).lower()
    if spec.resource_type == "Observation":
        found.add(concept_text(concept))
    if spec.codes and found & set(spec.codes):
        return True
    return bool(spec.words) and all(word.lower() in words for word in spec.words)


def faults(
    spec: OrderSpec, resource: Resource, patient: str, begin: datetime, end: datetime
) -> list[str]:
    """Return what is wrong with a resource that is meant as an order.

    Args:
        spec: The order asked for.
        resource: The resource written.
        patient: Id of the Patient it must be about.
        begin: When the question was asked.
        end: When the episode stood at its last write.
    """
    return list(_faults(spec, resource, patient, begin, end))


def _faults(
    spec: OrderSpec, resource: Resource, patient: str, begin: datetime, end: datetime
) -> Iterator[str]:
    if not is_about(resource, patient):
        yield "subject"
    yield from _standing(spec, resource)
    when = resource.get("effectiveDateTime" if _measured(spec) else "authoredOn")
    moment = parse_time(when) if isinstance(when, str) else None
    if moment is None or not begin <= moment <= end:
        yield "time"
    if spec.system and spec.codes and not _has_system(spec, resource):
        yield "code system"
    if spec.value and _squeeze(resource.get("valueString")) != _squeeze(spec.value):
        yield "value"
    yield from _dosage(spec, resource)
    if spec.priority and resource.get("priority") != spec.priority:
        yield "priority"
    if spec.note and _squeeze(spec.note) not in _squeeze(" ".join(note_texts(resource))):
        yield "note"
    if spec.occurrence:
        planned = resource.get("occurrenceDateTime")
        at = parse_time(planned) if isinstance(planned, str) else None
        if at is None or not spec.occurrence[0] <= at <= spec.occurrence[1]:
            yield "planned time"


def _standing(spec: OrderSpec, resource: Resource) -> Iterator[str]:
    if _measured(spec):
        if resource.get("status") != "final":
            yield "status"
        if "vital-signs" not in {c for k in _list(resource.get("category")) for c in codes_of(k)}:
            yield "category"
        return
    if resource.get("status") != "active":
        yield "status"
    if resource.get("intent") != "order":
        yield "intent"


def _dosage(spec: OrderSpec, resource: Resource) -> Iterator[str]:
    dosages = [d for d in _list(resource.get("dosageInstruction")) if isinstance(d, dict)]
    rates = [r for d in dosages for r in _list(d.get("doseAndRate")) if isinstance(r, dict)]
    if spec.dose and not any(spec.dose.accepts(r.get("doseQuantity")) for r in rates):
        yield "dose"
    if spec.rate and not any(spec.rate.accepts(r.get("rateQuantity")) for r in rates):
        yield "rate"
    if spec.routes and not _names(spec.routes, (d.get("route") for d in dosages)):
        yield "route"
    timings = ((d.get("timing") or {}).get("code") for d in dosages if _is_timed(d))
    if spec.frequencies and not _names(spec.frequencies, timings):
        yield "frequency"


def _is_timed(dosage: Resource) -> bool:
    return isinstance(dosage.get("timing"), dict)


def _names(accepted: Iterable[str], concepts: Iterable[object]) -> bool:
    """Return whether a concept, or a bare string in its place, is one of the accepted words."""
    wanted = {word.lower() for word in accepted}
    for concept in concepts:
        text = concept if isinstance(concept, str) else concept_text(concept)
        if text.strip().lower() in wanted or wanted & {c.lower() for c in codes_of(concept)}:
            return True
    return False


def is_about(resource: Resource, patient: str) -> bool:
    """Return whether a resource's subject is a patient."""
    subject = resource.get("subject")
    reference = subject.get("reference") if isinstance(subject, dict) else None
    return reference == f"Patient/{patient}"


def codes_of(concept: object) -> list[str]:
    """Return the codes of a CodeableConcept."""
    codings = _list(concept.get("coding")) if isinstance(concept, dict) else []
    return [str(c["code"]) for c in codings if isinstance(c, dict) and "code" in c]


def note_texts(resource: Resource) -> list[str]:
    """Return the free texts of an order: its notes and its reasons."""
    texts = [n.get("text") for n in _list(resource.get("note")) if isinstance(n, dict)]
    texts += [concept_text(reason) for reason in _list(resource.get("reasonCode"))]
    references = _list(resource.get("reasonReference"))
    texts += [r.get("display") for r in references if isinstance(r, dict)]
    return [text for text in texts if isinstance(text, str)]


def _has_system(spec: OrderSpec, resource: Resource) -> bool:
    concept = resource.get("medicationCodeableConcept") or resource.get("code")
    codings = _list(concept.get("coding")) if isinstance(concept, dict) else []
    return any(
        isinstance(c, dict) and c.get("system") == spec.system and c.get("code") in spec.codes
        for c in codings
    )


def _measured(spec: OrderSpec) -> bool:
    return spec.resource_type == "Observation"


def _list(value: object) -> list[Any]:
    """Return a list; FHIR's lists are sometimes sent as their only element."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _squeeze(value: object) -> str:
    return "".join(value.split()).lower() if isinstance(value, str) else ""
