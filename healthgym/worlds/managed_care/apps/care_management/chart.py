"""The chart, and its review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Final, TypeAlias

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.care_management.wording import (
    require_filled,
    require_reasonable,
)
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.duty import require_on_duty
from healthgym.worlds.managed_care.records.care import CMChartReview, CMChartReviewInput
from healthgym.worlds.managed_care.records.chart import (
    Allergy,
    Condition,
    DocumentReference,
    Encounter,
    MedicationRequest,
    Observation,
    Procedure,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.care import CMCaseStatus

_Filed: TypeAlias = (
    Condition
    | Encounter
    | MedicationRequest
    | Observation
    | Procedure
    | Allergy
    | DocumentReference
)
_NOT_SHOWN: Final = frozenset({"patient_id", "structured_data"})
#: The office itself, which the source puts in where nobody is named.
OFFICE = "care_manager"


class CareChart(App):
    """Chart reviews.

    Attributes:
        reviews: Chart reviews, by id.
    """

    name = "cm_chart"
    reviews = table[str, CMChartReview]()

    def of(self, case_id: str) -> PatientChart:
        """Return the chart of the patient whom an episode is about.

        Raises:
            Refusal: If there is no such episode, or no chart.
        """
        patient = self.world.referrals.case(case_id).patient_id
        chart = self.world.charts.get(patient)
        if chart is None:
            raise Refusal(RefusalCode.NOT_FOUND, f"There is no chart of patient {patient[:60]!r}.")
        return chart

    def data(self, case_id: str) -> Mapping[str, object]:
        """Return everything on file about the patient.

        It is one patient's: rows do not repeat whose they are.

        Raises:
            Refusal: If there is no such episode, or no chart.
        """
        chart = self.of(case_id)
        return {
            "patient": chart.patient,
            "coverage": chart.coverage_on(self.world.clock.now.date()),
            "conditions": _rows(chart.conditions),
            "encounters": _rows(chart.encounters),
            "medications": _rows(chart.medications),
            "labs_and_vitals": _rows(chart.observations),
            "procedures": _rows(chart.procedures),
            "allergies": _rows(chart.allergies),
            "documents": _rows(chart.documents),
        }

    def submit_review(self, case_id: str, review: CMChartReviewInput) -> CMChartReview:
        """File what the chart tells, before the patient is called.

        Raises:
            Refusal: If the episode is not one that waits for it; under strict rules also a second
                time, with nothing in it, or in the name of nobody who manages care.
        """
        case = self.world.referrals.case(case_id)
        if self.strict:
            _require_content(review)
            # Whose episode it is opened it at this desk and is there, whatever the hours.
            if review.reviewer_id not in (OFFICE, case.assigned_to):
                roles = (WorkerRole.CARE_MANAGER,)
                require_on_duty(
                    self.world, review.reviewer_id, roles, "reviewer_id", case.assigned_to or ""
                )
        self.world.referrals.move(case_id, CMCaseStatus.CHART_REVIEWED)
        made = CMChartReview(
            review_id=self.draw_id("CMR-"),
            case_id=case_id,
            reviewer_id=review.reviewer_id,
            reviewed_at=self.world.clock.now,
            primary_concerns=review.primary_concerns,
            coordination_risks=review.coordination_risks,
            suspected_barriers=review.suspected_barriers,
            preliminary_risk_level=review.preliminary_risk_level,
            key_findings=review.key_findings,
            clarification_needed=review.clarification_needed,
        )
        self.reviews[made.review_id] = made
        self.audit("submit_chart_review", case_id)
        return made


def _rows(records: Sequence[_Filed]) -> tuple[Mapping[str, object], ...]:
    """Return records of one kind without whose they are, and without the form of a document."""
    if not records:
        return ()
    names = [item.name for item in fields(records[0]) if item.name not in _NOT_SHOWN]
    read = attrgetter(*names)
    return tuple([dict(zip(names, read(record), strict=True)) for record in records])


def _require_content(review: CMChartReviewInput) -> None:
    """Refuse a review that tells the next reader nothing."""
    require_reasonable(review)
    require_filled({"key_findings": review.key_findings})
    if not any(concern.strip() for concern in review.primary_concerns):
        raise Refusal(RefusalCode.INCOMPLETE, "A chart review names at least one primary concern.")
