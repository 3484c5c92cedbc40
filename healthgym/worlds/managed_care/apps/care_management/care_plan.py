"""Care plans."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.care_plan import CMCarePlan


class CarePlans(App):
    """Care plans.

    Attributes:
        plans: Care plans, by id.
    """

    name = "cm_care_plan"
    plans = table[str, CMCarePlan]()
