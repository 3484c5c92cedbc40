"""Who works at the provider and at the payer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.records.people import (
    DirectoryContact,
    Organization,
    Practitioner,
)
from healthgym.worlds.managed_care.staff import Staff, Worker, WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import OrganizationKind

#: Whom to turn to above a role.
_ESCALATION = {
    WorkerRole.PA_COORDINATOR: "pa_lead",
    WorkerRole.CLINICIAN: "department_chair",
    WorkerRole.INTAKE_COORDINATOR: "payer_intake",
    WorkerRole.UM_NURSE: "payer_nurse",
    WorkerRole.PHYSICIAN_REVIEWER: "payer_md",
    WorkerRole.APPEALS_MEDICAL_DIRECTOR: "payer_appeals",
    WorkerRole.EXTERNAL_REVIEW_COORDINATOR: "payer_external",
    WorkerRole.CARE_MANAGER: "care_management",
    WorkerRole.LETTER_SPECIALIST: "payer_letters",
    WorkerRole.SUPERVISOR: "payer_operations",
}
#: Degrees that follow a clinician's name, where it is not MD.
_DEGREES = {"Clinical Social Work": "LCSW"}
#: Specialties that care for a patient over the years.
PRIMARY = ("Internal Medicine", "Family Medicine")
#: The same for children.
PEDIATRIC = ("Pediatrics",)
#: Who was born later is a child on the days of which charts tell.
_GROWN_UP = date(2008, 3, 1)


@dataclass(frozen=True, slots=True)
class Workforce:
    """Everybody who works on charts and cases; immutable.

    Attributes:
        provider: The provider's organization.
        payer: The payer's organization.
        workers: Everybody, in the order of their ids.
        places: Names of the hospital, imaging centre and laboratory of the provider.
        by_specialty: The provider's clinicians by specialty.
    """

    provider: Organization
    payer: Organization
    workers: tuple[Worker, ...]
    places: Mapping[str, str]
    by_specialty: Mapping[str, tuple[Worker, ...]]

    def with_role(self, role: WorkerRole) -> tuple[Worker, ...]:
        """Return the workers of a role."""
        return tuple(worker for worker in self.workers if worker.role is role)

    def clinicians(self, specialty: str) -> tuple[Worker, ...]:
        """Return the provider's clinicians of a specialty, or its internists if it has none."""
        return self.by_specialty.get(specialty) or self.by_specialty[PRIMARY[0]]

    def family_doctors(self, born: date) -> tuple[Worker, ...]:
        """Return who cares over the years for somebody born on a day."""
        specialties = PEDIATRIC if born > _GROWN_UP else PRIMARY
        return tuple(one for name in specialties for one in self.clinicians(name))

    def contacts(self) -> tuple[DirectoryContact, ...]:
        """Return the directory."""
        return tuple(contact_of(worker) for worker in self.workers)

    def practitioners(self) -> tuple[Practitioner, ...]:
        """Return the clinicians who order and write."""
        return tuple(
            practitioner_of(worker)
            for worker in self.workers
            if worker.role is WorkerRole.CLINICIAN
        )

    def staff(self) -> Staff:
        """Return everybody as a world looks them up."""
        return Staff(self.workers, self.contacts(), self.practitioners())


def contact_of(worker: Worker) -> DirectoryContact:
    """Return a worker's entry in the directory."""
    return DirectoryContact(
        id=worker.id,
        name=worker.name,
        role=worker.role.value,
        email=worker.email,
        phone=worker.phone,
        organization_id=worker.organization_id,
        escalation_role=_ESCALATION[worker.role],
        notes=worker.specialty or None,
    )


def practitioner_of(worker: Worker) -> Practitioner:
    """Return a clinician as orders and notes name them."""
    return Practitioner(
        id=worker.id,
        name=worker.name,
        role=worker.role.value,
        specialty=worker.specialty,
        organization_id=worker.organization_id,
        npi=worker.npi,
    )


@cache
def names() -> Mapping[str, tuple[str, ...]]:
    """Return first names by sex (``female``, ``male``) and last names (``last``)."""
    rows = json.loads((files(__package__) / "names.json").read_text("utf-8"))
    return {key: tuple(values) for key, values in rows.items()}


