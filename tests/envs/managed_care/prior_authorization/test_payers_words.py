"""What the payer's staff writes, where nobody plays it: as much as was found, and no more."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest

from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType, Urgency
from tests.envs.managed_care.prior_authorization.playing import (
    FINISH,
    AuthorizationEpisode,
    Kind,
    changed,
    fails,
    first_of,
    play,
    position,
    solution,
    task,
)

_INDICES = range(4)


@cache
def played(ending: Course, index: int) -> AuthorizationEpisode:
    instance = task(Kind(ending, index=index))
    script = solution(instance)
    return play(instance, script if script[-1] == FINISH else [*script, FINISH])


def letters(ending: Course, index: int, kind: LetterType) -> tuple[Letter, ...]:
    world = played(ending, index).world
    return tuple(one for one in world.letters.letters.values() if one.letter_type == kind)


@pytest.mark.parametrize("index", _INDICES)
def test_a_fast_lane_claims_no_review(index: int) -> None:
    (letter,) = letters(Course.GOLD_CARD, index, LetterType.APPROVAL)
    policy = task(Kind(Course.GOLD_CARD, index=index)).reference.policy
    said = "Gold-card lane: approved without clinical review."
    assert letter.supporting_basis == f"{policy.id}, version {policy.version}: {said}"


@pytest.mark.parametrize("index", _INDICES)
def test_a_denial_names_the_one_criterion_that_would_turn_it(index: int) -> None:
    (letter,) = letters(Course.APPEALED, index, LetterType.DENIAL)
    policy = task(Kind(Course.APPEALED, index=index)).reference.policy
    ids = {item.id for item in criteria(policy.criteria)}
    listed = letter.body.partition("Criteria that are not met:\n")[2].partition("\n\n")[0]
    (line,) = listed.splitlines()
    name, _, words = line.removeprefix("- ").partition(": ")
    assert name in ids
    assert words.strip()
    assert f"{name}: " in (letter.supporting_basis or "")
    assert "Finding (DOC-" in (letter.supporting_basis or "")


@pytest.mark.parametrize("index", _INDICES)
def test_a_request_for_a_document_says_kind_and_period_and_no_criterion(index: int) -> None:
    (letter,) = letters(Course.PENDED, index, LetterType.PEND)
    reference = task(Kind(Course.PENDED, index=index)).reference
    items = [line for line in letter.body.splitlines() if line.startswith("- ")]
    assert len(items) == len(reference.on_request)
    for kind, item in zip(reference.on_request, items, strict=True):
        assert str(kind).replace("_", " ") in item
        assert " up to 20" in item
        assert item.endswith(", to complete the file")
        assert not any(f"({each.id})" in item for each in criteria(reference.policy.criteria))
    head = f"{reference.policy.id}, version {reference.policy.version}: {reference.policy.title}"
    assert (letter.supporting_basis or "").startswith(head)


@pytest.mark.parametrize(
    ("urgency", "least", "most"),
    [(Urgency.EXPEDITED, 4, 8), (Urgency.STANDARD, 16, 24)],
    ids=["expedited", "standard"],
)
def test_an_expedited_appeal_is_taken_up_first(urgency: Urgency, least: int, most: int) -> None:
    instance = first_of(Course.APPEALED, lambda each: each.reference.urgency is urgency)
    script = solution(instance)
    episode = play(instance, script[: position(script, "auth.file_appeal") + 1])
    clock = episode.world.clock
    (step,) = [due for due in clock.agenda.entries() if due.facts.get("step") == "appeal"]
    hours = office_calendar(REGION).business_time(clock.now, step.at) / timedelta(hours=1)
    assert least - 1 <= hours <= most


def _appealed(index: int, more: str = "") -> set[str]:
    """Appeal in the words of the payer's letter; return the checks that failed."""
    instance = task(Kind(Course.APPEALED, index=index))
    (letter,) = letters(Course.APPEALED, index, LetterType.DENIAL)
    version = f"{instance.reference.policy.id}, version {instance.reference.policy.version}"
    said = f"You wrote: {letter.body} {letter.supporting_basis} In force is {version}. {more}"
    script = changed(solution(instance), "auth.file_appeal", rationale=said)
    return fails(play(instance, script))


@pytest.mark.parametrize("index", _INDICES)
def test_an_appeal_may_quote_the_letter_that_it_is_about(index: int) -> None:
    assert _appealed(index) == set()


def test_a_figure_beside_the_quotation_is_still_the_office_s_own() -> None:
    assert _appealed(0, "Her score is 4711.") == {"nothing_invented"}
