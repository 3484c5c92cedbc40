"""What each parameter matches, on the small chart."""

import pytest

from healthgym.worlds.fhir import FhirError

TINA = ("patient", "S1000001")


def values(store, kind, *params):
    """What was found, told by the most telling element of each resource."""
    found = store.search(kind, params).resources
    return [
        r.get("valueQuantity", {}).get("value")
        or r.get("valueString")
        or r.get("medicationCodeableConcept", {}).get("text", "").split(" ")[0]
        or (r["code"]["coding"][0]["code"] if "code" in r else r["id"])
        for r in found
    ]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ([("code", "MG")], [1.8, 2.1, 2.5]),
        ([("code", "MG"), ("date", "ge2023-11-12T10:15:00+00:00")], [1.8, 2.1, 2.5]),
        ([("code", "MG"), ("date", "ge2023-11-12T10:15:00 00:00")], [1.8, 2.1, 2.5]),
        ([("code", "MG"), ("date", "gt2023-11-12T10:15:00Z")], [2.1, 2.5]),
        ([("code", "MG"), ("date", "ge2023-11-12"), ("date", "lt2023-11-13")], [1.8]),
        ([("code", "MG"), ("date", "2023-11-13")], [2.1]),
        ([("code", "MG"), ("date", "2023-11-12T12:15:00+02:00")], [1.8]),
        ([("code", "MG"), ("date", "gt2023-12")], [2.5]),
        ([("code", "MG,K")], [1.8, 2.1, 2.5, 3.4]),
        ([("code", "MG"), ("code", "K")], []),
        ([("code", "http://loinc.org|MG")], [1.8, 2.1, 2.5]),
        ([("code", "http://snomed.info/sct|MG")], []),
        ([("code", "|MG")], []),
        ([("code", "http://loinc.org|")], [1.8, 2.1, 2.5, 3.4]),
        ([("combo-code", "K")], [3.4]),
        ([("code", "mg")], []),
        ([("code", "2823-3")], []),
        ([("code", "BP")], []),
        ([("code:text", "bp")], ["149/44"]),
        ([("code:text", "heart")], ["72"]),
        ([("code:not", "MG")], [3.4, "149/44", "72"]),
        ([("code:missing", "true")], []),
        ([("status", "final")], [1.8, 2.1, 2.5, 3.4]),
        ([("status:missing", "true")], ["149/44", "72"]),
        ([("status:not", "final")], ["149/44", "72"]),
        ([("category", "vital-signs")], ["149/44", "72"]),
        ([("category", "http://hl7.org/fhir/observation-category|vital-signs")], ["149/44", "72"]),
        ([("category", "laboratory"), ("code", "K")], [3.4]),
        ([("category:text", "vital")], ["149/44", "72"]),
        ([("value-quantity", "lt2")], [1.8]),
        ([("value-quantity", "gt3||mmol/L")], [3.4]),
        ([("value-quantity", "gt3||mg/dL")], []),
        ([("value-quantity", "le2.1|http://unitsofmeasure.org|mg/dL")], [1.8, 2.1]),
        ([("value-quantity", "2.1")], [2.1]),
        ([("value-quantity", "2")], [1.8, 2.1]),
        ([("value-quantity", "ap2.0")], [1.8, 2.1]),
        ([("code-value-quantity", "MG$gt2")], [2.1, 2.5]),
        ([("value-string", "149")], ["149/44"]),
        ([("encounter:missing", "true"), ("code", "K")], [3.4]),
        ([("encounter", "1")], []),
        ([("code", "MG"), ("_sort", "-date")], [2.5, 2.1, 1.8]),
        ([("code", "MG"), ("_sort", "value-quantity"), ("_count", "2")], [1.8, 2.1]),
        ([("_sort", "code,-date"), ("code", "MG,K")], [3.4, 2.5, 2.1, 1.8]),
        ([("_sort", "-value-quantity")], [3.4, 2.5, 2.1, 1.8, "149/44", "72"]),
        ([("_id", "7,8")], [2.5, 3.4]),
        ([("_id", "999")], []),
        ([("_lastUpdated", "lt2024-12-30")], []),
        ([("_lastUpdated", "ge2024-12-30"), ("code", "K")], [3.4]),
        ([("code", ""), ("date", "")], [1.8, 2.1, 2.5, 3.4, "149/44", "72"]),
    ],
)
def test_observations_of_a_patient(store, params, expected):
    assert values(store, "Observation", TINA, *params) == expected


