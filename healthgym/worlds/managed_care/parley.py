"""What is said on a call between the two seats of one case, a turn each, and how it ends.

The provider, who was called, speaks first. Each turn says something, states a position and whether
anything is to be added. A call is over when both have nothing to add, at its limits of turns, calls
and time; then its words are filed for both sides, and the payer records what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from healthgym.core.clock import Due
from healthgym.core.records import replace
from healthgym.core.state import state, table
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import relay
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer import peer_lapses
from healthgym.worlds.managed_care.apps.payer.intake_rules import require_withdrawable
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.line import SIDES, Line, Utterance, Wish, require_speech
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.relay import CALL, PAYER, PROVIDER, Said
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What this module puts on the agenda.
BEGINS, ENDS = "call_begins", "call_ends"
NAMES = frozenset({BEGINS, ENDS})
#: How the log calls an offer of times.
_OFFERED = "payer_p2p_scheduler.offer_slots"
_LEFT = {
    "ready": "both sides have nothing to add",
    "turns": "each side has had its turns",
    "calls": "it has taken as many calls as it may",
    "time": "its time is up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long two seats may go on.

    Attributes:
        turn_pairs: Turns that each side has in a call.
        calls: Calls of both sides' tools while a call lasts.
        lasts: Time after which the line closes.
        rounds: Times that the payer may offer slots for one call, and that the provider may ask
            for one.
        cycles: Times that a case may come to the payer.
    """

    turn_pairs: int = 4
    calls: int = 50
    lasts: timedelta = timedelta(hours=1)
    rounds: int = 4
    cycles: int = 6

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Limits:
        """Return the limits with some of them given by name; ``lasts`` in minutes.

        Raises:
            ConfigurationError: If one is unknown, or no number from 1 up.
        """
        known = [each.name for each in fields(cls)]
        unknown = sorted(given.keys() - set(known))
        if unknown:
            raise ConfigurationError(
                f"limits: there is no {', '.join(unknown)}; there are {', '.join(known)}."
            )
        numbers: dict[str, int] = {}
        for name, number in given.items():
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ConfigurationError(f"limits: {name} is a number from 1 up, not {number!r}.")
            numbers[name] = number
        minutes = numbers.pop("lasts", None)
        lasts = cls().lasts if minutes is None else timedelta(minutes=minutes)
        return cls(lasts=lasts, **numbers)


