"""Words of somebody's own in right episodes: natural ones pass, those that cannot stand fail.

The right ones were written down before their reader was.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from tests.envs.managed_care.utilization_management.playing import (
    FAMILY,
    Script,
    fails,
    play,
    solution,
)
from tests.envs.managed_care.utilization_management.wording import put_in, variants

#: Tasks among which one is looked for that has a field.
_TASKS = 40
_QUICK = 2
#: Checks that words alone can fail; a letter that is refused never goes out, and a member of whom
#: the desk lost sight is not told.
_OF_WORDS = {"words_sound", "letters_right", "triage_right", "ends_right"}


def _texts(name: str) -> Iterator[object]:
    for field, texts in variants(name).items():
        for place, text in enumerate(texts):
            slow = [pytest.mark.slow] if place >= _QUICK else []
            yield pytest.param(field, text, id=f"{field}-{place}", marks=slow)


def _written(field: str, text: str) -> tuple[ReviewInstance, Script]:
    """Return a task with such a field, and the right calls with a text in it."""
    for index in range(_TASKS):
        instance = FAMILY.generator.generate(Split.TEST, index)
        script = put_in(instance, solution(instance), field, text)
        if script is not None:
            return instance, script
    raise LookupError(f"No task has a field {field}.")


@pytest.mark.parametrize(("field", "text"), list(_texts("right_words")))
def test_what_a_colleague_would_write_passes(field: str, text: str) -> None:
    instance, script = _written(field, text)
    assert not fails(play(instance, script))


@pytest.mark.parametrize(("field", "text"), list(_texts("wrong_words")))
def test_what_cannot_stand_fails_by_its_words(field: str, text: str) -> None:
    instance, script = _written(field, text)
    failed = fails(play(instance, script, refused=True))
    assert failed & _OF_WORDS


def test_a_letter_is_refused_by_the_argument_that_cannot_stand() -> None:
    instance, script = _written("appeal_information", "You have no right to appeal.")
    steps = play(instance, script, refused=True).turns
    assert any(
        "appeal_information: this tells of appeals otherwise" in x.observation for x in steps
    )
