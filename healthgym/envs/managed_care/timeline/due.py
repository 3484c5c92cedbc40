"""What was due in a case, until when, and whether it was done by then.

Limits are computed as the offices compute them (``worlds.managed_care.deadlines``, the operating
rules of the world); here they are put beside what the log says was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from healthgym.worlds.managed_care.deadlines import (
    appeal_deadline,
    decision_deadline,
    door_deadline,
    intake_deadline,
    pended_for,
    receipt_deadline,
)
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Who changes a status when a deadline has passed: what it does is not done in time.
_CALENDAR = "calendar"
_PENDED = CaseStatus.PENDED_ACTION_REQUIRED
_DECIDED = frozenset({CaseStatus.APPROVED, CaseStatus.PARTIALLY_APPROVED, CaseStatus.DENIED})
_FINAL = _DECIDED | {CaseStatus.CLOSED}


class Fate(StrEnum):
    """What became of a deadline."""

    MET = "met"  #: done in time
    LATE = "late"  #: done, and too late
    MISSED = "missed"  #: not done when it was due, nor later
    OPEN = "open"  #: not due yet
    UNUSED = "not used"  #: a window that nobody had to use, and nobody did
    NEEDLESS = "no longer needed"  #: something else settled it before it was due


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """Something that was due.

    Attributes:
        name: What, in words.
        side: Whose it was: ``payer`` or ``provider``.
        since: From when it counts.
        due: Until when.
        met: When it was done; None if it was not.
        ended: When it no longer mattered though it was not done; None if it always did.
        now: When it is looked at.
        optional: Whether it is a window that may be used, and not a duty.
        rule: Where the limit comes from.
    """

    name: str
    side: str
    since: datetime
    due: datetime
    met: datetime | None
    ended: datetime | None = None
    now: datetime
    optional: bool = False
    rule: str = ""

    @property
    def fate(self) -> Fate:
        """What became of it."""
        if self.met is not None:
            return Fate.MET if self.met <= self.due else Fate.LATE
        if self.ended is not None and self.ended < self.due:
            return Fate.NEEDLESS
        if self.now < self.due:
            return Fate.OPEN
        return Fate.UNUSED if self.optional else Fate.MISSED

    @property
    def margin(self) -> timedelta:
        """How long before the limit it was done; negative if after it. Zero if it was not."""
        return self.due - self.met if self.met is not None else timedelta(0)


def deadlines_of(world: ManagedCareWorld, case_id: str) -> tuple[Deadline, ...]:
    """Return what was due in a case, in the order in which it began to count."""
    if case_id not in world.cases.cases:
        return ()
    entries = world.history.of(case_id, EntryKind.TRANSITION)
    moves = tuple(entry for entry in entries if entry.app == "case")
    found = [
        *_doors(world, case_id),
        *_intake(world, case_id, moves),
        *_pends(world, moves),
        *_windows(world, moves),
        *_appeals(world, case_id),
    ]
    return tuple(sorted(found, key=lambda one: (one.since, one.due)))


def _doors(world: ManagedCareWorld, case_id: str) -> Iterator[Deadline]:
    for arrival in world.doors.arrivals.values():
        if arrival.case_id == case_id:
            yield Deadline(
                name=f"Take in what came by {arrival.channel}",
                side="payer",
                since=arrival.received_at,
                due=door_deadline(world, arrival),
                met=arrival.taken_in_at,
                now=world.clock.now,
                rule="hours of the front door",
            )


def _intake(world: ManagedCareWorld, case_id: str, moves: Sequence[Entry]) -> Iterator[Deadline]:
    """Yield the limits of intake and of the decision."""
    intake = world.intake.find(case_id)
    if intake is None:
        return
    again = [move.at for move in moves if move.action == CaseStatus.RESUBMITTED]
    final = next((move for move in moves if move.action in _FINAL), None)
    yield Deadline(
        name="Finish intake",
        side="payer",
        since=max([intake.received_at, *again]),
        due=intake_deadline(world, case_id),
        met=intake.completed_at,
        ended=final.at if final else None,
        now=world.clock.now,
        rule="intake window, business hours",
    )
    by_staff = final is not None and final.action in _DECIDED and final.actor != _CALENDAR
    triage = world.triage.of(case_id)
    rule = f"{triage.sla_hours} h, {triage.sla_rule_source}" if triage and triage.sla_hours else ""
    pended = pended_for(world, case_id)
    if pended:
        rule += f", and {in_words(pended)} pended" if rule else f"{in_words(pended)} pended"
    yield Deadline(
        name="Decide the request",
        side="payer",
        since=intake.received_at,
        due=decision_deadline(world, case_id),
        met=final.at if final and by_staff else None,
        ended=final.at if final and final.action == CaseStatus.CLOSED else None,
        now=world.clock.now,
        rule=rule,
    )


def _pends(world: ManagedCareWorld, moves: Sequence[Entry]) -> Iterator[Deadline]:
    for place, move in enumerate(moves):
        if move.action != _PENDED:
            continue
        after = moves[place + 1] if place + 1 < len(moves) else None
        answered = after is not None and after.actor != _CALENDAR
        yield Deadline(
            name="Answer the request for information",
            side="provider",
            since=move.at,
            due=move.at + timedelta(days=world.operations.pend_days),
            met=after.at if after is not None and answered else None,
            now=world.clock.now,
            rule=f"{world.operations.pend_days} days",
        )


def _windows(world: ManagedCareWorld, moves: Sequence[Entry]) -> Iterator[Deadline]:
    """Yield the times within which a denial could be appealed."""
    rules = world.operations
    windows = {
        CaseStatus.DENIED: ("File an internal appeal", rules.internal_appeal_days),
        CaseStatus.APPEAL_UPHELD: ("File an external appeal", rules.external_appeal_days),
    }
    used = {CaseStatus.APPEALED, CaseStatus.EXTERNAL_APPEALED}
    for place, move in enumerate(moves):
        name, days = windows.get(CaseStatus(move.action), ("", 0))
        if name:
            after = next((later.at for later in moves[place + 1 :] if later.action in used), None)
            yield Deadline(
                name=name,
                side="provider",
                since=move.at,
                due=move.at + timedelta(days=days),
                met=after,
                now=world.clock.now,
                optional=True,
                rule=f"{days} days",
            )


def _appeals(world: ManagedCareWorld, case_id: str) -> Iterator[Deadline]:
    for appeal in world.appeals.of(case_id):
        due = appeal_deadline(world, appeal)
        receipt = world.appeals.receipt_of(appeal.id)
        if receipt is not None:
            yield Deadline(
                name=f"Acknowledge the {appeal.level} appeal",
                side="payer",
                since=appeal.filed_at,
                due=receipt_deadline(world, appeal),
                met=receipt.acknowledged_at,
                now=world.clock.now,
                rule=f"{world.operations.appeal_acknowledge_workdays} business days",
            )
        yield Deadline(
            name=f"Decide the {appeal.level} appeal",
            side="payer",
            since=appeal.filed_at,
            due=due,
            met=appeal.decided_at,
            now=world.clock.now,
            rule=in_words(due - appeal.filed_at),
        )


def in_words(span: timedelta) -> str:
    """Return a length of time in its two largest units: ``4 d 20 h``, ``35 min``."""
    minutes = abs(round(span.total_seconds() / 60))
    days, rest = divmod(minutes, 24 * 60)
    hours, minutes = divmod(rest, 60)
    parts = [f"{n} {unit}" for n, unit in ((days, "d"), (hours, "h"), (minutes, "min")) if n]
    return " ".join(parts[:2]) or "0 min"
