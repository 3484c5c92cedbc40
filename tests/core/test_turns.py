"""Whose turn it is: callers, waiting, time that passes meanwhile, and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import EpisodeConfig, Role
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolKind, call
from healthgym.core.verbs import Verb
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from tests.core.playing import CONFIG, READ, open_episode, play
from tests.core.toys import LedgerTools, LedgerWorld, Market, at
from tests.core.toys.relay import Relay, RelayTools, RelayWorld

VERBS = frozenset({Verb.FINISH, Verb.WAIT})
FINISH = call("finish")


def relay(**rules: Any) -> AnyEpisode:
    family = Relay()
    instance = family.generator.generate(Split.TRAIN, 0)
    return Episode(family, instance, SparseReward(), replace(family.rules, **rules))


def line(text: str = "x") -> Any:
    return call("write_line", text=text)


def hand_over(to: str, minutes: int = 0, back: str = "") -> Any:
    return call("hand_over", to=to, minutes=minutes, back=back)


def test_a_tool_knows_who_calls() -> None:
    episode = relay()
    play(episode, [line("one"), hand_over("editor")], "writer")
    play(episode, [line("two")], "editor")
    assert list(episode.world.lines) == ["writer (Ada): one", "editor (Bo): two"]
    assert [(event.role, event.actor) for event in episode.events] == [
        ("writer", "Ada"),
        ("writer", "Ada"),
        ("editor", "Bo"),
    ]
    twin = episode.clone()
    play(twin, [line("three")], "editor")
    assert len(twin.world.lines) == 3
    assert len(episode.world.lines) == 2
    # The clock a tool of the clone sees is the clone's.
    play(twin, [hand_over("", 30)], "editor")
    assert not episode.world.clock.agenda


def test_a_toolset_made_by_hand_has_no_caller() -> None:
    with pytest.raises(ConfigurationError, match="LedgerTools was made without a caller"):
        _ = LedgerTools(LedgerWorld({})).caller


def test_a_call_out_of_turn_is_refused_and_costs_only_the_caller() -> None:
    episode = relay()
    digest, now = episode.world.digest(), episode.world.clock.now
    outcome = episode.step(line(), "editor")
    assert outcome.errors == ("It is not your turn; writer acts now.",)
    assert (episode.world.digest(), episode.world.clock.now) == (digest, now)
    assert (episode.turns_left("writer"), episode.turns_left("editor")) == (10, 9)
    assert episode.to_act() == "writer"
    (event,) = episode.events
    assert (event.role, event.kind, event.error) == ("editor", None, outcome.errors[0])


def test_several_calls_out_of_turn_are_one_refusal() -> None:
    episode = relay()
    assert len(episode.step([line(), line(), line()], "editor").errors) == 1
    assert episode.turns_left("editor") == 9


def test_a_role_that_handed_over_waits_and_acts_again_without_losing_turns() -> None:
    episode = relay()
    play(episode, [line(), hand_over("editor")], "writer")
    assert episode.to_act() == "editor"
    play(episode, [line()] * 3, "editor")
    assert not episode.done("writer")
    play(episode, [hand_over("writer")], "editor")
    assert episode.to_act() == "writer"
    assert episode.turns_left("writer") == 8
    outcome = episode.step(line("again"), "writer")
    assert outcome.errors == ()
    assert "(2024-03-01 09:06) Bo hands you the pen." not in outcome.observation
    assert "Bo hands you the pen." in outcome.observation
    assert episode.turns_left("writer") == 7


def test_calls_of_one_action_after_handing_over_are_still_the_callers() -> None:
    """The turn is looked at once for an action, as is written at its door."""
    episode = relay()
    outcome = episode.step([hand_over("editor"), line()], "writer")
    assert outcome.errors == ()
    assert episode.turns_left("writer") == 8


def test_while_all_wait_time_passes_to_what_happens_next() -> None:
    episode = relay()
    outcome = episode.step(hand_over("", 90, "editor"), "writer")
    assert episode.world.clock.now == at(10, 30)
    assert episode.to_act() == "editor"
    assert [event.kind for event in episode.events] == [ToolKind.WRITE, ToolKind.EVENT]
    assert outcome.observation.startswith("[2024-03-01 10:30]\n")
    assert (episode.turns_left("writer"), episode.turns_left("editor")) == (9, 10)
    assert "The pen comes back to you." in episode.news("editor")
    assert episode.news("editor") == ""
    assert episode.news("writer") == ""


def test_who_waits_for_what_never_happens_is_out_of_the_game() -> None:
    episode = relay()
    outcome = episode.step([line(), hand_over("")], "writer")
    assert (outcome.terminated, outcome.truncated) == (False, True)
    assert episode.done()
    assert not any(episode.submitted(role) or episode.stopped(role) for role in episode.roles)
    assert episode.settled
    assert not episode.verdict("editor").success


def test_a_role_without_anything_left_to_do_is_done_the_other_goes_on() -> None:
    episode = relay()
    outcome = episode.step([line(), call("retire", who="writer"), line()], "writer")
    assert (outcome.terminated, episode.done()) == (True, False)
    assert len(episode.world.lines) == 1
    assert episode.to_act() == "editor"
    assert episode.step(FINISH, "editor").settled == {"writer": 1.0}


def test_a_role_whose_work_ends_by_anothers_act_is_done_too() -> None:
    episode = relay()
    play(episode, [line(), call("retire", who="editor")], "writer")
    assert episode.done("editor")
    assert episode.step(FINISH, "writer").reward == 1.0
    assert episode.done()


def test_budgets_may_differ_by_role() -> None:
    episode = relay(budgets={"editor": 2})
    assert (episode.turns_left("writer"), episode.turns_left("editor")) == (10, 2)
    play(episode, [hand_over("editor")], "writer")
    assert "(1 call left)" in episode.step(line(), "editor").observation
    assert episode.step([line(), line()], "editor").truncated
    assert len(episode.world.lines) == 2
    assert episode.to_act() == "writer"


def test_roles_that_may_act_at_any_time_are_not_held_up() -> None:
    family = Market()
    instance = family.generator.generate(Split.TRAIN, 0)
    episode = Episode(family, instance, SparseReward(), EpisodeConfig())
    assert episode.to_act() == "buyer"
    assert episode.step(call("read_messages"), "seller").errors == ()
    assert episode.to_act() == "buyer"


# -- waiting, where others act meanwhile ----------------------------------------------------------


def desk(**rules: Any) -> AnyEpisode:
    """Two roles of which each keeps the turn until it waits; the editor begins by waiting."""

    class Desk(Relay):
        roles: ClassVar[Mapping[str, Role]] = {
            "writer": Role((RelayTools,), VERBS, actor="Ada"),
            "editor": Role((RelayTools,), VERBS, actor="Bo", waits=True),
        }

        def to_act(self, world: RelayWorld, live: Sequence[str]) -> str | None:
            return live[-1]

    family = Desk()
    instance = family.generator.generate(Split.TRAIN, 0)
    return Episode(family, instance, SparseReward(), replace(family.rules, **rules))


def wait(until: str) -> Any:
    return call("wait", until=until)


def test_who_waits_leaves_the_turn_to_whoever_was_told_something() -> None:
    episode = desk()
    play(episode, [line(), hand_over("editor")], "writer")
    assert episode.to_act() == "writer"  # it has not waited
    begun = episode.world.clock.now
    waited = episode.step(wait("2024-03-02T09:00"), "writer")
    assert "You wait, until 2024-03-02 09:00 at the latest." in waited.observation
    assert (episode.world.clock.now, episode.to_act()) == (begun, "editor")
    assert "Bo hands" not in episode.news("editor")
    play(episode, [line("two"), hand_over("writer")], "editor")
    assert episode.to_act() == "editor"
    episode.step(wait("2024-03-02T09:00"), "editor")
    assert episode.to_act() == "writer"
    back = episode.news("writer")
    assert "Bo hands you the pen." in back
    assert back.startswith("[2024-03-01 09:04]\n")
    assert "Waited until 2024-03-01 09:04." in back
    assert episode.turns_left("writer") == 7


def test_time_passes_when_all_wait_to_the_first_who_is_due() -> None:
    episode = desk()
    episode.step([wait("2024-03-02T09:00"), line("dropped")], "writer")
    assert (episode.to_act(), len(episode.world.lines)) == ("writer", 0)
    assert episode.world.clock.text.startswith("2024-03-02T09:00")
    # Nobody told the editor anything: it waits still, and is woken once nothing else can happen.
    outcome = episode.step(FINISH, "writer")
    assert not episode.done()
    assert outcome.terminated
    assert episode.to_act() == "editor"
    assert "nothing will happen by itself" in episode.news("editor")
    episode.step(FINISH, "editor")
    assert episode.settled


def test_a_spell_of_calls_ends_with_the_turn() -> None:
    episode = desk(spell=2)
    play(episode, [hand_over("editor")], "writer")
    outcome = episode.step([line(), line("dropped")], "writer")
    assert "2 in a row" in outcome.observation
    assert (len(episode.world.lines), episode.to_act()) == (1, "editor")
    assert "Ada hands you the pen." in episode.news("editor")
    twin = episode.clone()
    for each in (episode, twin):
        each.step(wait("2024-03-01T12:00"), "editor")
        # The writer waits for news, and gets none: time passes until the editor is due.
        assert each.to_act() == "editor"
        assert each.world.clock.text.startswith("2024-03-01T12:00")
    assert twin.world.digest() == episode.world.digest()


def test_who_made_a_spell_of_calls_rests_for_a_time_and_is_told_before() -> None:
    episode = desk(spell=3, rest=timedelta(hours=1))
    play(episode, [hand_over("editor")], "writer")
    told = "Calls left in a row before you have to wait"
    first = episode.step(line(), "writer").observation
    assert first.endswith(f"({told}: 1)")
    outcome = episode.step(line("two"), "writer")
    assert "3 in a row" in outcome.observation
    assert "at the latest" in outcome.observation
    assert told not in outcome.observation
    assert "Ada hands you the pen." in episode.news("editor")
    begun = episode.world.clock.now
    episode.step(wait("2024-03-02T09:00"), "editor")
    assert episode.to_act() == "writer"
    assert episode.world.clock.now - begun <= timedelta(hours=1)


def test_who_gets_the_turn_back_at_once_reads_why_it_had_left_it() -> None:
    episode = desk(spell=1)
    episode.step(FINISH, "writer")
    assert episode.to_act() == "editor"
    outcome = episode.step(line(), "editor")
    assert "1 in a row" in outcome.observation
    assert "nothing will happen by itself" in outcome.observation
    assert episode.to_act() == "editor"
    left = episode.turns_left("editor")
    again = episode.step(line("two"), "editor")
    assert "1 in a row" in again.observation
    assert (len(episode.world.lines), episode.turns_left("editor")) == (2, left - 1)


def test_alone_nobody_hands_a_turn_over() -> None:
    episode = open_episode(config=replace(CONFIG, spell=1))
    episode.step(READ)
    assert episode.to_act() == episode.role
    assert episode.step(READ).errors == ()


def test_a_spell_is_at_least_one_call() -> None:
    with pytest.raises(ConfigurationError, match="spell"):
        EpisodeConfig(spell=0)
