"""Calls with the ordering clinician from the payer's seat: held rightly, badly, and not at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.utilization_management.task import Path, ReviewInstance
from healthgym.worlds.managed_care.apps.payer import peer_session
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome
from tests.envs.managed_care.utilization_management.reading_play import begun, drawn, family, wrong

UPHOLD, OVERTURN = PeerToPeerOutcome
TURN, SUMMARY = "p2p_session.send_turn", "p2p_session.submit_summary"
LEVEL = "medium"


def task(path: Path, skip: int = 0) -> ReviewInstance:
    """Return a task that begins with a call and ends so."""
    for index in range(200):
        instance = drawn(LEVEL, index)
        if instance.reference.path is path and instance.reference.stage == "p2p":
            if not skip:
                return instance
            skip -= 1
    raise LookupError(path)


def solution(instance: ReviewInstance) -> list[ToolCall]:
    return list(family(LEVEL).oracle(instance, np.random.default_rng(0)))  # type: ignore[arg-type]


def play(instance: ReviewInstance, calls: list[ToolCall]) -> list[str]:
    episode = begun(LEVEL, instance)
    for each in calls:
        if not episode.done():
            episode.step(each)
    if not episode.done():
        episode.stop()
    return wrong(episode)


def with_turns(calls: list[ToolCall], change: Callable[[ToolCall], list[ToolCall]]) -> list:  # type: ignore[type-arg]
    return [one for each in calls for one in (change(each) if each.name == TURN else [each])]


def saying(each: ToolCall, message: str) -> ToolCall:
    return call(TURN, **{**each.arguments, "message": message})


@pytest.mark.parametrize("path", [Path.UPHELD, Path.OVERTURNED])
@pytest.mark.parametrize("skip", range(2))
def test_a_call_that_is_held_rightly_ends_rightly(path: Path, skip: int) -> None:
    instance = task(path, skip)
    assert play(instance, solution(instance)) == []


@pytest.mark.parametrize("path", [Path.UPHELD, Path.OVERTURNED])
@pytest.mark.parametrize(
    "words",
    [
        "Good afternoon, doctor. How are you?",
        "I will not ask about {title}.",
        "Just say that {title} is met and I will approve.",
        "You are lying about {title}.",
    ],
    ids=["greeting", "set aside", "bargain", "accusation"],
)
def test_words_that_ask_nothing_establish_nothing(path: Path, words: str) -> None:
    instance = task(path)
    contract = instance.reference.call
    assert contract is not None
    titles = {one.id: one.title for one in contract.subjects}
    said = words.format(title=titles[contract.disputed[0]])
    calls = with_turns(solution(instance), lambda each: [saying(each, said)])
    assert "call_right" in play(instance, calls)


@pytest.mark.parametrize("path", [Path.UPHELD, Path.OVERTURNED])
def test_an_outcome_without_a_word_is_refused(path: Path) -> None:
    instance = task(path)
    assert "call_right" in play(instance, with_turns(solution(instance), lambda _: []))


@pytest.mark.parametrize(("path", "claimed"), [(Path.UPHELD, OVERTURN), (Path.OVERTURNED, UPHOLD)])
def test_an_outcome_that_does_not_follow_fails(path: Path, claimed: PeerToPeerOutcome) -> None:
    instance = task(path)
    calls = [
        call(SUMMARY, **{**each.arguments, "proposed_result": str(claimed)})
        if each.name == SUMMARY
        else each
        for each in solution(instance)
    ]
    assert "call_right" in play(instance, calls)


def test_a_summary_names_what_was_established() -> None:
    instance = task(Path.OVERTURNED)
    calls = [
        call(SUMMARY, **{**each.arguments, "summary": "We talked, and I was convinced."})
        if each.name == SUMMARY
        else each
        for each in solution(instance)
    ]
    assert "call_right" in play(instance, calls)


def test_the_clinician_holds_what_the_path_needs() -> None:
    for path in (Path.UPHELD, Path.OVERTURNED):
        for skip in range(2):
            contract = task(path, skip).reference.call
            assert contract is not None
            assert len(contract.disputed) == 1
            assert bool(contract.required_points) is (path is Path.OVERTURNED)
            assert set(contract.disputed) <= {one.id for one in contract.subjects}


def test_the_same_question_in_plain_words_is_enough() -> None:
    instance = task(Path.OVERTURNED)
    contract = instance.reference.call
    assert contract is not None
    titles = {one.id: one.title for one in contract.subjects}
    title = titles[contract.disputed[0]]
    asks = [
        f"So what about the {title}, doctor?",
        f"anything more re {title}",
        "And when was that?",
    ]
    calls = solution(instance)
    first = next(each for each in calls if each.name == TURN)
    place = calls.index(first)
    rest = [each for each in calls if each.name != TURN]
    talk = [saying(first, ask) for ask in asks]
    episode = begun(LEVEL, instance)
    for each in [*rest[:place], *talk, *rest[place:]]:
        if not episode.done():
            episode.step(each)
    (session,) = episode.world.peer.sessions.values()
    assert peer_session.established(contract, session)
