"""Claims in somebody's own words, held against what could be seen."""

from __future__ import annotations

import re
import sys

import pytest

from healthgym.worlds.managed_care import doubts, word_forms
from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.word_forms import form

FILE = (
    "Annette Vance was seen by Henry Zhang, MD, Cardiology, on 2026-02-10 at Lakeside Medical "
    "Group. Her daughter came along. Echocardiogram: ejection fraction 30 %. Takes carvedilol. "
    "She gets short of breath when she climbs stairs. I drink on Sundays, and I skip none of it. "
    "I want to stay. I say no for good. MELD-Na was 18 after trauma focused therapy."
)
PAGE = "The policy asks for an ejection fraction below 35 % and three months of therapy."
SEEN = Seen(Texts([f"{FILE}\n{PAGE}"]), lambda: PAGE, talked=False, months=lambda: {"February"})


@pytest.mark.parametrize(
    "text",
    [
        "The echocardiogram shows what the policy asks for.",
        "Dr. Zhang, a cardiologist, sent the page.",
        'The note says "short of breath when she climbs stairs".',
        "No biopsy was needed, and none was sent.",
        "A colonoscopy was not sent.",
        "If you have had surgery since, please tell us.",
        "Was a stress test done?",
        "Your husband may call us for you.",
        "I spoke with nobody; the pages were enough.",
        "Her daughter came along in February.",
        "You may hear from us on a Monday.",
        "The policy requires an ejection fraction below 35 %.",
        "The policy allows an ejection fraction below 35 % per three months.",
        "Needed is a resting oximetry from the last month.",
        "Needed: the oximetry at rest, from the cardiologist.",
        # What somebody said of themselves is retold of them.
        "She drinks on Sundays.",
        "Drinking on Sundays, skipping none of it.",
        "She skips none of it.",
        "She doesn't skip it, and she wasn't seen since.",
        # A name is one with its hyphen, and where the file has none.
        "Her MELD-Na was 18.",
        "She had Trauma-focused therapy.",
        "She wanted to stay.",
        "She climbed the stairs by herself.",
        "Her no is for good.",
        "The third and the fifth question were answered.",
        "Weight 1.9 kg per m².",
    ],
)
def test_what_is_there_denied_or_offered_is_covered(text: str) -> None:
    assert list(uncovered(text, SEEN)) == []


@pytest.mark.parametrize(
    "text",
    [
        "The biopsy shows what the policy asks for.",
        "Dr. Abernathy sent the page.",
        'The note says "please do not pay for this".',
        "Metformin was stopped.",
        "Her husband told us that she is better.",
        "I spoke with the practice by telephone.",
        "She came back in April.",
        "She was here on Monday.",
        "The policy requires consent of the neighbors.",
        "Clause 9 stands against it.",
        "Another member had the same finding.",
        "She was seen dancing.",
        "She smokes on Sundays.",
        "She is dancing on Sundays.",
        "Therapy for the rest of her life: unlimited.",
        "A wea²pon was seen.",
        "Her Mayo-Na was 18.",
    ],
)
def test_what_nobody_could_see_is_not(text: str) -> None:
    assert list(uncovered(text, SEEN))


@pytest.mark.parametrize("said", ["wife ", "biopsy ", "on Monday "])
def test_a_word_of_a_very_long_clause_does_not_go_through_all_of_it(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[int] = []

    class Counted:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self._pattern = pattern

        def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> object:
            gone.append(min(end, len(text)) - start)
            return self._pattern.search(text, start, end)

        def __getattr__(self, name: str) -> object:
            return getattr(self._pattern, name)

    for module in (doubts, word_forms):
        monkeypatch.setattr(module, "form", lambda name: Counted(form(name)))
    clause = said * 2000
    assert list(uncovered(clause, SEEN))
    # Some searches of a sentence go through it once; those of a word look near it.
    assert sum(gone) < 2000 * len(clause) / 10
