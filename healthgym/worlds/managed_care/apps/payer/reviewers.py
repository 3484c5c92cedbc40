"""Who acts on a payer's desk: what somebody is, whether they are in, what they did before.

The source takes any text for a reviewer. A strict world takes workers whose role allows the act,
while they are on duty, and keeps the nurse, the physician and the reviewer of an appeal apart. The
physician who decides may hold the peer-to-peer call, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care import duty
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import PayerMode, PayerRole

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What the source's tools say where nobody in particular acts.
NOBODY = frozenset({"", "SYSTEM", "agent"})

#: Of these a payer must employ somebody before it can decide.
REVIEWERS = (
    WorkerRole.UM_NURSE,
    WorkerRole.PHYSICIAN_REVIEWER,
    WorkerRole.APPEALS_MEDICAL_DIRECTOR,
)
PAYER_STAFF = (
    WorkerRole.INTAKE_COORDINATOR,
    *REVIEWERS,
    WorkerRole.EXTERNAL_REVIEW_COORDINATOR,
    WorkerRole.LETTER_SPECIALIST,
    WorkerRole.SUPERVISOR,
)


class Part(StrEnum):
    """What somebody can have done about a case."""

    NURSE = "nurse reviewer"
    PHYSICIAN = "medical director"
    PEER = "peer-to-peer physician"
    APPEAL = "appeal reviewer"


#: Parts that one person may have; of all others no two.
_ONE_PERSONS = frozenset({Part.PHYSICIAN, Part.PEER})


def acting(world: ManagedCareWorld, person: str | None) -> str:
    """Return who acts: the person named, or in a strict world whoever uses the tools."""
    named = (person or "").strip()
    if named not in NOBODY:
        return named
    return named or "SYSTEM" if world.rules is Rules.COMPAT else world.actor


def require_desk(world: ManagedCareWorld) -> None:
    """Refuse a call at a desk that nobody staffs, because the payer decides by itself.

    Raises:
        Refusal: If it does.
    """
    if world.payer_mode is PayerMode.AUTO:
        raise Refusal(
            RefusalCode.DESK_CLOSED,
            "The payer decides by itself here, and its review desks take no calls; accepted are "
            "the tools of the provider and of payer_intake_hub.",
        )


def require_role(
    world: ManagedCareWorld, person: str, roles: Collection[str], field: str = "reviewer_id"
) -> None:
    """Refuse somebody who is not employed for an act, or is not in; in a strict world only.

    Args:
        world: The world.
        person: Id of a worker.
        roles: Who may, as the rules of operation say.
        field: The argument that names the person, for the sentence.

    Raises:
        Refusal: If the person is unknown, of another role, or off duty.
    """
    if world.rules is Rules.STRICT:
        duty.require_on_duty(world, person, roles, field)


def require_independent(world: ManagedCareWorld, case_id: str, person: str, part: Part) -> None:
    """Refuse somebody who had another part in the case; in a strict world only.

    Raises:
        Refusal: If the person reviewed the case in another part before.
    """
    if world.rules is Rules.COMPAT:
        return
    for other, name in parts_taken(world, case_id):
        if other == person and clash((name, part)):
            raise Refusal(
                RefusalCode.NOT_INDEPENDENT,
                f"{person} was {name} of case {case_id} and cannot be its {part}; name somebody "
                "who had no part in it.",
            )


def clash(parts: Iterable[Part]) -> bool:
    """Return whether these parts in a case are more than one person may have."""
    taken = frozenset(parts)
    return len(taken) > 1 and not taken <= _ONE_PERSONS


def parts_taken(world: ManagedCareWorld, case_id: str) -> Iterator[tuple[str, Part]]:
    """Yield who had which part in a case so far."""
    nursing, medical = world.nursing, world.medical
    nurses = [one.reviewer_id for one in nursing.reviews_of(case_id)]
    nurses += [one.reviewer_id for one in nursing.of(case_id)]
    physicians = [one.reviewer_id for one in medical.reviews_of(case_id)]
    physicians += [one.reviewer_id for one in medical.of(case_id)]
    yield from ((who, Part.NURSE) for who in nurses)
    yield from ((who, Part.PHYSICIAN) for who in physicians)
    for request in world.peer.of(case_id):
        if request.payer_contact_id:
            yield request.payer_contact_id, Part.PEER
    for appeal in world.appeals.of(case_id):
        if appeal.assigned_reviewer_id:
            yield appeal.assigned_reviewer_id, Part.APPEAL


def require_turn(world: ManagedCareWorld, case_id: str, role: PayerRole) -> None:
    """Refuse a word on a case that waits for somebody else's, in a strict world.

    Triage says who looks first: a nurse waits where a physician is to, and a physician waits for
    the nurse's recommendation where a nurse is to.

    Args:
        world: The world.
        case_id: The case.
        role: As what somebody wants to speak.

    Raises:
        Refusal: If it is the other's turn.
    """
    task = world.triage.open_task(case_id)
    if task is None or task.required_role is role:
        return
    spoken = role is PayerRole.PHYSICIAN_REVIEWER and world.nursing.active(case_id) is not None
    if not spoken:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case_id} is queued for a {task.required_role} ({task.id}), whose turn it is.",
        )


def require_mapped(world: ManagedCareWorld, person: str) -> str:
    """Return the role under which the source files somebody's decision.

    It takes strangers for the first of the roles that may decide, and any of the payer's people
    for what they are; it refuses contacts whose role is none of a payer.

    Raises:
        Refusal: If the person is a known contact who does not work in a payer's review.
    """
    staff = world.staff
    if person not in staff.contacts and person not in staff.workers:
        return WorkerRole.APPEALS_MEDICAL_DIRECTOR
    role = staff.role_of(person)
    if role not in PAYER_STAFF:
        raise Refusal(
            RefusalCode.ROLE_FORBIDDEN,
            f"{person} does not work in a payer's review; name a nurse or a physician reviewer.",
        )
    return role


def require_pool(world: ManagedCareWorld) -> None:
    """Refuse where a payer employs nobody who reviews.

    Raises:
        Refusal: If there is no reviewer at all.
    """
    if not world.staff.employs(*REVIEWERS):
        raise Refusal(
            RefusalCode.NO_REVIEWER,
            "The payer employs no nurse, physician reviewer or appeals director, so that nothing "
            "can be decided.",
        )
