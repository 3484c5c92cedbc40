"""Internal appeals and external reviews."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.decision import Appeal


class AppealsDesk(App):
    """Appeals.

    Attributes:
        appeals: Appeals, by id.
    """

    name = "payer_appeals"
    appeals = table[str, Appeal]()
