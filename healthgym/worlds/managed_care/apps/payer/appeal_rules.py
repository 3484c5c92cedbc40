"""What an appeal needs: a filing in time, an outsider, and an outcome of its own level."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.payer.reviewers import Part, parts_taken
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.records.review import AppealReview
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    DeterminationDecision,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_OUTCOMES = {
    "internal": (AppealOutcome.APPEAL_UPHELD, AppealOutcome.APPEAL_OVERTURNED),
    "external": (
        AppealOutcome.EXTERNAL_APPEAL_UPHELD,
        AppealOutcome.EXTERNAL_APPEAL_OVERTURNED,
    ),
}


def deadline(world: ManagedCareWorld, case: PriorAuthCase, level: str) -> datetime | None:
    """Return until when a case can be appealed; None if no record says so.

    The window of an internal appeal runs from the denial, that of an external review from the
    decision that upheld it. The source stamps neither, and so has none.

    Args:
        world: The world.
        case: The case.
        level: ``internal`` or ``external``.
    """
    if case.appeal_due_at is None:
        return None
    if level == "internal":
        denied = DeterminationDecision.DENIED
        since = [
            d.created_at for d in world.determinations.of(case.id) if d.final_decision is denied
        ]
    else:
        appeals = (a for a in world.appeals.of(case.id) if a.level == "internal")
        since = [a.decided_at for a in appeals if a.decided_at]
    rules = world.operations
    days = rules.internal_appeal_days if level == "internal" else rules.external_appeal_days
    return since[-1] + timedelta(days=days) if since else case.appeal_due_at


def require_timely(
    world: ManagedCareWorld, case: PriorAuthCase, level: str, rationale: str
) -> None:
    """Refuse an appeal without a reason, or after its window, in a strict world.

    Raises:
        Refusal: If no reason is given or the window has closed.
    """
    if not rationale.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "rationale: say why the decision is wrong.")
    due = deadline(world, case, level)
    if due is not None and world.clock.now > due:
        raise Refusal(
            RefusalCode.ENDED,
            f"The window for an appeal of level {level} of case {case.id} closed at "
            f"{due:%Y-%m-%d %H:%M} UTC.",
        )


def outcome_of(text: str) -> AppealOutcome:
    """Return an outcome by its name.

    Raises:
        Refusal: If it is none.
    """
    try:
        return AppealOutcome(text)
    except ValueError:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{text[:60]!r} is no outcome of an appeal; accepted: {', '.join(AppealOutcome)}.",
        ) from None


def had_part(world: ManagedCareWorld, appeal: Appeal, person: str) -> bool:
    """Return whether somebody reviewed or decided a case before it was appealed."""
    reviewed = {who for who, part in parts_taken(world, appeal.case_id) if part is not Part.APPEAL}
    determined = {one.determined_by for one in world.determinations.of(appeal.case_id)}
    return person in reviewed | determined | {appeal.original_reviewer_id}


def require_outsider(world: ManagedCareWorld, appeal: Appeal, person: str) -> None:
    """Refuse a reviewer who decided what is appealed, in a strict world.

    Raises:
        Refusal: If the person had a part in it.
    """
    if had_part(world, appeal, person):
        raise Refusal(
            RefusalCode.NOT_INDEPENDENT,
            f"{person} had a part in deciding case {appeal.case_id} and cannot review its appeal.",
        )


def require_decision(appeal: Appeal, person: str, outcome: AppealOutcome, rationale: str) -> None:
    """Refuse a decision of the wrong level, without a reason, or by another, in a strict world.

    Raises:
        Refusal: Naming what is wrong.
    """
    accepted = _OUTCOMES[appeal.level]
    if outcome not in accepted:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"outcome: {outcome} is none of an appeal of level {appeal.level}; accepted: "
            f"{', '.join(accepted)}.",
        )
    if not rationale.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "rationale: say why.")
    require_own(appeal, person)


def require_own(appeal: Appeal, person: str) -> None:
    """Refuse work on an appeal that is somebody else's, or nobody's yet, in a strict world.

    Raises:
        Refusal: Naming whose it is.
    """
    if appeal.assigned_reviewer_id != person:
        assigned = appeal.assigned_reviewer_id or "nobody"
        raise Refusal(
            RefusalCode.WRONG_OWNER,
            f"Appeal {appeal.id} is assigned to {assigned}; assign it first, and have it read and "
            "decided by that same person.",
        )


def enclosed(world: ManagedCareWorld, appeal: Appeal) -> tuple[DocumentReference, ...]:
    """Return the documents that came with an appeal, as the log of its filing has them."""
    name = "file_external_appeal" if appeal.level == "external" else "file_appeal"
    names = (
        document
        for entry in world.history.of(appeal.case_id, EntryKind.AUDIT)
        if entry.action == name and entry.at == appeal.filed_at
        for document in entry.details.get("documents", ())
    )
    return tuple(world.documents.get(str(each)) for each in names)


def reviewed(
    world: ManagedCareWorld, appeal: Appeal, old: AppealReview | None, review_id: str, line: int
) -> AppealReview:
    """Return the review of a line that findings are written on: the one there is, or a new one.

    Args:
        world: The world.
        appeal: The appeal.
        old: What was written on the line before; None if nothing was.
        review_id: Id of a new one.
        line: The line.
    """
    now = world.clock.now
    if old is not None:
        return replace(old, updated_at=now)
    intake, triage = world.intake.find(appeal.case_id), world.triage.of(appeal.case_id)
    return AppealReview(
        id=review_id,
        appeal_id=appeal.id,
        case_id=appeal.case_id,
        intake_case_id=intake.id if intake else "",
        triage_record_id=triage.id if triage else "",
        line_number=line,
        created_at=now,
        updated_at=now,
    )
