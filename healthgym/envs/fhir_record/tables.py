"""Resources as the short tables a clinician reads, instead of a kilobyte of JSON each."""

from __future__ import annotations

import json
from collections.abc import Callable

from healthgym.core.borders import JsonDict
from healthgym.envs.fhir_record.view import concept_text
from healthgym.worlds.fhir.store import SearchResult

Resource = JsonDict


def table(result: SearchResult, row: Callable[[Resource], str], what: str) -> str:
    """Return a page of a search as lines, with how many there are and how to read on."""
    if not result.resources:
        return f"No {what}." if result.offset == 0 else f"No more {what}."
    lines = [row(resource) for resource in result.resources]
    last = result.offset + len(lines)
    if result.next:
        of = "" if result.total is None else f" of {result.total}"
        lines.append(f"({result.offset + 1}-{last}{of}; more: next_page {result.next})")
    return "\n".join(lines)


def observation_row(resource: Resource) -> str:
    """Return time, code and value of an Observation."""
    parts = [str(resource.get("effectiveDateTime", "undated")), coded(resource.get("code"))]
    parts.append(observation_value(resource))
    return " ".join(part for part in parts if part)


def observation_value(resource: Resource) -> str:
    """Return the value of an Observation, its components included, as text."""
    quantity = resource.get("valueQuantity")
    if isinstance(quantity, dict):
        return f"{_plain(quantity.get('value'))} {quantity.get('unit', '')}".strip()
    if "valueString" in resource:
        return str(resource["valueString"])
    if "valueCodeableConcept" in resource:
        return concept_text(resource["valueCodeableConcept"])
    parts = resource.get("component") or []
    return "; ".join(f"{concept_text(p.get('code'))} {observation_value(p)}" for p in parts)


def medication_row(resource: Resource) -> str:
    """Return id, date, status, text and dosage of a MedicationRequest."""
    dosage = (resource.get("dosageInstruction") or [{}])[0]
    dosage = dosage if isinstance(dosage, dict) else {}
    route, timing = dosage.get("route"), (dosage.get("timing") or {}).get("code")
    amount = ((dosage.get("doseAndRate") or [{}])[0] or {}).get("doseQuantity") or {}
    parts = [
        f"id {resource.get('id')}",
        str(resource.get("authoredOn", "undated")),
        str(resource.get("status", "")),
        concept_text(resource.get("medicationCodeableConcept")),
        f"{_plain(amount.get('value'))} {amount.get('unit', '')}" if amount else "",
        route if isinstance(route, str) else concept_text(route),
        concept_text(timing),
    ]
    return " | ".join(part.strip() for part in parts if part and part.strip())


def procedure_row(resource: Resource) -> str:
    """Return time, code and text of a Procedure."""
    period = resource.get("performedPeriod") or {}
    when = resource.get("performedDateTime") or period.get("end") or period.get("start")
    return f"{when or 'undated'} {coded(resource.get('code'), full=True)}"


def immunization_row(resource: Resource) -> str:
    """Return time, code and text of an Immunization, and its status unless it was given."""
    status = str(resource.get("status", ""))
    parts = [
        str(resource.get("occurrenceDateTime") or resource.get("occurrenceString") or "undated"),
        coded(resource.get("vaccineCode"), full=True),
        "" if status == "completed" else f"({status})",
    ]
    return " ".join(part for part in parts if part)


def condition_row(resource: Resource) -> str:
    """Return onset, code and text of a Condition."""
    when = resource.get("onsetDateTime") or resource.get("recordedDate") or "undated"
    return f"{when} {coded(resource.get('code'), full=True)}"


def service_request_row(resource: Resource) -> str:
    """Return id, date, status, code and planned time of a ServiceRequest."""
    planned = resource.get("occurrenceDateTime")
    parts = [
        f"id {resource.get('id')}",
        str(resource.get("authoredOn", "undated")),
        str(resource.get("status", "")),
        coded(resource.get("code"), full=True),
        f"for {planned}" if planned else "",
    ]
    return " | ".join(part for part in parts if part)


def patient_row(resource: Resource) -> str:
    """Return record number, name, birth date and sex of a Patient."""
    names = resource.get("name") or [{}]
    name = names[0] if isinstance(names[0], dict) else {}
    full = f"{' '.join(name.get('given') or [])} {name.get('family', '')}".strip()
    parts = [record_number(resource), full, str(resource.get("birthDate", ""))]
    return " | ".join([*parts, str(resource.get("gender", ""))])


def record_number(resource: Resource) -> str:
    """Return the medical record number of a Patient; its id where it has none."""
    for identifier in resource.get("identifier") or []:
        codings = (identifier.get("type") or {}).get("coding") or []
        if any(coding.get("code") == "MR" for coding in codings) and identifier.get("value"):
            return str(identifier["value"])
    return str(resource.get("id", ""))


def coded(concept: object, *, full: bool = False) -> str:
    """Return the codes of a CodeableConcept, with its text where that says more.

    Args:
        concept: The CodeableConcept.
        full: Whether the text is wanted beside a code.
    """
    codings = concept.get("coding") or [] if isinstance(concept, dict) else []
    codes = ",".join(str(c["code"]) for c in codings if isinstance(c, dict) and c.get("code"))
    text = concept_text(concept)
    if not codes or not full or text == codes:
        return codes or text
    return f"{codes} {text}"


def compact_json(value: object) -> str:
    """Return a resource as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
