"""The physicians' reviews and decisions."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.review import MdCaseDecision, MdReviewRecord


class MedicalDirectorReview(App):
    """Medical-director review.

    Attributes:
        reviews: Reviews by line, by id.
        decisions: Decisions, by id.
    """

    name = "payer_md_review"
    reviews = table[str, MdReviewRecord]()
    decisions = table[str, MdCaseDecision]()
