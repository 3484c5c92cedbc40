"""Each check of what passes between the sides can fail: one thing broken at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

import pytest

from healthgym.core.tool import ToolKind
from healthgym.core.verdict import Profile
from healthgym.core.verifier import Event, Evidence
from healthgym.envs.managed_care.prior_auth_arena import joint_checks
from healthgym.envs.managed_care.prior_auth_arena.verifier import ArenaVerifier
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.worlds.managed_care.records.case import SubmissionPacket
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, PeerToPeerOutcome
from tests.envs.managed_care.prior_auth_arena.table import FAMILY, Making, first, played

Break = Callable[[SharedOffices], None]
PAIRED = "oracle"


@dataclass(frozen=True)
class Mutation:
    """A right ending with one thing broken.

    Attributes:
        check: The check that must fail.
        role: Whose verdict it fails.
        ending: How the request ends.
        do: What is broken.
    """

    check: str
    role: str
    ending: str
    do: Break

    def __str__(self) -> str:
        return self.check


@cache
def ended(ending: str, provider: str | Making = PAIRED) -> ArenaEpisode:
    return played(first(ending), provider)


def fails(ending: str, role: str, do: Break, provider: str | Making = PAIRED) -> set[str]:
    """The checks that a side fails once something is broken."""
    task, after = first(ending), ended(ending, provider).world.clone()
    do(after)
    events = [
        Event(side, "finish", {}, ToolKind.SUBMIT, "", after.clock.now)
        for side in (PROVIDER, PAYER)
    ]
    before = FAMILY.open(task)
    evidence = Evidence(task.task, task.reference, before, after, events, {}, role)
    found = ArenaVerifier().judge(evidence, Profile.STRICT).results
    return {one.check.name for one in found if one.passed is False}


def nothing(world: SharedOffices) -> None:
    """Break nothing."""


def denies(world: SharedOffices) -> None:
    case = world.cases.get(CASE)
    world.cases.cases[CASE] = replace(case, status=CaseStatus.DENIED)


def packets(world: SharedOffices) -> list[SubmissionPacket]:
    """What the practice that is played has sent."""
    return [one for one in world.authorizations.packets.values() if one.case_id == CASE]


def loses_the_packet(world: SharedOffices) -> None:
    packet = packets(world)[0]
    world.authorizations.packets[packet.id] = replace(packet, attached_document_ids=())


def answers_with_nothing(world: SharedOffices) -> None:
    packet = packets(world)[-1]
    first_sent = [page.id for page in world.received[CASE].intake.sent(CASE)]
    kept = tuple(name for name in packet.attached_document_ids if name in first_sent)
    world.authorizations.packets[packet.id] = replace(packet, attached_document_ids=kept)


def decides_before(world: SharedOffices) -> None:
    (made,) = world.determinations.of(CASE)
    early = made.created_at - timedelta(days=9)
    world.determinations.determinations[made.id] = replace(made, created_at=early)


def decides_late_at_the_provider(world: SharedOffices) -> None:
    (made,) = world.authorizations.determinations.values()
    late = made.created_at + timedelta(days=30)
    world.authorizations.determinations[made.id] = replace(made, created_at=late)


def writes_a_letter(world: SharedOffices) -> None:
    (letter,) = ended("approved").world.letters.of(CASE)
    world.letters.letters[letter.id] = letter


def asks(change: Callable[[PayerPeerToPeerRequest], PayerPeerToPeerRequest]) -> Break:
    """What makes something else of the request for the call."""

    def do(world: SharedOffices) -> None:
        (request,) = world.peer.of(CASE)
        world.peer.requests[request.id] = change(request)

    return do


def says(side: str, form: str) -> Break:
    """What has a side say something else, in which ``{}`` stands for what it said."""

    def do(world: SharedOffices) -> None:
        (line,) = world.parley.of(CASE)
        turns = tuple(
            replace(turn, message=form.format(turn.message)) if turn.side == side else turn
            for turn in line.turns
        )
        world.parley.lines[line.request_id] = replace(line, turns=turns)

    return do


UPHOLD = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
MUTATIONS = (
    Mutation("joint.care_decided", PAYER, "approved", denies),
    Mutation("joint.packet_whole", PROVIDER, "approved", loses_the_packet),
    Mutation("joint.pends_answered", PROVIDER, "pended", answers_with_nothing),
    Mutation("joint.dates_in_order", PAYER, "approved", decides_before),
    Mutation("joint.call_held", PAYER, "said", asks(lambda one: replace(one, outcome=None))),
    Mutation("joint.positions_hold", PAYER, "said", asks(lambda one: replace(one, outcome=UPHOLD))),
    Mutation("payer.call_led", PAYER, "said", asks(lambda one: replace(one, notes=("Met.",)))),
    Mutation("provider.fact_told", PROVIDER, "said", says(PROVIDER, "Please approve it.")),
    Mutation("provider.call_true", PROVIDER, "said", says(PROVIDER, "{} It was 98.76 then.")),
    Mutation("payer.call_true", PAYER, "said", says(PAYER, "{} It was 98.76 then.")),
    Mutation("provider.sent_in_time", PROVIDER, "approved", decides_late_at_the_provider),
    Mutation("payer.nothing_invented", PAYER, "absent", writes_a_letter),
)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_what_is_broken_fails_its_check(mutation: Mutation) -> None:
    assert fails(mutation.ending, mutation.role, nothing) == set()
    assert mutation.check in fails(mutation.ending, mutation.role, mutation.do)


def test_every_check_between_the_sides_is_broken_once() -> None:
    listed = {check.name for check in ArenaVerifier().checks(Profile.STRICT)}
    between = {name for name in listed if name.startswith("joint.")}
    own = (joint_checks.TOLD, joint_checks.LED, joint_checks.TRUE, joint_checks.HONEST)
    between |= {check.name for check in (*own, joint_checks.TIMELY, joint_checks.IDLE)}
    assert between <= listed
    assert sorted(one.check for one in MUTATIONS) == sorted(between)
