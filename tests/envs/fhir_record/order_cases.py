# ruff: noqa: E501
"""Orders written by hand: the right ones, what ruins them, and other ways to say the same.

Both lists were written before the normal form that reads them, and cover every way of writing that
an independent audit found misread, and about twice as many more.
"""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta

from tests.envs.fhir_record.paper_v1 import HOUR, MRN, NOW, STAMP, paper_case
from tests.envs.fhir_record.paper_v2 import Bench, both, labs, orders, procedures

DAY = timedelta(days=1)
NDC, LOINC, SNOMED = (
    "http://hl7.org/fhir/sid/ndc",
    "http://loinc.org",
    "http://snomed.info/sct",
)
CPT, RXNORM = "http://www.ama-assn.org/go/cpt", "http://www.nlm.nih.gov/research/umls/rxnorm"
UCUM = "http://unitsofmeasure.org"
SITE = "http://localhost:8080/fhir/"
ROUTES = {"iv": "47625008", "po": "26643006", "sc": "34206005", "nasal": "46713006"}


def at(moment):
    return moment.isoformat()


def drug(text, dose, unit, route, *, code=None, timing=None, **amounts):
    concept = {"text": text} if text else {}
    if code:
        concept["coding"] = [{"system": NDC, "code": code}]
    quantities = {"doseQuantity": {"value": dose, "unit": unit}, **amounts}
    dosage = {"route": {"text": route}, "doseAndRate": [quantities]}
    if timing:
        dosage["timing"] = {"code": {"text": timing}}
    return {
        "resourceType": "MedicationRequest",
        "status": "active",
        "intent": "order",
        "medicationCodeableConcept": concept,
        "subject": {"reference": f"Patient/{MRN}"},
        "authoredOn": STAMP,
        "dosageInstruction": [dosage],
    }


def service(code, system=None, **more):
    return {
        "resourceType": "ServiceRequest",
        "status": "active",
        "intent": "order",
        "code": {"coding": [{"code": code, **({"system": system} if system else {})}]},
        "subject": {"reference": f"Patient/{MRN}"},
        "authoredOn": STAMP,
        **more,
    }


NOTE = paper_case("v1-t8").facts.details["note"]
PRESSURE = paper_case("v1-t3").facts.details["reading"]
READING = {
    "resourceType": "Observation",
    "status": "final",
    "category": [
        {
            "coding": [
                {
                    "system": "http://hl7.org/fhir/observation-category",
                    "code": "vital-signs",
                    "display": "Vital Signs",
                }
            ]
        }
    ],
    "code": {"text": "BP"},
    "subject": {"reference": f"Patient/{MRN}"},
    "effectiveDateTime": STAMP,
    "valueString": PRESSURE,
}

#: Short name -> (decision, name of the order in it, the right resource).
_TSH_HIGH = both(labs("TSH", (DAY, 12.0), (60 * DAY, 14.0)), labs("FT4", (DAY, 1.1)))
_THYROID = Bench("v2-t6", _TSH_HIGH)
RIGHT = {
    "mg": (
        paper_case("v1-t5", [(HOUR, 1.2)]).decision,
        "magnesium",
        drug("", 2, "g", "IV", code="0338-1715-40", rateQuantity={"value": 2, "unit": "h"}),
    ),
    "k": (
        paper_case("v1-t9", [(HOUR, 3.1)]).decision,
        "potassium",
        drug("", 40, "mEq", "oral", code="40032-917-01"),
    ),
    "level": (
        paper_case("v1-t9", [(HOUR, 3.1)]).decision,
        "morning_level",
        service("2823-3", LOINC, priority="stat", occurrenceDateTime="2023-11-14T08:00:00+00:00"),
    ),
    "a1c": (paper_case("v1-t10").decision, "a1c", service("4548-4", LOINC, priority="stat")),
    "referral": (
        paper_case("v1-t8").decision,
        "referral",
        service("306181000000106", SNOMED, priority="stat", note=[{"text": NOTE}]),
    ),
    "bp": (paper_case("v1-t3").decision, "blood_pressure", READING),
    "heparin": (
        Bench("v2-t2").decision,
        "heparin",
        drug("heparin (porcine) 5000 units", 5000, "units", "subcutaneous", timing="q8h"),
    ),
    "levothyroxine": (
        _THYROID.decision,
        "levothyroxine",
        drug("levothyroxine 25 mcg tablet", 25, "mcg", "oral", timing="daily"),
    ),
    "naloxone": (
        Bench("v2-t8", orders("OXYCODONE 5 MG PO TABS")).decision,
        "naloxone",
        drug("naloxone 4 mg nasal spray", 4, "mg", "nasal"),
    ),
    "tsh": (
        _THYROID.decision,
        "tsh_repeat",
        service("TSH", occurrenceDateTime=at(NOW + 42 * DAY)),
    ),
    "ft4": (
        _THYROID.decision,
        "ft4_repeat",
        service("3024-7", LOINC, occurrenceDateTime=at(NOW + 42 * DAY)),
    ),
    "ct": (
        Bench("v2-t1").decision,
        "ct",
        service("74177", CPT, note=[{"text": "Renal mass follow-up"}]),
    ),
    "catheter": (
        Bench("v2-t4", procedures("NUR1373", 3 * DAY)).decision,
        "removal",
        service("NUR1373"),
    ),
    "ecg": (
        Bench("v2-t7", labs("QTCINTERVAL", (DAY, 520))).decision,
        "ecg",
        service("445118002", SNOMED, occurrenceDateTime=at(NOW + DAY)),
    ),
    "flu": (Bench("v2-t9").decision, "vaccine", service("90686", CPT)),
    "covid": (Bench("v2-t10").decision, "vaccine", service("91320", CPT)),
}

