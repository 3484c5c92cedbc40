"""The words beside an order, in every element that is not read by itself.

They may state anything and ask for nothing but the order; what was dictated for a note has to
stand in it, and is read no further.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from datetime import datetime, timedelta

from healthgym.core.borders import JsonObject
from healthgym.envs.fhir_record.orders.denial import denies
from healthgym.envs.fhir_record.orders.dictated import beside, holds
from healthgym.envs.fhir_record.orders.extent import courses_of
from healthgym.envs.fhir_record.orders.instructions import asks_otherwise
from healthgym.envs.fhir_record.orders.items import item_of, names_service
from healthgym.envs.fhir_record.orders.language import is_foreign
from healthgym.envs.fhir_record.orders.measurements import corrects
from healthgym.envs.fhir_record.orders.people import names_another
from healthgym.envs.fhir_record.orders.phrases import put_plainly
from healthgym.envs.fhir_record.orders.quantities import filler
from healthgym.envs.fhir_record.orders.remarks import (
    changes_order,
    clauses,
    is_for_others,
    puts_off,
    says_otherwise,
)
from healthgym.envs.fhir_record.orders.shorthand import written_out
from healthgym.envs.fhir_record.orders.withdrawn import withdraws
from healthgym.envs.fhir_record.orders.words import (
    extensions_in,
    objects,
    texts_in,
    withheld_codes,
)
from healthgym.envs.fhir_record.task import OrderSpec

_DAY = timedelta(days=1)
#: Elements that are read by themselves; the words of all others must not contradict.
_READ = frozenset({"code", "medicationCodeableConcept", "subject", "contained", "note", "text"})
_READ_OF_DOSAGE = frozenset({"text", "route", "timing", "doseAndRate"})
#: Elements that hold sentences.
_ADDRESSED = ("note", "reasonCode", "patientInstruction", "additionalInstruction", "orderDetail")
#: Elements that say of what a service is done, or how, and what is wrong where they say otherwise.
_PARTS = {"bodySite": "body site", "specimen": "specimen", "orderDetail": "order detail"}


def part_faults(spec: OrderSpec, resource: JsonObject, begin: datetime) -> Iterator[str]:
    """Yield what is wrong with the parts of a service, and with a note that was dictated.

    Args:
        spec: The order.
        resource: The ServiceRequest.
        begin: When the question was asked.
    """
    if spec.note:
        yield from _note(spec, resource)
    name = item_of(spec).names[0]
    for key, part in _PARTS.items():
        said = list(texts_in(resource.get(key)))
        bare = key == "bodySite" and resource.get(key) and not said
        if bare or not all(names_service(spec, f"{text} {name}", begin) for text in said):
            yield part
    if "refer" in item_of(spec).words:
        kinds = texts_in(resource.get("performerType"))
        if not all(names_service(spec, f"{kind} {name}", begin) for kind in kinds):
            yield "performer"


def word_faults(
    spec: OrderSpec, resource: JsonObject, begin: datetime, names: Set[str]
) -> Iterator[str]:
    """Yield a fault for each free text that takes the order back, or says something else.

    Args:
        spec: The order.
        resource: The resource written.
        begin: When the question was asked.
        names: Words of the patient's name and id, lower case.
    """
    reasons = [*_notes(resource), *_reasons(resource)]
    raw = [text for text in _told(resource) if text not in reasons]
    if any(is_foreign(beside(text, spec.note)) for text in _addressed(resource)):
        yield "language"
    if any(names_another(beside(text, spec.note), names) for text in (*raw, *reasons)):
        yield "subject"
    if withheld_codes(resource):
        yield "words"
    told = [written_out(beside(text, spec.note)) for text in raw]
    explained = [written_out(beside(text, spec.note)) for text in reasons]
    if any(withdraws(spec, text) for text in (*told, *explained)):
        yield "words"
    told = [put_plainly(spec, text) for text in told]
    explained = [put_plainly(spec, text) for text in explained]
    latest = spec.occurrence[1] if spec.occurrence else begin + max(spec.within, _DAY)
    # A note that is asked for has been read by itself.
    for text in told if spec.note else [*told, *explained]:
        if denies(spec, text):
            yield "words"
    for text in (*told, *explained):
        if puts_off(text, begin, latest + _DAY) or is_for_others(text):
            yield "words"
        if asks_otherwise(spec, clauses(text), begin) or changes_order(spec, text):
            yield "words"
    if spec.value and any(corrects(spec.value, text) for text in (*told, *explained)):
        yield "value"
    if spec.dose:
        for text in told:
            if says_otherwise(spec, text):
                yield "words"
        for text in explained:
            if says_otherwise(spec, text, explains=True):
                yield "words"


def _note(spec: OrderSpec, resource: JsonObject) -> Iterator[str]:
    """Yield a fault unless the note holds the text that was dictated, and nothing against it."""
    notes, reasons = _notes(resource), _reasons(resource)
    if not any(holds(text, spec.note) for text in (*notes, *reasons)):
        yield "note"
    authors = set(texts_in([one.get("authorString") for one in objects(resource.get("note"))]))
    for text in (*notes, *reasons):
        rest = beside(text, spec.note)
        words = {
            word.strip(".,:;!'\"()-*\u2018\u2019\u201c\u201d\u2022")
            for word in rest.lower().split()
        }
        dictated = spec.verbatim and text in notes and text not in authors
        if dictated and not words - {""} <= filler("courtesy"):
            yield "note"
        if denies(spec, put_plainly(spec, written_out(rest))):
            yield "note"


def _notes(resource: JsonObject) -> list[str]:
    return [text for text in texts_in(resource.get("note")) if text.strip()]


def _reasons(resource: JsonObject) -> list[str]:
    reasons = [resource.get("reasonCode"), resource.get("reasonReference")]
    return [text for text in texts_in(reasons) if text.strip()]


def _addressed(resource: JsonObject) -> Iterator[str]:
    """Yield the words that somebody is to read and act on, and no names of people and places."""
    for part in (resource, *objects(resource.get("dosageInstruction"))):
        yield from texts_in([part[key] for key in _ADDRESSED if key in part])


def _told(resource: JsonObject) -> Iterator[str]:
    """Yield the words of all elements that are not read by themselves, and of their extensions."""
    for key, value in resource.items():
        if key == "dosageInstruction":
            for dosage in objects(value):
                yield from texts_in({k: v for k, v in dosage.items() if k not in _READ_OF_DOSAGE})
                yield from texts_in([one.get("type") for one in objects(dosage.get("doseAndRate"))])
                for part in _READ_OF_DOSAGE & dosage.keys():
                    yield from texts_in(list(extensions_in(dosage[part])))
        elif key == "text":
            yield from texts_in(value)
        elif key == "courseOfTherapyType" and courses_of(value):
            continue
        elif key not in _READ:
            yield from texts_in({key: value})
        else:
            yield from texts_in(list(extensions_in(value)))
