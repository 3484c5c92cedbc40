"""How a row of each column table reads as a FHIR resource, and what a search may know of it.

The shapes, element order and quirks are those of the MedAgentBench server: a lab carries the
system of LOINC but a local base name as its code, a flowsheet vital has a text-only code, a string
value and no status, a Condition has neither category nor clinical status.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from healthgym.worlds.fhir.search.criteria import Criterion
from healthgym.worlds.fhir.search.values import IMPLIED, Token

ICD10 = "http://hl7.org/fhir/sid/icd-10"
LOINC = "http://loinc.org"
CPT = "http://www.ama-assn.org/go/cpt"
UCUM = "http://unitsofmeasure.org"
IDENTIFIER_TYPES = "http://terminology.hl7.org/CodeSystem/v2-0203"
LABORATORY = ("http://terminology.hl7.org/CodeSystem/observation-category", "laboratory")
VITAL_SIGNS = ("http://hl7.org/fhir/observation-category", "vital-signs")
INTERPRETATIONS = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation"
RACE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race"
ETHNICITY = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity"

#: A time that is not known, in a column of seconds since 1970.
NO_TIME = -(2**62)

Strings = list[str]
Resource = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Address:
    """A home address in the United States."""

    line: str
    city: str
    state: str
    postal_code: str


@dataclass(frozen=True, slots=True)
class PatientRow:
    """What the chart stores of one patient; the MRN is also the resource id."""

    mrn: str
    family: str
    given: str
    gender: str
    birth_date: date
    phone: str = ""
    address: Address | None = None
    race: str | None = None
    ethnicity: str | None = None


class FixedTokens(NamedTuple):
    """A token parameter that has the same values in every row of a table."""

    tokens: tuple[Token, ...]


class ColumnTokens(NamedTuple):
    """A token parameter whose values follow from one string column.

    Attributes:
        column: The column.
        tokens: From the string to the values it stands for.
        has_texts: Whether the texts are known too; if not (the display is in another column),
            ``:text`` is checked on the resource.
        has_system: Whether the system is known; if not (it is in another column), a condition
            that names one is checked on the resource.
    """

    column: str
    tokens: Callable[[str], tuple[Token, ...]]
    has_texts: bool = True
    has_system: bool = True

    def decides(self, criterion: Criterion) -> bool:
        """Say whether the column is enough to tell which rows meet ``criterion``."""
        if criterion.modifier == "text":
            return self.has_texts
        if self.has_system or criterion.modifier == "missing":
            return True
        return all(asked.system is None for asked in criterion.asked)


class DateColumns(NamedTuple):
    """A date parameter: the column of its start and, for periods, that of its end."""

    low: str
    high: str | None = None


@dataclass(frozen=True)
class TableSpec:
    """One table of the chart.

    Attributes:
        name: Name of the table and of its files.
        resource_type: Type of the resources its rows become.
        columns: Column names and numpy types, in the order of the builder's rows. The first is
            the patient; string columns hold positions in the base's string list.
        build: Completes a resource that has its id and meta, from ``(resource, strings, mrn,
            *row[1:])``.
        tokens: Token parameters that can be answered from the columns.
        dates: Date parameters that can be answered from the columns.
        others: Parameters that have values but are answered from the built resource. Every other
            parameter has no value in any row of this table.
    """

    name: str
    resource_type: str
    columns: Mapping[str, str]
    build: Callable[..., Resource]
    tokens: Mapping[str, FixedTokens | ColumnTokens] = field(default_factory=dict)
    dates: Mapping[str, DateColumns] = field(default_factory=dict)
    others: frozenset[str] = frozenset()


def iso(seconds: int) -> str:
    """Return seconds since 1970 as a FHIR dateTime with the offset written as ``+00:00``."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _subject(mrn: str) -> Resource:
    return {
        "reference": f"Patient/{mrn}",
        "identifier": {"system": IDENTIFIER_TYPES, "value": mrn},
    }


def _category(system: str, code: str, display: str) -> list[Resource]:
    return [{"coding": [{"system": system, "code": code, "display": display}]}]


def _condition(
    resource: Resource, strings: Strings, mrn: str, code: int, display: int, onset: int
) -> Resource:
    when = iso(onset)
    resource["code"] = {
        "coding": [{"system": ICD10, "code": strings[code], "display": strings[display]}]
    }
    resource["subject"] = _subject(mrn)
    resource["onsetDateTime"] = when
    resource["recordedDate"] = when
    return resource


