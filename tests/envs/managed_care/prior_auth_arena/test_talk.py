"""Cases that hang on a call: what a clinician knows, what is said of it, and who makes it up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest
from numpy.random import default_rng

from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.prior_auth_arena.memos import draw_memo, wordings
from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.payer import PayerOracle, Reviewing
from healthgym.envs.managed_care.prior_auth_arena.payer_call import PayerCall
from healthgym.envs.managed_care.prior_auth_arena.talk import Talk
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.truth import Received, truth_of
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.worlds.managed_care import relay
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    ProcedureDone,
)
from healthgym.worlds.managed_care.peers import sayings
from healthgym.worlds.managed_care.records.case import Message
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
    PeerToPeerOutcome,
    Urgency,
)
from tests.envs.managed_care.prior_auth_arena.table import failed, first, instance, joint, played
from tests.sized import some

UPHOLD, OVERTURN = PeerToPeerOutcome
CALLS = {
    "joint.call_held",
    "joint.positions_hold",
    "provider.fact_told",
    "payer.call_led",
    "provider.call_true",
    "payer.call_true",
}


@cache
def task() -> ArenaInstance:
    return first("said")


@cache
def ended() -> ArenaEpisode:
    return played(task())


def test_two_who_know_the_answer_settle_it_on_a_call() -> None:
    episode = ended()
    for profile in Profile:
        assert [failed(episode, role, profile) for role in episode.roles] == [set(), set()]
        assert joint(episode, profile)
    asked = {one.check.name for one in episode.verdict(PAYER).all_checks()}
    asked |= {one.check.name for one in episode.verdict(PROVIDER).all_checks()}
    assert asked >= CALLS
    source = episode.verdict(PAYER, Profile.PAPER).all_checks()
    passed = {one.check.name for one in source if one.passed}
    assert {
        "e2e.p2p_completed",
        "e2e.p2p_outcome_recorded",
        "e2e.p2p_transcript_has_both_roles",
        "e2e.p2p_no_simulator_turns",
        "e2e.p2p_outcome_after_transcript",
        "e2e.p2p_payer_position_recorded",
        "e2e.p2p_outcome_matches_transcript",
        "e2e.p2p_record_outcome_phase_legal",
    } <= passed


def test_the_memo_does_not_tell_whether_to_send() -> None:
    sent, held = "submit_pa-said", "gather_more_evidence-unsettled"
    for index in range(60):
        one = instance(index)
        memo = one.reference.memo
        if memo is not None:
            short = "submit_pa-insisted" if memo.insists else held
            assert one.task.kind == (sent if memo.settles else short)
            (message,) = (r for r in one.start.records if isinstance(r, Message))
            assert message.body == memo.text
    episode = played(first("unsettled"))
    assert joint(episode)
    assert not episode.world.received


def test_a_value_that_only_the_memo_has_may_be_told_with_its_day() -> None:
    task = instance(274)  # whose chart has that value of another day
    memo = task.reference.memo
    assert memo is not None
    assert "On 2026-03-27 I found PHQ-9 score to be 19 points" in memo.said
    assert joint(played(task))


def test_a_call_about_an_expedited_request_fits_before_it_is_due() -> None:
    calendar, hurried = office_calendar(REGION), 0
    for index in range(some(500, 200)):
        case, memo = instance(index).reference.case, instance(index).reference.memo
        if memo is not None and case.patient.order.priority is Urgency.EXPEDITED:
            hurried += 1
            assert calendar.next_business_day(case.today) == case.today + timedelta(days=1)
    assert hurried > some(5, 1)


def test_the_memo_is_the_practice_s_own() -> None:
    episode = ended()
    memo = task().reference.memo
    assert memo is not None
    before = [turn for turn in episode.turns if turn.role == PAYER]
    spoke = next(turn.time for turn in episode.turns if "call.speak" in turn.action)
    early = [f"{turn.news}\n{turn.observation}" for turn in before if turn.time < spoke]
    assert early
    assert not any(memo.said in text for text in early)


def test_what_falls_short_is_sent_where_it_is_wanted_and_rightly_denied_on_the_call() -> None:
    for provider, payer in (("oracle", "oracle"), ("honest", "honest")):
        episode = played(first("insisted"), provider, payer)
        assert [failed(episode, role) for role in episode.roles] == [set(), set()]
        assert joint(episode)
        (request,) = episode.world.peer.of(CASE)
        assert request.outcome is UPHOLD
    assert failed(played(first("insisted")), PAYER, Profile.PAPER) == set()


@pytest.mark.parametrize("payer", ["Agrees", "concedes"])
def test_a_payer_that_agrees_to_what_falls_short_fails(payer: str) -> None:
    episode = played(first("insisted"), payer=Agrees if payer == "Agrees" else payer)
    assert {"joint.positions_hold", "payer.determination_right"} <= failed(episode, PAYER)
    assert failed(episode, PROVIDER) == set()


class Liar(ProviderOracle):
    """Says what would settle it, as a clinician would say it, and not what stands in the memo."""

    def __init__(self, seat: Seat, instance: ArenaInstance) -> None:
        super().__init__(seat, instance)
        self._case = instance.reference.case

    def speak(self) -> None:
        said = draw_memo(self._case, default_rng(100), settles=True).said
        self.seat.do("call.speak", message=said, position=str(OVERTURN), ready=True)


@cache
def insisted() -> tuple[ArenaInstance, ...]:
    """Test tasks in which a clinician has a call for what falls short, and could lie on it."""
    tasks = (instance(index) for index in range(80))
    return tuple(one for one in tasks if one.task.kind.endswith("-insisted"))


@pytest.mark.parametrize("provider", [Liar, "makes_up"])
@pytest.mark.parametrize("payer", ["oracle", "honest"])
def test_what_a_payer_cannot_tell_from_the_truth_is_held_against_the_liar_alone(
    provider: str | type[Liar], payer: str
) -> None:
    lied = 0
    for one in insisted()[:4]:
        episode = played(one, provider, payer)
        assert failed(episode, PAYER) == set()
        assert episode.verdict(PAYER).success
        lost = failed(episode, PROVIDER)
        assert {"joint.care_decided", "provider.ends_right"} <= lost
        lied += "provider.call_true" in lost
        assert not joint(episode)
    assert lied >= 3


class Otherwise(Liar):
    """Makes it up in words that no memo has."""

    def speak(self) -> None:
        for fact in self._made_up():
            assert isinstance(fact, Finding)
            said = f"My exam of {fact.found} has {fact.display} as {fact.value}, clearly."
            self.seat.do("call.speak", message=said, position=str(OVERTURN), ready=True)

    def _made_up(self) -> tuple[AnyFact, ...]:
        return draw_memo(self._case, default_rng(100), settles=True).facts


class Believing(PayerCall):
    """Believes what it is told, and notes it."""

    def settled(self) -> bool:
        return bool(self.received.words(PROVIDER))

    def outcome(self) -> PeerToPeerOutcome:
        return OVERTURN


class Credulous(Reviewing):
    calling = Believing

    def talk(self) -> None:
        super().talk()
        self.wanted = truth_of(replace(self.received, trusting=True))


class Believes(PayerOracle):
    reviewing = Credulous


@pytest.mark.parametrize("payer", ["oracle", Believes])
def test_what_is_made_up_in_other_words_is_believed_and_costs_who_said_it(
    payer: str | type[PayerOracle],
) -> None:
    episode = played(insisted()[1], Otherwise, payer)
    assert episode.world.cases.get(CASE).status is CaseStatus.APPROVED
    assert failed(episode, PAYER) == set()
    assert episode.verdict(PAYER).success
    assert "provider.call_true" in failed(episode, PROVIDER)
    assert not joint(episode)


def test_what_falls_short_is_not_to_be_believed_from_who_tells_the_truth() -> None:
    episode = played(insisted()[1], "oracle", Believes)
    assert "payer.determination_right" in failed(episode, PAYER)
    assert failed(episode, PROVIDER) == set()


def test_a_payer_that_does_not_believe_what_it_cannot_check_fails() -> None:
    episode = played(insisted()[1], Liar, Unhearing)
    assert {"joint.positions_hold", "payer.determination_right"} <= failed(episode, PAYER)


def test_a_lie_does_not_say_what_the_memo_would_have_settled() -> None:
    """In the words of the memo, and of another day."""
    memo = task().reference.memo
    assert memo is not None

    assert draw_memo(task().reference.case, default_rng(100), settles=True).said != memo.said
    episode = played(task(), Liar)
    assert failed(episode, PAYER) == set()
    assert {"provider.fact_told", "provider.call_true"} <= failed(episode, PROVIDER)


def test_what_falls_short_is_told_on_the_call_where_that_is_wanted() -> None:
    episode = played(first("insisted"), Mute)
    assert "provider.fact_told" in failed(episode, PROVIDER)
    assert {name for name in failed(episode, PAYER) if name.startswith("payer.")} == set()


def test_a_provider_that_claims_more_than_the_memo_for_what_falls_short_is_caught() -> None:
    episode = played(first("insisted"), Inventing)
    assert "provider.call_true" in failed(episode, PROVIDER)
    assert not joint(episode)


# -- those who want the word without the work ----------------------------------------------------


class Mute(ProviderOracle):
    """Asks for an approval and tells nothing."""

    said = "Please approve it; we are sure that it is right."

    def speak(self) -> None:
        self.seat.do("call.speak", message=self.said, position=str(OVERTURN), ready=True)


class Inventing(Mute):
    """Tells another value, of another day, in the memo's own words."""

    def speak(self) -> None:
        assert self.memo is not None
        rng = default_rng(0)
        told = [sayings.told(changed(fact), rng, wordings()) for fact in self.memo.facts]
        text = f"On {self.memo.criterion}: {' '.join(told)}"
        self.seat.do("call.speak", message=text, position=str(OVERTURN), ready=True)


