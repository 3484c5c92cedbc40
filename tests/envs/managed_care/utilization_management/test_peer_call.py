"""Calls with the ordering clinician from the payer's seat: held rightly, badly, and not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.utilization_management.task import Path, ReviewInstance
from healthgym.worlds.managed_care.apps.payer import peer_session
from healthgym.worlds.managed_care.contracts import PeerSubject
from healthgym.worlds.managed_care.peers.hearing import heard
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
@pytest.mark.parametrize("more", range(4))
def test_one_criterion_besides_may_be_raised_and_no_more(path: Path, more: int) -> None:
    instance = next(each for each in map(partial(task, path), range(8)) if _roomy(each, more))
    contract = instance.reference.call
    assert contract is not None
    besides = _apart(instance)[:more]
    calls = solution(instance)
    first = next(place for place, each in enumerate(calls) if each.name == TURN)
    asked = [saying(calls[first], f"And what about {one.id}, the {one.title}?") for one in besides]
    calls = [*calls[: first + 1], *asked, *calls[first + 1 :]]
    assert ("call_right" in play(instance, calls)) is (more > 1)


def _roomy(instance: ReviewInstance, more: int) -> bool:
    """Return whether so many criteria can be raised besides, and all that is due after them."""
    contract = instance.reference.call
    assert contract is not None
    turns = sum(each.name == TURN for each in solution(instance))
    return len(_apart(instance)) >= more and turns + more <= contract.turn_limit


def _apart(instance: ReviewInstance) -> list[PeerSubject]:
    """Return the criteria that nobody disputes, and that no word of one in dispute brings up.

    What the clinician may speak of first is left out, too: that may be taken up.
    """
    contract = instance.reference.call
    assert contract is not None
    words = {term for one in contract.subjects if one.id in contract.disputed for term in one.terms}
    spoken = heard(" ".join(fact.text for fact in contract.facts), contract.subjects).subjects
    return [
        one
        for one in contract.subjects
        if one.id not in (*contract.disputed, *spoken) and words.isdisjoint(one.terms)
    ]


def test_what_comes_up_with_a_criterion_in_dispute_is_not_held_against_the_payer() -> None:
    instance = next(each for each in map(partial(task, Path.UPHELD), range(40)) if _kin(each))
    contract = instance.reference.call
    assert contract is not None
    besides = _kin(instance)
    calls = solution(instance)
    first = next(place for place, each in enumerate(calls) if each.name == TURN)
    asked = saying(calls[first], f"And what about the {besides[0].title} then?")
    calls = [*calls[: first + 1], asked, *calls[first + 1 :]]
    assert "call_right" not in play(instance, calls)


def _kin(instance: ReviewInstance) -> list[PeerSubject]:
    """Return the criteria that go by a word of one in dispute."""
    contract = instance.reference.call
    assert contract is not None
    words = {term for one in contract.subjects if one.id in contract.disputed for term in one.terms}
    others = (one for one in contract.subjects if one.id not in contract.disputed)
    return [one for one in others if not words.isdisjoint(one.terms)]


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


@pytest.mark.parametrize("path", [Path.UPHELD, Path.OVERTURNED])
def test_what_a_call_came_to_is_in_the_rationale_and_in_a_denials_letter(path: Path) -> None:
    instance = task(path)
    case_id = instance.reference.case_id
    episode = begun(LEVEL, instance)
    intended = episode.world.medical.active(case_id)
    assert intended is not None
    for each in solution(instance):
        episode.step(each)
    (session,) = episode.world.peer.sessions.values()
    summary = session.submitted_summary
    assert summary
    filed = episode.world.determinations.decisions_of(case_id)[-1]
    assert summary.strip() in filed.rationale
    # What was intended before the call is no reason for an approval.
    assert (intended.determination_rationale in filed.rationale) is (path is Path.UPHELD)
    if path is Path.UPHELD:
        assert summary.strip() in episode.world.letters.of(case_id)[-1].body


def test_a_denial_on_what_the_nurse_alone_found_is_refused() -> None:
    instance = next(
        one
        for one in (drawn(LEVEL, index) for index in range(200))
        if one.task.kind == "md_review-denied"
        and not one.reference.slipped & one.reference.denied_on
        and len(one.reference.results) > len(one.reference.denied_on)
    )
    episode, against = begun(LEVEL, instance), instance.reference.denied_on
    for each in solution(instance):
        made = each
        if each.name == "review.save_md_review":
            rows = each.arguments["evaluations"]
            assert isinstance(rows, list)
            kept = [row for row in rows if row["criterion_id"] not in against]
            made = call(each.name, **{**each.arguments, "evaluations": kept})
        step = episode.step(made)
        if each.name == "review.submit_md_case_decision":
            assert "yourself" in step.observation
            return
    pytest.fail("Nobody decided.")
