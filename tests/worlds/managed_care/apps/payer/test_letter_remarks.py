"""What is added to a letter in somebody's own words, and whether it says another decision."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.apps.payer.letter_remarks import said_otherwise
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType

DENIED = [
    "We regret to inform you that your request has been denied.",
    "Your request is denied.",
    "The request was not approved.",
    "This request cannot be approved.",
    "We have denied your request.",
    "We are sorry; we must deny this request.",
    "The authorization is hereby refused.",
    "We do not approve this service.",
    "Decision: denied.",
    "DECISION IS: DENIED",
    "The service is not authorized.",
    "Your application for this service was rejected.",
    "Please read this letter as a denial of your request.",
    "The request for the injection was turned down.",
    "Your authorization is no longer granted.",
]
APPROVED = [
    "The service is approved; no further action is needed.",
    "Your request has been approved.",
    "We approve your request in full.",
    "We have authorized the service as requested. We have authorized this.",
    "The request is hereby granted.",
    "Decision: approved",
    "The authorization is granted for twelve months.",
    "Please read this letter as the approval of your request.",
]
#: What may stand under any letter.
HONEST = [
    "You may start an appeal, or send us a new request.",
    "Please go ahead with your appeal in writing.",
    "You can send us further records at any time.",
    "The plan covers the service where its criteria are met.",
    "Please call us with any question.",
    "The number stands on every claim.",
    "An earlier request was denied in 2024; this one stands on its own.",
    "If the claim is denied, send us this letter.",
    "No part of the request is denied.",
    "Physical therapy was declined by the patient.",
    "Surgery was refused by the patient in March.",
    "The drug is approved by the FDA for this use.",
    "The decision is not denied by anybody.",
    "If further records show it, the service could be approved.",
    "A request that is complete can be approved sooner.",
    "The other request of this member was approved.",
    "A denial can be appealed.",
    "The policy and each of its criteria are met.",
    "C2 is not met by what was sent.",
    "Thank you for the note of April 2.",
    "Whether it is approved depends on what you send.",
    "Should the service be denied by another plan, let us know.",
    "We have not denied the request.",
    "Records were reviewed by a board-certified physician.",
]
#: What grants or denies as a whole what a letter grants in part.
WHOLE = [
    "All 20 visits can go ahead.",
    "All 25 sessions are approved.",
    "Please go ahead with the full course of 25 sessions.",
    "The request is approved in full.",
    "We approve all visits.",
    "The request is denied.",
    "Your request has been denied.",
    "Nothing is approved.",
    "None of the visits is approved.",
    "The remaining visit will be approved next month.",
]
#: What is true of a part.
IN_PART = [
    "24 of 25 sessions are approved.",
    "The request is approved in part.",
    "Two visits are not approved.",
    "The remaining visits are denied.",
    "The 18 visits can begin at once; please ask anew when they are used up.",
    "The request is denied for what goes beyond the limit.",
    "Please ask anew when all approved visits are used up.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_letter_in_part_speaks_of_no_whole(text: str) -> None:
    assert said_otherwise(LetterType.PARTIAL_APPROVAL, text)


@pytest.mark.parametrize("text", IN_PART)
def test_a_letter_in_part_may_tell_of_either(text: str) -> None:
    assert not said_otherwise(LetterType.PARTIAL_APPROVAL, text)


@pytest.mark.parametrize(
    "text",
    [
        "The visits can begin tomorrow.",
        "The care is approved all the same.",
        "The denial is upheld, but the sessions may begin.",
        "The request of Dr. Anders is approved.",
        "You may begin with the surgery tomorrow.",
        "Please go ahead with the surgery.",
        "Please schedule the surgery.",
        "It is covered.",
        "The plan pays for it anyway.",
        "Feel free to proceed.",
        "Disregard the denial.",
    ],
)
def test_no_letter_of_denial_lets_the_care_begin(text: str) -> None:
    assert said_otherwise(LetterType.DENIAL, text)


@pytest.mark.parametrize(
    "text",
    [
        "The service is not covered.",
        "You will have to pay for two of them.",
        "Two of the four are refused.",
        "We pay for two only.",
        "Only two of the four injections will be paid.",
        "Please do not schedule the injections.",
    ],
)
def test_no_letter_of_approval_takes_it_back(text: str) -> None:
    assert said_otherwise(LetterType.APPROVAL, text)


@pytest.mark.parametrize("text", DENIED)
def test_a_denial_in_words_is_read(text: str) -> None:
    assert said_otherwise(LetterType.APPROVAL, text)
    assert said_otherwise(LetterType.PEND, text)
    assert not said_otherwise(LetterType.DENIAL, text)


@pytest.mark.parametrize("text", APPROVED)
def test_an_approval_in_words_is_read(text: str) -> None:
    assert said_otherwise(LetterType.DENIAL, text)
    assert said_otherwise(LetterType.PEND, text)
    assert not said_otherwise(LetterType.APPROVAL, text)


@pytest.mark.parametrize("text", HONEST)
def test_honest_remarks_are_taken_for_no_other_decision(text: str) -> None:
    assert not any(said_otherwise(kind, text) for kind in LetterType)


def test_no_policy_says_a_decision() -> None:
    for policy in library().values():
        for text in (policy.texts.scope, policy.title):
            assert not any(said_otherwise(kind, text) for kind in LetterType)
