"""A call between physicians, as far as a test wants it to have come."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from healthgym.worlds.managed_care.apps.payer import peer_calls
from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    PeerToPeerOutcome,
    RevealMode,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    MD_2,
    SLOTS,
    decided,
)

UPHOLD, OVERTURN = PeerToPeerOutcome
FACTS = (
    PeerFact(id="F-open", text="He failed two drugs.", reveal_mode=RevealMode.OPENING),
    PeerFact(
        id="F-volunteer",
        text="He is a pilot.",
        reveal_mode=RevealMode.VOLUNTEER_AFTER_PROMPT,
        topics=("work",),
    ),
    PeerFact(
        id="F-asked",
        text="The ejection fraction is 55 %.",
        reveal_mode=RevealMode.REVEAL_IF_ASKED,
        topics=("ejection fraction", "echo"),
    ),
    PeerFact(id="F-never", text="Secret.", reveal_mode=RevealMode.NEVER, topics=("echo", "secret")),
)
CONTRACT = PeerContract(
    side=TaskActor.PAYER,
    turn_limit=3,
    opening="Good morning.",
    facts=FACTS,
    required_points=("F-open", "F-asked"),
)


def asked(rules: Rules = Rules.STRICT, contract: PeerContract | None = CONTRACT) -> Any:
    """Return a world in which the physician asked for a call, and the request's id."""
    world = decided(MdReviewDecision.P2P_REVIEW, rules, contract=contract)
    return world, world.peer.of(CASE)[0].id


def fixed(rules: Rules = Rules.STRICT, contract: PeerContract | None = CONTRACT) -> Any:
    """Return a world in which the call has a time."""
    world, request = asked(rules, contract)
    world.peer.offer(request, MD_2, SLOTS)
    world.peer.schedule(request, MD_2)
    return world, request


def begun(rules: Rules = Rules.STRICT, contract: PeerContract | None = CONTRACT) -> Any:
    """Return a world in which the time of the call has come."""
    world, request = fixed(rules, contract)
    world.clock.advance(timedelta(days=4))
    return world, request


def say(world: ManagedCareWorld, request: str, message: str) -> str:
    """Say something on a call; return what is answered."""
    view: Any = peer_calls.send_turn(world, request, message)
    return str(view["transcript"][-1].message)
