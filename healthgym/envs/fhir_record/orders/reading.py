"""Reading a written order whole: what it says in every element, against what is asked for.

What agents write with tools is stored as FHIR, too, so there is one reading for both. An order is
right if each element that matters says what is asked, every other one is left out or agrees, and
nothing in it stays unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from datetime import datetime, timedelta

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.fhir_record.orders.denial import denies
from healthgym.envs.fhir_record.orders.dosage import dosage_faults
from healthgym.envs.fhir_record.orders.extent import (
    courses_of,
    dispensing_faults,
)
from healthgym.envs.fhir_record.orders.instructions import asks_otherwise
from healthgym.envs.fhir_record.orders.items import (
    fits_code,
    has_name,
    is_right_code,
    item_of,
    names_in,
    names_service,
)
from healthgym.envs.fhir_record.orders.language import is_foreign
from healthgym.envs.fhir_record.orders.measurements import parts_agree
from healthgym.envs.fhir_record.orders.periods import in_reach, read_period
from healthgym.envs.fhir_record.orders.quantities import filler
from healthgym.envs.fhir_record.orders.remarks import (
    changes_order,
    clauses,
    is_for_others,
    puts_off,
    says_otherwise,
)
from healthgym.envs.fhir_record.orders.shorthand import written_out
from healthgym.envs.fhir_record.orders.words import (
    has_modifier,
    inlined,
    is_one_of,
    listed,
    objects,
    texts_in,
    unknown_elements,
)
from healthgym.envs.fhir_record.task import BASE_URL, OrderSpec
from healthgym.envs.fhir_record.view import concept_text, parse_time

_PRIORITIES = frozenset({"routine", "urgent", "asap", "stat"})
#: Longest an appointment for one moment may take.
_APPOINTMENT = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
#: Elements that are read by themselves; the words of all others must not contradict.
_READ = frozenset({"code", "medicationCodeableConcept", "subject", "contained", "note", "text"})
#: Elements that say of what a service is done, and what is wrong where they name something else.
_PARTS = {"bodySite": "body site", "specimen": "specimen"}
#: Elements that hold sentences.
_ADDRESSED = ("note", "reasonCode", "patientInstruction", "additionalInstruction", "orderDetail")
_READ_OF_DOSAGE = frozenset({"text", "route", "timing", "doseAndRate"})


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
    yield from _words(spec, resource, begin)


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
    if spec.note:
        yield from _note(spec, resource)


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


def _note(spec: OrderSpec, resource: JsonObject) -> Iterator[str]:
    """Yield a fault unless the note holds the text that was dictated, and nothing against it."""
    wanted = _squeeze(spec.note)
    notes, reasons = _notes(resource), _reasons(resource)
    if not any(wanted in _squeeze(text) for text in (*notes, *reasons)):
        yield "note"
    authors = set(texts_in([one.get("authorString") for one in objects(resource.get("note"))]))
    for text in (*notes, *reasons):
        rest = _without(text, spec.note)
        words = {word.strip(".,:;!'\"()-") for word in rest.lower().split()} - {""}
        dictated = spec.verbatim and text in notes and text not in authors
        if dictated and not words <= filler("courtesy"):
            yield "note"
        if denies(spec, written_out(rest)):
            yield "note"


def _notes(resource: JsonObject) -> list[str]:
    return [text for text in texts_in(resource.get("note")) if text.strip()]


def _reasons(resource: JsonObject) -> list[str]:
    reasons = [resource.get("reasonCode"), resource.get("reasonReference")]
    return [text for text in texts_in(reasons) if text.strip()]


def _without(text: str, part: str) -> str:
    """Return a text less a part of it, wherever its letters stand, spacing and case aside."""
    letters = r"\s*".join(re.escape(letter) for letter in "".join(part.split()))
    return re.sub(letters, " . ", text, flags=re.IGNORECASE) if letters else text


# -- words beside it -------------------------------------------------------------------------------


def _words(spec: OrderSpec, resource: JsonObject, begin: datetime) -> Iterator[str]:
    """Yield a fault for each free text that takes the order back, or says something else."""
    if any(is_foreign(_without(text, spec.note)) for text in _addressed(resource)):
        yield "language"
    reasons = [*_notes(resource), *_reasons(resource)]
    told = [written_out(text) for text in _told(resource) if text not in reasons]
    explained = [written_out(text) for text in reasons]
    latest = spec.occurrence[1] if spec.occurrence else begin + max(spec.within, _DAY)
    # A note that is asked for has been read by itself.
    for text in told if spec.note else [*told, *explained]:
        if denies(spec, text):
            yield "words"
    for text in (*told, *explained):
        if puts_off(text, begin, latest + _DAY) or is_for_others(text):
            yield "words"
    for text in (*told, *explained):
        said = _without(text, written_out(spec.note)) if spec.note else text
        if asks_otherwise(spec, clauses(said)) or changes_order(spec, said):
            yield "words"
    if spec.dose:
        for text in told:
            if says_otherwise(spec, text):
                yield "words"
        for text in explained:
            if says_otherwise(spec, text, explains=True):
                yield "words"
    if spec.resource_type == "ServiceRequest":
        name = item_of(spec).names[0]
        for key, part in _PARTS.items():
            sites = list(texts_in(resource.get(key)))
            bare = key == "bodySite" and resource.get(key) and not sites
            if bare or not all(names_service(spec, f"{site} {name}", begin) for site in sites):
                yield part
        if "refer" in item_of(spec).words:
            kinds = texts_in(resource.get("performerType"))
            if not all(names_service(spec, f"{kind} {name}", begin) for kind in kinds):
                yield "performer"


def _addressed(resource: JsonObject) -> Iterator[str]:
    """Yield the words that somebody is to read and act on, and no names of people and places."""
    for part in (resource, *objects(resource.get("dosageInstruction"))):
        yield from texts_in([part[key] for key in _ADDRESSED if key in part])


def _told(resource: JsonObject) -> Iterator[str]:
    """Yield the words of all elements that are not read by themselves."""
    for key, value in resource.items():
        if key == "dosageInstruction":
            for dosage in objects(value):
                yield from texts_in({k: v for k, v in dosage.items() if k not in _READ_OF_DOSAGE})
                yield from texts_in([one.get("type") for one in objects(dosage.get("doseAndRate"))])
        elif key == "text":
            yield from texts_in(value)
        elif key == "courseOfTherapyType" and courses_of(value):
            continue
        elif key not in _READ:
            yield from texts_in({key: value})


def _value(value: object) -> str:
    return _squeeze(value).replace("mm[hg]", "mmhg")


def _squeeze(value: object) -> str:
    return "".join(value.split()).lower() if isinstance(value, str) else ""
