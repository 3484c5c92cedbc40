"""Charts and documents read back, compared with what is true of the patient."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import cache

import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.task import PRESETS
from healthgym.envs.managed_care.reading.chart_page import read_chart
from healthgym.envs.managed_care.reading.documents import Document, counting, read_day
from healthgym.envs.managed_care.reading.layout import body, is_cut
from healthgym.envs.managed_care.reading.statements import classed, facts_told, shown_by
from healthgym.worlds.managed_care.charts.stated import dates_of
from healthgym.worlds.managed_care.facts import (
    Finding,
    Intolerance,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.tree import criteria

INDICES = range(12)
TROUBLE = replace(
    PRESETS["medium"], corrected=1.0, drafted=1.0, misfiled=1.0, converted=1.0, amended=1.0
)


@cache
def opened(index):
    """Return an episode in which everything is wrong with the paper, its chart and its policy."""
    episode = PriorAuthorizationEnv(difficulty=TROUBLE).open_episode(Split.TRAIN, index)
    instance = episode._instance
    reference = instance.reference
    return episode, instance.start.charts[reference.patient_id], reference


@cache
def shown(index):
    """Return the chart as the tool shows it, read to its end."""
    episode, chart, _ = opened(index)
    move = call("chart.get_patient_chart_by_patient", patient_id=chart.patient.id)
    observation = episode.step(move).observation
    text = body(observation)
    while is_cut(observation):
        observation = episode.step(call("read_more")).observation
        text += body(observation)
    return read_chart(text)


@cache
def documents(index):
    _, chart, _ = opened(index)
    return tuple(
        Document(each.id, str(each.kind), each.title, each.created_at.date(), each.content)
        for each in chart.documents
        if each.signed_at is not None
    )


def plain(fact):
    """Return what tables tell of a fact."""
    fact = replace(fact, id="", noted_in=())
    if isinstance(fact, MedicationCourse):
        return replace(fact, drug_class="")
    if isinstance(fact, ProcedureDone):
        return replace(fact, result="")
    return replace(fact, reaction="") if isinstance(fact, Intolerance) else fact


@pytest.mark.parametrize("index", INDICES)
def test_the_tables_of_a_chart_say_what_is_true(index):
    _, chart, _ = opened(index)
    told = {plain(fact) for fact in shown(index).facts}
    # Therapies without a note are rows of another table, under a billing code.
    true = {plain(x) for x in chart.facts if not isinstance(x, Finding | TherapyCourse)}
    assert true <= told
    assert [each.id for each in shown(index).documents] == [each.id for each in chart.documents]
    assert shown(index).patient["address_city"] == chart.patient.address_city
    latest = chart.coverages[0]
    assert shown(index).coverages[0]["plan_name"] == latest.plan_name
    assert (shown(index).coverage_on(date(1900, 1, 1))) is None


@pytest.mark.parametrize("index", INDICES)
def test_pages_that_do_not_count_are_left_out(index):
    _, chart, _ = opened(index)
    kept = {each.id for each in counting(documents(index), chart.patient.id)}
    stating = {each.id for each in documents(index) if each.id in chart.shows}
    assert kept <= stating
    assert {name for name in stating if chart.shows[name]} <= kept


def test_most_charts_hold_pages_that_do_not_count():
    void = 0
    for index in INDICES:
        _, chart, _ = opened(index)
        void += len(counting(documents(index), chart.patient.id)) < len(chart.documents)
    assert void > len(INDICES) // 2


def told_only(fact):
    """Return what is read of a finding or a therapy: why a therapy ended decides nothing."""
    fact = replace(fact, id="", noted_in=())
    return replace(fact, stop_reason=None) if isinstance(fact, TherapyCourse) else fact


@pytest.mark.parametrize("index", INDICES)
def test_what_documents_tell_is_what_is_true(index):
    _, chart, reference = opened(index)
    asked = criteria(reference.policy.criteria)
    pages = counting(documents(index), chart.patient.id)
    told = {told_only(fact) for fact in facts_told(pages, asked)}
    keys = {getattr(each, "key", "") or getattr(each, "therapy", "") for each in asked} - {""}
    stated = {name for page in pages for name in chart.shows[page.id]}
    true = {
        told_only(fact)
        for fact in chart.facts
        if isinstance(fact, Finding | TherapyCourse)
        and (fact.key if isinstance(fact, Finding) else fact.kind) in keys
        and fact.id in stated
    }
    assert told == true


@pytest.mark.parametrize("index", INDICES)
def test_a_document_states_what_it_is_said_to_state(index):
    _, chart, reference = opened(index)
    asked = criteria(reference.policy.criteria)
    planted = [fact for fact in classed(chart.facts, asked) if fact.id.startswith("F-")]
    for page in counting(documents(index), chart.patient.id):
        mine = {fact.id for fact in planted}
        assert shown_by(page, planted) == chart.shows[page.id] & mine, page.text


@pytest.mark.parametrize("form", dates_of(date(2026, 3, 9)))
def test_a_day_is_read_however_it_is_written(form):
    assert read_day(form) == date(2026, 3, 9)


def test_what_is_no_day_is_an_error():
    with pytest.raises(ValueError, match="is no date"):
        read_day("9 of March")
