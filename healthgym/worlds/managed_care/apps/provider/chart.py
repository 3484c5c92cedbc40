"""Patients and their charts."""

from __future__ import annotations

from healthgym.worlds.managed_care.apps.app import App


class ChartReader(App):
    """The charts, as the provider reads them."""

    name = "ehr"
