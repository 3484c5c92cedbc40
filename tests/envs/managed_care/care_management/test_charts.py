"""Charts of people who are referred: they say one thing, and look like those of a practice."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import cache
from statistics import mean

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management import queue
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.panel import Member, members
from healthgym.envs.managed_care.care_management.task import PRESETS, CareInstance
from healthgym.worlds.managed_care.apps.care_management.evidence import rules as section_rules
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.stated import states
from healthgym.worlds.managed_care.charts.stutter import repeated_share
from healthgym.worlds.managed_care.facts import Measurement, MedicationCourse
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

_LEFT = re.compile(r"discharged (\d{4}-\d\d-\d\d)")


@cache
def drawn(count: int = 150) -> tuple[CareInstance, ...]:
    made = CareGenerator(PRESETS["medium"], "medium", "care-management", Rules.STRICT)
    return tuple(made.generate(Split.TRAIN, index) for index in range(count))


def meant(instance: CareInstance) -> tuple[CMReferral, PatientChart]:
    wanted = instance.reference
    referral = next(
        each
        for each in instance.start.records
        if isinstance(each, CMReferral) and each.referral_id == wanted.referral_id
    )
    return referral, instance.start.charts[wanted.patient_id]


def test_a_document_states_each_fact_that_it_is_said_to_show() -> None:
    read = 0
    for x in drawn(25):
        _, chart = meant(x)
        facts = {fact.id: fact for fact in chart.facts}
        for page in chart.documents:
            for name in chart.shows[page.id]:
                assert states(page.content, facts[name]), (page.id, facts[name])
                read += 1
    assert read > 2000


def test_nothing_is_dated_after_the_task_and_stays_have_their_notes() -> None:
    stays = 0
    for x in drawn():
        _, chart = meant(x)
        today = x.start.now.date()
        notes = {page.encounter_id: page for page in chart.documents}
        days = [each.occurred_at for each in chart.encounters]
        assert days == sorted(days)
        assert days[-1].date() <= today
        assert all(page.created_at.date() <= today for page in chart.documents)
        for each in chart.encounters:
            if each.encounter_type != "inpatient":
                continue
            stays += 1
            page, left = notes[each.id], _LEFT.search(each.summary)
            assert left is not None, each.summary
            assert page.kind is DocumentKind.DISCHARGE_SUMMARY
            assert str(page.created_at.date()) == left[1]
            assert timedelta(days=1) < page.created_at - each.occurred_at < timedelta(days=10)
    assert stays > 150


def test_nobody_is_in_hospital_and_at_the_practice_on_one_day() -> None:
    for x in drawn():
        _, chart = meant(x)
        ends = {page.encounter_id: page.created_at.date() for page in chart.documents}
        inside = [
            (each.occurred_at.date(), ends[each.id])
            for each in chart.encounters
            if each.encounter_type == "inpatient"
        ]
        for each in chart.encounters:
            if each.encounter_type != "inpatient":
                day = each.occurred_at.date()
                assert not any(first <= day <= last for first, last in inside)


def test_visits_to_the_practice_are_on_days_on_which_it_is_open() -> None:
    for x in drawn():
        _, chart = meant(x)
        office = office_calendar(chart.patient.address_state or "")
        for each in chart.encounters:
            if each.encounter_type in ("office", "telehealth", "consult"):
                assert office.is_business_day(each.occurred_at.date()), each


def test_the_referral_shows_what_the_chart_has() -> None:
    missed = 0
    for x in drawn():
        referral, chart = meant(x)
        types = Counter(each.encounter_type for each in chart.encounters)
        flags = Counter(flag.split()[0] for flag in referral.utilization_flags)
        assert flags["inpatient"] == types["inpatient"]
        assert flags["planned"] == types["day_surgery"]
        assert 0 <= types["emergency"] - flags["emergency"] <= 1
        missed += types["emergency"] - flags["emergency"]
        shown = re.findall(r": (\d+(?:\.\d+)?)[^();]* \((\d{4}-\d\d-\d\d)\)", referral.notes or "")
        known = {
            (float(each.value_quantity), str(each.observed_at.date()))
            for each in chart.observations
            if each.value_quantity is not None
        }
        assert {(float(value), day) for value, day in shown} <= known
        if referral.source_encounter_id is not None:
            visit = next(e for e in chart.encounters if e.id == referral.source_encounter_id)
            assert visit.encounter_type in ("inpatient", "emergency")
        assert set(referral.diagnosis_codes[1:]) <= {each.code for each in chart.conditions}
    assert 10 < missed < 60


def test_nobody_takes_two_medicines_of_a_name_and_everybody_is_covered() -> None:
    for x in drawn():
        _, chart = meant(x)
        active = [each.medication_name for each in chart.medications if each.status == "active"]
        assert len(active) == len(set(active))
        assert chart.coverage_on(x.start.now.date()) is not None


def test_nobody_is_given_what_they_do_not_tolerate() -> None:
    for x in drawn():
        _, chart = meant(x)
        active = {each.medication_name for each in chart.medications if each.status == "active"}
        assert not active & {each.substance for each in chart.allergies}
        condition = care_conditions()[x.task.kind]
        classes = {
            fact.drug_class
            for fact in chart.facts
            if isinstance(fact, MedicationCourse) and fact.ended is None
        }
        assert not classes & condition.never


def test_nothing_is_measured_twice_at_once() -> None:
    for x in drawn():
        _, chart = meant(x)
        seen = Counter((each.code, each.observed_at.date()) for each in chart.observations)
        assert max(seen.values()) == 1, seen.most_common(3)


def test_charts_are_as_varied_as_those_of_a_practice() -> None:
    charts = [meant(x)[1] for x in drawn()]
    medicines = [sum(m.status == "active" for m in chart.medications) for chart in charts]
    assert 4.5 < mean(medicines) < 9
    assert min(medicines) <= 3
    assert max(medicines) >= 11
    conditions = [len(chart.conditions) for chart in charts]
    assert 3 < mean(conditions) < 5.5
    visits = [len(chart.encounters) for chart in charts]
    assert 12 < mean(visits) < 30
    in_hospital = [sum(e.encounter_type == "inpatient" for e in c.encounters) for c in charts]
    assert Counter(in_hospital)[0] > 15
    assert max(in_hospital) >= 4
    women = sum(chart.patient.sex == "F" for chart in charts)
    assert 45 < women < 105
    assert len({chart.patient.id for chart in charts}) > 100


def test_notes_repeat_less_than_a_quarter_of_their_sentences() -> None:
    texts = [page.content for x in drawn(25) for page in meant(x)[1].documents[-6:]]
    assert repeated_share(texts) < 0.25


def test_scores_are_documented_new_and_old() -> None:
    ages = [
        (x.start.now.date() - fact.taken).days
        for x in drawn()
        for fact in meant(x)[1].facts
        if isinstance(fact, Measurement) and fact.code == "44261-6"
    ]
    assert sum(age <= 30 for age in ages) > 15
    assert sum(age > 120 for age in ages) > 40


def test_codes_of_barriers_are_those_that_sections_read() -> None:
    known = section_rules().social
    found: Counter[str] = Counter()
    for x in drawn():
        for each in meant(x)[1].conditions:
            topics = [t for t, starts in known.items() if each.code.startswith(tuple(starts))]
            assert bool(topics) is each.code.startswith(("Z5", "Z7"))
            found.update(topics)
    assert sum(found.values()) > 20
    assert len(found) >= 5


@pytest.mark.parametrize("condition", care_conditions(), ids=str)
def test_each_condition_has_members_of_its_own_in_every_split(condition: str) -> None:
    people = {split: members(split, condition) for split in Split}
    ids = [each.background.patient.id for found in people.values() for each in found]
    assert len(ids) == len(set(ids)) == 60
    own = care_conditions()[condition]
    for each in people[Split.TEST]:
        names = set(each.background.diseases)
        assert all(names & set(options) for options in own.diseases)


def test_those_of_a_group_are_easily_taken_for_each_other() -> None:
    first, other = (Member("copd", 2, place).background.patient for place in (0, 3))
    assert first.last_name == other.last_name
    assert first.sex == other.sex
    assert first.first_name != other.first_name
    assert abs((first.dob - other.dob).days) < 60


def test_nothing_is_drawn_of_who_else_is_in_a_queue_before_somebody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = CareGenerator(PRESETS["medium"], "medium", "care-management", Rules.STRICT)
    drawn, plain = [], queue._standing
    monkeypatch.setattr(queue, "_standing", lambda who: drawn.append(who) or plain(who))
    instance = made.draw(Split.TRAIN, 5_001)
    assert not drawn
    own, rest = instance.reference.referral_id, 0
    for record in instance.start.records:
        if isinstance(record, CMReferral) and record.referral_id != own:
            chart = instance.start.charts[record.patient_id or ""]
            case = plain(drawn[-1]) if record.reason and chart.documents else None
            assert case is not None
            assert record == replace(case.referred.record, referral_date=record.referral_date)
            assert chart == case.chart
            rest += 1
    assert rest == PRESETS["medium"].referrals
