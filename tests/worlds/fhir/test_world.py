"""A world's state: what is undone with a transaction, and what is content."""

import contextlib
from datetime import timedelta

import pytest

from healthgym.core.journal import InjectedFault
from healthgym.worlds.fhir import FhirError, FhirStore, FhirWorld
from healthgym.worlds.fhir.store import KEPT_SEARCHES

BASE_ID = "S1000002"


@pytest.fixture
def world(chart, clock, order):
    """Return a world in which something was written, searched and opened already."""
    made = FhirWorld(chart, clock)
    made.store.create(order)
    made.store.update({**order, "id": "my-order"})
    made.store.search("Observation", [("_count", "2")])
    made.open_patient = BASE_ID
    return made


def renamed(world, order):
    patient = world.store.read("Patient", BASE_ID)
    world.store.update({**patient, "name": [{"family": "Reid-Osei"}]})


def fill_the_pages(world, order):
    for number in range(KEPT_SEARCHES + 1):
        world.store.search("Observation", [("_count", "1"), ("value-quantity", f"gt-{number + 1}")])


def open_chart(world, order):
    world.open_patient = "S1000001"


WRITES = {
    "create": lambda world, order: world.store.create(order),
    "update of the chart": renamed,
    "update of what was written": lambda world, order: world.store.update(
        {**order, "id": "my-order", "priority": "routine"}
    ),
    "create under a textual id": lambda world, order: world.store.update({**order, "id": "other"}),
    "create of another type": lambda world, order: world.store.create(
        {"resourceType": "Condition", "subject": {"reference": f"Patient/{BASE_ID}"}}
    ),
}
LOOKS = {
    "search": lambda world, order: world.store.search("Procedure", [("_count", "1")]),
    "many searches": fill_the_pages,
    "open chart": open_chart,
    "time": lambda world, order: world.clock.advance(timedelta(minutes=1)),
}
MUTATORS = {**WRITES, **LOOKS}


@pytest.mark.parametrize("change", MUTATORS.values(), ids=MUTATORS.keys())
def test_a_transaction_rolled_back_leaves_nothing(world, order, change):
    before, content = world.digest(), world.content_digest()
    savepoint = world.journal.begin()
    change(world, order)
    assert world.digest() != before
    assert (world.content_digest() == content) is (change in LOOKS.values())
    world.journal.rollback(savepoint)
    assert world.digest() == before
    # What follows is what would have followed.
    twin = world.clone()
    assert world.store.create(order) == twin.store.create(order)
    asked = [("patient", "S1000001"), ("_sort", "-_lastUpdated")]
    assert world.store.search("ServiceRequest", asked) == twin.store.search("ServiceRequest", asked)


@pytest.mark.parametrize("change", WRITES.values(), ids=WRITES.keys())
def test_a_write_that_fails_halfway_is_undone_whole(world, order, change):
    before = world.digest()
    for number in range(1, 8):
        savepoint = world.journal.begin()
        world.journal.fail_at(number)
        with contextlib.suppress(InjectedFault):
            change(world, order)
        world.journal.fail_at(None)
        world.journal.rollback(savepoint)
        assert world.digest() == before


def test_a_refused_write_leaves_nothing_even_without_a_transaction(chart, clock, order):
    store = FhirStore(chart, clock=clock)
    before = store.digest()
    for wrong in (
        {**order, "subject": {"reference": "Patient/S1"}},
        {"resourceType": "Nonsense"},
    ):
        with pytest.raises(FhirError):
            store.create(wrong)
        with pytest.raises(FhirError):
            store.update({**wrong, "id": "mine"})
    assert store.digest() == before
    assert store.create(order)["id"] == str(chart.next_id)


def test_a_write_costs_what_it_touches(world, order):
    """The number of journal entries of a write does not grow with what was written before."""

    def cost():
        before = world.journal.writes
        world.store.create(order)
        return world.journal.writes - before

    first = cost()
    for _ in range(50):
        last = cost()
    assert last == first <= 6
