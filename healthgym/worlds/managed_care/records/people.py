"""Organizations, practitioners, and the people one can call."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.worlds.managed_care.vocabulary.authorization import (
    OrganizationKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """A medical practice or a health plan.

    Attributes:
        id: Id of this record, unique in the world.
        name: Name as people write it.
        kind: Which of the two sides it is on.
    """

    id: str
    name: str
    kind: OrganizationKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Practitioner:
    """A clinician or clerk of the provider's office.

    Attributes:
        id: Id of this record, unique in the world.
        name: Name with title.
        role: Job in the office, such as 'clinician' or 'admin'.
        specialty: Medical specialty; blank for clerks.
        organization_id: Id of the organization that employs the person.
        npi: National Provider Identifier, ten digits; blank for people without one.
    """

    id: str
    name: str
    role: str
    specialty: str
    organization_id: str
    npi: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryContact:
    """A person whom the directory lists for calls and messages.

    Attributes:
        id: Id of this record, unique in the world.
        name: Name with title.
        role: Job that decides which payer role the person may act in, such as 'nurse_reviewer'.
        email: E-mail address.
        phone: Telephone number.
        organization_id: Id of the organization that employs the person.
        escalation_role: Queue or job that takes over from this person, such as 'pa_lead'.
        peer_to_peer_slots: Times offered for peer-to-peer calls, as ISO date and time.
        notes: Remarks of the directory; blank when there are none.
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
