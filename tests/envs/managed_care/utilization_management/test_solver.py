"""The reader: what a reviewer is shown suffices, and has to be read."""

from __future__ import annotations

import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.envs.managed_care.utilization_management import solver
from healthgym.envs.managed_care.utilization_management.lookups import (
    office_from,
    read_brief,
    read_case,
)
from healthgym.envs.managed_care.utilization_management.task import (
    PUBLISHED_STAGES,
    Path,
    StartStage,
)
from healthgym.errors import DataError
from tests.envs.managed_care.utilization_management.reading_play import (
    begun,
    drawn,
    played,
    wrong,
)
from tests.sized import some

COUNTS = {"easy": some(24, 12), "medium": some(20, 10), "hard": some(16, 8)}


def failures(level: str, split: Split, count: int) -> list[str]:
    """Return what was not solved, with the checks that failed."""
    found = []
    for index in range(count):
        instance = drawn(level, index, split)
        episode, _ = played(level, instance)
        if failed := wrong(episode):
            found.append(f"{split}/{index} {instance.task.kind}: {', '.join(failed)}")
    return found


@pytest.mark.parametrize("split", [Split.TRAIN, Split.TEST])
@pytest.mark.parametrize("level", COUNTS)
def test_the_reader_solves_nearly_every_task(level: str, split: Split) -> None:
    count = COUNTS[level] // 2
    missed = failures(level, split, count)
    assert len(missed) <= count // 10, missed


@pytest.mark.parametrize("stage", PUBLISHED_STAGES)
def test_each_stage_is_played_from_there(stage: StartStage) -> None:
    for index in range(60):
        instance = drawn("medium", index)
        if instance.reference.stage is stage:
            episode, _ = played("medium", instance)
            assert wrong(episode) == []
            return
    pytest.fail(f"No task begins at {stage}.")


@pytest.mark.parametrize("path", [Path.LANE, Path.INFORMED, Path.UPHELD, Path.OVERTURNED])
def test_each_course_is_seen_through(path: Path) -> None:
    for index in range(80):
        instance = drawn("medium", index)
        if instance.reference.path is path:
            episode, _ = played("medium", instance)
            assert wrong(episode) == []
            return
    pytest.fail(f"No task goes {path}.")


def found(calls: list[ToolCall]) -> list[tuple[str, str]]:
    """Return what reviewers entered, criterion by criterion."""
    return [
        (row["criterion_id"], row["result"])
        for each in calls
        for row in each.arguments.get("evaluations", ())
    ]


@pytest.mark.slow
def test_numbers_known_by_heart_fail_where_they_decide() -> None:
    decided, right = 0, 0
    for index in range(16):
        instance = drawn("medium", index)
        episode, calls = played("medium", instance)
        other, others = played("medium", instance, solver.solve_by_heart)
        if not wrong(episode) and found(calls) != found(others):
            decided += 1
            right += not wrong(other)
    assert decided >= 5
    assert right <= decided // 5


def test_the_reader_plays_alike_twice() -> None:
    instance = drawn("medium", 2)
    first, second = (played("medium", instance)[1] for _ in range(2))
    assert list(map(str, first)) == list(map(str, second))


# -- what is read ---------------------------------------------------------------------------------


def test_an_instruction_is_read() -> None:
    instance = drawn("easy", 0)
    brief = read_brief(instance.task.instruction)
    assert brief.case == instance.reference.case_id
    assert brief.worker == instance.start.actor
    assert brief.now.replace(second=0) == instance.start.now.replace(second=0, microsecond=0)
    with pytest.raises(DataError):
        read_brief("See to it.")


def test_pages_of_another_wording_are_not_guessed_at() -> None:
    with pytest.raises(DataError):
        office_from("", "", "", "")


def test_a_page_without_a_line_is_no_case() -> None:
    with pytest.raises(DataError):
        read_case("intake_case:\n  id: intake-0001")


def test_what_cannot_be_read_is_given_up() -> None:
    instance = drawn("easy", 0)
    episode = begun("easy", instance)
    moves = solver.solve("See to it.")
    step = episode.step(next(moves))
    assert not step.errors
    assert episode.done()
    assert wrong(episode)
