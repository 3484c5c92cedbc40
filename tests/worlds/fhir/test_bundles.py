import gzip
import json
from datetime import UTC, datetime

import pytest

from healthgym.core.clock import Clock
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.fhir import DocumentBase, FhirStore
from healthgym.worlds.fhir.bundles import load_bundles

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
URN = "urn:uuid:11111111-1111-1111-1111-111111111111"


def entry(resource, full_url=None):
    return {"resource": resource} | ({"fullUrl": full_url} if full_url else {})


def bundle(*entries, kind="transaction"):
    return {"resourceType": "Bundle", "type": kind, "entry": list(entries)}


def note(key, reference):
    return {"resourceType": "Basic", "id": key, "subject": {"reference": reference}}


@pytest.fixture
def folder(tmp_path):
    patient = {"resourceType": "Patient", "name": [{"family": "A"}]}
    first = bundle(entry(patient, URN), entry(note("n1", URN)))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(first).encode()))
    later = bundle(entry({**note("n1", URN), "status": "final"}), kind="searchset")
    (tmp_path / "b.json").write_text(json.dumps(later), encoding="utf-8")
    lines = [note("n2", "Patient/x"), bundle(entry(note("n3", URN)), kind="collection")]
    (tmp_path / "c.ndjson").write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "README.md").write_text("not data", encoding="utf-8")
    return tmp_path


def test_every_file_and_type_is_read_and_urns_become_local(folder):
    base = load_bundles(folder)
    assert base.resource_types() == ("Patient", "Basic")
    key = URN.removeprefix("urn:uuid:")
    assert base.find("Patient", key) == 0
    subjects = [base.resource("Basic", row)["subject"]["reference"] for row in range(3)]
    assert subjects == [f"Patient/{key}", "Patient/x", f"Patient/{key}"]


def test_a_resource_that_comes_again_replaces_the_first(folder):
    base = load_bundles(folder)
    assert base.resource("Basic", 0)["status"] == "final"


def test_a_type_without_search_parameters_can_still_be_searched_by_id(folder):
    store = FhirStore(load_bundles(folder), clock=Clock(NOW))
    assert store.search("Basic", [("_id", "n2")]).total == 1
    assert store.read("Basic", "n3")["id"] == "n3"


def test_a_folder_without_data_is_named(tmp_path):
    with pytest.raises(MissingDataError, match="nowhere is not a folder"):
        load_bundles(tmp_path / "nowhere")
    with pytest.raises(MissingDataError, match=r"\.json\.gz"):
        load_bundles(tmp_path)
    for name in ("ward", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "ward" / "Patient.ndjson").write_bytes(PATIENT)
    with pytest.raises(MissingDataError, match=r"name one of them: ward\.$"):
        load_bundles(tmp_path)


PATIENT = b'{"resourceType": "Patient", "id": "p"}'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("z.json", b"{broken", id="broken-json"),
        pytest.param("z.json", b"\xff\xfe", id="not-utf-8"),
        pytest.param("z.json", b"[]", id="a-list"),
        pytest.param("z.json", b'{"no": "type"}', id="no-type"),
        pytest.param("z.json", b'{"resourceType": "Bundle", "entry": 3}', id="entry-a-number"),
        pytest.param("z.json", b'{"resourceType": "Bundle", "entry": [{}]}', id="entry-empty"),
        pytest.param(
            "z.json",
            b'{"resourceType": "Bundle", "entry": [{"resource": {"id": "1"}}]}',
            id="entry-without-type",
        ),
        pytest.param("z.json", b'{"resourceType": "Patient"}', id="no-id"),
        pytest.param("z.json", b"[" * 100_000, id="too-deep"),
        pytest.param("z.json.gz", b"plain text", id="not-gzip"),
        pytest.param("z.json.gz", gzip.compress(PATIENT)[:-9], id="gzip-cut-short"),
        pytest.param("z.ndjson", PATIENT + b"\n{", id="last-line-broken"),
    ],
)
def test_a_damaged_file_is_named(folder, name, data):
    (folder / name).write_bytes(data)
    with pytest.raises(DamagedDataError, match=name):
        load_bundles(folder)


def test_documents_need_ids_and_no_two_alike():
    with pytest.raises(DamagedDataError, match="number 2"):
        DocumentBase([note("a", "x"), {"resourceType": "Basic"}])
    with pytest.raises(DamagedDataError, match="Basic/a"):
        DocumentBase([note("a", "x"), note("a", "y")])
    assert DocumentBase([note("41", "x"), note("b", "y")]).next_id == 42