def draw_workforce(rng: np.random.Generator) -> Workforce:
    """Draw the people of one provider and one payer.

    Args:
        rng: Where names, regions and loads come from.
    """
    table: JsonObject = json.loads((files(__package__) / "staff.json").read_text("utf-8"))
    hiring = _Hiring(rng, table)
    for specialty, count in table["clinicians"]:
        for _ in range(count):
            hiring.clinician(specialty)
    for row in table["roles"]:
        for number in range(row["count"]):
            hiring.office(row, number)
    workers = tuple(hiring.workers)
    by_specialty: dict[str, tuple[Worker, ...]] = {}
    for worker in workers:
        if worker.role is WorkerRole.CLINICIAN:
            by_specialty[worker.specialty] = (*by_specialty.get(worker.specialty, ()), worker)
    return Workforce(
        Organization(kind=OrganizationKind.PROVIDER, **table["provider"]),
        Organization(kind=OrganizationKind.PAYER, **table["payer"]),
        workers,
        MappingProxyType({key: table[key] for key in ("hospital", "imaging", "laboratory")}),
        MappingProxyType(by_specialty),
    )


class _Hiring:
    """Draws one worker after the other, each name once."""

    def __init__(self, rng: np.random.Generator, table: JsonObject) -> None:
        self._rng = rng
        self._table = table
        self._taken: set[str] = set()
        self.workers: list[Worker] = []

    def _name(self) -> str:
        while True:
            given = names()[("female", "male")[int(self._rng.integers(2))]]
            last = names()["last"]
            name = f"{given[self._rng.integers(len(given))]} {last[self._rng.integers(len(last))]}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def clinician(self, specialty: str) -> None:
        """Draw a clinician of the provider, who works where the practice is."""
        degree = _DEGREES.get(specialty, "MD")
        self._hire(WorkerRole.CLINICIAN, "provider", degree, specialty, "TX", ("08:00", "17:00"))

    def office(self, row: JsonObject, number: int) -> None:
        """Draw the next worker of an office; regions and specialties go round."""
        role, table = WorkerRole(row["role"]), self._table
        lists = {
            WorkerRole.PHYSICIAN_REVIEWER: table["reviewer_specialties"],
            WorkerRole.APPEALS_MEDICAL_DIRECTOR: table["reviewer_specialties"],
            WorkerRole.UM_NURSE: table["nurse_specialties"],
            WorkerRole.CARE_MANAGER: table["care_specialties"],
        }
        known = lists.get(role, [""])
        region = "TX" if row["side"] == "provider" else table["regions"][number % 6]
        begin, end = row["hours"]
        specialty = known[number % len(known)]
        self._hire(role, row["side"], row["licence"], specialty, region, (begin, end))

    def _hire(
        self,
        role: WorkerRole,
        side: str,
        degree: str,
        specialty: str,
        region: str,
        hours: tuple[str, str],
    ) -> None:
        number, name = len(self.workers) + 1, self._name()
        organization = self._table[side]
        mailbox = name.lower().replace(" ", ".").replace("-", "")
        clinical = degree in ("MD", "LCSW")
        self.workers.append(
            Worker(
                id=f"W-{number:03d}",
                name=f"{name}, {degree}" if degree else name,
                role=role,
                organization_id=organization["id"],
                licence=degree,
                licensed_in=self._states(side, region) if degree else (),
                specialty=specialty,
                region=region,
                hours=(time.fromisoformat(hours[0]), time.fromisoformat(hours[1])),
                load=int(self._rng.integers(0, 25)),
                npi=_npi(self._rng) if clinical else None,
                email=f"{mailbox}@{organization['name'].split()[0].lower()}.example",
                phone=f"555-01{number:02d}",
            )
        )

    def _states(self, side: str, region: str) -> tuple[str, ...]:
        """Return where a licence holds: of the plan's people in all states that it covers."""
        return tuple(sorted(self._table["regions"])) if side == "payer" else (region,)


def _npi(rng: np.random.Generator) -> str:
    """Draw a number of the form of an NPI: nine digits and the Luhn digit over the 80840 prefix."""
    body = f"1{int(rng.integers(0, 10**8)):08d}"
    total = 24
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return body + str(-total % 10)
