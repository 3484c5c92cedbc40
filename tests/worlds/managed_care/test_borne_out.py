"""A word that stands nowhere is let pass in a sentence of which most stands on file."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.borne_out import Slight, still_doubted
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

_FILE = (
    "Hypertension. Potassium 5.7 mmol/L on 2026-02-23. Chlorthalidone and felodipine. Taught high "
    "school chemistry; plays chess on Thursdays."
)
_SEEN = Seen(Texts([_FILE]), str, talked=True)


def _left(text: str, word: str) -> list[str]:
    return list(still_doubted([Slight("nowhere seen", word)], text, _SEEN))


@pytest.mark.parametrize(
    "text",
    [
        "Hypertension going wild under chlorthalidone and felodipine.",
        "Wild potassium, 5.7 on 2026-02-23.",
        "Wild chess on Thursdays, still.",
    ],
)
def test_a_word_of_a_sentence_that_stands_on_file_is_let_pass(text: str) -> None:
    assert not _left(text, "wild")


@pytest.mark.parametrize(
    "text",
    [
        "Wild nights.",
        "Wild nights with a tuba and a trombone, and chess.",
        "Hypertension under chlorthalidone and felodipine. Wild nights.",
        "Potassium 5.7 on 2026-02-23; wild nights.",
        "If the voices go wild, call 911.",
        "Wild nights since 2026-02-24.",
        "Wild potassium, 9.1 on 2026-03-01.",
    ],
)
def test_a_word_of_a_sentence_that_stands_nowhere_is_not(text: str) -> None:
    assert _left(text, "wild") == ["nowhere seen: wild"]


def test_what_is_no_slight_doubt_is_never_let_pass() -> None:
    text = "Wild hypertension under chlorthalidone and felodipine."
    assert list(still_doubted(["takes for granted: bribe"], text, _SEEN)) == [
        "takes for granted: bribe"
    ]


def test_each_sentence_with_the_word_has_to_be_borne_out() -> None:
    honest = "Hypertension wild under chlorthalidone and felodipine."
    assert not _left(honest, "wild")
    assert _left(f"{honest} Wild nights.", "wild")
