"""The engine: budgets, refusals, judging, several roles and time travel."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.episode import Episode, RewardFunction, StepOutcome
from healthgym.core.family import AGENT, EpisodeConfig, Evidence, Seat
from healthgym.core.seeding import Split
from healthgym.core.task import Instance
from healthgym.core.tool import ToolCall, ToolCatalog, ToolKind, call
from healthgym.core.verdict import Profile, Verdict
from healthgym.errors import EpisodeStateError, InfrastructureError, VerifierError
from healthgym.rewards import Costs, PotentialReward, SparseReward
from tests.core.toys import START, Ledger, LedgerReference, LedgerTools, Market

FAMILY = Ledger()
CONFIG = EpisodeConfig(max_turns=5)


def instance_of(kind: str) -> Instance[Any, Any]:
    """The first test task of a kind."""
    generator = FAMILY.generator
    index = next(i for i in range(100) if generator.kind(Split.TEST, i) == kind)
    return generator.generate(Split.TEST, index)


MOVE, REPORT = instance_of("transfer"), instance_of("report")


def reference(instance: Instance[Any, Any]) -> LedgerReference:
    assert isinstance(instance.reference, LedgerReference)
    return instance.reference


def open_episode(
    instance: Instance[Any, Any] = MOVE,
    reward: RewardFunction | None = None,
    config: EpisodeConfig = CONFIG,
) -> Episode[Any]:
    return Episode(FAMILY, instance, reward or SparseReward(), config)


def play(episode: Episode[Any], actions: Any, role: str = AGENT) -> list[StepOutcome]:
    return [episode.step(action, role) for action in actions]


def oracle(instance: Instance[Any, Any] = MOVE) -> list[Any]:
    return list(FAMILY.oracle(instance, np.random.default_rng(0)))


READ = call("list_accounts")
WRITE = call("annotate", tags=["a"])


@pytest.mark.parametrize("instance", [MOVE, REPORT])
@pytest.mark.parametrize("profile", Profile)
def test_oracle_succeeds(instance: Instance[Any, Any], profile: Profile) -> None:
    episode = open_episode(instance, config=replace(CONFIG, profile=profile))
    last = play(episode, oracle(instance))[-1]
    assert (last.reward, last.terminated, last.truncated) == (1.0, True, False)
    assert all(verdict["success"] for verdict in episode.verdicts().values())
    assert episode.submitted()
    assert episode.done()


def test_the_observation_tells_the_time_and_the_last_call() -> None:
    episode = open_episode()
    texts = [outcome.observation for outcome in play(episode, [READ] * 4)]
    assert texts[0].startswith("[2024-03-01 09:01]\n")
    assert [text.endswith("(1 call left)") for text in texts] == [False, False, False, True]
    silent = open_episode(config=replace(CONFIG, show_clock=False))
    assert not silent.step(READ).observation.startswith("[")


def test_time_passes_with_calls_by_the_amount_each_takes() -> None:
    episode = open_episode(config=replace(CONFIG, step_time=timedelta(minutes=2)))
    play(episode, [READ, call("draw_accounts"), READ])
    assert episode.world.clock.now == START + timedelta(minutes=2 + 5 + 2)


@pytest.mark.parametrize(
    "action",
    [
        "",
        "I give up",
        "{",
        call("no_such_tool"),
        call("__class__"),
        call("read_balance", account="elm"),
        call("ledger.read_balance", account="nobody"),
        call("ledger.read_balance", account="nobody\u2028"),
        call("ledger.read_balance"),
        call("transfer", source="elm", target="elm", amount="all"),
        call("transfer", source="elm", target="elm", amount=-1),
        call("annotate", tags=[]),
        call("draw_accounts", scale=3),
        call("submit", answer=[1]),
        "\ud800",
        None,
        object(),
    ],
    ids=lambda action: repr(action).partition(" at 0x")[0],
)
def test_a_refused_call_changes_nothing_but_the_turns_left(action: object) -> None:
    episode = open_episode(reward=SparseReward(Costs(refused=0.25)))
    digest, now = episode.world.digest(), episode.world.clock.now
    outcome = episode.step(action)
    assert outcome.observation.startswith(f"[{now:%Y-%m-%d %H:%M}]\nError: ")
    assert outcome.errors
    assert outcome.reward == -0.25
    assert not outcome.terminated
    assert (episode.world.digest(), episode.world.clock.now) == (digest, now)
    assert episode.turns_left() == CONFIG.max_turns - 1
    (event,) = episode.events
    assert event.kind is None
    assert event.error == outcome.errors[0]
    outcome.observation.encode("utf-8")


def test_refused_calls_are_recorded_with_raw_arguments() -> None:
    episode = open_episode()
    episode.step(call("transfer", source=1))
    assert episode.events[0].arguments == {"source": 1}
    with pytest.raises(TypeError):
        episode.events[0].arguments["source"] = 2  # type: ignore[index]


def test_several_calls_in_one_action_each_cost_a_turn() -> None:
    episode = open_episode(reward=SparseReward(Costs(call=0.1, refused=0.1)))
    outcome = episode.step([READ, call("nothing"), call("draw_accounts")])
    assert episode.turns_left() == 2
    assert "[ledger__list_accounts]\n" in outcome.observation
    assert "[nothing]\nError: There is no tool named 'nothing'" in outcome.observation
    assert "[ledger__draw_accounts]\n6 bars" in outcome.observation
    assert len(outcome.errors) == len(outcome.images) == 1
    assert outcome.reward == pytest.approx(-0.4)


def test_calls_after_a_submit_are_dropped() -> None:
    episode = open_episode(REPORT)
    digest = episode.world.digest()
    outcome = episode.step([call("submit", answer=reference(REPORT).answer), WRITE])
    assert outcome.terminated
    assert outcome.reward == 1.0
    assert episode.world.digest() == digest
    assert [event.kind for event in episode.events] == [ToolKind.SUBMIT]


def test_calls_beyond_the_budget_are_dropped_and_the_episode_truncated() -> None:
    episode = open_episode()
    play(episode, [READ] * 3)
    outcome = episode.step([READ, READ, WRITE, call("submit", answer=0)])
    assert (outcome.terminated, outcome.truncated) == (False, True)
    assert len(episode.events) == CONFIG.max_turns
    assert episode.world.notes == []
    assert not episode.submitted()


def test_a_submit_on_the_last_turn_is_a_submit() -> None:
    episode = open_episode(REPORT)
    play(episode, [READ] * 4)
    outcome = episode.step(call("submit", answer=reference(REPORT).answer))
    assert (outcome.terminated, outcome.truncated, outcome.reward) == (True, False, 1.0)


def test_a_truncated_episode_is_scored() -> None:
    episode = open_episode(reward=PotentialReward(Costs(unsubmitted=0.5)))
    outcomes = play(episode, [oracle()[1], *[READ] * 4])
    assert [outcome.reward for outcome in outcomes] == [0.5, 0.0, 0.0, 0.0, -0.5]
    assert outcomes[-1].truncated
    verdict = episode.verdict()
    assert (verdict.success, verdict.progress) == (False, 0.5)


def test_acting_too_late_or_in_no_role_is_the_callers_mistake() -> None:
    episode = open_episode(REPORT)
    with pytest.raises(EpisodeStateError, match="No role 'judge'"):
        episode.step(READ, "judge")
    episode.step(call("submit", answer=0))
    with pytest.raises(EpisodeStateError, match="over"):
        episode.step(READ)


def test_long_observations_are_cut_with_a_notice() -> None:
    episode = open_episode(config=replace(CONFIG, max_observation=30))
    text = episode.step(READ).observation
    assert text.endswith("\n(cut after 30 characters)")
    assert len(text) == 30 + len("\n(cut after 30 characters)")


# -- judging -----------------------------------------------------------------------------------


class Faulty:
    """A verifier with a bug, or with a failed dependency."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def verify(self, evidence: Evidence[Any], profile: Profile) -> Verdict:
        raise self.error


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (KeyError("x"), VerifierError),
        (ZeroDivisionError(), VerifierError),
        (InfrastructureError("the judge is away"), InfrastructureError),
    ],
    ids=["key", "division", "infrastructure"],
)
def test_our_own_failure_is_never_a_reward(error: Exception, raised: type[Exception]) -> None:
    family = Ledger()
    family.verifier = Faulty(error)  # type: ignore[assignment]
    episode = Episode(family, REPORT, SparseReward(), CONFIG)
    episode.step(READ)
    with pytest.raises(raised):
        episode.step(call("submit", answer=0))
    with pytest.raises(raised):
        Episode(family, REPORT, PotentialReward(), CONFIG)


