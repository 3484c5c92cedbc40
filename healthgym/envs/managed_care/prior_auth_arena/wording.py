"""What each side is told first."""

from __future__ import annotations

from datetime import timedelta

from healthgym.core.family import EpisodeConfig
from healthgym.envs.managed_care.prior_auth_arena.task import due
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart

_PROVIDER = (
    "The payer's desks are worked by somebody else, who sees what you send and nothing more. With "
    "wait you hand over: you have the turn again when something reaches you, or at the time that "
    "you name. Clinicians of the practice write memos, which are in the inbox; what they know and "
    "no record holds cannot be sent, but it can be said when the payer's physician calls. There "
    "you speak with call.speak, in turn, and say nothing that records and memos do not. Send the "
    "request, or record why it is not sent, by {due:%A, %Y-%m-%d %H:%M} UTC. Where the payer "
    "decides against what its policy grants, or not in time, take what way there is."
)
_PAYER = (
    "Your work is the intake queue, and every request in it: what other offices have sent "
    "already, and what reaches you from {provider}, whose desks are worked by somebody else; "
    "what you send is all that they see. You have the turn when something reaches you. See each "
    "request through to its end: intake, triage, review, determination and correspondence, each "
    "step by somebody who may do it and is on duty, under that person's id. Who works here, as "
    "what and when, is on the roster in the handbook. Judge by the policy that is in force for the "
    "member on the day of the request and by what was sent, and by nothing else; cite what you "
    "rely on. Before a denial for want of a single criterion a physician calls: there you speak "
    "with call.speak, in turn, name the criterion, and record afterwards what came of it, with the "
    "criterion and what was said. With wait you hand over, until something reaches you or the time "
    "that you name. How the plan works is in the handbook, and its numbers are those that hold "
    "today. Where you denied a request of {provider}, stay until the time to appeal is over, and "
    "hear an appeal that comes. Call finish when nothing is left to do, and nothing more has come "
    "in for two months."
)


_SPELL = (
    "After {calls} calls in a row without wait the turn passes by itself, for {minutes} minutes "
    "unless something reaches you before."
)


def provider_brief(instruction: str, start: WorldStart, rules: EpisodeConfig) -> str:
    """Return what the provider's side is told: the request, and how turns pass."""
    return f"{instruction} {_PROVIDER.format(due=due(start))} {_in_a_row(rules)}"


def payer_brief(start: WorldStart, rules: EpisodeConfig) -> str:
    """Return what the payer's side is told, which is nothing of any request, and how turns pass."""
    clerks = start.staff.with_role(WorkerRole.INTAKE_COORDINATOR)
    worker = start.staff.workers[next(iter(clerks))]
    return (
        f"You work the desks of {start.payer.name}, at first as {worker.name} ({worker.id}, intake "
        f"coordinator); it is {start.now:%A, %Y-%m-%d %H:%M} UTC.\n\n"
        f"{_PAYER.format(provider=start.provider.name)} {_in_a_row(rules)}"
    )


def _in_a_row(rules: EpisodeConfig) -> str:
    minutes = rules.rest // timedelta(minutes=1) if rules.rest else 0
    return _SPELL.format(calls=rules.spell, minutes=minutes)
