"""Telephone calls to the patient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Final, Literal

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App, find
from healthgym.worlds.managed_care.apps.care_management.filed import engagements, outcome
from healthgym.worlds.managed_care.apps.care_management.wording import (
    require_message,
    require_reasonable,
)
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.conversation.acts import Meant
from healthgym.worlds.managed_care.conversation.telephone import attempts, unanswered
from healthgym.worlds.managed_care.records.care import (
    CMOutreachRecord,
    CMOutreachSummaryInput,
    ConversationMessage,
    ConversationSession,
)
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.care import (
    CMCaseStatus,
    CMOutreachOutcome,
    ContactMethod,
    SessionStatus,
    TerminationReason,
)
from healthgym.worlds.managed_care.voices import (
    CallContext,
    Consent,
    LineDownError,
    Memory,
    Reply,
    rings,
)
from healthgym.worlds.managed_care.wording import Draft, Voice

#: Minutes by which a stated length of a call may exceed the clock's: the note is written later.
_SLACK: Final = timedelta(minutes=5)
_HINT = "cm_outreach.start_outreach_call returns the id of a call"


def _draft(session: ConversationSession, message: str, reply: Reply) -> Draft:
    """Return what the patient is about to say in a call."""
    turns = reply.memory.turns if reply.memory is not None else ()
    return Draft(
        voice=Voice.PATIENT,
        text=reply.text,
        message=message,
        manner=reply.manner,
        acts=tuple(said.act.value for said in turns[-1].acts) if turns else (),
        before=tuple((each.role, each.content) for each in session.messages),
    )


class Outreach(App):
    """Outreach.

    Attributes:
        sessions: Calls, by id.
        records: What was noted of them, by id.
        memories: What the person has in mind, by episode.
    """

    name = "cm_outreach"
    sessions = table[str, ConversationSession]()
    records = table[str, CMOutreachRecord]()
    memories = table[str, Memory]()

    def start_call(self, case_id: str) -> Mapping[str, object]:
        """Call the patient.

        Returns:
            The call's id, whom it reaches and what about.

        Raises:
            Refusal: If the chart is not reviewed, or outreach is done; under strict rules also if
                a call is going on, too many were made, or it is no time to call.
        """
        case = self.world.referrals.require_status(case_id, CMCaseStatus.CHART_REVIEWED)
        patient = self.world.care_chart.of(case_id).patient
        if self.strict:
            self.require_no_call(case_id)
            self._require_calls_left(case_id)
            self._require_hours(patient)
        # The source's patient remembers nothing of earlier calls.
        heard = self.memory(case_id) if self.strict else Memory()
        self.memories[case_id] = replace(heard, calls=heard.calls + 1)
        now = self.world.clock.now
        made = ConversationSession(
            session_id=self.draw_id("SES-"),
            case_id=case_id,
            patient_name=f"{patient.first_name} {patient.last_name}",
            reason_for_call=case.referral_reason,
            created_at=now,
            last_activity_at=now,
            max_turns=self.world.operations.outreach_messages_most,
            timeout_minutes=self.world.operations.outreach_minutes_most,
        )
        self.sessions[made.session_id] = made
        rung = self._rung(made)
        self.audit("start_outreach_call", case_id)
        return {
            "session_id": made.session_id,
            "case_id": case_id,
            "patient_name": made.patient_name,
            "reason_for_call": made.reason_for_call,
            "status": self.sessions[made.session_id].status,
            **rung,
        }

    def _rung(self, session: ConversationSession) -> Mapping[str, object]:
        """Return what is heard when it rings, of voices to which that matters."""
        case_id = session.case_id
        voice = self.world.start.voices.get(case_id)
        if not self.strict or not rings(voice):
            return {}
        heard = self.memory(case_id)
        pickup = voice.picks_up(heard, self._context(session))
        if pickup is None:
            return {}
        self.memories[case_id] = replace(pickup.memory, calls=heard.calls)
        if pickup.over:
            self._end(session, TerminationReason.NO_ANSWER)
        return {"heard": pickup.heard}

    def say(
        self, session_id: str, message: str, acts: tuple[Meant, ...] = ()
    ) -> Mapping[str, object]:
        """Say something to the patient, and hear the answer.

        Args:
            session_id: Id of the call.
            message: What is said.
            acts: What the caller says to have meant by it.

        Returns:
            The answer, how many messages were exchanged, and whether the call goes on.

        Raises:
            Refusal: If the call is over or nobody answers; under strict rules also if nothing
                that could be said is said, or the episode has moved on.
        """
        session = find(self.sessions, session_id, "call", _HINT)
        if session.termination_reason == TerminationReason.NO_ANSWER:
            raise Refusal(
                RefusalCode.ENDED,
                f"Nobody picked up in call {session_id}; call again at another time, or file it "
                "with cm_outreach.end_outreach_call.",
            )
        if session.status is SessionStatus.ENDED or self._too_long(session):
            raise Refusal(
                RefusalCode.ENDED,
                f"Call {session_id} is over; file it with cm_outreach.end_outreach_call.",
            )
        if self.strict:
            require_message(message)
            self.world.referrals.require_status(session.case_id, CMCaseStatus.CHART_REVIEWED)
        heard = self.memory(session.case_id)
        voice = self.world.start.voices.get(session.case_id)
        if voice is None:
            raise Refusal(RefusalCode.NOT_FOUND, "Nobody answers under the patient's number.")
        try:
            reply = voice.reply(message, heard, acts, self._context(session))
        except LineDownError:
            raise Refusal(
                RefusalCode.BLOCKED, "The line broke and nothing was heard; say it again."
            ) from None
        now_heard = reply.memory or heard
        self.memories[session.case_id] = replace(
            now_heard, calls=heard.calls, exchanges=heard.exchanges + 1
        )
        by: Literal["patient", "other"] = "other" if reply.other else "patient"
        # Nobody but the patient is given other words: a recording says the same every time.
        draft = partial(_draft, session, message, reply)
        said = reply.text if reply.other else self.world.words(reply.text, draft)
        said = reply.heard(said)
        session = self._continued(session, message, said, by, hung_up=reply.stop)
        return {
            "patient_response": said,
            "turn_number": len(session.messages),
            "session_status": session.status,
            "stopped": reply.stop,
        }

    def transcript(self, session_id: str) -> Mapping[str, object]:
        """Return what was said in a call.

        Raises:
            Refusal: If there is no such call.
        """
        session = find(self.sessions, session_id, "call", _HINT)
        return {
            "session_id": session_id,
            "case_id": session.case_id,
            "status": session.status,
            "messages": session.messages,
        }

    def end_call(self, session_id: str, summary: CMOutreachSummaryInput) -> CMOutreachRecord:
        """Hang up, or take note that the patient did, and file what came of it.

        The source files every call as one that reached the patient by telephone, and what the
        caller says of consent. A strict world files what happened.

        Raises:
            Refusal: If there is no such call, or outreach is not what the episode waits for;
                under strict rules also twice, of an earlier call, or what did not happen.
        """
        session = find(self.sessions, session_id, "call", _HINT)
        heard = self.memory(session.case_id)
        if self.strict:
            require_reasonable(summary)
            self._require_latest(session)
            self._require_true(session, summary, heard)
        self.world.referrals.move(session.case_id, CMCaseStatus.OUTREACH_COMPLETE)
        if session.status is SessionStatus.ACTIVE:
            over = self._too_long(session)
            reason = TerminationReason.TIMEOUT if over else TerminationReason.AGENT_ENDED
            self._end(session, reason)
        made = CMOutreachRecord(
            outreach_id=self.draw_id("OUT-"),
            case_id=session.case_id,
            attempt_number=self._attempt(session.case_id),
            attempt_date=self.world.clock.now,
            contact_method=ContactMethod.PHONE,
            outcome=outcome(heard) if self.strict else CMOutreachOutcome.REACHED,
            engagement_status=summary.engagement_status,
            consent_obtained=summary.consent_obtained,
            patient_reported_issues=summary.patient_concerns,
            preferred_contact=summary.preferred_contact,
            preferred_language=summary.preferred_language,
            notes=summary.notes,
        )
        self.records[made.outreach_id] = made
        self.audit(
            "end_outreach_call",
            session.case_id,
            key_takeaways=list(summary.key_takeaways),
            next_steps=list(summary.next_steps),
        )
        return made

    def memory(self, case_id: str) -> Memory:
        """Return what the person has in mind."""
        return self.memories.get(case_id) or Memory()

    def agreed(self, case_id: str) -> bool:
        """Return whether the person agreed to take part.

        Of episodes that began before the world did, what is on file says so.
        """
        heard = self.memories.get(case_id)
        if heard is not None:
            return heard.consent is Consent.GIVEN
        filed = [record for record in self.records.values() if record.case_id == case_id]
        return bool(filed) and filed[-1].consent_obtained

    def require_no_call(self, case_id: str) -> None:
        """Refuse what cannot be done while the person is on the phone.

        Raises:
            Refusal: If a call is going on.
        """
        for session in self.calls(case_id):
            if session.status is SessionStatus.ACTIVE and not self._too_long(session):
                raise Refusal(
                    RefusalCode.WRONG_STATE,
                    f"Call {session.session_id} about case {case_id} is going on; end it first.",
                )

    def calls(self, case_id: str) -> Iterator[ConversationSession]:
        """Return the calls about an episode, oldest first."""
        return (session for session in self.sessions.values() if session.case_id == case_id)

    # -- how a call goes on ----------------------------------------------------------------------

    def _context(self, session: ConversationSession) -> CallContext:
        """Return when the next message of a call is heard."""
        patient = self.world.care_chart.of(session.case_id).patient
        return CallContext(
            now=office_calendar(patient.address_state).local(self.world.clock.now),
            call=self.memory(session.case_id).calls,
            exchange=len(session.messages) // 2 + 1,
        )

    def _too_long(self, session: ConversationSession) -> bool:
        """Return whether a call has lasted so long that nobody listens any more."""
        since = self.world.clock.now - session.created_at
        return since > timedelta(minutes=session.timeout_minutes)

    def _continued(
        self,
        session: ConversationSession,
        message: str,
        reply: str,
        by: Literal["patient", "other"],
        *,
        hung_up: bool,
    ) -> ConversationSession:
        said: tuple[tuple[Literal["care_manager", "patient", "other"], str], ...] = (
            ("care_manager", message),
            (by, reply),
        )
        now, before = self.world.clock.now, len(session.messages)
        new = tuple(
            ConversationMessage(role=role, content=text, turn_number=number, timestamp=now)
            for number, (role, text) in enumerate(said, before + 1)
        )
        session = replace(session, messages=(*session.messages, *new), last_activity_at=now)
        if hung_up:
            return self._end(session, TerminationReason.PATIENT_ENDED)
        if len(session.messages) >= session.max_turns:
            return self._end(session, TerminationReason.MAX_TURNS)
        self.sessions[session.session_id] = session
        return session

    def _end(self, session: ConversationSession, reason: TerminationReason) -> ConversationSession:
        ended = replace(session, status=SessionStatus.ENDED, termination_reason=reason)
        self.sessions[session.session_id] = ended
        return ended

    def _attempt(self, case_id: str) -> int:
        """Return the number of an attempt: the source counts what was filed, not what was tried."""
        if self.strict:
            return max(attempts(self.memory(case_id)), 1)
        return 1 + sum(1 for record in self.records.values() if record.case_id == case_id)

    # -- what a strict world asks for ------------------------------------------------------------

    def _require_calls_left(self, case_id: str) -> None:
        # Who was called as often as the protocol asks for, and not won over, is left in peace.
        most = self.world.operations.outreach_attempts_least
        if not self.agreed(case_id) and attempts(self.memory(case_id)) >= most:
            raise Refusal(
                RefusalCode.LIMIT_REACHED,
                f"The patient of case {case_id} was called {most} times, which is the most; file "
                "the last call or disenroll the case.",
            )

    def _require_hours(self, patient: Patient) -> None:
        rules = self.world.operations
        local = office_calendar(patient.address_state).local(self.world.clock.now)
        if not rules.call_opens <= local.hour < rules.call_closes:
            raise Refusal(
                RefusalCode.OUT_OF_HOURS,
                f"It is {local:%H:%M} where the patient lives; calls are accepted from "
                f"{rules.call_opens}:00 to {rules.call_closes}:00.",
            )

    def _require_latest(self, session: ConversationSession) -> None:
        """Refuse to file a call that another one followed."""
        *_, latest = self.calls(session.case_id)
        if latest.session_id != session.session_id:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Call {latest.session_id} followed {session.session_id}; file the latest call.",
            )

    def _require_true(
        self, session: ConversationSession, summary: CMOutreachSummaryInput, heard: Memory
    ) -> None:
        """Refuse to file what did not happen: a talk, an agreement, a mood, a length."""
        if not session.messages and not unanswered(heard):
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"Nothing was said in call {session.session_id}; talk to the patient first.",
            )
        if summary.consent_obtained != (heard.consent is Consent.GIVEN):
            did = "has not agreed" if summary.consent_obtained else "has agreed"
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"The patient {did} to take part; consent_obtained is to say what they answered.",
            )
        accepted = engagements(session, heard)
        if summary.engagement_status not in accepted:
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"After this call the patient is not {summary.engagement_status}; accepted is "
                f"{' or '.join(accepted)}.",
            )
        self._require_length(session, summary.call_duration_minutes)

    def _require_length(self, session: ConversationSession, minutes: int | None) -> None:
        lasted = self.world.clock.now - session.created_at
        if minutes is not None and not 0 <= minutes * 60 <= (lasted + _SLACK).total_seconds():
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"The call began at {session.created_at:%H:%M} UTC and cannot have lasted "
                f"{minutes} minutes.",
            )
