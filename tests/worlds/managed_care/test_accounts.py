"""What an office tells of its own work: amounts stand beside what they are said of, or fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.accounts import TOPICS, Account, amounts, unaccounted
from healthgym.worlds.managed_care.texts import Texts

_FILE = """Physical therapy: 8 weeks, from January to March.
Naproxen 500 mg, one tablet twice daily for 30 days
The policy asks for a trial of six sessions; imaging is not needed.
No more than 12 visits of infusions per request.
"""
_ON_FILE = Account(Texts([_FILE]), other="Dr. Ines Park")


@pytest.mark.parametrize(
    "text",
    [
        "Physical therapy lasted eight weeks.",
        "Physical therapy went on for 56 days.",
        "The policy asks for a trial of 6 sessions.",
        "Dr. Ines Park agreed on C2.",
        "Dr. Ines Park did not accept it.",
        "Cost played no part, and no specialist was asked.",
        "An outside reviewer may hear your appeal, and it costs you nothing.",
        "Was the premium unpaid for 3 months?",
        "MP-MED-011, version 2026.1: C7: No more than 12 visits of infusions per request.",
    ],
)
def test_what_is_on_record_may_be_told(text: str) -> None:
    assert not [*unaccounted(text, _ON_FILE)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Physical therapy lasted nine weeks.", "nowhere counted: 9 week"),
        ("Injections went on for eight weeks.", "nowhere counted: 8 week"),
        ("Approved for 14 visits.", "nowhere counted: 14 visit"),
        ("The premium was not paid.", "no matter of money"),
        ("The service costs more than others.", "no matter of money"),
        ("Two outside specialists advised against it.", "nobody else was asked"),
        ("Approval is contingent on new labs.", "nothing like that was decided"),
        ("I am letting it go this time.", "no way to decide"),
        ("The member is no longer eligible.", "coverage is not in doubt"),
    ],
)
def test_what_is_on_no_record_is_told_with_why(text: str, why: str) -> None:
    assert any(each.startswith(why) for each in unaccounted(text, _ON_FILE))


def test_a_topic_is_free_where_it_was_so() -> None:
    told = "The member is no longer eligible."
    assert "turned_away" in TOPICS
    assert not [*unaccounted(told, replace(_ON_FILE, free=frozenset({"turned_away"})))]


def test_a_fair_amount_may_stand_anywhere_on_file_and_a_small_one_beside_what_it_is_said_of() -> (
    None
):
    known = Account(Texts(["Physical therapy until January, 5 sessions. Knee: 3 injections."]))
    assert not [*unaccounted("Only PT ended in January, 5 sessions.", known)]
    assert [*unaccounted("Speech therapy had 3 injections.", Account(Texts(["3 treatments"])))]
    assert [*unaccounted("Speech therapy, 3 injections.", known)]


def test_times_follow_from_days_and_rules() -> None:
    known = Account(
        Texts([_FILE]),
        spans=lambda: frozenset({17}),
        rules=lambda: frozenset({72.0}),
        found=lambda: frozenset({26.0}),
    )
    told = "It took 17 days and 72 hours, and 26 sessions were requested."
    assert not [*unaccounted(told, known)]
    assert len([*unaccounted(told, Account(Texts([_FILE])))]) == 3


def test_an_amount_is_a_number_with_what_it_counts() -> None:
    assert amounts("two further injections within 3-month") == ((2.0, "injection"), (3.0, "month"))
    assert not amounts("criterion 4 of 12, on 2026-03-01")
    assert not amounts("service: 92507 treatment of speech and language disorder")


def test_a_small_word_is_no_company_for_a_number() -> None:
    assert not [*unaccounted("C5: 12 visits, but no more.", _ON_FILE)]
