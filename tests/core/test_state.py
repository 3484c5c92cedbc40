"""State that can be undone: declared places, transactions, clones and digests."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.clock import Clock
from healthgym.core.state import Journal, Log, Stateful, Table, log, state, table
from tests.core.toys import START, DeskWorld, LedgerWorld, at


class Shelf(Stateful):
    """A part that two others share."""

    books = table[str, int]()


class Room(Stateful):
    """A whole, with parts."""

    derived = frozenset({"cache"})

    mood = state("calm")
    looked = state(0, content=False)
    things = table[str, int]()
    tried = table[str, int](content=False)
    steps = log[int]()

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.desk = Corner(self.shelf)
        self.clock = Clock(START)
        self.size = (3, 4)
        self.cache: dict[str, int] | None = None

    def forked(self) -> None:
        self.cache = None


class Corner(Stateful):
    """A part that holds one of its whole's."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf


# -- a plain model -----------------------------------------------------------------------------


class Model:
    """The same by copying everything."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {"mood": "calm", "looked": 0, "things": {}, "steps": []}
        self.saved: list[dict[str, Any]] = []


keys = st.sampled_from("abcde")
writes = st.one_of(
    st.tuples(st.just("mood"), st.sampled_from(["calm", "busy"])),
    st.tuples(st.just("looked"), st.integers(0, 3)),
    st.tuples(st.just("set"), keys, st.integers(0, 9)),
    st.tuples(st.just("put_all"), st.dictionaries(keys, st.integers(0, 9))),
    st.tuples(st.just("discard"), keys),
    st.tuples(st.just("del"), keys),
    st.tuples(st.just("keep"), st.sets(keys)),
    st.tuples(st.just("append"), st.integers(0, 9)),
    st.tuples(st.sampled_from(["begin", "begin", "commit", "rollback"])),
)


def write(room: Room, model: Model, name: str, arguments: tuple[Any, ...]) -> None:
    things = model.held["things"]
    match name, arguments:
        case "mood" | "looked", (value,):
            setattr(room, name, value)
            model.held[name] = value
        case "set", (key, value):
            room.things[key] = value
            things[key] = value
        case "put_all", (values,):
            room.things.put_all(values)
            things.update(values)
        case "discard", (key,):
            room.things.discard(key)
            things.pop(key, None)
        case "del", (key,) if key in things:
            del room.things[key]
            del things[key]
        case "del", (key,):
            with pytest.raises(KeyError):
                del room.things[key]
        case "keep", (kept,):
            room.things.keep(kept)
            for key in [key for key in things if key not in kept]:
                del things[key]
        case "append", (value,):
            room.steps.append(value)
            model.held["steps"].append(value)


@given(st.lists(writes, max_size=60))
def test_rolling_back_equals_a_copy_taken_before(moves: list[tuple[Any, ...]]) -> None:
    room, model = Room(), Model()
    savepoints: list[int] = []
    for name, *arguments in moves:
        if name == "begin":
            savepoints.append(room.journal.begin())
            model.saved.append(copy.deepcopy(model.held))
        elif name == "commit" and savepoints:
            savepoints.pop()
            model.saved.pop()
            room.journal.commit()
        elif name == "rollback" and savepoints:
            room.journal.rollback(savepoints.pop())
            model.held = model.saved.pop()
        else:
            write(room, model, name, tuple(arguments))
        assert (room.mood, room.looked) == (model.held["mood"], model.held["looked"])
        # The order of the keys is part of what is put back.
        assert list(room.things.items()) == list(model.held["things"].items())
        assert list(room.steps) == model.held["steps"]
        assert room.journal.open == bool(savepoints)


# -- transactions ------------------------------------------------------------------------------


def test_several_values_are_set_as_one_after_the_other_would_be() -> None:
    several, single = Room(), Room()
    for begun in (False, True):
        for room in (several, single):
            if begun:
                room.journal.begin()
            before = room.digest()
        several.things.put_all({"b": 1, "a": 2, f"{begun}": 3})
        for key, value in {"b": 1, "a": 2, f"{begun}": 3}.items():
            single.things[key] = value
        assert several.digest() == single.digest() != before
        assert several.journal.writes == single.journal.writes
        assert several.journal.changes == single.journal.changes
    for room in (several, single):
        room.journal.rollback(0)
        assert room.digest() == before


def test_an_inner_transaction_may_fail_in_an_outer_one_that_does_not() -> None:
    room = Room()
    outer = room.journal.begin()
    room.mood = "outer"
    inner = room.journal.begin()
    room.mood = "inner"
    room.steps.append(1)
    room.journal.rollback(inner)
    assert (room.mood, room.steps) == ("outer", [])
    inner = room.journal.begin()
    room.steps.append(2)
    room.journal.commit()
    assert room.steps == [2]
    room.journal.rollback(outer)
    assert (room.mood, room.steps) == ("calm", [])


def test_a_deleted_key_comes_back_to_its_place() -> None:
    room = Room()
    room.things.put_all({"a": 1, "b": 2, "c": 3, "d": 4})
    savepoint = room.journal.begin()
    del room.things["b"]
    room.things["b"] = 9
    room.things.keep(["d"])
    room.journal.rollback(savepoint)
    assert list(room.things.items()) == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]


def test_parts_share_the_transaction_of_the_whole() -> None:
    room = Room()
    digest = room.digest()
    savepoint = room.journal.begin()
    room.desk.shelf.books["x"] = 1
    room.clock.agenda.put(at(10), "later")
    room.journal.rollback(savepoint)
    assert room.digest() == digest
    assert room.shelf.books == {}


def test_a_part_that_joins_late_brings_its_parts_and_what_they_hold() -> None:
    shelf = Shelf()
    shelf.books["x"] = 1
    corner = Corner(shelf)
    room = Room()
    room.other = corner
    savepoint = room.journal.begin()
    shelf.books["x"] = 2
    room.journal.rollback(savepoint)
    assert shelf.books == {"x": 1}


def test_what_is_not_declared_may_not_change_in_a_transaction() -> None:
    room = Room()
    room.size = (5, 5)  # outside of one it may
    savepoint = room.journal.begin()
    room.cache = {}  # derived: may be lost at any time
    room.mood = "busy"
    with pytest.raises(TypeError, match=r"Room\.size changes in a transaction; declare it"):
        room.size = (1, 1)
    with pytest.raises(TypeError, match=r"Room\.fresh changes"):
        room.fresh = 1
    room.journal.rollback(savepoint)
    assert room.size == (5, 5)


@pytest.mark.parametrize("name", ["things", "steps"])
def test_a_table_or_log_is_not_replaced(name: str) -> None:
    room = Room()
    with pytest.raises(TypeError, match=f"Room.{name} is changed item by item"):
        setattr(room, name, {})


@pytest.mark.parametrize(
    "change",
    [
        lambda room: room.things.update(a=1),
        lambda room: room.things.pop("a"),
        lambda room: room.things.popitem(),
        lambda room: room.things.setdefault("b", 1),
        lambda room: room.things.clear(),
        lambda room: room.things.__ior__({"a": 1}),
        lambda room: room.steps.extend([1]),
        lambda room: room.steps.insert(0, 1),
        lambda room: room.steps.pop(),
        lambda room: room.steps.remove(1),
        lambda room: room.steps.clear(),
        lambda room: room.steps.sort(),
        lambda room: room.steps.reverse(),
        lambda room: room.steps.__setitem__(0, 2),
        lambda room: room.steps.__delitem__(0),
        lambda room: room.steps.__iadd__([1]),
        lambda room: room.steps.__imul__(2),
        lambda room: copy.copy(room.things),
        lambda room: copy.deepcopy(room.steps),
        lambda room: pickle.dumps(room.things),
    ],
    ids=[
        "update", "pop", "popitem", "setdefault", "clear", "ior", "extend", "insert", "list-pop",
        "remove", "list-clear", "sort", "reverse", "setitem", "delitem", "iadd", "imul", "copy",
        "deepcopy", "pickle",
    ],
)  # fmt: skip
def test_no_change_goes_past_the_journal(change: Any) -> None:
    room = Room()
    room.things["a"] = 1
    room.steps.append(1)
    writes = room.journal.writes
    with pytest.raises(TypeError):
        change(room)
    assert (room.things, room.steps, room.journal.writes) == ({"a": 1}, [1], writes)


def test_every_mutator_of_a_collection_is_journalled_or_refused() -> None:
    """A new Python may bring a new way to change a dict or a list."""
    reads = {
        "__class__", "__class_getitem__", "__contains__", "__dir__", "__doc__", "__eq__",
        "__format__", "__ge__", "__getattribute__", "__getitem__", "__getstate__", "__gt__",
        "__hash__", "__init__", "__init_subclass__", "__iter__", "__le__", "__len__", "__lt__",
        "__ne__", "__new__", "__or__", "__reduce_ex__", "__repr__", "__reversed__", "__ror__",
        "__setattr__", "__delattr__", "__sizeof__", "__str__", "__subclasshook__", "__add__",
        "__mul__", "__rmul__", "copy", "count", "fromkeys", "get", "index", "items", "keys",
        "values",
    }  # fmt: skip
    for kind, base in ((Table, dict), (Log, list)):
        assert set(dir(base)) - reads - set(vars(kind)) == set()


# -- clones ------------------------------------------------------------------------------------


def test_a_clone_is_independent_in_every_part() -> None:
    world = DeskWorld()
    world.scribble("before")
    twin = world.clone()
    assert (twin.digest(), twin.content_digest()) == (world.digest(), world.content_digest())
    held = world.state_of(content_only=False)
    twin.scribble("twin")
    twin.clock.advance(at(10) - at(9))
    assert world.state_of(content_only=False) == held
    assert world.digest() != twin.digest()
    digest = twin.digest()
    world.scribble("world")
    world.clock.agenda.cancel(1)
    assert twin.digest() == digest
    # Ids and numbers go on from the same place in both.
    assert twin.drawer.papers[1:] == ["2: twin"]
    assert world.drawer.papers[1:] == ["2: world"]


def test_a_transaction_of_a_clone_is_its_own() -> None:
    world = DeskWorld()
    savepoint = world.journal.begin()
    world.mood = "busy"
    twin = world.clone()
    assert not twin.journal.open
    assert {part.journal for part in (twin.drawer, twin.drawer.stamps, twin.clock)} == {
        twin.journal
    }
    assert twin.answers.journal is twin.drawer.papers.journal is twin.journal
    twin.mood = "grim"
    world.journal.rollback(savepoint)
    assert (world.mood, twin.mood) == ("calm", "grim")


@pytest.mark.parametrize("filled", [False, True])
def test_a_part_that_two_hold_is_one_in_the_clone_too(filled: bool) -> None:
    room = Room()
    if filled:
        room.shelf.books["x"] = 1
    twin = room.clone()
    assert twin.shelf is twin.desk.shelf is not room.shelf


def test_an_empty_agenda_that_two_hold_is_one_in_the_clone_too() -> None:
    class Calendar(Stateful):
        def __init__(self, clock: Clock) -> None:
            self.clock = clock
            self.agenda = clock.agenda

    calendar = Calendar(Clock(START))
    assert not calendar.agenda
    twin = calendar.clone()
    assert twin.agenda is twin.clock.agenda is not calendar.agenda


def test_what_does_not_change_is_shared_and_caches_are_forgotten() -> None:
    room = Room()
    room.cache = {"a": 1}
    twin = room.clone()
    assert twin.size is room.size
    assert twin.cache is None


# -- digests -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "content"),
    [
        (lambda w: setattr(w, "mood", "x"), True),
        (lambda w: w.answers.__setitem__("a", "x"), True),
        (lambda w: w.drawer.papers.append("x"), True),
        (lambda w: w.drawer.stamps.draw("x"), True),
        (lambda w: w.clock.agenda.put(at(10), "x"), True),
        (lambda w: setattr(w, "opened", "x"), False),
        (lambda w: w.seen.append("x"), False),
        (lambda w: w.clock.advance(at(10) - at(9)), False),
        (lambda w: w.notify("agent", "x"), False),
    ],
    ids=["state", "table", "part", "counter", "agenda", "opened", "looks", "clock", "notice"],
)
def test_the_digest_is_complete_and_the_content_digest_leaves_out_looks(
    change: Any, content: bool
) -> None:
    world = DeskWorld()
    digest, contents, changes = world.digest(), world.content_digest(), world.journal.changes
    change(world)
    assert world.digest() != digest
    assert (world.content_digest() != contents) == content
    assert (world.journal.changes != changes) == content


def test_the_order_of_a_table_is_state_and_no_content() -> None:
    one, other = LedgerWorld({"a": 1}), LedgerWorld({"a": 1})
    for world, names in ((one, "xyz"), (other, "zyx")):
        for name in names:
            world.changes[name] = 1
    assert one.content_digest() == other.content_digest()
    assert one.digest() != other.digest()  # a tool may list it in that order
    other.changes["x"] = 2
    other.changes["x"] = 1
    assert one.content_digest() == other.content_digest()


def test_a_holder_of_its_own_whole_has_a_digest() -> None:
    class Whole(Stateful):
        mood = state("calm")

        def __init__(self) -> None:
            self.view = View(self)

    class View(Stateful):
        looks = state(0, content=False)

        def __init__(self, whole: Whole) -> None:
            self.whole = whole

    whole = Whole()
    digest = whole.digest()
    twin = whole.clone()
    assert twin.view.whole is twin
    assert twin.digest() == digest
    whole.view.looks = 1
    assert whole.digest() != digest
    twin.mood = "busy"
    assert twin.digest() != digest


def test_a_journal_counts_writes_and_changes_apart() -> None:
    room = Room()
    journal: Journal = room.journal
    before = (journal.writes, journal.changes)
    room.looked = 1
    room.tried["x"] = 1
    room.steps.append(1)
    assert (journal.writes - before[0], journal.changes - before[1]) == (3, 1)
