"""Orders, authorization cases and their work list."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    PriorAuthLine,
    RequirementCheck,
)
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.policy import CasePolicy


class OrdersAndCases(App):
    """Orders and cases.

    Attributes:
        cases: The cases, by id.
        lines: Their lines, by id.
        orders: Orders made during the episode, by id.
        policies: The rule card of each case, by its id; never shown to the provider.
        checks: Requirement checks, by id.
    """

    name = "cases_hub"
    cases = table[str, PriorAuthCase]()
    lines = table[str, PriorAuthLine]()
    orders = table[str, ServiceRequest]()
    policies = table[str, CasePolicy]()
    checks = table[str, RequirementCheck]()
