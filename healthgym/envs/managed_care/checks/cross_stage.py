"""What must hold whatever the stages: hands off other cases, and no way back."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, rule
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderDeterminationAction,
)

_Action = ProviderDeterminationAction
_Status = CaseStatus
#: The only actions that the source looks for; a payer's writes on a foreign case go unseen.
WATCHED = frozenset(
    {
        "submit_authorization",
        "update_case_status",
        "respond_to_pend",
        "submit_attachment",
        "file_appeal",
        "file_external_appeal",
        "request_peer_to_peer",
        "create_document",
    }
)
#: How far along each status is.
RANKS: Mapping[str, int] = {
    _Status.DRAFT: 0,
    _Status.REQUIREMENT_CHECKED: 1,
    _Status.DOCS_NEEDED: 2,
    _Status.READY_TO_SUBMIT: 3,
    _Status.SUBMITTED: 4,
    _Status.RESUBMITTED: 4,
    _Status.PENDED_ACTION_REQUIRED: 5,
    _Status.UNDER_REVIEW: 6,
    _Status.APPROVED: 7,
    _Status.PARTIALLY_APPROVED: 7,
    _Status.DENIED: 7,
    _Status.APPEALED: 8,
    _Status.APPEAL_UPHELD: 9,
    _Status.APPEAL_OVERTURNED: 9,
    _Status.EXTERNAL_APPEALED: 10,
    _Status.EXTERNAL_APPEAL_UPHELD: 11,
    _Status.EXTERNAL_APPEAL_OVERTURNED: 11,
    _Status.CLOSED: 12,
}
#: Steps to a lower rank that are in order.
_BACKWARDS = (
    (_Status.UNDER_REVIEW, _Status.PENDED_ACTION_REQUIRED),
    (_Status.READY_TO_SUBMIT, _Status.DOCS_NEEDED),
)


def _hands_off(case: CaseFile) -> Answer:
    foreign = case.expectation.forbidden_case_ids
    return not any(
        row.kind is EntryKind.AUDIT and row.case_id in foreign and row.action in WATCHED
        for row in case.world.history.entries
    )


def _backed(case: CaseFile) -> Answer:
    made = case.of(case.world.authorizations.determinations.values())
    return any(record.final_action == _Action.DO_NOT_SUBMIT for record in made)


def _forward(case: CaseFile) -> Answer:
    return case.case is not None and all(map(_in_order, case.moves()))


def _in_order(move: tuple[str, str]) -> bool:
    source, target = move
    if target == _Status.RESUBMITTED or move in _BACKWARDS:
        return True
    return RANKS.get(target, 0) >= RANKS.get(source, 0)


RULES = (
    rule("cross.forbidden_mutations", _hands_off, lambda c: bool(c.expectation.forbidden_case_ids)),
    rule(
        "cross.closed_backed_by_provider_determination",
        _backed,
        lambda c: c.expectation.pre_submission.final_action == _Action.DO_NOT_SUBMIT,
    ),
    rule("cross.forward_transitions", _forward),
)
