"""What an episode changed of cases that are none of its business."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from healthgym.worlds.managed_care.apps.payer.reviewers import PAYER_STAFF
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.world import ManagedCareWorld


def changed_elsewhere(
    before: ManagedCareWorld, after: ManagedCareWorld, own: Collection[str]
) -> tuple[str, ...]:
    """Return the cases of others on which somebody acted, or whose records differ.

    What the calendar does by itself (a limit that passes, a pend that lapses, an authorization that
    ends), and what the provider's people do about their own cases, is nobody's fault here. Reading
    is free.

    Args:
        before: The world as it began.
        after: The world now.
        own: The cases that are meant.
    """
    entries = tuple(after.history.entries)[len(before.history.entries) :]
    others = [entry for entry in entries if entry.case_id not in own]
    acted = [entry.case_id for entry in others if _by_agent(after, entry)]
    moving = {entry.case_id for entry in others if not _by_agent(after, entry)}
    differing = [
        case for case in _differing(before, after) if case not in own and case not in moving
    ]
    return tuple(dict.fromkeys((*acted, *differing)))


def _by_agent(world: ManagedCareWorld, entry: Entry) -> bool:
    """Return whether an entry of the log is of somebody whom the agent plays."""
    if entry.kind is EntryKind.EVENT or entry.actor == "calendar":
        return False
    role = world.staff.role_of(entry.actor)
    return role is None or role in PAYER_STAFF


def _differing(before: ManagedCareWorld, after: ManagedCareWorld) -> Iterator[str]:
    """Yield the cases of which some record was added, changed or taken away."""
    for old, new in zip(before.apps(), after.apps(), strict=True):
        for table in type(old).keeps.values():
            known, kept = old.held(table), new.held(table)
            if known == kept:
                continue
            for key, record in kept.items():
                earlier = known.get(key)
                if record is not earlier and record != earlier:
                    yield _case_of(record, after)
            yield from (_case_of(known[key], after) for key in known if key not in kept)


def _case_of(record: object, world: ManagedCareWorld) -> str:
    """Return the case of a record: the one that it names, or itself; by EDI, of its request."""
    if isinstance(record, str):
        come = (one for one in world.doors.arrivals.values() if one.control_number == record)
        return next((one.case_id for one in come), record)
    return str(getattr(record, "case_id", None) or getattr(record, "id", ""))
