import json
import os
import pickle
import subprocess
import sys
from datetime import timedelta

import pytest

from healthgym.worlds.fhir import FhirError, FhirStore, FhirWorld, ValidationLevel, WriteKind
from healthgym.worlds.fhir.store import KEPT_SEARCHES

TINA = ("patient", "S1000001")


def test_a_created_resource_is_found_read_and_logged(store, order):
    order["id"] = "chosen-by-me"
    stored = store.create(order)
    assert stored["id"] == str(store.base.next_id)
    assert list(stored)[:3] == ["resourceType", "id", "meta"]
    assert stored["meta"] == {
        "versionId": "1",
        "lastUpdated": "2023-11-13T10:15:00.000+00:00",
    }
    assert store.read("ServiceRequest", stored["id"]) == stored
    asked = [TINA, ("code", "http://loinc.org|4548-4"), ("authored", "ge2023-11-13")]
    assert store.search("ServiceRequest", asked).resources == (stored,)
    (write,) = store.written
    assert (write.kind, write.resource_type, write.id) == (
        WriteKind.CREATE,
        "ServiceRequest",
        stored["id"],
    )
    assert write.resource == stored
    assert write.time == store.clock.now


def test_ids_count_on_across_types(store, order):
    first = store.create(order)
    second = store.create(
        {"resourceType": "Condition", "subject": {"reference": "Patient/S1000001"}}
    )
    assert int(second["id"]) == int(first["id"]) + 1


def test_an_update_replaces_in_place(store):
    before = store.search("MedicationRequest", [TINA, ("status", "active")]).resources
    stopped = store.update({**before[0], "status": "stopped"})
    assert stopped["meta"]["versionId"] == "2"
    assert stopped["meta"]["source"] == before[0]["meta"]["source"]
    assert store.search("MedicationRequest", [TINA, ("status", "active")]).total == 0
    listed = store.search("MedicationRequest", [TINA]).resources
    assert [r["id"] for r in listed] == sorted([r["id"] for r in listed], key=int)
    assert store.base.resource("MedicationRequest", 0) == before[0]
    again = store.update({**stopped, "status": "cancelled"})
    assert again["meta"]["versionId"] == "3"
    assert [write.kind for write in store.written] == [WriteKind.UPDATE] * 2


def test_an_update_may_create_under_a_textual_id_only(store, order):
    stored = store.update({**order, "id": "my-order.1"})
    assert stored["meta"]["versionId"] == "1"
    assert store.written[0].kind is WriteKind.CREATE
    for wrong in ("99999", "", "a/b", "x" * 65, 7, None):
        with pytest.raises(FhirError) as caught:
            store.update({**order, "id": wrong})
        assert caught.value.status == 400
    assert len(store.written) == 1


def test_what_is_returned_is_the_callers(store, order):
    digest = store.content_digest()
    store.search("Patient", []).resources[0]["name"].clear()
    assert store.read("Patient", "S1000001")["name"]
    assert store.content_digest() == digest
    stored = store.create(order)
    digest = store.content_digest()
    order["status"] = stored["status"] = "tampered"
    store.read("ServiceRequest", stored["id"])["status"] = "tampered"
    store.search("ServiceRequest", [("_id", stored["id"])]).resources[0]["status"] = "tampered"
    assert store.read("ServiceRequest", stored["id"])["status"] == "active"
    assert store.content_digest() == digest


def test_stores_over_one_base_do_not_see_each_other(chart, clock, order):
    mine, other = (FhirStore(chart, clock=clock) for _ in range(2))
    stored = mine.create(order)
    with pytest.raises(FhirError, match=stored["id"]) as caught:
        other.read("ServiceRequest", stored["id"])
    assert caught.value.status == 404
    assert other.written == ()


def test_reading_leaves_the_digest_and_writing_changes_it(store, order):
    empty = store.content_digest()
    store.search("Observation", [TINA, ("_count", "1")])
    store.read("Patient", "S1000001")
    store.clock.advance(timedelta(hours=1))
    assert store.content_digest() == empty
    with pytest.raises(FhirError):
        store.create({"resourceType": "Nonsense"})
    assert store.content_digest() == empty
    store.create(order)
    assert store.content_digest() != empty


def test_a_clone_goes_its_own_way(chart, clock, order):
    world = FhirWorld(chart, clock)
    world.store.create(order)
    page = world.store.search("Observation", [TINA, ("_count", "2")])
    clone = world.clone()
    assert clone.digest() == world.digest()
    assert clone.store.next_page(page.next) == world.store.next_page(page.next)
    clone.clock.advance(timedelta(days=1))
    later = clone.store.create(order)
    assert later["meta"]["lastUpdated"].startswith("2023-11-14")
    assert world.clock.now.day == 13
    assert (len(clone.store.written), len(world.store.written)) == (2, 1)
    assert clone.content_digest() != world.content_digest()
    mine = world.store.create(order)
    assert mine["id"] == later["id"]


