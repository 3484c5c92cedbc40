"""Both sides as one plays them who reads what an agent reads."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from healthgym.core.players import Solver
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_auth_arena import provider_reader
from healthgym.envs.managed_care.prior_auth_arena.memos import told
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.utilization_management import lookups
from healthgym.envs.managed_care.utilization_management import solver as payer
from healthgym.envs.managed_care.utilization_management.caller import SOONEST
from healthgym.envs.managed_care.utilization_management.hearing_out import with_heard
from healthgym.envs.managed_care.utilization_management.lookups import CaseReading, Colleague
from healthgym.envs.managed_care.utilization_management.memory import Memory
from healthgym.envs.managed_care.utilization_management.reader import (
    MOST_NEWS,
    PATIENCE,
    moment_of,
)
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.envs.managed_care.utilization_management.wording import WHERE
from healthgym.errors import DataError
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    PeerToPeerStatus,
    Posture,
)

#: What the provider said, as a line of a call shows it.
_PROVIDER_SAID = re.compile(r"^provider \(\w+\): (.+)$", re.MULTILINE)
_OVERTURN, _UPHOLD = (
    PeerToPeerOutcome.OVERTURN_TO_APPROVAL,
    PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION,
)
#: What is told of a call that is not held.
_NONE = "No call has begun"
_CASE = re.compile(r"\bCASE-[A-Z]*-?\d+\b")
_NOW = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_INTAKE, _PAUSE = StartStage.INTAKE, timedelta(minutes=1)
#: Nothing comes later; and no appeal after a denial.
_FIRST_COMES, _APPEALS = timedelta(days=60), timedelta(days=200)
#: Business hours before times that are offered again: the other side has just been at its desk.
_AGAIN = timedelta(minutes=30)


class Reviewer(payer.Reviewer):
    """A reviewer who also asks for what the policy's notes keep for request.

    It holds calls with whoever sits at the provider's desk, and hears appeals.
    """

    denied = False

    #: The member's, whose offices have to be open.
    state = ""

    def _slots(self, peer: Colleague, state: str, lead: timedelta = SOONEST) -> list[datetime]:
        """Return as few times as may be offered, the first that both offices allow."""
        self.state = state
        return super()._slots(peer, state, lead)

    def _offered(
        self, request: str, peer: Colleague, slots: Sequence[datetime]
    ) -> Play[datetime | None]:
        """Offer times as often as none is taken, the earliest: the clock for the decision goes on.

        Returns:
            The time that is taken; None once there is to be no call.
        """
        for _ in range(MOST_NEWS):
            yield from self._do(
                "p2p.offer_slots",
                request_id=request,
                payer_contact_id=peer.id,
                slots=[f"{at:%Y-%m-%dT%H:%M:%S}" for at in slots],
            )
            row = yield from self._answer(request)
            if taken := row.get("provider_selected_slot"):
                return datetime.fromisoformat(taken).replace(tzinfo=UTC)
            if row.get("status") == PeerToPeerStatus.COMPLETED:
                return None
            while not peer.is_in(self.now):
                yield from self._wait(peer.opens(self.now))
            slots = self._slots(peer, self.state, _AGAIN)
        raise DataError("The practice picks no time.")

    def _answer(self, request: str) -> Play[Mapping[str, str]]:
        """Wait for what becomes of an offer; return how it stands then."""
        offered = row = yield from self._standing(request)
        until = self.now + PATIENCE
        while row == offered and self.now < until:
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")
            row = yield from self._standing(request)
        return row

    def _talk(self, request: str, case: CaseReading, found: Finding) -> Play[str]:
        """Ask about what is in dispute, weigh what is said, and record what came of it."""
        named = " and ".join(found.named())
        said, turned = "", False
        for _ in range(MOST_NEWS):
            line = yield from self._do("call.read", request_id=request)
            if _NONE in line:  # the calendar decided before
                return "denied"
            words = _PROVIDER_SAID.findall(line)
            said = " ".join(words)
            turned = self._with(said, case, found).assessment.posture is Posture.SATISFIED
            if "The call is over." in line:
                break
            if "payer's turn" not in line:
                until = self.now + timedelta(minutes=70)
                yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")
                continue
            text = f"{named} of {found.policy.id} is open by what was sent. What do you know of it?"
            if turned:
                text = f"With that, {named} is met. There is nothing more to ask."
            yield from self._do(
                "call.speak",
                message=text,
                position=str(_OVERTURN if turned else _UPHOLD),
                ready=turned or len(words) > 1,
            )
        yield from self._record(request, turned, f"{named} was open. The clinician said: {said}")
        return "approved" if turned else "denied"

    def _record(self, request: str, turned: bool, note: str) -> Play[None]:
        row = yield from self._standing(request)
        peer = self.office.people[row["payer_contact_id"]]
        while not peer.is_in(self.now):
            yield from self._wait(peer.opens(self.now))
        yield from self._do(
            "p2p.record_outcome",
            request_id=request,
            payer_contact_id=peer.id,
            outcome=str(_OVERTURN if turned else _UPHOLD),
            note=note,
        )

    def _with(self, said: str, case: CaseReading, found: Finding) -> Finding:
        """Return what the packet shows with what was said on the criteria in dispute."""
        items = [found.policy.criterion(name) for name in found.named()]
        heard = dict.fromkeys(fact for item in items for fact in told(said, item))
        packet = found.packet
        facts = with_heard(packet.facts, heard)
        return self._judged(replace(packet, facts=facts), case)

    def _wanted(self, found: Finding) -> list[str]:
        """Return what is to be asked for, one item a line; nothing where the packet decides."""
        wanted = super()._wanted(found)
        if found.assessment.posture is Posture.CONTRADICTS or self.reading is None:
            return wanted
        kept = sorted(map(str, self.reading.on_request - found.packet.kinds))
        return [*wanted, *(f"Document: {kind.replace('_', ' ')}" for kind in kept)]

    def _determine(self, decision: str) -> Play[None]:
        """Make the decision final, and send what follows."""
        yield from super()._determine(decision)
        self.denied = decision == "denied"

    def hear(self) -> Play[None]:
        """Hear the appeal of what was denied, if one has come."""
        if not self.denied:
            return
        listed = yield from self._do("payer_appeals.list", case_id=self.case_id)
        if "APL-" in listed:
            self.denied = False
            yield from self._hear()


def reviewing(kind: type[Reviewer]) -> Solver:
    """Return who sees each request of the queue through, as a kind of reviewer does.

    What lies there comes first; then it waits for what the practice sends, and where something was
    denied for an appeal.
    """

    def review(instruction: str) -> Play[None]:
        who, _, _ = instruction.partition("\n")
        seen: dict[str, Reviewer] = {}
        memory, now = Memory(), _begins(who)
        until = now + _FIRST_COMES
        for _ in range(MOST_NEWS):
            while (found := (yield from _next(seen))) is not None:
                brief = lookups.read_brief(f"{who} Case {found} is yours. {WHERE[_INTAKE]}")
                seen[found] = reviewer = kind(brief, memory)
                with suppress(DataError):
                    yield from reviewer.work()
                if reviewer.denied:
                    until = max(until, reviewer.now + _APPEALS)
                # So that a row of calls ends with a case.
                soon = reviewer.now + _PAUSE
                now = moment_of((yield call("wait", until=f"{soon:%Y-%m-%dT%H:%M}")), reviewer.now)
            for reviewer in seen.values():
                with suppress(DataError):
                    yield from reviewer.hear()
            if now >= until:
                break
            now = moment_of((yield call("wait", until=f"{until:%Y-%m-%dT%H:%M}")), now)
        yield call("finish")

    return review


def _next(seen: Container[str]) -> Play[str | None]:
    """Return the first case of the queue that was not worked yet."""
    shown = yield from ask("payer_intake_hub.list_intake_queue")
    return next((name for name in _CASE.findall(shown) if name not in seen), None)


def _begins(who: str) -> datetime:
    """Return when the work begins, as the first line of the instruction has it."""
    found = _NOW.search(who)
    return datetime.fromisoformat(found[0]).replace(tzinfo=UTC) if found else datetime.min


READERS: Mapping[str, Solver] = {PROVIDER: provider_reader.solve, PAYER: reviewing(Reviewer)}
