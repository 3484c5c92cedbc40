"""Urgency, service levels and lanes."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.review import (
    PayerReviewTask,
    PayerRoutingRecord,
    TriageRecord,
)


class TriageAndRouting(App):
    """Triage and routing.

    Attributes:
        triages: Triage records, by id.
        routings: Routing records, by id.
        tasks: Review tasks, by id.
    """

    name = "payer_triage"
    triages = table[str, TriageRecord]()
    routings = table[str, PayerRoutingRecord]()
    tasks = table[str, PayerReviewTask]()
