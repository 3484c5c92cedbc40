"""What went out in an episode: letters to the provider, notices to the member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cached_property

from healthgym.envs.managed_care.utilization_management.requests import Asked
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.worlds.managed_care.apps.payer import letter_remarks, letter_texts, pends
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.case import Message
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.service_levels import case_timers
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    LetterType,
    MessageKind,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_PEND = "pend"
#: What the delivery of a letter takes, before its writer can do anything else.
_DELIVERY = timedelta(minutes=5)


def notice_kind(message: Message) -> str:
    """Return the kind of notice to a member that a message is; empty if it is none."""
    if message.kind != MessageKind.MEMBER_NOTIFICATION:
        return ""
    kinds = letter_texts.wording()["notices"].items()
    subjects = ((kind, (row["subject"], row.get("partly_subject"))) for kind, row in kinds)
    return next((kind for kind, known in subjects if message.subject in known), "")


class Posted:
    """Looks at the letters and notices of an episode.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling.
        requests: The requests for information of the episode.
    """

    def __init__(
        self,
        before: ManagedCareWorld,
        after: ManagedCareWorld,
        reference: ReviewReference,
        requests: tuple[Asked, ...],
    ) -> None:
        self.before, self.after, self.reference = before, after, reference
        self.requests = requests

    @cached_property
    def letters(self) -> tuple[Letter, ...]:
        """The letters of the episode about the case."""
        written = {one.generated_letter_id for one in self.after.letters.requests.values()}
        return tuple(
            one
            for one in self.after.letters.of(self._case)
            # What the calendar writes when a pend lapses, nobody asked for.
            if one.id not in self.before.letters.letters
            and (one.id in written or one.reissued_from_letter_id)
        )

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """The kinds of notices that the member was sent in the episode; of others, the subject."""
        return tuple(notice_kind(one) or one.subject for one in self._told())

    @property
    def right(self) -> bool:
        """Whether just the right ones went out, each whole, in time and by the right way."""
        wanted = self.reference
        told, due = Counter(self.notices), Counter(map(str, wanted.notices))
        spared = due - Counter([_PEND] if self._overtaken else [])
        return (
            Counter(str(one.letter_type) for one in self.letters)
            == Counter(map(str, wanted.letters))
            and told in (due, spared)
            and not self.flawed
        )

    @property
    def _overtaken(self) -> bool:
        """Whether the practice answered before anybody who tells the member was in again.

        A notice of a pend fits a case that is pended: after the reply none can be sent.
        """
        sent = [one.delivered_at for one in self.letters if one.letter_type is LetterType.PEND]
        moves = self.after.history.of(self._case, EntryKind.TRANSITION)
        replies = [one.at for one in moves if one.action == CaseStatus.RESUBMITTED]
        if not sent or sent[-1] is None:
            return False
        staff, at = self.after.staff, sent[-1] + _DELIVERY
        people = [staff.workers[one] for one in staff.with_role(WorkerRole.LETTER_SPECIALIST)]
        opens = min(office_calendar(one.region, one.hours).next_opening(at) for one in people)
        return any(sent[-1] <= reply < opens for reply in replies)

    @cached_property
    def flawed(self) -> tuple[str, ...]:
        """Letters that were not delivered, lack what they must state, or say the contrary of it."""
        rendered = self.after.rules is Rules.STRICT
        case = self.after.cases.get(self._case)
        return tuple(
            one.id
            for one in self.letters
            if not self._sent(one)
            or self._gaps(one)
            or letter_remarks.contrary(self.after, case, one, rendered=rendered)
        )

    def _sent(self, letter: Letter) -> bool:
        """Return whether a letter went out by the channel on which the request was submitted."""
        channel = self.after.cases.get(self._case).letter_channel
        return letter.delivered_at is not None and letter.delivery_channel is channel

    def _gaps(self, letter: Letter) -> list[str]:
        """Return what a letter must state, by the rules of the day, and does not."""
        kind = LetterType(letter.letter_type)
        case = self.after.cases.get(self._case)
        slots = dict(letter_texts.facts(self.after, case, kind))
        slots["date"] = letter_texts.day(self.after, letter.created_at)
        if kind is LetterType.PEND:
            slots.update(self._asked_before(letter))
        return letter_texts.gaps(self.after, kind, slots, letter.body)

    def _asked_before(self, letter: Letter) -> Mapping[str, str]:
        """Return what a pend letter states: of the last request before it, answered or not."""
        earlier = [one for one in self.requests if one.at <= letter.created_at]
        if not earlier:
            return {"missing_items": "", "due_date": ""}
        due = earlier[-1].at + case_timers(self.after.operations).pend
        listed = pends.items(earlier[-1].text)
        return {
            "missing_items": "\n".join(f"- {item}" for item in listed),
            "due_date": letter_texts.day(self.after, due),
        }

    def _told(self) -> Iterator[Message]:
        known = self.before.inbox.messages
        for key, message in self.after.inbox.messages.items():
            told = message.kind == MessageKind.MEMBER_NOTIFICATION
            if told and message.case_id == self._case and key not in known:
                yield message

    @property
    def _case(self) -> str:
        return self.reference.case_id
