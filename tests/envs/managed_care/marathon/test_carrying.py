"""What of one case is written into another fails that one, and what two may share fails none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, ToolKind, call
from healthgym.core.verdict import Harm, Profile
from healthgym.core.verifier import AGENT, Event
from healthgym.envs.managed_care.marathon.carrying import Belongings, Carried
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.envs.managed_care.marathon.task import MarathonInstance, Piece
from healthgym.envs.managed_care.marathon.verifier import APART
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.facts import Measurement
from healthgym.worlds.managed_care.queue import QueueOffices
from tests.envs.managed_care.marathon.queueing import FAMILIES, a_task, played

DESKS = sorted(FAMILIES)


def script(desk: str, index: int = 0) -> list[ToolCall]:
    found = FAMILIES[desk].oracle(a_task(desk, index), np.random.default_rng(0))
    return [made for made in found if isinstance(made, ToolCall)]


def written(case: str, text: str) -> Event:
    return Event(
        AGENT, "a.write", {"notes": text}, ToolKind.WRITE, "", datetime(2026, 3, 2, tzinfo=UTC),
        case=case,
    )  # fmt: skip


@cache
def belongings(desk: str) -> Belongings:
    return Belongings(QueueOffices(a_task(desk).start), a_task(desk).reference.pieces)


def said(desk: str, case: str, text: str) -> tuple[Carried, ...]:
    return belongings(desk).carried([written(case, text)])


def two(desk: str) -> tuple[MarathonInstance, Piece, Piece]:
    task = a_task(desk)
    first, second = list(task.reference.pieces.values())[:2]
    return task, first, second


def identifying(task: MarathonInstance, piece: Piece) -> Iterator[str]:
    """Yield sentences, each of which tells whose case it is."""
    chart = task.start.charts[piece.patient_id]
    who = chart.patient
    yield from (f"As {who.first_name} {who.last_name} also has.", f"See {who.id}, please")
    yield f"{who.last_name}, {who.first_name} has it, too"
    yield f"{who.first_name} Q. {who.last_name.upper()}'s note says so"
    yield from (f"like Mrs. {who.last_name}", f"compare member {who.member_id}.")
    yield from (f"born {who.dob}: the same", f"as in {piece.key}")
    if chart.documents:
        yield f"(see {chart.documents[0].id})"


@pytest.mark.parametrize("desk", DESKS)
def test_whatever_tells_whose_case_it_is_is_found(desk) -> None:
    task, first, second = two(desk)
    for text in identifying(task, second):
        found = said(desk, first.key, text)
        assert {(one.case, one.owner) for one in found} == {(first.key, second.key)}, text
        assert not said(desk, second.key, text)


def test_a_value_counts_with_what_was_measured() -> None:
    task, first, second = two("requests")
    of_second = task.start.charts[second.patient_id].facts
    own = {
        f"{fact.value:g}"
        for fact in task.start.charts[first.patient_id].facts
        if isinstance(fact, Measurement)
    }
    for fact in of_second:
        value = f"{fact.value:g}" if isinstance(fact, Measurement) else ""
        if "." in value and len(value) > 3 and value not in own:
            found = said("requests", first.key, f"{fact.display} was {value}.")
            assert found == (Carried(first.key, second.key, value),)
            assert not said("requests", first.key, f"It came to {value}.")
            return
    pytest.fail("nothing was measured")


@pytest.mark.parametrize("desk", DESKS)
def test_what_the_agent_notes_for_itself_is_of_no_case(desk) -> None:
    task, first, second = two(desk)
    who = task.start.charts[second.patient_id].patient
    event = replace(written(first.key, f"{who.first_name} {who.last_name}"), tool="notes.add")
    assert not belongings(desk).carried([event])


@pytest.mark.parametrize("desk", DESKS)
def test_right_work_with_another_member_s_name_in_it_fails_that_case_alone(desk) -> None:
    calls = script(desk)
    world = played(desk, calls).world
    # Of the last sentences nobody asks what follows from them.
    for place, made in reversed(list(enumerate(calls))):
        spoilt = _naming_another(world, desk, made)
        if spoilt is not None:
            case, changed = spoilt
            episode = played(desk, [*calls[:place], changed, *calls[place + 1 :]])
            if not any(event.error for event in episode.events):
                _require_only(episode, case)
                return
    pytest.fail("nothing takes a sentence")


def _naming_another(world: QueueOffices, desk: str, made: ToolCall) -> tuple[str, ToolCall] | None:
    """Return a call that writes a sentence, with another member's name at its end."""
    task, case = a_task(desk), FAMILIES[desk].case_of(world, made)
    texts = [
        name
        for name, value in made.arguments.items()
        if isinstance(value, str) and value.count(" ") > 3 and case
    ]
    other = next((each for key, each in task.reference.pieces.items() if key != case), None)
    if not texts or other is None:
        return None
    who = task.start.charts[other.patient_id].patient
    text = f"{made.arguments[texts[0]]} As {who.first_name} {who.last_name} also has."
    return case, call(made.name, **{**made.arguments, texts[0]: text})


