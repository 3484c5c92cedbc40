"""One thing broken at a time: the named check must fail, and only what hangs on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from healthgym.core.state import Table
from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.envs.managed_care.checks.paper import judge
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.judged import answers, expectation_of, play, recorded

Json = Any
Break = Callable[[ManagedCareWorld], object]
Expect = Callable[[Expectation], Expectation]
Row = TypeVar("Row")
#: The case that is somebody else's, in the recorded reviews.
OTHER = "CASE-O"


@dataclass(frozen=True)
class Mutation:
    """A right ending with one thing broken.

    Attributes:
        check: The check that must fail.
        run: The recorded run that ends rightly.
        do: What is broken.
        also: Further checks that hang on the same thing.
        expect: What is expected besides, so that the check is asked.
        prepare: What the run lacks to pass the check.
    """

    check: str
    run: str
    do: Break
    also: frozenset[str] = frozenset()
    expect: Expect = field(default=lambda expected: expected)
    prepare: Break = field(default=lambda _: None)

    def __str__(self) -> str:
        return self.check


def failures(mutation: Mutation, *, broken: bool) -> set[str]:
    """Return the checks that fail, with or without the thing broken."""
    row = recorded()[mutation.run]
    world = play(row)
    mutation.prepare(world)
    if broken:
        mutation.do(world)
    found = answers(judge(world, mutation.expect(expectation_of(row))))
    if not broken:
        assert mutation.check in found, f"{mutation.check} is not asked"
        assert found[mutation.check] is True, f"{mutation.check} does not apply"
    return {name for name, passed in found.items() if passed is False}


def change(table: Table[str, Row], **fields: Json) -> None:
    """Give the target's newest record of a table other values."""
    key = newest(table)
    table[key] = replace(table[key], **fields)  # type: ignore[type-var]


def drop(table: Table[str, Row]) -> None:
    """Remove the target's newest record of a table."""
    del table[newest(table)]


def newest(table: Table[str, Row]) -> str:
    """Return the key of the newest record that is not of the other case."""

    def owner(row: object) -> object:
        return getattr(row, "case_id", None) or getattr(row, "id", None)

    return [key for key, row in table.items() if owner(row) != OTHER][-1]


def empty(table: Table[str, Row]) -> None:
    """Remove every record of a table."""
    table.keep(())


def rewrite(world: ManagedCareWorld, entries: Iterable[Entry]) -> None:
    """Give a world another log, behind its back; a world itself can only add to it."""
    kept = list(entries)
    list.clear(world.history.entries)
    list.extend(world.history.entries, kept)


def forget(*actions: str) -> Break:
    """Return what takes some actions out of the log."""

    def do(world: ManagedCareWorld) -> None:
        rewrite(world, [row for row in world.history.entries if row.action not in actions])

    return do


def both(*steps: Break) -> Break:
    """Return what does several things."""

    def do(world: ManagedCareWorld) -> None:
        for step in steps:
            step(world)

    return do


def names(check: str, rows: Iterable[str]) -> frozenset[str]:
    """Return names with their stage put before them: ``names("new_referral", ["case_status"])``."""
    return frozenset(f"{check}.{row}" for row in rows)


def with_fields(**fields: Json) -> Expect:
    """Return what changes fields of an expectation."""
    return lambda expected: replace(expected, **fields)


def with_care(**fields: Json) -> Expect:
    """Return what changes fields of the expectation of an episode."""

    def expect(expected: Expectation) -> Expectation:
        assert expected.care is not None
        return replace(expected, care=replace(expected.care, **fields))

    return expect