def _lab(
    resource: Resource,
    strings: Strings,
    mrn: str,
    code: int,
    effective: int,
    value: float,
    unit: int,
    issued: int,
    interpretation: int,
) -> Resource:
    name = strings[code]
    resource["status"] = "final"
    resource["category"] = _category(*LABORATORY, "Laboratory")
    resource["code"] = {"coding": [{"system": LOINC, "code": name, "display": name}], "text": name}
    resource["subject"] = _subject(mrn)
    resource["effectiveDateTime"] = iso(effective)
    resource["issued"] = iso(issued)
    units = strings[unit]
    resource["valueQuantity"] = {
        "value": float(value),
        "unit": units,
        "system": UCUM,
        "code": units,
    }
    if flag := strings[interpretation]:
        display = flag.capitalize() if flag.isalpha() else flag
        resource["interpretation"] = _category(INTERPRETATIONS, flag, display)
    return resource


def _vital(
    resource: Resource, strings: Strings, mrn: str, name: int, effective: int, value: int
) -> Resource:
    resource["category"] = _category(*VITAL_SIGNS, "Vital Signs")
    resource["code"] = {"text": strings[name]}
    resource["subject"] = _subject(mrn)
    resource["effectiveDateTime"] = iso(effective)
    resource["valueString"] = strings[value]
    return resource


def _procedure(
    resource: Resource,
    strings: Strings,
    mrn: str,
    code: int,
    display: int,
    performed: int,
    end: int,
) -> Resource:
    text = strings[display]
    resource["code"] = {
        "coding": [{"system": CPT, "code": strings[code], "display": text}],
        "text": text,
    }
    resource["subject"] = _subject(mrn)
    if end == NO_TIME:
        resource["performedDateTime"] = iso(performed)
    else:
        resource["performedPeriod"] = {"start": iso(performed), "end": iso(end)}
    return resource


def _medication_request(
    resource: Resource,
    strings: Strings,
    mrn: str,
    text: int,
    authored: int,
    timing: int,
    route: int,
    dose: float,
    dose_unit: int,
    status: int,
) -> Resource:
    resource["status"] = strings[status]
    resource["intent"] = "order"
    resource["medicationCodeableConcept"] = {"text": strings[text]}
    resource["subject"] = _subject(mrn)
    resource["authoredOn"] = iso(authored)
    dosage: Resource = {}
    if strings[timing]:
        dosage["timing"] = {"code": {"text": strings[timing]}}
    if strings[route]:
        dosage["route"] = {"text": strings[route]}
    if not math.isnan(dose):
        quantity: Resource = {"value": int(dose) if dose == int(dose) else float(dose)}
        if strings[dose_unit]:
            quantity["unit"] = strings[dose_unit]
        dosage["doseAndRate"] = [{"doseQuantity": quantity}]
    if dosage:
        resource["dosageInstruction"] = [dosage]
    return resource


def _service_request(
    resource: Resource,
    strings: Strings,
    mrn: str,
    code: int,
    system: int,
    display: int,
    authored: int,
    status: int,
    intent: int,
    priority: int,
    occurrence: int,
    note: int,
) -> Resource:
    text = strings[display]
    resource["status"] = strings[status]
    resource["intent"] = strings[intent]
    if strings[priority]:
        resource["priority"] = strings[priority]
    coding = {"system": strings[system], "code": strings[code], "display": text}
    resource["code"] = {"coding": [{k: v for k, v in coding.items() if v}], "text": text}
    resource["subject"] = _subject(mrn)
    if occurrence != NO_TIME:
        resource["occurrenceDateTime"] = iso(occurrence)
    resource["authoredOn"] = iso(authored)
    if strings[note]:
        resource["note"] = [{"text": strings[note]}]
    return resource


def patient_resource(resource: Resource, row: PatientRow) -> Resource:
    """Complete a Patient that has its id and meta."""
    extensions = [
        {"url": url, "valueCodeableConcept": {"text": text}}
        for url, text in ((RACE, row.race), (ETHNICITY, row.ethnicity))
        if text
    ]
    if extensions:
        resource["extension"] = extensions
    kind = {"system": IDENTIFIER_TYPES, "code": "MR", "display": "Medical Record Number"}
    resource["identifier"] = [
        {
            "use": "usual",
            "type": {"coding": [kind], "text": "Medical Record Number"},
            "value": row.mrn,
        }
    ]
    resource["name"] = [{"use": "official", "family": row.family, "given": [row.given]}]
    if row.phone:
        resource["telecom"] = [{"system": "phone", "value": row.phone, "use": "home"}]
    resource["gender"] = row.gender
    resource["birthDate"] = row.birth_date.isoformat()
    if row.address is not None:
        resource["address"] = [
            {
                "use": "home",
                "line": [row.address.line],
                "city": row.address.city,
                "state": row.address.state,
                "postalCode": row.address.postal_code,
                "country": "US",
            }
        ]
    return resource