def test_pages_of_a_search_ignore_later_writes(store, order):
    for _ in range(5):
        store.create(order)
    page = store.search("ServiceRequest", [TINA, ("_count", "2")])
    expected = [r["id"] for r in store.search("ServiceRequest", [TINA]).resources]
    store.create(order)
    changed = store.update({**store.read("ServiceRequest", expected[3]), "status": "revoked"})
    found = [*page.resources]
    while page.next:
        page = store.next_page(page.next)
        found += page.resources
        assert page.total is None
    assert [r["id"] for r in found] == expected
    assert found[3] == changed
    assert store.search("ServiceRequest", [TINA]).total == len(expected) + 1


def test_the_default_page_is_twenty_and_the_total_waits_for_it(store, order):
    for _ in range(19):
        store.create(order)
    assert store.search("ServiceRequest", [TINA]).total == 20
    store.create(order)
    result = store.search("ServiceRequest", [TINA])
    assert (len(result.resources), result.total) == (20, None)
    last = store.next_page(result.next)
    assert (len(last.resources), last.next, last.offset) == (1, None, 20)
    assert store.next_page(last.previous) == result


@pytest.mark.parametrize(
    ("token", "status"),
    [
        ("", 400),
        ("abc", 400),
        ("abc:0:0", 400),
        ("abc:-1:20", 400),
        ("abc:0:99999999999999999999", 400),
        ("00000000-0000-0000-0000-000000000000:20:20", 410),
    ],
)
def test_forged_tokens_are_refused(store, token, status):
    with pytest.raises(FhirError) as caught:
        store.next_page(token)
    assert caught.value.status == status


def test_tokens_are_foreign_elsewhere_and_expire(chart, clock):
    store, other = (FhirStore(chart, clock=clock) for _ in range(2))
    token = store.search("Observation", [("_count", "1")]).next
    with pytest.raises(FhirError) as caught:
        other.next_page(token)
    assert caught.value.status == 410
    for number in range(KEPT_SEARCHES):
        store.search("Observation", [("_count", "1"), ("date", f"lt{2024 + number}")])
    with pytest.raises(FhirError) as caught:
        store.next_page(token)
    assert caught.value.status == 410


def test_hostile_resources_are_refused_or_stored_but_never_break_search(chart, clock):
    store = FhirWorld(chart, clock, validation=ValidationLevel.OFF).store
    hostile = {
        "resourceType": "Observation",
        "meta": {"tag": 3, "lastUpdated": 5, "versionId": []},
        "code": {"coding": "MG", "text": ["x"]},
        "category": [None, 3, {"coding": [None, {"code": 5}]}],
        "subject": ["Patient/S1000001"],
        "effectiveDateTime": "2023-99-99",
        "valueQuantity": {"value": True, "unit": 3},
        "component": {"code": {"coding": [[]]}},
        "identifier": [{"value": {"x": 1}}],
    }
    stored = store.create(hostile)
    for name in ("code", "category", "subject", "identifier", "component-code"):
        store.search("Observation", [(name, "MG")])
        store.search("Observation", [(f"{name}:missing", "true")])
    store.search("Observation", [("date", "ge2000"), ("value-quantity", "gt1")])
    for name in ("date", "-date", "code", "-value-quantity", "subject", "_lastUpdated"):
        store.search("Observation", [("_sort", name), ("_include", "*")])
    store.search("Observation", [("_id", stored["id"]), ("_elements", "code")])
    assert store.update(stored)["meta"]["versionId"] == "2"


def test_digest_and_ids_are_the_same_in_every_process():
    code = """
import json
from datetime import UTC, date, datetime
import numpy as np
from healthgym.core.clock import Clock
from healthgym.worlds.fhir import ChartBuilder, FhirWorld
b = ChartBuilder()
for mrn in ("S1", "S2"):
    b.patient(mrn=mrn, family="A", given="B", gender="male", birth_date=date(2000, 1, 1))
for i in range(40):
    b.lab(mrn, "K", 1_700_000_000 + i, i / 7, "mmol/L")
base = b.build(shuffle=np.random.default_rng(3))
w = FhirWorld(base, Clock(datetime(2023, 11, 13, tzinfo=UTC)))
s = w.store.search("Observation", [("code", "K")])
w.store.create({"resourceType": "Condition", "subject": {"reference": "Patient/S1"}})
print(json.dumps([s.resources, s.next, s.search_id, w.digest()]))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())[1] is not None


def test_a_refusal_survives_pickling():
    error = FhirError(422, "required", "lacks status", ("Observation.status",))
    copy = pickle.loads(pickle.dumps(error))
    assert copy.outcome() == error.outcome()
    assert copy.status == 422


def test_the_clock_of_a_world_is_the_clock_of_its_store(chart, clock, order):
    world = FhirWorld(chart, clock)
    world.clock.advance(timedelta(minutes=5))
    assert world.store.create(order)["meta"]["lastUpdated"] == "2023-11-13T10:20:00.000+00:00"
