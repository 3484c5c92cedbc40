"""Whatever is called in whatever order, an episode stays one that could have happened."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthgym.worlds.managed_care.machines import care_edges
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.care import CMCarePlanStatus, CMCaseStatus
from healthgym.worlds.managed_care.voices import Consent
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.sized import some
from tests.worlds.managed_care.apps.care_management.walk import (
    CASE,
    DISENROLL,
    PERSON,
    SOCIAL,
    Call,
    end,
    make,
    plan,
    refused,
    section,
    walk,
)
from tests.worlds.managed_care.voices import PlainVoice

UNWILLING = PlainVoice(agrees=False)
#: The calls of the walk, and some that lead away from it.
CALLS: tuple[Call, ...] = (
    *walk(),
    end(engagement_status="refused", consent_obtained=False),
    end(engagement_status="pending", consent_obtained=False),
    section("sdoh", SOCIAL, "asked to stop for today"),
    section("sdoh", {}),
    section("behavioral_health", {}),
    plan(follow_up_start_date="2026-03-20"),
    DISENROLL,
    ("cm_chart.get_chart_data", {"case_id": CASE}),
    ("cm_intake.list_referral_queue", {}),
)
#: Half of the draws follow the walk, so that the far stages are reached.
STEPS = st.lists(st.one_of(st.just(-1), st.integers(0, len(CALLS) - 1)), max_size=60)


def could_have_happened(world: ManagedCareWorld, before: CMCaseStatus | None) -> None:
    """Assert what holds of any episode under strict rules."""
    case = world.referrals.cases.get(CASE)
    if case is None:
        assert not world.history.entries
        return
    numbers = [row.number for row in world.history.entries]
    assert numbers == sorted(set(numbers))
    moves = [row for row in world.history.entries if row.kind == "transition"]
    for row in moves:
        assert CMCaseStatus(row.action) in care_edges()[CMCaseStatus(row.source)]
    for row, follower in pairwise(moves):
        assert row.action == follower.source
    assert moves[-1].action == case.status
    ended = case.status in (CMCaseStatus.CLOSED, CMCaseStatus.DISENROLLED)
    assert (case.closed_at is not None) == ended
    if before in (CMCaseStatus.CLOSED, CMCaseStatus.DISENROLLED):
        assert case.status is before
    plans = list(world.plans.plans.values())
    assert len(plans) <= 1
    assert len(world.assessments.assessments) <= 1
    assert len(world.care_chart.reviews) <= 1
    assert len(world.outreach.records) <= 1
    agreed = world.outreach.memory(CASE).consent is Consent.GIVEN
    assert all(record.consent_obtained == agreed for record in world.outreach.records.values())
    assert agreed or not world.assessments.assessments
    if case.status is CMCaseStatus.CLOSED:
        assert plans[0].status is CMCarePlanStatus.FINALIZED
        assert plans[0].problems
    else:
        assert all(one.status is CMCarePlanStatus.DRAFT for one in plans)


@settings(max_examples=some(60, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, willing=st.booleans())
def test_random_calls_leave_an_episode_that_could_have_happened(
    steps: list[int], willing: bool
) -> None:
    voice = PERSON if willing else UNWILLING
    world = make(voice=voice)
    twin = make(voice=voice)
    place = 0
    for step in steps:
        if step < 0:
            step, place = place % len(walk()), place + 1
        case = world.referrals.cases.get(CASE)
        before = None if case is None else case.status
        answers = {refused(one, CALLS[step]) for one in (world, twin)}
        assert len(answers) == 1
        could_have_happened(world, before)
    assert world.digest() == twin.digest() == world.clone().digest()


def test_the_walk_itself_is_among_what_is_drawn() -> None:
    world = make()
    for call in walk():
        assert refused(world, call) is None
        could_have_happened(world, None)
    assert world.referrals.cases[CASE].status is CMCaseStatus.CLOSED


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_a_compatible_world_never_loses_a_row(steps: list[int]) -> None:
    world = make(Rules.COMPAT)
    rows = 0
    for step in steps:
        refused(world, CALLS[step])
        assert len(world.history.entries) >= rows
        rows = len(world.history.entries)
    assert [row.number for row in world.history.entries] == list(range(1, rows + 1))
