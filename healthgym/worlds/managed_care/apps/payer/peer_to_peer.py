"""Calls between the ordering clinician and a physician of the payer: asking, dates, outcomes.

The payer asks, offers times, the provider picks one, the payer confirms, they talk, and an outcome
is recorded, which turns the physician's open question into an approval or a denial. What is said on
the call is in :mod:`peer_session`.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import duty
from healthgym.worlds.managed_care.apps.app import App, find
from healthgym.worlds.managed_care.apps.payer import (
    correspondence,
    peer_lapses,
    peer_rules,
    peer_session,
)
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    Part,
    acting,
    require_desk,
    require_independent,
    require_mapped,
)
from healthgym.worlds.managed_care.apps.payer.slots import pick
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MessageBox,
    MessageKind,
    PeerToPeerOutcome,
    PeerToPeerStatus,
    TaskActor,
)

_HINT = "p2p.list names them"
_SCHEDULABLE = (
    PeerToPeerStatus.SLOTS_OFFERED,
    PeerToPeerStatus.SLOT_SELECTED,
    PeerToPeerStatus.SCHEDULED,
)


class PeerToPeer(App):
    """Peer-to-peer calls.

    Attributes:
        requests: Requests, by id.
        sessions: Calls, by id.
    """

    name = "payer_p2p_scheduler"
    requests = table[str, PayerPeerToPeerRequest]()
    sessions = table[str, P2PSessionRecord]()

    def of(self, case_id: str) -> tuple[PayerPeerToPeerRequest, ...]:
        """Return the requests of a case, oldest first."""
        return tuple(one for one in self.requests.values() if one.case_id == case_id)

    def open_request(self, case_id: str) -> PayerPeerToPeerRequest | None:
        """Return the request of a case that has no outcome yet; None if there is none."""
        for one in self.of(case_id):
            if one.status is not PeerToPeerStatus.COMPLETED or one.outcome is None:
                return one
        return None

    def session_of(self, request_id: str) -> P2PSessionRecord | None:
        """Return the call of a request; None if nobody holds one."""
        found = (one for one in self.sessions.values() if one.request_id == request_id)
        return next(found, None)

    def established(self, case_id: str) -> str:
        """Return what the last call about a case came to, in words; blank where none was held."""
        held = [one for one in self.of(case_id) if one.status is PeerToPeerStatus.COMPLETED]
        if not held:
            return ""
        session = self.session_of(held[-1].id)
        summary = session.submitted_summary if session else None
        return (summary or (held[-1].notes[-1] if held[-1].notes else "")).strip()

    def contract(self, case_id: str) -> PeerContract | None:
        """Return what the other side holds; in a strict world there always is another side."""
        found = self.world.start.contracts.get(case_id)
        limit = self.world.operations.p2p_turn_limit
        plan, case = self.world.start.desk, self.world.cases.get(case_id)
        if plan is not None and case.patient_id in plan.calls:
            found = replace(plan.calls[case.patient_id], turn_limit=limit)
        if found is not None or not self.strict:
            return found
        return PeerContract(side=TaskActor.PAYER, turn_limit=limit)

    def list_all(self, case_id: str | None = None) -> tuple[PayerPeerToPeerRequest, ...]:
        """Return requests, oldest first.

        Args:
            case_id: Only those of this case.

        Raises:
            Refusal: In a strict world, if there is no such case.
        """
        require_desk(self.world)
        if self.strict and case_id is not None:
            self.world.cases.get(case_id)
        self.looked("list_requests", case_id or "")
        return self.of(case_id) if case_id else tuple(self.requests.values())

    def request(self, case_id: str, actor: str) -> PayerPeerToPeerRequest:
        """Ask for a call about a case.

        Args:
            case_id: The case.
            actor: The physician who asks.
        """
        world = self.world
        case = world.cases.get(case_id)
        now = world.clock.now
        made = PayerPeerToPeerRequest(
            id=self.draw_id("P2P-"),
            case_id=case_id,
            requested_by_contact_id=case.assigned_to or None,
            payer_contact_id=None if self.strict else self._first_physician(),
            notes=(f"Asked for on the physician's review by {actor}.",),
            created_at=now,
            updated_at=now,
        )
        self.requests[made.id] = made
        contract = self.contract(case_id)
        if contract is not None:
            session = peer_session.begin(self.draw_id("P2PS-"), made, contract, now)
            self.sessions[session.id] = session
        subject, text = correspondence.invitation(world, made)
        world.inbox.post(MessageKind.PEER_TO_PEER, MessageBox.INTERNAL, case_id, subject, text)
        self.audit("request_p2p", case_id, actor)
        world.history.stage(case_id, "peer_to_peer", "requested", actor)
        return made

    def offer(
        self, request_id: str, payer_contact_id: str, slots: tuple[str, ...] = ()
    ) -> Mapping[str, object]:
        """Offer times for a call; a provider without a desk of its own picks one at once.

        Args:
            request_id: The request.
            payer_contact_id: The physician who will talk.
            slots: Times, ISO 8601 in UTC.

        Raises:
            Refusal: If there is no such request, the contact is no reviewer, no time is offered
                to a provider who has to pick one, or, in a strict world, the contact may not hold
                the call, a time cannot be kept, or the call is over.
        """
        require_desk(self.world)
        request = find(self.requests, request_id, "peer-to-peer request", _HINT)
        contact = acting(self.world, payer_contact_id)
        require_mapped(self.world, contact)
        if self.strict:
            self._require_peer(request, contact)
            peer_rules.require_offer(self.world, request, contact, slots)
        contract = self.contract(request.case_id)
        plays_payer = contract is not None and contract.side is TaskActor.PAYER
        if plays_payer and not slots:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                "slots: offer at least one time, such as 2026-03-16T15:00:00.",
            )
        offered = replace(
            request,
            payer_contact_id=contact,
            status=PeerToPeerStatus.SLOTS_OFFERED,
            offered_slots=slots,
            provider_selected_slot=None if self.strict else request.provider_selected_slot,
            updated_at=self.world.clock.now,
        )
        view: dict[str, object] = {"offer_email": correspondence.offer(self.world, offered)}
        if contract is not None and plays_payer and not self.world.practice.offered(offered):
            picked = pick(contract, slots)
            view["provider_reply"] = correspondence.reply(self.world, offered, picked)
            if picked is not None:
                offered = replace(
                    offered,
                    status=PeerToPeerStatus.SLOT_SELECTED,
                    provider_selected_slot=picked,
                )
        self.requests[request_id] = offered
        if self.strict and offered.status is PeerToPeerStatus.SLOTS_OFFERED:
            peer_lapses.watch(self.world, offered, peer_rules.region(self.world, request.case_id))
        self.audit("offer_slots", request.case_id, contact)
        return {"p2p_request": offered, **view}

    def select_slot(
        self, case_id: str, request_id: str, slot: str | None, note: str = ""
    ) -> Mapping[str, object]:
        """Answer an offer for the provider: pick a time, or say something.

        Args:
            case_id: The case.
            request_id: The request.
            slot: One of the times offered; any where none was.
            note: What to say.

        Raises:
            Refusal: If the request is of another case or over, nothing is said, or the time was
                not offered.
        """
        request = find(self.requests, request_id, "peer-to-peer request", "the inbox names it")
        peer_rules.require_answerable(request, case_id, slot, note)
        require_length(self.world, note=note)
        if self.strict:
            peer_rules.require_live(self.world, case_id)
            peer_rules.require_news(request, slot, note)
            if slot:
                peer_rules.require_pick(self.world, request, slot)
        now = self.world.clock.now
        answered = replace(
            request,
            notes=(*request.notes, note) if note.strip() else request.notes,
            updated_at=now,
        )
        if slot:
            answered = replace(
                answered, status=PeerToPeerStatus.SLOT_SELECTED, provider_selected_slot=slot
            )
        contract = self.contract(case_id)
        if slot and contract is not None and contract.side is TaskActor.PROVIDER:
            # Nobody plays the payer, which confirms at once.
            answered = self._open(replace(answered, scheduled_at=slot))
        self.requests[request_id] = answered
        self.world.desk.slot_answered(answered, slot, note)
        return {
            "p2p_request": self.requests[request_id],
            "provider_reply": correspondence.reply(self.world, answered, slot, note),
        }

    def schedule(
        self, request_id: str, payer_contact_id: str, scheduled_at: str = ""
    ) -> Mapping[str, object]:
        """Confirm the time of a call.

        Args:
            request_id: The request.
            payer_contact_id: The physician who will talk.
            scheduled_at: The time; the one that the provider picked if blank.

        Raises:
            Refusal: If there is no such request or contact, no time was offered, there is none,
                or it is no time; or, in a strict world, it was not offered and picked, or the
                contact may not hold the call. To confirm is office work: nobody has to be in.
        """
        require_desk(self.world)
        request = find(self.requests, request_id, "peer-to-peer request", _HINT)
        contact = acting(self.world, payer_contact_id)
        require_mapped(self.world, contact)
        if self.strict:
            self._require_peer(request, contact, present=False)
        if request.status not in _SCHEDULABLE:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Request {request_id} is {request.status}; offer times before one is confirmed.",
            )
        when = scheduled_at.strip() or request.provider_selected_slot or request.scheduled_at or ""
        peer_rules.require_time(when)
        if contact not in self.world.staff.contacts and contact not in self.world.staff.workers:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"There is no contact {contact[:60]!r}; name the physician who will talk.",
            )
        if self.strict:
            peer_rules.require_agreed(self.world, request, when)
        fixed = replace(
            request,
            payer_contact_id=contact,
            status=PeerToPeerStatus.SCHEDULED,
            scheduled_at=when,
            updated_at=self.world.clock.now,
        )
        if self.session_of(request_id) is not None:
            fixed = self._open(fixed)
        self.requests[request_id] = fixed
        self.world.practice.scheduled(fixed)
        self.audit("schedule_p2p", request.case_id, contact)
        return {
            "p2p_request": fixed,
            "artifacts": {
                "confirmation_email": correspondence.confirmation(self.world, fixed),
                "calendar": correspondence.calendar_file(self.world, fixed),
            },
        }

    def record_outcome(
        self,
        request_id: str,
        payer_contact_id: str,
        outcome: PeerToPeerOutcome | str,
        note: str | None = None,
    ) -> Mapping[str, object]:
        """Record what came of a call.

        Args:
            request_id: The request.
            payer_contact_id: The physician who talked.
            outcome: What came of it.
            note: A note.

        Raises:
            Refusal: If there is no such request, it is over, or the outcome is none; or, in a
                strict world, nobody talked, or somebody else records it.
        """
        require_desk(self.world)
        request = find(self.requests, request_id, "peer-to-peer request", _HINT)
        contact = acting(self.world, payer_contact_id)
        if request.status is PeerToPeerStatus.COMPLETED:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Request {request_id} ended with {request.outcome}; an outcome is recorded once.",
            )
        ended = peer_rules.outcome_of(outcome)
        require_mapped(self.world, contact)
        require_length(self.world, note=note)
        if self.strict:
            self._require_peer(request, contact)
            peer_rules.require_held(self.world, request, self._talked(request), contact)
        done = self.complete(request, ended, contact, note)
        return {
            "p2p_request": done,
            "artifact": correspondence.outcome_note(self.world, done),
            "case": self.world.cases.get(request.case_id),
        }

    def complete(
        self,
        request: PayerPeerToPeerRequest,
        outcome: PeerToPeerOutcome,
        actor: str,
        note: str | None = None,
    ) -> PayerPeerToPeerRequest:
        """End a request with an outcome, and return it.

        Args:
            request: The request.
            outcome: What came of the call.
            actor: Who records it.
            note: A note.
        """
        done = replace(
            request,
            status=PeerToPeerStatus.COMPLETED,
            outcome=outcome,
            notes=(*request.notes, note) if note else request.notes,
            updated_at=self.world.clock.now,
        )
        self.requests[request.id] = done
        self.audit("record_p2p_outcome", request.case_id, actor)
        self.world.practice.concluded(done)
        self.world.history.stage(request.case_id, "peer_to_peer", outcome, actor)
        return done

    def _open(self, request: PayerPeerToPeerRequest) -> PayerPeerToPeerRequest:
        """Open the line; in the source the other side says its first words at once."""
        session = self.session_of(request.id)
        contract = self.contract(request.case_id)
        silent = session is not None and not session.transcript and not self.strict
        if session is not None and contract is not None and silent:
            opened = peer_session.opened(session, contract, self.world.clock.now)
            self.sessions[session.id] = opened
        return replace(request, status=PeerToPeerStatus.EVENT_OPEN)

    def _talked(self, request: PayerPeerToPeerRequest) -> bool:
        session = self.session_of(request.id)
        spoke = session is not None and session.agent_turns_used > 0
        return spoke or self.world.practice.talked(request)

    def _require_peer(
        self, request: PayerPeerToPeerRequest, contact: str, *, present: bool = True
    ) -> None:
        required = duty.require_on_duty if present else duty.require_employed
        roles = self.world.operations.may_hold_peer_to_peer
        required(self.world, contact, roles, "payer_contact_id")
        require_independent(self.world, request.case_id, contact, Part.PEER)

    def _first_physician(self) -> str | None:
        staff = self.world.staff
        physician = next(staff.with_role(WorkerRole.PHYSICIAN_REVIEWER), None)
        if physician is not None:
            return physician
        return next((one for one in staff.contacts if staff.role_of(one) is not None), None)
