"""What sentences sound like, as a second opinion beside the grammar."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from healthgym.worlds.managed_care.conversation.acts import GRAVE, SENSITIVE, Act
from healthgym.worlds.managed_care.conversation.ears.clauses import clauses_of
from healthgym.worlds.managed_care.conversation.ears.grammar import grammar
from healthgym.worlds.managed_care.conversation.ears.sounds import features_of, sounding, sounds
from healthgym.worlds.managed_care.conversation.ears.words import Words, heard_words
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.conversation.recognition import (
    understand,
    understand_by_grammar,
)

HERE = Path(__file__).parent


#: Of the file that nothing is learned from; a few of its lines are examples below.
FRESH = "38a48b6226cbd9e3032a7b90eb6594bb659ccb2a3ee56c9e6ddc69746c3da16b"


def _words(message: str) -> Words:
    return heard_words(message, grammar().spelling)


def test_what_is_held_out_is_what_was_committed_and_nothing_of_it_is_learned() -> None:
    held = (HERE / "phrases_fresh.jsonl").read_bytes()
    assert sha256(held).hexdigest() == FRESH
    learned = (HERE / "phrases_learned.jsonl").read_text("utf-8").splitlines()
    texts = {json.loads(row)["text"] for row in held.decode().splitlines()}
    assert texts.isdisjoint(json.loads(row)["text"] for row in learned)


def test_a_sentence_is_its_words_and_pairs_with_how_it_begins_and_ends() -> None:
    words = _words("You may stop. Is that all right?")
    first, second = features_of(words, clauses_of(words, grammar().joints))
    assert first == (("you", "may", "stop", "."), ("^ you", "you may", "may stop", "stop ."))
    assert second[0] == ("is", "that", "okay", "?")  # as which "all right" is heard
    assert second[1][-1] == "okay ?"


def test_weights_are_whole_and_of_words_as_they_are_heard() -> None:
    known = sounds()
    assert known.weights.dtype == np.int8
    assert known.weights.shape == (len(known.rows) + 1, len(known.columns))
    assert not known.weights[-1].any()
    # What was learned of words that are heard otherwise by now would never be found again.
    stale = [
        each
        for each in known.rows
        if each.isalpha() and len(each) > 2 and _words(each).words != (each,)
    ]
    assert len(stale) <= len(known.rows) // 500, stale


def test_every_worry_has_a_sound() -> None:
    told = {worry for act, worry in sounds().columns if act is Act.ANSWER_CONCERN}
    assert told == {"", *map(str, Concern)}


def test_the_longest_and_the_emptiest_message_sound_like_something() -> None:
    for message in ("", "?", "\x00", "you must " * 10_000, "zzqx " * 50):
        words = _words(message)
        heard = sounding(words, clauses_of(words, grammar().joints))
        assert np.isfinite(heard.heard).all()
        understand(message)


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("Your landlord's nowhere on the list of people who see this.", Act.ANSWER_CONCERN),
        ("I'd rather have an honest no than a polite yes.", Act.OFFER_AUTONOMY),
        ("And that's the last question, cross my heart. You've been a trouper.", Act.ACKNOWLEDGE),
        ("I'll mail it. One page. Read it, toss it, whatever.", Act.OFFER_MATERIAL),
        (
            "Is there a time of day when the pain lets up, so we could talk then?",
            Act.OFFER_CALLBACK,
        ),
    ],
)
def test_words_that_the_grammar_does_not_know_are_heard(said: str, act: Act) -> None:
    assert act not in {each.act for each in understand_by_grammar(said).acts}
    assert act in {each.act for each in understand(said).acts if each.sure}


@pytest.mark.parametrize(
    ("said", "act"),
    [
        (
            "You have my word I'll write down what you said, not what I wish you'd said.",
            Act.PROMISE,
        ),
        ("Wrong number, my mistake. I'll fix it. Bye.", Act.PROMISE),
        ("I'm not with immigration, I'm not the police, and I don't report to either.", None),
    ],
)
def test_what_only_looks_grave_is_asked_about_at_most(said: str, act: Act | None) -> None:
    if act is not None:
        assert act in {each.act for each in understand_by_grammar(said).acts if each.sure}
    assert not [each for each in understand(said).acts if each.act in GRAVE and each.sure]


def test_nothing_grave_and_no_request_is_sure_by_its_sound_alone() -> None:
    for name in ("learned", "fresh"):
        rows = (HERE / f"phrases_{name}.jsonl").read_text("utf-8").splitlines()
        for row in map(json.loads, rows[::7]):
            by_grammar = {each.act for each in understand_by_grammar(row["text"]).acts}
            sure = {each.act for each in understand(row["text"]).acts if each.sure}
            assert sure & (SENSITIVE - {Act.NAME_FACT}) <= by_grammar, row["text"]


def test_key_words_in_a_row_do_nothing_by_their_sound() -> None:
    for said in (
        "claims prescription visits hospital see open record screen",
        "cost bill money worried either tucked results there",
        "declining no leave hard respect insist understood further",
        "number salesman bank card sell selling tricks threats",
    ):
        assert understand(said).acts == understand_by_grammar(said).acts == ()


def test_rows_of_what_sounds_most_like_each_act_are_hardly_ever_heard() -> None:
    known, rng = sounds(), np.random.default_rng(5)
    words = np.array([name.isalpha() for name in known.rows])
    heard = tried = 0
    for column in range(len(known.columns)):
        weights = np.where(words, known.weights[:-1, column], -128)
        best = np.array(list(known.rows))[np.argsort(-weights, kind="stable")[:25]]
        for _ in range(20):
            said = " ".join(rng.choice(best, 8, replace=False))
            more = set(understand(said).acts) - set(understand_by_grammar(said).acts)
            heard += bool(more)
            tried += 1
    assert heard <= tried // 20, (heard, tried)


def test_what_is_quoted_or_set_aside_is_not_overheard() -> None:
    said = "I'd rather have an honest no than a polite yes."
    assert Act.OFFER_AUTONOMY in {each.act for each in understand(said).acts}
    for aside in (f"[{said}]", f'My colleague wrote: "{said}"'):
        assert Act.OFFER_AUTONOMY not in {each.act for each in understand(aside).acts}
