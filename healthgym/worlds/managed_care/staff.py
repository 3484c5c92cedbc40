"""The people who work in the offices: what they are, what they may do, and when they are in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from functools import cached_property

from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.records.people import DirectoryContact, Practitioner


class WorkerRole(StrEnum):
    """What somebody is employed as."""

    PA_COORDINATOR = "pa_coordinator"
    CLINICIAN = "clinician"
    INTAKE_COORDINATOR = "intake_coordinator"
    UM_NURSE = "um_nurse"
    PHYSICIAN_REVIEWER = "physician_reviewer"
    APPEALS_MEDICAL_DIRECTOR = "appeals_medical_director"
    EXTERNAL_REVIEW_COORDINATOR = "external_review_coordinator"
    CARE_MANAGER = "care_manager"
    LETTER_SPECIALIST = "letter_specialist"
    SUPERVISOR = "supervisor"

    @property
    def in_full(self) -> str:
        """What the role is called, nothing abbreviated."""
        return " ".join(_IN_FULL.get(word, word) for word in self.split("_"))


_IN_FULL: Mapping[str, str] = {"pa": "prior authorization", "um": "utilization-management"}
#: The words that the source's directory has for roles of a payer, and what they are here.
DIRECTORY_ROLES: Mapping[str, WorkerRole] = {
    "intake_specialist": WorkerRole.INTAKE_COORDINATOR,
    "intake_coordinator": WorkerRole.INTAKE_COORDINATOR,
    "nurse_reviewer": WorkerRole.UM_NURSE,
    "um_nurse": WorkerRole.UM_NURSE,
    "physician_reviewer": WorkerRole.PHYSICIAN_REVIEWER,
    "medical_director": WorkerRole.PHYSICIAN_REVIEWER,
    "appeals_medical_director": WorkerRole.APPEALS_MEDICAL_DIRECTOR,
    "external_review_coordinator": WorkerRole.EXTERNAL_REVIEW_COORDINATOR,
    "letter_specialist": WorkerRole.LETTER_SPECIALIST,
    "supervisor": WorkerRole.SUPERVISOR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Somebody who works in an office.

    Attributes:
        id: Id in the directory, such as ``W-017``.
        name: Name and degree.
        role: What the person is employed as.
        organization_id: The organization.
        licence: Kind of the licence, such as ``RN``; empty if none is needed.
        licensed_in: States in which the licence is in force.
        specialty: Clinical specialty; empty if none.
        region: Region whose calendar the person works by, such as ``TX``.
        hours: From when to when the person works, local time of the region.
        load: Cases on the desk already.
        npi: National Provider Identifier, of clinicians.
        email: Address.
        phone: Number.
    """

    id: str
    name: str
    role: WorkerRole
    organization_id: str
    licence: str = ""
    licensed_in: tuple[str, ...] = ()
    specialty: str = ""
    region: str = ""
    hours: tuple[time, time] = (time(8), time(17))
    load: int = 0
    npi: str | None = None
    email: str = ""
    phone: str = ""


class Staff:
    """Everybody one can name, and what they are; immutable.

    Args:
        workers: The workers whose hours and licences are known.
        contacts: The directory; where it names somebody who is no worker, the role follows from
            its word for it.
        practitioners: The clinicians who order.
    """

    def __init__(
        self,
        workers: tuple[Worker, ...],
        contacts: tuple[DirectoryContact, ...],
        practitioners: tuple[Practitioner, ...],
    ) -> None:
        self.workers = {worker.id: worker for worker in workers}
        self.contacts = {contact.id: contact for contact in contacts}
        self.practitioners = {one.id: one for one in practitioners}
        people = dict.fromkeys((*self.contacts, *self.workers))
        # Asked some eighty times for a task.
        self._roles = {person: self.role_of(person) for person in people}
        self._employed = frozenset(self._roles.values())

    @cached_property
    def words(self) -> str:
        """What stands on the roster in words, which every note and letter is held against."""
        held = leaves(tuple(self.workers.values()))
        return "\n".join(value for value in held if isinstance(value, str))

    def role_of(self, person: str) -> WorkerRole | None:
        """Return what somebody is employed as; None if nobody knows."""
        if person in self.workers:
            return self.workers[person].role
        contact = self.contacts.get(person)
        if contact is None:
            return None
        return DIRECTORY_ROLES.get(contact.role)

    def employs(self, *roles: str) -> bool:
        """Return whether anybody is employed as one of these."""
        return not self._employed.isdisjoint(roles)

    def with_role(self, *roles: str) -> Iterator[str]:
        """Return the ids of those employed as one of these, in the directory's order."""
        return (person for person, role in self._roles.items() if role in roles)
