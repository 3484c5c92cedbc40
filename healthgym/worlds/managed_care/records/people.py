"""Organizations, practitioners, and the people one can call."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.worlds.managed_care.vocabulary.authorization import (
    OrganizationKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """TODO organization.

    Attributes:
        id: TODO.
        name: TODO.
        kind: TODO.
    """

    id: str
    name: str
    kind: OrganizationKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Practitioner:
    """TODO practitioner.

    Attributes:
        id: TODO.
        name: TODO.
        role: TODO.
        specialty: TODO.
        organization_id: TODO.
        npi: TODO.
    """

    id: str
    name: str
    role: str
    specialty: str
    organization_id: str
    npi: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryContact:
    """TODO directory contact.

    Attributes:
        id: TODO.
        name: TODO.
        role: TODO.
        email: TODO.
        phone: TODO.
        organization_id: TODO.
        escalation_role: TODO.
        peer_to_peer_slots: TODO.
        notes: TODO.
    """

    id: str
    name: str
    role: str
    email: str
    phone: str
    organization_id: str
    escalation_role: str
    peer_to_peer_slots: tuple[str, ...] = ()
    notes: str | None = None
