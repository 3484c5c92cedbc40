"""What each tool shows, changes and refuses."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.catalog import ToolCatalog
from healthgym.core.clock import Clock
from healthgym.core.tool import call
from healthgym.envs.fhir_record.calculator import evaluate
from healthgym.envs.fhir_record.toolset import RecordToolset
from healthgym.errors import ToolError
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.world import FhirWorld

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
AT = int(NOW.timestamp())
DAY = 86_400


def chart() -> FhirWorld:
    from datetime import date

    builder = ChartBuilder()
    builder.patient(
        mrn="S7000001", family="Nguyen", given="Linh", gender="female", birth_date=date(1950, 3, 4)
    )
    builder.patient(
        mrn="S7000002", family="Nguyen", given="Bao", gender="male", birth_date=date(1980, 7, 1)
    )
    for number in range(30):
        builder.lab("S7000001", "GLU", AT - number * 3600, 100.0 + number, "mg/dL")
    builder.lab("S7000001", "K", AT - DAY, 3.1, "mmol/L")
    builder.vital("S7000001", "BP", AT - 600, "149/44")
    builder.medication_request(
        "S7000001",
        "HEPARIN 5,000 UNIT/ML INJ SOLN",
        AT - DAY,
        timing="Q8H",
        route="Subcutaneous",
        dose=5000,
        dose_unit="Units",
    )
    builder.medication_request(
        "S7000001", "ASPIRIN 81 MG PO TBEC", AT - 9 * DAY, status="completed"
    )
    builder.procedure("S7000001", "IMGCT0491", "CT Abdomen", AT - 400 * DAY)
    builder.condition("S7000001", "C64.2", "Malignant neoplasm of left kidney", AT - 700 * DAY)
    return FhirWorld(builder.build(), Clock(NOW))


def use(world: FhirWorld, name: str, **arguments: Any) -> str:
    """Call a tool as the engine does: in a transaction."""
    catalog = ToolCatalog([RecordToolset])
    savepoint = world.journal.begin()
    try:
        shown = catalog.invoke([RecordToolset(world)], call(name, **arguments)).result.text
    except ToolError:
        world.journal.rollback(savepoint)
        raise
    world.journal.commit()
    return shown


def test_patients_are_found_by_any_of_their_facts() -> None:
    world = chart()
    both = use(world, "search_patients", family="nguy").splitlines()
    assert both == [
        "S7000001 | Linh Nguyen | 1950-03-04 | female",
        "S7000002 | Bao Nguyen | 1980-07-01 | male",
    ]
    assert use(world, "search_patients", mrn="S7000002") == both[1]
    assert use(world, "search_patients", family="Nguyen", birth_date="1950-03-04") == both[0]
    assert use(world, "search_patients", family="Nguyen", given="Ann") == "No matches."
    with pytest.raises(ToolError, match="at least one"):
        use(world, "search_patients")


def test_observations_come_newest_first_page_by_page() -> None:
    world = chart()
    first = use(world, "search_observations", patient="S7000001", code="GLU").splitlines()
    assert first[0] == "2023-11-13T10:15:00+00:00 GLU 100 mg/dL"
    assert first[9] == "2023-11-13T01:15:00+00:00 GLU 109 mg/dL"
    assert first[10].startswith("(1-10 of 30; more: next_page ")
    token = first[10].removesuffix(")").split()[-1]
    second = use(world, "next_page", token=token).splitlines()
    assert second[0] == "2023-11-13T00:15:00+00:00 GLU 110 mg/dL"
    window = use(
        world,
        "search_observations",
        patient="S7000001",
        code="GLU",
        since="2023-11-13T09:00:00+00:00",
        until="2023-11-13T09:30:00+00:00",
    )
    assert window == "2023-11-13T09:15:00+00:00 GLU 101 mg/dL"
    vitals = use(world, "search_observations", patient="S7000001", category="vital-signs")
    assert vitals == "2023-11-13T10:05:00+00:00 BP 149/44"
    assert use(world, "search_observations", patient="S7000001", code="2823-3") == "No matches."


def test_the_other_searches_show_what_a_decision_needs() -> None:
    world = chart()
    active = use(world, "search_medication_requests", patient="S7000001", status="active")
    assert "HEPARIN 5,000 UNIT/ML" in active
    assert "5000 Units" in active
    assert "Q8H" in active
    assert "ASPIRIN" not in active
    assert "ASPIRIN" in use(world, "search_medication_requests", patient="S7000001", text="aspirin")
    scan = use(world, "search_procedures", patient="S7000001", code="IMGCT0491,IMGIL0001")
    assert scan == "2022-10-09T10:15:00+00:00 IMGCT0491 CT Abdomen"
    assert "C64.2" in use(world, "search_conditions", patient="S7000001", code="C64.2")
    assert use(world, "search_service_requests", patient="S7000001") == "No matches."


def test_raw_fhir_is_there_on_request() -> None:
    world = chart()
    text = use(
        world,
        "search_fhir",
        query="Observation?patient=S7000001&code=K&date=ge2023-11-12T10:15:00+00:00",
    )
    assert '"valueQuantity":{"value":3.1' in text
    identifier = text.split('"id":"')[1].split('"')[0]
    assert use(world, "read_resource", resource_type="Observation", id=identifier) == text
    with pytest.raises(ToolError, match="colour"):
        use(world, "search_fhir", query="Observation?colour=blue")
    with pytest.raises(ToolError, match="not known"):
        use(world, "read_resource", resource_type="Observation", id="999999")


def test_orders_are_stored_as_fhir_and_found_again() -> None:
    world = chart()
    said = use(
        world,
        "create_medication_request",
        patient="S7000001",
        medication="potassium chloride",
        code="40032-917-01",
        dose=40.0,
        dose_unit="mEq",
        route="oral",
        frequency="once",
    )
    order = world.store.written[0].resource
    assert said == f"Ordered: MedicationRequest {order['id']}."
    assert order["medicationCodeableConcept"] == {
        "coding": [{"system": "http://hl7.org/fhir/sid/ndc", "code": "40032-917-01"}],
        "text": "potassium chloride",
    }
    assert order["authoredOn"] == "2023-11-13T10:15:00+00:00"
    assert order["dosageInstruction"][0]["route"] == {"text": "oral"}
    found = use(world, "search_medication_requests", patient="S7000001", text="potassium")
    assert f"id {order['id']}" in found
    use(
        world,
        "create_service_request",
        patient="S7000001",
        code="2823-3",
        system="http://loinc.org",
        occurrence="2023-11-14T08:00:00",
        note="fasting",
    )
    service = world.store.written[1].resource
    assert service["occurrenceDateTime"] == "2023-11-14T08:00:00+00:00"
    assert service["note"] == [{"text": "fasting"}]
    use(world, "record_observation", patient="S7000001", flowsheet="BP", value="118/77 mmHg")
    assert "118/77 mmHg" in use(
        world, "search_observations", patient="S7000001", category="vital-signs"
    )


@pytest.mark.parametrize("name", ["LOINC", "loinc", " http://loinc.org "])
def test_a_code_system_may_go_by_its_name(name: str) -> None:
    world = chart()
    use(world, "create_service_request", patient="S7000001", code="4548-4", system=name)
    (written,) = world.store.written
    order = world.store.read("ServiceRequest", written.id)
    assert order["code"]["coding"] == [{"system": "http://loinc.org", "code": "4548-4"}]


def test_written_orders_are_valid_r4() -> None:
    pytest.importorskip("fhir.resources")
    from fhir.resources.R4B import get_fhir_model_class

    world = chart()
    use(
        world,
        "create_medication_request",
        patient="S7000001",
        medication="magnesium",
        dose=2.0,
        dose_unit="g",
        route="IV",
        rate=2.0,
        rate_unit="h",
    )
    use(world, "create_service_request", patient="S7000001", code="x", note="n", priority="stat")
    use(world, "record_observation", patient="S7000001", flowsheet="BP", value="1/1 mmHg")
    for write in world.store.written:
        model = get_fhir_model_class(write.resource_type)
        assert model.model_validate(write.resource).id == write.id


def test_stopping_takes_an_active_order_once() -> None:
    world = chart()
    listed = use(world, "search_medication_requests", patient="S7000001").splitlines()
    heparin = next(line for line in listed if "HEPARIN" in line).split(" | ")[0].removeprefix("id ")
    use(world, "stop_medication_request", id=heparin)
    assert world.store.read("MedicationRequest", heparin)["status"] == "stopped"
    with pytest.raises(ToolError, match="not active"):
        use(world, "stop_medication_request", id=heparin)
    with pytest.raises(ToolError, match="not known"):
        use(world, "stop_medication_request", id="no-such-order")


def test_the_chart_last_opened_is_the_one_that_is_meant() -> None:
    world = chart()
    with pytest.raises(ToolError, match="no chart is open"):
        use(world, "search_observations", code="K")
    use(world, "search_observations", patient="S7000001", code="K")
    before = world.digest()
    assert use(world, "search_observations", code="K") == "2023-11-12T10:15:00+00:00 K 3.1 mmol/L"
    assert world.digest() == before
    twin = world.clone()
    use(world, "search_patients", family="Nguyen", given="Bao")
    use(world, "create_service_request", code="1-8")
    assert world.store.written[0].resource["subject"] == {"reference": "Patient/S7000002"}
    use(twin, "create_service_request", code="1-8")
    assert twin.store.written[0].resource["subject"] == {"reference": "Patient/S7000001"}
    # Several matches open no chart: the last one stays open.
    use(twin, "search_patients", family="Nguyen")
    assert twin.open_patient == "S7000001"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("create_medication_request", {"patient": "S7000001"}, "Name the medication"),
    ("create_medication_request", {"patient": "S9", "medication": "x"}, "no patient"),
    (
        "create_medication_request",
        {"patient": "S7000001", "medication": "x", "dose": 1.0},
        "number and a unit",
    ),
    (
        "create_service_request",
        {"patient": "S7000001", "code": "x", "occurrence": "soon"},
        "a time such as",
    ),
    ("create_service_request", {"patient": "S7000001", "code": "x", "priority": "now"}, "priority"),
    ("create_service_request", {"patient": "S7000001", "code": " "}, "1 to 4000"),
    ("record_observation", {"patient": "", "flowsheet": "BP", "value": "1"}, "no chart is open"),
    ("search_observations", {"patient": "S7000001", "limit": 0}, "between 1 and 50"),
    ("search_observations", {"patient": "S7000001", "since": "yesterday"}, "yesterday"),
    ("next_page", {"token": "made-up"}, "token"),
    ("calculate", {"expression": "__import__('os')"}, "only numbers"),
]


@pytest.mark.parametrize(
    ("name", "arguments", "message"), REFUSED, ids=[f"{n}-{m}" for n, _, m in REFUSED]
)
def test_what_is_refused_changes_nothing(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    world = chart()
    before = world.digest()
    with pytest.raises(ToolError, match=message):
        use(world, name, **arguments)
    assert world.digest() == before


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("-(2 - 5) / 4", "0.75"),
        ("mean(131, 118, 140)", "129.6666667"),
        ("round(mean(1, 2), 1)", "1.5"),
        ("max(min(3, 2), sum(1, 1, 1))", "3"),
        ("1.91 * 2.43", "4.6413"),
        ("1e3", "1000"),
    ],
)
def test_arithmetic(expression: str, value: str) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1/0",
        "2**9",
        "a",
        "open('x')",
        "1e999",
        "(" * 200,
        "mean()",
        "round()",
        "1 2",
        "9" * 600,
        "9" * 60 + " units",  # each way to take the number apart used to be tried
        "mean",
        "(1).real",
        "[1]",
        "1if 1else 2",
        "'a'*9",
    ],
)
def test_what_is_not_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ToolError):
        evaluate(expression)


@given(st.text(alphabet="0123456789.+-*/(), meanroudsix", max_size=60))
def test_no_expression_escapes_the_calculator(expression: str) -> None:
    with contextlib.suppress(ToolError):
        float(evaluate(expression))
