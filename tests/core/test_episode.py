"""The engine: budgets, refusals, what is shown, and being stopped from outside."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.core import action as actions
from healthgym.core.episode import Episode
from healthgym.core.family import AGENT, EpisodeConfig, Role
from healthgym.core.tool import ToolCall, ToolKind, call
from healthgym.core.verdict import Profile
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.rewards import Costs, PotentialReward, SparseReward
from tests.core.playing import CONFIG, MOVE, READ, REPORT, WRITE, open_episode, oracle, play
from tests.core.toys import START, Ledger, LedgerInstance, LedgerTools


@pytest.mark.parametrize("instance", [MOVE, REPORT])
@pytest.mark.parametrize("profile", Profile)
def test_oracle_succeeds(instance: LedgerInstance, profile: Profile) -> None:
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


def test_who_has_many_calls_is_told_when_few_are_left() -> None:
    def told(budget: int) -> list[int]:
        episode = open_episode(config=replace(CONFIG, max_turns=budget))
        texts = [outcome.observation for outcome in play(episode, [READ] * (budget - 1))]
        ends = [re.search(r"\((\d+) calls? left\)$", text) for text in texts]
        return [int(end[1]) for end in ends if end]

    assert told(40) == [10, 5, 1]
    assert told(39) == [5, 1]
    assert told(8) == [1]


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
    digest = episode.world.content_digest()
    outcome = episode.step([call("submit", answer=REPORT.reference.answer), WRITE])
    assert outcome.terminated
    assert outcome.reward == 1.0
    assert episode.world.content_digest() == digest
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
    outcome = episode.step(call("submit", answer=REPORT.reference.answer))
    assert (outcome.terminated, outcome.truncated, outcome.reward) == (True, False, 1.0)


def test_a_truncated_episode_is_scored() -> None:
    episode = open_episode(reward=PotentialReward(Costs(unsubmitted=0.5)))
    outcomes = play(episode, [oracle()[1], *[READ] * 4])
    assert [outcome.reward for outcome in outcomes] == [0.5, 0.0, 0.0, 0.0, -1.0]
    assert outcomes[-1].truncated
    verdict = episode.verdict()
    assert (verdict.success, verdict.progress) == (False, 0.0)


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


def test_a_seat_may_keep_tools_from_a_role() -> None:
    class Shy(Ledger):
        roles = {AGENT: Role((LedgerTools,), only=["ledger.submit"])}  # noqa: RUF012

        def instruction(self, role: str, instance: LedgerInstance) -> str:
            return "Just answer."

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
        actions.INEXPRESSIBLE,
    ]


def test_an_episode_may_be_stopped_from_outside() -> None:
    episode = open_episode(reward=PotentialReward(Costs(unsubmitted=0.5)))
    episode.step(oracle()[1])
    assert not episode.stopped()
    assert episode.stop() == -1.0
    assert episode.stopped()
    assert episode.done()
    assert episode.total_reward() == -0.5
    assert episode.verdict().progress == 0.0
    with pytest.raises(EpisodeStateError, match="over"):
        episode.stop()
    with pytest.raises(EpisodeStateError, match="over"):
        episode.step(READ)


def test_long_reasons_are_cut() -> None:
    episode = open_episode()
    outcome = episode.step(call("ledger.read_balance", account="a", **{"b" * 9000: 1}))
    assert len(outcome.errors[0]) < 4001
    toolset_error = episode.step(call("transfer", source="x" * 9000, target="elm", amount=1))
    assert len(toolset_error.errors[0]) <= 4000


@pytest.mark.parametrize(
    "rules",
    [{"max_turns": 0}, {"max_observation": 0}, {"case_turns": 0}, {"budgets": {"agent": -1}}],
    ids=lambda rules: next(iter(rules)),
)
def test_rules_that_leave_nothing_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="is at least 1"):
        EpisodeConfig(**rules)
