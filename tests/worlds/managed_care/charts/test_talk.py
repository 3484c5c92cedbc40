"""What notes tell besides facts is English, and a patient's life is the same in every note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from healthgym.worlds.managed_care.charts.ages import aged
from healthgym.worlds.managed_care.charts.persona import pastimes, persona_of
from healthgym.worlds.managed_care.charts.phrases import Choice, Phrase, Slot, phrasebook
from healthgym.worlds.managed_care.charts.rendering import render_chart
from healthgym.worlds.managed_care.facts import AnyFact, Finding, ProcedureDone
from healthgym.worlds.managed_care.population.drawing import Population
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: A verb that agrees with what goes before it.
_VERB = r"(?:is|was|has|does|goes|comes|gives|leaves|makes|helps|calms|fills|suffers|brings|takes)"


def texts(phrase: Phrase) -> Iterator[str]:
    """Yield every wording of a phrase."""
    if not phrase:
        yield ""
        return
    first = phrase[0]
    if isinstance(first, Choice):
        heads = [head for option in first.options for head in texts(option)]
    else:
        heads = [f"{{{first.name}}}" if isinstance(first, Slot) else first]
    for tail in texts(phrase[1:]):
        yield from (head + tail for head in heads)


def every(key: str) -> list[str]:
    """Return every wording of a key."""
    return [text for phrase in phrasebook().phrases[key] for text in texts(phrase)]


def test_no_verb_follows_a_pastime_which_may_be_one_or_many() -> None:
    wrong = {
        text
        for phrases in phrasebook().phrases.values()
        for phrase in phrases
        if "'hobby'" in repr(phrase)
        for text in texts(phrase)
        if re.search(rf"\{{hobby\}} (?:alone |often )?{_VERB}\b", text)
    }

    assert not wrong


@pytest.mark.parametrize("wrong", ["Bags is", "Bags brings", "The first steps is", "Jars is"])
def test_what_hurts_agrees_with_its_verb(wrong: str) -> None:
    keys = [key for key in phrasebook().phrases if key.startswith("complaint.")]

    told = [text for key in keys for phrase in phrasebook().phrases[key] for text in texts(phrase)]

    assert told
    assert not [text for text in told if wrong in text]


def test_no_phrase_says_a_word_twice() -> None:
    told = [text for key in ("reason", "opener") for text in every(key)]

    assert told
    assert not [text for text in told if re.search(r"\b(\w+) \1\b", text)]


@pytest.mark.parametrize(
    ("years", "said"), [(8, "an 8"), (18, "an 18"), (79, "a 79"), (82, "an 82"), (90, "a 90")]
)
def test_an_age_has_its_article(years: int, said: str) -> None:
    assert aged(years) == said


@pytest.mark.parametrize("born", [1938, 1958, 1959, 1960, 1990])
def test_a_patient_has_one_occupation(population: Population, born: int) -> None:
    patient = replace(population.backgrounds[0].patient, dob=date(born, 7, 1))

    lives = {persona_of(patient, year) for year in range(2020, 2030)}

    assert len(lives) == 1


@pytest.mark.parametrize(("born", "key"), [(2025, "infant_play"), (2018, "play"), (1980, "hobby")])
def test_a_pastime_fits_the_age(population: Population, born: int, key: str) -> None:
    patients = [replace(one.patient, dob=date(born, 7, 1)) for one in population.backgrounds]

    told = {persona_of(patient, 2026).hobby for patient in patients}

    assert len(told) > 3
    assert told <= set(pastimes()[key])


SEEN = Finding(
    id="F-1",
    noted_in=(DocumentKind.IMAGING_REPORT,),
    key="imaging.knee_joint_space",
    display="joint space narrowing of the knee",
    value="severe",
    found=date(2025, 8, 4),
)
EARLIER = replace(SEEN, id="F-2", value="mild", found=date(2024, 8, 5))
KNEE = ProcedureDone(
    id="F-3", code="73562", display="Radiographs of the knee", performed=date(2024, 8, 5)
)
ECHO = ProcedureDone(
    id="F-4", code="93306", display="Transthoracic echocardiogram", performed=date(2024, 8, 5)
)
LATER = replace(KNEE, performed=date(2025, 9, 1))


@pytest.mark.parametrize(
    ("others", "said"),
    [((), True), ((EARLIER,), False), ((KNEE,), False), ((ECHO,), True), ((LATER,), True)],
)
def test_no_report_denies_an_earlier_study_on_file(
    population: Population, others: tuple[AnyFact, ...], said: bool
) -> None:
    home = population.backgrounds[0]
    chart = render_chart(
        home.patient,
        home.coverages,
        (SEEN, *others),
        (),
        population.staff,
        np.random.default_rng(3),
        population.today,
    )

    (report,) = [
        page
        for page in chart.documents
        if page.kind is DocumentKind.IMAGING_REPORT and page.created_at.date() >= SEEN.found
    ]

    assert ("Comparison:" in report.content) is said
