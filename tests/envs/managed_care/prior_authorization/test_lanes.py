"""Lanes without review: what was sent is approved unread, and the letter goes out."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.cases.situations import Course
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, LetterType
from tests.envs.managed_care.prior_authorization.playing import (
    CASE,
    Kind,
    changed,
    chart_of,
    play,
    solution,
    task,
)


@pytest.mark.parametrize("course", [Course.NOTIFICATION, Course.GOLD_CARD])
@pytest.mark.parametrize("index", range(3))
def test_a_packet_that_shows_nothing_is_approved_by_letter(course: Course, index: int) -> None:
    instance = task(Kind(course, index=index))
    (page, *_) = chart_of(instance).documents
    script = changed(solution(instance), "docs.create_submission_bundle", document_ids=[page.id])
    world = play(instance, script).world
    assert world.cases.get(CASE).status is CaseStatus.APPROVED
    (letter,) = world.letters.of(CASE)
    assert letter.letter_type is LetterType.APPROVAL
    assert letter.policy_citations == instance.reference.policy.citations