@pytest.mark.parametrize(
    "param",
    [
        ("patient", "S1000002"),
        ("patient", "Patient/S1000002"),
        ("patient", "http://localhost:8080/fhir/Patient/S1000002"),
        ("patient", "Patient/S1000002/_history/1"),
        ("subject", "S1000002"),
        ("subject", "Patient/S1000002"),
        ("subject:Patient", "S1000002"),
        ("patient:identifier", "S1000002"),
        ("patient", "S1000002,S9999999"),
    ],
)
def test_a_patient_may_be_named_in_many_ways(store, param):
    assert values(store, "Observation", param) == [1.2]


@pytest.mark.parametrize(
    "param",
    [("patient", "S9999999"), ("subject", "Group/S1000002"), ("subject:Group", "S1000002")],
)
def test_an_unknown_subject_has_no_records(store, param):
    result = store.search("Observation", [param])
    assert (result.resources, result.total, result.next) == ((), 0, None)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ([("family", "ordonez")], ["S1000001"]),
        ([("family", "ORDÓ")], ["S1000001"]),
        ([("family", "rdo")], []),
        ([("family:contains", "rdo")], ["S1000001"]),
        ([("family:exact", "Ordonez")], []),
        ([("family:exact", "Reid")], ["S1000002"]),
        ([("given", "Tina")], ["S1000001", "S1000002"]),
        ([("name", "Tina Reid")], []),
        ([("name", "Tina"), ("name", "Reid")], ["S1000002"]),
        ([("name", "ordonez,reid")], ["S1000001", "S1000002"]),
        ([("given", "Tina"), ("birthdate", "1961-02-03")], ["S1000002"]),
        ([("birthdate", "lt1960")], ["S1000001"]),
        ([("identifier", "S1000002")], ["S1000002"]),
        ([("identifier", "|S1000002")], ["S1000002"]),
        ([("identifier", "MRN|S1000002")], []),
        ([("identifier", "MRN-S1000002")], []),
        ([("_id", "S1000001")], ["S1000001"]),
        ([("gender", "female"), ("address-city", "palo")], ["S1000001"]),
        ([("address", "94304")], ["S1000001"]),
        ([("phone", "555-0100")], ["S1000001"]),
        ([("telecom:missing", "true")], ["S1000002"]),
        ([("_sort", "-birthdate")], ["S1000002", "S1000001"]),
        ([("_sort", "family")], ["S1000001", "S1000002"]),
    ],
)
def test_patients(store, params, expected):
    assert values(store, "Patient", *params) == expected


@pytest.mark.parametrize(
    ("kind", "params", "expected"),
    [
        ("Condition", [("code", "C64.2")], ["C64.2"]),
        ("Condition", [("code", "http://hl7.org/fhir/sid/icd-10|C64.2,E87.1")], ["C64.2", "E87.1"]),
        ("Condition", [("code:text", "malignant neoplasm of")], ["C64.2"]),
        ("Condition", [("category", "problem-list-item")], []),
        ("Condition", [("clinical-status", "active")], []),
        ("Condition", [("onset-date", "2021")], ["C64.2"]),
        ("Condition", [("recorded-date", "ge2022")], ["E87.1"]),
        ("Procedure", [("code", "IMGCT0491,IMGIL0001")], ["IMGCT0491"]),
        ("Procedure", [("date", "2022-10-01")], ["IMGCT0491"]),
        ("Procedure", [("date", "gt2023-11-11")], ["NUR1373"]),
        ("Procedure", [("date", "2023-11")], ["NUR1373"]),
        ("Procedure", [("_sort", "-date")], ["NUR1373", "IMGCT0491"]),
        ("MedicationRequest", [("status", "active")], ["HEPARIN"]),
        ("MedicationRequest", [("status", "active,stopped")], ["HEPARIN", "ASPIRIN"]),
        ("MedicationRequest", [("status:not", "active")], ["ASPIRIN"]),
        ("MedicationRequest", [("date", "2023-11-12")], []),
        ("MedicationRequest", [("authoredon", "2023-11-12")], ["HEPARIN"]),
        ("MedicationRequest", [("code:text", "aspirin")], ["ASPIRIN"]),
        ("MedicationRequest", [("intent", "order"), ("category", "x")], []),
        ("ServiceRequest", [("code", "306181000000106")], ["306181000000106"]),
        ("ServiceRequest", [("code", "http://snomed.info/sct|306181000000106")],
         ["306181000000106"]),
        ("ServiceRequest", [("code", "http://loinc.org|306181000000106")], []),
        ("ServiceRequest", [("status", "active"), ("authored", "2023-11")], ["306181000000106"]),
        ("ServiceRequest", [("occurrence", "ge2000")], []),
        ("ServiceRequest", [("priority", "routine"), ("intent", "order")], ["306181000000106"]),
        ("Immunization", [], []),
    ],
)  # fmt: skip
def test_other_types(store, kind, params, expected):
    assert values(store, kind, TINA, *params) == expected


