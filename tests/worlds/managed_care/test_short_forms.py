"""Abbreviations of what stands on file in full, and sentences with a title in them."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.own_words import unsound
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.word_forms import untitled

_FILE = (
    "C-reactive protein 12 mg/L. "
    "Obstructive sleep apnea with an apnea-hypopnea index of 22. Immunoglobulin G 474 mg/dL. "
    "Body mass index 31. Major depressive disorder. Physical therapy since March. "
    "Type 2 diabetes mellitus. Atherosclerotic heart disease of native coronary artery. "
    "Chronic obstructive pulmonary disease with acute exacerbation. "
    "Chronic kidney disease, stage 3b."
)
_SEEN = Seen(Texts([_FILE]), lambda: "The policy asks for a sleep study.", talked=False)


@pytest.mark.parametrize(
    "text",
    [
        "The record of OSA was read.",
        "The AHI of 22 meets the criterion.",
        "For MDD the therapy goes on.",
        "The value of IgG was read.",
        "A BMI of 31 was seen, and PT is on record.",
        "The problem list has ASCVD.",
        "The problem list has NIDDM, ASHD and AECOPD.",
        "The problem list has T2D.",
        "The problem list has CKD IIIb.",
        "The request has a HCPCS code.",
        "The value of C-reactive protein was read.",
    ],
)
def test_an_abbreviation_of_what_is_on_file_is_covered(text: str) -> None:
    assert not [*uncovered(text, _SEEN)]


@pytest.mark.parametrize("text", ["The record of RSV was read.", "The value of TSH was read."])
def test_one_of_what_is_not_is_no_more_than_the_words(text: str) -> None:
    assert [*uncovered(text, _SEEN)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Dr. Doyle said so. It is met.", "Dr Doyle said so. It is met."),
        ("Mr. and Mrs. Vance vs. No. 5", "Mr and Mrs Vance vs No 5"),
        ("Is it met? No. It is open.", "Is it met? No. It is open."),
    ],
)
def test_a_title_ends_no_sentence(text: str, plain: str) -> None:
    assert untitled(text) == plain


def test_who_is_called_by_a_field_is_known_by_it() -> None:
    seen = Seen(Texts(["Orthopedic Surgery; Pediatrics"]), str, talked=False)
    assert seen.knows("surgeon")
    assert seen.knows("pediatrician")
    assert not seen.knows("psychiatrist")


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("It lies within the past 18 months.", False),
        ("C1 lies proven in the note.", False),
        ("These are lies.", True),
        ("The practice lies.", True),
    ],
)
def test_what_lies_somewhere_is_no_lie(text: str, bad: bool) -> None:
    assert bool(unsound(text)) is bad
