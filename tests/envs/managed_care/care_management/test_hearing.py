"""The policy that listens has to hear each line that a person has for the same thing."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.care_management.hearing import medicines, sounds
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.vocabulary.care import AdherenceLevel

_MISSED = {
    "0": AdherenceLevel.ADHERENT,
    "needed": AdherenceLevel.ADHERENT,
    "seldom": AdherenceLevel.ADHERENT,
    "1": AdherenceLevel.ADHERENT,
    **dict.fromkeys("234", AdherenceLevel.PARTIAL),
    **dict.fromkeys("567", AdherenceLevel.NON_ADHERENT),
}


@pytest.mark.parametrize(("missed", "level"), _MISSED.items())
def test_how_a_medicine_is_taken_is_heard_in_every_line(missed: str, level: AdherenceLevel) -> None:
    for line in lines()[f"medicine.{missed}"]:
        said = line.text.format(drug="Dulaglutide")
        taken = medicines(f"{said} Metformin, always.", ["dulaglutide", "metformin"])
        assert (taken["dulaglutide"].level, taken["dulaglutide"].at_all) == (
            level,
            missed != "7",
        ), said


def test_what_a_label_says_is_no_word_on_how_a_medicine_is_taken() -> None:
    for line in lines()["medicine.amounts"]:
        said = line.text.format(doses="dulaglutide 0.75 mg, metformin 500 mg")
        assert not medicines(said, ["dulaglutide", "metformin"]), said


@pytest.mark.parametrize("key", ["tired", "tired.more", "tired.bye"])
def test_that_somebody_has_had_enough_for_today_is_heard_in_every_line(key: str) -> None:
    assert all(sounds(line.text, "tired") for line in lines()[key])
