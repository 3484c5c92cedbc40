"""The payer's final decision."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.decision import DeterminationRecord, ReviewDecision


class Determinations(App):
    """Determinations.

    Attributes:
        determinations: Determinations, by id.
        decisions: The review decisions that go with them, by id.
    """

    name = "payer_determination"
    determinations = table[str, DeterminationRecord]()
    decisions = table[str, ReviewDecision]()
