"""What a world holds at the end of a replay, in the tuples in which it was recorded."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from healthgym.worlds.managed_care.records.review import MdCaseDecision, NurseCaseRecommendation
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    NurseReviewRecommendation,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

Json = Any


def of(world: ManagedCareWorld, domain: str) -> Mapping[str, Json]:
    """Return the end of a world as it was recorded; what is empty is left out."""
    if domain == "care_management":
        found: Mapping[str, Json] = importlib.import_module(
            "tests.worlds.managed_care.finals_care"
        ).of(world)
        return found
    return {"cases": {case: of_case(world, case) for case in world.cases.cases}}


def of_case(world: ManagedCareWorld, case_id: str) -> Mapping[str, Json]:
    """Return what a world holds of one authorization case."""
    case = world.cases.cases[case_id]

    def tuples(records: Iterable[Any], take: Callable[[Any], Json]) -> list[Json]:
        rows = [take(record) for record in records if record.case_id == case_id]
        return sorted(rows, key=lambda row: [str(item) for item in _listed(row)])

    stamps = ("appeal_due_at", "expires_at", "pend_due_at")
    found: dict[str, Json] = {
        "status": str(case.status),
        "stamps": [name for name in stamps if getattr(case, name) is not None],
        "channel": _text(case.submission_channel),
        "auth_number": bool(case.authorization_number),
        "outcome_reason": bool(case.outcome_reason),
        "intake": tuples(world.intake.intakes.values(), lambda r: str(r.status)),
        "intake_source": tuples(
            world.intake.intakes.values(), lambda r: [_text(r.request_source), _text(r.method)]
        ),
        "triage": tuples(
            world.triage.triages.values(),
            lambda r: [
                str(r.urgency_level),
                _text(r.disposition),
                r.sla_hours,
                r.gold_card_eligible,
            ],
        ),
        "tasks": tuples(
            world.triage.tasks.values(),
            lambda r: [
                str(r.status),
                str(r.required_role),
                r.queue_name,
                str(r.priority),
                str(r.review_type),
            ],
        ),
        "routing": tuples(world.triage.routings.values(), lambda r: str(r.recommended_target)),
        "nurse_recs": tuples(
            world.nursing.recommendations.values(), lambda r: [str(r.recommendation), _live(r)]
        ),
        "nurse_reviews": len(tuples(world.nursing.reviews.values(), lambda r: r.id)),
        "md_reviews": len(tuples(world.medical.reviews.values(), lambda r: r.id)),
        "md_decisions": tuples(
            world.medical.decisions.values(), lambda r: [str(r.decision), _live(r), r.signed_off]
        ),
        "determinations": tuples(
            world.determinations.determinations.values(),
            lambda r: [
                str(r.source),
                str(r.original_recommendation),
                str(r.final_decision),
                r.overridden,
            ],
        ),
        "review_decisions": tuples(
            world.determinations.decisions.values(),
            lambda r: [str(r.route), str(r.outcome), str(r.reviewer_role)],
        ),
        "letters": tuples(
            world.letters.letters.values(),
            lambda r: [
                str(r.letter_type),
                r.delivered_at is not None,
                _text(r.delivery_channel),
                r.reissued_from_letter_id is not None,
            ],
        ),
        "letter_requests": tuples(
            world.letters.requests.values(),
            lambda r: [str(r.letter_type), r.generated_letter_id is not None],
        ),
        "appeals": tuples(
            world.appeals.appeals.values(),
            lambda r: [
                r.level,
                str(r.status),
                _text(r.outcome),
                r.original_reviewer_id,
                r.independence_validated,
                r.binding_result,
            ],
        ),
        "p2p": tuples(
            world.peer.requests.values(),
            lambda r: [
                str(r.status),
                _text(r.outcome),
                len(r.offered_slots),
                r.scheduled_at is not None,
            ],
        ),
        "p2p_sessions": tuples(
            world.peer.sessions.values(),
            lambda r: [
                str(r.benchmark_side),
                r.turn_limit,
                r.agent_turns_used,
                [turn.speaker for turn in r.transcript],
                r.finalized,
                _text(r.submitted_result),
            ],
        ),
        "provider_determinations": tuples(
            world.authorizations.determinations.values(),
            lambda r: [
                str(r.final_action),
                str(r.recommended_action),
                r.overridden,
                str(r.strength),
                [str(code) for code in r.finding_codes],
            ],
        ),
        "packets": tuples(
            world.authorizations.packets.values(),
            lambda r: [r.status, str(r.channel), r.source_surface, len(r.attached_document_ids)],
        ),
        "form_responses": len(tuples(world.documents.responses.values(), lambda r: r.id)),
        "documents": tuples(world.documents.documents.values(), lambda r: str(r.kind)),
        "messages": tuples(
            world.inbox.messages.values(), lambda r: [str(r.kind), str(r.box), r.action_required]
        ),
    }
    return {name: value for name, value in found.items() if value or name == "status"}


def seeds(seed: str) -> tuple[object, ...]:
    """Return the records that a cell was seeded with, by the name of the seed."""
    now = datetime(2026, 3, 13, 9, tzinfo=UTC)
    if seed == "finalize_approved":
        return (
            NurseCaseRecommendation(
                id="NCR-T",
                case_id="CASE-T",
                intake_case_id="intake-CASE-T",
                reviewer_id="C-NUR",
                recommendation=NurseReviewRecommendation.APPROVE,
                clinical_notes="n",
                created_at=now,
            ),
        )
    if not seed:
        return ()
    denied = seed == "finalize_denied"
    return (
        MdCaseDecision(
            id="MCD-T",
            case_id="CASE-T",
            intake_case_id="intake-CASE-T",
            reviewer_id="C-MD",
            decision=MdReviewDecision.DENY if denied else MdReviewDecision.PARTIAL_APPROVE,
            determination_rationale="r",
            denial_rationale="r",
            signed_off=True,
            created_at=now,
        ),
    )


def _live(record: Any) -> str:
    return "superseded" if record.superseded_by else "active"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _listed(row: Json) -> list[Json]:
    return row if isinstance(row, list) else [row]