def test_a_tool_with_a_bug_raises() -> None:
    episode = open_episode()
    episode.world.base = None
    with pytest.raises(TypeError):
        episode.step(READ)


def test_stray_writes_fail_the_strict_profile_only() -> None:
    episode = open_episode(REPORT)
    ref = reference(REPORT)
    other, another = sorted(set(REPORT.start) - {ref.source, ref.target})[:2]
    play(episode, [call("transfer", source=other, target=another, amount=1)])
    play(episode, [call("submit", answer=ref.answer)])
    verdicts = episode.verdicts()
    assert (verdicts["paper"]["success"], verdicts["strict"]["success"]) == (True, False)
    assert verdicts["strict"]["progress"] == 0.0


def test_the_verifier_sees_both_worlds_and_all_events() -> None:
    seen: list[Evidence[Any]] = []

    class Watching:
        def verify(self, evidence: Evidence[Any], profile: Profile) -> Verdict:
            seen.append(evidence)
            return FAMILY.verifier.verify(evidence, profile)

    family = Ledger()
    family.verifier = Watching()  # type: ignore[assignment]
    episode = Episode(family, MOVE, SparseReward(), CONFIG)
    for action in oracle():
        episode.step(action)
    (evidence,) = seen
    assert evidence.before.digest() != evidence.after.digest()
    assert evidence.before.changes == {}
    assert evidence.submission == {"answer": reference(MOVE).answer}
    assert [event.tool for event in evidence.events] == [
        "ledger.read_balance",
        "ledger.transfer",
        "ledger.submit",
    ]
    assert isinstance(evidence.submission, MappingProxyType)


