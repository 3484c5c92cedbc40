"""A request for information: what it asks, until when, and what it sets off in other offices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.policies.naming import criteria_named
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.service_levels import case_timers
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    LetterType,
    MdReviewDecision,
    MessageBox,
    MessageKind,
    NurseReviewRecommendation,
    UploadableDocumentKind,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Where a request for information leads; from other statuses it is only a message.
_LEADS_TO = {
    CaseStatus.DRAFT: CaseStatus.DOCS_NEEDED,
    CaseStatus.SUBMITTED: CaseStatus.PENDED_ACTION_REQUIRED,
    CaseStatus.RESUBMITTED: CaseStatus.PENDED_ACTION_REQUIRED,
    CaseStatus.UNDER_REVIEW: CaseStatus.PENDED_ACTION_REQUIRED,
}
#: Kinds of documents by which somebody asks.
_ASKED_FOR = tuple(
    kind for kind in UploadableDocumentKind if kind is not UploadableDocumentKind.OTHER
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def items(text: str) -> tuple[str, ...]:
    """Return what a request lists: one item a line, or between semicolons.

    What stands behind a criterion and a semicolon, and names no other and no kind of document, is
    said of that criterion: "C6: the latest weight; the note of January is an unsigned draft".
    """
    found: list[str] = []
    for line in text.split("\n"):
        own: list[str] = []
        for part in filter(None, (each.strip(" -*\t") for each in line.split(";"))):
            if own and criteria_named(own[-1]) and not (criteria_named(part) or _kinds(part)):
                own[-1] = f"{own[-1]}; {part}"
            else:
                own.append(part)
        found += own
    return tuple(found)


def _kinds(part: str) -> bool:
    """Return whether a part of a request names a kind of document."""
    flat = re.sub(r"[_-]", " ", part.casefold())
    return any(str(kind).replace("_", " ") in flat for kind in _ASKED_FOR)


def due(world: ManagedCareWorld) -> datetime:
    """Return until when a request made now is to be answered."""
    return world.clock.now + case_timers(world.operations).pend


def require_request(
    world: ManagedCareWorld, case_id: str, listed: str, text: str, deadline: str
) -> None:
    """Refuse a request that asks for nothing, or for it by a date of the reviewer's own making.

    Args:
        world: The world.
        case_id: The case.
        listed: What the reviewer lists as missing.
        text: What goes out in its place where nothing is listed.
        deadline: The deadline that the reviewer gave; blank for that of the rules.

    Raises:
        Refusal: If nothing is asked for, or, in a strict world, nothing is listed or the
            deadline is not that of the rules.
    """
    if not text.strip():
        raise Refusal(
            RefusalCode.MISSING_TEXT,
            "info_requested: say what is missing, one item a line or between semicolons.",
        )
    if world.rules is Rules.COMPAT:
        return
    if not items(listed) or not all(_WORD.search(item) for item in items(listed)):
        raise Refusal(
            RefusalCode.MISSING_TEXT,
            "info_requested: list each missing item in words, one a line or between semicolons.",
        )
    _require_rest(world, case_id)
    wanted = due(world)
    if deadline.strip() and _day(deadline) != wanted.date():
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"info_deadline: {deadline[:40]!r} is not the date that the rules give for case "
            f"{case_id}; accepted is {wanted:%Y-%m-%d}.",
        )


def require_asked_for(world: ManagedCareWorld, asks: bool, wanted: str, deadline: str) -> None:
    """Refuse, in a strict world, a list or a deadline where nothing is asked for.

    Raises:
        Refusal: ``invented_deadline``, or ``bad_argument`` for a list.
    """
    if world.rules is not Rules.STRICT or asks:
        return
    if deadline.strip():
        raise Refusal(
            RefusalCode.INVENTED_DEADLINE,
            "info_deadline: only a request for information has one; leave it blank.",
        )
    if wanted.strip():
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            "info_requested: only a request for information asks for something; leave it blank.",
        )


def _require_rest(world: ManagedCareWorld, case_id: str) -> None:
    """Refuse a request beyond those that the rules allow for one case."""
    asked = [one.recommendation for one in world.nursing.of(case_id)]
    asked_too = [one.decision for one in world.medical.of(case_id)]
    made = asked.count(NurseReviewRecommendation.REQUEST_INFO)
    made += asked_too.count(MdReviewDecision.REQUEST_INFO)
    most = world.operations.pends_most
    if made >= most:
        raise Refusal(
            RefusalCode.LIMIT_REACHED,
            f"Case {case_id} was pended {made} times, and {most} is the most; decide it on what is "
            "there.",
        )


def request_information(
    world: ManagedCareWorld, case_id: str, actor: str, text: str, deadline: str
) -> Mapping[str, object]:
    """Pend a case: tell the provider what is missing, and have a letter written or queued.

    Args:
        world: The world.
        case_id: The case.
        actor: Who asks.
        text: What for.
        deadline: Until when, in the reviewer's words; reckoned by the rules if blank.
    """
    case = world.cases.get(case_id)
    until = due(world)
    target = _LEADS_TO.get(case.status)
    if target is not None:
        world.cases.move(case_id, target, actor)
    by = deadline.strip() or f"{until:%Y-%m-%d}"
    message = world.inbox.post(
        MessageKind.PEND_REQUEST,
        MessageBox.PAYER,
        case_id,
        f"Case {case_id}: information needed",
        f"Review of case {case_id} is on hold. Please send by {by}:\n{_bullets(text)}",
        action_required=True,
    )
    request = world.letters.queue(case_id, LetterType.PEND, text, actor)
    letter = None
    if not world.start.letters_queued:
        letter = world.letters.write(case_id, LetterType.PEND, actor, quiet=True)
    world.intake.audit("request_missing_information", case_id, actor)
    world.history.stage(case_id, "missing_information", "requested", actor)
    world.practice.asked(case_id)
    return {
        "case": world.cases.get(case_id),
        "message": message,
        "letter_request": world.letters.requests[request.id],
        "letter": letter,
    }


def _bullets(text: str) -> str:
    return "\n".join(f"- {item}" for item in items(text)) or text


def _day(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text.strip()).date()
    except ValueError:
        return None
