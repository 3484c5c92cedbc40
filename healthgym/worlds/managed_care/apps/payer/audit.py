"""What an auditor asks of the log."""

from __future__ import annotations

from healthgym.worlds.managed_care.apps.app import App


class ComplianceAudit(App):
    """Compliance reports."""

    name = "payer_audit"
