"""Calls between the two sides: whose turn it is, what is refused, how they end, what is filed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from numpy.random import default_rng

from healthgym.core.episode import Episode, StepOutcome
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat, Table
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care import payer_calls, relay
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.line import LONGEST, require_speech
from healthgym.worlds.managed_care.parley import Limits
from healthgym.worlds.managed_care.relay import CALL, PAYER, PROVIDER
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    PeerToPeerStatus,
)
from tests.envs.managed_care.prior_auth_arena.table import FAMILY, first

UPHOLD, OVERTURN = PeerToPeerOutcome
REQUEST = "P2P-0001"


def handed_in(limits: Limits | None = None) -> ArenaEpisode:
    """An episode in which the provider has sent its request."""
    family = ArenaFamily("medium", limits=limits) if limits else FAMILY
    task = first("approved")
    episode = Episode(family, task, SparseReward(), family.rules)
    table = Table(episode)
    ProviderOracle(Seat(episode, default_rng(0), PROVIDER, table.others), task).begin()
    return episode


def offered(limits: Limits | None = None) -> ArenaEpisode:
    """The same, and the payer offers times for a call."""
    episode = handed_in(limits)
    clock, doctor = episode.world.clock, episode.world.staff.workers[physician(episode)]
    opens = office_calendar(doctor.region, doctor.hours).next_opening(clock.now)
    clock.advance(opens + timedelta(hours=1) - clock.now)
    episode.world.peer.request(CASE, physician(episode))
    payer_calls.offer(episode.world, CASE, physician(episode))
    return episode


def on_the_line(limits: Limits | None = None) -> ArenaEpisode:
    """The same, at the time of the call."""
    episode = offered(limits)
    world = episode.world
    slot = world.peer.requests[REQUEST].offered_slots[0]
    world.authorizations.respond_to_peer_to_peer(CASE, REQUEST, "", slot)
    world.peer.schedule(REQUEST, physician(episode))
    both_wait(episode, until=lambda: world.parley.open_line is not None)
    return episode


def both_wait(episode: ArenaEpisode, until: Callable[[], bool]) -> None:
    """Let both sides wait, whatever they hear meanwhile."""
    for _ in range(20):
        if until():
            return
        waits(episode, episode.to_act() or PROVIDER)
    raise AssertionError("It does not come to that.")


def told(episode: ArenaEpisode, role: str) -> str:
    """What a side was told so far."""
    return "\n".join(one.text for one in episode.world.notices if one.role == role)


def physician(episode: ArenaEpisode) -> str:
    return next(episode.world.staff.with_role(WorkerRole.PHYSICIAN_REVIEWER))


def waits(episode: ArenaEpisode, role: str, days: int = 20) -> StepOutcome:
    until = episode.world.clock.now + timedelta(days=days)
    return episode.step(call("wait", until=f"{until:%Y-%m-%dT%H:%M}"), role)


def says(
    episode: ArenaEpisode, role: str, text: str = "The scan was clear.", **more: object
) -> StepOutcome:
    said = {"position": str(OVERTURN), **more}
    return episode.step(call("call.speak", message=text, **said), role)


# -- turns ---------------------------------------------------------------------------------------


def test_both_are_told_when_a_call_begins_and_the_provider_speaks_first() -> None:
    episode = on_the_line()
    assert "You speak first" in told(episode, PROVIDER)
    assert "The provider speaks first" in told(episode, PAYER)
    assert episode.to_act() == PROVIDER


def test_turns_alternate_and_each_hears_what_the_other_said() -> None:
    episode = on_the_line()
    assert "The payer is to answer" in says(episode, PROVIDER, "C2 is met.").observation
    assert episode.to_act() == PAYER
    assert "The provider says on the call of request P2P-0001: C2 is met." in told(episode, PAYER)
    says(episode, PAYER, "What shows it?", position=str(UPHOLD))
    assert "What shows it?\n(Position: uphold_intended_adverse_decision." in told(episode, PROVIDER)
    assert episode.to_act() == PROVIDER


def test_a_call_is_over_when_both_have_nothing_to_add() -> None:
    episode = on_the_line()
    says(episode, PROVIDER, "That is all.", ready=True)
    over = says(episode, PAYER, "We agree.", ready=True)
    assert "The call is over." in over.observation
    (filed,) = relay.transcripts(episode.world, CASE)
    assert [turn.actor for turn in filed.turns] == [PROVIDER, PAYER]
    assert filed.provider_position == filed.payer_position == str(OVERTURN)
    assert "both sides have nothing to add" in told(episode, PROVIDER)


def test_a_call_is_over_when_each_side_has_had_its_turns() -> None:
    episode = on_the_line(Limits(turn_pairs=2))
    for number in range(2):
        says(episode, PROVIDER, f"Point {number} of ours.")
        says(episode, PAYER, f"Doubt {number} of ours.", position=str(UPHOLD))
    assert "each side has had its turns" in told(episode, PROVIDER)
    refused = says(episode, PAYER, "One thing more.")
    assert refused.errors == ("The call is over, and none is open; nothing can be said.",)


def test_a_call_in_which_nobody_speaks_ends_when_its_time_is_up() -> None:
    episode = on_the_line()
    both_wait(episode, until=lambda: not episode.world.speaker)
    (line,) = episode.world.parley.of(CASE)
    assert line.ended == "time"
    assert "its time is up" in told(episode, PAYER)
    assert relay.transcripts(episode.world, CASE)[0].payer_position is None


def test_a_call_takes_so_many_calls_at_most() -> None:
    episode = on_the_line(Limits(calls=3))
    for _ in range(3):
        assert not episode.step(call("inbox.list_messages"), PROVIDER).errors
    (line,) = episode.world.parley.of(CASE)
    assert line.ended == "calls"
    assert "as many calls as it may" in told(episode, PAYER)


NOISE = {
    "empty": "",
    "blank": "  \n ",
    "enormous": "x" * (LONGEST + 1),
    "control": "\x00\x01\x02",
    "surrogate": "\ud800 surrogate",
    "numbers": "12 34 ++",
    "replacement": "�\x07",
    "latin-1": "ÿþýüûúùø÷öõôóòñðïî" * 10,
    "mojibake": bytes(range(192, 256)).decode("latin-1") + " Ã©Ã¨ Ã¼Ã¶",
    "cyrillic-page": bytes(range(192, 256)).decode("cp1251") + "ÿþýüûú" * 20,
    "all-scripts": "".join(map(chr, range(0x0600 + 32, 0x1200, 37))),
    "base64": "aGVhbHRoZ3ltIGlzIGEgc3VpdGUgb2YgZW52aXJvbm1lbnRz" * 3,
    "one-letter": "a" * 300,
    "consonants": "xkqz vbnm trpq wxyzz ghjkl bcdfg",
}


@pytest.mark.parametrize("text", NOISE.values(), ids=list(NOISE))
def test_what_nobody_could_say_is_refused_and_nothing_changes(text: str) -> None:
    episode = on_the_line()
    before = episode.world.content_digest()
    refused = says(episode, PROVIDER, text)
    assert len(refused.errors) == 1
    assert episode.world.content_digest() == before
    assert episode.to_act() == PROVIDER


@pytest.mark.parametrize(
    "text",
    [
        "OK.",
        "C2: BMI 31.0 kg/m² (2026-03-10), Z68.31; eGFR 48 mL/min/1.73 m².",
        "Señor Muñoz, né à Québec: déjà opéré.",
        "Bệnh nhân đã được điều trị bằng vật lý trị liệu.",
        "Пациент получал лечение шесть недель.",
        "患者已接受六周物理治疗。",
        "µ-opioids, β-blockers, Ménière's disease and Sjögren's syndrome",
        "MRI, CT, EKG, DXA: WNL.",
    ],
    ids=["short", "codes", "accents", "vietnamese", "cyrillic", "chinese", "names", "letters"],
)
def test_what_somebody_could_say_is_heard(text: str) -> None:
    require_speech(text)


def test_a_position_is_one_of_the_outcomes() -> None:
    episode = on_the_line()
    refused = says(episode, PROVIDER, position="maybe")
    assert len(refused.errors) == 1
    assert not episode.world.parley.of(CASE)[0].turns


def test_nobody_speaks_out_of_turn_and_the_other_loses_none() -> None:
    episode = on_the_line()
    before = episode.world.content_digest()
    refused = says(episode, PAYER)
    assert refused.errors == ("It is not your turn; provider acts now.",)
    assert episode.world.content_digest() == before
    assert not says(episode, PROVIDER).errors


def test_nobody_speaks_before_the_call() -> None:
    episode = offered()
    refused = says(episode, PROVIDER)
    assert refused.errors == ("No call is open; one begins at the time that was confirmed for it.",)


def test_what_was_said_can_be_read_by_both() -> None:
    episode = on_the_line()
    says(episode, PROVIDER, "C2 is met.")
    for role in (PAYER, PROVIDER):
        if episode.to_act() != role:
            says(episode, PAYER, "What shows it?", position=str(UPHOLD))
        shown = episode.step(call("call.read", request_id=REQUEST), role)
        assert "provider (overturn_to_approval): C2 is met." in shown.observation
    refused = episode.step(call("call.read", request_id="P2P-0009"), PROVIDER)
    assert refused.errors == ("No call has begun on a request 'P2P-0009'.",)


# -- the outcome ---------------------------------------------------------------------------------


def records(episode: ArenaEpisode, outcome: PeerToPeerOutcome = OVERTURN) -> StepOutcome:
    return episode.step(
        call(
            "p2p.record_outcome",
            request_id=REQUEST,
            payer_contact_id=physician(episode),
            outcome=str(outcome),
            note="C1 was settled.",
        ),
        PAYER,
    )


def test_the_outcome_is_recorded_after_the_words_and_while_the_payer_is_in_the_call() -> None:
    episode = on_the_line()
    says(episode, PROVIDER, ready=True)
    early = records(episode)
    assert early.errors
    assert "is going on" in early.errors[0]
    says(episode, PAYER, "We agree.", ready=True)
    assert not records(episode).errors
    world = episode.world
    (inside,) = relay.windows(world, CASE, CALL, PAYER)
    (filed,) = relay.transcripts(world, CASE)
    done = world.peer.requests[REQUEST]
    assert done.status is PeerToPeerStatus.COMPLETED
    assert inside.begin <= filed.at <= done.updated_at == inside.end


def test_an_outcome_without_a_call_is_refused() -> None:
    episode = offered()
    both_wait(episode, until=lambda: episode.to_act() == PAYER)
    assert "follows a call that was held" in records(episode).errors[0]


# -- a time for it -------------------------------------------------------------------------------


def picks(episode: ArenaEpisode, slot: str | None, note: str = "") -> StepOutcome:
    return episode.step(
        call(
            "auth.respond_to_peer_to_peer",
            case_id=CASE,
            request_id=REQUEST,
            note=note,
            selected_slot=slot,
        ),
        PROVIDER,
    )


def test_the_provider_is_told_the_times_and_the_payer_which_is_taken() -> None:
    episode = offered()
    slot = episode.world.peer.requests[REQUEST].offered_slots[1]
    assert slot in told(episode, PROVIDER)
    assert not picks(episode, slot).errors
    assert f"takes {slot} UTC" in told(episode, PAYER)


@pytest.mark.parametrize("slot", ["2020-01-06T15:00:00", "2099-01-05T15:00:00", "soon"])
def test_a_time_that_was_not_offered_is_refused(slot: str) -> None:
    episode = offered()
    before = episode.world.content_digest()
    assert picks(episode, slot).errors
    assert episode.world.content_digest() == before


def test_after_so_many_rounds_there_is_no_call_and_both_are_told() -> None:
    episode = offered(Limits(rounds=2))
    picks(episode, None, "None of these; later in the week, please.")
    assert "later in the week" in told(episode, PAYER)
    payer_calls.offer(episode.world, CASE, physician(episode))
    picks(episode, None, "Not these either.")
    for role in (PROVIDER, PAYER):
        assert "No time was agreed on in 2 rounds" in told(episode, role)
    assert episode.world.peer.requests[REQUEST].status is PeerToPeerStatus.COMPLETED


def test_times_that_nobody_answers_lapse_and_both_are_told() -> None:
    episode = offered()
    request = episode.world.peer.requests
    while request[REQUEST].status is not PeerToPeerStatus.COMPLETED:
        waits(episode, episode.to_act() or PROVIDER)
    for role in (PROVIDER, PAYER):
        assert "have lapsed" in told(episode, role)


def test_times_lapse_with_the_last_of_them() -> None:
    episode = offered()
    request = episode.world.peer.requests
    slots = sorted(request[REQUEST].offered_slots)[:3]
    episode.world.peer.offer(REQUEST, physician(episode), tuple(slots))
    last = moment(slots[-1], "slots")
    while episode.world.clock.now < last:
        assert request[REQUEST].status is PeerToPeerStatus.SLOTS_OFFERED
        waits(episode, episode.to_act() or PROVIDER)
    assert request[REQUEST].status is PeerToPeerStatus.COMPLETED
    assert episode.world.clock.now - last < timedelta(hours=1)


# -- asking for one ------------------------------------------------------------------------------


def test_the_provider_asks_for_a_call_and_the_payer_refuses_with_a_reason() -> None:
    episode = handed_in()
    asked = episode.step(call("auth.request_peer_to_peer", case_id=CASE), PROVIDER)
    assert not asked.errors
    again = episode.step(call("auth.request_peer_to_peer", case_id=CASE), PROVIDER)
    assert "asked for already" in again.errors[0]
    both_wait(episode, until=lambda: episode.to_act() == PAYER)
    assert "asks for a call about case" in told(episode, PAYER)
    silent = episode.step(call("call.decline", case_id=CASE, reason=" "), PAYER)
    assert silent.errors
    episode.step(call("call.decline", case_id=CASE, reason="The packet decides it."), PAYER)
    assert "holds no call about case" in told(episode, PROVIDER)
    assert episode.world.parley.wanted(CASE) is None


def test_a_call_that_the_payer_asks_for_answers_the_wish() -> None:
    episode = handed_in()
    episode.step(call("auth.request_peer_to_peer", case_id=CASE), PROVIDER)
    both_wait(episode, until=lambda: episode.to_act() == PAYER)
    episode.world.peer.request(CASE, physician(episode))
    refused = episode.step(call("call.decline", case_id=CASE, reason="No need."), PAYER)
    assert refused.errors == (f"The provider asks for no call about case {CASE}.",)


def test_a_call_about_a_case_that_is_not_with_the_payer_is_not_asked_for() -> None:
    task = first("approved")
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules)
    refused = episode.step(call("auth.request_peer_to_peer", case_id="CASE-ACT-001"), PROVIDER)
    assert refused.errors


# -- what holds of any world ---------------------------------------------------------------------


def test_a_clone_in_the_middle_of_a_call_goes_on_alike() -> None:
    episode = on_the_line()
    says(episode, PROVIDER, "C2 is met.")
    twin, kept = episode.clone(), episode.snapshot()
    heard = []
    for one in (episode, twin):
        shown = says(one, PAYER, "What shows it?", position=str(UPHOLD)).observation
        heard.append((shown, told(one, PROVIDER), one.world.digest()))
    assert heard[0] == heard[1]
    episode.restore(kept)
    assert len(episode.world.parley.of(CASE)[0].turns) == 1
    assert episode.to_act() == PAYER


@pytest.mark.parametrize("role", [PROVIDER, PAYER])
def test_a_turn_that_fails_half_way_leaves_both_sides_with_nothing_new(
    role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = on_the_line()
    if role == PAYER:
        says(episode, PROVIDER, ready=True)
        episode.news(PAYER)
    before = episode.world.digest()

    def fails(*arguments: object, **more: object) -> None:
        raise OSError("The disk is full.")

    # The last thing that a turn does: the payer's closes the call here.
    where = "file_transcript" if role == PAYER else "leave_phase"
    monkeypatch.setattr(relay, where, fails)
    if role == PROVIDER:
        monkeypatch.setattr(type(episode.world), "notify", fails)
    with pytest.raises(OSError, match=r"The (line|disk)"):
        says(episode, role, ready=True)
    monkeypatch.undo()
    assert episode.world.digest() == before
    other = PAYER if role == PROVIDER else PROVIDER
    assert episode.news(other) == ""
    assert episode.to_act() == role
    assert not says(episode, role, ready=True).errors


def test_a_time_that_is_taken_crosses_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = offered()
    slot = episode.world.peer.requests[REQUEST].offered_slots[0]
    before = episode.world.digest()

    def fails(*arguments: object, **more: object) -> None:
        raise ConnectionError("The line is down.")

    monkeypatch.setattr(type(episode.world), "notify", fails)
    with pytest.raises(OSError, match=r"The (line|disk)"):
        picks(episode, slot)
    monkeypatch.undo()
    assert episode.world.digest() == before
    assert slot not in told(episode, PAYER)
    assert not picks(episode, slot).errors
    assert f"takes {slot} UTC" in told(episode, PAYER)


def test_an_outcome_that_fails_half_way_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = on_the_line()
    says(episode, PROVIDER, ready=True)
    says(episode, PAYER, "We agree.", ready=True)
    before = episode.world.digest()

    def fails(*arguments: object, **more: object) -> None:
        raise OSError("The disk is full.")

    monkeypatch.setattr(relay, "leave_phase", fails)
    with pytest.raises(OSError, match=r"The (line|disk)"):
        records(episode)
    monkeypatch.undo()
    assert episode.world.digest() == before
    assert episode.world.peer.requests[REQUEST].outcome is None
    assert not records(episode).errors


def test_a_case_goes_back_and_forth_so_often_at_most() -> None:
    episode = handed_in(Limits(cycles=1))
    assert episode.world.came(CASE) == 1
    with pytest.raises(Exception, match="has come 1 times"):
        episode.world.practice.asked(CASE)