def _coded(system: str) -> Callable[[str], tuple[Token, ...]]:
    return lambda code: (Token(system, code, ()),)


def _named(system: str) -> Callable[[str], tuple[Token, ...]]:
    return lambda code: (Token(system, code, (code,)),)


def _primitive(code: str) -> tuple[Token, ...]:
    return (Token(IMPLIED, code, ()),) if code else ()


def _text_only(text: str) -> tuple[Token, ...]:
    return (Token(None, None, (text,)),)


_LAB_CODE = ColumnTokens("code", _named(LOINC))
_VITAL_NAME = ColumnTokens("code", _text_only)

#: The tables in the order in which their rows were uploaded, which is the order of ids.
TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        "condition",
        "Condition",
        {"patient": "i4", "code": "i4", "display": "i4", "time": "i8"},
        _condition,
        tokens={"code": ColumnTokens("code", _coded(ICD10), has_texts=False)},
        dates={"onset-date": DateColumns("time"), "recorded-date": DateColumns("time")},
    ),
    TableSpec(
        "lab",
        "Observation",
        {
            "patient": "i4",
            "code": "i4",
            "time": "i8",
            "value": "f8",
            "unit": "i4",
            "issued": "i8",
            "interpretation": "i4",
        },
        _lab,
        tokens={
            "category": FixedTokens((Token(*LABORATORY, ("Laboratory",)),)),
            "code": _LAB_CODE,
            "combo-code": _LAB_CODE,
            "status": FixedTokens((Token(IMPLIED, "final", ()),)),
        },
        dates={"date": DateColumns("time")},
        others=frozenset(
            {
                "code-value-quantity",
                "combo-code-value-quantity",
                "combo-value-quantity",
                "value-quantity",
            }
        ),
    ),
    TableSpec(
        "vital",
        "Observation",
        {"patient": "i4", "code": "i4", "time": "i8", "value": "i4"},
        _vital,
        tokens={
            "category": FixedTokens((Token(*VITAL_SIGNS, ("Vital Signs",)),)),
            "code": _VITAL_NAME,
            "combo-code": _VITAL_NAME,
        },
        dates={"date": DateColumns("time")},
        others=frozenset({"code-value-quantity", "combo-code-value-quantity", "value-string"}),
    ),
    TableSpec(
        "procedure",
        "Procedure",
        {"patient": "i4", "code": "i4", "display": "i4", "time": "i8", "end": "i8"},
        _procedure,
        tokens={"code": ColumnTokens("code", _coded(CPT), has_texts=False)},
        dates={"date": DateColumns("time", "end")},
    ),
    TableSpec(
        "medication_request",
        "MedicationRequest",
        {
            "patient": "i4",
            "code": "i4",
            "time": "i8",
            "timing": "i4",
            "route": "i4",
            "dose": "f8",
            "dose_unit": "i4",
            "status": "i4",
        },
        _medication_request,
        tokens={
            "code": ColumnTokens("code", _text_only),
            "status": ColumnTokens("status", _primitive),
            "intent": FixedTokens((Token(IMPLIED, "order", ()),)),
        },
        dates={"authoredon": DateColumns("time")},
    ),
    TableSpec(
        "service_request",
        "ServiceRequest",
        {
            "patient": "i4",
            "code": "i4",
            "system": "i4",
            "display": "i4",
            "time": "i8",
            "status": "i4",
            "intent": "i4",
            "priority": "i4",
            "occurrence": "i8",
            "note": "i4",
        },
        _service_request,
        tokens={
            "code": ColumnTokens("code", _coded(IMPLIED), has_texts=False, has_system=False),
            "status": ColumnTokens("status", _primitive),
            "intent": ColumnTokens("intent", _primitive),
            "priority": ColumnTokens("priority", _primitive),
        },
        dates={"authored": DateColumns("time"), "occurrence": DateColumns("occurrence")},
    ),
)