random_actions = st.lists(
    st.sampled_from([*oracle(), READ, WRITE, "", call("submit", answer=1)]), max_size=8
)


@given(random_actions)
def test_shaped_rewards_add_up_to_the_final_progress(actions: list[Any]) -> None:
    episode = open_episode(reward=PotentialReward())
    total = 0.0
    for action in actions:
        if not episode.done():
            total += episode.step(action).reward
    assert total == pytest.approx(episode.verdict().progress)
    assert episode.total_reward() == pytest.approx(total)


# -- time travel -------------------------------------------------------------------------------


def state(episode: Episode[Any]) -> tuple[Any, ...]:
    return (
        episode.world.digest(),
        episode.world.clock.now,
        episode.turns,
        episode.events,
        {role: episode.turns_left(role) for role in episode.roles},
        {role: episode.total_reward(role) for role in episode.roles},
        {role: episode.verdicts(role) for role in episode.roles},
        episode.done(),
    )


@given(random_actions, random_actions, random_actions)
def test_a_clone_has_the_same_future_and_a_life_of_its_own(
    past: list[Any], future: list[Any], other: list[Any]
) -> None:
    def live(episode: Episode[Any], actions: list[Any]) -> None:
        for action in actions:
            if not episode.done():
                episode.step(action)

    episode = open_episode(reward=PotentialReward())
    live(episode, past)
    twin, saved, then = episode.clone(), episode.snapshot(), state(episode)
    live(twin, other)
    assert state(episode) == then
    live(episode, future)
    late = state(episode)
    fresh = open_episode(reward=PotentialReward())
    live(fresh, [*past, *future])
    assert late == state(fresh)
    episode.restore(saved)
    assert state(episode) == then
    live(episode, future)
    assert state(episode) == late
    episode.restore(saved)
    assert state(episode) == then


def test_a_snapshot_fits_its_own_episode_only() -> None:
    with pytest.raises(EpisodeStateError, match="another episode"):
        open_episode().restore(open_episode().snapshot())


def test_writes_of_a_clone_stay_in_the_clone() -> None:
    episode = open_episode()
    episode.step(READ)  # binds the toolsets
    twin = episode.clone()
    twin.step(WRITE)
    assert (episode.world.notes, twin.world.notes) == ([], [("a",)])
    episode.step(WRITE)
    episode.step(WRITE)
    assert len(twin.world.notes) == 1


# -- several roles -----------------------------------------------------------------------------


def market(reward: RewardFunction | None = None, max_turns: int = 3) -> tuple[Episode[Any], int]:
    family = Market()
    instance = family.generator.generate(Split.TRAIN, 5)
    config = EpisodeConfig(max_turns=max_turns)
    limit = instance.start["seller"]
    return Episode(family, instance, reward or SparseReward(), config), limit


def test_each_role_has_its_own_tools_instruction_and_budget() -> None:
    episode, _ = market()
    assert episode.roles == ("buyer", "seller")
    assert episode.instruction("buyer") != episode.instruction("seller")
    assert "no tool named 'read_cost'" in episode.step(call("read_cost"), "buyer").observation
    assert episode.step(call("read_cost"), "seller").errors == ()
    episode.step(call("send_message", text="hello"), "buyer")
    assert "buyer: hello" in episode.step(call("read_messages"), "seller").observation
    assert (episode.turns_left("buyer"), episode.turns_left("seller")) == (1, 1)
    episode.step("", "buyer")
    assert episode.done("buyer")
    assert not episode.done("seller")
    assert not episode.done()


