"""What a note leaves open is read back as open, in words that fit the kind of finding."""

from __future__ import annotations

import re
from datetime import date

import pytest

from healthgym.envs.managed_care.reading.documents import Document
from healthgym.envs.managed_care.reading.statements import NAME, facts_told
from healthgym.worlds.managed_care.charts.phrases import seeded
from healthgym.worlds.managed_care.charts.prose import Prose
from healthgym.worlds.managed_care.facts import Finding
from healthgym.worlds.managed_care.policies.criteria import FindingCriterion
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.policies.wording import unsettled
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

TODAY = date(2026, 3, 13)
ASKED = {
    criterion.key: criterion
    for policy in library().values()
    for criterion in criteria(policy.criteria)
    if isinstance(criterion, FindingCriterion)
}


@pytest.mark.parametrize("key", sorted(ASKED))
def test_what_is_left_open_is_read_back_whatever_the_wording(key: str) -> None:
    asked = ASKED[key]
    value = unsettled(key)
    fact = Finding(id="F-1", key=key, display=asked.display, value=value, found=TODAY)

    for seed in range(8):
        text = Prose(seeded(seed), {}).finding(fact, TODAY)
        page = Document(
            id="DOC-1",
            kind=DocumentKind.PROGRESS_NOTE.value,
            title="Progress note",
            day=TODAY,
            text=f"Findings\n- {text}.\n",
        )
        (read,) = facts_told([page], [asked])
        assert (read.value, read.found) == (value, TODAY)  # type: ignore[union-attr]

    assert value not in asked.scale


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("consult.genetic_counseling", "begun but not finished"),
        ("imaging.equivocal_staging", "not settled"),
        ("prognosis.over_one_year", "not settled"),
        ("exam.nyha", "indeterminate"),
    ],
)
def test_events_and_plans_are_not_indeterminate(key: str, said: str) -> None:
    assert unsettled(key) == said


@pytest.mark.parametrize("key", sorted(ASKED)[:12])
def test_a_name_is_found_in_any_case_and_a_mark_of_ours_is_no_name(key: str) -> None:
    asked = ASKED[key]
    fact = Finding(id="F-1", key=key, display=asked.display, value=unsettled(key), found=TODAY)
    text = f"Findings\n- {Prose(seeded(0), {}).finding(fact, TODAY)}.\n"

    def read(written: str) -> int:
        page = Document("DOC-1", DocumentKind.PROGRESS_NOTE.value, "Progress note", TODAY, written)
        return len(facts_told([page], [asked]))

    assert read(text) == 1
    assert read(re.sub(re.escape(asked.display), asked.display.upper(), text)) == 1
    assert read(re.sub(re.escape(asked.display), NAME, text, flags=re.IGNORECASE)) == 0
    assert read(text.replace(asked.display[1:], "something else")) == 0
