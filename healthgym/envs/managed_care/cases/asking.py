"""Documents that a reviewer may sensibly ask for besides those that a policy requires."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from healthgym.envs.managed_care.cases.situations import Situation
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import Topic, topic_of_code, topics_of
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: An older document says nothing of how the patient is now.
_RECENT = timedelta(days=730)


def askable(chart: PatientChart, drawn: Situation, visit: Ordering, today: date) -> frozenset[str]:
    """Return the kinds of documents that a reviewer may want to see, to complete the file.

    Documents of these kinds tell nothing of what the policy asks for. The latest of each is at
    most two years old, and an imaging report is about what the request is for: a picture of
    another organ would be no reviewer's business.

    Args:
        chart: The patient's, with the case in it.
        drawn: What the request deserves.
        visit: The visit from which the order comes; its note goes with the request.
        today: The day of the request.
    """
    own = {fact.id for fact in drawn.facts}
    telling = {str(kind) for fact in drawn.facts for kind in fact.noted_in} | {str(visit.kind)}
    latest = {str(each.kind): each for each in chart.documents}
    about = _topics(drawn)
    return frozenset(
        kind
        for kind, document in latest.items()
        if kind not in telling
        and today - document.created_at.date() <= _RECENT
        and not chart.shows[document.id] & own
        and (document.kind is not DocumentKind.IMAGING_REPORT or about & _shown(chart, document))
    )


def _topics(drawn: Situation) -> frozenset[Topic]:
    """Return what a request is for: the topics of its diagnoses."""
    ill = (fact for fact in drawn.facts if isinstance(fact, Diagnosis))
    named = (topic_of_code(code) for code in drawn.request.diagnosis_codes)
    return _of(ill) | {topic for topic in named if topic is not None}


def _shown(chart: PatientChart, document: DocumentReference) -> frozenset[Topic]:
    stated = chart.shows[document.id]
    return _of(fact for fact in chart.facts if fact.id in stated)


def _of(facts: Iterable[AnyFact]) -> frozenset[Topic]:
    return frozenset(topic for fact in facts for topic in topics_of(fact))
