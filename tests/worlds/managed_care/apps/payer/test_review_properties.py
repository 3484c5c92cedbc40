"""Whatever the payer's people do, in whatever order: what always holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from healthgym.worlds.managed_care.apps.payer import peer_calls
from healthgym.worlds.managed_care.refusals import Refusal
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CriterionResult,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    PeerToPeerOutcome,
    SubmissionChannel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.sized import some
from tests.worlds.managed_care.apps.payer.review_desk import (
    AMD,
    CASE,
    EXT,
    MD,
    MD_2,
    NURSE,
    NURSE_2,
    SLOTS,
    decide,
    desk,
    find_as_nurse,
    play,
)

Act = Callable[[ManagedCareWorld], object]
PEOPLE = st.sampled_from([NURSE, NURSE_2, MD, MD_2, AMD, EXT, "SYSTEM", "W-404"])
DESK_LETTERS = [
    LetterType.APPROVAL,
    LetterType.PARTIAL_APPROVAL,
    LetterType.DENIAL,
    LetterType.PEND,
]


def _request(world: ManagedCareWorld) -> str:
    requests = world.peer.of(CASE)
    return requests[-1].id if requests else "P2P-0"


def _appeal(world: ManagedCareWorld) -> str:
    appeals = world.appeals.of(CASE)
    return appeals[-1].id if appeals else "APL-0"


def _letter(world: ManagedCareWorld) -> str:
    letters = world.letters.of(CASE)
    return letters[-1].id if letters else "LET-0"


def _wait(world: ManagedCareWorld) -> None:
    world.clock.advance(timedelta(days=1))


@st.composite
def acts(draw: st.DrawFn) -> Act:
    """Draw something that somebody does at one of the desks."""
    who = draw(PEOPLE)
    result = draw(st.sampled_from(CriterionResult))
    said = draw(st.sampled_from(NurseReviewRecommendation))
    word = draw(st.sampled_from(MdReviewDecision))
    final = draw(st.sampled_from(DeterminationDecision))
    called = draw(st.sampled_from(PeerToPeerOutcome))
    kind = draw(st.sampled_from(DESK_LETTERS))
    heard = draw(st.sampled_from(AppealOutcome))
    level = draw(st.sampled_from(["internal", "external"]))
    options: list[Act] = [
        lambda w: find_as_nurse(w, result),
        lambda w: w.nursing.submit(
            CASE, said, clinical_notes="n", info_requested="ECG", reviewer_id=who
        ),
        lambda w: decide(
            w, word, reviewer_id=who, info_requested="ECG", info_deadline="2026-03-15"
        ),
        lambda w: w.nursing.supersede_requests(CASE, "ANSWERED"),
        lambda w: w.determinations.finalize(
            CASE, final, actor=who, overridden=True, override_reason="reason"
        ),
        lambda w: w.peer.offer(_request(w), who, SLOTS),
        lambda w: w.peer.schedule(_request(w), who),
        lambda w: peer_calls.send_turn(w, _request(w), "Hello?"),
        lambda w: w.peer.record_outcome(_request(w), who, called),
        lambda w: w.letters.generate(CASE, kind, actor=NURSE),
        lambda w: w.letters.deliver(_letter(w), SubmissionChannel.FAX),
        lambda w: w.appeals.file(CASE, "r", (), level),
        lambda w: w.appeals.assign_internal_appeal_reviewer(_appeal(w), who),
        lambda w: w.appeals.decide_internal_appeal(_appeal(w), who, heard, "r"),
        _wait,
    ]
    return draw(st.sampled_from(options))


#: What a letter at the desk follows.
_FOLLOWS = {"approval": "approved", "denial": "denied", "partial_approval": "partially_approved"}


@settings(max_examples=some(60, 20), deadline=None)
@given(
    rules=st.sampled_from(Rules),
    status=st.sampled_from(["submitted", "under_review"]),
    steps=st.lists(acts(), max_size=25),
)
def test_one_determination_counts_no_letter_is_without_it_and_the_log_only_grows(
    rules: Rules, status: str, steps: list[Act]
) -> None:
    world = desk(rules, status)
    last = 0
    for step in steps:
        letters = set(world.letters.letters)
        before = world.digest()
        try:
            play(world, lambda step=step: step(world))
        except Refusal:
            assert world.digest() == before
        active = [d for d in world.determinations.of(CASE) if not d.superseded_by]
        assert len(active) <= 1
        for name in set(world.letters.letters) - letters:
            wanted = _FOLLOWS.get(world.letters.letters[name].letter_type)
            assert wanted is None or active[0].final_decision == wanted
        numbers = [entry.number for entry in world.history.entries]
        assert numbers == sorted(set(numbers))
        assert len(numbers) >= last
        last = len(numbers)
        assert len([n for n in world.nursing.of(CASE) if not n.superseded_by]) <= 1
        assert len([m for m in world.medical.of(CASE) if not m.superseded_by]) <= 1


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(acts(), max_size=25))
def test_in_a_strict_world_nobody_has_two_parts_in_a_case(steps: list[Act]) -> None:
    world = desk()
    for step in steps:
        try:
            play(world, lambda step=step: step(world))
        except Refusal:
            continue
    nurses = {n.reviewer_id for n in world.nursing.of(CASE)}
    physicians = {m.reviewer_id for m in world.medical.of(CASE)}
    peers = {p.payer_contact_id for p in world.peer.of(CASE)} - {None}
    appeals = {a.assigned_reviewer_id for a in world.appeals.of(CASE)} - {None}
    parts = [nurses, physicians, peers, appeals]
    assert len(set().union(*parts)) == sum(map(len, parts))
    for made in world.determinations.of(CASE):
        if made.final_decision is DeterminationDecision.DENIED:
            assert made.determined_by in (MD, MD_2)
