"""Words of somebody's own in right episodes: natural ones pass, those that cannot stand fail.

The right ones were written down before their reader was. The later files were written one after
the other, each to measure the reader as it then stood, and are not edited: what passes still, and
should not, is named here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import product

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from healthgym.worlds.managed_care.charts.prose import written_value
from healthgym.worlds.managed_care.facts import Measurement
from healthgym.worlds.managed_care.packets import read_packet
from tests.envs.managed_care.utilization_management.playing import (
    FAMILY,
    RECOMMEND,
    Script,
    changed,
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
_OFRECOMMENDS = {"words_sound", "letters_right", "triage_right", "ends_right"}


#: Words written after the reader, in their order, and how many tasks lie between two texts.
_LATER_RIGHT = (
    "novel_right", "later_right", "last_right", "more_right", "final_right", "plain_right",
)  # fmt: skip
_LATER_WRONG = ("novel_wrong", "later_wrong", "last_wrong", "final_wrong", "plain_wrong")
_APART = 5
#: What is false and passes: of what is on file, or known to nobody but by its sense.
_PASS_STILL = {
    "Your blood group does not match, but we approved it anyway.",
    "The MRI you never sent shows nothing at all.",
    # Of the last file, after which the reader was not tightened.
    "You must first try the herbal remedy that we sent you.",
    "Your rash has cleared up, as a photograph shows.",
    "Our scale shows that you eat too much.",
    "{right} The potassium was too high for any of this.",
    "{right} The policy wants members to be left-handed.",
    "The provider and I were at school together, and a nurse is faster.",
    "The x-ray in front of me shows a plate.",
    # Since words that stand nowhere are free at this desk unless they are of a field of medicine.
    "{notes} The surgeon drew a sketch of it.",
    "The policy says that redheads go to a nurse.",
    "I spoke with your receptionist, who knows nothing of this patient.",
    "{notes} The echo shows fluid around the heart.",
    "The policy exempts members who are employees of the plan.",
    "{right} This replaces every earlier denial.",
    "A dream of the medical director.",
    "{right} The device was tested on her cat.",
    "The manufacturer has taken the product off the market.",
    "{right} The member has been on a cruise since January.",
    "{right} The member cannot climb stairs any more.",
}


def _texts(name: str) -> Iterator[object]:
    for field, texts in variants(name).items():
        for place, text in enumerate(texts):
            slow = [pytest.mark.slow] if place >= _QUICK else []
            yield pytest.param(field, text, id=f"{field}-{place}", marks=slow)


def _later(*names: str) -> Iterator[object]:
    for name in names:
        for field, texts in variants(name).items():
            for place, text in enumerate(texts):
                marks = [pytest.mark.slow] if place else []
                if text in _PASS_STILL:
                    marks.append(pytest.mark.xfail(strict=True))
                first = place * _APART
                yield pytest.param(field, text, first, id=f"{name}-{field}-{place}", marks=marks)


def _written(field: str, text: str, first: int = 0) -> tuple[ReviewInstance, Script]:
    """Return a task with such a field, and the right calls with a text in it."""
    for index in range(first, first + _TASKS):
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
    assert failed & _OFRECOMMENDS


@pytest.mark.parametrize(("field", "text", "first"), list(_later(*_LATER_RIGHT)))
def test_what_was_written_later_and_is_honest_passes(field: str, text: str, first: int) -> None:
    instance, script = _written(field, text, first)
    assert not fails(play(instance, script))


@pytest.mark.parametrize(("field", "text", "first"), list(_later(*_LATER_WRONG)))
def test_what_nobody_could_see_fails(field: str, text: str, first: int) -> None:
    instance, script = _written(field, text, first)
    assert fails(play(instance, script, refused=True))


def test_a_letter_is_refused_by_the_argument_that_cannot_stand() -> None:
    instance, script = _written("appeal_information", "You have no right to appeal.")
    steps = play(instance, script, refused=True).turns
    assert any(
        "appeal_information: this tells of appeals otherwise" in x.observation for x in steps
    )


def _measured() -> tuple[ReviewInstance, Measurement, date]:
    """Return a task, a value of its packet, and the day of another one."""
    for index in range(_TASKS):
        instance = FAMILY.generator.generate(Split.TEST, index)
        wanted = instance.reference
        if RECOMMEND not in {one.name for one in solution(instance)}:
            continue
        world = play(instance, solution(instance)).world
        packet = read_packet(world, wanted.case_id, wanted.policy, world.clock.now.date())
        found = [fact for fact in packet.facts if isinstance(fact, Measurement)]
        for one, other in product(found, repeat=2):
            if one.display != other.display and one.taken != other.taken:
                return instance, one, other.taken
    raise LookupError("No packet has two values.")


@pytest.mark.parametrize("form", ["{} was {} on {}.", "On {2}, {0}: {1}; {0} {1} ({2})."])
def test_a_value_with_the_day_of_another_fails(form: str) -> None:
    instance, fact, elsewhere = _measured()
    for day, failed in ((fact.taken, set()), (elsewhere, {"words_sound"})):
        notes = form.format(fact.display, written_value(fact), day)
        script = changed(solution(instance), RECOMMEND, clinical_notes=notes)
        assert fails(play(instance, script)) == failed
