"""How a row of each column table reads as a FHIR resource.

The shapes, element order and quirks are those of the MedAgentBench server: a lab carries the
system of LOINC but a local base name as its code, a flowsheet vital has a text-only code, a string
value and no status, a Condition has neither category nor clinical status.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime

from healthgym.core.borders import JsonDict

ICD10 = "http://hl7.org/fhir/sid/icd-10"
LOINC = "http://loinc.org"
CPT = "http://www.ama-assn.org/go/cpt"
NDC = "http://hl7.org/fhir/sid/ndc"
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
SNOMED = "http://snomed.info/sct"
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
Resource = JsonDict


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


def condition_resource(
    resource: Resource, strings: Strings, mrn: str, code: int, display: int, onset: int
) -> Resource:
    """Complete a Condition that has its id and meta."""
    when = iso(onset)
    resource["code"] = {
        "coding": [{"system": ICD10, "code": strings[code], "display": strings[display]}]
    }
    resource["subject"] = _subject(mrn)
    resource["onsetDateTime"] = when
    resource["recordedDate"] = when
    return resource


def lab_resource(
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
    """Complete a laboratory Observation that has its id and meta."""
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


def vital_resource(
    resource: Resource, strings: Strings, mrn: str, name: int, effective: int, value: int
) -> Resource:
    """Complete a flowsheet Observation that has its id and meta."""
    resource["category"] = _category(*VITAL_SIGNS, "Vital Signs")
    resource["code"] = {"text": strings[name]}
    resource["subject"] = _subject(mrn)
    resource["effectiveDateTime"] = iso(effective)
    resource["valueString"] = strings[value]
    return resource


def procedure_resource(
    resource: Resource,
    strings: Strings,
    mrn: str,
    code: int,
    display: int,
    performed: int,
    end: int,
) -> Resource:
    """Complete a Procedure that has its id and meta."""
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


def medication_request_resource(
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
    """Complete a MedicationRequest that has its id and meta."""
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


def service_request_resource(
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
    """Complete a ServiceRequest that has its id and meta."""
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
