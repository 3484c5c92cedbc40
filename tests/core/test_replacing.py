"""Records with other fields: as the standard library makes them, only sooner."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

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


def test_what_a_record_refuses_is_refused():
    with pytest.raises(TypeError, match="no field 'colour'"):
        replace(Plain("A"), colour="red")
    with pytest.raises(ValueError, match="low is above high"):
        replace(Checked(1, 2), low=3)
    with pytest.raises(ValueError, match="init=False"):
        replace(Derived("A"), length=2)
