"""Sentences nobody of this project had seen, in right reports, played as anybody would play them.

``data/novel_*`` were written before the grammar was looked at, ``data/later_*`` to fool the words
that it learnt from them. They are not edited: what is right and refused is named here.
`data/prose_*` are sentences in many radiologists' styles, and hostile ones near to them; half of
each was written before the words for signs, ways and ends, and not looked at while these were made.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from healthgym.envs.xray_correction.reading.reader import statements
from healthgym.envs.xray_correction.verifier import sentence_fits, text_errors
from tests.envs.xray_correction.standing import listed, novel, stands

#: Every so many sentences are tried in each run, the others in slow ones.
_QUICK = 6
#: A history that nobody saw.
_REFUSED_STILL = {"The endotracheal tube has been advanced into the right main bronchus."}
#: What denies only a part, or something else too; by the paper's rule no significant error.
_NARROWER = {
    "There is no alveolar edema.",
    "No dense consolidation.",
    "No layering effusion or pneumothorax.",
    "The lungs are hypoinflated and clear.",
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


def test_prose_of_many_styles_stands_but_for_what_is_named() -> None:
    refused = [
        text
        for truth, text in novel("prose_right")
        if not sentence_fits(*statements([truth]), text)
    ]
    assert sorted(refused) == sorted(listed("prose_refused"))
    assert len(refused) <= 0.06 * len(novel("prose_right"))


def test_nothing_near_to_prose_passes_that_adds_hedges_or_contradicts() -> None:
    for truth, text in novel("prose_wrong"):
        (statement,) = statements([truth])
        assert not sentence_fits(statement, text), text
        significant = any(error.significant for error in text_errors([statement], text))
        assert significant or text in _NARROWER, text


@pytest.mark.parametrize("name", ["prose_right", "prose_wrong"])
def test_prose_is_played_as_it_is_read(name: str) -> None:
    refused = {*listed("prose_refused"), *_NARROWER}
    for truth, text in novel(name)[:: 8 * _QUICK]:
        if text not in refused:
            right = name == "prose_right"
            assert stands(truth, text) == {"paper": right, "strict": right}, text
