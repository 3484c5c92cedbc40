"""Telephone calls to the patient."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.care import CMOutreachRecord, ConversationSession


class Outreach(App):
    """Outreach.

    Attributes:
        sessions: Calls, by id.
        records: What was noted of them, by id.
    """

    name = "cm_outreach"
    sessions = table[str, ConversationSession]()
    records = table[str, CMOutreachRecord]()
