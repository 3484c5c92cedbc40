import json
import os
from datetime import UTC, date, datetime

import numpy as np
import pytest

from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.worlds.fhir import ChartBuilder, ColumnBase, FhirStore
from healthgym.worlds.fhir.search.table import parameter_table
from healthgym.worlds.fhir.search.values import extract

T0 = 1_700_000_000


def shape(value):
    """The keys of a JSON value in order, and its leaf types; lists by their distinct members."""
    if isinstance(value, dict):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return ["list", *sorted({json.dumps(shape(item)) for item in value})]
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def one_patient() -> ChartBuilder:
    builder = ChartBuilder()
    builder.patient(
        mrn="S1", family="Reid", given="Tina", gender="female", birth_date=date(1950, 1, 2)
    )
    return builder


def everything(base: ColumnBase) -> list[dict]:
    return [
        base.resource(kind, row) for kind in base.resource_types() for row in range(base.size(kind))
    ]


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def rebuild(builder: ChartBuilder, real: dict) -> None:
    """Put the content of a real resource into a chart."""
    match real:
        case {"resourceType": "Condition"}:
            coding = real["code"]["coding"][0]
            onset = seconds(real["onsetDateTime"])
            builder.condition("S1", coding["code"], coding["display"], onset)
        case {"resourceType": "Observation", "valueQuantity": quantity}:
            flags = real.get("interpretation")
            builder.lab(
                "S1",
                real["code"]["text"],
                seconds(real["effectiveDateTime"]),
                quantity["value"],
                quantity["unit"],
                issued=seconds(real["issued"]),
                interpretation=flags[0]["coding"][0]["code"] if flags else None,
            )
        case {"resourceType": "Observation"}:
            when = seconds(real["effectiveDateTime"])
            builder.vital("S1", real["code"]["text"], when, real["valueString"])
        case {"resourceType": "Procedure"}:
            coding = real["code"]["coding"][0]
            when = seconds(real["performedDateTime"])
            builder.procedure("S1", coding["code"], coding["display"], when)
        case {"resourceType": "MedicationRequest"}:
            dosage = real["dosageInstruction"][0]
            dose = dosage.get("doseAndRate", [{"doseQuantity": {}}])[0]["doseQuantity"]
            builder.medication_request(
                "S1",
                real["medicationCodeableConcept"]["text"],
                seconds(real["authoredOn"]),
                timing=dosage["timing"]["code"]["text"],
                route=dosage["route"]["text"],
                dose=dose.get("value"),
                dose_unit=dose.get("unit", ""),
            )


def test_resources_equal_the_real_ones_key_for_key(data_dir):
    path = data_dir / "medagentbench-sample" / "real_resources_sample_273.jsonl"
    if not path.is_file():
        pytest.skip(f"no real resources: {path} does not exist")
    for line in path.read_text(encoding="utf-8").splitlines():
        real = json.loads(line)
        builder = one_patient()
        rebuild(builder, real)
        built = builder.build().resource(real["resourceType"], 0)
        assert shape(built) == shape(real)
        mrn = real["subject"]["identifier"]["value"]
        told = json.loads(json.dumps(built).replace("S1", mrn))
        for key in real.keys() - {"id", "meta"}:
            assert told[key] == real[key]


def test_a_lab_is_spelt_as_the_server_spells_it(chart):
    observation = chart.resource("Observation", 1)
    assert list(observation) == [
        "resourceType", "id", "meta", "status", "category", "code", "subject",
        "effectiveDateTime", "issued", "valueQuantity", "interpretation",
    ]  # fmt: skip
    assert observation["effectiveDateTime"] == "2023-11-13T09:00:00+00:00"
    assert observation["issued"] == "2023-11-13T10:00:00+00:00"
    assert observation["valueQuantity"] == {
        "value": 2.1,
        "unit": "mg/dL",
        "system": "http://unitsofmeasure.org",
        "code": "mg/dL",
    }
    assert observation["meta"]["versionId"] == "1"
    assert observation["meta"]["lastUpdated"].startswith("2024-12-30T19:05:00.")


def test_a_patient_has_its_mrn_as_id_and_as_identifier_without_system(chart):
    patient = chart.resource("Patient", 0)
    assert patient["id"] == patient["identifier"][0]["value"] == "S1000001"
    assert "system" not in patient["identifier"][0]
    assert patient["name"] == [{"use": "official", "family": "Ordóñez", "given": ["Tina"]}]
    assert patient["birthDate"] == "1950-11-13"
    assert patient["address"][0]["postalCode"] == "94304"
    assert {extension["valueCodeableConcept"]["text"] for extension in patient["extension"]} == {
        "Other",
        "Not Hispanic",
    }


def test_ids_are_one_count_in_upload_order(chart):
    ids = [int(r["id"]) for r in everything(chart) if r["resourceType"] != "Patient"]
    assert ids == list(range(3, 3 + len(ids)))
    assert chart.next_id == ids[-1] + 1
    for kind in chart.resource_types():
        for row in range(chart.size(kind)):
            assert chart.find(kind, chart.id_of(kind, row)) == row
    for unknown in ("2", str(chart.next_id), "007", "٣", "-3", "9" * 30, ""):
        assert chart.find("Observation", unknown) is None


