"""The page: one well-formed file, nothing lost, nothing executed, nothing changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.envs.managed_care.timeline.page import case_page
from healthgym.envs.managed_care.timeline.policy import pages_of
from healthgym.envs.managed_care.timeline.story import Exhibit
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from tests.envs.managed_care.timeline.played import Reader, find, found, make, play, refused
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, world

HOSTILE = "<script>alert('x')</script>&amp;\x00\ud800\"><img src=x onerror=y>"
KINDS = ("submit_pa", "gather_more_evidence", "do_not_submit")


@pytest.fixture(scope="module")
def external() -> Exhibit:
    return found("submit_pa", AuthorizationConfig(courses=(Course.EXTERNAL,), amended=1.0))


@pytest.fixture(scope="module")
def shown(external: Exhibit) -> Reader:
    return Reader(case_page(external))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_well_formed_and_stands_alone(kind: str) -> None:
    page = case_page(found(kind))
    reader = Reader(page)
    assert reader.faults == []
    assert {tag for tag, _ in reader.tags} & {"script", "link", "img", "iframe", "object"} == set()
    assert reader.values("src") == []
    assert all(target.startswith("#") for target in reader.values("href"))
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.parametrize("policy", ["flood", "nop", "random"])
def test_what_went_wrong_can_be_shown(policy: str) -> None:
    exhibit = play(make(), 0, policy)
    reader = Reader(case_page(exhibit))
    assert reader.faults == []
    failed = [c for c in exhibit.verdicts["strict"]["checks"] if c["passed"] is False]
    assert failed
    for check in failed:
        assert check["requirement"] in reader.text
        assert str(check.get("failure_mode", "")) in reader.text


def test_every_entry_of_the_log_is_shown_once_in_order(external: Exhibit, shown: Reader) -> None:
    history = external.world.history
    assert len(history.entries) > 20
    numbers = sorted(entry.number for entry in (*history.entries, *history.looks))
    assert list(map(int, shown.values("data-number"))) == numbers


def test_a_page_changes_nothing(external: Exhibit) -> None:
    before = external.world.digest()
    first, second = case_page(external), case_page(external)
    assert first == second
    assert external.world.digest() == before


def test_the_reasons_are_on_the_page(external: Exhibit, shown: Reader) -> None:
    offices = external.world
    reasons = [one.outcome_reason for one in offices.appeals.appeals.values()]
    reasons += [one.rationale for one in offices.determinations.decisions.values()]
    reasons += [one.body for one in offices.letters.letters.values()]
    assert len(reasons) >= 6
    for reason in reasons:
        assert reason is not None
        assert reason in shown.text


def test_the_course_ends_where_the_case_stands(external: Exhibit, shown: Reader) -> None:
    moves = [entry.action for entry in external.world.history.of(external.case_id, None)]
    assert CaseStatus.EXTERNAL_APPEAL_OVERTURNED in moves
    steps = shown.text.partition("Course")[2].partition("Due")[0]
    assert [steps.find(name) > 0 for name in ("denied", "appealed", "appeal upheld")] == [True] * 3
    assert steps.find("denied") < steps.find("appeal upheld") < steps.find("overturned")


def test_the_policy_in_force_is_beside_it_with_what_was_found(
    external: Exhibit, shown: Reader
) -> None:
    pages = pages_of(external)
    assert pages.policy is not None
    assert external.solution is not None
    assert pages.policy == external.solution.policy
    assert len(pages.amendments) == 1
    assert len(pages.cited) == 1
    side = shown.text.partition("Policy")[2]
    for posture in external.solution.postures.values():
        assert f"chart: {posture}" in side
    assert f"nurse on {pages.cited[0].version}: not met" in side
    assert "amended: the bulletin holds" in side


def test_without_a_solution_the_policy_is_looked_up_and_no_posture_told(
    external: Exhibit, shown: Reader
) -> None:
    plain = replace(external, solution=None)
    assert pages_of(plain).policy == pages_of(external).policy
    text = Reader(case_page(plain)).text
    assert "What is right" in shown.text
    assert "What is right" not in text
    assert "chart: " not in text


def test_a_refused_call_is_shown_with_its_sentence() -> None:
    env, index = find("gather")
    exhibit = refused(env, index, case_id="CASE-NOT-THERE")
    (sentence,) = [event.error for event in exhibit.events if event.error]
    reader = Reader(case_page(exhibit))
    assert sentence in reader.text
    assert "refused" in reader.classes()
    assert "1 refused" in reader.text
    assert "Not judged yet" in reader.text


@pytest.mark.parametrize("place", ["argument", "instruction", "title", "record", "handbook"])
def test_hostile_text_stays_text(place: str) -> None:
    env, index = find("gather")
    # A call with half a character in it is no call, and has no arguments to show.
    argument = HOSTILE.replace("\ud800", "") if place == "argument" else "CASE-1"
    exhibit = refused(env, index, case_id=argument)
    offices = exhibit.world
    if place == "instruction":
        exhibit = replace(exhibit, instruction=f"{HOSTILE}\n\n{HOSTILE}")
    elif place == "title":
        exhibit = replace(exhibit, title=HOSTILE)
    elif place == "record":
        offices.history.audit(HOSTILE, HOSTILE, HOSTILE, HOSTILE, note=HOSTILE)
        offices.inbox.post(HOSTILE, "payer", offices.history.entries[-1].case_id, HOSTILE, HOSTILE)
        exhibit = replace(exhibit, case_id=HOSTILE)
    elif place == "handbook":
        solved = play(env, index)
        page = pages_of(solved).page
        assert page is not None
        hostile = replace(page, text=f"# {HOSTILE}\n\n- {HOSTILE}\n\n| {HOSTILE} |\n| --- |\n")
        solved.world.handbook = solved.world.handbook.overlay([hostile])
        exhibit = solved
    reader = Reader(case_page(exhibit))
    assert reader.faults == []
    assert "<script>alert('x')</script>&amp;\ufffd" in reader.text
    assert {tag for tag, _ in reader.tags} & {"script", "img"} == set()
    assert reader.values("onerror") == []


def test_closed_days_and_hours_are_shaded() -> None:
    desk = world()
    for hours, action in ((1, "at_work"), (12, "at_night"), (24, "on_saturday")):
        desk.clock.advance(NOW + timedelta(hours=hours) - desk.clock.now)
        desk.history.audit("desk", action, CASE, "W-INT")
    page = case_page(Exhibit(world=desk, case_id=CASE))
    days = page.split('<section class="day')[1:]
    assert [day.startswith(" closed") for day in days] == [False, True]
    assert "closed: weekend" in days[1]
    assert shaded(days[0]) == {"at work": False, "at night": True}


def shaded(day: str) -> Mapping[str, bool]:
    moments = day.split('<div class="moment')[1:]
    return {
        name: moment.startswith(" off")
        for moment in moments
        for name in ("at work", "at night")
        if name in moment
    }


def test_both_profiles_are_shown(external: Exhibit, shown: Reader) -> None:
    for profile in Profile:
        assert str(profile) in shown.text
    assert set(external.verdicts) == {str(profile) for profile in Profile}
