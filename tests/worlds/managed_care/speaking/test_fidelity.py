"""Other words for a draft: what a model may say in its place, and every way to say more or less."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.speaking.fidelity import claims, fault

PILLS = "I take the metoprolol two days a week. I don't miss the lisinopril."
ASKED = "Yes, you may ask."
WARY = "Hm. I'm not sure about that. What does it cost?"
LAB = "Ejection fraction came back at 35 % on 2024-03-02. It ended, because it was not tolerated."


@pytest.mark.parametrize(
    ("words", "draft"),
    [
        ("Oh, yes, please, you may ask.", ASKED),
        ("Well, yeah, you may ask me, you know.", ASKED),
        ("You know, I take the metoprolol 2 days a week, and I do not miss the lisinopril.", PILLS),
        ("Um, I'm not sure about that, honestly. And what does it cost me?", WARY),
        ("So, the ejection fraction came back at 35 % on 2024-03-02. It ended because it was not "
         "tolerated.", LAB),
        (PILLS, PILLS),
    ],
)  # fmt: skip
def test_fillers_and_small_words_may_be_others(words: str, draft: str) -> None:
    assert fault(words, draft) == ""


@pytest.mark.parametrize(
    ("words", "draft", "reason"),
    [
        # More: an agreement, a refusal, a fact, a name, a medicine, a condition, a number.
        ("Yes, I agree.", ASKED, "more"),
        ("Yes, you may ask. Yes, I will take part.", ASKED, "more"),
        ("All right, yes. Hm. I'm not sure about that. What does it cost?", WARY, "more"),
        ("No, you may not ask.", ASKED, "more"),
        ("Yes, you may ask about my drinking.", ASKED, "more"),
        ("Yes, you may ask. My daughter Ellen is here.", ASKED, "more"),
        ("Yes, you may ask. I take warfarin.", ASKED, "more"),
        ("Yes, you may ask. It is the diabetes.", ASKED, "more"),
        ("Yes, you may ask 3.", ASKED, "more"),
        (PILLS.replace("two", "three"), PILLS, "more"),
        (LAB.replace("35", "53"), LAB, "more"),
        (LAB.replace("03-02", "02-03"), LAB, "order"),
        # Less: a fact, a no.
        ("I take the metoprolol two days a week.", PILLS, "leaves out"),
        ("I take the metoprolol two days a week. I miss the lisinopril.", PILLS, "leaves out: not"),
        (LAB.replace("not ", ""), LAB, "leaves out: not"),
        ("Mm-hm.", ASKED, "leaves out"),
        # Turned round.
        ("I take the lisinopril two days a week. I don't miss the metoprolol.", PILLS, "order"),
        # Another kind of sentence.
        ("Yes, you may ask?", ASKED, "question"),
        ("Hm. I'm not sure about that, what it does cost.", WARY, "question"),
        # What no reader of English words would see.
        ("Yes, you may ask. \u0421\u043e\u0433\u043b\u0430\u0441\u0435\u043d.", ASKED, "plain"),
        ("Yes, you may ask. \u2705", ASKED, "plain"),
        ("Yes, you may \u0430sk.", ASKED, "plain"),
        ("*sighs* Yes, you may ask.", ASKED, "plain"),
        ("(agrees) Yes, you may ask.", ASKED, "plain"),
        ('"Yes, you may ask."', ASKED, "plain"),
        ("Yes,\nyou may ask.", ASKED, "plain"),
        ("Patient: Yes, you may ask.", ASKED, "plain"),
        ('{"say": "Yes, you may ask."}', ASKED, "plain"),
        # No speech, and no end of it.
        ("", ASKED, "nothing"),
        (" \n", ASKED, "nothing"),
        ("Well, " * 60 + ASKED, ASKED, "too long"),
    ],
)  # fmt: skip
def test_more_less_and_otherwise_is_not_said(words: str, draft: str, reason: str) -> None:
    assert reason in fault(words, draft)
    assert fault(words, draft)


def test_words_for_one_thing_claim_the_same() -> None:
    assert claims("The pills, maybe.") == claims("the tablets, perhaps")
    assert claims("Well, thank you, you know.") == ()
    assert claims("I can't") == claims("I cannot") != claims("I can")