def test_bulk_rows_equal_single_rows(clock):
    times = np.arange(T0, T0 + 500, 5)
    values = np.round(np.linspace(1, 9, 100), 2)
    flags = ["HIGH" if value > 5 else None for value in values]
    texts = [f"{i}/70" for i in range(100)]
    bulk, single = one_patient(), one_patient()
    for builder in (bulk, single):
        builder.lab("S1", "K", T0 - 9, 4.0, "mmol/L")
    bulk.labs("S1", "K", times, values, "mmol/L", interpretations=flags)
    bulk.vitals("S1", "BP", times, texts)
    for time, value, flag, text in zip(times, values, flags, texts, strict=True):
        single.lab("S1", "K", int(time), float(value), "mmol/L", interpretation=flag)
        single.vital("S1", "BP", int(time), text)
    for builder in (bulk, single):
        builder.lab("S1", "K", datetime.fromtimestamp(T0 + 1, UTC), 5.0, "mmol/L")
    assert everything(bulk.build()) == everything(single.build())
    asked = [("code", "K"), ("date", "gt2023-11-14T22:15:00Z"), ("_sort", "-date")]
    stores = [FhirStore(builder.build(), clock=clock) for builder in (bulk, single)]
    found = [store.search("Observation", asked).resources for store in stores]
    assert found[0] == found[1]
    assert len(found[0]) == 20


def test_shuffling_moves_rows_but_keeps_the_content():
    builder = one_patient()
    builder.patient(mrn="S2", family="Roe", given="Ann", gender="female", birth_date=date(1, 2, 3))
    for hour in range(50):
        builder.lab(("S1", "S2")[hour % 2], "K", T0 + hour * 3600, float(hour), "mmol/L")
    plain = builder.build()
    shuffled = builder.build(shuffle=np.random.default_rng(7))

    def content(base: ColumnBase) -> list[tuple]:
        found = (base.resource("Observation", row) for row in range(base.size("Observation")))
        return [
            (r["effectiveDateTime"], r["valueQuantity"]["value"], r["subject"]["reference"])
            for r in found
        ]

    assert content(shuffled) != content(plain)
    assert sorted(content(shuffled)) == sorted(content(plain))
    again = builder.build(shuffle=np.random.default_rng(7))
    assert everything(again) == everything(shuffled)


def test_wrong_input_is_the_callers_error():
    builder = one_patient()
    with pytest.raises(ConfigurationError, match="twice"):
        builder.patient(mrn="S1", family="X", given="Y", gender="male", birth_date=date(2000, 1, 1))
    with pytest.raises(ConfigurationError, match="timezone"):
        builder.lab("S1", "K", datetime(2023, 1, 1), 4.0, "mmol/L")
    with pytest.raises(ConfigurationError, match="length"):
        builder.labs("S1", "K", np.arange(3), np.arange(2.0), "mmol/L")
    builder.lab("S9", "K", T0, 4.0, "mmol/L")
    with pytest.raises(ConfigurationError, match="S9"):
        builder.build()


def test_every_searchable_element_is_declared(chart):
    """A parameter with values that the table does not declare would silently match nothing."""
    for table in chart.tables():
        spec = table.spec
        declared = {*spec.tokens, *spec.dates, *spec.others}
        declared |= {"patient", "subject", "_id", "_lastUpdated", "_source"}
        resources = [table.build(row, chart.strings, ["S1"] * 9) for row in range(table.size)]
        for name, parameter in parameter_table().of(spec.resource_type).parameters.items():
            if name not in declared:
                assert not any(extract(parameter, resource) for resource in resources), name


@pytest.mark.parametrize("mmap", [True, False])
def test_a_saved_chart_is_the_same_chart(tmp_path, clock, chart, mmap):
    chart.save(tmp_path / "chart")
    loaded = ColumnBase.load(tmp_path / "chart", mmap=mmap)
    assert everything(loaded) == everything(chart)
    asked = [("patient", "S1000001"), ("code", "MG,K"), ("date", "le2023-11-13T09:00:00Z")]
    found, expected = (
        FhirStore(base, clock=clock).search("Observation", asked).resources
        for base in (loaded, chart)
    )
    assert found == expected
    assert len(found) == 3


def test_a_chart_that_is_cut_short_while_it_is_mapped_is_named(tmp_path, clock, chart):
    """Reading on would kill the process."""
    chart.save(tmp_path)
    store = FhirStore(ColumnBase.load(tmp_path), clock=clock)
    asked = [("patient", "S1000001")]
    assert store.search("Observation", asked).resources
    kept = {path: path.read_bytes() for path in tmp_path.glob("*.npy")}
    for path in kept:
        os.truncate(path, 64)
    with pytest.raises(DamagedDataError, match=r"\.npy was cut short"):
        store.search("Observation", asked)
    with pytest.raises(DamagedDataError, match=r"\.npy was cut short"):
        store.base.resource("Observation", 0)
    for path, data in kept.items():
        path.write_bytes(data)
    assert store.search("Observation", asked).resources
    for path in kept:  # what is mapped stays where a file is replaced, or goes
        path.unlink()
    assert store.search("Observation", asked).resources


def test_a_damaged_chart_is_refused_by_name(tmp_path, chart):
    with pytest.raises(MissingDataError, match=r"chart\.json"):
        ColumnBase.load(tmp_path / "nowhere")
    chart.save(tmp_path)
    (tmp_path / "lab.time.npy").write_bytes(b"garbage")
    with pytest.raises(DamagedDataError, match=r"lab\.time\.npy"):
        ColumnBase.load(tmp_path)
    np.save(tmp_path / "lab.time.npy", np.arange(2))
    with pytest.raises(DamagedDataError, match="expected i8"):
        ColumnBase.load(tmp_path)
    (tmp_path / "lab.time.npy").unlink()
    with pytest.raises(MissingDataError, match=r"lab\.time\.npy"):
        ColumnBase.load(tmp_path)
    (tmp_path / "chart.json").write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(DamagedDataError, match="format 99"):
        ColumnBase.load(tmp_path)
    (tmp_path / "chart.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DamagedDataError, match="manifest"):
        ColumnBase.load(tmp_path)
