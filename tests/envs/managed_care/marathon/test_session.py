"""A session: what pays on the way, what is asked again, budgets, notes, and what is told of it."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import healthgym
from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.dialling import PAGE
from healthgym.envs.managed_care.marathon.family import (
    AuthorizationMarathon,
    CareMarathon,
    MarathonFamily,
    ReviewMarathon,
)
from healthgym.envs.managed_care.marathon.reading import by_bytes
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from healthgym.wrappers import Curriculum
from tests.envs.managed_care.marathon.queueing import FAMILIES, a_task, begun

DESKS = sorted(FAMILIES)
KINDS = {"requests": AuthorizationMarathon, "reviews": ReviewMarathon, "referrals": CareMarathon}


@pytest.mark.parametrize("desk", DESKS)
def test_only_an_end_pays(desk) -> None:
    task, episode = a_task(desk), begun(desk)
    script = list(FAMILIES[desk].oracle(task, np.random.default_rng(0)))
    ends = 0
    for made in script[:-1]:
        outcome = episode.step(made)
        now = sum(
            FAMILIES[desk].desk.finished(episode.world, piece)
            for piece in task.reference.pieces.values()
        )
        assert outcome.reward == pytest.approx((now - ends) * 0.5 / len(task.reference.pieces))
        ends = now
    assert ends == len(task.reference.pieces)


@pytest.mark.parametrize("desk", DESKS)
def test_a_step_about_one_case_asks_about_no_other(desk, monkeypatch) -> None:
    task, episode = a_task(desk), begun(desk)
    asked: list[str] = []
    verifier = FAMILIES[desk].verifier
    real = verifier.progress

    def progress(evidence, profile, part=""):
        asked.append(part)
        return real(evidence, profile, part)

    monkeypatch.setattr(verifier, "progress", progress)
    for made in list(FAMILIES[desk].oracle(task, np.random.default_rng(0)))[:-1]:
        known, asked[:] = len(episode.events), []
        episode.step(made)
        about = {event.case for event in episode.events[known:]}
        assert set(asked) <= about


@pytest.mark.parametrize("desk", DESKS)
def test_a_clone_half_way_has_the_same_future(desk) -> None:
    episode = begun(desk)
    script = list(FAMILIES[desk].oracle(a_task(desk), np.random.default_rng(0)))
    half = len(script) // 2
    for made in script[:half]:
        episode.step(made)
    twin = episode.clone()
    for made in script[half:]:
        assert episode.step(made).observation == twin.step(made).observation
    assert episode.world.digest() == twin.world.digest()
    assert episode.verdict().to_dict() == twin.verdict().to_dict()
    assert episode.verdict().success


def test_notes_stay_and_have_an_end() -> None:
    episode = begun("requests")
    assert "no notes" in episode.step(call("notes.read")).observation
    episode.step(call("notes.add", text="order 1 is sent"))
    episode.step(call("notes.add", text="order 2 waits"))
    assert "order 1 is sent\norder 2 waits" in episode.step(call("notes.read")).observation
    episode.step(call("notes.rewrite", text="all but order 2"))
    assert "order 1" not in episode.step(call("notes.read")).observation
    for refused in ("   ", "all but order 2"):
        assert episode.step(call("notes.rewrite", text=refused)).errors
    episode.step(call("notes.rewrite", text="x" * 40_000))
    assert "40000" in episode.step(call("notes.add", text="y")).errors[0]
    assert episode.world.notes == "x" * 40_000


def test_the_instruction_names_no_case() -> None:
    for desk, family in FAMILIES.items():
        task = a_task(desk)
        told = family.instruction("agent", task)
        for piece in task.reference.pieces.values():
            chart = task.start.charts[piece.patient_id]
            assert piece.key not in told
            assert piece.patient_id not in told
            assert f"{chart.patient.first_name} {chart.patient.last_name}" not in told


@pytest.mark.parametrize(
    ("desk", "tool"),
    [
        ("requests", "inbox.list_messages"),
        ("reviews", "payer_intake_hub.list_intake_queue"),
        ("referrals", "cm_intake.list_referral_queue"),
    ],
)
def test_the_queue_is_found_through_a_tool(desk, tool) -> None:
    task, episode = a_task(desk), begun(desk)
    shown = episode.step(call(tool)).observation
    for number, (key, piece) in enumerate(task.reference.pieces.items(), 1):
        where = task.start.charts[piece.patient_id].patient.address_city
        found = (f"Order {number} of 3" in shown and where in shown) or key in shown
        assert found or piece.patient_id in shown


def test_days_that_have_passed_end_the_episode() -> None:
    family = AuthorizationMarathon(size=3, days=2)
    episode = begun("requests", family=family)
    until = episode.world.clock.now.replace(year=episode.world.clock.now.year + 1)
    while not episode.done():
        outcome = episode.step(call("wait", until=f"{until:%Y-%m-%dT%H:%M}"))
        assert not outcome.errors
    assert outcome.truncated
    assert not outcome.terminated


def test_tokens_are_told_by_case_at_the_end() -> None:
    env = gym.make("HealthAgent/MarathonCareManagement-v1", size=3, difficulty="easy", context=700)
    told, _ = env.reset(options={"index": 0})
    assert "700 tokens" in told
    read = [told]
    for tool in ("cm_intake.list_referral_queue", "notes.read", "finish"):
        observation, _, _, _, info = env.step(healthgym.call(tool))
        read.append(observation)
    tokens = info["tokens"]
    assert tokens["total"] == sum(map(by_bytes, read))
    assert tokens["total"] == tokens["other"] + sum(tokens["cases"].values())
    totals = np.cumsum([by_bytes(each) for each in read])
    assert tokens["exceeded_at"] == int(np.argmax(totals > 700))


def test_a_tokenizer_may_be_given() -> None:
    env = gym.make(
        "HealthAgent/MarathonCareManagement-v1", size=1, difficulty="easy", tokenizer=len
    )
    told, _ = env.reset(options={"index": 0})
    shown, *_, info = env.step(healthgym.call("finish"))
    read = len(told) + len(shown)
    assert info["tokens"] == {"total": read, "cases": {}, "other": read, "exceeded_at": None}


@pytest.mark.parametrize("desk", DESKS)
def test_a_queue_is_as_long_as_the_source_has_it(desk) -> None:
    family = KINDS[desk]()
    assert family.generator.name.endswith("-25")
    assert family.rules.max_turns == 25 * family.calls
    assert family.rules.pace == 25


def test_queues_grow_as_a_curriculum_goes_on() -> None:
    env = Curriculum(
        gym.make("HealthAgent/MarathonUtilizationManagement-v1", difficulty="drill"),
        [{"kwargs": {"size": 1}, "episodes": 2}, {"kwargs": {"size": 3}}],
    )
    kinds = []
    for seed in range(3):
        _, info = env.reset(seed=seed)
        kinds.append((info["stage"], info["kind"]))
        env.step(healthgym.call("finish"))
    assert kinds == [(0, "1-cases"), (0, "1-cases"), (1, "3-cases")]


def test_how_a_telephone_is_answered_stands_in_the_handbook_of_deep_conversations() -> None:
    family = CareMarathon("conversations", size=1)
    task = family.generator.draw(Split.TRAIN, 0)
    episode = Episode(family, task, SparseReward(), family.rules)
    page = episode.step(call("handbook.read", path=PAGE))
    assert not page.errors
    assert f"at most {task.start.operations.spoken_words_most} words" in page.observation
    for made in family.oracle(task, np.random.default_rng(0)):
        episode.step(made)
    assert episode.verdict().success
    assert begun("referrals").step(call("handbook.read", path=PAGE)).errors


@pytest.mark.parametrize("desk", DESKS)
def test_the_canonical_cases_are_those_of_the_single_suite(desk) -> None:
    family: MarathonFamily = KINDS[desk](size=5, canonical=True)
    assert family.generator.size(Split.TEST) == 5
    for index in (0, 3):
        task = family.generator.draw(Split.TEST, index)
        for place, piece in enumerate(task.reference.pieces.values()):
            key = piece.instance.task.key
            assert (key.split, key.index) == (Split.TEST, 5 * index + place)
            assert key.family.endswith("-canonical")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"size": 4}, "size"), ({"days": 0}, "days"), ({"context": 0}, "context")],
)
def test_arguments_that_make_no_sense_are_refused(wrong, named) -> None:
    with pytest.raises(ConfigurationError, match=named):
        CareMarathon(**wrong)


@pytest.mark.parametrize("kind", [AuthorizationMarathon, CareMarathon])
def test_only_a_nurse_has_a_queue_of_drills(kind) -> None:
    with pytest.raises(ConfigurationError, match="preset"):
        kind("drill")


def test_a_drill_has_no_canonical_cases() -> None:
    with pytest.raises(ConfigurationError, match="canonical"):
        ReviewMarathon("drill", canonical=True)
