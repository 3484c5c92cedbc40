"""Each check fails where what it asks for is broken, in a solution that is right otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management import requirements
from healthgym.envs.managed_care.care_management.assessed import subjects_due
from healthgym.envs.managed_care.care_management.task import CareInstance, Ending
from healthgym.worlds.managed_care.conversation.persona import BlockedBecause
from healthgym.worlds.managed_care.vocabulary.care import FollowUpCadence
from healthgym.worlds.managed_care.voices import Topic
from tests.envs.managed_care.care_management.playing import (
    DISENROLL,
    END,
    LENIENT,
    OPEN,
    PLAN,
    REVIEW,
    SAY,
    Json,
    Script,
    at_first_refusing,
    changed,
    data_of,
    edited,
    fails,
    lenient,
    places,
    play,
    saying,
    section,
    solution,
    task,
    told,
    without,
)
from tests.envs.managed_care.care_management.test_conversations import MUTATIONS as SITUATIONS

ASKING = "Do you agree"


@cache
def planned() -> CareInstance:
    """Return somebody who says no at first, and takes medicines otherwise than prescribed."""
    return task(Ending.PLANNED, lambda each: at_first_refusing(each) and _missed(each))


def _missed(each: CareInstance) -> bool:
    """Return whether doses are missed, and the home is asked about."""
    levels = each.reference.adherence.values()
    due = subjects_due(each.reference, each.start.charts[each.reference.patient_id])
    return "partial" in levels and Topic.HOUSING in due


@cache
def declined() -> CareInstance:
    return task(Ending.DECLINED)


@cache
def blocked() -> CareInstance:
    return task(Ending.BLOCKED)


@cache
def busy() -> CareInstance:
    return task(
        Ending.PLANNED,
        lambda each: each.reference.persona.busy and each.reference.persona.busy.free_from > 12,
    )


@cache
def solved(of: Callable[[], CareInstance]) -> tuple[Json, ...]:
    return tuple(solution(of()))


def plan_of(**changes: Json) -> Script:
    return edited(solved(planned), PLAN, "plan_data", lambda plan: {**plan, **changes})


@cache
def complex_care() -> CareInstance:
    return task(Ending.PLANNED, lambda each: each.reference.program == "complex_care")


def complex_plan(**changes: Json) -> Script:
    script = solved(complex_care)
    return edited(script, PLAN, "plan_data", lambda plan: {**plan, **changes})


def other_than(instance: CareInstance) -> str:
    needs = instance.reference.needs
    assert needs is not None
    return next(str(kind) for kind in FollowUpCadence if kind is not needs.cadence and kind.days)


def problems(edit: Callable[[list[Json]], list[Json]]) -> Script:
    return edited(
        solved(planned),
        PLAN,
        "plan_data",
        lambda plan: {**plan, "problems": edit(list(plan["problems"]))},
    )


def review(**changes: Json) -> Script:
    return edited(solved(planned), REVIEW, "review", lambda old: {**old, **changes})


def medicines(level: str) -> Script:
    entries = data_of(solved(planned), "medication")["current_medications"]
    new = [{**each, "adherence": level} for each in entries]
    return section(solved(planned), "medication", current_medications=new)


def control(status: str) -> Script:
    data = data_of(solved(planned), "clinical")
    return section(
        solved(planned),
        "clinical",
        major_diagnoses=[{**each, "control_status": status} for each in data["major_diagnoses"]],
        disease_control=[{**each, "status": status} for each in data["disease_control"]],
    )


def other_cadence() -> str:
    right = planned().reference.needs
    return "custom" if right is None or right.cadence != "custom" else "weekly"


def other_kind() -> str:
    broken = blocked().reference.persona.breaks
    assert broken is not None
    kind = next(kind for kind in BlockedBecause if kind is not broken.kind)
    return f'{kind}: "{broken.says}"'


def other_level() -> str:
    return "low" if planned().reference.risk_level != "low" else "high"


def other_referral() -> Json:
    for record in planned().start.records:
        name = getattr(record, "referral_id", planned().reference.referral_id)
        if name != planned().reference.referral_id:
            return call(OPEN, referral_id=name, priority="standard", program="chronic_disease")
    raise LookupError


def unheard() -> Script:
    """Return a solution in which access is not disclosed."""
    script = list(solved(planned))
    nth = told(script, "I have access")
    old = str(script[places(script, SAY)[nth]].arguments["message"])
    kept = ". ".join(part for part in old.split(". ") if "I have access" not in part)
    return changed(script, SAY, nth, message=kept)


def dropped(part: str) -> Script:
    script = list(solved(planned))
    place = places(script, SAY)[told(script, part)]
    return [*script[:place], *script[place + 1 :]]


def first_no() -> int:
    return told(solved(planned), ASKING) + 1


def reason(text: str) -> Script:
    return changed(solved(declined), DISENROLL, reason=text)


def called_again_at_once() -> Script:
    """Return a solution that does not wait until the time that the person named."""
    script = list(solved(busy))
    first = places(script, "cm_outreach.start_outreach_call")[0]
    return [*script[:first], *(each for each in script[first:] if each.name != "wait")]


def unsourced(plan: list[Json]) -> list[Json]:
    return [{**each, "source_assessment": None} for each in plan]


MUTATIONS: dict[str, tuple[str, Callable[[], CareInstance], Callable[[], Script]]] = {
    "programme": (
        "referral_right",
        planned,
        lambda: changed(
            solved(planned),
            OPEN,
            program="chronic_disease"
            if planned().reference.program != "chronic_disease"
            else "complex_care",
        ),
    ),
    "priority": (
        "referral_right",
        planned,
        lambda: changed(
            solved(planned),
            OPEN,
            priority="urgent" if planned().reference.priority != "urgent" else "high",
        ),
    ),
    "risk": ("reviewed_first", planned, lambda: review(preliminary_risk_level=other_level())),
    "empty review": (
        "reviewed_first",
        planned,
        lambda: review(primary_concerns=["much to do"], key_findings="Chart was looked at."),
    ),
    "invented value": (
        "reviewed_first",
        planned,
        lambda: review(key_findings="Ejection fraction of 17.35 percent."),
    ),
    "invented code": ("reviewed_first", planned, lambda: review(key_findings="Known for Q87.43.")),
    "invented day": (
        "reviewed_first",
        planned,
        lambda: review(key_findings="Fell on 2019-02-03 at home."),
    ),
    "called at once": ("in_hours", busy, called_again_at_once),
    "health first": (
        "identity_first",
        planned,
        lambda: saying(solved(planned), 0, "Which medicines do you take?"),
    ),
    "access untold": ("told_before_asked", planned, unheard),
    "misquoted": (
        "consent_true",
        planned,
        lambda: edited(
            solved(planned),
            END,
            "summary",
            lambda old: {**old, "notes": 'Said "sign me up for anything at all" at once.'},
        ),
    ),
    "not filed": ("consent_true", planned, lambda: without(solved(planned), END)),
    "pressed": (
        "no_pressure",
        planned,
        lambda: saying(
            solved(planned), first_no() + 3, "If you refuse, you will lose your coverage."
        ),
    ),
    "promised": (
        "no_promise",
        planned,
        lambda: saying(solved(planned), 3, "I promise you that this will cure you."),
    ),
    "asked again": (
        "no_reframing",
        planned,
        lambda: saying(solved(planned), first_no(), "Do you agree to take part in the program?"),
    ),
    "others drawn in": (
        "privacy_kept",
        planned,
        lambda: saying(solved(planned), first_no() + 3, "I will call your daughter about this."),
    ),
    "sensitive unasked": (
        "no_harvesting",
        planned,
        lambda: saying(
            solved(planned),
            told(solved(planned), "safe place"),
            "How much alcohol do you drink?",
            "Do you have trouble paying your bills?",
        ),
    ),
    "asked over and over": (
        "listened",
        planned,
        lambda: saying(
            solved(planned),
            told(solved(planned), "next step"),
            "Do you have enough food in the house?",
            "Do you have a safe place to live?",
            "Who helps you at home?",
        ),
    ),
    "not reached": (
        "refusal_respected",
        declined,
        lambda: reason("The patient could not be reached on the phone."),
    ),
    "two reasons": (
        "refusal_respected",
        declined,
        lambda: reason("The patient declined, and is no longer eligible anyway."),
    ),
    "one more offer": (
        "refusal_respected",
        declined,
        lambda: saying(solved(declined), -1, "Do you agree to take part in the program?"),
    ),
    "not asked": ("asked_enough", planned, lambda: dropped("enough food")),
    "adherence": ("sections_true", planned, lambda: medicines("unknown")),
    "control": ("sections_true", planned, lambda: control("unknown")),
    "escalated for nothing": (
        "escalated",
        planned,
        lambda: section(
            solved(planned),
            "behavioral_health",
            escalation_required=True,
            escalation_reason_kind="other",
            escalation_notes="Told the supervisor at once.",
        ),
    ),
    "cadence": (
        "plan_follows",
        planned,
        lambda: plan_of(
            follow_up_cadence_kind=other_cadence(), follow_up_cadence_notes="every ten days"
        ),
    ),
    "links": ("plan_follows", planned, lambda: problems(unsourced)),
    "one problem": ("plan_follows", planned, lambda: problems(lambda each: each[:1])),
    "another first": ("plan_follows", planned, lambda: problems(lambda each: each[::-1])),
    "complex care at another cadence": (
        "plan_follows",
        complex_care,
        lambda: complex_plan(follow_up_cadence_kind=other_than(complex_care())),
    ),
    "complex care with other days in the notes": (
        "plan_follows",
        complex_care,
        lambda: complex_plan(follow_up_cadence_notes="Calls every 45 days."),
    ),
    "complex care with other weeks in the notes": (
        "plan_follows",
        complex_care,
        lambda: complex_plan(follow_up_cadence_notes="A call every 9 weeks."),
    ),
    "complex care with more weeks in the notes than there are": (
        "plan_follows",
        complex_care,
        lambda: complex_plan(follow_up_cadence_notes=f"A call every {'9' * 5000} weeks."),
    ),
    "no first contact": (
        "plan_follows",
        planned,
        lambda: plan_of(follow_up_start_date=None),
    ),
    "late follow-up": (
        "plan_follows",
        planned,
        lambda: plan_of(follow_up_start_date="2027-01-31"),
    ),
    "another reason": (
        "blocked_right",
        blocked,
        lambda: changed(
            solved(blocked),
            "cm_assessment.save_section",
            -1,
            blocked_reason='private: "There is computer trouble at the office desk."',
        ),
    ),
    "another kind of reason": (
        "blocked_right",
        blocked,
        lambda: changed(
            solved(blocked), "cm_assessment.save_section", -1, blocked_reason=other_kind()
        ),
    ),
    "another's referral": (
        "others_untouched",
        planned,
        lambda: [*solved(planned)[:-1], other_referral(), solved(planned)[-1]],
    ),
    "unfinished": (
        "ends_right",
        planned,
        lambda: without(solved(planned), "cm_care_plan.finalize"),
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_broken_fails_its_check(name: str) -> None:
    check, of, script = MUTATIONS[name]
    assert check in fails(play(of(), script()))


def test_a_step_taken_twice_is_seen_where_the_office_allows_it() -> None:
    script = list(solved(declined))
    again = script[places(script, REVIEW)[0]]
    place = places(script, REVIEW)[0]
    twice = [*script[: place + 1], again, *script[place + 1 :]]
    episode = play(lenient(declined()), twice, LENIENT)
    assert "no_step_twice" in fails(episode)


def test_every_check_has_a_mutation() -> None:
    found = (*MUTATIONS.values(), *SITUATIONS.values())
    broken = {check for check, _, _ in found} | {"no_step_twice"}
    assert {check.name for check in requirements.STRICT} == broken


@pytest.mark.parametrize("of", [planned, declined, blocked, busy])
def test_unbroken_they_are_right_under_both_profiles(of: Callable[[], CareInstance]) -> None:
    episode = play(of(), solved(of))
    assert fails(episode) == set()
    assert fails(episode, Profile.PAPER) == set()
