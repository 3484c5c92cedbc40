"""The provider's staff, where nobody plays them.

They work through the same applications as anybody who does, as named people in their hours, one
step at a time by the agenda. A request for information is answered with documents of the chart, or
with a sentence that there are none, or not at all, so that it lapses; of the times offered for a
call one is taken, or others are asked for; a denial is appealed where the plan says so. Whoever
plays the payer is told of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from healthgym.core.clock import Due
from healthgym.core.records import replace
from healthgym.worlds.managed_care import duty
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer.slots import pick
from healthgym.worlds.managed_care.apps.provider.deadlines import PEND_LAPSES
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.dates import moment, moment_in
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.provider_plan import PendAnswer, ProviderPlan
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    LetterType,
    PeerToPeerStatus,
    TaskActor,
)

#: What the desk puts on the agenda.
STEP = "provider_step"
#: Business time after which a denial is appealed.
_APPEALS = timedelta(hours=16)
#: A question that comes before a week-end is answered so long before it lapses.
_AT_LAST = timedelta(hours=1)
_PENDED = CaseStatus.PENDED_ACTION_REQUIRED
#: What is written where the plan gives no words.
_SENT = "The documents that were asked for are attached."
_NONE = "There is no such document on file."


class ProviderDesk(App):
    """The provider's staff at work; what it has done stands in the records of others."""

    name = "provider_desk"

    @property
    def plan(self) -> ProviderPlan | None:
        """What the staff goes by; None where somebody plays the provider."""
        return self.world.start.provider_desk

    # -- what sets the desk to work ------------------------------------------------------------

    def begin(self) -> None:
        """Take up what lies there when the episode begins: open questions, times on offer."""
        if self.plan is None:
            return
        for case_id in self.plan.answers:
            if self.world.cases.get(case_id).status is _PENDED:
                self.asked(case_id)
        for request in tuple(self.world.peer.requests.values()):
            if request.status is PeerToPeerStatus.SLOTS_OFFERED:
                self.offered(request)
            elif request.status is PeerToPeerStatus.EVENT_OPEN:
                self.scheduled(request)

    def asked(self, case_id: str) -> None:
        """Begin on a request for information; one that the plan is silent on stays unanswered."""
        answer = self._answer(case_id)
        if answer is not None and not answer.silent:
            self._later(case_id, "answer", timedelta(hours=answer.hours))

    def offered(self, request: PayerPeerToPeerRequest) -> bool:
        """Begin on times that were offered for a call; False if nobody works here.

        Args:
            request: The request, with the times.
        """
        if self.plan is None or self._contract(request.case_id) is None:
            return False
        takes = timedelta(hours=self.plan.slot_hours)
        self._later(request.case_id, "slot", takes, request=request.id)
        return True

    def scheduled(self, request: PayerPeerToPeerRequest) -> None:
        """Have the clinician on the line at the time of a call."""
        if self.plan is None or self._contract(request.case_id) is None:
            return
        at = moment(request.scheduled_at or "", "scheduled_at")
        if at > self.world.clock.now:
            who = self.world.cases.get(request.case_id).requested_by
            self.world.clock.agenda.put(
                at, STEP, case_id=request.case_id, step="call", worker=who, request=request.id
            )

    def talked(self, request: PayerPeerToPeerRequest) -> bool:
        """Return whether something was said on a call beside what its session holds.

        Args:
            request: The request for the call.

        Raises:
            Refusal: If the call is going on.
        """
        return False

    def concluded(self, request: PayerPeerToPeerRequest) -> None:
        """Note that the outcome of a call is recorded."""

    def received(self, letter: Letter) -> None:
        """Read a letter of the payer's: the denial of a case that the plan names is appealed."""
        plan = self.plan
        if plan is None or letter.letter_type is not LetterType.DENIAL:
            return
        if letter.case_id in plan.appeals:
            self._later(letter.case_id, "appeal", _APPEALS)

    def lapsed(self, due: Due, told: str) -> None:
        """Say that a request for information lapsed; a reminder is the provider's own affair."""
        if told and due.name == PEND_LAPSES and not due.facts.get("notice"):
            self._tell(told)

    def on_due(self, due: Due) -> None:
        """Do the step that is due."""
        case_id, worker = str(due.facts["case_id"]), str(due.facts["worker"])
        with self._as(worker):
            match due.facts["step"]:
                case "answer":
                    self._reply(case_id)
                case "slot":
                    self._take(case_id, str(due.facts["request"]))
                case "call":
                    self._come(case_id, str(due.facts["request"]))
                case _:
                    self._appeal(case_id)

    # -- steps -----------------------------------------------------------------------------------

    def _reply(self, case_id: str) -> None:
        answer = self._answer(case_id)
        if answer is None or self.world.cases.get(case_id).status is not _PENDED:
            return
        said = answer.sentence or (_SENT if answer.documents else _NONE)
        self.world.authorizations.respond_to_pend(case_id, said, answer.documents)
        sent = ", ".join(answer.documents) or "no document"
        self._tell(
            f"The provider answers the request for information on case {case_id}: {sent}. {said}"
        )

    def _take(self, case_id: str, request_id: str) -> None:
        """Take one of the times that can still be kept, or ask for others."""
        request, contract = self.world.peer.requests[request_id], self._contract(case_id)
        if request.status is not PeerToPeerStatus.SLOTS_OFFERED or contract is None:
            return
        now = self.world.clock.now
        # Outside of a strict world anything may be offered, and what is no time cannot be kept.
        times = ((slot, moment_in(slot)) for slot in request.offered_slots)
        ahead = tuple(slot for slot, at in times if at is not None and at > now)
        taken = pick(contract, ahead)
        note = "" if taken else _other_times(contract, len(request.notes))
        self.world.authorizations.respond_to_peer_to_peer(case_id, request_id, note, taken)
        said = f"takes {taken} UTC" if taken else f"takes none of the times: {note}"
        self._tell(
            f"The provider answers the offer of request {request_id}, case {case_id}: {said}"
        )

    def _come(self, case_id: str, request_id: str) -> None:
        if self.world.peer.requests[request_id].status is PeerToPeerStatus.EVENT_OPEN:
            self._tell(
                f"The ordering clinician is on the line of request {request_id}, case {case_id}."
            )

    def _appeal(self, case_id: str) -> None:
        if self.world.cases.get(case_id).status is not CaseStatus.DENIED:
            return
        self.world.authorizations.file_appeal(
            case_id,
            f"We ask that the denial of {case_id} be looked at anew, by somebody who had no part "
            "in it, against the policy in force and the documents that were sent.",
        )
        self._tell(f"The provider appeals the denial of case {case_id}.")

    # -- what steps share ------------------------------------------------------------------------

    def _later(self, case_id: str, step: str, takes: timedelta, *, request: str = "") -> None:
        worker = self._assigned(case_id)
        at = duty.after(self.world, worker, takes)
        due = self.world.cases.get(case_id).pend_due_at
        if step == "answer" and due is not None:
            at = min(at, due - _AT_LAST)  # over a week-end somebody sees to it in time
        self.world.clock.agenda.put(
            at, STEP, case_id=case_id, step=step, worker=worker, request=request
        )

    def _assigned(self, case_id: str) -> str:
        """Return who sees to a case: whose it is, or the coordinator with the least to do."""
        staff, own = self.world.staff, self.world.cases.get(case_id).assigned_to
        if own and staff.role_of(own) is WorkerRole.PA_COORDINATOR:
            return own
        people = tuple(staff.with_role(WorkerRole.PA_COORDINATOR))
        loads = {one: staff.workers[one].load for one in people if one in staff.workers}
        return min(people, key=lambda one: (loads.get(one, 0), one), default=own or "provider")

    def _answer(self, case_id: str) -> PendAnswer | None:
        """Return what is done about the question that is open; None if nothing is."""
        answers = self.plan.answers.get(case_id, ()) if self.plan is not None else ()
        moves = self.world.history.of(case_id, EntryKind.TRANSITION)
        given = sum(entry.action == CaseStatus.RESUBMITTED for entry in moves)
        return answers[min(given, len(answers) - 1)] if answers else None

    def _contract(self, case_id: str) -> PeerContract | None:
        """Return what the clinician holds; None where the agent speaks for the provider."""
        found = self.world.peer.contract(case_id)
        if self.plan is None or found is None or found.side is not TaskActor.PAYER:
            return None
        return replace(found, slot_rule=self.plan.slot_rules.get(case_id, found.slot_rule))

    def _tell(self, text: str) -> None:
        if self.plan is not None:
            self.world.notify(self.plan.listener, text)

    @contextmanager
    def _as(self, worker: str) -> Iterator[None]:
        """Use the applications as a worker of the provider's."""
        before, self.world.actor = self.world.actor, worker
        try:
            yield
        finally:
            self.world.actor = before


def _other_times(contract: PeerContract, said: int) -> str:
    """Return a request for other times: those that can be made, where only some can.

    Args:
        contract: What the clinician holds.
        said: How much was said before; the same words twice would be no answer.
    """
    able = ", ".join(contract.offered_slots[:3])
    again = "" if said < 2 else f" (answer {said})"
    if able:
        return f"none of these can be made; open are {able} UTC{again}."
    return f"none of these can be made any more; please offer later ones{again}."
