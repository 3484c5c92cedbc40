"""The nurses' reviews and recommendations."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.review import NurseCaseRecommendation, NurseReviewRecord


class NurseReview(App):
    """Nurse review.

    Attributes:
        reviews: Reviews by line, by id.
        recommendations: Recommendations, by id.
    """

    name = "payer_nurse_review"
    reviews = table[str, NurseReviewRecord]()
    recommendations = table[str, NurseCaseRecommendation]()
