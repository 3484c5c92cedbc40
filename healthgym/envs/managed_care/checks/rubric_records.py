"""What a judge reads of a case: what was written and said, and what it rests on, apart.

Some of it is in the hands of whoever is judged. What is not (the chart as it was, the policy, the
words of others) has names of its own, so that a rubric can ask for evidence from there.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime

from healthgym.rewards.rubrics import Record
from healthgym.worlds.managed_care.apps.payer.peer_session import COUNTERPART
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Whoever picks up, as a call names them.
_OTHERS = frozenset({"patient", "other"})
_NONE = "none"
#: What a chart shows besides its documents.
_LISTS = ("conditions", "observations", "procedures", "medications", "allergies")


def request_record(
    before: ManagedCareWorld,
    after: ManagedCareWorld,
    patient_id: str,
    order_id: str,
    policy: Policy,
) -> Record:
    """Return what there is to read of a request, and what it rests on.

    Args:
        before: The world as the episode began, in which nobody has written anything yet.
        after: The world after the episode.
        patient_id: The patient who is meant.
        order_id: The order on file.
        policy: The policy in force.
    """
    chart = before.charts[patient_id]
    listed = (_told(getattr(chart, name)) for name in _LISTS)
    told = {
        "policy": render_page(policy),
        "order": _told(one for one in chart.orders if one.id == order_id),
        "coverage": _told((chart.patient, *chart.coverages)),
        "chart": "\n".join((*listed, _texts((one.title, one.content) for one in chart.documents))),
    }
    request = _requested(before, after, patient_id)
    return Record({**told, "request": request}, {"what is on file": "\n".join(told.values())})


def _requested(before: ManagedCareWorld, after: ManagedCareWorld, patient_id: str) -> str:
    """Return what was opened, decided, made and sent for a patient."""
    old = before.documents.documents
    cases = [one for one in after.cases.cases.values() if one.patient_id == patient_id]
    named = {one.id for one in cases}
    kept = (after.authorizations.determination(one.id) for one in cases)
    written = (one for one in after.documents.documents.values() if one.id not in old)
    answered = after.documents.responses.values()
    sent = after.authorizations.packets.values()
    appeals = after.appeals.appeals.values()
    notes = (entry for name in named for entry in after.history.of(name, EntryKind.STAGE))
    parts = (
        _told(cases),
        _told(line for one in cases for line in after.cases.lines_of(one.id)),
        _told(filter(None, kept)),
        _told(one for one in answered if one.case_id in named),
        _texts((one.title, one.content) for one in written if one.patient_id == patient_id),
        _told(one for one in sent if one.case_id in named),
        _texts(("note", str(entry.details.get("note", ""))) for entry in notes),
        _told(one for one in appeals if one.case_id in named),
    )
    return "\n".join(part for part in parts if part != _NONE) or _NONE


def review_record(world: ManagedCareWorld, case_id: str, policy: Policy) -> Record:
    """Return what there is to read of a review, and what it rests on.

    Args:
        world: The world after the episode.
        case_id: The case.
        policy: The policy in force.
    """
    sessions = (one for one in world.peer.sessions.values() if one.case_id == case_id)
    said = [(turn.speaker, turn.message) for one in sessions for turn in one.transcript]
    letters = world.letters.of(case_id)
    texts = {
        "policy": "\n".join(f"{i.id}: {policy.text(i.id)}" for i in criteria(policy.criteria)),
        "packet": _texts((one.title, one.content) for one in world.documents.of_case(case_id)),
        "nurse review": _told((*world.nursing.reviews_of(case_id), *world.nursing.of(case_id))),
        "physician review": _told((*world.medical.reviews_of(case_id), *world.medical.of(case_id))),
        "call": _texts(said),
        "letters": _texts((str(one.letter_type), one.body) for one in letters),
    }
    return Record(texts, {"the other side's words": _words(said, {COUNTERPART})})


def care_record(world: ManagedCareWorld, case_id: str) -> Record:
    """Return what there is to read of an episode of care management, and what it rests on.

    Args:
        world: The world after the episode.
        case_id: The episode.
    """
    calls = world.outreach.calls(case_id)
    said = [(each.role, each.content) for one in calls for each in one.messages]
    chart = world.care_chart.of(case_id) if case_id in world.referrals.cases else None
    documents = chart.documents if chart else ()
    reviews = (one for one in world.care_chart.reviews.values() if one.case_id == case_id)
    plans = (one for one in world.plans.plans.values() if one.case_id == case_id)
    texts = {
        "referral": _told(
            one for one in world.referrals.referrals.values() if one.case_id == case_id
        ),
        "chart": _texts((one.title, one.content) for one in documents),
        "chart review": _told(reviews),
        "call": _texts(said),
        "assessment": _told(world.assessments.of(case_id)),
        "plan": _told(plans),
    }
    return Record(texts, {"the person's words": _words(said, _OTHERS)})


def _words(said: Iterable[tuple[str, str]], speakers: Container[str]) -> str:
    """Return what some of those said who talked, a line each."""
    return "\n".join(text for who, text in said if who in speakers)


def _texts(said: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{head}: {text}" for head, text in said) or _NONE


def _told(records: Iterable[object]) -> str:
    """Return records as JSON, one a line."""
    return "\n".join(json.dumps(_plain(record), ensure_ascii=False) for record in records) or _NONE


def _plain(value: object) -> object:
    """Return a record as JSON values."""
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