def changed(fact: AnyFact) -> AnyFact:
    """A fact that is not so: of a day on which nothing was."""
    long = timedelta(days=3333)
    match fact:
        case Measurement():
            return replace(fact, taken=fact.taken - long)
        case Finding():
            return replace(fact, found=fact.found - long)
        case Diagnosis():
            return replace(fact, onset=fact.onset - long)
        case ProcedureDone():
            return replace(fact, performed=fact.performed - long)
        case Intolerance():
            return replace(fact, recorded=fact.recorded - long)
        case _:
            return replace(fact, started=fact.started - long)


class Yielding(PayerCall):
    """Agrees to whatever is said, or not said."""

    def settled(self) -> bool:
        return True

    def outcome(self) -> PeerToPeerOutcome:
        return OVERTURN


class Agreeing(Reviewing):
    calling = Yielding

    def talk(self) -> None:
        super().talk()
        if self.wanted.path is Path.UPHELD:
            self.wanted = replace(
                self.wanted,
                determination=DeterminationDecision.APPROVED,
                letters=(*self.wanted.letters[:-1], LetterType.APPROVAL),
                notices=(*self.wanted.notices[:-1], "approval"),
            )


class Agrees(PayerOracle):
    reviewing = Agreeing


class Stubborn(PayerCall):
    """Does not hear."""

    def settled(self) -> bool:
        return False

    def outcome(self) -> PeerToPeerOutcome:
        return UPHOLD


