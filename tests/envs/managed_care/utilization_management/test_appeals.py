"""Appeals as they are drawn: what is disputed, what is on record, and what follows from it."""

from __future__ import annotations

from collections import Counter

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    PUBLISHED_STAGES,
    ReviewInstance,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.payer import appeal_rules, letter_texts
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.appeal_play import (
    OVERTURNED,
    UPHELD,
    appeals,
    filed,
    only_appeals,
    partial,
    truth,
)
from tests.envs.managed_care.utilization_management.playing import (
    EXTENDED,
    FAMILY,
)
from tests.sized import some

COUNT = 60
MANY = some(2 * COUNT, COUNT)


def opened(level: str = "medium") -> list[tuple[ReviewInstance, ManagedCareWorld]]:
    return [(task, ManagedCareWorld(task.start)) for task in appeals(level, COUNT)]


# -- what is drawn ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_extended_surface_draws_appeals_and_the_published_one_none() -> None:
    drawn = [EXTENDED.generator.generate(Split.TRAIN, index) for index in range(40)]
    assert {one.reference.stage for one in drawn} == set(StartStage)
    assert {one.task.key.family for one in drawn} == {"utilization-management-extended"}
    usual = [FAMILY.generator.generate(Split.TRAIN, index) for index in range(40)]
    assert {one.reference.stage for one in usual} == set(PUBLISHED_STAGES)
    assert {one.task.key.family for one in usual} == {"utilization-management"}


def test_canonical_tasks_are_the_same_on_either_surface() -> None:
    here, there = (
        ReviewFamily(tools=tools, canonical=True).generator for tools in ("published", "extended")
    )
    for index in range(3):
        one, other = (each.generate(Split.TEST, index) for each in (here, there))
        assert one.task == other.task
        assert one.start.content_hash() == other.start.content_hash()


def test_appeals_without_their_desk_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="extended surface"):
        ReviewFamily(only_appeals("easy"))
    with pytest.raises(ConfigurationError, match="extended surface"):
        ReviewFamily(only_appeals("easy"), tools="extended", canonical=True)


@pytest.mark.parametrize("level", PRESETS)
def test_either_outcome_is_drawn_as_often_and_documents_do_not_tell_which(level: str) -> None:
    found = Counter((one.reference.path, bool(truth(one).brought)) for one in appeals(level, MANY))
    overturned = sum(count for (path, _), count in found.items() if path is OVERTURNED)
    assert 0.4 <= overturned / MANY <= 0.6
    for brings in (True, False):
        of_these = {path: found[path, brings] for path in (UPHELD, OVERTURNED)}
        assert 0.3 <= of_these[OVERTURNED] / sum(of_these.values()) <= 0.7


def test_no_member_who_is_meant_in_one_split_is_meant_in_another() -> None:
    def meant(split: Split) -> set[str]:
        drawn = (EXTENDED.generator.generate(split, index) for index in range(30))
        worlds = ((one, ManagedCareWorld(one.start)) for one in drawn)
        return {world.cases.get(one.reference.case_id).patient_id for one, world in worlds}

    assert not meant(Split.TRAIN) & meant(Split.TEST)


@pytest.mark.parametrize("index", range(3))
def test_an_appeal_is_the_same_whenever_it_is_drawn(index: int) -> None:
    again = ReviewFamily(only_appeals("medium"), tools="extended").generator
    first, other = appeals("medium", COUNT)[index], again.generate(Split.TRAIN, index)
    assert first.task == other.task
    assert first.reference == other.reference
    assert first.start.content_hash() == other.start.content_hash()


# -- where the agent begins ------------------------------------------------------------------------


def test_the_case_was_denied_told_and_appealed_by_people_in_their_hours() -> None:
    for task, world in opened():
        case_id = task.reference.case_id
        case, appeal = world.cases.get(case_id), world.appeals.open(case_id)
        assert appeal is not None
        assert (case.status, appeal.status) == (CaseStatus.APPEALED, "filed")
        made = world.determinations.active(case_id)
        assert made is not None
        assert made.final_decision is DeterminationDecision.DENIED
        letter = world.letters.of(case_id)[-1]
        assert letter.letter_type == LetterType.DENIAL
        assert letter.delivery_channel is case.submission_channel
        assert made.created_at < letter.created_at < appeal.filed_at <= world.clock.now
        assert case.appeal_due_at is not None
        assert appeal.filed_at < case.appeal_due_at
        assert letter_texts.written(case.appeal_due_at) in letter.body
        assert letter_texts.written(letter.created_at) in letter.body
        for entry in world.history.of(case_id, EntryKind.AUDIT):
            worker = world.staff.workers.get(entry.actor)
            if worker is not None:
                assert office_calendar(worker.region, worker.hours).is_open(entry.at), entry


def test_what_came_with_the_appeal_is_in_the_file_and_named_in_it() -> None:
    for task, world in opened():
        appeal, brought = filed(task), truth(task).brought
        listed = [page.id for page in appeal_rules.enclosed(world, appeal)]
        assert tuple(listed) == brought
        assert set(brought) <= {page.id for page in world.intake.sent(appeal.case_id)}
        assert all(name in appeal.rationale for name in brought)


@pytest.mark.parametrize("level", PRESETS)
def test_the_outcome_follows_from_the_file_and_the_grounds(level: str) -> None:
    for task, world in opened(level):
        wanted, appeal = task.reference, filed(task)
        policy = wanted.policy
        day = world.cases.get(wanted.case_id).created_at.date()
        packet = read_packet(world, wanted.case_id, policy, day)
        found = evaluate(policy, packet.facts, packet.request, day)
        words = {word.strip(".,") for word in appeal.rationale.split()}
        named = policy.id in words and policy.version in words
        assert named is truth(task).grounded
        carried = found.posture is Posture.SATISFIED and not found.missing_documents
        assert (wanted.path is OVERTURNED) is (carried and named)
        assert {name: each.result for name, each in found.criteria.items()} == wanted.final


def test_the_denial_errs_in_most_appeals_and_on_something_in_each() -> None:
    """Whoever copies its findings is wrong somewhere; else a constant would uphold rightly."""
    for task, _ in opened():
        assert task.reference.slipped or truth(task).turned or truth(task).brought


def test_some_denials_were_signed_by_a_director_who_may_not_hear_the_appeal() -> None:
    covered = [task for task, _ in opened() if partial(task)]
    assert COUNT // 8 <= len(covered) <= COUNT // 2
    for task, world in opened()[:20]:
        directors = world.staff.with_role(*world.operations.may_decide_appeal)  # type: ignore[arg-type]
        able = [one for one in directors if not appeal_rules.had_part(world, filed(task), one)]
        assert len(able) >= 2


def test_there_is_time_for_the_work() -> None:
    for level in PRESETS:
        for task, world in opened(level):
            limit = deadlines.appeal_deadline(world, filed(task))
            assert office_calendar("IL").business_time(world.clock.now, limit).total_seconds() > 0
