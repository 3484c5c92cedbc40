"""Each figure of a session counts what it says, and what it counts can happen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.envs.managed_care.marathon.task import MarathonInstance, Piece
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, IntakeStatus
from tests.envs.managed_care.marathon.queueing import FAMILIES, a_task, begun, by, played

DESKS = sorted(FAMILIES)
CONFIRM = "payer_intake_hub.confirm_decisions"


def script(desk: str, index: int = 0) -> list[ToolCall]:
    found = FAMILIES[desk].oracle(a_task(desk, index), np.random.default_rng(0))
    return [made for made in found if isinstance(made, ToolCall)]


def pieces(task: MarathonInstance) -> list[Piece]:
    return list(task.reference.pieces.values())


def metrics(episode: MarathonEpisode) -> dict[str, float]:
    return dict(episode.verdict().metrics)


def first_at(kind: str) -> tuple[int, Piece]:
    """Return the first case of a kind in the payer's queues, with the number of its task."""
    for index in range(40):
        for piece in pieces(a_task("reviews", index)):
            if piece.instance.task.kind.startswith(kind):
                return index, piece
    raise LookupError(kind)


def referral_of(piece: Piece) -> str:
    return next(
        one.referral_id
        for one in piece.instance.start.records
        if isinstance(one, CMReferral) and one.case_id == piece.key
    )


def entered(said: Callable[[Patient], str]) -> MarathonEpisode:
    """Return an episode in which intake writes something of another's case into one."""
    index, piece = first_at("intake-")
    task, episode = a_task("reviews", index), begun("reviews", index)
    other = next(each for each in pieces(task) if each is not piece)
    text = said(task.start.charts[other.patient_id].patient)
    data = {"urgency_requested_by": text}
    made = call("payer_intake_hub.save_auth_header", case_id=piece.key, data=data)
    outcome = episode.step(made)
    assert not outcome.errors, outcome.observation
    episode.stop()
    return episode


@pytest.mark.parametrize("desk", DESKS)
def test_work_that_is_right_and_done_is_told_so(desk) -> None:
    found = metrics(by(desk, "oracle"))
    assert found["solved"] == found["finished"] == found["touched"] == found["cases"] == 3
    astray = ("abandoned", "deadline_misses", "wrong_case_writes", "carried_facts")
    assert not any(found[name] for name in astray)
    assert found["calls_per_touched_case"] > 3


@pytest.mark.parametrize("desk", DESKS)
def test_a_case_that_is_left_half_way_is_touched_and_abandoned(desk) -> None:
    found = metrics(by(desk, "fan_out"))
    assert found["touched"] == found["abandoned"] + found["finished"] == 3
    assert found["abandoned"] > 0
    assert found["solved"] == 0


@pytest.mark.parametrize("desk", DESKS)
def test_to_look_is_to_touch_and_finishes_nothing(desk) -> None:
    task, episode = a_task(desk), begun(desk)
    first = pieces(task)[0]
    looks = {
        "requests": lambda: call("chart.list_candidate_orders", patient_id=first.patient_id),
        "reviews": lambda: call("payer_intake_hub.list_documents", case_id=first.key),
        "referrals": lambda: call("cm_intake.get_referral", referral_id=referral_of(first)),
    }
    assert not episode.step(looks[desk]()).errors
    episode.step(call("notes.read"))
    episode.stop()
    found = metrics(episode)
    assert (found["touched"], found["finished"], found["abandoned"]) == (1, 0, 1)
    assert (found["calls_per_touched_case"], found["calls_of_no_case"]) == (1, 1)


def test_what_lies_too_long_is_a_missed_deadline() -> None:
    episode = begun("reviews")
    until = episode.world.clock.now + timedelta(weeks=12)
    for _ in range(80):
        if episode.world.clock.now < until:
            episode.step(call("wait", until=f"{until:%Y-%m-%dT%H:%M}"))
    episode.stop()
    assert metrics(episode)["deadline_misses"] > 0


def test_a_write_that_names_things_of_two_cases_counts_whatever_they_stand_in() -> None:
    found = metrics(entered(lambda patient: patient.id))
    assert found["wrong_case_writes"] == 1
    assert found["carried_facts"] == 1


def test_what_one_case_alone_holds_and_another_was_told_is_carried() -> None:
    found = metrics(entered(lambda who: f"{who.first_name} {who.last_name}, the member"))
    assert found["carried_facts"] == 1
    assert found["wrong_case_writes"] == 0


def test_a_refused_write_on_two_cases_does_not_count() -> None:
    task = a_task("reviews")
    first, second = pieces(task)[:2]
    episode = played(
        "reviews",
        [call("payer_letter_center.deliver", letter_id=first.key, case_id=second.key)],
    )
    assert any(event.error for event in episode.events)
    assert metrics(episode)["wrong_case_writes"] == 0


@pytest.mark.parametrize("desk", DESKS)
def test_an_end_is_told_from_all_that_is_done_before_it(desk) -> None:
    """Each case is finished from one call on, and its last write is not before that call."""
    task, episode = a_task(desk), begun(desk)
    family = FAMILIES[desk]
    ended: dict[str, int] = {}
    for number, made in enumerate(script(desk)[:-1]):
        episode.step(made)
        for key, piece in task.reference.pieces.items():
            if family.desk.finished(episode.world, piece):
                ended.setdefault(key, number)
            else:
                assert key not in ended
    assert ended.keys() == task.reference.pieces.keys()
    assert min(ended.values()) > 0


def test_an_end_at_intake_needs_intake_to_be_confirmed() -> None:
    index, piece = first_at("intake-returned")
    episode, ends = begun("reviews", index), FAMILIES["reviews"].desk.finished
    made = iter(script("reviews", index))
    for each in made:
        if each.name == CONFIRM and each.arguments["case_id"] == piece.key:
            break
        episode.step(each)
    assert not ends(episode.world, piece)
    assert not episode.step(each).errors
    assert ends(episode.world, piece)
    assert episode.world.cases.get(piece.key).status is not CaseStatus.CLOSED


def test_a_confirmed_intake_is_no_end_of_a_request_that_is_to_be_reviewed() -> None:
    index, piece = first_at("intake-denied")
    episode, ends = begun("reviews", index), FAMILIES["reviews"].desk.finished
    for each in script("reviews", index):
        episode.step(each)
        if each.name == CONFIRM and each.arguments["case_id"] == piece.key:
            break
    intake = episode.world.intake.find(piece.key)
    assert intake is not None
    assert intake.status is IntakeStatus.COMPLETE
    assert not ends(episode.world, piece)
