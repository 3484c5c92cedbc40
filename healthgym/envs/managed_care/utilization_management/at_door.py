"""Requests at a front door: what stands on their records, and whether one was rightly taken in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.payer.front_doors import WAITING
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.doors import Arrival, CallerWords, CallNote
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    SubmissionChannel,
    Urgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The doors of which a request waits at one.
DOORS = tuple(channel for channel in SubmissionChannel if channel in WAITING)
#: Words that may stand around a service or a name and say nothing of it.
_AROUND: frozenset[str] = frozenset(
    (
        *("a", "an", "the", "of", "for", "to", "in", "with", "and", "by", "from", "at", "on"),
        *("request", "requested", "authorization", "prior", "cpt", "hcpcs", "code"),
        *("dr", "md", "rn", "ms", "mr", "mrs", "coordinator"),
    )
)
#: Words that a quotation of an urgency has at least.
_QUOTED = 3
_WORD = re.compile(r"[a-z0-9]+")
_DIGIT = re.compile(r"\d")
#: What precedes a number from abroad, and the digits of one without it.
_COUNTRY, _NATIONAL = "1", 10


def door_of(
    stage: StartStage, urgency: Urgency, numbers: OperatingRules, rng: np.random.Generator
) -> SubmissionChannel | None:
    """Return the front door at which a request waits; None where it is past it.

    An expedited one that has a channel of its own comes by that, if it is one of these.

    Args:
        stage: Where the case is taken over.
        urgency: Of the request.
        numbers: The numbers of the offices.
        rng: Where it comes from.
    """
    if stage is not StartStage.FRONT_DOOR:
        return None
    if urgency is Urgency.EXPEDITED and numbers.expedited_channel in DOORS:
        return numbers.expedited_channel
    return DOORS[int(rng.integers(len(DOORS)))]


def opened(world: ManagedCareWorld, case_id: str) -> ManagedCareWorld:
    """Return a world in which nothing of a case waits at a door: itself, or a clone.

    Args:
        world: A world; it stays as it is.
        case_id: The case.
    """
    waiting = world.doors.waiting(case_id)
    if waiting is None:
        return world
    clone = world.clone()
    clone.doors.arrivals[waiting.id] = replace(waiting, taken_in_at=clone.clock.now)
    clone.intake.open_door(case_id)
    return clone


def renumbered(
    own: Sequence[object], others: Sequence[object], rng: np.random.Generator
) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Return the records of a case and of others, with the ids of what waits at doors mixed up.

    The one that the agent is to find is drawn first and would always have the first number.

    Args:
        own: Records of the case.
        others: Records of the others.
        rng: Where the order comes from.
    """
    known = [one.id for one in (*own, *others) if isinstance(one, Arrival)]
    ids = iter([known[int(place)] for place in rng.permutation(len(known))])

    def anew(records: Sequence[object]) -> tuple[object, ...]:
        return tuple(
            replace(one, id=next(ids)) if isinstance(one, Arrival) else one for one in records
        )

    return anew(own), anew(others)


def taken_in_wrongly(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> str:
    """Return what is wrong with how a request was taken in at its door; empty if nothing.

    Args:
        before: The world as it began.
        after: The world now.
        case_id: The case.
    """
    waiting = before.doors.waiting(case_id)
    if waiting is None:
        return ""
    taken = after.doors.arrivals[waiting.id]
    if taken.taken_in_at is None:
        return "it still waits"
    if taken.taken_in_at > deadlines.door_deadline(before, waiting):
        return "it was taken in too late"
    match taken.channel:
        case SubmissionChannel.FAX:
            right = taken.document_kind is DocumentKind.SUBMISSION_BUNDLE
            return "" if right else f"it is indexed as {taken.document_kind}"
        case SubmissionChannel.EDI:
            return _enveloped(taken)
    return _noted(before, after, taken)


def _enveloped(taken: Arrival) -> str:
    came = taken.envelope
    if came is None:
        return ""
    if taken.sender != came.sender:
        return "the sender is another"
    return "" if taken.control_number == came.control_number else "the control number is another"


def _noted(before: ManagedCareWorld, after: ManagedCareWorld, taken: Arrival) -> str:
    """Return what is wrong with the note of a call, and with what was promised in it."""
    said = taken.said
    notes = [one for one in after.doors.notes.values() if one.case_id == taken.case_id]
    if said is None or len(notes) != 1:
        return "" if said is None else f"{len(notes)} notes are filed"
    case = before.cases.get(taken.case_id)
    order = before.cases.order(case.service_request_id)
    around = _words(f"{before.start.provider.name} {before.staff.role_of(case.assigned_to)}")
    note = notes[0]
    if not _names(note.caller, said.caller, around):
        return "the caller is another"
    if digits(note.callback_number) != digits(said.number):
        return "the number for calling back is another"
    if not _asks_for(note.service, order):
        return "the service is said otherwise"
    if not _claimed(note, said):
        return "the urgency is not what was claimed"
    return _promised(after, taken, said)


def _asks_for(said: str, order: ServiceRequest) -> bool:
    """Return whether words name what was ordered: by its description, its code, or both.

    Beside its code the description may be told in part, each number with what it counts.
    """
    code = _words(order.procedure_code)
    rest = [word for word in _WORD.findall(said.lower()) if word not in code | _AROUND]
    if not rest:
        return not code.isdisjoint(_words(said))
    wanted = _WORD.findall(order.description.lower())
    known, told = set(wanted) - _AROUND, set(rest)
    if not code.isdisjoint(_words(said)):
        return told <= known and _counted(rest) <= _counted(wanted)
    # Two numbers that change places make another order of it.
    return told == known and _counted(rest) == _counted(wanted)


def _counted(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Return each number of some words with the word after it."""
    pairs = zip(words, (*words[1:], ""), strict=True)
    return frozenset((one, after) for one, after in pairs if one.isdigit())


def _promised(after: ManagedCareWorld, taken: Arrival, said: CallerWords) -> str:
    promised = [one for one in after.doors.callbacks.values() if one.case_id == taken.case_id]
    if said.call_back_at is None:
        return "a call is promised that nobody asked for" if promised else ""
    if len(promised) != 1:
        return f"{len(promised)} calls are promised"
    one = promised[0]
    if one.at != said.call_back_at or digits(one.number) != digits(said.number):
        return "the call is promised for another time, or to another number"
    return ""


def _claimed(note: CallNote, said: CallerWords) -> bool:
    """Return whether a note has the caller's words of urgency, or none where none were said."""
    noted, claimed = (_WORD.findall(text.lower()) for text in (note.urgency_words, said.urgency))
    if not claimed:
        return not noted
    return len(noted) >= _QUOTED and f" {' '.join(noted)} " in f" {' '.join(claimed)} "


def _names(said: str, right: str, besides: frozenset[str]) -> bool:
    """Return whether something is called by its name, with no word that says something else."""
    words, wanted = _words(said), _words(right) - _AROUND
    return wanted <= words <= wanted | besides | _AROUND


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def digits(number: str) -> str:
    """Return the digits of a telephone number, without the country's."""
    told = "".join(_DIGIT.findall(number))
    abroad = number.lstrip(" (").startswith("+") or len(told) > _NATIONAL
    return told.removeprefix(_COUNTRY) if abroad else told
