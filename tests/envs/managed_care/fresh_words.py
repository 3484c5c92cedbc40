"""Measure how often fresh words of three desks pass.

``python -m tests.envs.managed_care.fresh_words [UM] [CM] [PA] [--held-out]``. ``fresh`` words try
whatever came to mind; ``office`` words are what careless, lying or honest people of an office would
write, by authors who had not seen the readers. Of each file a half is held out: whoever changes the
readers scores it once, at the end, and sees shares only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from tests.envs.managed_care.prior_authorization import wording as provider
from tests.envs.managed_care.utilization_management import playing, wording

_HERE = Path(__file__).parent
_DIFFICULTIES = ("easy", "medium", "hard")
#: How many people's files are written into, and tasks that are looked through for a field.
_PEOPLE, _TASKS, _APART = 5, 20, 7
#: What a text of the payer's desk is asked of: who writes it, what it says, and in which place.
Scored = tuple[str, str, bool]


def payer(name: str) -> Iterator[Scored]:
    """Yield for each text of the payer's desk its field, its words and whether it passes."""
    for field, texts in wording.variants(name).items():
        for place, text in enumerate(texts):
            yield field, text, not failing(field, text, place)


def failing(field: str, text: str, place: int) -> set[str]:
    """Return the checks of the payer's desk that a right episode fails with a text in it.

    Args:
        field: The field.
        text: The text.
        place: Its place in its file, by which the task is chosen.
    """
    turn = place % len(_DIFFICULTIES)
    for difficulty in (*_DIFFICULTIES[turn:], *_DIFFICULTIES[:turn]):
        for index in range(place * _APART, place * _APART + _TASKS):
            instance = _task(difficulty, index)
            script = wording.put_in(instance, playing.solution(instance), field, text)
            if script is not None:
                return playing.fails(playing.play(instance, script, refused=True))
    raise LookupError(f"No task has a field {field}.")


@cache
def _task(difficulty: str, index: int) -> ReviewInstance:
    return ReviewFamily(difficulty).generator.generate(Split.TEST, index)


def practice(name: str) -> Iterator[Scored]:
    """Yield for each text of the practice its field, its words and whether it passes."""
    for field, texts in provider.variants(name).items():
        for place, text in enumerate(texts):
            yield field, text, not provider.failing(field, text, place)


def caller(name: str) -> Iterator[Scored]:
    """Yield for each text of care management its field, its words and whether it passes.

    A falsehood passes only if it does of two people: of one, what it says may be true.
    """
    from _managed_care.texts import Files, texts

    files = Files(_PEOPLE)
    for place, each in enumerate(texts(_HERE / f"care_management/{name}.jsonl")):
        passes = not files.failed(place, [each])
        if "wrong" in name:
            passes = passes and not files.failed(place + 1, [each])
        yield each.field, each.text, passes


DESKS = {"UM": payer, "CM": caller, "PA": practice}
#: Sets of words, and the desks that have them.
SETS = {"fresh": ("UM", "CM", "PA"), "office": ("UM", "CM", "PA"), "later": ("PA",)}


def measured(which: str, desk: str, *, held_out: bool) -> tuple[list[Scored], list[Scored]]:
    """Return the falsehoods and the honest texts of a set, as they were scored.

    Args:
        which: The set.
        desk: The desk.
        held_out: Whether the half is meant that nobody looks at.
    """
    end = "_held_out" if held_out else ""
    wrong, right = (list(DESKS[desk](f"{which}_{kind}{end}")) for kind in ("wrong", "right"))
    return wrong, right


def main(arguments: list[str]) -> None:
    """Print shares, and the texts that went wrong unless they are held out."""
    held_out = "--held-out" in arguments
    asked = [one for one in DESKS if one in arguments] or [*DESKS]
    for which, desk in ((name, one) for name, has in SETS.items() for one in has if one in asked):
        wrong, right = measured(which, desk, held_out=held_out)
        for kind, scored, bad in (("wrong", wrong, True), ("right", right, False)):
            off = [one for one in scored if one[2] is bad]
            print(f"{which} {desk} {kind}: {len(off)} of {len(scored)}", flush=True)
            for field, text, _ in [] if held_out else off:
                print(f"    {field}: {text}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(_HERE.parents[2] / "benchmarks"))
    main(sys.argv[1:])
