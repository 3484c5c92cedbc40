"""Words in other letters, numbers in words, and questions that claim something."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.disguises import flattened
from healthgym.worlds.managed_care.numerals import in_digits
from healthgym.worlds.managed_care.own_words import presumed
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

FILE = "José Peña takes 5 mg of α-lipoic acid; HbA1c 7.1 %."
SEEN = Seen(Texts([FILE]), str, False)


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("twenty-six, and rising", "26, and rising"),
        ("Exactly seven hundred seizures", "Exactly 700 seizures"),
        ("two thousand and twenty-six", "2026"),
        ("five point two", "5.2"),
        ("one of them", "one of them"),
        ("fifty fifty", "fifty fifty"),
        ("plenty of safety", "plenty of safety"),
    ],
)
def test_numbers_in_words_are_numbers(text: str, digits: str) -> None:
    assert in_digits(text) == digits


@pytest.mark.parametrize("text", ["José Peña was reviewed.", "The HbA1c was reviewed: 7.1 %."])
def test_letters_that_are_on_file_are_read(text: str) -> None:
    assert not list(uncovered(text, SEEN))


@pytest.mark.parametrize(
    "text",
    [
        "The p\N{CYRILLIC SMALL LETTER A}cket was read.",
        "The p4ck3t was read.",
        "Wir haben das nicht.",
        "The left wrist was seen.",
        "The packet was empty.",
    ],
)
def test_what_is_disguised_or_taken_for_granted_is_seen(text: str) -> None:
    seen = Seen(Texts([FILE]), str, talked=False, sent=True)
    assert list(uncovered(text, seen))


def test_a_question_takes_for_granted_what_it_embeds() -> None:
    assert presumed("did you know that she fell") == "she fell"
    assert presumed("was the page sent?") == ""


@settings(deadline=None)
@given(st.text() | st.text(st.sampled_from("aZ9 é’İſß?-_\n\ud800\x00"), max_size=40))
def test_flat_words_are_those_that_a_pattern_finds(text: str) -> None:
    for small in (text.lower(), text.casefold()):
        assert flattened(small) == " ".join(re.findall(r"[a-z0-9]+", small))
