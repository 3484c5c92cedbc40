"""What holds of the offices whatever was called: records, log, references, independence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

from healthgym.core.journal import Table
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.machines import care_edges, case_edges
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
)
from healthgym.worlds.managed_care.vocabulary.care import CMCaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The decision without which there is no letter of a kind.
FOLLOWS: Mapping[LetterType, DeterminationDecision] = {
    LetterType.APPROVAL: DeterminationDecision.APPROVED,
    LetterType.PARTIAL_APPROVAL: DeterminationDecision.PARTIALLY_APPROVED,
    LetterType.DENIAL: DeterminationDecision.DENIED,
}
#: Fields that name a record which must be there, in whatever application it is kept.
REFERENCES = frozenset(
    {
        "case_id",
        "patient_id",
        "service_request_id",
        "payer_intake_case_id",
        "intake_case_id",
        "triage_record_id",
        "request_id",
        "source_record_id",
        "bundle_document_id",
        "attached_document_ids",
        "document_ids",
        "supporting_document_ids",
        "reissued_from_letter_id",
        "generated_letter_id",
        "session_id",
        "referral_id",
    }
)


def violations(world: ManagedCareWorld) -> Iterator[str]:
    """Return what does not hold of a world, a sentence each."""
    yield from _log(world)
    yield from _moves(world)
    yield from _counting(world)
    yield from _letters(world)
    yield from _lost(world)
    if world.rules is Rules.STRICT:
        yield from _dependent(world)


def records(world: ManagedCareWorld) -> Iterator[tuple[str, str, Any]]:
    """Return every record that the applications keep: table, key, record."""
    for app in world.apps():
        for name, value in vars(app).items():
            if isinstance(value, Table):
                for key, record in value.items():
                    yield f"{type(app).__name__}.{name.strip('_')}", str(key), record


def _log(world: ManagedCareWorld) -> Iterator[str]:
    rows = sorted((*world.history.entries, *world.history.looks), key=lambda row: row.number)
    if [row.number for row in rows] != list(range(1, len(rows) + 1)):
        yield "the numbers of the log have gaps"
    if any(one.at > other.at for one, other in pairwise(rows)):
        yield "the times of the log run backwards"
    if rows and rows[-1].at > world.clock.now:
        yield "the log is ahead of the clock"


def _moves(world: ManagedCareWorld) -> Iterator[str]:
    stood: dict[str, str] = {}
    edges: dict[str, tuple[type[Any], Mapping[Any, Any]]] = {
        **dict.fromkeys(world.cases.cases, (CaseStatus, case_edges())),
        **dict.fromkeys(world.referrals.cases, (CMCaseStatus, care_edges())),
    }
    for row in _transitions(world):
        kind, legal = edges[row.case_id]
        compat_repeat = world.rules is Rules.COMPAT and row.source == row.action
        if kind(row.action) not in legal.get(kind(row.source), ()) and not compat_repeat:
            yield f"{row.case_id} went from {row.source} to {row.action}"
        # The source completes an assessment twice, and writes that it was under way until then.
        twice = world.rules is Rules.COMPAT and row.case_id in world.referrals.cases
        if stood.get(row.case_id, row.source) != row.source and not twice:
            yield f"{row.case_id} left {row.source} and stood at {stood[row.case_id]}"
        stood[row.case_id] = row.action
    for case, status in stood.items():
        book: Mapping[str, Any] = {**world.cases.cases, **world.referrals.cases}
        if book[case].status != status:
            yield f"{case} is {book[case].status}, and by the log {status}"


def _transitions(world: ManagedCareWorld) -> Sequence[Entry]:
    return [row for row in world.history.entries if row.kind == "transition"]


def _counting(world: ManagedCareWorld) -> Iterator[str]:
    """What there is one of at a time: determinations, recommendations, decisions, drafts."""
    for case in world.cases.cases:
        for what, made in (
            ("determinations", world.determinations.of(case)),
            ("recommendations", world.nursing.of(case)),
            ("physician's decisions", world.medical.of(case)),
        ):
            live = [one for one in made if not one.superseded_by]
            if len(live) > 1:
                yield f"{case} has {len(live)} {what} that count"
        decided = world.cases.get(case).status in _DECIDED
        if decided and not world.determinations.of(case):
            yield f"{case} is {world.cases.get(case).status} without a determination"


_DECIDED = frozenset(CaseStatus(str(decision)) for decision in DeterminationDecision)


def _letters(world: ManagedCareWorld) -> Iterator[str]:
    for letter in world.letters.letters.values():
        wanted = FOLLOWS.get(letter.letter_type)
        made = {one.final_decision for one in world.determinations.of(letter.case_id)}
        if wanted is not None and wanted not in made:
            yield f"{letter.id} says {wanted}, which nobody decided"


def _lost(world: ManagedCareWorld) -> Iterator[str]:
    known = set(world.charts)
    for chart in world.charts.values():
        for part in fields(chart):
            value = getattr(chart, part.name)
            if isinstance(value, tuple):
                known |= {one.id for one in value if hasattr(one, "id")}
    rows = list(records(world))
    known |= {key for _, key, _ in rows}
    for table, key, record in rows:
        if table == "CareIntake.referrals":
            continue  # names the case that may be opened for it
        for name, one in _named(record):
            if one not in known:
                yield f"{table} {key}: {name} {one!r} is nowhere"


def _named(record: Any) -> Iterator[tuple[str, str]]:
    if not is_dataclass(record):
        return
    for part in fields(record):
        value = getattr(record, part.name)
        if part.name not in REFERENCES or not value:
            continue
        for one in (value,) if isinstance(value, str) else value:
            yield part.name, one


def _dependent(world: ManagedCareWorld) -> Iterator[str]:
    """Who has two parts in a case, and whether anybody denied who may not."""
    for case in world.cases.cases:
        parts = {
            "nurse": {one.reviewer_id for one in world.nursing.of(case)},
            "physician": {one.reviewer_id for one in world.medical.of(case)},
            "peer": {one.payer_contact_id for one in world.peer.of(case)} - {None},
            "appeal": {one.assigned_reviewer_id for one in world.appeals.of(case)} - {None},
        }
        names = list(parts)
        for place, one in enumerate(names):
            for other in names[place + 1 :]:
                # Who means to deny holds the call: that is one part, not two.
                if (one, other) == ("physician", "peer"):
                    continue
                if both := parts[one] & parts[other]:
                    yield f"{case}: {sorted(map(str, both))} was {one} and {other}"
        for made in world.determinations.of(case):
            role = world.staff.role_of(made.determined_by)
            if made.final_decision is DeterminationDecision.DENIED and role not in _DENIERS:
                yield f"{case} was denied by {made.determined_by}, {role}"


_DENIERS = frozenset({"physician_reviewer"})
