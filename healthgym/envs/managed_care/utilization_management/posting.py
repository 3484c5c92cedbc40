"""How letters and notices are written and sent."""

from __future__ import annotations

from collections.abc import Iterable

from healthgym.envs.managed_care.utilization_management.working import Desk
from healthgym.worlds.managed_care.apps.payer import letter_texts
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.service_levels import case_timers
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType

_WRITERS = (WorkerRole.LETTER_SPECIALIST,)


def post(desk: Desk, case_id: str, kind: LetterType) -> None:
    """Write a letter, check it, and send it by the channel on which the request came.

    Args:
        desk: Where calls are made.
        case_id: The case.
        kind: Which letter.
    """
    known = {one.id for one in desk.world.letters.of(case_id)}
    writer = desk.somebody(_WRITERS)
    words = _words(desk, case_id, kind)
    if not desk.do(f"payer_letter_center.generate_{kind}", case_id=case_id, actor=writer, **words):
        return
    letter = next(one for one in desk.world.letters.of(case_id) if one.id not in known)
    channel = desk.world.cases.get(case_id).letter_channel
    desk.do("payer_letter_center.audit_completeness", letter_id=letter.id)
    desk.do("payer_letter_center.deliver", letter_id=letter.id, channel=str(channel))


def _words(desk: Desk, case_id: str, kind: LetterType) -> dict[str, str]:
    """Return the text of a letter where the office renders none of its own."""
    world = desk.world
    if world.rules is Rules.STRICT:
        return {}
    slots = dict(letter_texts.facts(world, world.cases.get(case_id), kind))
    due = letter_texts.day(world, world.clock.now + case_timers(world.operations).pend)
    if "due_date" in slots:
        slots["due_date"] = due
    return {"body": letter_texts.body(kind, slots)}


def tell(desk: Desk, case_id: str, notices: Iterable[str]) -> None:
    """Send the member notices.

    Args:
        desk: Where calls are made.
        case_id: The case.
        notices: Which.
    """
    for notice in notices:
        desk.do(
            "payer_letter_center.generate_notification",
            case_id=case_id,
            notification_type=str(notice),
            actor=desk.somebody(_WRITERS),
        )
