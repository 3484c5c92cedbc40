"""What was due: met, late, missed, still open, or settled by something else."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.envs.managed_care.timeline.due import Deadline, Fate, deadlines_of, in_words
from healthgym.envs.managed_care.timeline.page import case_page
from healthgym.envs.managed_care.timeline.story import Exhibit, moments
from healthgym.worlds.managed_care.vocabulary.authorization import IntakeStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.timeline.played import Reader, found
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, intake, world

HOUR = timedelta(hours=1)


def fates(desk: ManagedCareWorld) -> dict[str, Fate]:
    return {one.name: one.fate for one in deadlines_of(desk, CASE)}


def later(desk: ManagedCareWorld, until: datetime) -> ManagedCareWorld:
    """Let time pass, and what falls due happen."""
    while (due := desk.clock.agenda.first()) is not None and due.at <= until:
        desk.clock.agenda.cancel(due.number)
        desk.clock.advance(max(due.at - desk.clock.now, timedelta(0)))
        desk.happen(due)
    desk.clock.advance(until - desk.clock.now)
    return desk


@pytest.mark.parametrize(
    ("met", "ended", "now", "optional", "fate"),
    [
        (5, None, 9, False, Fate.MET),
        (8, None, 9, False, Fate.MET),
        (9, None, 9, False, Fate.LATE),
        (None, None, 7, False, Fate.OPEN),
        (None, None, 8, False, Fate.MISSED),
        (None, None, 8, True, Fate.UNUSED),
        (None, 6, 9, False, Fate.NEEDLESS),
        (None, 9, 9, False, Fate.MISSED),
    ],
    ids=["early", "on time", "late", "open", "missed", "unused", "needless", "missed before"],
)
def test_the_fate_of_a_deadline(
    met: int | None, ended: int | None, now: int, optional: bool, fate: Fate
) -> None:
    one = Deadline(
        name="x",
        side="payer",
        since=NOW,
        due=NOW + 8 * HOUR,
        met=None if met is None else NOW + met * HOUR,
        ended=None if ended is None else NOW + ended * HOUR,
        now=NOW + now * HOUR,
        optional=optional,
    )
    assert one.fate is fate


def test_what_nobody_did_is_missed_and_marked_when_it_was_due() -> None:
    desk = later(world(intake(IntakeStatus.IN_PROGRESS), state="FL"), NOW + timedelta(days=9))
    assert fates(desk) == {"Finish intake": Fate.MISSED, "Decide the request": Fate.MISSED}
    exhibit = Exhibit(world=desk, case_id=CASE)
    assert [
        (mark.name, moment.at) for moment in moments(exhibit) for mark in moment.settled
    ] == sorted(((one.name, one.due) for one in deadlines_of(desk, CASE)), key=lambda x: x[1])
    reader = Reader(case_page(exhibit))
    assert reader.faults == []
    # In the list of what was due, and in the timeline.
    assert reader.values("data-fate", "li") == ["missed", "missed"]
    assert reader.values("data-fate", "div") == ["missed", "missed"]
    assert "intake overdue" in reader.text


def test_what_was_done_too_late_is_marked_late() -> None:
    done = replace(intake(), completed_at=NOW + timedelta(days=6))
    desk = later(world(done, state="FL"), NOW + timedelta(days=6, hours=1))
    assert fates(desk)["Finish intake"] is Fate.LATE
    reader = Reader(case_page(Exhibit(world=desk, case_id=CASE)))
    assert "late" in reader.values("data-fate", "li")
    assert "late" in reader.values("data-fate", "div")


def test_a_decision_by_law_is_no_decision_in_time() -> None:
    desk = later(world(intake(), state="IL"), NOW + timedelta(days=6))
    assert fates(desk)["Decide the request"] is Fate.MISSED


def test_the_course_of_an_appeal_has_all_its_windows() -> None:
    exhibit = found("submit_pa", AuthorizationConfig(courses=(Course.EXTERNAL,)))
    due = {one.name: one for one in deadlines_of(exhibit.world, exhibit.case_id)}
    assert {name: one.fate for name, one in due.items()} == dict.fromkeys(
        (
            "Finish intake",
            "Decide the request",
            "File an internal appeal",
            "Decide the internal appeal",
            "File an external appeal",
            "Decide the external appeal",
        ),
        Fate.MET,
    )
    assert all(one.margin >= timedelta(0) for one in due.values())


def test_a_pend_is_answered_within_its_days() -> None:
    exhibit = found("submit_pa", AuthorizationConfig(courses=(Course.PENDED,)))
    (pend,) = (
        one
        for one in deadlines_of(exhibit.world, exhibit.case_id)
        if one.name == "Answer the request for information"
    )
    assert pend.fate is Fate.MET
    assert pend.due - pend.since == timedelta(days=exhibit.world.operations.pend_days)
    assert pend.side == "provider"


@pytest.mark.parametrize(
    ("minutes", "told"),
    [(0, "0 min"), (35, "35 min"), (-35, "35 min"), (125, "2 h 5 min"), (4 * 1440 + 65, "4 d 1 h")],
)
def test_a_length_of_time_in_words(minutes: int, told: str) -> None:
    assert in_words(timedelta(minutes=minutes)) == told
