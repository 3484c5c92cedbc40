"""What a reviewer asks for besides what a policy requires: recent, and of the patient's matter."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from healthgym.envs.managed_care.cases.asking import askable
from healthgym.envs.managed_care.cases.clinic import chart, workforce
from healthgym.envs.managed_care.cases.situations import Course, Situation
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import topic_of_code, topics_of
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind, PlaceOfService
from tests.envs.managed_care.prior_authorization.playing import Kind, chart_of, task

_YEARS = timedelta(days=730)


@pytest.mark.parametrize("index", range(12))
def test_what_is_asked_for_is_recent_and_new_to_the_policy(index: int) -> None:
    instance = task(Kind(Course.PENDED, index=index))
    reference, own, now = instance.reference, chart_of(instance), instance.start.now
    (kind,) = reference.on_request
    there = [each for each in own.documents if str(each.kind) == kind]
    assert there
    assert now - there[-1].created_at <= _YEARS + timedelta(days=1)
    assert not {each.id for each in there} & reference.documents
    if kind == DocumentKind.IMAGING_REPORT:
        topic = topic_of_code(reference.diagnosis_codes[0])
        shown = own.shows[there[-1].id]
        assert topic in {t for fact in own.facts if fact.id in shown for t in topics_of(fact)}


def _asked(own: PatientChart, code: str, today: date, note: DocumentKind) -> frozenset[str]:
    """Return what may be asked for where the policy has found nothing in the chart."""
    request = Request(
        procedure_code="", diagnosis_codes=(code,), site=PlaceOfService.OFFICE, age=50, sex="F"
    )
    policy = next(iter(library().values()))
    drawn = Situation(policy=policy, request=request, facts=(), ending=Course.PENDED)
    visit = Ordering(
        at=own.documents[-1].created_at,
        clinician=workforce().clinicians("Internal Medicine")[0],
        kind=note,
        code=code,
        name="",
        listed=None,
        service="",
    )
    return askable(own, drawn, visit, today)


def test_a_picture_is_asked_for_only_if_it_is_of_what_the_request_is_for() -> None:
    own, today = chart(10, 0), date(2026, 3, 10)  # its last picture is of a joint
    other = DocumentKind.OTHER
    picture = str(DocumentKind.IMAGING_REPORT)
    assert picture in _asked(own, "M17.11", today, other)
    for code in ("J44.1", "F33.2", "I50.22"):
        assert picture not in _asked(own, code, today, other)
        assert _asked(own, code, today, other)
    assert picture not in _asked(own, "M17.11", today, DocumentKind.IMAGING_REPORT)


def test_what_is_older_than_two_years_is_not_asked_for() -> None:
    own, other = chart(10, 0), DocumentKind.OTHER
    last = max(each.created_at.date() for each in own.documents)
    assert _asked(own, "M17.11", last + _YEARS, other)
    assert not _asked(own, "M17.11", last + _YEARS + timedelta(days=1), other)
