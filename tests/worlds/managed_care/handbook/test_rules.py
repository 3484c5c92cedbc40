"""The rules of operations: the published clocks, and what a task draws."""

from dataclasses import fields, replace

import numpy as np
import pytest

from healthgym.worlds.managed_care.handbook.draws import care_fields, draw, draw_care, drawn_fields
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, usual_rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    LetterType,
    PayerRole,
    SubmissionChannel,
    TriageUrgency,
    Urgency,
)

USUAL = OperatingRules()


@pytest.mark.parametrize(
    ("urgency", "state", "expected"),
    [
        ("stat", "", (72, "cms")),
        ("routine", "WA", (168, "cms")),
        ("stat", "CA", (24, "state:CA")),
        ("urgent", " ca ", (72, "cms")),
        ("urgent", "TX", (72, "cms")),
        ("urgent", "NY", (48, "state:NY")),
        ("routine", "tx", (72, "state:TX")),
        ("routine", "IL", (120, "state:IL")),
    ],
)
def test_the_stricter_clock_governs_and_a_tie_stays_federal(urgency, state, expected):
    assert USUAL.hours(TriageUrgency(urgency), state) == expected


def test_published_numbers_are_the_usual_ones():
    published = {
        "decision_due_days": 7,
        "decision_due_expedited_hours": 72,
        "pend_days": 2,
        "authorization_days": 30,
        "internal_appeal_days": 30,
        "p2p_turn_limit": 8,
        "outreach_messages_most": 20,
        "outreach_minutes_most": 30,
        "polypharmacy_medicines": 10,
        "phq9_problem": 10,
        "phq9_provider": 15,
        "phq9_escalate": 20,
        "problems_least": 2,
        "complex_problems_least": 3,
        "a1c_controlled_below": 7.0,
        "a1c_uncontrolled_above": 9.0,
    }
    assert {name: getattr(USUAL, name) for name in published} == published


def test_every_letter_has_its_rule():
    assert set(USUAL.letter_slots) == set(LetterType)
    assert "appeal deadline date" in USUAL.letter_slots[LetterType.DENIAL]


def test_a_nurse_may_approve_and_not_deny():
    assert PayerRole.UM_NURSE in USUAL.may_approve
    assert PayerRole.UM_NURSE not in {*USUAL.may_deny, *USUAL.may_override, *USUAL.may_sign}


def test_a_draw_follows_from_the_generator():
    assert draw(np.random.default_rng(5)) == draw(np.random.default_rng(5))
    assert draw(np.random.default_rng(5)) != draw(np.random.default_rng(6))


def test_draws_change_what_they_may_and_nothing_else():
    seen = [draw(np.random.default_rng(seed)).changed_from(USUAL) for seed in range(60)]
    assert frozenset.union(*seen) == {*drawn_fields(), "state_hours"}
    assert draw(np.random.default_rng(1), share=0.0, decisive=False) == USUAL


DECISIVE = {
    *("api_documents_most", "expedited_channel", "portal_documents_most"),
    "follow_up_days",
}


@pytest.mark.parametrize("seed", range(20))
def test_what_decides_a_submission_is_never_the_usual_number(seed):
    rules = draw(np.random.default_rng(seed), share=0.0)
    changed = rules.changed_from(USUAL)
    assert changed == DECISIVE
    assert rules.portal_documents_most < rules.api_documents_most


def test_what_decides_a_submission_can_be_left_as_it_is():
    changed = [
        draw(np.random.default_rng(seed), share=1.0, decisive=False).changed_from(USUAL)
        for seed in range(20)
    ]
    assert not frozenset.union(*changed) & DECISIVE


RULES = replace(
    USUAL, portal_documents_most=3, api_documents_most=6, expedited_channel=SubmissionChannel.FAX
)


@pytest.mark.parametrize(
    ("urgency", "documents", "channel"),
    [
        ("standard", 3, "portal"),
        ("standard", 4, "api"),
        ("standard", 6, "api"),
        ("standard", 7, "edi"),
        ("expedited", 1, "fax"),
        ("expedited", 40, "fax"),
    ],
)
def test_urgency_and_size_give_the_channel(urgency, documents, channel):
    assert RULES.channel(Urgency(urgency), documents) == channel


def test_without_a_channel_of_their_own_expedited_requests_go_by_size():
    assert USUAL.channel(Urgency.EXPEDITED, USUAL.portal_documents_most + 1) == "api"
    assert USUAL.hastens(SubmissionChannel.PHONE)
    assert not RULES.hastens(SubmissionChannel.PHONE)


@pytest.mark.parametrize("seed", range(20))
def test_drawn_clocks_are_consistent(seed):
    rules = draw(np.random.default_rng(seed), share=1.0)
    assert rules.moderate_risk_score < rules.high_risk_score
    spacing = rules.outreach_spacing_days * (rules.outreach_attempts_least - 1)
    assert spacing < rules.outreach_window_days
    for hours in rules.state_hours.values():
        assert hours.stat <= hours.urgent <= hours.routine


def test_names_end_in_a_unit_or_say_what_they_count():
    units = (
        *("days", "hours", "workdays", "workhours", "minutes", "months", "years", "percent"),
        *("dollars", "miles", "most", "least", "limit", "score", "mib", "opens", "closes"),
        *("medicines", "problem", "provider", "escalate", "below", "above"),
    )
    numbers = [
        item.name for item in fields(USUAL) if isinstance(getattr(USUAL, item.name), int | float)
    ]
    assert [name for name in numbers if not name.endswith(units)] == []


def test_tasks_of_care_management_draw_numbers_of_their_own() -> None:
    found = [draw_care(np.random.default_rng(seed)) for seed in range(80)]
    changed = frozenset.union(*(each.changed_from(usual_rules()) for each in found))
    assert changed == set(care_fields())
    for rules in found:
        assert rules.moderate_risk_score < rules.high_risk_score
        assert rules.phq9_problem < rules.phq9_provider < rules.phq9_escalate
        assert rules.a1c_controlled_below < rules.a1c_uncontrolled_above
        assert rules.systolic_controlled_below < rules.systolic_uncontrolled_above
        assert rules.urgent_discharge_days < rules.transition_program_days
        assert list(rules.cadences) == list(usual_rules().cadences)


@pytest.mark.parametrize("name", care_fields())
def test_every_number_of_care_management_is_printed(name: str) -> None:
    assert any(path.startswith("care-manager/") for path in edition().stating[name])
