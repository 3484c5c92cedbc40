"""Referrals, and the episodes they open."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.care import CMCase, CMReferral


class CareIntake(App):
    """Referrals and episodes.

    Attributes:
        referrals: Referrals, by id.
        cases: Episodes, by id.
    """

    name = "cm_intake"
    referrals = table[str, CMReferral]()
    cases = table[str, CMCase]()
