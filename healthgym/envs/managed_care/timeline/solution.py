"""What is right for a case, for a page that may say so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import Posture
from healthgym.worlds.managed_care.vocabulary.care import CMPriority, CMProgram, RiskLevel


@runtime_checkable
class Solution(Protocol):
    """The right handling of a request; references of the families have these fields."""

    @property
    def policy(self) -> Policy:
        """The policy in force, amendments included."""

    @property
    def postures(self) -> Mapping[str, Posture]:
        """How the chart stands to each criterion, by id."""

    @property
    def gaps(self) -> Collection[str]:
        """Criteria that are open, or that stand against it."""

    @property
    def missing(self) -> Collection[str]:
        """Kinds of required documents that are not on file."""

    @property
    def action(self) -> str:
        """What the provider is to decide."""

    @property
    def status(self) -> str:
        """The status in which the case ends."""


@runtime_checkable
class CareSolution(Protocol):
    """The right handling of a referral to care management."""

    @property
    def case_id(self) -> str:
        """The id that its episode has."""

    @property
    def persona(self) -> Persona:
        """Who answers the phone."""

    @property
    def program(self) -> CMProgram:
        """The right programme."""

    @property
    def priority(self) -> CMPriority:
        """The right priority."""

    @property
    def risk_level(self) -> RiskLevel:
        """The right level after the chart review."""

    @property
    def ending(self) -> str:
        """What is right in the end."""

    @property
    def status(self) -> str:
        """The status in which the episode ends."""
