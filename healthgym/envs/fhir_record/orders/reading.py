"""Reading a written order whole: what it says in every element, against what is asked for.

What agents write with tools is stored as FHIR, too, so there is one reading for both. An order is
right if each element that matters says what is asked, every other one is left out or agrees, and
nothing in it stays unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from datetime import datetime, timedelta

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.fhir_record.orders.beside import part_faults, word_faults
from healthgym.envs.fhir_record.orders.dosage import dosage_faults
from healthgym.envs.fhir_record.orders.extent import dispensing_faults
from healthgym.envs.fhir_record.orders.items import (
    fits_code,
    has_name,
    is_right_code,
    names_in,
    names_service,
)
from healthgym.envs.fhir_record.orders.measurements import parts_agree
from healthgym.envs.fhir_record.orders.periods import in_reach, read_period
from healthgym.envs.fhir_record.orders.words import (
    has_modifier,
    inlined,
    is_one_of,
    listed,
    objects,
    unknown_elements,
)
from healthgym.envs.fhir_record.task import BASE_URL, OrderSpec
from healthgym.envs.fhir_record.view import concept_text, parse_time

_PRIORITIES = frozenset({"routine", "urgent", "asap", "stat"})
#: Longest an appointment for one moment may take.
_APPOINTMENT = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


def identifies(spec: OrderSpec, resource: JsonObject) -> bool:
    """Return whether a resource is meant as this order, right or wrong in its details."""
    if resource.get("resourceType") != spec.resource_type:
        return False
    resource = inlined(resource)
    concept = _concept(resource)
    codings = objects(concept.get("coding")) if isinstance(concept, dict) else []
    if {str(coding.get("code")) for coding in codings} & set(spec.codes):
        return True
    if spec.resource_type == "Observation" and concept_text(concept) in spec.codes:
        return True
    texts = " ".join(names_in(concept)).lower()
    return bool(spec.words) and (
        all(word.lower() in texts for word in spec.words) or has_name(spec, texts)
    )


def faults(
    spec: OrderSpec,
    resource: JsonObject,
    patient: str,
    begin: datetime,
    end: datetime,
    names: Set[str] = frozenset(),
) -> list[str]:
    """Return what is wrong with a resource that is meant as an order.

    Args:
        spec: The order asked for.
        resource: The resource written.
        patient: Id of the Patient it must be about.
        begin: When the question was asked.
        end: When the episode stood at its last write.
        names: Words of the patient's name, lower case; any name is accepted if empty.
    """
    return sorted(set(_faults(spec, inlined(resource), patient, begin, end, names)))


def _faults(
    spec: OrderSpec,
    resource: JsonObject,
    patient: str,
    begin: datetime,
    end: datetime,
    names: Set[str],
) -> Iterator[str]:
    if not is_about(resource, patient) or not _is_named(resource, patient, names):
        yield "subject"
    if unknown_elements(resource, spec.resource_type) or has_modifier(resource):
        yield "elements"
    if resource.get("contained"):
        yield "elements"
    yield from _standing(spec, resource)
    if not _is_dated(spec, resource, begin, end):
        yield "time"
    yield from _concept_faults(spec, resource, begin)
    if spec.resource_type == "MedicationRequest":
        yield from dosage_faults(spec, resource, begin)
        yield from dispensing_faults(spec, resource, begin)
    if spec.resource_type == "ServiceRequest":
        yield from _service(spec, resource, begin)
    if "component" in resource and not parts_agree(spec.value, resource["component"]):
        yield "components"
    if spec.value and _value(resource.get("valueString")) != _value(spec.value):
        yield "value"
    yield from word_faults(spec, resource, begin, names | {patient.lower()})


def _concept(resource: JsonObject) -> object:
    return resource.get("medicationCodeableConcept") or resource.get("code")


# -- whom it is about, and whether it stands -------------------------------------------------------


def is_about(resource: JsonObject, patient: str) -> bool:
    """Return whether a resource's subject is a patient of this record system."""
    subject = resource.get("subject")
    reference = subject.get("reference") if isinstance(subject, dict) else None
    if not isinstance(reference, str):
        return False
    local = reference.removeprefix(BASE_URL).partition("/_history/")[0]
    return local == f"Patient/{patient}"


def _is_named(resource: JsonObject, patient: str, names: Set[str]) -> bool:
    """Return whether what stands beside the reference agrees with it."""
    subject = resource["subject"]
    if subject.get("type", "Patient") != "Patient":
        return False
    identifier = subject.get("identifier")
    if identifier is not None:
        value = identifier.get("value") if isinstance(identifier, dict) else None
        if value not in (None, patient):
            return False
    shown = subject.get("display")
    if shown is None or not names:
        return True
    if not isinstance(shown, str):
        return False
    words = {word.strip(".,()") for word in shown.lower().replace(",", " ").split()}
    return words <= names | {patient.lower(), "mrn", "mr", "mrs", "ms", "patient", ""}


