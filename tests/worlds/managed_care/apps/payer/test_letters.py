"""Letters and notices: what they state, when they are due, and how often."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.payer import letter_texts, notices
from healthgym.worlds.managed_care.apps.payer.criteria import not_met
from healthgym.worlds.managed_care.policies.criteria import AgeCriterion
from healthgym.worlds.managed_care.policies.tree import AllOf, AnyOf, Node, Not
from healthgym.worlds.managed_care.records.review import MdLineItemDecision
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    MemberNotification,
    NurseReviewRecommendation,
    PeerToPeerOutcome,
    SubmissionChannel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    MD_2,
    NURSE,
    STRANGER,
    both,
    decide,
    decided,
    desk,
    escalated,
    finalized,
    find_as_nurse,
    refused,
)

APPROVED, DENIED = DeterminationDecision.APPROVED, DeterminationDecision.DENIED
KEYS = letter_texts.wording()["slots"]
PORTAL, FAX = SubmissionChannel.PORTAL, SubmissionChannel.FAX


def approved(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    return finalized(APPROVED, rules)


def denied(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    return finalized(DENIED, rules)


def pended(rules: Rules = Rules.STRICT, queued: bool = True) -> ManagedCareWorld:
    world = desk(rules, agent_owned_payer_flow=queued)
    request = NurseReviewRecommendation.REQUEST_INFO
    world.nursing.submit(CASE, request, info_requested="Echo\nECG", reviewer_id=NURSE)
    return world


def partial(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    world = escalated(rules)
    line = MdLineItemDecision(
        line_number=1,
        decision=MdReviewDecision.APPROVE,
        approved_units=1,
        denial_rationale="One is enough.",
    )
    decide(world, MdReviewDecision.PARTIAL_APPROVE, line_item_decisions=(line,))
    world.determinations.finalize(CASE, DeterminationDecision.PARTIALLY_APPROVED)
    return world


def in_words(world: ManagedCareWorld) -> ManagedCareWorld:
    """Return a world in which the criteria have words of their own."""
    items = world.nursing.catalog(CASE)
    worded = tuple(replace(one, criterion_text="Heart rhythm is recorded.") for one in items)
    world.nursing.set_catalog(CASE, worded, world.nursing.tree(CASE))
    return world


DUE: dict[LetterType, Callable[..., ManagedCareWorld]] = {
    LetterType.APPROVAL: approved,
    LetterType.DENIAL: denied,
    LetterType.PEND: pended,
    LetterType.PARTIAL_APPROVAL: partial,
}
EACH = pytest.mark.parametrize("kind", DUE)


def write(world: ManagedCareWorld, kind: LetterType, **fields: Any) -> Any:
    view = world.letters.generate(CASE, kind, actor=NURSE, **fields)
    return view["letter"]


def missing(world: ManagedCareWorld, letter_id: str) -> Any:
    return world.letters.check(letter_id)["missing_fields"]


@EACH
def test_a_letter_states_all_that_its_type_states(kind: LetterType) -> None:
    world = DUE[kind]()
    letter = write(world, kind)
    assert missing(world, letter.id) == []
    slots = letter_texts.facts(world, world.cases.get(CASE), kind)
    for name in world.operations.letter_slots[kind]:
        fact = slots[KEYS[name]]
        assert fact
        assert fact in letter.body


@EACH
def test_each_fact_that_goes_missing_is_found_by_name(kind: LetterType) -> None:
    world = DUE[kind]()
    letter = write(world, kind)
    slots = letter_texts.facts(world, world.cases.get(CASE), kind)
    for name in world.operations.letter_slots[kind]:
        body = letter.body.replace(slots[KEYS[name]], "")
        world.letters.letters[letter.id] = replace(letter, body=body)
        assert name in missing(world, letter.id)


@pytest.mark.parametrize("kind", [LetterType.PEND, LetterType.DENIAL])
def test_a_letter_is_judged_by_what_held_when_it_was_written(kind: LetterType) -> None:
    world = DUE[kind]()
    letter = write(world, kind)
    world.clock.advance(timedelta(days=1))
    if kind is LetterType.PEND:
        world.cases.move(CASE, CaseStatus.RESUBMITTED, "provider")
        for one in world.nursing.of(CASE):
            gone = replace(one, superseded_by="reply")
            world.nursing.recommendations[one.id] = gone
    else:
        world.cases.move(CASE, CaseStatus.APPEALED, "provider")
        world.cases.move(CASE, CaseStatus.APPEAL_UPHELD, "C-AMD")
    assert missing(world, letter.id) == []
    assert world.compliance.letters(CASE)["compliant"]
    again = world.letters.reissue(letter.id, "It came back.")["letter"]
    assert missing(world, again.id) == []
    slots = letter_texts.facts(world, world.cases.get(CASE), kind)
    blank = letter.body.replace(slots["service"], "")
    world.letters.letters[letter.id] = replace(letter, body=blank)
    assert missing(world, letter.id) == ["service"]


def test_what_the_letters_state() -> None:
    world = denied()
    letter = write(world, LetterType.DENIAL)
    for fact in ("Ana Bell", CASE, "93653 ablation", "C-2", "2026.03", "physician reviewer"):
        assert fact in letter.body
    assert "C-1" not in letter.body  # a criterion that is met
    assert "April 12, 2026" in letter.body  # thirty days from the denial
    world = partial()
    assert (
        "line 1: 1 unit approved, 1 unit denied" in write(world, LetterType.PARTIAL_APPROVAL).body
    )
    case = world.cases.get(CASE)
    assert case.expires_at is not None
    assert case.expires_at - world.clock.now == timedelta(days=world.operations.authorization_days)
    first, last = map(letter_texts.written, (world.clock.now, case.expires_at))
    held = f"Authorization {case.authorization_number} holds from {first} to {last} for 1 units."
    assert held in world.letters.of(CASE)[-1].body
    world = approved()
    assert "2 units" in write(world, LetterType.APPROVAL).body


@EACH
def test_there_is_one_letter_of_a_type(kind: LetterType) -> None:
    def written(rules: Rules) -> ManagedCareWorld:
        world = DUE[kind](rules)
        write(world, kind)
        return world

    told = both(written, lambda w: write(w, kind), RefusalCode.DUPLICATE)
    assert "reissue" in told


def test_a_pend_letter_that_was_written_at_once_is_not_written_again() -> None:
    both(
        lambda r: pended(r, queued=False),
        lambda w: write(w, LetterType.PEND),
        RefusalCode.DUPLICATE,
    )


@pytest.mark.parametrize("rules", Rules)
@EACH
def test_no_letter_without_its_decision(rules: Rules, kind: LetterType) -> None:
    for other, make in DUE.items():
        if other is not kind:
            world = make(rules)
            refused(world, RefusalCode.WRONG_STATE, lambda w=world: write(w, kind))
    world = desk(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: write(world, kind))


def test_a_letter_is_written_by_the_payers_people() -> None:
    for person in (STRANGER, "C-PA"):
        both(
            approved,
            lambda w, p=person: w.letters.generate(CASE, LetterType.APPROVAL, actor=p),
            RefusalCode.ROLE_FORBIDDEN,
        )


@pytest.mark.parametrize(
    "cited", [(), ("CP-9",), ("CP-1 s2", "CP-9")], ids=["none", "other", "more"]
)
def test_a_letter_cites_the_policy_of_the_case(cited: tuple[str, ...]) -> None:
    both(
        denied,
        lambda w: write(w, LetterType.DENIAL, policy_citations=cited),
        RefusalCode.BAD_ARGUMENT,
    )


def test_a_denial_has_the_last_day_of_an_appeal_and_no_span() -> None:
    world = denied()
    until = world.cases.get(CASE).appeal_due_at
    assert until is not None
    told = write(world, LetterType.DENIAL).appeal_information
    assert f"until {until:%B} {until.day}, {until.year};" in told
    assert "days" not in told


def test_a_notice_of_denial_ends_its_reason_once() -> None:
    world = denied()
    notice = world.letters.notify_member(CASE, MemberNotification.DENIAL, NURSE)
    assert ".." not in str(notice)


def test_a_letter_with_a_gap_is_not_written() -> None:
    def unnumbered(rules: Rules) -> ManagedCareWorld:
        world = approved(rules)
        world.cases.put(replace(world.cases.get(CASE), authorization_number=None))
        return world

    told = both(unnumbered, lambda w: write(w, LetterType.APPROVAL), RefusalCode.UNSUPPORTED_CLAIM)
    assert "authorization number" in told


def test_a_denial_after_a_call_has_its_letter() -> None:
    world = decided(MdReviewDecision.P2P_REVIEW)
    (request,) = world.peer.of(CASE)
    world.peer.complete(request, PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION, MD_2)
    world.determinations.finalize(CASE, DENIED)
    assert missing(world, write(world, LetterType.DENIAL).id) == []


def test_what_was_intended_before_a_call_is_told_as_an_intention() -> None:
    world = decided(MdReviewDecision.P2P_REVIEW)
    (word,) = world.medical.of(CASE)
    (request,) = world.peer.of(CASE)
    upheld = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
    world.peer.complete(request, upheld, MD_2, "C-2: no value was given.")
    world.determinations.finalize(CASE, DENIED)
    body = write(world, LetterType.DENIAL).body
    before = (
        f"Before the call with the ordering clinician the physician wrote: {word.denial_rationale}"
    )
    assert f"Clinical rationale: {before}" in body
    assert "What the call came to, and with it the decision: C-2: no value was given." in body


def test_an_overridden_case_has_its_letter() -> None:
    world = finalized(APPROVED)
    assert missing(world, write(world, LetterType.APPROVAL).id) == []
    world = decided(MdReviewDecision.APPROVE)
    world.determinations.finalize(
        CASE, DENIED, overridden=True, override_reason="The echo was misread.", actor=MD_2
    )
    letter = write(world, LetterType.DENIAL)
    assert "The echo was misread." in letter.body
    assert missing(world, letter.id) == []


def test_a_remark_stands_under_the_rendered_text_and_replaces_nothing() -> None:
    world = approved()
    letter = write(world, LetterType.APPROVAL, body="Wishing you well.")
    assert letter.body.endswith("Remarks: Wishing you well.")
    assert missing(world, letter.id) == []
    assert write(approved(Rules.COMPAT), LetterType.APPROVAL, body="Yes.").body == "Yes."


def test_another_office_brings_its_own_words() -> None:
    world = approved()
    letter = world.letters.write(
        CASE, LetterType.PEND, "calendar", subject="Closed", body="It lapsed."
    )
    assert (letter.subject, letter.body) == ("Closed", "It lapsed.")


# -- delivery ------------------------------------------------------------------------------------


def written(rules: Rules) -> ManagedCareWorld:
    world = approved(rules)
    write(world, LetterType.APPROVAL)
    return world


def sent(rules: Rules) -> ManagedCareWorld:
    world = written(rules)
    world.letters.deliver("LET-0001", PORTAL)
    return world


@pytest.mark.parametrize("channel", SubmissionChannel)
@pytest.mark.parametrize("rules", Rules)
def test_a_letter_goes_out_on_any_channel(rules: Rules, channel: SubmissionChannel) -> None:
    letter = written(rules).letters.deliver("LET-0001", channel)["letter"]
    assert letter.delivery_channel is channel
    assert letter.delivered_at is not None


def test_a_letter_goes_out_once_on_a_channel() -> None:
    both(sent, lambda w: w.letters.deliver("LET-0001", PORTAL), RefusalCode.DUPLICATE)
    world = sent(Rules.STRICT)
    world.letters.deliver("LET-0001", FAX)
    refused(world, RefusalCode.DUPLICATE, lambda: world.letters.deliver("LET-0001", PORTAL))


def test_a_letter_is_written_again_with_a_reason_and_goes_out_anew() -> None:
    both(sent, lambda w: w.letters.reissue("LET-0001", " "), RefusalCode.MISSING_TEXT)
    world = sent(Rules.STRICT)
    again = world.letters.reissue("LET-0001", "typo")["letter"]
    assert again.reissued_from_letter_id == "LET-0001"
    assert again.delivered_at is None
    assert "typo" in again.body
    world.letters.deliver(again.id, PORTAL)


def test_a_letter_that_is_no_longer_so_stays_in() -> None:
    def overtaken(rules: Rules) -> ManagedCareWorld:
        world = written(rules)
        found = world.determinations.active(CASE)
        assert found is not None
        gone = replace(found, superseded_by="later")
        world.determinations.determinations[found.id] = gone
        return world

    both(overtaken, lambda w: w.letters.deliver("LET-0001", PORTAL), RefusalCode.WRONG_STATE)


# -- notices -------------------------------------------------------------------------------------

FITTING = {
    MemberNotification.APPROVAL: approved,
    MemberNotification.DENIAL: denied,
    MemberNotification.PEND: pended,
    MemberNotification.APPEAL_RIGHTS: denied,
}


@pytest.mark.parametrize("notice", FITTING)
def test_a_notice_fits_the_case_and_is_sent_once(notice: MemberNotification) -> None:
    both(
        lambda r: desk(r),
        lambda w: w.letters.notify_member(CASE, notice, NURSE),
        RefusalCode.WRONG_STATE,
    )

    def told(rules: Rules) -> ManagedCareWorld:
        world = FITTING[notice](rules)
        world.letters.notify_member(CASE, notice, NURSE)
        return world

    both(told, lambda w: w.letters.notify_member(CASE, notice, NURSE), RefusalCode.DUPLICATE)


@pytest.mark.parametrize("told", [False, True])
def test_the_notice_of_a_denial_is_owed_once_where_it_is_appealed_already(told: bool) -> None:
    world = denied()
    if told:
        world.letters.notify_member(CASE, MemberNotification.DENIAL, NURSE)
    world.clock.advance(timedelta(minutes=9))
    world.cases.move(CASE, CaseStatus.APPEALED, "provider")
    if not told:
        world.letters.notify_member(CASE, MemberNotification.DENIAL, NURSE)
    with pytest.raises(Refusal) as caught:
        world.letters.notify_member(CASE, MemberNotification.DENIAL, NURSE)
    assert caught.value.code is RefusalCode.DUPLICATE


def test_a_denied_case_is_no_good_news() -> None:
    both(
        denied,
        lambda w: w.letters.notify_member(CASE, MemberNotification.APPROVAL, NURSE),
        RefusalCode.WRONG_STATE,
    )


def test_what_notices_say() -> None:
    message = approved().letters.notify_member(CASE, MemberNotification.APPROVAL, NURSE)["message"]
    assert f"AUTH-{CASE}-000001" in message.body
    assert not message.action_required
    world = in_words(denied())
    message = world.letters.notify_member(CASE, MemberNotification.DENIAL, NURSE)["message"]
    assert "it is not so, or they do not say:\n- Heart rhythm is recorded.\n" in message.body
    assert "until April 12, 2026" in message.body
    assert message.action_required


@pytest.mark.parametrize("notice", MemberNotification)
def test_a_notice_has_plain_words_and_no_codes(notice: MemberNotification) -> None:
    world = in_words(denied())
    words = notices.notice(world, world.cases.get(CASE), notice)[1]
    assert not re.search(r"C-\d|93653|2026\.\d|_|[A-Z]{2,}-\d", words)
    assert "ablation" in words


def test_a_partly_approved_member_reads_what_was_not_approved_and_may_appeal() -> None:
    world = partial()
    message = world.letters.notify_member(CASE, MemberNotification.APPROVAL, NURSE)["message"]
    assert message.subject == "Part of your care was approved"
    for said in ("We approved 1 unit of it, and not the rest", "right to appeal until"):
        assert said in message.body


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (CaseStatus.APPEAL_UPHELD, "the first decision stands"),
        (CaseStatus.EXTERNAL_APPEALED, "the first decision stands"),
        (CaseStatus.APPEAL_OVERTURNED, "the care is approved"),
        (CaseStatus.EXTERNAL_APPEAL_UPHELD, "agree with the first decision"),
        (CaseStatus.EXTERNAL_APPEAL_OVERTURNED, "disagree with the first decision"),
    ],
)
def test_what_came_of_an_appeal_is_told_in_words(status: CaseStatus, said: str) -> None:
    world = denied()
    case = replace(world.cases.get(CASE), status=status)
    assert said in notices.notice(world, case, MemberNotification.APPEAL_OUTCOME)[1]


def test_a_letter_has_each_criterion_with_id_and_words() -> None:
    assert "- C-2: Heart rhythm is recorded." in write(in_words(denied()), LetterType.DENIAL).body
    world = in_words(desk(agent_owned_payer_flow=True))
    request = NurseReviewRecommendation.REQUEST_INFO
    world.nursing.submit(CASE, request, info_requested="A record on C-2.", reviewer_id=NURSE)
    letter = write(world, LetterType.PEND)
    assert "What these criteria ask for:\n- C-2: Heart rhythm is recorded." in letter.body
    assert missing(world, letter.id) == []


def test_every_type_of_letter_has_its_words() -> None:
    for kind in LetterType:
        assert letter_texts.subject(kind)
        slots = dict.fromkeys(KEYS.values(), "value")
        assert "value" in letter_texts.body(kind, slots)
    for notice in MemberNotification:
        world = denied()
        assert all(notices.notice(world, world.cases.get(CASE), notice))


def under(tree: Node, rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    """Return a world whose two criteria are put together so; the second is not met."""
    world = desk(rules)
    world.nursing.set_catalog(CASE, world.nursing.catalog(CASE), tree)
    return find_as_nurse(world, CriterionResult.NOT_MET)


C_1, C_2 = (AgeCriterion(id=name, display="age") for name in ("C-1", "C-2"))


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        (AllOf(id="G1", parts=(C_1, C_2)), ("C-2",)),
        (AllOf(id="G1", parts=(Not(id="G2", part=C_1), Not(id="G3", part=C_2))), ("C-1",)),
        (AnyOf(id="G1", parts=(C_1, C_2)), ()),
    ],
    ids=["both", "must-not-hold", "either"],
)
def test_a_denial_rests_on_what_would_turn_it(tree: Node, named: tuple[str, ...]) -> None:
    assert not_met(under(tree), CASE) == named


@pytest.mark.parametrize("asked", ["C-2: please send an echo", "Echo\nECG"], ids=["named", "other"])
def test_a_request_rests_on_the_policy_and_the_criteria_that_it_names(asked: str) -> None:
    world = desk()
    world.nursing.submit(
        CASE, NurseReviewRecommendation.REQUEST_INFO, info_requested=asked, reviewer_id=NURSE
    )
    (letter,) = world.letters.of(CASE)
    policy = world.cases.policy(CASE)
    assert policy is not None
    head = f"{policy.policy_family or policy.id}, version {policy.policy_version}: "
    rest = "C-2: Text of C-2." if "C-2" in asked else policy.policy_summary
    assert letter.supporting_basis == head + rest


def test_the_source_rests_everything_on_the_policys_summary() -> None:
    world = pended(Rules.COMPAT, queued=False)
    (letter,) = world.letters.of(CASE)
    assert letter.supporting_basis == "Ablation rule"
