"""Records with other fields: as the standard library makes them, only sooner."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property

import pytest

from healthgym.core.records import replace


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    units: int = 1
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class More(Plain):
    note: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


@dataclass(frozen=True)
class Open:
    name: str
    units: int = 1


@dataclass(frozen=True)
class Counted:
    name: str
    units: int = 1

    @cached_property
    def length(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class Derived:
    name: str
    length: int = field(init=False, default=0)


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        (Plain("A"), {"units": 2}),
        (Plain("A", 3, ("x",)), {"name": "B", "codes": ()}),
        (More("A", note="n"), {"note": "m", "units": 0}),
        (Checked(1, 2), {"high": 5}),
        (Open("A"), {"units": 4}),
        (Open("A", 3), {"name": "B"}),
        (Counted("A"), {"name": "BC"}),
        (Derived("A"), {"name": "B"}),
        (Plain("A"), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_copy_is_what_the_standard_library_makes(record, changes):
    before = dataclasses.astuple(record)
    made = replace(record, **changes)
    assert made == dataclasses.replace(record, **changes)
    assert type(made) is type(record)
    assert made is not record
    assert dataclasses.astuple(record) == before


def test_what_was_counted_of_a_record_is_not_held_against_its_copy():
    record, beside = Counted("A"), Open("A")
    assert record.length == 1
    assert replace(record, name="BC").length == 2
    object.__setattr__(beside, "length", 1)
    assert not hasattr(replace(beside, name="BC"), "length")


@pytest.mark.parametrize("record", [Plain("A"), Open("A")], ids=["slots", "none"])
def test_a_field_that_a_record_does_not_have_is_refused(record):
    with pytest.raises(TypeError, match="no field 'colour'"):
        replace(record, colour="red")
    assert not hasattr(record, "colour")


def test_what_a_record_refuses_is_refused():
    with pytest.raises(ValueError, match="low is above high"):
        replace(Checked(1, 2), low=3)
    # What the standard library raises: since Python 3.13 of the second kind.
    with pytest.raises((ValueError, TypeError), match="init=False"):
        replace(Derived("A"), length=2)