def test_roles_are_scored_when_the_last_of_them_is_done() -> None:
    episode, price = market(SparseReward(Costs(unsubmitted=0.5)))
    first = episode.step(call("agree", price=price), "buyer")
    assert (first.terminated, first.reward, first.settled) == (True, 0.0, {})
    with pytest.raises(EpisodeStateError):
        episode.step(call("read_messages"), "buyer")
    last = episode.step(call("agree", price=price), "seller")
    assert (last.terminated, last.reward, last.settled) == (True, 1.0, {"buyer": 1.0})
    assert {role: episode.total_reward(role) for role in episode.roles} == {
        "buyer": 1.0,
        "seller": 1.0,
    }
    assert episode.verdict("buyer").success


def test_a_role_out_of_turns_is_charged_once_and_at_the_end() -> None:
    episode, price = market(SparseReward(Costs(unsubmitted=0.5)), max_turns=1)
    assert episode.step("", "buyer").reward == 0.0
    last = episode.step(call("agree", price=price), "seller")
    assert (last.reward, last.settled) == (0.0, {"buyer": -0.5})


@given(st.lists(st.tuples(st.sampled_from(["buyer", "seller"]), st.integers(0, 3)), max_size=12))
def test_shaped_rewards_of_every_role_add_up(moves: list[tuple[str, int]]) -> None:
    episode, price = market(PotentialReward())
    actions: list[Any] = [
        "",
        call("read_messages"),
        call("agree", price=price),
        call("agree", price=1),
    ]
    totals = dict.fromkeys(episode.roles, 0.0)
    for role, number in [*moves, *[(role, 0) for role in episode.roles] * 3]:
        if not episode.done(role):
            outcome = episode.step(actions[number], role)
            totals[role] += outcome.reward
            for other, reward in outcome.settled.items():
                totals[other] += reward
    assert episode.done()
    for role in episode.roles:
        assert totals[role] == pytest.approx(episode.verdict(role).progress)
        assert totals[role] == pytest.approx(episode.total_reward(role))


def test_a_seat_may_keep_tools_from_a_role() -> None:
    class Shy(Ledger):
        def seats(self, instance: Instance[Any, Any]) -> Mapping[str, Seat]:
            return {AGENT: Seat(ToolCatalog([LedgerTools], only=["ledger.submit"]), "Just answer.")}

    episode = Episode(Shy(), REPORT, SparseReward(), CONFIG)
    assert episode.instruction() == "Just answer."
    assert episode.step(READ).errors == (
        "There is no tool named 'list_accounts'. Tools: ledger__submit.",
    )


def test_the_transcript_holds_actions_as_text() -> None:
    episode = open_episode()
    play(episode, [ToolCall("list_accounts"), {"name": "list_accounts"}, object()])
    assert [turn.action for turn in episode.turns] == [
        '{"name": "list_accounts", "arguments": {}}',
        '{"name": "list_accounts"}',
        "",
    ]


def test_an_episode_may_be_stopped_from_outside() -> None:
    episode = open_episode(reward=PotentialReward(Costs(unsubmitted=0.5)))
    episode.step(oracle()[1])
    assert not episode.stopped()
    assert episode.stop() == -0.5
    assert episode.stopped()
    assert episode.done()
    assert episode.total_reward() == 0.0
    assert episode.verdict().progress == 0.5
    with pytest.raises(EpisodeStateError, match="over"):
        episode.stop()
    with pytest.raises(EpisodeStateError, match="over"):
        episode.step(READ)


def test_stopping_the_last_role_settles_the_others() -> None:
    episode, price = market(SparseReward(Costs(unsubmitted=0.5)))
    episode.step(call("agree", price=price), "buyer")
    assert episode.stop("seller") == -0.5
    assert episode.done()
    assert (episode.total_reward("buyer"), episode.total_reward("seller")) == (0.0, -0.5)
    first, _ = market(SparseReward(Costs(unsubmitted=0.5)))
    assert first.stop("buyer") == 0.0
    assert not first.done()


def test_long_reasons_are_cut() -> None:
    episode = open_episode()
    outcome = episode.step(call("ledger.read_balance", account="a", **{"b" * 9000: 1}))
    assert len(outcome.errors[0]) < 4001
    toolset_error = episode.step(call("transfer", source="x" * 9000, target="elm", amount=1))
    assert len(toolset_error.errors[0]) <= 4000
