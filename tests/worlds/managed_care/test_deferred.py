"""A record that is written late is like any other, and written once."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from datetime import date
from typing import cast

import pytest

from healthgym.core.canonical import canonical
from healthgym.worlds.managed_care.contracts import DeferredContract, PeerContract
from healthgym.worlds.managed_care.deferred import Deferred, kind_of, varied
from healthgym.worlds.managed_care.handbook.page import DeferredPage, Page
from healthgym.worlds.managed_care.vocabulary.authorization import SlotRule, TaskActor

KNOWN = {
    "path": "payer-um/pends.md",
    "title": "Pends",
    "version": "2026.1",
    "effective": date(2026, 1, 1),
    "supersedes": "",
    "amends": (),
    "audience": (),
}
PLAIN = Page(**KNOWN, text="# Pends\n\nFive days.\n")  # type: ignore[arg-type]


def late(asked: list[int] | None = None) -> Page:
    def write() -> str:
        if asked is not None:
            asked.append(1)
        return PLAIN.text

    return DeferredPage.later(write, **KNOWN)


def test_it_is_written_when_it_is_read_and_not_again():
    asked: list[int] = []
    page = late(asked)
    assert (page.title, asked) == ("Pends", [])
    assert [page.text, page.headings()[0].title, page.text] == [PLAIN.text, "Pends", PLAIN.text]
    assert asked == [1]


def test_several_late_fields_come_of_one_making():
    asked: list[int] = []

    def make() -> PeerContract:
        asked.append(1)
        return PeerContract(side=TaskActor.PAYER, opening="Good morning.", disputed=("A-1",))

    held = DeferredContract.later(
        make,
        side=TaskActor.PAYER,
        turn_limit=8,
        fixed_result=None,
        offered_slots=(),
        slot_rule=SlotRule.FIRST_OFFERED,
        expected_decision=None,
    )
    assert (held.turn_limit, asked) == (8, [])
    assert (held.opening, held.disputed, asked) == ("Good morning.", ("A-1",), [1])
    assert held == make()


def test_what_writes_several_kinds_of_records_need_not_be_called():
    class Printed(Deferred, Page):
        __slots__ = ("_write",)

        plain = Page
        late = ("text",)
        written = staticmethod(str.upper)

    page = cast("Page", Printed.later("# pends\n", **KNOWN))
    assert page.text == "# PENDS\n"
    assert varied(page, title="Other").text == "# PENDS\n"


def test_it_equals_the_record_it_stands_for():
    assert late() == PLAIN
    assert late() == PLAIN
    assert late() == late()
    assert late() != replace(PLAIN, text="# Pends\n")
    assert late() != "Pends"
    assert hash(late()) == hash(PLAIN)


@pytest.mark.parametrize(
    "copied",
    [
        lambda page: pickle.loads(pickle.dumps(page)),
        copy.copy,
        copy.deepcopy,
        lambda page: replace(page, path=page.path),
    ],
    ids=["pickled", "copied", "deep", "replaced"],
)
def test_a_copy_is_a_plain_record(copied):
    assert type(copied(late())) is Page
    assert copied(late()) == PLAIN


def test_it_has_no_other_attributes_and_cannot_be_changed():
    with pytest.raises(AttributeError):
        late().words  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError):
        late().title = "Other"  # type: ignore[misc]


def test_a_varied_record_stays_unwritten():
    asked: list[int] = []
    other = varied(late(asked), title="Pends and replies")
    assert (type(other), other.title, asked) == (DeferredPage, "Pends and replies", [])
    assert other == replace(PLAIN, title="Pends and replies")
    assert varied(PLAIN, title="Other") == replace(PLAIN, title="Other")


def test_it_is_told_digested_and_kept_as_the_record_it_stands_for():
    assert repr(late()) == repr(PLAIN)
    assert canonical(late()) == canonical(PLAIN)
    assert kind_of(late()) is kind_of(PLAIN) is Page
