"""The order of a case comes from a visit of who ordered it, of a specialty that fits."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.clinic import first_of, group_of_age, person, workforce
from healthgym.envs.managed_care.cases.ordering import _specialties
from healthgym.envs.managed_care.cases.subjects import Subject, fitting
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.policies.diagnoses import titles
from healthgym.worlds.managed_care.policies.evaluation import posture
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.chart import ServiceRequest

COUNT = 40
MONTH = timedelta(days=31)


@pytest.fixture(scope="module", params=["easy", "medium", "hard"])
def tasks(request: pytest.FixtureRequest) -> list[AuthorizationInstance]:
    generator = AuthorizationFamily(request.param).generator
    return [generator.generate(Split.TEST, index) for index in range(COUNT)]


def target(instance: AuthorizationInstance) -> tuple[PatientChart, ServiceRequest]:
    reference = instance.reference
    chart = instance.start.charts[reference.patient_id]
    return chart, next(order for order in chart.orders if order.id == reference.order_id)


def test_who_orders_has_seen_the_patient_within_a_month(
    tasks: list[AuthorizationInstance],
) -> None:
    for instance in tasks:
        chart, order = target(instance)
        seen = {
            each.id
            for each in chart.encounters
            if each.practitioner_id == order.ordering_practitioner_id
            and timedelta() < order.requested_date - each.occurred_at < MONTH
        }
        notes = [x for x in chart.documents if x.encounter_id in seen and x.signed_at]
        title = titles()[order.diagnosis_codes[0]]
        assert any(title.casefold() in note.content.casefold() for note in notes) or any(
            order.description in note.content for note in notes
        ), order


def test_the_problem_list_bears_the_diagnosis_unless_a_criterion_would_change(
    tasks: list[AuthorizationInstance],
) -> None:
    unlisted = 0
    for instance in tasks:
        chart, order = target(instance)
        code = order.diagnosis_codes[0]
        if not any(each.code == code and each.active for each in chart.conditions):
            unlisted += 1
            notes = [x.content for x in chart.documents if order.description in x.content]
            assert any("evaluat" in text or "Question" in text for text in notes), order
    assert unlisted < COUNT / 4


def test_what_is_added_to_the_chart_changes_no_criterion(
    tasks: list[AuthorizationInstance],
) -> None:
    for instance in tasks:
        chart, _ = target(instance)
        policy, today = instance.reference.policy, instance.start.now.date()
        own = [fact for fact in chart.facts if fact.id != "F-0900"]
        for item in criteria(policy.criteria):
            if item.kind not in ("age", "quantity", "site"):
                request = _asked(instance)
                assert posture(item, own, request, today) == posture(
                    item, chart.facts, request, today
                )


def _asked(instance: AuthorizationInstance) -> Request:
    chart, order = target(instance)
    return Request(
        procedure_code=order.procedure_code,
        diagnosis_codes=order.diagnosis_codes,
        site=instance.reference.site,
        age=age_on(chart.patient.dob, instance.start.now.date()),
        sex=chart.patient.sex,
    )


def test_orders_name_codes_that_may_be_reported(tasks: list[AuthorizationInstance]) -> None:
    for instance in tasks:
        _, order = target(instance)
        assert set(order.diagnosis_codes) <= set(titles())


def test_conditions_bear_the_titles_of_their_codes(tasks: list[AuthorizationInstance]) -> None:
    for instance in tasks:
        chart, _ = target(instance)
        for each in chart.conditions:
            assert each.display == titles().get(each.code, each.display)
            assert each.display[:1].isupper()


def test_a_patient_has_one_birthday_and_nobody_is_seen_out_of_hours(
    tasks: list[AuthorizationInstance],
) -> None:
    for instance in tasks:
        chart, _ = target(instance)
        office = office_calendar(chart.patient.address_state or "")
        for each in chart.encounters:
            local = office.local(each.occurred_at)
            assert office.is_business_day(local.date()), each
            assert 8 <= local.hour < 17, each
            assert local.date() == each.occurred_at.date()
        written = Counter((x.author_name, x.created_at) for x in chart.documents)
        assert max(written.values()) == 1


def test_birthdays_do_not_depend_on_the_task() -> None:
    born: dict[str, set[object]] = {}
    for level in ("easy", "hard"):
        generator = AuthorizationFamily(level).generator
        for index in range(60):
            patient = target(generator.generate(Split.TRAIN, index))[0].patient
            born.setdefault(patient.id, set()).add(patient.dob)
    assert all(len(days) == 1 for days in born.values())
    assert len(born) < 120  # some are asked for twice


def test_somebody_of_every_age_can_be_found(tasks: list[AuthorizationInstance]) -> None:
    today = tasks[0].start.now.date()
    for age in (3, 17, 40, 71, 94):
        found = fitting(Subject(4, 2), age, today).background.patient
        assert age_on(found.dob, today) == age
    assert first_of(group_of_age(8)) == person(group_of_age(8), 0).patient


def test_every_policy_names_a_specialty_of_the_staff() -> None:
    known = set(workforce().by_specialty)
    assert {"-".join(name.split("-")[:3]) for name in library()} <= set(_specialties())
    for row in _specialties().values():
        assert set(row.values()) <= known
    assert _specialties()["MP-SUR-042"][""] == "Otolaryngology"
