"""A queue of drills: short enough for a small model, judged case by case, and only an end pays."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.envs.managed_care.marathon.family import UNREAD, ReviewMarathon
from healthgym.envs.managed_care.marathon.reading import tokens_read
from healthgym.envs.managed_care.marathon.task import MarathonInstance
from healthgym.envs.managed_care.utilization_management.drill import TURNS
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.rewards import PotentialReward, SparseReward
from tests.envs.managed_care.marathon.queueing import shared

#: Tokens that an episode shows to whoever solves it, by its cases: most of any task.
_READ = {1: 700, 3: 1_600, 5: 2_600, 10: 5_000}
SAVE = "review.save_criteria_evaluation"


@cache
def family(size: int = 3) -> ReviewMarathon:
    return ReviewMarathon("drill", size=size)


@cache
def a_drill(size: int = 3, index: int = 0) -> MarathonInstance:
    return family(size).generator.draw(Split.TRAIN, index)


def script(size: int = 3, index: int = 0, policy: str = "oracle") -> list[ToolCall]:
    played = family(size).scripts()[policy](a_drill(size, index), np.random.default_rng(index))
    return [made for made in played if isinstance(made, ToolCall)]


def played(calls: list[ToolCall], size: int = 3, index: int = 0) -> MarathonEpisode:
    episode = Episode(family(size), a_drill(size, index), PotentialReward(), family(size).rules)
    for made in calls:
        if not episode.done():
            episode.step(made)
    return episode


def by(policy: str, size: int = 3, index: int = 0) -> MarathonEpisode:
    return played(script(size, index, policy), size, index)


def share(episode: MarathonEpisode) -> float:
    metrics = episode.verdict().metrics
    return metrics["solved"] / metrics["cases"]


@pytest.mark.parametrize("size", sorted(_READ))
def test_who_knows_the_answers_solves_all_and_reads_little(size) -> None:
    for index in range(3):
        episode = by("oracle", size, index)
        assert not any(event.error for event in episode.events)
        assert all(episode.verdict(profile=profile).success for profile in Profile)
        assert episode.total_reward() == pytest.approx(1.0)
        assert tokens_read(episode, "agent")["total"] <= _READ[size]
        assert len(episode.turns) <= TURNS * size == family(size).rules.max_turns


def test_the_tools_are_five() -> None:
    (role,) = family().roles.values()
    assert len(role.only or ()) == 5


def test_queue_page_and_note_are_found_through_the_tools() -> None:
    told = family().instruction("agent", a_drill())
    looked = [call("payer_intake_hub.list_intake_queue")]
    episode = played(looked)
    queue = episode.turns[-1].observation
    for key, piece in a_drill().reference.pieces.items():
        wanted = piece.instance.reference
        shown = episode.step(call("review.get_nurse_review_data", case_id=key)).observation
        page = f"medical-library/medical-policies/{wanted.policy.id}.md"
        assert key in queue
        assert page in shown
        assert wanted.packet[0] in shown
        read = episode.step(call("handbook.read", path=page)).observation
        assert all(name in read for name in wanted.results)
        assert key not in told
        assert wanted.packet[0] not in told


def test_only_findings_on_every_criterion_pay() -> None:
    episode = played([])
    for made in script()[:-1]:
        reward = episode.step(made).reward
        assert reward == pytest.approx(0.5 / 3 if made.name == SAVE else 0.0)


def test_half_a_finding_is_no_end() -> None:
    made = next(each for each in script() if each.name == SAVE)
    half = call(SAVE, **{**made.arguments, "evaluations": made.arguments["evaluations"][:1]})
    episode = played([half])
    assert not episode.turns[-1].errors
    assert episode.total_reward() == 0


@pytest.mark.parametrize(("policy", "most"), [("fan_out", 0.0), ("one_case", 1 / 3)])
def test_who_does_not_finish_solves_no_more_than_was_finished(policy, most) -> None:
    for index in range(3):
        assert share(by(policy, index=index)) == pytest.approx(most)


@pytest.mark.parametrize("policy", ["prior", "flood", "all_not_met"])
def test_who_does_not_read_is_right_about_one_case_in_nine(policy) -> None:
    found = [by(policy, index=index) for index in range(12)]
    assert sum(map(share, found)) / len(found) <= 0.25
    assert not any(episode.verdict().success for episode in found)


def test_no_findings_that_are_written_unread_are_right_for_many_cases() -> None:
    """Of two findings of three kinds each, as often one as another, one pair is right in nine."""
    pairs = Counter(
        tuple(piece.instance.reference.results.values())
        for index in range(100)
        for piece in family().generator.draw(Split.TEST, index).reference.pieces.values()
    )
    assert len(pairs) == 9
    assert max(pairs.values()) <= UNREAD * pairs.total()


def test_what_is_found_of_one_case_and_written_into_another_is_wrong() -> None:
    right = [each for each in script() if each.name == SAVE]
    turned = []
    for own, other in zip(right, [*right[1:], right[0]], strict=True):
        rows = zip(own.arguments["evaluations"], other.arguments["evaluations"], strict=True)
        found = [{**mine, "result": theirs["result"]} for mine, theirs in rows]
        turned.append(call(SAVE, **{**own.arguments, "evaluations": found}))
    episode = played([*turned, call("finish")])
    assert share(episode) == 0
    assert episode.verdict().metrics["finished"] == 3


@pytest.mark.parametrize("size", [3, 10])
def test_cases_are_about_different_people_and_a_policy_has_one_page(size) -> None:
    for index in range(3):
        pieces = a_drill(size, index).reference.pieces.values()
        assert len({piece.patient_id for piece in pieces}) == size
        policies = {piece.instance.reference.policy.id for piece in pieces}
        books = {id(piece.instance.reference.policy) for piece in pieces}
        assert len(books) == len(policies)


def test_each_case_is_judged_as_it_is_alone() -> None:
    alone, task = ReviewFamily("drill"), a_drill(3, 1)
    calls = script(3, 1)
    wrong = next(each for each in reversed(calls) if each.name == SAVE)
    turned = [{**each, "result": "met"} for each in wrong.arguments["evaluations"]]
    calls[calls.index(wrong)] = call(SAVE, **{**wrong.arguments, "evaluations": turned})
    together = played(calls, 3, 1)
    for key, piece in task.reference.pieces.items():
        episode = Episode(alone, piece.instance, SparseReward(), alone.rules)
        for made in calls:
            if made.arguments.get("case_id", key) == key and made.name != script()[0].name:
                episode.step(made)
        own = episode.verdict()
        part = together.verdict().parts[key]
        assert shared(part) == shared(own)
    assert share(together) == pytest.approx(2 / 3)
