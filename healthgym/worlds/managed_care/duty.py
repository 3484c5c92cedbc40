"""Who may act for an office, and when: known people, employed for the task, at their desk."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.staff import WorkerRole

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_MOST_NAMED = 4


def require_on_duty(
    world: ManagedCareWorld,
    person: str,
    roles: Collection[str],
    field: str = "actor",
    owner: str = "",
) -> None:
    """Refuse somebody whom nobody knows, who is employed for something else, or who is not in.

    Args:
        world: The world.
        person: Id in the directory.
        roles: As what the person must be employed.
        field: The argument that names the person, for the sentence.
        owner: Id of who may do it besides, because the case is theirs; blank if there is nobody.

    Raises:
        Refusal: ``role_forbidden`` or ``off_duty``.
    """
    require_employed(world, person, roles, field, owner)
    require_in(world, person, field)


def require_employed(
    world: ManagedCareWorld,
    person: str,
    roles: Collection[str],
    field: str = "actor",
    owner: str = "",
) -> None:
    """Refuse somebody whom nobody knows, or who is employed for something else.

    Args:
        world: The world.
        person: Id in the directory.
        roles: As what the person must be employed.
        field: The argument that names the person, for the sentence.
        owner: Id of who may do it besides; blank if there is nobody.

    Raises:
        Refusal: ``role_forbidden``.
    """
    role = world.staff.role_of(person)
    if role not in roles:
        what = "is nobody who works here" if role is None else f"works as {role}"
        titles = " or ".join(roles)
        named = ", ".join(islice(world.staff.with_role(*roles), _MOST_NAMED)) or "nobody"
        if owner:
            named = f"{owner}, to whom the case is assigned, or {named}"
        raise Refusal(
            RefusalCode.ROLE_FORBIDDEN,
            f"{field} {person[:40]!r} {what}; this is work of the {titles}: {named}.",
        )


def require_in(world: ManagedCareWorld, person: str, field: str = "actor") -> None:
    """Refuse somebody outside of the person's hours.

    Of whom only a directory entry is known, no hours are, and none are kept.

    Raises:
        Refusal: ``off_duty``.
    """
    if is_in(world, person):
        return
    worker = world.staff.workers[person]
    opening = office_calendar(worker.region, worker.hours).next_opening(world.clock.now)
    raise Refusal(
        RefusalCode.OFF_DUTY,
        f"{field} {person!r} is not in at {world.clock.now:%Y-%m-%d %H:%M} UTC; "
        f"back on {opening:%Y-%m-%d} at {opening:%H:%M} UTC.",
    )


def is_in(world: ManagedCareWorld, person: str) -> bool:
    """Return whether somebody is at work now."""
    worker = world.staff.workers.get(person)
    return worker is None or office_calendar(worker.region, worker.hours).is_open(world.clock.now)


def after(world: ManagedCareWorld, person: str, takes: timedelta) -> datetime:
    """Return when somebody who begins now is done, in the person's own hours.

    Args:
        world: The world.
        person: Id in the directory; of somebody without known hours, the usual ones count.
        takes: Business time.
    """
    worker = world.staff.workers.get(person)
    calendar = office_calendar(worker.region, worker.hours) if worker else office_calendar("")
    at = calendar.add_business_hours(world.clock.now, takes)
    # The last minute of a day is the first of the next.
    return at if calendar.is_open(at) else calendar.next_opening(at)


def on_desk(world: ManagedCareWorld, roles: tuple[WorkerRole, ...]) -> str:
    """Return who does the work of a desk: whoever uses it, or the one whose turn it is.

    Whose turn it is matters where whoever uses it does other work, or is out. Of those who are in,
    it is the one with the least on the desk, then the first in the directory.

    Raises:
        Refusal: ``no_reviewer`` if the desk has nobody, ``off_duty`` if all are out.
    """
    own = world.staff.role_of(world.actor) in roles
    if own and is_in(world, world.actor):
        return world.actor
    people = tuple(world.staff.with_role(*roles))
    if not people:
        titles = " or ".join(roles)
        raise Refusal(RefusalCode.NO_REVIEWER, f"The directory has no {titles} for this desk.")
    present = [person for person in people if is_in(world, person)]
    if not present:
        require_in(world, world.actor if own else people[0], "worker")
    return min(present, key=lambda person: _load(world, person))


def supervisor(world: ManagedCareWorld) -> str | None:
    """Return whom to tell what is late; None if nobody supervises."""
    return next(world.staff.with_role(WorkerRole.SUPERVISOR), None)


def _load(world: ManagedCareWorld, person: str) -> int:
    worker = world.staff.workers.get(person)
    return worker.load if worker else 0
