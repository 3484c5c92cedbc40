"""What those earn who do not read what decides: nothing worth having, under the strict profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pytest

from healthgym.core.family import CEILING
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderDeterminationAction as Action,
)
from healthgym.worlds.managed_care.vocabulary.authorization import UploadableDocumentKind
from tests.envs.managed_care.prior_authorization.playing import FINISH, chart_of, play, solution
from tests.sized import some

#: Tasks each policy plays.
COUNT = some(120, 60)
#: Most that a guess earns which looks up everything but what decides: one bar is right for one
#: task in twelve, and no wording can tell such a guess from knowledge.
INFORMED = 0.15
Script = Sequence[ToolCall]
#: The right kind of a third of the tasks, said without looking.
CONSTANTS = (
    (Action.GATHER_MORE_EVIDENCE, "More evidence is needed."),
    (Action.GATHER_MORE_EVIDENCE, "C1"),
    (Action.GATHER_MORE_EVIDENCE, "MP-SUR-042: C1"),
    (Action.GATHER_MORE_EVIDENCE, ", ".join(f"C{n}" for n in range(1, 21))),
    (Action.GATHER_MORE_EVIDENCE, f"missing: {', '.join(UploadableDocumentKind)}"),
    *((Action.DO_NOT_SUBMIT, str(bar)) for bar in Bar),
    (Action.DO_NOT_SUBMIT, ", ".join(Bar)),
    (Action.DO_NOT_SUBMIT, f"{Bar.CONTRADICTED}: C1"),
    (Action.DO_NOT_SUBMIT, f"{Bar.INACTIVE}: ended 2026-02-28"),
    (Action.DO_NOT_SUBMIT, f"{Bar.NOT_REQUIRED}: MP-REH-055 97110"),
)


@cache
def tasks() -> tuple[AuthorizationInstance, ...]:
    generator = AuthorizationFamily().generator
    return tuple(generator.generate(Split.TEST, index) for index in range(COUNT))


def opened(instance: AuthorizationInstance) -> ToolCall:
    """Return the call that opens the right case: looking that up is not what is tested."""
    return oracle.open_case(chart_of(instance).orders[0])


def share(script: Callable[[AuthorizationInstance], Script]) -> float:
    """Return the share of tasks that scripts solve."""
    solved = 0
    for instance in tasks():
        episode = play(instance, script(instance), refused=True)
        solved += episode.verdict(profile=Profile.STRICT).success
    return solved / COUNT


@pytest.mark.parametrize(("action", "text"), CONSTANTS, ids=range(len(CONSTANTS)))
def test_no_constant_is_worth_playing(action: Action, text: str) -> None:
    decision = oracle.decide(action, override_reason=text)
    assert share(lambda each: [opened(each), decision, FINISH]) <= CEILING


def test_the_shares_of_the_classes_help_nobody() -> None:
    rng = np.random.default_rng(7)
    known = [each.task.kind for each in tasks()]

    def guess(instance: AuthorizationInstance) -> Script:
        kind = known[int(rng.integers(len(known)))]
        action, _, ending = kind.partition("-")
        if action == Action.SUBMIT_PA:
            return [opened(instance), *oracle.baselines()["flood"](instance, rng)][1:]  # type: ignore[list-item]
        return [
            opened(instance),
            oracle.decide(Action(action), override_reason=f"{ending}: C1, C2"),
            FINISH,
        ]

    assert share(guess) <= CEILING


@pytest.mark.parametrize("own_case", [False, True], ids=["as it was", "on the right case"])
def test_a_solution_of_another_task_of_the_kind_is_no_solution(own_case: bool) -> None:
    every = tasks()

    def replayed(instance: AuthorizationInstance) -> Script:
        like = [one for one in every if one.task.kind == instance.task.kind and one is not instance]
        if not like:
            return [FINISH]
        other = like[every.index(instance) % len(like)]
        first = opened(instance) if own_case else opened(other)
        return [first, *solution(other)[1:]]

    assert share(replayed) <= CEILING


def test_doing_nothing_and_flooding_earn_nothing() -> None:
    assert share(lambda _: [FINISH]) == 0.0
    assert share(lambda _: []) == 0.0
    flood = oracle.baselines()["flood"]
    rng = np.random.default_rng(0)
    assert share(lambda each: list(flood(each, rng))) <= CEILING  # type: ignore[arg-type]


def informed(instance: AuthorizationInstance) -> Mapping[str, ToolCall]:
    """Return guesses that know patient, order, plan and policy, and not what the chart says."""
    wanted, coverage = instance.reference, chart_of(instance).coverage
    policy = wanted.policy.id
    every = ", ".join(item.id for item in criteria(wanted.policy.criteria))
    plan = coverage.plan_name if coverage else ""
    gather, leave = Action.GATHER_MORE_EVIDENCE, Action.DO_NOT_SUBMIT
    reasons = {
        "the first criterion": (gather, f"{policy}: C1"),
        "every criterion": (gather, f"{policy}: {every}"),
        "a note": (gather, f"{policy}: chart_note"),
        "not required": (leave, f"{Bar.NOT_REQUIRED}: {policy} {wanted.procedure_code}"),
        "out of network": (leave, f"{Bar.OUT_OF_NETWORK}: {plan}, {policy}"),
        "contradicted": (leave, f"{Bar.CONTRADICTED}: {policy} C1"),
        "all contradicted": (leave, f"{Bar.CONTRADICTED}: {policy} {every}"),
    }
    return {
        name: oracle.decide(action, override_reason=f"{text}; {oracle.follow_up(instance.start)}")
        for name, (action, text) in reasons.items()
    }


GUESSES = {
    "the first criterion": CEILING,
    "every criterion": CEILING,
    "a note": INFORMED,
    "not required": INFORMED,
    "out of network": INFORMED,
    "contradicted": INFORMED,
    "all contradicted": CEILING,
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_guess_that_knows_the_policy_earns_its_class_at_most(name: str) -> None:
    earned = share(lambda each: [opened(each), informed(each)[name], FINISH])
    assert earned <= GUESSES[name]


def test_the_tasks_are_as_many_of_each_action() -> None:
    actions = [each.reference.action for each in tasks()]
    for action in Action:
        assert 0.2 < actions.count(action) / COUNT < 0.47


def test_a_refused_decision_is_no_decision() -> None:
    instance = tasks()[0]
    script = [opened(instance), call("auth.finalize_provider_determination"), FINISH]
    episode = play(instance, script, refused=True)
    assert not episode.world.authorizations.determinations
