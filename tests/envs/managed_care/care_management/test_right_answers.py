"""Right answers in forms that nobody here made: they pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

import pytest

from healthgym.core.tool import call
from healthgym.envs.managed_care import care_management
from healthgym.envs.managed_care.care_management import oracle
from healthgym.envs.managed_care.care_management.reasons import (
    EndedBecause,
    read_break,
    read_ending,
)
from healthgym.envs.managed_care.care_management.speech import phrase_book
from healthgym.envs.managed_care.care_management.talk import Talk
from healthgym.envs.managed_care.care_management.task import CareInstance, Ending
from healthgym.worlds.managed_care.conversation.persona import BlockedBecause, Break
from healthgym.worlds.managed_care.records.assessment import ClinicalAssessment
from healthgym.worlds.managed_care.records.care import (
    CMReferral,
    ConversationMessage,
    ConversationSession,
)
from healthgym.worlds.managed_care.vocabulary.care import SymptomBurden
from healthgym.worlds.managed_care.voices import Disclosure, Memory, Part, Topic
from tests.envs.managed_care.care_management.playing import (
    DISENROLL,
    END,
    FAMILY,
    FINISH,
    OPEN,
    PLAN,
    REVIEW,
    SAY,
    SECTION,
    Json,
    Script,
    changed,
    edited,
    fails,
    places,
    play,
    section,
    solution,
    task,
)


@cache
def planned() -> CareInstance:
    return task(Ending.PLANNED, lambda each: each.reference.control)


@cache
def declined() -> CareInstance:
    return task(Ending.DECLINED)


@cache
def blocked() -> CareInstance:
    return task(Ending.BLOCKED)


def passes(instance: CareInstance, script: Script) -> None:
    """Assert that a script passes every check."""
    assert fails(play(instance, script)) == set()


# -- other words on the phone ---------------------------------------------------------------------


@pytest.mark.parametrize("of", [planned, declined, blocked])
def test_another_phrase_book_says_the_same(of: Callable[[], CareInstance]) -> None:
    desk = FAMILY.rehearse(of())
    oracle.Worker(of(), desk, phrase_book("own", "Ada Lind, RN")).work()
    passes(of(), [*desk.script, FINISH])


def test_a_question_more_does_no_harm() -> None:
    script = solution(planned())
    last = places(script, SAY)[-1]
    session = script[last].arguments["session_id"]
    more = call(SAY, session_id=session, message="Have you been in the hospital this past year?")
    passes(planned(), [*script[:last], more, *script[last:]])


def test_looking_around_does_no_harm() -> None:
    script = solution(planned())
    looks = [
        call("handbook.search", query="how to call somebody"),
        call("cm_intake.get_referral", referral_id=planned().reference.referral_id),
        call("cm_intake.list_referral_queue"),
    ]
    passes(
        planned(),
        [*looks, *script[:-1], call("cm_outreach.get_transcript", session_id="SES-0001"), FINISH],
    )


# -- the review -----------------------------------------------------------------------------------


def free_review() -> str:
    """Return findings in other words, with a value and its day."""
    chart = planned().start.charts[planned().reference.patient_id]
    found = next(each for each in reversed(chart.observations) if each.value_quantity)
    named = next(each for each in chart.conditions if each.active)
    seen = f"{found.observed_at:%d %B %Y}"
    return (
        f"{named.display} stands out; {found.display.lower()} was {found.value_quantity:g} on "
        f"{seen}. Three prescribers, 2 pharmacies, and no visit booked for the next 14 days."
    )


def test_a_review_in_free_words_passes() -> None:
    review = {
        "primary_concerns": ["Too much at once"],
        "coordination_risks": ["Nobody has the whole picture"],
        "suspected_barriers": ["May lack a ride (suspicion)"],
        "preliminary_risk_level": str(planned().reference.risk_level),
        "key_findings": free_review(),
        "clarification_needed": ["How are the medicines taken?"],
    }
    passes(planned(), changed(solution(planned()), REVIEW, review=review))


def medicine() -> str:
    """Return a review that names a medicine alone."""
    chart = planned().start.charts[planned().reference.patient_id]
    name = chart.medications[-1].medication_name.split()[0]
    return f"Takes {name.upper()} among others; no word on who prescribes it."


def result() -> str:
    """Return a review that names a day of the chart alone."""
    chart = planned().start.charts[planned().reference.patient_id]
    referral = next(each for each in planned().start.records if isinstance(each, CMReferral))
    told = f"{referral.notes} {referral.utilization_flags}"
    days = (each.observed_at for each in chart.observations)
    day = next(day for day in days if f"{day:%Y-%m-%d}" not in told)
    return f"Last laboratory of {day:%B} {day.day}, {day.year}; nothing since."


@pytest.mark.parametrize("said", [medicine, result])
def test_a_review_that_names_one_thing_of_the_chart_passes(said: Callable[[], str]) -> None:
    review = {
        "primary_concerns": ["Too much at once"],
        "preliminary_risk_level": str(planned().reference.risk_level),
        "key_findings": said(),
    }
    passes(planned(), changed(solution(planned()), REVIEW, review=review))


# -- the filing -----------------------------------------------------------------------------------


def test_a_filing_with_true_quotations_passes() -> None:
    script = solution(declined())
    said = str(script[places(script, SAY)[0]].arguments["message"]).split(". ")[0]

    def noted(summary: Json) -> Json:
        return {**summary, "notes": f'Began with "{said}", and heard a no.', "next_steps": []}

    passes(declined(), edited(script, END, "summary", noted))


REASONS = (
    "Declined.  Patient said no, clearly, and wants no further calls.",
    "Member refuses to take part; her decision was respected on the phone today.",
    "He does not want the programme and asked not to be called again.",
    "Said no twice. Not interested in care management.",
    "Opted out after hearing what it is.",
    "Turned the offer down on the telephone.",
    "Patient doesn\N{RIGHT SINGLE QUOTATION MARK}t wish to participate in the programme.",
)


@pytest.mark.parametrize("text", REASONS)
def test_a_refusal_in_any_words_is_one(text: str) -> None:
    assert read_ending(text) == {EndedBecause.DECLINED}
    passes(declined(), changed(solution(declined()), DISENROLL, reason=text))


OTHERS = {
    "Could not be reached in three attempts.": {EndedBecause.UNREACHABLE},
    "Coverage ended on the first of the month.": {EndedBecause.NOT_ELIGIBLE},
    "The patient has not declined.": set(),
    "Never refused, but there is no answer.": {EndedBecause.UNREACHABLE},
    "Case closed for good reasons.": set(),
    "The goals were met, says everybody.": {EndedBecause.GOALS_MET},
}


@pytest.mark.parametrize("text", OTHERS)
def test_other_reasons_are_others(text: str) -> None:
    assert read_ending(text) == OTHERS[text]


# -- sections and plan ----------------------------------------------------------------------------


def test_sections_may_be_saved_in_another_order_and_twice() -> None:
    script = solution(planned())
    at = places(script, SECTION)
    turned = [script[place] for place in reversed(at)]
    first: Mapping[str, Json] = turned[0].arguments["payload"]
    draft = call(
        SECTION,
        case_id=turned[0].arguments["case_id"],
        payload={**first, "data": {**first["data"], "health_literacy": "adequate"}},
    )
    parts = [draft, *turned] if draft.arguments != turned[0].arguments else turned
    passes(planned(), [*script[: at[0]], *parts, *script[at[-1] + 1 :]])


def test_further_entries_of_a_section_pass() -> None:
    passes(planned(), section(asked(), "clinical", red_flags=["short of breath on the stairs"]))


def asked() -> Script:
    """Return the right script, with a question about a bad day in it."""
    script = solution(planned())
    last = places(script, SAY)[-1]
    session = script[last].arguments["session_id"]
    question = call(SAY, session_id=session, message="What does a bad day look like for you?")
    return [*script[:last], question, *script[last:]]


@pytest.mark.parametrize("burden", SymptomBurden)
def test_a_burden_is_what_was_told_or_left_open(burden: SymptomBurden) -> None:
    script = asked()
    memory = play(planned(), script).world.outreach.memory(planned().reference.case_id)
    told = next(each for each in memory.disclosed if each.item == Part.BAD_DAY)
    right = tuple(SymptomBurden)[told.score or 0]
    open_ = ClinicalAssessment().symptom_burden
    found = fails(play(planned(), section(script, "clinical", symptom_burden=str(burden))))
    assert (not found) is (burden in (right, open_))


def _apart() -> int:
    """Return how many days lie between two contacts."""
    needs = planned().reference.needs
    assert needs is not None
    assert needs.cadence.days is not None
    return needs.cadence.days


def rewritten(plan: Json) -> Json:
    """Return the plan in other words, with more problems than needed, and on other days."""
    today = planned().start.now.date()

    def goal(nth: int, old: Json) -> Json:
        due = str(_after(today, 30 + 7 * nth))
        steps = [
            {
                "description": f"Step {nth}.{place} of what we agreed",
                "owner": each["owner"],
                "frequency": "every other week",
            }
            for place, each in enumerate(old["interventions"])
        ]
        return {
            "description": f"Gets there by herself, number {nth}",
            "target_date": due,
            "measurable_criteria": "Says so on two calls",
            "interventions": steps,
        }

    problems = [
        {
            **problem,
            "description": f"Number {nth}: finds it hard to keep on top of things",
            "priority": "low",
            "goals": [goal(nth, each) for each in problem["goals"]],
        }
        for nth, problem in enumerate(plan["problems"])
    ]
    more = {
        "description": "Does not know whom to ring on a Sunday",
        "category": "coordination",
        "source_assessment": "clinical",
        "goals": [goal(9, problems[0]["goals"][0])],
    }
    return {
        "problems": [*problems, more],
        "escalation_conditions": ["Breathless at rest: 911"],
        "follow_up_cadence_kind": plan["follow_up_cadence_kind"],
        "follow_up_cadence_notes": f"By telephone, every {_apart()} days.",
        "follow_up_start_date": plan["follow_up_start_date"],
    }


def _after(day: date, days: int) -> date:
    # Calls may take a few days.
    return day + timedelta(days=days + 14)


def test_a_plan_in_other_words_passes() -> None:
    passes(planned(), edited(solution(planned()), PLAN, "plan_data", rewritten))


def test_a_plan_saved_in_two_drafts_passes() -> None:
    script = solution(planned())
    place = places(script, PLAN)[0]
    first = edited(script, PLAN, "plan_data", rewritten)[place]
    passes(planned(), [*script[:place], first, *script[place:]])


def test_a_block_with_a_part_of_what_was_said_passes() -> None:
    broken = blocked().reference.persona.breaks
    assert broken is not None
    part = " ".join(broken.says.split()[:5])
    reason = f" {broken.kind}: \N{LEFT DOUBLE QUOTATION MARK}{part}\N{RIGHT DOUBLE QUOTATION MARK}"
    passes(blocked(), changed(solution(blocked()), SECTION, -1, blocked_reason=reason))


def test_a_block_may_quote_what_was_said_in_the_same_breath() -> None:
    broken, now = breaks()[0], planned().start.now
    whole = f"Oh dear. {broken.says} Goodbye now."
    message = ConversationMessage(role="patient", content=whole, turn_number=2, timestamp=now)
    call = ConversationSession(
        session_id="SES-1",
        case_id="CM-1",
        patient_name="Ann",
        reason_for_call="A call.",
        created_at=now,
        messages=(message,),
    )
    for talk, heard in ((Talk((call,), Memory()), True), (Talk((), Memory()), False)):
        assert talk.gives_reason(f'{broken.kind}: "{whole}"', broken) is heard
        assert not talk.gives_reason(f'{broken.kind}: "Oh dear. Goodbye now, my friend."', broken)
        assert not talk.gives_reason(f'{broken.kind}: "{whole} I am rich."', broken)


@cache
def breaks() -> tuple[Break, ...]:
    """Return all reasons for which people break off."""
    table = json.loads((files(care_management) / "data" / "personas.json").read_text("utf-8"))
    return tuple(
        Break(
            before=Topic(topic),
            says=row["says"],
            reason=row["reason"],
            kind=BlockedBecause(row["kind"]),
        )
        for topic, rows in table["breaks"].items()
        for row in rows
    )


@pytest.mark.parametrize(
    "text",
    [
        "{kind}: {says}",
        "{says}",
        '{kind}: "did not want to answer further questions"',
        '{kind}: ""',
        '{kind}: "I"',
        '"{says}"',
        'uncooperative: "{says}"',
        '{kind}, {other}: "{says}"',
        '{other}: "{says}"',
    ],
)
def test_a_block_without_its_kind_and_their_words_is_none(text: str) -> None:
    talk = Talk((), Memory())
    for broken in breaks():
        other = next(kind for kind in BlockedBecause if kind is not broken.kind)
        given = text.format(kind=broken.kind, other=other, says=broken.says)
        assert not talk.gives_reason(given, broken)


def test_a_block_with_the_reason_of_another_is_none() -> None:
    talk = Talk((), Memory())
    for one in breaks():
        given = f'{one.kind}: "{one.says}"'
        assert [other for other in breaks() if talk.gives_reason(given, other)] == [one]


def test_who_listens_hears_the_kind_and_every_kind_is_met() -> None:
    assert all(read_break(broken.says) is broken.kind for broken in breaks())
    assert {broken.kind for broken in breaks()} == set(BlockedBecause) - {BlockedBecause.SCOPE}


def test_another_minute_to_open_passes() -> None:
    script = solution(planned())
    assert script[1].name == OPEN
    until = planned().start.now + timedelta(minutes=30)
    wait = call("wait", until=f"{until:%Y-%m-%dT%H:%M}")
    passes(planned(), [script[0], wait, *script[1:]])


def test_item_nine_stands_in_the_place_of_a_question_about_safety() -> None:
    asked = Disclosure(topic=Topic.PHQ9, item="9", present=False, score=0)
    other = Disclosure(topic=Topic.PHQ9, item="8", present=False, score=0)
    assert Talk((), Memory(disclosed=(other,))).not_asked([Topic.SAFETY]) == (Topic.SAFETY,)
    assert Talk((), Memory(disclosed=(other, asked))).not_asked([Topic.SAFETY]) == ()
