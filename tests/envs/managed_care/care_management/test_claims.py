"""What a free text says of a person is looked up by letters, and heard as it stands."""

from __future__ import annotations

import re

import pytest

from healthgym.envs.managed_care.care_management.claims import Form, Stance, lexicon


def test_every_way_is_found_by_its_letters() -> None:
    """A way that is missed would let a false claim pass: each is looked up in a text of its own."""
    ways = lexicon().ways
    for way in ways.all:
        assert way in ways.within(f"so {way.form.part}.")


@pytest.mark.parametrize(
    ("text", "stances"),
    [
        ("She feels hopeless.", {Stance.CLAIMED}),
        ("She does not feel hopeless.", {Stance.DENIED}),
        ("Does she feel hopeless?", {Stance.OPEN}),
        ("The plan is kept.", set()),
        ("He says that he won't hurt himself.", {Stance.DENIED}),
        ('Better off dead: "No, never."', {Stance.DENIED}),
        ("The first two depression questions were asked.", set()),
        ("Asked about thoughts of dying.", set()),
        ("He is dying.", {Stance.CLAIMED}),
        ("Has bought a rope", {Stance.CLAIMED}),
        ("Stockpiling pills at home", {Stance.CLAIMED}),
        ("Slowed 3, thoughts of death or self-harm 0; the sum is 15.", {Stance.DENIED}),
        ("Slowed 3, thoughts of death or self-harm 2; the sum is 15.", {Stance.CLAIMED}),
        ("Self-harm (item 9): not at all", {Stance.DENIED}),
        ("Self-harm 10", {Stance.CLAIMED}),
        ("9 thoughts of death or self-harm 0. Sum 9.", {Stance.DENIED}),
        ("Suicidal ideation 0", {Stance.DENIED}),
        ("Suicidal thoughts 2, sleep 0", {Stance.CLAIMED}),
        ("He has suicidal thoughts and scored 0 on sleep.", {Stance.CLAIMED}),
        ("Nobody reports thoughts of suicide.", {Stance.DENIED}),
        ("Nobody named as acting on the suicidal thoughts.", {Stance.CLAIMED}),
        ("Self-harm rarely", {Stance.CLAIMED}),
        ("Alcohol: a glass at Christmas; no drugs.", {Stance.DENIED}),
        ("Alcohol: a bottle a day.", {Stance.CLAIMED}),
        ("Had drunk less than usual.", set()),
        ("Was drunk again.", {Stance.CLAIMED}),
    ],
)
def test_how_something_is_said(text: str, stances: set[Stance]) -> None:
    assert {said.stance for said in lexicon().found(text)} == stances


def test_no_way_goes_beyond_a_sentence() -> None:
    """Sentences are read one by one: no way takes a mark that ends one, but for its own end."""
    beyond = re.compile(r"\[\^|\\[WsSDn!?]|\\\.(?!\)\)\(\?!)|(?<!\\)\.|[;\n]|(?<!\(\?)!")
    ways = [way.form.words.pattern.replace("(?<!", "(?!") for way in lexicon().ways.all]
    assert beyond.search("fever\\. Chills")
    assert beyond.search("no[^,]*")
    assert not [way for way in ways if beyond.search(way)]


def test_a_form_without_letters_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="no letters"):
        Form.all_of("(?:ab)?")