GONE = object()


def edited(base, changes):
    """Return a right resource with what stands at dotted paths replaced, or taken away."""
    resource = deepcopy(RIGHT[base][2])
    for path, value in changes.items():
        *steps, last = (int(s) if s.isdigit() else s for s in path.split("."))
        node = resource
        for place, step in enumerate(steps):
            if isinstance(step, str) and step not in node:
                following = [*steps, last][place + 1]
                node[step] = [] if isinstance(following, int) else {}
            if isinstance(step, int) and step == len(node):
                following = [*steps, last][place + 1]
                node.append([] if isinstance(following, int) else {})
            node = node[step]
        if value is GONE:
            del node[last]
        elif isinstance(last, int) and last == len(node):
            node.append(value)
        else:
            node[last] = value
    return resource


D = "dosageInstruction.0"
Q = f"{D}.doseAndRate.0"
DOSE, RATE = f"{Q}.doseQuantity", f"{Q}.rateQuantity"
TEXT = "medicationCodeableConcept.text"
CODE = "medicationCodeableConcept.coding"
REPEAT = f"{D}.timing.repeat"


def amount(value, unit=None, **more):
    return {"value": value, **({"unit": unit} if unit else {}), **more}


def grams(dose):
    return {"route": {"text": "IV"}, "doseAndRate": [{"doseQuantity": amount(dose, "g")}]}


