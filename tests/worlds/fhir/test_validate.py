import copy

import pytest

from healthgym.worlds.fhir import FhirError, FhirStore, R4Compat, ValidationLevel

LEVELS = list(ValidationLevel)


def make(chart, clock, level, compat=None):
    return FhirStore(chart, clock=clock, validation=level, compat=compat or R4Compat())


@pytest.mark.parametrize("level", LEVELS)
def test_a_sound_order_passes_every_level(chart, clock, order, level):
    assert make(chart, clock, level).create(order)["id"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "resource",
    [
        None,
        [],
        "text",
        {},
        {"resourceType": "Bogus"},
        {"resourceType": ["Patient"]},
        {"resourceType": "Patient", "x": float("nan")},
        {"resourceType": "Patient", "x": object()},
        {"resourceType": "Patient", "x": "\ud800"},
        {"resourceType": "Patient", "x": [{"\ud800": "x"}]},
        {"resourceType": "Observation", "valueQuantity": {"value": -(10**400)}},
        {"resourceType": "Patient", 3: "x"},
    ],
    ids=[
        "none",
        "list",
        "text",
        "empty",
        "unknown-type",
        "type-a-list",
        "nan",
        "object",
        "lone-surrogate",
        "lone-surrogate-as-key",
        "endless-number",
        "number-as-key",
    ],
)
def test_what_is_no_resource_is_refused_at_every_level(chart, clock, level, resource):
    store = make(chart, clock, level)
    with pytest.raises(FhirError) as caught:
        store.create(resource)
    assert caught.value.status == 400
    assert store.written == ()


def test_deep_nesting_is_refused(store):
    deep: list = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(FhirError, match="nested"):
        store.create({"resourceType": "Patient", "x": deep})


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"status": None}, "ServiceRequest.status"),
        ({"intent": ""}, "ServiceRequest.intent"),
        ({"subject": None}, "ServiceRequest.subject"),
        ({"subject": "Patient/S1000001"}, "ServiceRequest.subject"),
        ({"subject": {"reference": "Patient/S9"}}, "ServiceRequest.subject.reference"),
        ({"subject": {"reference": "S1000001"}}, "ServiceRequest.subject.reference"),
    ],
)
def test_structural_faults_are_named_by_path(chart, clock, order, change, path):
    broken = {k: v for k, v in {**order, **change}.items() if v is not None}
    with pytest.raises(FhirError) as caught:
        make(chart, clock, ValidationLevel.STRUCTURAL).create(broken)
    assert caught.value.status == 422
    assert path in caught.value.outcome()["issue"][0]["expression"]
    assert make(chart, clock, ValidationLevel.OFF).create(broken)


def test_a_choice_element_counts_in_any_of_its_types(store, order):
    drug = {key: value for key, value in order.items() if key not in ("code", "priority")}
    drug["resourceType"] = "MedicationRequest"
    with pytest.raises(FhirError, match=r"medication\[x\]"):
        store.create({**drug, "medication": {"text": "x"}})
    assert store.create({**drug, "medicationCodeableConcept": {"text": "x"}})
    assert store.create({**drug, "medicationReference": {"reference": "Medication/1"}})


@pytest.fixture
def compat_order(order):
    drug = copy.deepcopy(order)
    del drug["code"]
    return {
        **drug,
        "resourceType": "MedicationRequest",
        "medicationCodeableConcept": {"text": "Magnesium sulfate"},
        "dosageInstruction": [{"route": "IV"}],
    }


def test_r4_refuses_what_the_specification_refuses(chart, clock, order, compat_order):
    pytest.importorskip("fhir.resources")
    strict = make(chart, clock, ValidationLevel.R4)
    with pytest.raises(FhirError, match="route"):
        strict.create(compat_order)
    with pytest.raises(FhirError, match="note"):
        strict.create({**order, "note": {"text": "x"}})
    with pytest.raises(FhirError) as caught:
        strict.create({**order, "nonsense": 1})
    assert caught.value.status == 422
    assert caught.value.expression == ("ServiceRequest.nonsense",)
    assert strict.written == ()


def test_two_shapes_may_be_let_through_and_are_stored_as_sent(chart, clock, order, compat_order):
    pytest.importorskip("fhir.resources")
    compat = R4Compat(route_as_string=True, note_as_object=True)
    lenient = make(chart, clock, ValidationLevel.R4, compat)
    assert lenient.create(compat_order)["dosageInstruction"] == [{"route": "IV"}]
    assert lenient.create({**order, "note": {"text": "x"}})["note"] == {"text": "x"}
    with pytest.raises(FhirError):
        lenient.create({**order, "note": {"text": 3}})
    with pytest.raises(FhirError):
        lenient.create({**compat_order, "dosageInstruction": [{"route": 5}]})
