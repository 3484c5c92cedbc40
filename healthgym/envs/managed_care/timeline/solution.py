"""What is right for a case, for a page that may say so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import Posture


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
