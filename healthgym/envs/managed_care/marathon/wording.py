"""What the agent is told first: how many cases there are and how they are found, and no case."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from healthgym.envs.managed_care.marathon.desks import CareDesk, Desk, DrillDesk, RequestDesk
from healthgym.envs.managed_care.marathon.task import Piece
from healthgym.envs.managed_care.prior_authorization.wording import vignette
from healthgym.worlds.managed_care.records.case import Message
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import MessageBox, MessageKind

_REQUESTS = (
    "{count} that may need prior authorization; each is a message of its own in your inbox, and "
    "says who has ordered what for whom. Work each through to its end. Decide from the patient's "
    "chart and the payer's policy that is in force, and record your decision: submit_pa, "
    "gather_more_evidence or do_not_submit; with the latter two, name the gaps or the reason as "
    "the handbook says. What you submit has to be complete and true, with no more of the chart "
    "than it takes. If the payer answers, see to it in time. Open one case for each order, and "
    "leave the cases of other patients alone. Nothing may be invented: what the chart does not say "
    'is "not documented".'
)
_REVIEWS = (
    "{count} in the intake queue, at whatever stage each is. See each through to its end: whatever "
    "intake, triage, review, determination and correspondence it still needs, each step by "
    "somebody who may do it and is on duty, under that person's id. Who works here, as what and "
    "when, is on the roster in the handbook. Judge by the policy that is in force for the member "
    "on the day of the request and by what was sent, and by nothing else; cite what you rely on. "
    "Where something has to be asked for, offered or waited for, the practice has its own hours."
)
_CARE = (
    "{count} in the referral queue. Work each person's episode from the referral to where it "
    "rightly ends. Open it with the programme and the priority that the handbook gives, review the "
    "chart, call, and listen. Whether to take part is for the person to decide; do what follows "
    "from the answer, and no more. What you record was said on the phone or stands in the chart, "
    "and nothing else. After the call is filed no other can be made, so ask before what the "
    "assessment needs. If something cannot be finished, say so with its reason."
)
_DRILL = (
    "You are nurse {nurse}. {count} in the intake queue. For each, look up its review data: the "
    "catalog names its policy page. Read the page, and save what the note shows on each criterion: "
    "met; not_met if it contradicts it; unclear if it leaves it open. Cite the note. A case that "
    "is begun and left counts for nothing. Then finish."
)
_ALL = (
    "You may work in any order, and answers, mail and deadlines arrive while you are at another "
    "case; wait lets time pass. What counts is how many cases are finished and right: one that is "
    "begun and left counts for nothing. How the offices work is in the handbook, and its numbers "
    "are those that hold today. Notes that you keep with notes.add stay as long as you work here. "
    "Call finish when nothing is left to do."
)
_CONTEXT = (
    " Plan for a memory of {tokens:,} tokens: all that the tools show here is more, so what you "
    "read early may be gone before you are done."
)


def brief(start: WorldStart, desk: Desk, count: int) -> str:
    """Return the instruction.

    Args:
        start: What the world begins with.
        desk: The desk.
        count: How many cases there are.
    """
    if isinstance(desk, DrillDesk):
        return _DRILL.format(nurse=start.actor, count=f"There {_counted(count, 'case')}")
    worker = start.staff.workers[start.actor]
    house = start.provider if isinstance(desk, RequestDesk) else start.payer
    return (
        f"You are {worker.name} ({worker.id}), {worker.role.in_full} at {house.name}; it is "
        f"{start.now:%A, %Y-%m-%d %H:%M} UTC. {_job(desk, count)}\n\n{_ALL}"
    )


def context(tokens: int) -> str:
    """Return what is said of the memory for which an episode is meant."""
    return _CONTEXT.format(tokens=tokens)


def _job(desk: Desk, count: int) -> str:
    if isinstance(desk, RequestDesk):
        return _REQUESTS.format(count=f"There {_counted(count, 'order')}")
    if isinstance(desk, CareDesk):
        return _CARE.format(count=f"There {_counted(count, 'referral')}")
    return _REVIEWS.format(count=f"There {_counted(count, 'case')}")


def _counted(count: int, what: str) -> str:
    return f"are {count} {what}s" if count > 1 else f"is 1 {what}"


def letters(start: WorldStart, pieces: Mapping[str, Piece]) -> dict[str, Message]:
    """Return the message by which each order comes to the desk, by case."""
    found = {}
    for number, (key, piece) in enumerate(pieces.items(), 1):
        chart = start.charts[piece.patient_id]
        order = next(one for one in chart.orders if one.id == piece.instance.reference.order_id)
        found[key] = Message(
            id=f"MSG-ORD-{number:04d}",
            kind=MessageKind.INTERNAL_NOTE,
            box=MessageBox.PAYER,
            subject=f"Order {number} of {len(pieces)}",
            body=vignette(start, chart.patient, order),
            created_at=start.now - timedelta(minutes=len(pieces) + 1 - number),
            action_required=True,
        )
    return found
