"""What is heard in a turn: phrasings that were collected before anything read them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from healthgym.worlds.managed_care.contracts import PeerSubject
from healthgym.worlds.managed_care.peers.hearing import Manner, heard
from healthgym.worlds.managed_care.peers.subjects import subjects_of
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import criteria

_NAMED = (
    "left ventricular ejection fraction",
    "body mass index",
    "hemoglobin A1c",
    "physical therapy",
    "oral anti-inflammatory medicines",
    "joint space narrowing of the knee",
    "obstructive sleep apnea",
    "stress imaging study",
    "current smoking",
    "serum TSH",
    "methotrexate",
    "pain score at rest",
)
ROWS: list[tuple[str, list[str], str]] = [
    (text, subjects, act)
    # The later ones were written when the reader stood: it heard 35 of the 40 as they are meant.
    for name in ("phrasings.json", "later_phrasings.json")
    for text, subjects, act in json.loads((Path(__file__).parent / name).read_text("utf-8"))
]
_MANNERS = {"accuse": Manner.ACCUSING, "bargain": Manner.BARGAINING}


def board() -> tuple[PeerSubject, ...]:
    """Return twelve criteria of the library, numbered from C1."""
    known = {item.display: item for one in library().values() for item in criteria(one.criteria)}
    picked = [replace(known[name], id=f"C{n}") for n, name in enumerate(_NAMED, 1)]
    return subjects_of(picked)


SUBJECTS = board()


@pytest.mark.parametrize(
    ("text", "raised"),
    [
        ("I am calling about your request for stress imaging study 78452.", False),
        ("We reviewed the order for a stress imaging study.", False),
        ("Was an earlier stress imaging study ordered?", True),
        ("Is there a stress imaging study?", True),
        ("C8, please.", True),
    ],
)
def test_who_calls_about_a_scan_has_not_asked_after_an_earlier_one(text: str, raised: bool) -> None:
    assert next(one for one in SUBJECTS if one.id == "C8").again
    assert ("C8" in heard(text, SUBJECTS).subjects) is raised


def test_there_are_enough_of_them() -> None:
    assert len({text for text, _, _ in ROWS}) >= 120


@pytest.mark.parametrize(("text", "subjects", "act"), ROWS, ids=[row[0][:50] for row in ROWS])
def test_a_turn_is_heard_as_it_is_meant(text: str, subjects: list[str], act: str) -> None:
    turn = heard(text, SUBJECTS)
    assert turn.manner is _MANNERS.get(act, Manner.PLAIN)
    if act not in _MANNERS:
        assert set(turn.subjects) == set(subjects)
        assert turn.open is (act == "open")