class Parley(App):
    """The calls between the two seats.

    Args:
        world: The offices.
        limits: How long they may go on.

    Attributes:
        lines: Calls, by the request for them.
        wishes: Calls that the provider asked for, by id.
    """

    name = "parley"
    lines = table[str, Line]()
    wishes = table[str, Wish]()
    limits: Limits

    _calls = state(0, content=False)

    def __init__(self, world: ManagedCareWorld, limits: Limits) -> None:
        super().__init__(world)
        self.__dict__["limits"] = limits

    @property
    def open_line(self) -> Line | None:
        """The call that is going on; None if there is none."""
        return next((line for line in self.lines.values() if not line.ended), None)

    def of(self, case_id: str) -> tuple[Line, ...]:
        """Return the calls about a case, oldest first."""
        return tuple(line for line in self.lines.values() if line.case_id == case_id)

    # -- asking for one, and a time for it -------------------------------------------------------

    def wanted(self, case_id: str) -> Wish | None:
        """Return the wish for a call about a case that nobody has answered; None if none is open.

        A request that the payer makes after it is its answer.
        """
        made = max((one.created_at for one in self.world.peer.of(case_id)), default=None)
        return next(
            (
                one
                for one in self.wishes.values()
                if one.case_id == case_id and not one.refused and (made is None or made < one.at)
            ),
            None,
        )

    def ask(self, case_id: str, contact: str) -> str:
        """Ask the payer for a call; return what the provider is told.

        Args:
            case_id: The case, handed in and not decided.
            contact: Whom to talk to; may be empty.

        Raises:
            Refusal: If the case is not with the payer, a call is asked for or arranged already, or
                it was asked for as often as it may be.
        """
        case = self.world.cases.get(case_id)
        require_withdrawable(case)
        if self.wanted(case_id) is not None or self.world.peer.open_request(case_id) is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"A call about case {case_id} is asked for already; wait for the payer.",
            )
        before = sum(one.case_id == case_id for one in self.wishes.values())
        if before >= self.limits.rounds:
            raise Refusal(
                RefusalCode.LIMIT_REACHED,
                f"A call about case {case_id} was asked for {before} times; the payer decides "
                "without one.",
            )
        wish = Wish(
            id=self.draw_id("ASK-"), case_id=case_id, contact=contact, at=self.world.clock.now
        )
        self.wishes[wish.id] = wish
        self.audit("ask", case_id, PROVIDER)
        whom = f", with {contact}" if contact.strip() else ""
        self.world.notify(
            PAYER,
            f"The provider asks for a call about case {case_id}{whom}. A physician's decision "
            "p2p_review grants it; call.decline refuses it, with a reason.",
        )
        return f"The payer is asked for a call about case {case_id}, and may refuse it."

    def decline(self, case_id: str, reason: str) -> Wish:
        """Refuse a call that the provider asked for.

        Args:
            case_id: The case.
            reason: Why.

        Raises:
            Refusal: If none is asked for, or no reason is given.
        """
        self.world.cases.get(case_id)
        wish = self.wanted(case_id)
        if wish is None:
            raise Refusal(
                RefusalCode.WRONG_STATE, f"The provider asks for no call about case {case_id}."
            )
        require_speech(reason, "reason")
        wish = replace(wish, refused=reason.strip())
        self.wishes[wish.id] = wish
        self.audit("decline", case_id, PAYER)
        self.world.notify(PROVIDER, f"The payer holds no call about case {case_id}: {wish.refused}")
        return wish

    def offered(self, case_id: str) -> int:
        """Return how often times for a call about a case were offered."""
        rows = self.world.history.of(case_id, EntryKind.AUDIT)
        return sum(row.name == _OFFERED for row in rows)

    def unanswered(self, request: PayerPeerToPeerRequest) -> bool:
        """Give a call up on which no time was agreed in so many rounds; return whether that is so.

        Args:
            request: The request, of whose times the provider took none.
        """
        rounds = self.offered(request.case_id)
        if rounds < self.limits.rounds:
            return False
        told = f"No time was agreed on in {rounds} rounds; there is no call on {request.id}."
        peer_lapses.give_up(self.world, request, told)
        for side in SIDES:
            self.world.notify(side, f"{told} The payer's physician decides without it.")
        return True

    # -- the beginning ---------------------------------------------------------------------------

    def fix(self, request_id: str, case_id: str, at: datetime) -> None:
        """Have a call begin at a time."""
        self.world.clock.agenda.put(at, BEGINS, case_id=case_id, request=request_id)

    def on_due(self, due: Due) -> None:
        """Open the line, or close it."""
        request_id = str(due.facts["request"])
        if due.name == BEGINS:
            self._open(request_id, str(due.facts["case_id"]))
            return
        line = self.lines[request_id]
        if not line.ended:
            self._close(line, str(due.facts["why"]))

    def _open(self, request_id: str, case_id: str) -> None:
        now = self.world.clock.now
        if request_id in self.lines:  # fixed twice
            return
        if self.world.determinations.active(case_id) is not None:
            told = f"Case {case_id} is decided; the call of request {request_id} is not held."
            for side in SIDES:
                self.world.notify(side, told)
            return
        self.lines[request_id] = Line(request_id=request_id, case_id=case_id, opened_at=now)
        self._calls = 0
        for side in SIDES:
            relay.enter_phase(self.world, case_id, CALL, side)
        self._put(now + self.limits.lasts, request_id, "time")
        for side in SIDES:
            first = "You speak first" if side == SIDES[0] else f"The {SIDES[0]} speaks first"
            self.world.notify(
                side,
                f"It is time for the call of request {request_id}, case {case_id}; the line is "
                f"open for {self.limits.lasts // timedelta(minutes=1)} minutes and "
                f"{self.limits.turn_pairs} turns each. {first}, with call.speak.",
            )

    # -- turns -----------------------------------------------------------------------------------

    def speak(self, side: str, message: str, position: PeerToPeerOutcome, *, ready: bool) -> Line:
        """Say something on the call that is open.

        Args:
            side: Who speaks.
            message: What is said.
            position: What ought to come of the call.
            ready: Whether the side has nothing to add.

        Raises:
            Refusal: If no call is open, it is the other side's turn, or nothing is said that
                could be understood.
        """
        line = self.open_line
        if line is None:
            raise Refusal(RefusalCode.WRONG_STATE, self._no_line())
        if line.speaker != side:
            raise Refusal(
                RefusalCode.WRONG_STATE, f"It is the {line.speaker}'s turn to speak; wait for it."
            )
        require_speech(message)
        said = Utterance(
            side=side,
            message=message.strip(),
            position=position,
            ready=ready,
            at=self.world.clock.now,
        )
        line = replace(line, turns=(*line.turns, said))
        self.lines[line.request_id] = line
        self.audit("speak", line.case_id, side)
        other = SIDES[1 - SIDES.index(side)]
        adds = "Nothing to add." if ready else "More may follow."
        self.world.notify(
            other,
            f"The {side} says on the call of request {line.request_id}: {said.message}\n"
            f"(Position: {position}. {adds})",
        )
        if self._agreed(line):
            self._close(line, "ready")
        elif len(line.turns) >= len(SIDES) * self.limits.turn_pairs:
            self._close(line, "turns")
        return self.lines[line.request_id]

    def heard(self, request_id: str) -> Line:
        """Return a call that has begun.

        Raises:
            Refusal: If none has on that request.
        """
        line = self.lines.get(request_id)
        if line is None:
            raise Refusal(
                RefusalCode.NOT_FOUND, f"No call has begun on a request {request_id[:60]!r}."
            )
        return line

    def count(self) -> None:
        """Count a call of a tool while a call lasts; at the limit the line closes."""
        line = self.open_line
        if line is None:
            return
        self._calls += 1
        if self._calls == self.limits.calls:
            self._put(self.world.clock.now, line.request_id, "calls")

    def spoken(self, request_id: str) -> bool:
        """Return whether a call was held and is over.

        Raises:
            Refusal: If it is going on.
        """
        line = self.lines.get(request_id)
        if line is not None and not line.ended:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"The call of request {request_id} is going on; its outcome is recorded when both "
                "sides have nothing to add, or its turns are used.",
            )
        return line is not None

    def leave(self, request_id: str) -> None:
        """Have the payer leave a call whose outcome is recorded."""
        line = self.lines.get(request_id)
        if line is not None:
            relay.leave_phase(self.world, line.case_id, CALL, PAYER)

    # -- the end ---------------------------------------------------------------------------------

    def _agreed(self, line: Line) -> bool:
        last = [line.last(side) for side in SIDES]
        return all(said is not None and said.ready for said in last)

    def _close(self, line: Line, why: str) -> None:
        self.lines[line.request_id] = replace(line, ended=why)
        stands = {side: line.position(side) for side in SIDES}
        relay.file_transcript(
            self.world,
            line.case_id,
            line.request_id,
            [Said(actor=turn.side, message=turn.message) for turn in line.turns],
            provider_position=stands[PROVIDER],
            payer_position=stands[PAYER],
        )
        # The payer stays until the outcome is recorded.
        relay.leave_phase(self.world, line.case_id, CALL, PROVIDER)
        where = ", ".join(f"the {side} {stands[side] or 'stated none'}" for side in SIDES)
        for side in SIDES:
            told = f"The call of request {line.request_id} is over: {_LEFT[why]}. "
            told += f"Positions: {where}."
            if side == PAYER:
                told += " Record its outcome with p2p.record_outcome."
            self.world.notify(side, told)

    def _put(self, at: datetime, request_id: str, why: str) -> None:
        self.world.clock.agenda.put(at, ENDS, request=request_id, why=why)

    def _no_line(self) -> str:
        if any(line.ended for line in self.lines.values()):
            return "The call is over, and none is open; nothing can be said."
        return "No call is open; one begins at the time that was confirmed for it."
