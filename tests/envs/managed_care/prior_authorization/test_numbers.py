"""The numbers that a task draws decide in play, and numbers of another day do not serve."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.policies.scripted import ScriptPolicy
from healthgym.testing.play import ORACLE, actions_of
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.authorization import SubmissionChannel

TASKS = range(20)
SENDS = "auth.submit_authorization"


def submissions() -> Iterator[tuple[PriorAuthorizationEnv, int, str]]:
    """Yield the tasks that are to be submitted, and the channel by which the oracle sends them."""
    env = PriorAuthorizationEnv(difficulty=AuthorizationConfig(courses=(Course.APPROVED,)))
    for index in TASKS:
        instance = env.family.generator.draw(Split.TRAIN, index)
        if instance.reference.course is not None:
            sent = [
                each.arguments["channel"]
                for each in env.family.oracle(instance, np.random.default_rng(0))
                if each.name == SENDS
            ]
            yield env, index, str(sent[0])


def failed(env: PriorAuthorizationEnv, index: int, channel: str) -> set[str]:
    """Play the oracle with another channel; return the strict checks that fail."""
    for action in actions_of(env, ScriptPolicy(ORACLE), Split.TRAIN, index):
        if getattr(action, "name", "") == SENDS:
            action = call(SENDS, **{**action.arguments, "channel": channel})
        env.step(action)
    verdict = env.episode.verdict(env.role, Profile.STRICT)
    return {each.check.name for each in verdict.checks if not each.passed}


def test_the_channel_of_the_day_is_right_and_every_other_is_not() -> None:
    played = list(submissions())
    assert len({right for _, _, right in played}) > 1
    for env, index, right in played:
        assert failed(env, index, right) == set()
        other = next(str(each) for each in SubmissionChannel if each not in (right, "fhir"))
        assert "channel_right" in failed(env, index, other)


def test_the_usual_numbers_do_not_serve() -> None:
    usual = OperatingRules()
    remembered = [
        str(usual.channel(env.family.generator.draw(Split.TRAIN, index).reference.urgency, 3))
        == right
        for env, index, right in submissions()
    ]
    assert False in remembered


@pytest.mark.parametrize("days", [2, 7])
def test_a_pend_lapses_on_the_day_that_the_task_has_drawn(days: int) -> None:
    env = PriorAuthorizationEnv(difficulty=AuthorizationConfig(courses=(Course.PENDED,)))
    generator = env.family.generator
    index = next(
        index
        for index in range(400)
        if (drawn := generator.draw(Split.TRAIN, index)).start.operations.pend_days == days
        and drawn.reference.course is Course.PENDED
    )
    for action in actions_of(env, ScriptPolicy(ORACLE), Split.TRAIN, index):
        if getattr(action, "name", "") == "auth.respond_to_pend":
            break
        env.step(action)
    case = next(case for case in env.episode.world.cases.cases.values() if case.pend_due_at)
    since = next(
        entry.at
        for entry in env.episode.world.history.of(case.id)
        if entry.action == "pended_action_required"
    )
    assert (case.pend_due_at - since).days == days
    for until, status in ((-1, "pended_action_required"), (1, "closed")):
        wanted = case.pend_due_at + timedelta(minutes=until)
        while env.episode.world.clock.now < wanted:  # a reminder ends the first wait
            env.step(call("wait", until=f"{wanted:%Y-%m-%dT%H:%M}"))
        assert env.episode.world.cases.get(case.id).status == status


@pytest.mark.parametrize(
    ("further", "failing"), [(0, set()), (1, {"followed_up"})], ids=["the-day", "a-day-later"]
)
def test_a_withheld_request_is_taken_up_again_on_the_day_that_the_task_has_drawn(
    further: int, failing: set[str]
) -> None:
    env = PriorAuthorizationEnv(difficulty="medium")
    generator = env.family.generator
    drawn = {index: generator.draw(Split.TRAIN, index) for index in TASKS}
    withheld = {index: each for index, each in drawn.items() if each.reference.course is None}
    assert len({each.start.operations.follow_up_days for each in withheld.values()}) > 1
    for index, instance in withheld.items():
        right = instance.start.now + timedelta(days=instance.start.operations.follow_up_days)
        named = f"{right + timedelta(days=further):%Y-%m-%d}"
        for action in actions_of(env, ScriptPolicy(ORACLE), Split.TRAIN, index):
            if getattr(action, "name", "") == "auth.finalize_provider_determination":
                reason = str(action.arguments["override_reason"])
                changed = reason.replace(f"{right:%Y-%m-%d}", named)
                action = call(action.name, **{**action.arguments, "override_reason": changed})
            env.step(action)
        verdict = env.episode.verdict(env.role, Profile.STRICT)
        assert {each.check.name for each in verdict.checks if not each.passed} == failing
