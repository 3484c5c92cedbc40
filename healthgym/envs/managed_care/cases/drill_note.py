"""The one document of a drill: a sentence for each fact."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

from healthgym.envs.managed_care.cases.clinic import staff
from healthgym.worlds.managed_care.charts.phrases import Chooser
from healthgym.worlds.managed_care.charts.prose import Prose
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.records.chart import DocumentReference, ServiceRequest
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


def note_of(
    facts: tuple[AnyFact, ...],
    order: ServiceRequest,
    today: date,
    rng: np.random.Generator,
    *,
    name: str,
    case_id: str,
) -> DocumentReference:
    """Return the document that tells facts: a sentence for each, in any order.

    Args:
        facts: The facts.
        order: The order it was written for.
        today: The day of the request.
        rng: Where order and words are drawn from.
        name: Its id.
        case_id: Id of the case that it is about.
    """
    prose = Prose(Chooser(rng), {})
    lines = [f"- {_told(prose, fact, today)}" for fact in facts]
    text = "\n".join(lines[int(n)] for n in rng.permutation(len(lines))) or "- Nothing of note."
    written = order.requested_date - timedelta(minutes=30)
    return DocumentReference(
        id=name,
        patient_id=order.patient_id,
        case_id=case_id,
        kind=DocumentKind.CHART_NOTE,
        title="Chart note",
        content=text,
        created_at=written,
        author_name=staff().workers[order.ordering_practitioner_id].name,
        signed_at=written,
    )


def _told(prose: Prose, fact: AnyFact, today: date) -> str:
    match fact:
        case Diagnosis():
            return prose.diagnosis(fact)
        case Measurement():
            return prose.measurement(fact, today)
        case Finding():
            return prose.finding(fact, today)
        case TherapyCourse():
            return prose.therapy(fact, told=False, on=today)
        case MedicationCourse():
            return prose.medication(fact, told=False, on=today)
        case ProcedureDone():
            return prose.procedure(fact)
        case Intolerance():
            return prose.intolerance(fact)
