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
_ON_FILE = Account(
    Texts([_FILE]), heard="We will not withdraw it. I agree on C2.", other="Dr. Ines Park"
)


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
        ("Dr. Ines Park accepted the denial.", "nobody did"),
        ("The premium was not paid.", "no matter of money"),
        ("The service costs more than others.", "no matter of money"),
        ("Two outside specialists advised against it.", "nobody else was asked"),
        ("The director instructed me to deny.", "nobody gave such an order"),
        ("The packet was never opened.", "the file is there to be read"),
        ("The note is unsigned.", "no such fault on file"),
        ("This approval expires soon.", "it has no such limit"),
        ("Approval is contingent on new labs.", "nothing like that was decided"),
        ("I am letting it go this time.", "no way to decide"),
        ("The practice did not respond to our request.", "nothing was asked for"),
        ("The member is no longer eligible.", "coverage is not in doubt"),
        ("This confirms the earlier denial.", "nothing was decided before"),
        ("Your appeal was successful.", "there was no appeal"),
    ],
)
def test_what_is_on_no_record_is_told_with_why(text: str, why: str) -> None:
    assert any(each.startswith(why) for each in unaccounted(text, _ON_FILE))


def test_a_topic_is_free_where_it_was_so() -> None:
    free = Account(Texts([_FILE]), free=frozenset({"appealed"}))
    assert "appealed" in TOPICS
    assert not [*unaccounted("Your appeal was successful.", free)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Only an unsigned draft of 2026-02-19 speaks to C8.", "Draft, not signed: T. Baek, MD"),
        ("DOC-3 is about another patient.", "PAT-100, seen\nPAT-200, seen"),
    ],
)
def test_a_fault_that_a_page_on_file_has_may_be_told(text: str, line: str) -> None:
    assert [*unaccounted(text, Account(Texts([f"{_FILE}PAT-100\n"])))]
    assert not [*unaccounted(text, Account(Texts([f"{_FILE}PAT-100\n{line}\n"])))]


def test_one_fault_of_a_page_is_not_another() -> None:
    drafted = Account(Texts([f"{_FILE}Preliminary, not signed: T. Baek, MD"]))
    assert [*unaccounted("The scan is illegible.", drafted)]
    assert [*unaccounted("The note is about another patient.", drafted)]


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


@pytest.mark.parametrize(
    "text", ["Dr. Ines Park promised a note by next week.", "C2: Dr. Ines Park refused to answer."]
)
def test_a_title_ends_no_sentence(text: str) -> None:
    assert any(each.startswith("nobody did") for each in unaccounted(text, _ON_FILE))


@pytest.mark.parametrize(
    "text",
    [
        "The practice did not answer the request for information.",
        "No reply was received.",
        "The practice never responded to our request.",
        "The request for information was not answered.",
    ],
)
def test_a_reply_that_came_is_not_told_away(text: str) -> None:
    replied = replace(_ON_FILE, free=frozenset({"asked_for"}))
    assert any(each.startswith("there was a reply") for each in unaccounted(text, replied))
    silent = replace(_ON_FILE, free=frozenset({"asked_for", "left_unanswered"}))
    assert not [*unaccounted(text, silent)]


@pytest.mark.parametrize(
    "text",
    [
        "The reply did not answer C1.",
        "The practice did not answer what was asked under C1.",
        "No reply that speaks of C1 came.",
    ],
)
def test_a_reply_may_fall_short(text: str) -> None:
    assert not [*unaccounted(text, replace(_ON_FILE, free=frozenset({"asked_for"})))]


def test_a_small_word_is_no_company_for_a_number() -> None:
    assert not [*unaccounted("C5: 12 visits, but no more.", _ON_FILE)]
