"""What a sentence brings up depends on its words alone, and is found out once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from healthgym.core.cache import forget_texts
from healthgym.worlds.managed_care import doubts
from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

_SAID = "The biopsy of the left knee was discussed with Dr. Quill on 2026-03-04."


def _seen(text: str, *, talked: bool = False) -> Seen:
    return Seen(Texts([text]), str, talked=talked)


def test_one_sentence_is_held_against_each_file() -> None:
    assert [*uncovered(_SAID, _seen("Nothing."))]
    assert not [*uncovered(_SAID, _seen("Biopsy, left knee. Quill.", talked=True))]
    wrong = [*uncovered(_SAID, _seen("Biopsy, right knee. Quill.", talked=True))]
    assert wrong == ["nowhere seen: knee"]  # of that side
    wrong = [*uncovered(_SAID, _seen("Biopsy, left knee.", talked=True))]
    assert "nowhere named: Quill" in wrong


def test_a_sentence_with_another_day_is_not_taken_apart_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    facts = doubts._facts

    def counted(
        clause: str, words: tuple[doubts._Word, ...], wanted: tuple[str, ...]
    ) -> Iterator[doubts.Doubt]:
        asked.append(clause)
        return facts(clause, words, wanted)

    forget_texts()
    monkeypatch.setattr(doubts, "_facts", counted)
    for day in ("4 March 2026", "5 April 2025", "6 May 2024"):
        assert not [*uncovered(f"Seen on {day} by us.", _seen("Nothing."))]
    assert asked == ["seen on 0 by us."]


def test_it_is_the_same_before_and_after_something_was_read() -> None:
    texts = (_SAID, "She smokes.", "Her wife knows.", "The policy asks for an MRI.", "Is it so?")
    seen = _seen("Nothing.")
    before = [[*uncovered(text, seen)] for text in texts]
    assert [[*uncovered(text, seen)] for text in texts] == before
    forget_texts()
    assert [[*uncovered(text, seen)] for text in texts] == before
