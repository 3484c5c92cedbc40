"""Records and documents say what the facts say, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import date, timedelta

import numpy as np
import pytest

from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import (
    measures,
    panels,
    written_number,
    written_unit,
)
from healthgym.worlds.managed_care.charts.phrases import Chooser, parse, phrasebook, read_phrases
from healthgym.worlds.managed_care.charts.rendering import render_chart
from healthgym.worlds.managed_care.charts.stated import dates_of, numbers_of, states
from healthgym.worlds.managed_care.charts.stutter import repeated_share
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Measurement, MedicationCourse
from healthgym.worlds.managed_care.population.drawing import Population
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Analytes that come with a panel, of which no fact tells.
BESIDES = {row[0] for rows in panels().values() for row in rows}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")


def render(population: Population, facts: Iterable[AnyFact], seed: int = 3) -> PatientChart:
    home = population.backgrounds[0]
    rng = np.random.default_rng(seed)
    return render_chart(
        home.patient, home.coverages, tuple(facts), (), population.staff, rng, population.today
    )


def known_numbers(chart: PatientChart, page: DocumentReference) -> set[str]:
    """Return every number that a page may state: those of facts, of the person, of forms."""
    texts = [page.author_npi or "", chart.patient.id]
    for fact in chart.facts:
        texts += [str(part) for part in asdict(fact).values() if isinstance(part, str)]
        if isinstance(fact, Measurement):
            texts += [*numbers_of(fact), written_unit(fact.unit)]
            known = measures().get(fact.code)
            if known and page.kind is DocumentKind.LAB_RESULT:
                texts += [written_number(end) for end in (known.low, known.high) if end is not None]
        texts.append(str(getattr(fact, "sessions", "")))
    texts += [order.description + " " + order.procedure_code for order in chart.orders]
    texts += [name for code in measures().values() for name in code.names]
    days = {page.created_at.date(), *(o.requested_date.date() for o in chart.orders)}
    texts += [str(age_on(chart.patient.dob, day)) for day in days]
    return {number for text in texts for number in _NUMBER.findall(text)}


def days_of(chart: PatientChart) -> set[date]:
    days = {chart.patient.dob, *(page.created_at.date() for page in chart.documents)}
    for fact in chart.facts:
        days |= {part for part in asdict(fact).values() if isinstance(part, date)}
    return days


def test_every_number_of_a_document_is_a_number_of_the_facts(population: Population) -> None:
    read = 0
    for chart in population.charts.values():
        written = sorted((text for day in days_of(chart) for text in dates_of(day)), key=len)
        for page in chart.documents:
            text = re.sub(r"\d\d:\d\d UTC", "", page.content)
            for each in written:
                text = text.replace(each, "")
            if page.kind is DocumentKind.QUESTIONNAIRE_FORM:
                text = re.sub(r"^[a-z -]+: \d$", "", text, flags=re.MULTILINE)
            if page.kind is DocumentKind.LAB_RESULT:
                text = "\n".join(x for x in text.splitlines() if x.split(" | ")[0] not in BESIDES)
            strange = set(_NUMBER.findall(text)) - known_numbers(chart, page)
            assert not strange, (page.id, strange, text)
            read += 1
    assert read > 100


def test_a_document_states_each_fact_that_it_is_said_to_show(population: Population) -> None:
    for chart in population.charts.values():
        facts = {fact.id: fact for fact in chart.facts}
        for page in chart.documents:
            for fact_id in chart.shows[page.id]:
                assert states(page.content, facts[fact_id]), (page.id, facts[fact_id], page.content)


@pytest.mark.parametrize("seed", range(12))
def test_each_fact_is_told_in_each_kind_it_is_noted_in(
    population: Population, case: tuple[AnyFact, ...], seed: int
) -> None:
    chart = render(population, case, seed)
    pages = {page.id: page for page in chart.documents}
    for fact in case:
        told = {pages[key].kind for key, shown in chart.shows.items() if fact.id in shown}
        assert told == set(fact.noted_in), fact
    for key, shown in chart.shows.items():
        for fact in case:
            if fact.id in shown:
                assert states(pages[key].content, fact), pages[key].content


def test_what_is_noted_nowhere_stands_in_the_structured_record_alone(
    population: Population, case: tuple[AnyFact, ...]
) -> None:
    silent = tuple(replace(fact, noted_in=()) for fact in case)
    chart = render(population, silent)
    assert chart.documents == ()
    assert [one.code for one in chart.conditions] == ["M17.11"]
    assert [(o.code, o.value_quantity, o.value_text) for o in chart.observations] == [
        ("imaging.knee_joint_space", None, "severe"),
        ("history.smoking", None, "absent"),
        ("4548-4", 8.9, None),
    ]
    assert [(p.code, p.notes) for p in chart.procedures] == [
        ("97110", "13 sessions, to 2025-07-10; course completed"),
        ("20610", "Relief for some days"),
    ]
    medicine = chart.medications[0]
    assert (medicine.status, medicine.discontinued_reason) == (
        "stopped",
        "Ineffective; ended 2025-06-10",
    )
    assert chart.allergies[0].criticality == "high"


def test_a_course_is_not_shown_before_it_ended(
    population: Population, case: tuple[AnyFact, ...]
) -> None:
    chart = render(population, case)
    course = next(fact for fact in case if isinstance(fact, MedicationCourse))
    early = [page for page in chart.documents if page.created_at.date() < date(2025, 6, 10)]
    assert any(course.medication in page.content.casefold() for page in early)
    assert not any(course.id in chart.shows[page.id] for page in early)


def test_documents_are_signed_and_belong_to_encounters(population: Population) -> None:
    for chart in population.charts.values():
        encounters = {one.id: one for one in chart.encounters}
        for page in chart.documents:
            assert page.signed_at is not None
            assert page.signed_at >= page.created_at
            assert page.author_name
            assert page.author_npi
            assert page.patient_id == chart.patient.id
            if page.encounter_id is not None:
                day = encounters[page.encounter_id].occurred_at.date()
                assert abs(page.created_at.date() - day) <= timedelta(days=10)


def test_another_generator_words_the_same_facts_otherwise(
    population: Population, case: tuple[AnyFact, ...]
) -> None:
    one, same, other = (render(population, case, seed) for seed in (1, 1, 2))
    assert one == same
    assert one.observations == other.observations
    assert [p.content for p in one.documents] != [p.content for p in other.documents]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"started": date(1890, 1, 1)}, "F-3: 1890-01-01 is before birth"),
        ({"started": date(2026, 4, 1), "ended": None, "stop_reason": None}, "is after today"),
        ({"ended": date(2025, 1, 1)}, "before it started"),
        ({"ended": None}, "a reason for stopping, and no end"),
        ({"id": "F-1"}, "two facts have this id"),
    ],
    ids=["before-birth", "in-the-future", "ended-first", "reason-without-end", "same-id"],
)
def test_facts_that_contradict_themselves_are_refused(
    population: Population,
    case: tuple[AnyFact, ...],
    change: dict[str, object],
    message: str,
) -> None:
    facts = tuple(replace(x, **change) if x.id == "F-3" else x for x in case)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=re.escape(message)):
        render(population, facts)


def test_notes_repeat_less_than_a_quarter_of_their_sentences(population: Population) -> None:
    texts = [page.content for chart in population.charts.values() for page in chart.documents]
    assert repeated_share(texts) < 0.23
    assert repeated_share([texts[0], texts[0]]) >= 0.5


def test_no_phrase_has_a_number_of_its_own() -> None:
    rng = Chooser(np.random.default_rng(0))
    book = phrasebook()
    for key, options in book.phrases.items():
        for phrase in options:
            assert not re.search(r"\d", repr(phrase)), (key, phrase)
    assert rng.below(1) == 0


def test_a_number_drawn_first_chooses_what_would_have_been_chosen() -> None:
    first, then = (Chooser(np.random.default_rng(3)) for _ in range(2))
    bounds = [1, 2, 3, 7, 2000] * 300
    assert [first.number() % bound for bound in bounds] == [then.below(bound) for bound in bounds]


def test_no_system_is_called_normal_that_a_finding_may_concern(population: Population) -> None:
    weak = Diagnosis(
        id="F-1",
        noted_in=(DocumentKind.PROGRESS_NOTE,),
        code="G82.20",
        display="Paraplegia, unspecified",
        onset=date(2025, 1, 8),
    )
    for seed in range(20):
        for page in render(population, (weak,), seed).documents:
            assert "moves all limbs" not in page.content


@pytest.mark.parametrize("text", ["[a|b", "{open", "a]"], ids=["bracket", "brace", "closing"])
def test_broken_phrases_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(ValueError, match="unmatched"):
        parse(text)
    with pytest.raises(ValueError, match=r"x\.md, line 2"):
        read_phrases("x.md", f"## key\n- {text}")


def test_no_value_is_called_the_first_and_no_patient_is_put_on_furniture() -> None:
    for key, options in phrasebook().phrases.items():
        for phrase in options:
            text = repr(phrase)
            for word in ("first value", "nothing earlier", "baseline", "couch", "the chair"):
                assert word not in text, key


def test_a_test_is_printed_with_its_decimals() -> None:
    assert [written_number(7.0, 1), written_number(4.04, 1), written_number(12.0)] == [
        "7.0",
        "4.04",
        "12",
    ]


def test_a_template_belongs_to_its_author(population: Population) -> None:
    styles: dict[str, set[str]] = {}
    for chart in population.charts.values():
        for page in chart.documents:
            day = page.content.split("\n")[1].split(" | ")[0]
            form = re.sub(r"\d", "0", re.sub(r"[A-Z][a-z]{2}", "Mon", day))
            styles.setdefault(page.author_npi or "", set()).add(form.replace("Mon 0,", "Mon 00,"))
    assert all(len(forms) == 1 for forms in styles.values()), styles
    assert len({form for forms in styles.values() for form in forms}) > 2


def test_notes_of_a_day_name_the_same_medicines(
    population: Population, case: tuple[AnyFact, ...]
) -> None:
    going = MedicationCourse(
        id="F-9",
        noted_in=(DocumentKind.CHART_NOTE,),
        medication="tamsulosin",
        drug_class="alpha_blocker",
        dose="0.4 mg",
        frequency="once daily",
        started=date(2025, 2, 3),
    )
    chart = render(population, (*case, going))
    later = [
        page
        for page in chart.documents
        if page.kind in (DocumentKind.CHART_NOTE, DocumentKind.PROGRESS_NOTE)
        and page.created_at.date() > going.started
    ]
    assert {page.kind for page in later} >= {DocumentKind.PROGRESS_NOTE}
    assert all("tamsulosin" in page.content.casefold() for page in later)
    assert not any(
        going.id in chart.shows[page.id]
        for page in later
        if page.kind is DocumentKind.PROGRESS_NOTE
    )
