"""Records as cards: layouts name what there is, and every record of a case has its place."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib.resources import files

from healthgym.envs.managed_care import timeline
from healthgym.envs.managed_care.timeline.cards import cards_of
from healthgym.worlds.managed_care.records.doors import Callback
from tests.envs.managed_care.timeline.played import found
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, world

ROWS = json.loads((files(timeline) / "data" / "records.json").read_text("utf-8"))


def test_layouts_name_records_and_fields_that_there_are() -> None:
    kinds = {kind.__name__: kind for app in world().apps() for kind in app.keeps}
    for row in ROWS:
        known = {item.name for item in fields(kinds[row["kind"]])}
        named = {name for key in ("line", "flags", "text", "inside") for name in row.get(key, ())}
        named |= {row["at"], row.get("findings", "")} - {"", "case"}
        assert named <= known, row["kind"]


def test_every_record_of_a_case_is_shown() -> None:
    exhibit = found("submit_pa")
    shown = {card.key for card in cards_of(exhibit.world, exhibit.case_id)}
    hidden = {row["kind"] for row in ROWS if not row["at"]}
    kept = {
        record.id
        for app in exhibit.world.apps()
        for kind, table in app.keeps.items()
        if kind.__name__ not in hidden
        for record in getattr(app, table).values()
        if exhibit.case_id in (getattr(record, "id", ""), getattr(record, "case_id", ""))
    }
    assert len(kept) > 8
    assert kept <= shown


def test_a_record_without_a_layout_is_shown_whole() -> None:
    call = Callback(id="CALL-1", case_id=CASE, number="555-0100", at=NOW)
    assert "Callback" not in {row["kind"] for row in ROWS}
    (card,) = (card for card in cards_of(world(call), CASE) if card.key == call.id)
    assert (card.title, card.at) == ("Callback", NOW)
    assert card.inside == {"number": "555-0100", "at": NOW}
