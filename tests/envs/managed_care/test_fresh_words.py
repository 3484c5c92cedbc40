"""Falsehoods and honest words of three desks that were written before their readers changed.

Of the halves that are held out nobody who works on the readers looks at what goes wrong: only how
much of it does may not grow. It grew three times, for a reason: whole cases in honest words were
refused (``test_honest_work``), first four of five of the payer's desk, then half of a practice's,
then half of a care manager's; the last two times by taking away what knew hardly a falsehood of
these halves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.envs.managed_care import fresh_words

#: The most that goes wrong, by set and desk: falsehoods that pass and honest texts refused.
_DEVELOPED = {
    ("fresh", "UM"): (0, 0),
    ("fresh", "CM"): (6, 0),
    ("fresh", "PA"): (5, 0),
    ("office", "UM"): (13, 0),
    ("office", "CM"): (8, 0),
    ("office", "PA"): (11, 0),
    ("later", "PA"): (10, 0),
    ("desk", "UM"): (5, 2),
}
_HELD_OUT = {
    ("fresh", "UM"): (18, 0),
    ("fresh", "CM"): (8, 0),
    ("fresh", "PA"): (14, 0),
    ("office", "UM"): (36, 3),
    ("office", "CM"): (21, 1),
    ("office", "PA"): (13, 0),
    ("later", "PA"): (35, 1),
    ("desk", "UM"): (31, 2),
}
_LEAST = 30


@pytest.mark.slow
@pytest.mark.parametrize(("which", "desk"), _DEVELOPED)
@pytest.mark.parametrize("held_out", [False, True], ids=["developed", "held out"])
def test_no_more_goes_wrong_than_did(
    which: str, desk: str, held_out: bool, monkeypatch: pytest.MonkeyPatch, repo_root: Path
) -> None:
    monkeypatch.syspath_prepend(repo_root / "benchmarks")
    wrong, right = fresh_words.measured(which, desk, held_out=held_out)
    assert min(len(wrong), len(right)) >= _LEAST
    false, refused = (_HELD_OUT if held_out else _DEVELOPED)[which, desk]
    assert sum(passes for *_, passes in wrong) <= false
    assert sum(not passes for *_, passes in right) <= refused