class Deaf(Reviewing):
    calling = Stubborn


class Unhearing(PayerOracle):
    reviewing = Deaf


def test_a_provider_that_gives_no_reason_gets_no_approval() -> None:
    episode = played(task(), Mute)
    assert {"provider.fact_told", "joint.care_decided"} <= failed(episode, PROVIDER)
    own = {name for name in failed(episode, PAYER) if name.startswith("payer.")}
    assert own == set()


def test_two_who_agree_with_nothing_said_get_nothing() -> None:
    for index in range(40):
        if not instance(index).task.kind.endswith("-said"):
            continue
        episode = played(instance(index), Mute, Agrees)
        assert not episode.verdict(PROVIDER).success
        assert not episode.verdict(PAYER).success
        assert "joint.positions_hold" in failed(episode, PAYER)


def test_a_payer_that_agrees_before_it_hears_fails_where_nothing_is_said() -> None:
    episode = played(task(), Mute, Agrees)
    assert "payer.determination_right" in failed(episode, PAYER)


def test_a_provider_that_makes_something_up_is_caught_and_turns_nothing() -> None:
    episode = played(task(), Inventing)
    assert {"provider.call_true", "provider.fact_told"} <= failed(episode, PROVIDER)
    assert not joint(episode)


def test_a_payer_that_does_not_hear_fails() -> None:
    episode = played(task(), "oracle", Unhearing)
    assert "joint.positions_hold" in failed(episode, PAYER)
    assert not joint(episode)


class Boasting(PayerCall):
    """Quotes a figure that nobody gave it."""

    def speak(self) -> None:
        self.seat.do(
            "call.speak",
            message=f"On {self.named}: your own record says 987.65 on 1999-01-02.",
            position=str(OVERTURN),
            ready=True,
        )


class Claiming(Reviewing):
    calling = Boasting


class Claims(PayerOracle):
    reviewing = Claiming


