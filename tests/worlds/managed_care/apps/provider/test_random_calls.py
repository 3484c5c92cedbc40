"""Whatever a provider does in whatever order, its case stays one that could have happened."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.machines import case_edges
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderDeterminationAction,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.sized import some
from tests.worlds.managed_care.apps.provider.office import CASE, office
from tests.worlds.managed_care.replay import call

Call = tuple[str, Mapping[str, Any]]
OWN: Mapping[str, Any] = {"case_id": CASE}
FORM = dict.fromkeys(forms.of_case(office(), CASE)[0].required, "1")


def decision(action: str, **more: Any) -> Call:
    given_now = OWN | {"final_action": action} | more
    return "provider/auth.finalize_provider_determination", given_now


#: A walk through a case, which half of the draws follow, and calls that lead away from it.
WALK: tuple[Call, ...] = (
    ("provider/docs.create_submission_bundle", OWN | {"document_ids": ["DOC-1"]}),
    decision("gather_more_evidence", override_reason="no progress note"),
    ("provider/forms.save_form_response", OWN | {"answers": FORM}),
    ("provider/docs.create_submission_bundle", OWN | {"document_ids": ["DOC-1", "DOC-2"]}),
    decision("submit_pa"),
    ("provider/auth.submit_authorization", OWN | {"channel": "portal"}),
    ("provider/auth.respond_to_pend", OWN | {"note": "attached", "document_ids": ["DOC-2"]}),
    ("provider/auth.file_appeal", OWN | {"rationale": "criterion 2 is met"}),
    ("provider/auth.file_external_appeal", OWN | {"rationale": "criterion 2 is met"}),
)
ASIDE: tuple[Call, ...] = (
    decision("do_not_submit", override_reason="no authorization needed"),
    decision("do_not_submit"),
    ("provider/auth.submit_authorization", OWN | {"channel": "fhir"}),
    ("provider/auth.respond_to_pend", OWN | {"note": "n", "document_ids": ["DOC-3"]}),
    ("provider/docs.upload_evidence", OWN | {"kind": "other", "title": "Note", "content": "x"}),
    ("provider/docs.upload_evidence", OWN | {"kind": "other", "title": " "}),
    ("provider/docs.create_submission_bundle", OWN | {"document_ids": []}),
    ("provider/forms.save_form_response", OWN | {"answers": {"request_plan_name": "2"}}),
    ("provider/cases.get_case", OWN),
    ("provider/auth.check_status", OWN | {"channel": "portal"}),
    ("core/move", OWN | {"to": "pended_action_required"}),
    ("core/move", OWN | {"to": "denied"}),
    ("core/move", OWN | {"to": "appeal_upheld"}),
)
CALLS = (*WALK, *ASIDE)
STEPS = st.lists(st.one_of(st.just(-1), st.integers(0, len(CALLS) - 1)), max_size=40)


def could_have_happened(world: ManagedCareWorld, strict: bool) -> None:
    """Assert what holds of any case, and what holds of it under strict rules."""
    numbers = sorted(row.number for row in (*world.history.entries, *world.history.looks))
    assert numbers == list(range(1, len(numbers) + 1))
    case = world.cases.get(CASE)
    moves = [row for row in world.history.of(CASE) if row.kind == "transition"]
    for row in moves:
        assert CaseStatus(row.action) in case_edges()[CaseStatus(row.source)]
    for row, follower in pairwise(moves):
        assert row.action == follower.source
    assert not moves or moves[-1].action == case.status
    packets = list(world.authorizations.packets.values())
    handed = [row for row in moves if row.action in ("submitted", "resubmitted")]
    replies = sum(row.name == "payer_hub.respond_to_pend" for row in world.history.entries)
    assert len(handed) == len(packets) + replies
    assert (case.payer_intake_case_id is not None) >= bool(packets)
    for packet in packets:
        owners = {world.documents.get(one).patient_id for one in packet.attached_document_ids}
        assert owners <= {case.patient_id}
    for appeal in world.appeals.appeals.values():
        assert appeal.rationale.strip()
    if strict:
        _held_strictly(world)


def _held_strictly(world: ManagedCareWorld) -> None:
    case = world.cases.get(CASE)
    decided = list(world.authorizations.determinations.values())
    submitting = ProviderDeterminationAction.SUBMIT_PA
    for one in decided:
        assert one.bundle_document_id or one.final_action is not submitting
        assert one.override_reason.strip() or one.final_action is submitting
    bundles = {one.bundle_document_id for one in decided if one.final_action is submitting}
    packets = list(world.authorizations.packets.values())
    assert len(packets) <= 1
    assert all(packet.payload["bundle_document_id"] in bundles for packet in packets)
    if packets:
        assert not forms.all_missing(forms.of_case(world, CASE))
    kinds = [(d.kind, d.title, d.content) for d in world.documents.documents.values()]
    uploads = [kind for kind in kinds if str(kind[0]) != "submission_bundle"]
    assert len(uploads) == len(set(uploads))
    watched = [due.name for due in world.clock.agenda.entries()]
    assert case.status is not CaseStatus.PENDED_ACTION_REQUIRED or "pend_lapses" in watched
    assert case.status is not CaseStatus.DENIED or case.appeal_due_at is not None


@settings(max_examples=some(60, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(Rules), STEPS)
def test_a_case_stays_one_that_could_have_happened(rules: Rules, steps: list[int]) -> None:
    world, place = office(rules), 0
    for step in steps:
        door, arguments = CALLS[step] if step >= 0 else WALK[place % len(WALK)]
        place += step < 0
        before = world.digest()
        answer = call(world, door, arguments)
        if answer.refusal:
            assert world.digest() == before
        could_have_happened(world, rules is Rules.STRICT)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_the_same_calls_make_the_same_world(steps: list[int]) -> None:
    one, other = office(), office()
    copy = one
    for number, step in enumerate(steps):
        door, arguments = CALLS[step] if step >= 0 else WALK[number % len(WALK)]
        copy = copy.clone()
        call(copy, door, arguments)
        call(other, door, arguments)
    assert copy.digest() == other.digest()
    assert one.digest() == office().digest()
