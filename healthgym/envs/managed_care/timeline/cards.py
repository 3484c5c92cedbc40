"""The records of a case as cards, each at the time at which it was written.

Which records are shown, when, and with which of their fields stands in ``data/records.json``; a
kind of record that is not listed there is shown with all of its fields, at the first time it
states. A world keeps the latest version of a record only: a card shows that one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from healthgym.worlds.managed_care.deferred import kind_of
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: An ``at`` that stands for when the case was opened: the record has no time of its own.
_WITH_CASE = "case"
_NOTHING: tuple[object, ...] = (None, "", (), [], {})
#: Fields that every card of a case would repeat.
_KNOWN = frozenset({"id", "case_id", "intake_case_id", "triage_record_id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a kind of record is shown.

    Attributes:
        kind: Name of the record's class.
        at: The field that says when it is shown; empty if it is not.
        title: Heading of the card.
        near: Beginnings of the log entries, ``app.action``, that it belongs to.
        line: Short fields.
        flags: Fields of which only a yes says anything.
        text: Fields shown as paragraphs.
        inside: Fields shown on demand.
        tree: Fields shown as lists within lists.
        findings: The field that holds findings on criteria; empty if none does.
        place: Its place in the file.
    """

    kind: str
    at: str
    title: str
    near: tuple[str, ...] = ()
    line: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    tree: tuple[str, ...] = ()
    findings: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A record, as it is shown at one time.

    Attributes:
        at: When.
        title: Heading.
        key: Id of the record; empty if it has none.
        place: Its layout's place among the layouts.
        near: Beginnings of the log entries that it belongs to.
        line: Short fields with their values.
        text: Fields shown as paragraphs.
        inside: Fields shown on demand.
        tree: Fields shown as lists within lists.
        findings: Findings on criteria.
    """

    at: datetime
    title: str
    key: str
    place: int
    near: tuple[str, ...]
    line: Mapping[str, object]
    text: Mapping[str, object]
    inside: Mapping[str, object]
    tree: Mapping[str, object]
    findings: tuple[NurseCriterionEvaluation, ...] = ()


def cards_of(world: ManagedCareWorld, case_id: str) -> tuple[Card, ...]:
    """Return the records of a case, oldest first; at one time, in the order of their layouts."""
    found = [card for record in _records(world, case_id) for card in _cards(world, case_id, record)]
    return tuple(sorted(found, key=lambda card: (card.at, card.place)))


def opened_at(world: ManagedCareWorld, case_id: str) -> datetime | None:
    """Return when a case or an episode of care management was opened; None if it was not."""
    case, episode = world.cases.cases.get(case_id), world.referrals.cases.get(case_id)
    if case is not None:
        return case.created_at
    return episode.opened_at if episode is not None else None


def _records(world: ManagedCareWorld, case_id: str) -> Iterator[object]:
    for app in world.apps():
        for table in app.keeps.values():
            for key, record in getattr(app, table).items():
                own = case_id in (key, getattr(record, "case_id", None))
                if own and is_dataclass(record):  # a table may hold counts, too
                    yield record


def _cards(world: ManagedCareWorld, case_id: str, record: object) -> Iterator[Card]:
    for layout in _layouts().get(kind_of(record).__name__) or (_plain(record),):
        with_case = layout.at == _WITH_CASE
        at = opened_at(world, case_id) if with_case else getattr(record, layout.at or "-", None)
        # A last change at the time of writing is no change.
        first = getattr(record, "created_at", None) if layout.at == "updated_at" else None
        if isinstance(at, datetime) and at != first:
            yield Card(
                at=at,
                title=layout.title,
                key=str(getattr(record, "id", "")),
                place=layout.place,
                near=layout.near,
                line={**_chosen(record, layout.line), **_raised(record, layout.flags)},
                text=_chosen(record, layout.text),
                inside=_chosen(record, layout.inside),
                tree=_chosen(record, layout.tree),
                findings=getattr(record, layout.findings) if layout.findings else (),
            )


def _chosen(record: object, names: tuple[str, ...]) -> Mapping[str, object]:
    """Return the named fields in which something stands."""
    values = ((name, getattr(record, name)) for name in names)
    return {name: value for name, value in values if value is False or value not in _NOTHING}


def _raised(record: object, names: tuple[str, ...]) -> Mapping[str, object]:
    return {name: True for name in names if getattr(record, name)}


def _plain(record: object) -> Layout:
    """Return the layout of a record that has none of its own."""
    names = [item.name for item in fields(record) if item.name not in _KNOWN]  # type: ignore[arg-type]
    times = [name for name in names if isinstance(getattr(record, name), datetime)]
    return Layout(
        kind=kind_of(record).__name__,
        at=times[0] if times else "",
        title=kind_of(record).__name__,
        inside=tuple(names),
    )


@cache
def _layouts() -> Mapping[str, tuple[Layout, ...]]:
    text = (files(__package__) / "data" / "records.json").read_text("utf-8")
    found: dict[str, tuple[Layout, ...]] = {}
    for place, row in enumerate(json.loads(text)):
        lists = ("near", "line", "flags", "text", "inside", "tree")
        given = {name: tuple(row.get(name, ())) for name in lists}
        layout = Layout(**row | given | {"place": place})
        found[layout.kind] = (*found.get(layout.kind, ()), layout)
    return found