#: What must not earn the reward: (order, what is wrong, the changes).
ATTACKS = [
    # B4: one order that lists everything
    ("mg", "every dose in one dosage", {f"{D}.doseAndRate": [
        {"doseQuantity": amount(n, "g"), "rateQuantity": amount(n, "h")} for n in (1, 2, 4)]}),
    ("mg", "every dose in dosages", {f"dosageInstruction.{n}": {
        "route": {"text": "IV"},
        "doseAndRate": [{"doseQuantity": amount(g, "g"), "rateQuantity": amount(g, "h")}]}
        for n, g in ((0, 2), (1, 1), (2, 4))}),
    ("k", "every dose", {f"{D}.doseAndRate": [
        {"doseQuantity": amount(n, "mEq")} for n in range(10, 110, 10)]}),
    ("k", "both routes", {"dosageInstruction.1": {"route": {"text": "IV"}}}),
    ("k", "both routes in one concept", {f"{D}.route": {
        "text": "oral", "coding": [{"system": SNOMED, "code": ROUTES["iv"]}]}}),
    ("mg", "do not perform", {"doNotPerform": True}),
    ("a1c", "do not perform", {"doNotPerform": True}),
    ("mg", "q1h", {f"{D}.timing": {"code": {"text": "q1h"}}}),
    ("k", "every 15 minutes", {f"{D}.timing": {"code": {"text": "every 15 minutes"}}}),
    ("k", "over a second", {RATE: amount(1, "s")}),
    ("mg", "named potassium", {TEXT: "potassium chloride IV push"}),
    ("levothyroxine", "named 2500 mcg", {TEXT: "levothyroxine 2500 mcg"}),
    ("naloxone", "named no naloxone", {TEXT: "no naloxone please"}),
    ("naloxone", "half a spray", {TEXT: "naloxone 8 mg/actuation nasal spray"}),
    ("naloxone", "half a spray by volume", {TEXT: "naloxone 8 mg/0.1 mL nasal spray"}),
    ("naloxone", "a spray of twice", {TEXT: "naloxone 8 mg/actuation nasal spray",
                                      DOSE: amount(1, "spray")}),
    ("a1c", "planned for 2033", {"occurrenceDateTime": "2033-01-01T08:00:00+00:00"}),
    # dosage
    ("mg", "a further dosage in words", {"dosageInstruction.1": {"text": "4 g IV over 4 hours"}}),
    ("mg", "words say another dose", {f"{D}.text": "4 g IV over 4 hours"}),
    ("mg", "words say not to", {f"{D}.text": "Do not give"}),
    ("mg", "instruction to patient", {f"{D}.patientInstruction": "Do not take this medicine"}),
    ("mg", "additional instruction", {f"{D}.additionalInstruction": [{"text": "hold this dose"}]}),
    ("mg", "unit and code disagree", {DOSE: amount(2, "g", code="mg", system=UCUM)}),
    ("mg", "2 mg", {DOSE: amount(2, "mg")}),
    ("mg", "more than 2 g", {DOSE: amount(2, "g", comparator=">=")}),
    ("mg", "a range beside the dose", {f"{Q}.doseRange": {
        "low": amount(2, "g"), "high": amount(8, "g")}}),
    ("mg", "a rate beside the duration", {f"{Q}.rateRatio": {
        "numerator": amount(4, "g"), "denominator": amount(1, "h")}}),
    ("mg", "rate of 4 g/h", {RATE: amount(4, "g/h")}),
    ("mg", "over 2 minutes", {RATE: amount(2, "min")}),
    ("mg", "duration contradicts", {REPEAT: {"duration": 8, "durationUnit": "h"}}),
    ("mg", "no duration", {RATE: GONE}),
    ("mg", "as an IV push", {f"{D}.method": {"text": "IV push"}}),
    ("mg", "route of a push", {f"{D}.route": {"text": "IV push"}}),
    ("mg", "if needed", {f"{D}.asNeededBoolean": True}),
    ("k", "if needed, in words", {f"{D}.timing": {"code": {"text": "PRN"}}}),
    ("k", "twice daily", {f"{D}.timing": {"code": {"text": "BID"}}}),
    ("k", "every hour by repeat", {REPEAT: {"frequency": 1, "period": 1, "periodUnit": "h"}}),
    ("mg", "five times", {REPEAT: {"count": 5}}),
    ("mg", "on a day in 2033", {f"{D}.timing": {"event": ["2033-11-13T10:15:00+00:00"]}}),
    ("mg", "bounds begin next year", {REPEAT: {
        "boundsPeriod": {"start": "2024-11-13T10:15:00+00:00"}}}),
    ("mg", "at most half the dose", {f"{D}.maxDosePerAdministration": amount(1, "g")}),
    ("mg", "modifier extension", {f"{D}.modifierExtension": [
        {"url": "http://example.org/never", "valueBoolean": True}]}),
    ("mg", "an unknown element", {f"{D}.realDose": "8 g"}),
    ("mg", "subcutaneous code", {f"{D}.route": {
        "text": "IV", "coding": [{"system": SNOMED, "code": ROUTES["sc"]}]}}),
    ("mg", "display of another route", {f"{D}.route": {"coding": [
        {"system": SNOMED, "code": ROUTES["iv"], "display": "Intrathecal route"}]}}),
    ("heparin", "q8h and q12h", {f"{D}.timing": {"code": {
        "text": "q8h", "coding": [{"code": "Q12H"}]}}}),
    ("heparin", "code and repeat disagree", {REPEAT: {
        "frequency": 1, "period": 12, "periodUnit": "h"}}),
    ("heparin", "twice as often", {f"{D}.timing": {"repeat": {
        "frequency": 2, "period": 8, "periodUnit": "h"}}}),
    ("heparin", "up to six times", {f"{D}.timing": {"repeat": {
        "frequency": 1, "frequencyMax": 6, "period": 8, "periodUnit": "h"}}}),
    ("heparin", "if needed", {f"{D}.asNeededBoolean": True}),
    ("heparin", "5000 mg", {DOSE: amount(5000, "mg")}),
    ("heparin", "one dose in all", {REPEAT: {
        "frequency": 1, "period": 8, "periodUnit": "h", "count": 1}}),
    ("heparin", "for one minute", {REPEAT: {"frequency": 1, "period": 8, "periodUnit": "h",
        "boundsDuration": amount(1, "min")}}),
    ("levothyroxine", "25 mg", {DOSE: amount(25, "mg")}),
    ("levothyroxine", "weekly", {f"{D}.timing": {"code": {"text": "weekly"}}}),
    ("levothyroxine", "every other day", {f"{D}.timing": {"code": {"text": "every other day"}}}),
    ("levothyroxine", "for a day", {REPEAT: {"boundsDuration": amount(1, "d")}}),
    ("naloxone", "every 8 hours", {f"{D}.timing": {"code": {"text": "q8h"}}}),
    ("naloxone", "ten sprays", {DOSE: amount(10, "spray")}),
    # names and codes
    ("mg", "a second code", {f"{CODE}.1": {"system": NDC, "code": "40032-917-01"}}),
    ("mg", "display of another drug", {f"{CODE}.0.display": "Potassium chloride 20 mEq"}),
    ("mg", "name with another drug", {TEXT: "magnesium sulfate and potassium chloride"}),
    ("mg", "the oral salt", {TEXT: "magnesium oxide 400 mg tablets"}),
    ("mg", "cancelled in the name", {TEXT: "CANCELLED magnesium sulfate"}),
    ("mg", "dose in the name", {TEXT: "magnesium sulfate 40 g"}),
    ("mg", "route in the name", {TEXT: "magnesium sulfate oral"}),
    ("mg", "timing in the name", {TEXT: "magnesium sulfate every hour"}),
    ("mg", "code of another system", {f"{CODE}.0.system": RXNORM}),
    ("heparin", "a lock flush", {TEXT: "heparin lock flush 100 unit/mL"}),
    ("heparin", "another anticoagulant", {TEXT: "heparin 5000 units, then enoxaparin"}),
    ("heparin", "code of warfarin", {CODE: [{"system": RXNORM, "code": "11289"}]}),
    ("levothyroxine", "another hormone", {TEXT: "levothyroxine and liothyronine 25 mcg"}),
    ("naloxone", "with an opioid", {TEXT: "naloxone with oxycodone 4 mg nasal spray"}),
    ("naloxone", "allergic", {TEXT: "naloxone allergy, do not give"}),
    ("k", "in the name: intravenous", {TEXT: "potassium chloride 10 mEq/100 mL IV piggyback"}),
    # standing, subject, time
    ("mg", "a draft", {"status": "draft"}),
    ("mg", "on hold", {"status": "on-hold"}),
    ("mg", "a proposal", {"intent": "proposal"}),
    ("mg", "reported", {"reportedBoolean": True}),
    ("mg", "somebody else's name", {"subject.display": "Walter Grimm"}),
    ("mg", "another server's patient", {"subject.reference": f"http://elsewhere/fhir/Patient/{MRN}"}),
    ("mg", "another number beside", {"subject.identifier": {"value": "S9999999"}}),
    ("mg", "written last year", {"authoredOn": "2022-11-13T10:15:00+00:00"}),
    ("mg", "written next year", {"authoredOn": "2024-11-13T10:15:00+00:00"}),
    ("mg", "no date at all", {"authoredOn": "soon"}),
    ("mg", "note says not to give", {"note": [{"text": "Please disregard this order."}]}),
    ("mg", "note says another dose", {"note": [{"text": "Give 8 g IV push."}]}),
    ("mg", "reason it is stopped", {"statusReason": {"text": "Discontinued by pharmacy"}}),
    ("mg", "valid from next year", {"dispenseRequest": {
        "validityPeriod": {"start": "2024-11-13"}}}),
    ("mg", "modifier", {"modifierExtension": [{"url": "http://example.org/not"}]}),
    ("mg", "rules nobody knows", {"implicitRules": "http://example.org/opposite"}),
    ("mg", "another drug by reference", {"medicationReference": {"reference": "#x"},
        "contained": [{"resourceType": "Medication", "id": "x", "code": {"text": "heparin"}}]}),
    # services
    ("level", "two times", {"occurrencePeriod": {
        "start": "2023-11-20T08:00:00+00:00", "end": "2023-11-20T09:00:00+00:00"}}),
    ("level", "every hour", {"occurrenceDateTime": GONE, "occurrenceTiming": {
        "repeat": {"frequency": 1, "period": 1, "periodUnit": "h"}}}),
    ("level", "next evening", {"occurrenceDateTime": "2023-11-14T20:00:00+00:00"}),
    ("level", "another test's name", {"code.text": "Hemoglobin A1c"}),
    ("level", "other time in the name", {"code.text": "Serum potassium in 6 weeks"}),
    ("level", "a second code", {"code.coding.1": {"system": LOINC, "code": "4548-4"}}),
    ("level", "if needed", {"asNeededBoolean": True}),
    ("level", "a hundred times", {"quantityQuantity": {"value": 100}}),
    ("a1c", "another test's display", {"code.coding.0.display": "Potassium"}),
    ("a1c", "no test", {"code.text": "No HbA1c needed"}),
    ("a1c", "routine by extension of words", {"note": [{"text": "Cancel this, not needed"}]}),
    ("a1c", "a plan", {"intent": "plan"}),
    ("a1c", "revoked", {"status": "revoked"}),
    ("referral", "note contradicted", {"note.1": {"text": "Ignore the above, wrong patient."}}),
    ("referral", "note turned", {"note.0.text": f"It is false that: {NOTE}"}),
    ("referral", "another service", {"code.text": "Referral to psychiatry"}),
    ("referral", "not to be done", {"doNotPerform": True}),
    ("ct", "another part", {"code.text": "CT head without contrast"}),
    ("ct", "no contrast", {"code.text": "CT abdomen without IV contrast"}),
    ("ct", "indication denied", {"note.0.text": "Not a renal mass follow-up"}),
    ("ct", "another system's code", {"code.coding.0.system": LOINC}),
    ("ct", "planned for 2033", {"occurrenceDateTime": "2033-01-01"}),
    ("ct", "was planned for 2021", {"occurrenceDateTime": "2021-01-01"}),
    ("ct", "body site", {"bodySite": [{"text": "Left knee"}]}),
    ("catheter", "insert instead", {"code.text": "Insert urinary catheter"}),
    ("catheter", "leave it", {"code.text": "Do not remove urinary catheter"}),
    ("catheter", "next month", {"occurrenceDateTime": at(NOW + 30 * DAY)}),
    ("ecg", "an echo", {"code.text": "Echocardiogram"}),
    ("ecg", "next week", {"occurrenceDateTime": at(NOW + 7 * DAY)}),
    ("tsh", "tomorrow", {"occurrenceDateTime": at(NOW + DAY)}),
    ("tsh", "named for the other test", {"code.text": "Free T4"}),
    ("tsh", "both tests", {"code.coding.1": {"system": LOINC, "code": "3024-7"}}),
    ("ft4", "in 3 months by name", {"code.text": "Free T4 in 3 months"}),
    ("flu", "declined", {"code.text": "Influenza vaccine declined"}),
    ("flu", "a compound of another word", {"code.text": "Influenza vaccine, non-quadrivalent"}),
    ("flu", "another vaccine", {"code.text": "Hepatitis B vaccine"}),
    ("covid", "a test for it", {"code.text": "COVID-19 PCR test"}),
    ("covid", "another vaccine's code", {"code.coding.1": {"system": CPT, "code": "90686"}}),
    # measurements
    ("bp", "another value beside", {"component": [
        {"code": {"text": "Systolic"}, "valueQuantity": amount(200, "mmHg")}]}),
    ("bp", "no value after all", {"dataAbsentReason": {"text": "unknown"}}),
    ("bp", "preliminary", {"status": "preliminary"}),
    ("bp", "yesterday", {"effectiveDateTime": "2023-11-12T10:15:00+00:00"}),
    ("bp", "value with more", {"valueString": f"{PRESSURE} or 200/100 mmHg"}),
    ("bp", "called wrong in a note", {"note": [{"text": "Wrong patient, disregard"}]}),
    ("bp", "also a temperature", {"code": {"text": "BP", "coding": [
        {"system": LOINC, "code": "8310-5", "display": "Body temperature"}]}}),
    ("bp", "also a laboratory result", {"category.1": {"coding": [{"code": "laboratory"}]}}),
]  # fmt: skip