@pytest.mark.parametrize(
    ("kind", "param", "status", "told"),
    [
        ("Observation", ("foo", "1"), 400, "Valid search parameters: _count, "),
        ("Patient", ("legal-sex", "F"), 400, "gender"),
        ("Observation", ("date", "today"), 400, "YYYY-MM-DD"),
        ("Observation", ("date", "ge2023-02-30"), 400, "2023-02-30"),
        ("Observation", ("code:in", "http://x"), 400, ":in"),
        ("Observation", ("code:above", "1"), 400, ":missing, :not, :text"),
        ("Observation", ("subject:Patient.identifier", "1"), 400, "Chained"),
        ("Observation", ("patient.name", "1"), 400, "Chained"),
        ("Patient", ("_has:Observation:patient:code", "1"), 400, "chained"),
        ("Observation", ("value-quantity", "ltx"), 400, "number|system|code"),
        ("Observation", ("value-quantity", "NaN"), 400, "number"),
        ("Observation", ("value-quantity", "1e999999999"), 400, "number"),
        ("Observation", ("code-value-quantity", "MG"), 400, "code$value-quantity"),
        ("Observation", ("code:missing", "yes"), 400, "true or false"),
        ("Observation", ("_count", "-1"), 400, "_count"),
        ("Observation", ("_count", "many"), 400, "_count"),
        ("Observation", ("_sort", "-nothing"), 400, "nothing"),
        ("Observation", ("_summary", "short"), 400, "count"),
        ("Observation", ("_total", "yes"), 400, "accurate"),
        ("Observation", ("_include", "Observation:code"), 400, "Observation:subject"),
        ("Observation", ("_include:up", "Observation:subject"), 400, ":iterate"),
        ("Foo", ("code", "1"), 404, "Patient"),
        ("../Patient", ("code", "1"), 404, "Unknown resource type"),
    ],
)
def test_refusals_say_what_is_accepted(store, kind, param, status, told):
    with pytest.raises(FhirError) as caught:
        store.search(kind, [param])
    assert caught.value.status == status
    assert told in caught.value.diagnostics
    assert caught.value.outcome()["issue"][0]["diagnostics"] == caught.value.diagnostics


def test_totals_and_counts(store):
    assert store.search("Observation", [TINA]).total == 6
    assert store.search("Observation", [TINA, ("_count", "2")]).total is None
    accurate = store.search("Observation", [TINA, ("_count", "2"), ("_total", "accurate")])
    assert (accurate.total, len(accurate.resources)) == (6, 2)
    for only in (("_summary", "count"), ("_count", "0")):
        result = store.search("Observation", [TINA, only])
        assert (result.total, result.resources, result.next) == (6, (), None)
    assert len(store.search("Observation", [TINA, ("_count", "5000")]).resources) == 6


def test_elements_are_selected_and_marked(store):
    (patient,) = store.search("Patient", [("_id", "S1000001"), ("_elements", "name")]).resources
    assert set(patient) == {"resourceType", "id", "meta", "name"}
    assert patient["meta"]["tag"][0]["code"] == "SUBSETTED"
    assert "tag" not in store.read("Patient", "S1000001")["meta"]


def test_includes_follow_references_both_ways(store):
    asked = [("code", "MG"), ("_include", "Observation:subject")]
    result = store.search("Observation", asked)
    assert [r["id"] for r in result.included] == ["S1000001", "S1000002"]
    result = store.search("Patient", [("_id", "S1000002"), ("_revinclude", "Observation:patient")])
    assert [r["valueQuantity"]["value"] for r in result.included] == [1.2]


def test_escaped_separators_are_part_of_the_value(store):
    text = r"heparin 5\,000 unit"
    assert values(store, "MedicationRequest", ("code:text", text)) == ["HEPARIN"]
    assert values(store, "MedicationRequest", ("code:text", "x,heparin 5")) == ["HEPARIN"]
