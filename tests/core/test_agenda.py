"""Time with events: order, transactions of their own, notices, and the engine's ``wait``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.clock import Agenda, Clock, Counters
from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolKind, call
from healthgym.core.world import WORLD
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.rewards import SparseReward
from tests.core.playing import play, snapshot_of
from tests.core.toys import START, Desk, DeskWorld, at


def desk() -> AnyEpisode:
    family = Desk()
    instance = family.generator.generate(Split.TRAIN, 0)
    return Episode(family, instance, SparseReward(), family.rules)


def plan(name: str, minutes: int, text: str = "", rank: int = 0) -> Any:
    return call("plan", name=name, minutes=minutes, text=text, rank=rank)


def rest(minutes: int) -> Any:
    return call("rest", minutes=minutes)


def wait(until: str) -> Any:
    return call("wait", until=until)


def happened(episode: AnyEpisode) -> list[tuple[str, str, datetime]]:
    return [
        (event.tool, str(event.arguments.get("text", "")), event.time)
        for event in episode.events
        if event.role == WORLD
    ]


# -- the order ---------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 1)), max_size=12))
def test_things_happen_by_time_then_rank_then_as_put_down(plans: list[tuple[int, int]]) -> None:
    agenda = Agenda()
    numbers = [agenda.put(START + timedelta(minutes=m), "x", rank=r) for m, r in plans]
    assert numbers == list(range(1, len(plans) + 1))
    expected = sorted((m, r, n) for n, (m, r) in zip(numbers, plans, strict=True))
    assert [due.number for due in agenda.entries()] == [number for _, _, number in expected]
    assert agenda.first() == (agenda.entries()[0] if plans else None)
    assert (len(agenda), bool(agenda)) == (len(plans), bool(plans))


def test_the_engine_keeps_the_order() -> None:
    episode = desk()
    plans = [
        plan("post", 60, "late"),
        plan("post", 29, "second"),
        plan("post", 28, "third"),
        plan("post", 27, "first", rank=-1),
    ]
    play(episode, plans)  # each plan takes a minute, so the last three fall due together
    assert {due.at for due in episode.world.clock.agenda.entries()[:3]} == {at(9, 30)}
    play(episode, [rest(120)])
    assert happened(episode) == [
        ("post", "first", at(9, 30)),
        ("post", "second", at(9, 30)),
        ("post", "third", at(9, 30)),
        ("post", "late", at(10, 0)),
    ]
    assert episode.world.clock.now == at(11, 4)


def test_what_is_cancelled_does_not_happen_and_numbers_are_not_used_again() -> None:
    episode = desk()
    agenda = episode.world.clock.agenda
    first = agenda.put(at(9, 5), "post", text="a")
    agenda.cancel(first)
    agenda.cancel(first)
    agenda.cancel(99)
    assert agenda.put(at(9, 5), "post", text="b") == first + 1
    play(episode, [rest(10)])
    assert [text for _, text, _ in happened(episode)] == ["b"]
    agenda.cancel(first + 1)


def test_what_lies_in_the_past_happens_with_the_next_call_and_turns_no_clock_back() -> None:
    episode = desk()
    episode.world.clock.agenda.put(at(8), "post", text="old")
    play(episode, [call("who")])
    assert happened(episode) == [("post", "old", at(9))]
    assert episode.world.clock.now == at(9, 1)


def test_times_have_zones_and_clocks_run_forward() -> None:
    with pytest.raises(ConfigurationError, match="timezone-aware"):
        Agenda().put(datetime(2024, 1, 1), "x")
    with pytest.raises(ConfigurationError, match="backwards"):
        Clock(START).advance(timedelta(seconds=-1))


def test_a_clock_shows_roles_its_minute() -> None:
    clock = Clock(datetime(2024, 3, 1, 9, 0, 59, tzinfo=UTC))
    assert clock.minute == "2024-03-01 09:00"
    clock.advance(timedelta(seconds=1))
    assert clock.minute == "2024-03-01 09:01"


def test_counters_count_by_name() -> None:
    counters = Counters({"order": 7})
    assert [counters.draw(name) for name in ("order", "note", "order")] == [7, 1, 8]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_several_numbers_are_those_that_one_after_the_other_would_be(count: int) -> None:
    together, apart = Counters({"order": 7}), Counters({"order": 7})
    for name in ("order", "note", "order"):
        first = together.draw_several(name, count)
        assert [apart.draw(name) for _ in range(count)] == [*range(first, first + count)]
    assert together.numbers() == apart.numbers()
    assert together.digest() == apart.digest()


# -- happening ---------------------------------------------------------------------------------


def test_what_falls_due_happens_between_calls_under_the_role_of_the_world() -> None:
    episode = desk()
    play(episode, [[plan("post", 1, "x"), call("who"), call("who")]])
    kinds = [(event.role, event.tool, event.kind) for event in episode.events]
    assert kinds == [
        ("agent", "plan", ToolKind.WRITE),
        (WORLD, "post", ToolKind.EVENT),
        ("agent", "who", ToolKind.READ),
        ("agent", "who", ToolKind.READ),
    ]
    assert episode.events[1].arguments == {"text": "x"}
    with pytest.raises(TypeError):
        episode.events[1].arguments["text"] = "y"  # type: ignore[index]
    assert episode.turns_left() == 20 - 3


def test_consequences_may_have_consequences_in_the_same_span() -> None:
    episode = desk()
    play(episode, [plan("chain", 4), rest(60)])
    assert happened(episode) == [("chain", "", at(9, 4)), ("post", "more", at(9, 14))]
    short = desk()
    play(short, [plan("chain", 4), rest(5)])
    assert happened(short) == [("chain", "", at(9, 4))]


def test_a_notice_precedes_the_next_observation_once() -> None:
    episode = desk()
    outcomes = play(episode, [plan("post", 5, "bills"), call("who"), rest(30), call("who")])
    shown = [outcome.observation for outcome in outcomes]
    assert ["The post brings" in text for text in shown] == [False, False, True, False]
    assert shown[2] == "[2024-03-01 09:32]\n(2024-03-01 09:05) The post brings bills.\nrested"


def test_notices_reach_the_role_they_are_addressed_to() -> None:
    episode = desk()
    episode.world.notify("somebody else", "secret")
    episode.world.notify("agent", "for you")
    shown = episode.step("nonsense").observation  # a refused call brings the news as well
    assert "for you" in shown
    assert "secret" not in shown
    assert episode.news() == ""


def test_each_event_is_a_transaction_of_its_own() -> None:
    depths: list[int] = []
    left: list[int] = []

    class Watching(DeskWorld):
        def happen(self, due: Any) -> None:
            depths.append(self.journal._marks)
            left.append(len(self.clock.agenda))
            super().happen(due)

    class WatchingDesk(Desk):
        def open(self, instance: Any) -> DeskWorld:
            return Watching()

    family = WatchingDesk()
    episode = Episode(family, family.generator.generate(Split.TRAIN, 0), SparseReward())
    play(episode, [plan("post", 1), plan("chain", 1), rest(30)])
    assert depths == [2, 2, 2]  # the step's, and its own
    assert left == [0, 0, 0]  # what happens is no longer to come


def test_what_a_world_does_not_know_is_a_fault_of_ours() -> None:
    episode = desk()
    play(episode, [plan("flood", 5)])
    before = snapshot_of(episode)
    with pytest.raises(NotImplementedError, match="DeskWorld does not know what 'flood' is"):
        episode.step(rest(10))
    assert snapshot_of(episode) == before


def test_a_world_that_puts_the_same_down_forever_is_stopped() -> None:
    episode = desk()
    play(episode, [plan("endless", 5)])
    before = snapshot_of(episode)
    with pytest.raises(EpisodeStateError, match="More than 10000 things"):
        episode.step(rest(10))
    assert snapshot_of(episode) == before


def test_the_agenda_is_part_of_clone_and_digest() -> None:
    episode = desk()
    play(episode, [plan("post", 30, "x")])
    twin = episode.clone()
    digest = episode.world.digest()
    twin.world.clock.agenda.put(at(12), "post")
    assert twin.world.digest() != episode.world.digest() == digest
    twin.world.clock.agenda.cancel(2)
    play(episode, [rest(60)])
    assert happened(twin) == []
    twin.restore(twin.snapshot())
    play(twin, [rest(60)])
    assert happened(twin) == happened(episode)


# -- time --------------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes", [0, 1, 90])
def test_durations_may_depend_on_arguments(minutes: int) -> None:
    episode = desk()
    play(episode, [rest(minutes)])
    assert episode.world.clock.now == START + timedelta(minutes=minutes)


def test_a_refused_call_takes_no_time() -> None:
    episode = desk()
    play(episode, [call("rest"), call("rest", minutes="long"), "x", call("refuse")])
    assert episode.world.clock.now == START


def test_waiting_ends_at_the_time_or_at_the_next_event() -> None:
    episode = desk()
    play(episode, [plan("post", 30, "x")])
    outcome = episode.step(wait("2024-03-01T09:10"))
    assert outcome.observation == "[2024-03-01 09:10]\nWaited until 2024-03-01 09:10."
    outcome = episode.step(wait("2024-03-05"))
    assert outcome.observation == (
        "[2024-03-01 09:30]\n(2024-03-01 09:30) The post brings x.\nWaited until 2024-03-01 09:30."
    )
    # With nothing on the agenda it lasts as long as was asked for, in whichever zone.
    outcome = episode.step(wait("2024-03-02T01:00+02:00"))
    assert episode.world.clock.now == datetime.fromisoformat("2024-03-01T23:00+00:00")


@pytest.mark.parametrize(
    ("until", "reason"),
    [
        ("2024-03-01T09:00", "it is 2024-03-01T09:00 already"),
        ("2023-01-01", "already"),
        ("2026-01-01", "at most 366 days from now"),
        ("9999-12-31T23:59", "at most 366 days"),
        ("tomorrow", "'tomorrow' is not a date and time such as 2024-03-01T14:30"),
        ("", "is not a date and time"),
        ("9" * 5000, "is not a date and time"),
        ("0001-01-01T00:00+23:00", "already|not a date"),
        ("9999-12-31T23:59-23:00", "at most|not a date"),
    ],
)
def test_waiting_is_refused_with_a_reason(until: str, reason: str) -> None:
    episode = desk()
    digest = episode.world.digest()
    outcome = episode.step(wait(until))
    assert outcome.errors
    assert re.search(reason, outcome.errors[0])
    assert len(outcome.errors[0]) < 200
    assert episode.world.digest() == digest


@given(st.lists(st.integers(0, 5), max_size=8), st.lists(st.integers(0, 5), max_size=3))
def test_several_things_are_put_down_as_one_after_the_other(minutes: list[int], before: list[int]):
    single, several = Agenda(), Agenda()
    for agenda in (single, several):
        for minute in before:
            agenda.put(at(minute), "before", rank=minute % 2)
    for minute in minutes:
        single.put(at(minute), "thing", minute=minute)
    several.put_all((at(minute), "thing", {"minute": minute}) for minute in minutes)
    assert several.entries() == single.entries()
    assert several.digest() == single.digest()