def _require_only(episode: MarathonEpisode, case: str) -> None:
    strict = episode.verdict(profile=Profile.STRICT)
    for key, part in strict.parts.items():
        (apart,) = (result for result in part.checks if result.check is APART)
        assert apart.passed == (key != case)
        assert part.success or key == case
    assert Harm.PRIVACY in strict.harms
    assert strict.metrics["carried_facts"] == 1
    paper = episode.verdict(profile=Profile.PAPER)
    assert not any(result.check is APART for result in paper.all_checks())


#: Shifts that are looked through, and their cases: some, and as many as are asked for.
SHIFTS = [(1, 5), pytest.param(40, 10, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("shifts", "size"), SHIFTS)
@pytest.mark.parametrize("desk", DESKS)
def test_whoever_knows_the_answers_carries_nothing(desk, shifts, size) -> None:
    family = type(FAMILIES[desk])(size=size)
    for index in range(shifts):
        task = family.generator.draw(Split.VALIDATION, index)
        episode = Episode(family, task, SparseReward(), family.rules)
        for made in family.oracle(task, np.random.default_rng(index)):
            episode.step(made)
        verdict = episode.verdict()
        assert verdict.success
        assert verdict.metrics["carried_facts"] == 0


@pytest.mark.parametrize(("shifts", "size"), SHIFTS)
@pytest.mark.parametrize("desk", DESKS)
def test_all_that_a_case_shows_may_be_written_into_it(desk, shifts, size) -> None:
    """Its whole chart, its policy, whoever works in the offices, and what is known of anybody."""
    family = type(FAMILIES[desk])(size=size)
    for index in range(shifts):
        task = family.generator.draw(Split.VALIDATION, index)
        own = Belongings(QueueOffices(task.start), task.reference.pieces)
        events = [
            written(key, "\n".join(_natural(task, piece)))
            for key, piece in task.reference.pieces.items()
        ]
        assert not own.carried(events)


def _natural(task: MarathonInstance, piece: Piece) -> Iterator[str]:
    chart = task.start.charts[piece.patient_id]
    who = chart.patient
    yield f"{who.first_name} {who.last_name} ({who.id}, born {who.dob})"
    yield from (document.content for document in chart.documents)
    yield from (document.id for document in chart.documents)
    yield from (f"{each.name} ({each.id}) works here" for each in task.start.staff.workers.values())
    for other in task.start.charts.values():
        yield from (
            f"{fact.medication} {fact.dose} {fact.frequency}, a {fact.drug_class}"
            for fact in other.facts
            if hasattr(fact, "medication")
        )
        yield from (str(getattr(fact, "display", "")) for fact in other.facts)
        yield from (condition.code for condition in other.conditions)
        if other.coverage is not None:
            yield f"{other.coverage.payer_name} {other.coverage.plan_name}"
    for path in task.start.handbook.paths("medical-library"):
        yield task.start.handbook.read(path).text
