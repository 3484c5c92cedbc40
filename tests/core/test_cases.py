"""Sessions of several cases: what closes them, and what each may cost."""

from __future__ import annotations

from typing import Any

import pytest

from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Combine, Profile
from healthgym.rewards import PotentialReward, SparseReward
from tests.core.playing import MOVE, play, snapshot_of
from tests.core.toys import LETTERS, Desk, DeskVerifier, DeskWorld, Ledger


def desk(combine: Combine = Combine.MEAN, reward: Any = None, **rules: Any) -> AnyEpisode:
    family = Desk()
    family.verifier = DeskVerifier(combine)
    instance = family.generator.generate(Split.TRAIN, 0)
    config = EpisodeConfig(**{"max_turns": 20, **rules})
    return Episode(family, instance, reward or SparseReward(), config)


def answer(letter: str) -> Any:
    return call("answer", letter=letter, text="yes")


def close(letter: str) -> Any:
    return call("close_letter", letter=letter)


def test_a_submit_closes_a_case_and_the_last_one_the_session() -> None:
    episode = desk()
    outcomes = play(episode, [answer("a"), close("a"), answer("b"), close("b"), answer("c")])
    assert not any(outcome.terminated for outcome in outcomes)
    assert not episode.submitted()
    last = episode.step(close("c"))
    assert (last.terminated, last.reward) == (True, 1.0)
    assert episode.verdict().parts.keys() == set(LETTERS)


def test_a_submit_of_the_session_closes_all() -> None:
    episode = desk()
    play(episode, [answer("a"), close("a")])
    assert episode.step(call("submit")).terminated
    assert not episode.verdict().success
    assert episode.verdict().checks[0].passed


def test_a_case_is_closed_once_and_nothing_more_is_done_for_it() -> None:
    episode = desk()
    play(episode, [close("a")])
    digest, now = episode.world.digest(), episode.world.clock.now
    for action in (close("a"), answer("a"), call("open_letter", letter="a")):
        assert episode.step(action).errors == ("Case a is closed.",)
    assert (episode.world.digest(), episode.world.clock.now) == (digest, now)
    assert episode.turns_left() == 20 - 4


@pytest.mark.parametrize("letter", ["z", "", "a" * 500])
def test_only_a_case_of_the_session_can_be_closed(letter: str) -> None:
    episode = desk()
    before = episode.world.digest()
    outcome = episode.step(close(letter))
    assert outcome.errors[0].startswith("There is no case")
    assert len(outcome.errors[0]) < 120
    assert episode.world.digest() == before  # what the tool wrote is undone
    assert episode._state.seats["agent"].closed == {}


def test_events_tell_their_case() -> None:
    episode = desk()
    play(episode, [answer("a"), call("who"), call("answer", letter="a"), close("b")])
    assert [event.case for event in episode.events] == ["a", "", "a", "b"]


def test_calls_about_a_case_are_counted() -> None:
    episode = desk(case_turns=2)
    play(episode, [call("open_letter", letter="a"), answer("a")])
    refused = episode.step(answer("a"))
    assert refused.errors == ("No calls are left for case a but the one that closes it.",)
    assert episode.turns_left() == 20 - 3
    # What was spent on a case must not keep it open for ever.
    assert episode.step(close("a")).errors == ()
    play(episode, [answer("b"), close("b"), answer("c")])
    assert not episode.done()
    assert episode.step(close("c")).terminated


def test_a_refused_call_costs_its_case_a_turn_as_it_costs_the_role_one() -> None:
    episode = desk(case_turns=1)
    assert "is missing" in episode.step(call("answer", letter="a")).errors[0]
    assert episode.step(answer("a")).errors == (
        "No calls are left for case a but the one that closes it.",
    )
    assert episode.step(answer("b")).errors == ()


@pytest.mark.parametrize(("combine", "progress"), [(Combine.MEAN, 1 / 3), (Combine.SOLVED, 1 / 3)])
def test_a_session_half_done_is_worth_what_its_cases_are(combine: Combine, progress: float) -> None:
    episode = desk(combine, PotentialReward())
    play(episode, [answer("a"), *map(close, LETTERS)])
    assert episode.verdict().progress == pytest.approx(progress)
    assert episode.total_reward() == pytest.approx(progress)
    assert episode.verdict().failure_modes == ("neglect",)
    assert episode.verdicts()["strict"]["parts"]["b"]["checks"][0]["failure_mode"] == "neglect"


def test_the_verifier_sees_what_closed_the_cases() -> None:
    seen: list[Any] = []

    class Watching(DeskVerifier):
        def judge(self, evidence: Any, profile: Profile) -> Any:
            seen.append(dict(evidence.closed))
            return super().judge(evidence, profile)

    family = Desk()
    family.verifier = Watching()
    instance = family.generator.generate(Split.TRAIN, 0)
    episode = Episode(family, instance, SparseReward(), family.rules)
    play(episode, [close("b"), close("a"), call("submit")])
    assert seen == [{"b": {"letter": "b"}, "a": {"letter": "a"}}] * 2


def test_closed_cases_are_part_of_a_clone() -> None:
    episode = desk()
    play(episode, [close("a")])
    twin = episode.clone()
    play(twin, [close("b"), close("c")])
    assert twin.done()
    assert not episode.done()
    play(episode, [close("b"), close("c")])
    assert snapshot_of(episode) == snapshot_of(twin)


@pytest.mark.parametrize("letter", [["a"], {"a": 1}, 5, None, True])
def test_what_is_no_text_names_no_case(letter: Any) -> None:
    class Trusting(Desk):
        def case_of(self, world: DeskWorld, request: ToolCall) -> str:
            found: str = request.arguments.get("letter", "")
            return found

    family = Trusting()
    episode = Episode(family, family.generator.generate(Split.TRAIN, 0), SparseReward())
    outcome = episode.step(call("answer", letter=letter, text="yes"))
    assert "argument 'letter'" in outcome.errors[0]
    assert episode.events[-1].case == ""


def test_a_case_is_told_from_the_full_name_of_a_tool() -> None:
    asked = []

    class Named(Ledger):
        def cases(self, instance: Any) -> tuple[str, ...]:
            return ("only",)

        def case_of(self, world: Any, request: ToolCall) -> str:
            asked.append(request.name)
            return ""

    episode = Episode(Named(), MOVE, SparseReward(), EpisodeConfig())
    for name in ("ledger.list_accounts", "ledger__list_accounts", "list_accounts", "no_such"):
        episode.step(call(name))
    assert asked == ["ledger.list_accounts"] * 3 + ["no_such"]
