"""What the payer's staff goes by where nobody plays them; never shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import UploadableDocumentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskPlan:
    """What the payer's staff goes by; never shown.

    Attributes:
        policies: The policies.
        listener: The role that is told when something arrives from the payer.
        on_request: Documents that the nurse asks for before approving, by patient.
        misread: Superseded versions that the reviewers go by in error, by patient.
        stubborn: Patients whose internal appeal is decided by the same misread version.
        calls: What the payer's physician holds on a call before a denial, by patient; whoever is
            not named is denied without one.
    """

    policies: PolicyBook
    listener: str = "agent"
    on_request: Mapping[str, tuple[UploadableDocumentKind, ...]] = field(default_factory=dict)
    misread: Mapping[str, Policy] = field(default_factory=dict)
    stubborn: frozenset[str] = frozenset()
    calls: Mapping[str, PeerContract] = field(default_factory=dict)
