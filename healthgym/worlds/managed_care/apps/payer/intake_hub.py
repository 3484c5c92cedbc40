"""The payer's intake desk."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.intake import IntakeCase


class IntakeHub(App):
    """Intake records.

    Attributes:
        intakes: Intake records, by id.
    """

    name = "payer_intake"
    intakes = table[str, IntakeCase]()