def snomed(code, **more):
    return {"coding": [{"system": SNOMED, "code": code, **more}]}


#: Other ways to write the same order: (order, how, the changes).
EQUIVALENTS = [
    (
        "flu",
        "a compound",
        {"code.text": "Influenza vaccine, quadrivalent, preservative-free"},
    ),
    # B4
    ("mg", "absolute subject", {"subject.reference": f"{SITE}Patient/{MRN}"}),
    ("mg", "SNOMED route", {f"{D}.route": snomed(ROUTES["iv"], display="Intravenous route")}),
    ("mg", "Intravenous route", {f"{D}.route": {"text": "Intravenous route"}}),
    ("mg", "1 g/h", {RATE: amount(1, "g/h")}),
    ("mg", "ratio", {RATE: GONE, f"{Q}.rateRatio": {
        "numerator": amount(2, "g"), "denominator": amount(2, "h")}}),
    ("mg", "ratio of one hour", {RATE: GONE, f"{Q}.rateRatio": {
        "numerator": amount(1, "g"), "denominator": amount(1, "h")}}),
    ("mg", "UCUM code alone", {DOSE: amount(2, code="g", system=UCUM),
                               RATE: amount(2, code="h", system=UCUM)}),
    ("heparin", "repeat", {f"{D}.timing": {"repeat": {
        "frequency": 1, "period": 8, "periodUnit": "h"}}}),
    ("mg", "no date", {"authoredOn": GONE}),
    ("a1c", "no date", {"authoredOn": GONE}),
    ("mg", "intravenously", {f"{D}.route": {"text": "intravenously"}}),
    ("mg", "2000 mg", {DOSE: amount(2000, "mg")}),
    ("levothyroxine", "0.025 mg", {DOSE: amount(0.025, "mg")}),
    ("mg", "120 minutes", {RATE: amount(120, "minutes")}),
    # dosage
    ("mg", "a float", {DOSE: amount(2.0, "g")}),
    ("mg", "gm", {DOSE: amount(2, "gm")}),
    ("mg", "grams and hrs", {DOSE: amount(2, "Grams"), RATE: amount(2, "hrs")}),
    ("mg", "unit and code", {DOSE: amount(2, "gram", code="g", system=UCUM)}),
    ("mg", "g per hour", {RATE: amount(1, "g per hour")}),
    ("mg", "mg/h", {RATE: amount(1000, "mg/h")}),
    ("mg", "1000 mg per 60 min", {RATE: GONE, f"{Q}.rateRatio": {
        "numerator": amount(1000, "mg"), "denominator": amount(60, "min")}}),
    ("mg", "duration in the timing", {RATE: GONE, REPEAT: {"duration": 2, "durationUnit": "h"}}),
    ("mg", "duration twice", {REPEAT: {"duration": 120, "durationUnit": "min", "count": 1}}),
    ("mg", "bare string route", {f"{D}.route": "IV"}),
    ("mg", "IVPB", {f"{D}.route": {"text": "IVPB"}}),
    ("mg", "infusion", {f"{D}.route": {"text": "Intravenous infusion"}}),
    ("mg", "code of HL7", {f"{D}.route": {"coding": [{
        "system": "http://terminology.hl7.org/CodeSystem/v3-RouteOfAdministration", "code": "IV"}]}}),
    ("mg", "once", {f"{D}.timing": {"code": {"text": "Once"}}}),
    ("mg", "stat", {f"{D}.timing": {"code": {"text": "STAT"}}}),
    ("mg", "one event now", {f"{D}.timing": {"event": [STAMP]}}),
    ("mg", "count of one", {REPEAT: {"count": 1}}),
    ("mg", "words that agree", {f"{D}.text": "2 g IV over 2 hours"}),
    ("mg", "longer words", {f"{D}.text": "Give 2 grams intravenously over 2 hours once"}),
    ("mg", "not as needed", {f"{D}.asNeededBoolean": False}),
    ("mg", "sequence and type", {f"{D}.sequence": 1, f"{Q}.type": {"coding": [
        {"system": "http://terminology.hl7.org/CodeSystem/dose-rate-type", "code": "ordered"}]}}),
    ("mg", "do perform", {"doNotPerform": False}),
    ("k", "PO", {f"{D}.route": {"text": "PO"}}),
    ("k", "by mouth", {f"{D}.route": {"text": "By mouth"}}),
    ("k", "SNOMED oral", {f"{D}.route": snomed(ROUTES["po"], display="Oral route (qualifier value)")}),
    ("k", "orally, once", {f"{D}.route": {"text": "orally"}, f"{D}.timing": {"code": {"text": "once"}}}),
    ("k", "meq", {DOSE: amount(40, "meq")}),
    ("k", "milliequivalents", {DOSE: amount(40, "milliequivalents", code="meq", system=UCUM)}),
    ("k", "two tablets of 20", {TEXT: "Potassium chloride ER 20 mEq tablet", DOSE: amount(2, "tablets")}),
    ("k", "with a meal", {f"{D}.additionalInstruction": [{"text": "Take with food and water"}]}),
    ("k", "do not crush", {f"{D}.patientInstruction": "Swallow whole; do not crush or chew."}),
    ("heparin", "every 8 hours", {f"{D}.timing": {"code": {"text": "every 8 hours"}}}),
    ("heparin", "q8h as a code", {f"{D}.timing": {"code": {"coding": [{
        "system": "http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation", "code": "Q8H"}]}}}),
    ("heparin", "repeat beside the words", {REPEAT: {"frequency": 1, "period": 8, "periodUnit": "h"}}),
    ("heparin", "three a day by repeat", {f"{D}.timing": {"repeat": {
        "frequency": 3, "period": 1, "periodUnit": "d"}}}),
    ("heparin", "480 minutes", {f"{D}.timing": {"repeat": {
        "frequency": 1, "period": 480, "periodUnit": "min"}}}),
    ("heparin", "Q 8 hrs", {f"{D}.timing": {"code": {"text": "Q 8 hrs"}}}),
    ("heparin", "USP unit", {DOSE: amount(5000, code="[USP'U]", system=UCUM)}),
    ("heparin", "IU", {DOSE: amount(5000, "IU", code="[iU]", system=UCUM)}),
    ("heparin", "SNOMED", {f"{D}.route": snomed(ROUTES["sc"], display="Subcutaneous route")}),
    ("heparin", "SubQ", {f"{D}.route": {"text": "SubQ"}}),
    ("heparin", "subcutaneous injection", {f"{D}.route": {"text": "Subcutaneous injection"}}),
    ("heparin", "bounds from now", {REPEAT: {"frequency": 1, "period": 8, "periodUnit": "h",
        "boundsPeriod": {"start": STAMP}}}),
    ("levothyroxine", "microgram sign", {DOSE: amount(25, "µg")}),
    ("levothyroxine", "greek mu", {DOSE: amount(25, "\u03bcg")}),
    ("levothyroxine", "ug code", {DOSE: amount(25, "mcg", code="ug", system=UCUM)}),
    ("levothyroxine", "once a day", {f"{D}.timing": {"code": {"text": "Once a day"}}}),
    ("levothyroxine", "qAM", {f"{D}.timing": {"code": {"text": "qAM before breakfast"}}}),
    ("levothyroxine", "QD", {f"{D}.timing": {"code": {"coding": [{"code": "QD"}]}}}),
    ("levothyroxine", "every 24 hours", {f"{D}.timing": {"repeat": {
        "frequency": 1, "period": 24, "periodUnit": "h"}}}),
    ("levothyroxine", "time of day", {f"{D}.timing": {"repeat": {
        "frequency": 1, "period": 1, "periodUnit": "d", "timeOfDay": ["06:00:00"]}}}),
    ("levothyroxine", "for 90 days", {REPEAT: {"frequency": 1, "period": 1, "periodUnit": "d",
        "boundsDuration": amount(90, "days", code="d", system=UCUM)}}),
    ("levothyroxine", "from tomorrow", {REPEAT: {"frequency": 1, "period": 1, "periodUnit": "d",
        "boundsPeriod": {"start": "2023-11-14"}}}),
    ("levothyroxine", "empty stomach", {f"{D}.patientInstruction":
        "Take on an empty stomach 30-60 minutes before breakfast"}),
    ("naloxone", "intranasal", {f"{D}.route": {"text": "Intranasal"}}),
    ("naloxone", "SNOMED nasal", {f"{D}.route": snomed(ROUTES["nasal"], display="Nasal route")}),
    ("naloxone", "as needed", {f"{D}.asNeededBoolean": True}),
    ("naloxone", "as needed for overdose", {f"{D}.asNeededCodeableConcept": {
        "text": "opioid overdose"}, f"{D}.timing": {"code": {"text": "once as needed"}}}),
    ("naloxone", "may be repeated", {f"{D}.additionalInstruction": [{
        "text": "May repeat every 2-3 minutes in alternating nostrils if no response"}]}),
    ("naloxone", "one spray of 4 mg", {TEXT: "NALOXONE 4 MG/ACTUATION NASAL SPRAY",
                                       DOSE: amount(1, "Spray")}),
    # names and codes
    ("mg", "named", {TEXT: "Magnesium sulfate"}),
    ("mg", "named by the formulary", {TEXT: "MAGNESIUM SULFATE 2 GRAM/50 ML IN WATER IV PGBK"}),
    ("mg", "named with the whole sig", {TEXT: "Magnesium sulfate 2 g IV over 2 hours"}),
    ("mg", "named replacement", {TEXT: "IV magnesium replacement"}),
    ("mg", "display", {f"{CODE}.0.display": "Magnesium Sulfate in Water for Injection"}),
    ("mg", "salt by formula", {TEXT: "MgSO4 2 g in 50 mL D5W"}),
    ("mg", "named by its code", {TEXT: "0338-1715-40"}),
    ("mg", "ingredient's code", {f"{CODE}.1": {"system": RXNORM, "code": "6585",
                                              "display": "magnesium sulfate"}}),
    ("k", "named", {TEXT: "Potassium chloride ER tablet"}),
    ("k", "named KCl", {TEXT: "KCl 40 mEq PO"}),
    ("k", "named by the formulary", {TEXT: "POTASSIUM CHLORIDE 20 MEQ PO TBTQ"}),
    ("heparin", "named by the formulary", {TEXT: "HEPARIN (PORCINE) 5,000 UNIT/ML INJ SOLN"}),
    ("heparin", "named with the whole sig", {TEXT: "Heparin 5000 units SC q8h"}),
    ("heparin", "for prophylaxis", {TEXT: "heparin sodium 5,000 units subcutaneous for DVT prophylaxis"}),
    ("heparin", "named only", {TEXT: "Heparin"}),
    ("levothyroxine", "named by the formulary", {TEXT: "LEVOTHYROXINE 25 MCG PO TABS"}),
    ("levothyroxine", "brand", {TEXT: "levothyroxine (Synthroid) 0.025 mg oral tablet"}),
    ("levothyroxine", "sodium", {TEXT: "Levothyroxine sodium 25 mcg oral tablet daily"}),
    ("naloxone", "brand", {TEXT: "Naloxone (Narcan) 4 mg/0.1 mL nasal spray"}),
    ("naloxone", "hydrochloride", {TEXT: "naloxone hydrochloride 4 mg/actuation nasal spray"}),
    # standing, subject, time
    ("mg", "subject with more", {"subject": {"reference": f"Patient/{MRN}", "type": "Patient",
        "display": "Ama Osei", "identifier": {"value": MRN}}}),
    ("mg", "date with a Z", {"authoredOn": "2023-11-13T10:15:00Z"}),
    ("mg", "date of another zone", {"authoredOn": "2023-11-13T02:15:00-08:00"}),
    ("mg", "date without time", {"authoredOn": "2023-11-13"}),
    ("mg", "priority", {"priority": "urgent"}),
    ("mg", "category", {"category": [{"coding": [{"code": "inpatient", "display": "Inpatient"}]}]}),
    ("mg", "note with the reason", {"note": [{"text": "Hypomagnesemia, Mg 1.2 mg/dL today"}]}),
    ("mg", "reason", {"reasonCode": [{"text": "Hypomagnesemia"}]}),
    ("mg", "one object for a list", {"dosageInstruction": {
        "route": {"text": "IV"}, "doseAndRate": {
            "doseQuantity": amount(2, "g"), "rateQuantity": amount(2, "h")}}}),
    # services
    ("level", "absolute subject", {"subject.reference": f"{SITE}Patient/{MRN}"}),
    ("level", "named", {"code.text": "Serum potassium level"}),
    ("level", "named with the time", {"code.text": "Morning serum potassium, 11/14 8 AM"}),
    ("level", "LOINC display", {"code.coding.0.display": "Potassium [Moles/volume] in Serum or Plasma"}),
    ("level", "with a Z", {"occurrenceDateTime": "2023-11-14T08:00:00Z"}),
    ("level", "as a period", {"occurrenceDateTime": GONE, "occurrencePeriod": {
        "start": "2023-11-14T08:00:00+00:00", "end": "2023-11-14T09:00:00+00:00"}}),
    ("level", "as one event", {"occurrenceDateTime": GONE, "occurrenceTiming": {
        "event": ["2023-11-14T08:00:00+00:00"]}}),
    ("level", "note", {"note": [{"text": "Recheck after oral repletion"}]}),
    ("level", "once", {"quantityQuantity": {"value": 1}}),
    ("a1c", "named", {"code.text": "Hemoglobin A1c"}),
    ("a1c", "LOINC display", {"code.coding.0.display":
        "Hemoglobin A1c/Hemoglobin.total in Blood"}),
    ("a1c", "HbA1C lab", {"code.text": "HbA1C lab test"}),
    ("a1c", "now", {"occurrenceDateTime": STAMP}),
    ("a1c", "category", {"category": [{"coding": [
        {"system": SNOMED, "code": "108252007", "display": "Laboratory procedure"}]}]}),
    ("referral", "note as an object", {"note": {"text": NOTE}}),
    ("referral", "named", {"code.text": "Orthopedic surgery referral"}),
    ("referral", "display", {"code.coding.0.display": "Referral to orthopaedic surgery service"}),
    ("referral", "thanks", {"note.0.text": f"Thank you for seeing this patient. {NOTE}"}),
    ("referral", "other spacing", {"note.0.text": NOTE.replace(". ", ".\n")}),
    ("ct", "named", {"code.text": "CT abdomen with IV contrast"}),
    ("ct", "long name", {"code.text": "Computed tomography of abdomen and pelvis with contrast"}),
    ("ct", "indication as a reason", {"note": GONE, "reasonCode": [{"text": "Renal mass follow-up"}]}),
    ("ct", "indication led in", {"note.0.text": "Indication: Renal mass follow-up"}),
    ("ct", "no system", {"code.coding.0": {"code": "74177"}}),
    ("ct", "next week", {"occurrenceDateTime": at(NOW + 7 * DAY)}),
    ("ct", "body site", {"bodySite": [{"text": "Abdomen"}]}),
    ("catheter", "named", {"code.text": "Remove urinary catheter"}),
    ("catheter", "Foley", {"code.text": "Foley catheter removal"}),
    ("catheter", "indwelling", {"code.text": "Removal of indwelling urinary catheter"}),
    ("catheter", "today", {"occurrenceDateTime": "2023-11-13", "priority": "urgent"}),
    ("ecg", "named", {"code.text": "12-lead ECG"}),
    ("ecg", "electrocardiogram", {"code.text": "Repeat electrocardiogram in 24 hours"}),
    ("ecg", "EKG", {"code.text": "EKG, 12 lead"}),
    ("tsh", "named", {"code.text": "TSH"}),
    ("tsh", "long name", {"code.text": "Thyroid stimulating hormone (TSH), repeat in 6 weeks"}),
    ("tsh", "by day", {"occurrenceDateTime": "2023-12-25"}),
    ("tsh", "chart's system", {"code.coding.0.system": LOINC}),
    ("tsh", "LOINC", {"code.coding.0": {"system": LOINC, "code": "3016-3",
        "display": "Thyrotropin [Units/volume] in Serum or Plasma"}}),
    ("ft4", "named", {"code.text": "Free T4 (FT4)"}),
    ("ft4", "LOINC display", {"code.coding.0.display":
        "Thyroxine (T4) free [Mass/volume] in Serum or Plasma"}),
    ("flu", "named", {"code.text": "Influenza vaccine"}),
    ("flu", "CPT's name", {"code.coding.0.display":
        "Influenza virus vaccine, quadrivalent, split virus, preservative free, 0.5 mL, IM"}),
    ("flu", "flu shot", {"code.text": "Flu shot, seasonal 2023-2024"}),
    ("covid", "named", {"code.text": "COVID-19 vaccine"}),
    ("covid", "long name", {"code.text": "SARS-CoV-2 (COVID-19) mRNA vaccine booster"}),
    # measurements
    ("bp", "absolute subject", {"subject.reference": f"{SITE}Patient/{MRN}"}),
    ("bp", "as a code", {"code": {"coding": [{"code": "BP", "display": "Blood pressure"}]}}),
    ("bp", "LOINC beside", {"code": {"text": "BP", "coding": [
        {"system": LOINC, "code": "85354-9", "display": "Blood pressure panel"}]}}),
    ("bp", "other category system", {"category.0.coding.0.system":
        "http://terminology.hl7.org/CodeSystem/observation-category"}),
    ("bp", "no space", {"valueString": PRESSURE.replace(" ", "")}),
    ("bp", "issued", {"issued": STAMP}),
    ("bp", "UCUM unit", {"valueString": PRESSURE.replace("mmHg", "mm[Hg]")}),
]  # fmt: skip
