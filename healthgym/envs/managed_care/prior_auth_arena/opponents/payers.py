"""Payers that read what an agent reads, and err in one named way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from healthgym.envs.managed_care.prior_auth_arena.reader import Reviewer
from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.reading.layout import table
from healthgym.envs.managed_care.utilization_management.caller import SOONEST
from healthgym.envs.managed_care.utilization_management.lookups import CaseReading, Colleague
from healthgym.envs.managed_care.utilization_management.reader import PATIENCE, fields_of
from healthgym.worlds.managed_care.calendar import OfficeCalendar, office_calendar
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import StepTherapyCriterion
from healthgym.worlds.managed_care.policies.evaluation import Assessment
from healthgym.worlds.managed_care.policies.postures import combined, favourable
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    IntakeStatus,
    PeerToPeerStatus,
    Posture,
)

#: What stands in the number of a case that the practice opened.
_PRACTICE = "-ACT-"
#: Of these somebody has to be in for a case to be seen through.
_DESKS = ("nurse", "physician", "approve", "deny", "letters")
#: Time that a review takes, and steps in which one counts back from a limit.
_WORK, _STEP = timedelta(hours=3), timedelta(minutes=30)
_MINUTE = timedelta(minutes=1)
#: Business days in which a call can be arranged and held, once the practice has answered.
_CALL = 2
#: How often times may be offered for one call.
_ROUNDS = 4
_RESULTS = {Posture.SATISFIED: CriterionResult.MET, Posture.CONTRADICTS: CriterionResult.NOT_MET}
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
_AGAINST = {Posture.SATISFIED: Posture.CONTRADICTS, Posture.CONTRADICTS: Posture.SATISFIED}


class Slow(Reviewer):
    """Lets each request lie until the last hours in which it can still be decided in time."""

    limit: datetime | None = None

    def _do(self, name: str, **arguments: object) -> Play[str]:
        """Call a tool, and keep the limit that it tells."""
        text = yield from super()._do(name, **arguments)
        if name == "triage.calculate_sla" and (due := fields_of(text).get("sla_deadline")):
            self.limit = datetime.fromisoformat(due).replace(tzinfo=UTC)
        return text

    def _sort(self, case: CaseReading) -> Play[bool]:
        """Route the case, and leave it until its limit is near."""
        fast = yield from super()._sort(case)
        if not fast and self.limit is not None:
            calls = bool(self._wanted(self._found(case)))
            calendar = office_calendar(case.intake.get("state", ""))
            yield from self._leave(self._last(self.limit, calendar, _CALL if calls else 0))
        return fast

    def _leave(self, until: datetime) -> Play[None]:
        """Let the case lie until a time, or until another lies at intake."""
        while self.now < until and not (yield from self._others()):
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")

    def _others(self) -> Play[bool]:
        """Return whether another case waits to be taken in."""
        lying = table((yield from self._do("payer_intake_hub.list_intake_queue")), "items")
        fresh = {row["case_id"] for row in lying if row.get("status") == IntakeStatus.IN_PROGRESS}
        return bool(fresh - {self.case_id})

    def _last(self, limit: datetime, calendar: OfficeCalendar, days: int) -> datetime:
        """Return the last time before a limit at which everybody is in who is needed.

        Args:
            limit: The limit.
            calendar: When the practice is open.
            days: Business days that have to be left as well.
        """
        at = limit - _WORK
        while at > self.now:
            left = calendar.add_business_days(at, days) if days else at
            if left < limit and all(self._manned(desk, at) for desk in _DESKS):
                return at
            at -= _STEP
        return self.now

    def _manned(self, desk: str, at: datetime) -> bool:
        return any(one.is_in(at) and one.is_in(at + _WORK) for one in self.office.able(desk))


class AsksAgain(Reviewer):
    """Pends each request once for a document that was sent with it."""

    def _wanted(self, found: Finding) -> list[str]:
        """Return what is missing; where nothing is, what is there."""
        wanted = super()._wanted(found)
        if wanted or not found.carried:
            return wanted
        return [f"Document: {kind.replace('_', ' ')}" for kind in sorted(found.packet.kinds)[:1]]


class Misreads(Reviewer):
    """Takes one criterion for contradicted that the packet shows: the first that turns the case."""

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        """Return what is found, one criterion turned around where that turns the whole."""
        found = super()._judged(packet, case)
        if not found.carried:
            return found
        turned = (
            _with(found, {name: _AGAINST[good]})
            for name, good in favourable(found.policy.criteria).items()
            if found.assessment.criteria[name].posture is good
        )
        wrong = (one for one in turned if one.assessment.posture is Posture.CONTRADICTS)
        return next(wrong, found)


class StrictSteps(Reviewer):
    """Takes no trial of an earlier treatment for long enough, and denies when no more comes."""

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        """Return what is found, trials that suffice left open and then held against the request."""
        found = super()._judged(packet, case)
        known, good = found.assessment.criteria, favourable(found.policy.criteria)
        steps = {
            name: Posture.INSUFFICIENT
            for name, wanted in good.items()
            if wanted is Posture.SATISFIED
            and isinstance(found.policy.criterion(name), StepTherapyCriterion)
            and known[name].posture is wanted
        }
        if not steps or not self.asked:
            return _with(found, steps)
        open_ones = {name for name, one in known.items() if one.posture in _OPEN} | steps.keys()
        return _with(found, {name: _AGAINST[good[name]] for name in open_ones})


class RubberStamp(Reviewer):
    """Approves whatever comes in, and opens nothing."""

    def _wanted(self, found: Finding) -> list[str]:
        """Ask for nothing."""
        return []

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        """Return that all is well, without a value and without a source."""
        found = super()._judged(packet, case)
        return _unread(found, favourable(found.policy.criteria))


class Trusts(RubberStamp):
    """Reads what other offices send, and approves unread what the practice sends."""

    def _mine(self) -> bool:
        return _PRACTICE in self.case_id

    def _wanted(self, found: Finding) -> list[str]:
        """Ask the practice for nothing."""
        return [] if self._mine() else Reviewer._wanted(self, found)

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        """Find everything met that the practice sends."""
        judged = RubberStamp._judged if self._mine() else Reviewer._judged
        return judged(self, packet, case)


class DeniesAll(Reviewer):
    """Denies whatever comes in, and opens nothing."""

    def _wanted(self, found: Finding) -> list[str]:
        """Ask for nothing."""
        return []

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        """Return that nothing is shown, without a value and without a source."""
        found = super()._judged(packet, case)
        good = favourable(found.policy.criteria)
        return _unread(found, {name: _AGAINST[one] for name, one in good.items()})


class WrongDesk(Reviewer):
    """Has a nurse decide what the policy keeps for a physician, and the reverse."""

    @property
    def _reserved(self) -> bool:
        return not super()._reserved


class PastTimes(Reviewer):
    """Offers times for a call that nobody can take, and denies when no call comes about.

    What the world refuses to offer is tried first: times that are past already. What it accepts
    lies in the next minutes, and is past before the practice has the turn.
    """

    def _offered(
        self, request: str, peer: Colleague, slots: Sequence[datetime]
    ) -> Play[datetime | None]:
        """Offer such times as often as may be."""
        for _ in range(_ROUNDS):
            yield from self._wait(slots[0] - _MINUTE)
            for back in (timedelta(days=7), timedelta()):
                yield from self._do(
                    "p2p.offer_slots",
                    request_id=request,
                    payer_contact_id=peer.id,
                    slots=[f"{at - back:%Y-%m-%dT%H:%M:%S}" for at in slots],
                )
            while self.now <= slots[-1]:
                yield from self._do("p2p.list", case_id=self.case_id)
            yield from self._do("wait", until=f"{self.now + PATIENCE:%Y-%m-%dT%H:%M}")
            row = yield from self._standing(request)
            if row.get("status") == PeerToPeerStatus.COMPLETED:
                return None
            slots = self._slots(peer, self.state)
        return None

    def _slots(self, peer: Colleague, state: str, lead: timedelta = SOONEST) -> list[datetime]:
        """Return the next minutes in which both offices are open."""
        self.state, region = state, office_calendar(state)
        at = self.now
        while not all(region.is_open(each) and peer.is_in(each) for each in (at, at + _STEP)):
            at += _STEP
        return [at + (place + 1) * _MINUTE for place in range(self.office.slots)]


class Stalls(Slow):
    """Lets every limit pass before anything is done, and then does it."""

    def _take_in(self, case: CaseReading) -> Play[None]:
        """Leave every request until a month after the beginning."""
        yield from self._wait(self.brief.now + timedelta(days=30))
        yield from super()._take_in(case)


class Concedes(Reviewer):
    """Agrees on a call to whatever is said, and names criterion and day all the same."""

    def _with(self, said: str, case: CaseReading, found: Finding) -> Finding:
        """Return that what is in dispute is shown."""
        good = favourable(found.policy.criteria)
        return _with(found, {name: good[name] for name in found.named()})


class Agrees(Concedes, RubberStamp):
    """Agrees to whatever is asked for, in review and on a call, and opens nothing."""


def _unread(found: Finding, postures: Mapping[str, Posture]) -> Finding:
    """Return findings that nothing was read for."""

    def bare(one: Assessment) -> Assessment:
        observed = tuple((item, None, CriterionResult.UNCLEAR) for item, _, _ in one.observed)
        return replace(one, observed=observed, facts=())

    given = _with(found, postures)
    criteria = {name: bare(one) for name, one in given.assessment.criteria.items()}
    whole = replace(given.assessment, criteria=criteria, missing_documents=())
    return replace(given, assessment=whole)


def _with(found: Finding, postures: Mapping[str, Posture]) -> Finding:
    """Return a finding with some criteria judged otherwise, and the whole as it follows."""
    if not postures:
        return found
    criteria = {
        name: replace(
            one,
            posture=postures[name],
            result=_RESULTS.get(postures[name], CriterionResult.UNCLEAR),
        )
        if name in postures
        else one
        for name, one in found.assessment.criteria.items()
    }
    whole = combined(found.policy.criteria, {name: one.posture for name, one in criteria.items()})
    assessment = replace(found.assessment, criteria=criteria, posture=whole, approved_quantity=None)
    return replace(found, assessment=assessment)
