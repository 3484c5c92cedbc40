"""What the agent is told first: which case it is, and what the desk is asked to do."""

from __future__ import annotations

from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.doors import Arrival
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import SubmissionChannel

#: What is said of a case, by where it is taken over.
WHERE = {
    StartStage.INTAKE: "It has just come in and lies at intake.",
    StartStage.TRIAGE: "Intake has confirmed it, and nobody has triaged it yet.",
    StartStage.NURSE_REVIEW: "It is triaged, routed, and waits for a nurse.",
    StartStage.MD_REVIEW: "It waits for a physician; what was done before is on record.",
    StartStage.PEER_TO_PEER: (
        "A physician means to decide adversely and has asked for a call with the clinician who "
        "ordered; nothing has been offered yet."
    ),
    StartStage.APPEAL: (
        "It was denied, and the practice has appealed: the appeal has come in, and nobody has "
        "taken it up yet."
    ),
}
#: What is said of a case that waits at a front door.
_AT_DOOR = {
    SubmissionChannel.FAX: "It came in by fax at {at} UTC and is not indexed yet.",
    SubmissionChannel.EDI: "It came in by EDI at {at} UTC, and its envelope is not taken in yet.",
    SubmissionChannel.PHONE: (
        "It was asked for by telephone at {at} UTC, and the note of the call is not filed yet."
    ),
}
_RULES = (
    "See this one case through to its end: whatever intake, triage, review, determination and "
    "correspondence it still needs, each step by somebody who may do it and is on duty, under "
    "that person's id. Who works here, as what and when, is on the roster in the handbook. Judge "
    "by the policy that is in force for the member on the day of the request and by what was "
    "sent, and by nothing else; cite what you rely on. Where something has to be asked for, "
    "offered or waited for, wait lets time pass; the practice has its own hours. Other cases are "
    "other people's: leave them alone. How the plan works is in the handbook, and its numbers are "
    "those that hold today. Call finish when nothing is left to do."
)


def brief(start: WorldStart, case_id: str, stage: StartStage) -> str:
    """Return the instruction.

    Args:
        start: What the world begins with.
        case_id: The case.
        stage: Where it is taken over.
    """
    worker = start.staff.workers[start.actor]
    return (
        f"You work the desks of {start.payer.name}, at first as {worker.name} ({worker.id}, "
        f"{worker.role.in_full}); it is {start.now:%A, %Y-%m-%d %H:%M} UTC. Case {case_id} is "
        f"yours. {WHERE.get(stage) or _at_door(start, case_id)}\n\n{_RULES}"
    )


def _at_door(start: WorldStart, case_id: str) -> str:
    """Return where a case waits that nobody has opened, and whose it is."""
    come = next(one for one in start.records if isinstance(one, Arrival) and one.case_id == case_id)
    case = next(
        one for one in start.records if isinstance(one, PriorAuthCase) and one.id == case_id
    )
    member = start.charts[case.patient_id].patient
    where = _AT_DOOR[come.channel].format(at=f"{come.received_at:%H:%M}")
    return f"The member is {member.first_name} {member.last_name}, {member.member_id}. {where}"
