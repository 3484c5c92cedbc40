"""The later phrases, held back and for development: their form, their labels and their number.

`phrases_talk.jsonl` is held back. It was written by another hand than the grammar, which that hand
had not read, before the grammar was extended; labels follow the rules in this folder's README, and
one that turns out wrong stays. `phrases_dev3.jsonl` comes from the same hand and hour, and is for
whoever works on the grammar. `phrases_dev4.jsonl` is of those who mend it, labelled before they
did. Chance parted the first two within kind and first act; then lines changed sides until the
held-back half had enough of each act. Nothing here prints a phrase or runs
the recogniser.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import TypedDict

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.voices import Topic

HERE = Path(__file__).parent
DIGESTS = {
    "phrases_talk.jsonl": "9201838a285e94bc0bb28a658ff61d06f6b48e6229006398eb68c233a75ae26a",
    "phrases_dev3.jsonl": "7e3df9605785c2976d5750e2db0dd155002d216e967ae27d5f6ffea661d65733",
    "phrases_dev4.jsonl": "bfdcc94c1dc984a849c0ee1e47e52046dbe58a147f805836b71eed75a1dcafca",
}
#: Fewest lines of each set.
SIZES = {"phrases_talk.jsonl": 520, "phrases_dev3.jsonl": 250, "phrases_dev4.jsonl": 400}
EARLIER = ("phrases_dev.jsonl", "phrases_dev2.jsonl", "phrases_own.jsonl", "phrases_test.jsonl")
KINDS = {
    "plain",
    "quote",
    "negation",
    "hypothetical",
    "indirect",
    "compound",
    "adversarial",
    "noise",
}
REGISTERS = {"warm", "formal", "colloquial", "brisk", "llm", "non_native", "clumsy"}
#: Acts whose misreading costs most, in what must be said or must not be.
GRAVE = {
    Act.DISCLOSE_ACCESS,
    Act.STATE_SHARING,
    Act.REQUEST_CONSENT,
    Act.NAME_FACT,
    Act.PROMISE,
    Act.PRESSURE,
    Act.INVOLVE_OTHERS,
}
#: How many questions an instrument has.
ITEMS = {Topic.PHQ9: 9, Topic.GAD7: 7}


class _Line(TypedDict, total=False):
    text: str
    acts: list[tuple[str, str, str]]
    register: str
    kind: str
    concerns: list[str]


def _lines(name: str) -> list[_Line]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def _fingerprints(name: str) -> list[str]:
    """Return a hash for each text, so that a failure shows no phrase."""
    return [
        hashlib.sha256(" ".join(line["text"].casefold().split()).encode()).hexdigest()
        for line in _lines(name)
    ]


def _wrong(line: _Line) -> str:
    """Return what is wrong with the labels of a line; blank if nothing."""
    for act, topic, item in line["acts"]:
        if act not in set(Act) or (topic and topic not in set(Topic)):
            return "no such act or topic"
        asked = act in {Act.ASK_TOPIC, Act.ASK_PERMISSION, Act.ASK_ITEM, Act.NAME_FACT}
        if (topic and not asked) or (act == Act.NAME_FACT and not topic):
            return "topic where none belongs, or none where one does"
        if act == Act.ASK_ITEM:
            if topic not in ITEMS or not 1 <= int(item) <= ITEMS[Topic(topic)]:
                return "no such question"
        elif item and (topic != Topic.MEDICATION or item != item.lower()):
            return "an item that is no medicine in small letters"
    answers = Act.ANSWER_CONCERN in {act for act, _, _ in line["acts"]}
    if answers != bool(line.get("concerns")) or not set(line.get("concerns", [])) <= set(Concern):
        return "concerns without an answer, an answer without, or no such concern"
    if line["kind"] not in KINDS or line["register"] not in REGISTERS:
        return "no such kind or register"
    return ""


@pytest.mark.parametrize("name", SIZES)
def test_every_line_is_labelled_in_the_form_of_the_earlier_sets(name: str) -> None:
    lines = _lines(name)
    assert len(lines) >= SIZES[name]
    assert [number for number, line in enumerate(lines, 1) if _wrong(line)] == []


def test_no_phrase_stands_twice_in_any_set() -> None:
    later = [found for name in SIZES for found in _fingerprints(name)]
    earlier = {found for name in EARLIER for found in _fingerprints(name)}
    assert len(later) == len(set(later))
    assert not earlier & set(later)


def test_each_act_is_held_back_often_enough_to_be_measured() -> None:
    lines = _lines("phrases_talk.jsonl")
    often = Counter(act for line in lines for act in {act for act, _, _ in line["acts"]})
    assert {act: often[act] for act in Act if often[act] < (40 if act in GRAVE else 25)} == {}
    assert sum(not line["acts"] for line in lines) >= 80


@pytest.mark.parametrize("name", DIGESTS)
def test_phrases_that_were_labelled_first_are_never_edited(name: str) -> None:
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == DIGESTS[name]


@pytest.mark.parametrize(
    "spoilt",
    [
        {"acts": [("wave", "", "")]},
        {"acts": [(Act.GREET, Topic.MOOD, "")]},
        {"acts": [(Act.NAME_FACT, "", "")]},
        {"acts": [(Act.ASK_ITEM, Topic.GAD7, "8")]},
        {"acts": [(Act.ANSWER_CONCERN, "", "")]},
        {"concerns": [Concern.COST]},
        {"kind": "odd"},
    ],
)
def test_a_spoilt_label_is_seen(spoilt: _Line) -> None:
    sound: _Line = {"text": "Hi.", "acts": [("greet", "", "")], "register": "warm", "kind": "plain"}
    assert not _wrong(sound)
    assert _wrong({**sound, **spoilt})
