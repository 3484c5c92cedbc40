"""Pages that do not count leave the rest of a chart, and what is true, as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.misleading import Press, draft, misfile, misstate
from healthgym.worlds.managed_care.facts import Finding, Measurement
from healthgym.worlds.managed_care.population.drawing import Population
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind as Kind
from tests.worlds.managed_care.charts.conftest import TODAY

A1C = Measurement(
    id="F-700",
    noted_in=(Kind.PROGRESS_NOTE,),
    code="4548-4",
    display="Hemoglobin A1c",
    value=8.9,
    unit="%",
    taken=TODAY - timedelta(days=60),
)
NARROWING = Finding(
    id="F-701",
    noted_in=(Kind.IMAGING_REPORT,),
    key="knee.joint_space_narrowing",
    display="joint space narrowing",
    value="severe",
    found=TODAY - timedelta(days=40),
)


@pytest.fixture
def chart(population: Population) -> PatientChart:
    return population.charts[population.backgrounds[1].patient.id]


@pytest.fixture
def press(population: Population) -> Press:
    return Press.drawn(population.staff, np.random.default_rng(3), pages=2)


def added(before: PatientChart, after: PatientChart) -> list[DocumentReference]:
    """Return the pages that a chart got, every other page as it was."""
    old = {page.id: page for page in before.documents}
    assert all(page in after.documents for page in before.documents)
    assert all(after.shows[name] == before.shows[name] for name in old)
    assert after.facts == before.facts
    assert list(after.documents) == sorted(after.documents, key=lambda x: (x.created_at, x.id))
    return [page for page in after.documents if page.id not in old]


@pytest.mark.parametrize("claim", [A1C, NARROWING], ids=["measurement", "finding"])
def test_a_draft_bears_no_signature(
    chart: PatientChart, press: Press, claim: Measurement | Finding
) -> None:
    after, key = draft(chart, claim, press)
    (page,) = added(chart, after)
    assert (page.id, page.patient_id) == (key, chart.patient.id)
    assert (page.signed_at, page.signed_by_name, page.signed_by_npi) == (None, None, None)
    last = page.content.splitlines()[-1]
    assert "not signed" in last
    assert page.author_name is not None
    assert page.author_name in last
    assert key not in after.shows


def test_a_misfiled_page_names_whose_it_is(
    chart: PatientChart, press: Press, population: Population
) -> None:
    other = population.backgrounds[2].patient
    after, key = misfile(chart, other, NARROWING, press)
    (page,) = added(chart, after)
    assert page.patient_id == chart.patient.id
    assert page.content.startswith(f"{other.last_name}, {other.first_name} | DOB ")
    assert other.id in page.content
    assert chart.patient.id not in page.content
    assert key not in after.shows


@pytest.mark.parametrize(
    ("fact", "value"), [(A1C, 6.1), (NARROWING, "mild")], ids=["measurement", "finding"]
)
def test_an_error_is_put_right_by_who_made_it(
    chart: PatientChart, press: Press, fact: Measurement | Finding, value: float | str
) -> None:
    day = TODAY - timedelta(days=9)
    wrong = replace(fact, value=value)  # type: ignore[arg-type]
    after, key = misstate(chart, fact, wrong, day, press)
    first, second = added(chart, after)
    assert first.id == key
    assert key not in after.shows
    assert after.shows[second.id] == {fact.id}
    assert second.created_at.date() == day
    assert second.author_name == first.author_name
    assert second.title == f"Addendum to: {first.title}"
    error, right = (
        next(line for line in second.content.splitlines() if text in line)
        for text in (str(value), str(fact.value))
    )
    assert right.startswith("- ")
    assert not error.startswith("- ")
    assert str(value) in first.content
    assert str(fact.value) not in first.content
