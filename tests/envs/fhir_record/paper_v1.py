"""Cases for the published v1 graders: a chart of one patient, and the writes an agent may make."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.paper.base import BENCHMARK_DEFECTS, Case, Post
from healthgym.envs.fhir_record.paper.v1 import V1_GRADERS
from healthgym.envs.fhir_record.task import Facts
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir import ChartBuilder
from healthgym.worlds.fhir.store import FhirStore

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
STAMP = "2023-11-13T10:15:00+00:00"
MRN = "S7000123"
BASE = "http://localhost:8080/fhir/"
PUBLISHED = BENCHMARK_DEFECTS["v1"]
SUBJECT = {"reference": f"Patient/{MRN}"}
CODE = {"v1-t4": "MG", "v1-t5": "MG", "v1-t6": "GLU", "v1-t7": "GLU", "v1-t9": "K", "v1-t10": "A1C"}
UNIT = {"MG": "mg/dL", "GLU": "mg/dL", "K": "mmol/L", "A1C": "%"}
HOUR = timedelta(hours=1)
DETAILS = {
    "v1-t1": {"family": "Osei", "given": "Ama", "birth_date": "1960-05-04"},
    "v1-t3": {"reading": "118/77 mmHg"},
    "v1-t8": {"note": "Situation: knee. Recommendation: see."},
}


def paper_case(name, rows=(), posts=(), result=None, defects=PUBLISHED, **more):
    builder = ChartBuilder()
    builder.patient(
        mrn=MRN, family="Osei", given="Ama", gender="female", birth_date=date(1960, 5, 4)
    )
    for age, value, *unit in rows:
        code = CODE[name]
        builder.lab(MRN, code, NOW - age, value, unit[0] if unit else UNIT[code])
    view = ChartView(FhirStore(builder.build(), clock=Clock(NOW)))
    patient = "" if name == "v1-t1" else MRN
    facts = Facts(NOW, patient, dict(KINDS[name].codes), DETAILS.get(name, {}))
    fields = {
        "chart": view,
        "facts": facts,
        "decision": KINDS[name].decide(view, facts),
        "posts": tuple(posts),
        "post_word": bool(posts),
        "result": result,
        "finished": True,
        "base_url": BASE,
        "defects": frozenset(defects),
        "wall_clock": NOW,
    }
    return Case(**{**fields, **more})


def passes(name, *args, **kwargs):
    results = V1_GRADERS[name](paper_case(name, *args, **kwargs))
    assert results
    return all(result.passed for result in results)


def pays_only_with(defect, name, *args, **kwargs):
    """Whether a case passes when a defect is reproduced, and fails when it is repaired."""
    return passes(name, *args, defects=PUBLISHED | {defect}, **kwargs) and not passes(
        name, *args, defects=PUBLISHED - {defect}, **kwargs
    )


def fails_only_with(defect, name, *args, **kwargs):
    return not passes(name, *args, defects=PUBLISHED | {defect}, **kwargs) and passes(
        name, *args, defects=PUBLISHED - {defect}, **kwargs
    )


def post(kind, **fields):
    return Post(f"{BASE}{kind}", {"resourceType": kind, **fields})


def changed(original, **fields):
    return replace(original, payload={**original.payload, **fields})


def reading(**fields):
    coding = {
        "system": "http://hl7.org/fhir/observation-category",
        "code": "vital-signs",
        "display": "Vital Signs",
    }
    whole = {
        "category": [{"coding": [coding]}],
        "code": {"text": "BP"},
        "effectiveDateTime": STAMP,
        "status": "final",
        "valueString": "118/77 mmHg",
        "subject": SUBJECT,
    }
    return post("Observation", **{**whole, **fields})


def medication(code, route, dose, unit, rate=None):
    amounts = {"doseQuantity": {"value": dose, "unit": unit}}
    if rate is not None:
        amounts["rateQuantity"] = {"value": rate, "unit": "h"}
    return post(
        "MedicationRequest",
        medicationCodeableConcept={
            "coding": [{"system": "http://hl7.org/fhir/sid/ndc", "code": code}]
        },
        authoredOn=STAMP,
        dosageInstruction=[{"route": route, "doseAndRate": [amounts]}],
        status="active",
        intent="order",
        subject=SUBJECT,
    )


def magnesium(grams, route="IV"):
    return medication("0338-1715-40", route, grams, "g", grams)


def potassium(dose, route="oral", unit="mEq"):
    return medication("40032-917-01", route, dose, unit)


def service(code, system="http://loinc.org", **fields):
    whole = {
        "code": {"coding": [{"system": system, "code": code}]},
        "authoredOn": STAMP,
        "status": "active",
        "intent": "order",
        "priority": "stat",
        "subject": SUBJECT,
    }
    return post("ServiceRequest", **{**whole, **fields})


def referral(note, **fields):
    return service("306181000000106", "http://snomed.info/sct", note=note, **fields)


LEVEL = service("2823-3", occurrenceDateTime="2023-11-14T08:00:00+00:00")
A1C_TEST = service("4548-4")
NOTE = DETAILS["v1-t8"]["note"]
NORMAL_K = [(HOUR, 4.0)]
LOW_K = [(HOUR, 3.1)]
OLD_A1C = [(timedelta(days=400), 6.1)]
OLD_TIME = "2022-10-09T10:15:00+00:00"
