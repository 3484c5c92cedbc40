"""A payer that does its work succeeds, whatever a provider makes of the call that is due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.prior_auth_arena.generator import ArenaGenerator
from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.task import PRESETS
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.envs.managed_care.utilization_management.posted import notice_kind
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)
from tests.envs.managed_care.prior_auth_arena.table import (
    FAMILY,
    failed,
    first,
    instance,
    joint,
    played,
)
from tests.envs.managed_care.prior_auth_arena.test_joint_mutations import Break, fails, nothing


class Mute(ProviderOracle):
    """Answers no offer."""

    def choose(self) -> None:
        """Do nothing."""

    def offers(self) -> Iterator[PayerPeerToPeerRequest]:
        """What is on offer."""
        for request in self.seat.world.peer.of(CASE):
            if request.status is PeerToPeerStatus.SLOTS_OFFERED:
                yield request

    def answers(self, request: PayerPeerToPeerRequest, note: str, slot: str | None = None) -> None:
        """Answer an offer."""
        self.seat.do(
            "auth.respond_to_peer_to_peer",
            case_id=CASE,
            request_id=request.id,
            note=note,
            selected_slot=slot,
        )


class Coy(Mute):
    """Takes none of the times that are offered, in the same words each time."""

    def choose(self) -> None:
        for request in self.offers():
            self.answers(request, "None of these.")


class Fickle(Mute):
    """Takes none of the times, in other words each time."""

    def choose(self) -> None:
        for request in self.offers():
            self.answers(request, f"None of these {len(request.notes)} times.")


class Latest(Mute):
    """Takes the last time, and shortly before it."""

    def choose(self) -> None:
        for request in self.offers():
            last = request.offered_slots[-1]
            soon = moment(last, "slots") - timedelta(minutes=10)
            if self.seat.now < soon:
                self.seat.rest(soon)
            self.answers(request, "", last)


class Quits(ProviderOracle):
    """Is done as soon as it has answered a request for information."""

    def answer(self) -> None:
        super().answer()
        self.seat.do("finish")


class Takes(ProviderOracle):
    """Is done as soon as it has taken a time."""

    def choose(self) -> None:
        super().choose()
        if any(one.provider_selected_slot for one in self.seat.world.peer.of(CASE)):
            self.seat.do("finish")


class Absent(ProviderOracle):
    """Takes a time, and says nothing then."""

    def speak(self) -> None:
        self.seat.hand_over(self.seat.now + timedelta(days=3))


class Reads(ProviderOracle):
    """Looks at the line until its calls are used, and says nothing."""

    def speak(self) -> None:
        self.seat.do("call.read", request_id=self.seat.world.peer.of(CASE)[-1].id)


class Begs(ProviderOracle):
    """Asks for an approval turn after turn, and gives no reason."""

    position = str(PeerToPeerOutcome.OVERTURN_TO_APPROVAL)

    def speak(self) -> None:
        spoken = len(self.seat.offices.parley.lines)
        said = f"Please approve it, {'very ' * spoken}kindly."
        self.seat.do("call.speak", message=said, position=self.position, ready=False)


class Tarries(ProviderOracle):
    """Answers a request for information in the last hours."""

    def answer(self) -> None:
        due = self.seat.world.cases.get(CASE).pend_due_at
        assert due is not None
        while self.seat.now < due - timedelta(minutes=90):
            self.seat.rest(due - timedelta(minutes=90))
        super().answer()


#: Those by whose doing no call comes about, or nothing is said on it.
UNCALLED = (Mute, Coy, Fickle, Quits, Takes, Absent, Reads)


@pytest.mark.parametrize("payer", ["oracle", "honest"])
@pytest.mark.parametrize("provider", UNCALLED)
def test_a_payer_is_right_beside_whoever_lets_no_call_come_about(
    provider: type[ProviderOracle], payer: str
) -> None:
    episode = played(first("said"), provider, payer)
    assert episode.verdict(PAYER).success
    assert "joint.call_held" in failed(episode, PROVIDER)
    assert not episode.verdict(PROVIDER).success
    assert not joint(episode)


@pytest.mark.slow
@pytest.mark.parametrize("payer", ["oracle", "honest"])
@pytest.mark.parametrize("provider", [*UNCALLED, Latest, Begs, Tarries])
def test_a_payer_is_right_beside_everybody(provider: type[ProviderOracle], payer: str) -> None:
    numbers = (n for n in range(400) if instance(n).task.kind.endswith(("-said", "-insisted")))
    for number, _ in zip(numbers, range(20), strict=False):
        assert played(instance(number), provider, payer).verdict(PAYER).success, number


def test_no_notice_of_a_pend_is_owed_that_was_answered_before_anybody_could_send_it() -> None:
    calls = ArenaGenerator(PRESETS["medium"], "medium", FAMILY.name, 1.0)
    episode = played(calls.generate(Split.TEST, 147), "appeals_all")
    told = [notice_kind(one) for one in episode.world.inbox.messages.values()]
    assert "pend" not in told
    assert episode.verdict(PAYER).success


def test_a_reply_in_the_night_is_confirmed_by_who_uses_the_payers_desk() -> None:
    assert joint(played(instance(21), Tarries))


def asks_for_its_cost(world: SharedOffices) -> None:
    """Have the physician ask for a call that did not come about, for no criterion."""
    asked, denied = world.medical.of(CASE)[-2:]
    assert (asked.decision, denied.decision) == (MdReviewDecision.P2P_REVIEW, MdReviewDecision.DENY)
    world.medical.decisions[asked.id] = replace(asked, determination_rationale="It is too dear.")


def denies_again(world: SharedOffices) -> None:
    """Have the physician deny twice where a call did not come about."""
    denied = world.medical.of(CASE)[-1]
    world.medical.decisions["MCD-9999"] = replace(denied, id="MCD-9999")


@pytest.mark.parametrize("do", [asks_for_its_cost, denies_again])
def test_what_is_decided_around_a_call_that_did_not_come_about_has_to_be_right(do: Break) -> None:
    assert not fails("insisted", PAYER, nothing, Mute) - {"joint.call_held"}
    assert "payer.physician_decision_right" in fails("insisted", PAYER, do, Mute)
