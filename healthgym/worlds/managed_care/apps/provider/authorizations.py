"""The provider's determination, submission and what follows it."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.case import ProviderDeterminationRecord, SubmissionPacket


class Authorizations(App):
    """Authorizations.

    Attributes:
        determinations: What the provider decided, by id.
        packets: What was submitted, by id.
    """

    name = "authorization"
    determinations = table[str, ProviderDeterminationRecord]()
    packets = table[str, SubmissionPacket]()
