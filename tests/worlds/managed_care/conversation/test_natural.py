"""How people really speak on the phone: what is read of it, and what is near to it and is not.

The phrases are those of somebody who played whole calls in words of their own, and others of their
kind. They were written with the grammar at hand: what it reads of phrases that nobody looked at is
measured elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from healthgym.worlds.managed_care.conversation.acts import Said
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.conversation.surroundings import Answering
from tests.worlds.managed_care.conversation.calls import OPENING, READY, Line, agreed

FILE = Path(__file__).parent / "natural.jsonl"
ROWS: Sequence[Mapping[str, Any]] = [
    json.loads(row) for row in FILE.read_text("utf-8").splitlines()
]
MEDICINES = ("losartan", "amlodipine")


def name(said: Said) -> str:
    """Return an act as the file writes it: ``ask_item[phq9:2]``, with ``?`` where it is unsure."""
    about = said.topic.value if said.topic else said.item
    if said.topic and said.item:
        about = f"{about}:{said.item}"
    return f"{said.act.value}{f'[{about}]' if about else ''}{'' if said.sure else '?'}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_what_is_said_is_read_and_nothing_else(row: Mapping[str, Any]) -> None:
    heard = [name(said) for said in understand(row["text"], (), MEDICINES).acts]
    assert set(row.get("read", ())) <= set(heard), heard
    assert not row.get("only") or set(heard) == set(row["read"]), heard
    for act in row.get("not", ()):
        assert act not in {bare for each in heard for bare in _bare(each)}, heard


def test_a_yes_that_nobody_gave_is_not_written_down_and_one_that_was_given_is() -> None:
    noted = "I'll put you down as having agreed."
    back = {each.text for each in lines()["doubt.pressure"]}
    line = Line(READY)
    line.play(*OPENING)
    for given in (False, True):
        if given:
            line = agreed()
        line.person = replace(line.person, ears=understand)
        assert (line.say(message=noted).text in back) is not given
        assert not line.turn.marks


def test_a_proxy_asks_back_about_somebody_who_may_be_the_person() -> None:
    asked = "I'll call your sister and ask her."
    line = agreed()
    mind = line.memory.mind
    assert mind is not None
    heard = replace(mind, answered_by=(Answering.PROXY,))
    line.memory = replace(line.memory, mind=heard)
    line.person = replace(line.person, ears=understand)
    said = line.say(message=asked)
    assert said.text in {each.text for each in lines()["doubt.involve_others"]}
    assert not line.turn.marks
    # Of somebody who speaks for themselves it is clear.
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message=asked)
    assert Mark.THIRD_PARTY in line.turn.marks


def _bare(heard: str) -> tuple[str, ...]:
    sure = heard.rstrip("?")
    return heard, sure, sure.split("[")[0]
