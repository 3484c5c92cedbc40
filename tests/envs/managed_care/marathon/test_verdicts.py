"""Each case has the verdict that it would have alone, and nothing of another one's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.marathon.oracle import in_order
from healthgym.envs.managed_care.marathon.projection import Shares
from healthgym.envs.managed_care.prior_authorization.oracle import open_case
from healthgym.rewards import SparseReward
from tests.envs.managed_care.marathon.queueing import (
    FAMILIES,
    SINGLE,
    a_task,
    begun,
    by,
    played,
    shared,
)

DESKS = sorted(FAMILIES)
JOBS = [(desk, name) for desk, family in FAMILIES.items() for name in family.jobs]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(("desk", "job"), JOBS)
def test_a_case_is_judged_as_it_is_alone(desk, job, place) -> None:
    family, task = FAMILIES[desk], a_task(desk, 1)
    piece = list(task.reference.pieces.values())[place]
    rng = np.random.default_rng(place)
    script = list(in_order(family.rehearse(task), [piece], rng, family.jobs[job])[0])
    together = played(desk, script, 1)
    rules = replace(SINGLE[desk].rules, pace=family.rules.pace, max_turns=len(script))
    alone = Episode(SINGLE[desk], piece.instance, SparseReward(), rules)
    for made in script:
        alone.step(made)
    for profile in Profile:
        part = together.verdict(profile=profile).parts[piece.key]
        own = alone.verdict(profile=profile)
        assert shared(part) == shared(own)
    assert together.verdict().parts[piece.key].success == (not job)


@pytest.mark.parametrize("desk", DESKS)
def test_in_the_beginning_each_case_lies_as_if_it_were_alone(desk) -> None:
    shares, task = Shares(begun(desk).world), a_task(desk)
    for piece in task.reference.pieces.values():
        assert shares.projected(piece).digest() == piece.before.digest()


@pytest.mark.parametrize("desk", DESKS)
def test_every_record_is_some_cases(desk) -> None:
    world = by(desk, "oracle").world
    for app in world.apps():
        for name in app.keeps.values():
            for key, record in getattr(app, name).items():
                owner = world.owner_of(record) or world.owner(key)
                assert owner in a_task(desk).reference.pieces, (name, key)


def test_a_case_for_a_bystander_is_held_against_the_case_beside_which_they_stand() -> None:
    task, world = a_task("requests"), begun("requests").world
    meant = {piece.patient_id for piece in task.reference.pieces.values()}
    order = next(
        chart.orders[0]
        for name, chart in world.charts.items()
        if name not in meant
        and chart.orders
        and not any(one.patient_id == name for one in world.cases.cases.values())
    )
    owner = world.owner(order.patient_id)
    script = list(FAMILIES["requests"].oracle(task, np.random.default_rng(0)))
    episode = played("requests", [open_case(order), *_later(script)])
    verdict = episode.verdict()
    assert "case_right" in _failed(episode, owner)
    assert "others_untouched" in _failed(episode, owner)
    assert all(part.success for key, part in verdict.parts.items() if key != owner)


def _later(script: list[object]) -> list[object]:
    """Return a script in a world that has given its first case id away."""
    text = {f"CASE-ACT-{n:03d}": f"CASE-ACT-{n + 1:03d}" for n in range(1, 9)}

    def other(value: object) -> object:
        if isinstance(value, str):
            return text.get(value, value)
        return value

    return [
        ToolCall(made.name, {name: other(value) for name, value in made.arguments.items()})
        if isinstance(made, ToolCall)
        else made
        for made in script
    ]


def _failed(episode: Episode, key: str) -> set[str]:
    part = episode.verdict().parts[key]
    return {result.check.name for result in part.checks if result.passed is False}


@pytest.mark.parametrize("desk", DESKS)
def test_without_finish_the_share_stays_and_success_does_not(desk) -> None:
    family, task = FAMILIES[desk], a_task(desk)
    script = list(family.oracle(task, np.random.default_rng(0)))[:-1]
    verdict = played(desk, script).verdict()
    assert not verdict.success
    assert verdict.metrics["solved"] == verdict.metrics["cases"]
    assert all(part.success for part in verdict.parts.values())


def test_a_document_of_one_case_sent_with_another_strays() -> None:
    episode = begun("requests")
    first, second, _ = a_task("requests").reference.pieces.values()
    for piece in (first, second):
        episode.step(open_case(_order(episode, piece.patient_id, piece.key)))
    pages = episode.world.charts[second.patient_id].documents
    episode.step(
        call("docs.create_submission_bundle", case_id="CASE-ACT-001", document_ids=[pages[0].id])
    )
    episode.stop()
    refused = [event for event in episode.events if event.error]
    metrics = episode.verdict().metrics
    assert refused or metrics["wrong_case_writes"] == 1


def _order(episode: Episode, patient: str, order: str) -> object:
    return next(one for one in episode.world.charts[patient].orders if one.id == order)
