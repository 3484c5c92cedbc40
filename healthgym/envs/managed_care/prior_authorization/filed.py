"""What a practice has on file of a request, in words and days, and what the payer told it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from functools import cached_property

from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.apps.provider.inbox_and_directory import PRACTICE
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.line import Utterance
from healthgym.worlds.managed_care.peers.making import VERSION
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.relay import PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.stated import days_in
from healthgym.worlds.managed_care.vocabulary.authorization import MessageKind
from healthgym.worlds.managed_care.world import ManagedCareWorld


class Filed:
    """Holds what a practice and its payer have written, and said, of a request.

    Args:
        before: The world as it began.
        after: The world now.
        reference: The right handling.
    """

    def __init__(
        self, before: ManagedCareWorld, after: ManagedCareWorld, reference: AuthorizationReference
    ) -> None:
        self.before, self.after, self.reference = before, after, reference
        self.chart = after.charts[reference.patient_id]

    @cached_property
    def _fields(self) -> tuple[object, ...]:
        """What the records hold; of documents their heads, since texts are written when read."""
        chart, staff = self.chart, self.after.staff
        parts = (
            chart.patient,
            *chart.coverages,
            *chart.conditions,
            *chart.observations,
            *chart.procedures,
            *chart.medications,
            *chart.allergies,
            *chart.encounters,
            *chart.orders,
            *staff.practitioners.values(),
        )
        heads = ((d.title, d.author_name, d.created_at, d.signed_at) for d in chart.documents)
        return tuple(leaves((parts, tuple(heads))))

    @cached_property
    def recorded(self) -> str:
        """What the records say, in small letters."""
        return "\n".join(value for value in self._fields if isinstance(value, str)).lower()

    @cached_property
    def own(self) -> tuple[str, ...]:
        """What the practice has of the patient in words, in small letters."""
        return self.recorded, self._written.lower(), self._memos.lower()

    @cached_property
    def _written(self) -> str:
        """What the documents say."""
        return "\n".join(document.content for document in self.chart.documents)

    @cached_property
    def answered(self) -> str:
        """What the payer wrote about the patient's cases: its letters, and what it asked for."""
        letters = (x for x in self.after.letters.letters.values() if x.case_id in self._cases)
        asked = (
            message
            for message in self.after.inbox.messages.values()
            if message.case_id in self._cases and message.kind == MessageKind.PEND_REQUEST
        )
        said = (value for value in leaves((*letters, *asked)) if isinstance(value, str))
        return "\n".join((*said, self._memos))

    @cached_property
    def heard(self) -> tuple[str, ...]:
        """What the other side said on calls about the patient's cases."""
        asked = [one.id for case in self._cases for one in self.after.peer.of(case)]
        said = tuple(
            turn.message
            for session in map(self.after.peer.session_of, asked)
            if session is not None
            for turn in session.transcript
            if turn.speaker != session.benchmark_side
        )
        return (*said, *(turn.message for turn in self._turns if turn.side != PROVIDER))

    @cached_property
    def conceded(self) -> bool:
        """Whether the payer's physician gave in on a call about the patient's cases."""
        asked = (one.id for case in self._cases for one in self.after.peer.of(case))
        sessions = filter(None, map(self.after.peer.session_of, asked))
        return any(VERSION in session.revealed_fact_ids for session in sessions)

    @property
    def spoken(self) -> tuple[str, ...]:
        """What is on record of calls: between two seats, the words of both."""
        return (*self.heard, *(turn.message for turn in self._turns if turn.side == PROVIDER))

    @cached_property
    def _turns(self) -> tuple[Utterance, ...]:
        """What was said between two seats."""
        if not isinstance(self.after, SharedOffices):
            return ()
        lines = (line for case in self._cases for line in self.after.parley.of(case))
        return tuple(turn for line in lines for turn in line.turns)

    @cached_property
    def _cases(self) -> tuple[str, ...]:
        """The patient's cases, by id."""
        own, cases = self.chart.patient.id, self.after.cases.cases.values()
        return tuple(case.id for case in cases if case.patient_id == own)

    @cached_property
    def _memos(self) -> str:
        """What the practice's own people wrote to each other before."""
        kept = self.before.inbox.messages.values()
        return "\n".join(message.body for message in kept if message.box == PRACTICE)

    @cached_property
    def versions(self) -> tuple[Policy, ...]:
        """The policy in all versions that the payer has."""
        book, policy = self.before.start.policies, self.reference.policy
        return (policy, *(each for each in (book.policies if book else ()) if each.id == policy.id))

    @cached_property
    def pages(self) -> tuple[str, ...]:
        """The pages of the handbook about the policy: former versions, and what amends it."""
        changed, policy = self.before.start.handbook.changed, self.reference.policy
        return tuple(page.text for path, page in changed.items() if policy.id in path)

    @cached_property
    def days(self) -> frozenset[date]:
        """Days of the records, of what was sent, and of the episode."""
        known = {
            value.date() if isinstance(value, datetime) else value
            for value in self._fields
            if isinstance(value, date)
        }
        clock = {self.before.clock.now.date(), self.after.clock.now.date()}
        letters = {letter.created_at.date() for letter in self.after.letters.letters.values()}
        filed = {
            packet.submitted_at.date() for packet in self.after.authorizations.packets.values()
        }
        cases = [
            c for c in self.after.cases.cases.values() if c.patient_id == self.chart.patient.id
        ]
        # Of a case its days only: what else it has is the agent's own words.
        due = {value.date() for value in leaves(tuple(cases)) if isinstance(value, datetime)}
        policy = {day for p in self.versions for day in (p.effective, p.terminated) if day}
        calls = {day for text in self._slots for day in days_in(text)}
        return frozenset(known | clock | letters | filed | due | policy | calls)

    @property
    def _slots(self) -> Iterator[str]:
        """Yield the times of calls, as they were offered and fixed."""
        for case in self._cases:
            for asked in self.after.peer.of(case):
                yield from (*asked.offered_slots, asked.scheduled_at or "")

    @cached_property
    def ages(self) -> frozenset[int]:
        """How old the patient was on the days of the file."""
        born = self.chart.patient.dob
        return frozenset(age_on(born, day) for day in self.days if day >= born)