def _standing(spec: OrderSpec, resource: JsonObject) -> Iterator[str]:
    if spec.resource_type == "Observation":
        if resource.get("status") != "final":
            yield "status"
        categories = [objects(kind.get("coding")) for kind in objects(resource.get("category"))]
        if [[c.get("code") for c in codings] for codings in categories] != [["vital-signs"]]:
            yield "category"
        return
    if resource.get("status") != "active":
        yield "status"
    if resource.get("intent") != "order":
        yield "intent"
    if resource.get("doNotPerform") not in (None, False):
        yield "do not perform"
    if resource.get("reportedBoolean") not in (None, False) or "reportedReference" in resource:
        yield "reported"
    priority = resource.get("priority")
    if spec.priority and priority != spec.priority:
        yield "priority"
    if priority is not None and not is_one_of(priority, _PRIORITIES):
        yield "priority"


def _is_dated(spec: OrderSpec, resource: JsonObject, begin: datetime, end: datetime) -> bool:
    """Return whether it is dated within the episode; an order need not say when it is written."""
    measured = spec.resource_type == "Observation"
    dates = ("effectiveDateTime", "effectiveInstant") if measured else ("authoredOn",)
    given = [resource[name] for name in (*dates, "issued") if name in resource]
    if measured and not any(name in resource for name in dates):
        return False
    begin = begin.replace(second=0, microsecond=0)
    for value in given:
        moment = parse_time(value) if isinstance(value, str) else None
        if moment is None or not in_reach(moment, begin, end + _MINUTE):
            return False
    return True


# -- what is ordered -------------------------------------------------------------------------------


def _concept_faults(spec: OrderSpec, resource: JsonObject, begin: datetime) -> Iterator[str]:
    concept = _concept(resource)
    if not isinstance(concept, dict) or "medicationReference" in resource:
        yield "code"
        return
    codings = listed(concept.get("coding"))
    right = [c for c in codings if isinstance(c, dict) and is_right_code(spec, c)]
    if spec.codes and not right and not _is_flowsheet(spec, concept):
        yield "code system"
    if not all(isinstance(c, dict) and fits_code(spec, c) for c in codings):
        yield "code"
    if spec.resource_type == "MedicationRequest":
        return  # its names are read together with its dosage
    texts = [text for text in names_in(concept) if text not in spec.codes]
    if not all(names_service(spec, text, begin) for text in texts):
        yield "name"


def _is_flowsheet(spec: OrderSpec, concept: JsonDict) -> bool:
    """Return whether a measurement is filed by the text of its flowsheet, as charts do here."""
    return spec.resource_type == "Observation" and concept.get("text") in spec.codes


# -- services --------------------------------------------------------------------------------------


def _service(spec: OrderSpec, resource: JsonObject, begin: datetime) -> Iterator[str]:
    if (
        resource.get("asNeededBoolean") not in (None, False)
        or "asNeededCodeableConcept" in resource
    ):
        yield "as needed"
    quantity = resource.get("quantityQuantity")
    if quantity is not None and (not isinstance(quantity, dict) or quantity.get("value") != 1):
        yield "quantity"
    if not _is_planned(spec, resource, begin):
        yield "planned time"
    yield from part_faults(spec, resource, begin)


def _is_planned(spec: OrderSpec, resource: JsonObject, begin: datetime) -> bool:
    """Return whether it is planned once, when it is due; at once need not be said."""
    earliest, latest = spec.occurrence or (begin, begin + spec.within)
    named = [name for name in resource if name.startswith("occurrence")]
    if not named:
        return spec.occurrence is None
    if len(named) > 1:
        return False
    value = resource[named[0]]
    if named[0] == "occurrencePeriod":
        ends = read_period(value)
        if ends is None or ends[0] is None:
            return False
        end = ends[1]
        in_time = end is None or in_reach(end, earliest, latest + _APPOINTMENT)
        return in_reach(ends[0], earliest, latest) and in_time
    if named[0] == "occurrenceTiming":
        events = listed(value.get("event")) if isinstance(value, dict) else []
        if len(events) != 1 or value.keys() != {"event"}:
            return False
        value = events[0]
    moment = parse_time(value) if isinstance(value, str) else None
    if moment is None:
        return False
    if spec.occurrence is not None and latest - earliest < _APPOINTMENT:
        return earliest <= moment <= latest
    return in_reach(moment, earliest, latest)


def _value(value: object) -> str:
    plain = "".join(value.split()).lower() if isinstance(value, str) else ""
    return plain.replace("mm[hg]", "mmhg")
