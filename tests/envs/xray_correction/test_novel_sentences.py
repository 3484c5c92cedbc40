"""Sentences nobody of this project had seen, in right reports, played as anybody would play them.

``data/novel_*`` were written before the grammar was looked at, ``data/later_*`` to fool the words
that it learnt from them. They are not edited: what is right and refused is named here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.envs.xray_correction.standing import novel, stands

#: Every so many sentences are tried in each run, the others in slow ones.
_QUICK = 6
#: A place that the truth does not tell, and a history that nobody saw.
_REFUSED_STILL = {
    "Soft tissue air is noted along the right lateral chest wall.",
    "The endotracheal tube has been advanced into the right main bronchus.",
}


def _pairs(*names: str) -> Iterator[object]:
    for name in names:
        for number, (truth, text) in enumerate(novel(name)):
            marks = [pytest.mark.slow] if number % _QUICK else []
            if text in _REFUSED_STILL:
                marks.append(pytest.mark.xfail(strict=True))
            yield pytest.param(truth, text, id=f"{name}-{number}", marks=marks)


@pytest.mark.parametrize(("truth", "text"), list(_pairs("novel_right", "later_right")))
def test_a_right_sentence_in_other_words_stands(truth: str, text: str) -> None:
    assert stands(truth, text) == {"paper": True, "strict": True}


@pytest.mark.parametrize(("truth", "text"), list(_pairs("novel_wrong", "later_wrong")))
def test_a_wrong_sentence_earns_nothing(truth: str, text: str) -> None:
    assert stands(truth, text) == {"paper": False, "strict": False}


def test_there_are_as_many_as_published() -> None:
    counts = {name: len(novel(name)) for name in ("novel_right", "novel_wrong")}
    assert counts == {"novel_right": 120, "novel_wrong": 120}
    assert len(novel("later_right")) == len(novel("later_wrong")) == 60