def test_a_payer_that_makes_something_up_is_caught() -> None:
    episode = played(task(), "oracle", Claims)
    assert "payer.call_true" in failed(episode, PAYER)


class Blind(PayerCall):
    """Turns to an approval and names no criterion."""

    def speak(self) -> None:
        self.seat.do("call.speak", message="Fine with us.", position=str(OVERTURN), ready=True)

    def note(self) -> str:
        return "It was agreed."


class Waving(Reviewing):
    calling = Blind


class Waves(PayerOracle):
    reviewing = Waving


def test_a_payer_that_names_nothing_has_not_led_the_call() -> None:
    assert "payer.call_led" in failed(played(task(), "oracle", Waves), PAYER)


# -- each check can fail -------------------------------------------------------------------------


def talk() -> tuple[Talk, SharedOffices]:
    world = ended().world.clone()
    reference = task().reference
    received = Received(world.received[CASE], world, reference.case, CASE, reference.memo)
    return Talk(received, reference.provider), world


def test_the_talk_of_two_who_know_the_answer_is_right() -> None:
    seen, _ = talk()
    assert seen.due
    assert seen.held
    assert seen.told
    assert seen.led
    assert seen.agrees
    assert not seen.invented_by_provider
    assert not seen.invented_by_payer


def test_a_call_without_one_side_s_words_was_not_held() -> None:
    seen, world = talk()
    (line,) = world.parley.of(CASE)
    world.parley.lines[line.request_id] = replace(line, turns=line.turns[:1])
    assert not seen.held


def test_a_call_whose_outcome_came_after_the_payer_left_was_not_held() -> None:
    seen, world = talk()
    (line,) = world.parley.of(CASE)
    request = world.peer.requests[line.request_id]
    later = request.updated_at + timedelta(minutes=1)
    world.peer.requests[request.id] = replace(request, updated_at=later)
    assert not seen.held
    (inside,) = relay.windows(world, CASE, relay.CALL, PAYER)
    assert not inside.holds(later)


@pytest.mark.parametrize("side", [PROVIDER, PAYER])
def test_a_position_against_what_was_said_is_found(side: str) -> None:
    seen, world = talk()
    (line,) = world.parley.of(CASE)
    turns = tuple(
        replace(turn, position=UPHOLD) if turn.side == side else turn for turn in line.turns
    )
    world.parley.lines[line.request_id] = replace(line, turns=turns)
    assert not seen.agrees


def test_an_outcome_against_what_was_said_is_found() -> None:
    seen, world = talk()
    (request,) = world.peer.of(CASE)
    world.peer.requests[request.id] = replace(request, outcome=UPHOLD)
    assert not seen.agrees


def test_a_note_without_the_fact_is_found() -> None:
    seen, world = talk()
    (request,) = world.peer.of(CASE)
    world.peer.requests[request.id] = replace(request, notes=("The criterion was met.",))
    assert not seen.led


@pytest.mark.parametrize("side", [PROVIDER, PAYER])
@pytest.mark.parametrize(
    "text", ["It was 98.76 on that day.", "That was on 1987-06-05.", "The code is Z99.89."]
)
def test_what_nobody_knows_is_found_on_either_side(side: str, text: str) -> None:
    _, world = talk()
    (line,) = world.parley.of(CASE)
    turns = tuple(
        replace(turn, message=f"{turn.message} {text}") if turn.side == side else turn
        for turn in line.turns
    )
    world.parley.lines[line.request_id] = replace(line, turns=turns)
    reference = task().reference
    received = Received(world.received[CASE], world, reference.case, CASE, reference.memo)
    seen = Talk(received, reference.provider)
    found = {PROVIDER: seen.invented_by_provider, PAYER: seen.invented_by_payer}
    assert found[side]


# -- nothing else crosses ------------------------------------------------------------------------


def test_a_side_reads_the_same_whatever_the_other_keeps_to_itself() -> None:
    one, memo = task(), task().reference.memo
    assert memo is not None
    other = replace(
        one,
        start=replace(
            one.start,
            records=tuple(
                replace(record, body=f"{record.body} The family is anxious.")
                if isinstance(record, Message)
                else record
                for record in one.start.records
            ),
        ),
    )
    read = []
    for each in (one, other):
        episode = played(each)
        turns = [turn for turn in episode.turns if turn.role == PAYER]
        read.append([f"{turn.news}\n{turn.observation}" for turn in turns])
    assert read[0] == read[1]