@pytest.fixture(scope="module")
def synthea(data_dir):
    folder = data_dir / "synthea-fhir-r4"
    if not folder.is_dir():
        pytest.skip(f"no Synthea bundles: {folder} does not exist")
    return load_bundles(folder)


@pytest.fixture
def real(synthea):
    return FhirStore(synthea, clock=Clock(NOW))


def test_real_bundles_are_read_whole(synthea):
    assert synthea.size("Patient") == 24
    assert synthea.size("Observation") == 1627
    assert len(synthea.resource_types()) == 16
    text = json.dumps([synthea.resource("Observation", row) for row in range(1627)])
    assert "urn:uuid" not in text


def test_real_records_belong_to_their_patients(synthea, real):
    keys = [synthea.id_of("Patient", row) for row in range(24)]
    personal = [
        kind
        for kind in synthea.resource_types()
        if kind not in ("Patient", "Organization", "Practitioner")
    ]
    for kind in personal:
        counts = [
            real.search(kind, [("patient", key), ("_summary", "count")]).total for key in keys
        ]
        assert sum(counts) == synthea.size(kind), kind


@pytest.mark.parametrize(
    ("kind", "params", "check"),
    [
        ("Observation", [("code", "8302-2")], lambda r: r["code"]["coding"][0]["code"] == "8302-2"),
        ("Observation", [("component-code", "8480-6")], lambda r: "component" in r),
        ("Observation", [("combo-code", "8480-6")], lambda r: "component" in r),
        ("Observation", [("component-code-value-quantity", "8480-6$gt140")],
         lambda r: any(c["valueQuantity"]["value"] > 140 for c in r["component"])),
        ("Immunization", [("vaccine-code", "140"), ("date", "2013")],
         lambda r: r["occurrenceDateTime"].startswith("2013")),
        ("Encounter", [("class", "AMB"), ("date", "ge2018")],
         lambda r: r["period"]["end"] > "2018"),
        ("Condition", [("clinical-status", "active")],
         lambda r: r["clinicalStatus"]["coding"][0]["code"] == "active"),
        ("Claim", [("use", "claim"), ("created", "lt2012")], lambda r: r["created"] < "2012"),
        ("DiagnosticReport", [("date", "ge2015"), ("status", "final")],
         lambda r: r["effectiveDateTime"] >= "2015"),
        ("Goal", [("lifecycle-status", "accepted")], lambda r: "subject" in r),
        ("ImagingStudy", [("modality", "DX")], lambda r: "series" in r),
        ("AllergyIntolerance", [("category", "food")], lambda r: r["category"] == ["food"]),
        ("CarePlan", [("status", "completed"), ("date", "ge2000")],
         lambda r: r["status"] == "completed"),
        ("MedicationRequest", [("status", "active"), ("authoredon", "ge2000")],
         lambda r: r["status"] == "active"),
        ("Procedure", [("date", "ge2010"), ("code:not", "430193006")],
         lambda r: r["code"]["coding"][0]["code"] != "430193006"),
        ("Patient", [("name", "ordonez")], lambda r: r["name"][0]["family"].startswith("Ord")),
        ("Organization", [("address-state", "ma")], lambda r: r["address"][0]["state"] == "MA"),
    ],
    ids=[
        "code", "component-code", "combo-code", "component-quantity", "immunization", "encounter",
        "condition", "claim", "report", "goal", "imaging", "allergy", "care-plan", "medication",
        "procedure", "patient", "organization",
    ],
)  # fmt: skip
def test_real_records_are_found(synthea, real, kind, params, check):
    found = real.search(kind, [*params, ("_count", "5000")]).resources
    every = [synthea.resource(kind, row) for row in range(synthea.size(kind))]
    assert found
    assert all(check(resource) for resource in found)
    missed = len(every) - len(found)
    assert missed or kind in ("AllergyIntolerance", "Goal", "ImagingStudy", "Organization")


def test_real_records_can_be_written_over(synthea, real):
    key = synthea.id_of("MedicationRequest", 0)
    drug = real.read("MedicationRequest", key)
    real.update({**drug, "status": "stopped"})
    assert real.read("MedicationRequest", key)["status"] == "stopped"
    assert synthea.resource("MedicationRequest", 0) == drug
    asked = [("encounter", drug["encounter"]["reference"]), ("_include", "MedicationRequest:*")]
    included = real.search("MedicationRequest", asked).included
    assert {"Patient", "Encounter", "Practitioner"} <= {r["resourceType"] for r in included}
