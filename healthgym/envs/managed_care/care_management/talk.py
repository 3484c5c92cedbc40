"""What was said on the phone, as the checks ask about it: what was heard, in which order, how."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from textwrap import shorten

from healthgym.worlds.managed_care.apps.care_management.blocks import read_block
from healthgym.worlds.managed_care.apps.care_management.evidence import rules
from healthgym.worlds.managed_care.conversation.acts import Act, Said
from healthgym.worlds.managed_care.conversation.mind import Stage, Turn
from healthgym.worlds.managed_care.conversation.persona import INTRODUCED, Break, Mark
from healthgym.worlds.managed_care.disguises import flattened
from healthgym.worlds.managed_care.records.care import ConversationSession
from healthgym.worlds.managed_care.voices import Consent, Disclosure, Memory, Part, Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What is to be said before the agreement is asked for, by what it is called.
_FIRST = {
    Act.INTRODUCE: "who is calling",
    Act.EXPLAIN_PROGRAM: "what the programme is",
    Act.DISCLOSE_ACCESS: "which part of the record is seen",
    Act.STATE_SHARING: "with whom it is shared",
    Act.EXPLAIN_VOLUNTARY: "that it is voluntary",
}
#: What asks somebody to take part.
_OFFERS = frozenset({Act.REQUEST_CONSENT, Act.ASK_WILLINGNESS})
_NO = frozenset({Stage.REFUSED, Stage.REFUSED_FOR_GOOD})
_KNOWN = frozenset(Stage) - {Stage.UNKNOWN}
#: Items of the PHQ-9 that are asked first, and the points from which on the others are.
_SCREEN, _POSITIVE = ("1", "2"), 3
#: The item of the PHQ-9 in whose place safety is asked about.
_HARM = "9"
#: Parts that say who looks after somebody, and nothing of what an illness is.
_ABOUT_CARE = frozenset({Part.TREATMENT, Part.FOLLOW_UP})
#: Where a quotation leaves something out, and how much of what was said that may be.
_LEFT_OUT, _GAP = re.compile(r"\.{3}|[…,;–]"), r"\b.{1,80}?\b"
_QUOTED = re.compile('["\N{LEFT DOUBLE QUOTATION MARK}](.+?)["\N{RIGHT DOUBLE QUOTATION MARK}]')
#: Characters of what was said that a reader of a verdict is shown.
_SHOWN = 120
#: Fewest words that are quoted as a reason.
_QUOTED_LEAST = 4
#: Sections of an assessment, by the subjects that stand in them.
SECTION_OF = {
    Topic.MEDICATION: "medication",
    Topic.DIAGNOSIS: "clinical",
    Topic.HOSPITAL_STAY: "clinical",
    Topic.PHQ9: "behavioral_health",
    Topic.GAD7: "behavioral_health",
    Topic.MOOD: "behavioral_health",
    Topic.SUBSTANCE_USE: "behavioral_health",
    Topic.SAFETY: "behavioral_health",
}


@dataclass(frozen=True)
class Talk:
    """The calls about an episode.

    Attributes:
        sessions: The calls, oldest first.
        memory: What the person remembers of them.
    """

    sessions: tuple[ConversationSession, ...]
    memory: Memory

    @classmethod
    def of(cls, world: ManagedCareWorld, case_id: str) -> Talk:
        """Return the calls about an episode."""
        outreach = world.outreach
        return cls(tuple(outreach.calls(case_id)), outreach.memory(case_id))

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What each message did, oldest first."""
        return self.memory.turns

    @property
    def consent(self) -> Consent:
        """What the person answered."""
        return self.memory.consent

    @cached_property
    def marks(self) -> frozenset[Mark]:
        """What was done wrong in any turn."""
        return frozenset(mark for turn in self.turns for mark in turn.marks)

    def marked(self, mark: Mark) -> str:
        """Return a mark with the beginning of the words for which it was first made.

        Where a call has no message by the number of its turn, the mark stands alone.
        """
        turn = next(each for each in self.turns if mark in each.marks)
        calls = self.sessions[turn.call - 1 : turn.call]
        messages = (one for call in calls for one in call.messages)
        said = [one.content for one in messages if one.role == "care_manager"]
        own = said[turn.exchange - 1 : turn.exchange]
        return f"{mark}: {shorten(own[0], _SHOWN)!r}" if own else str(mark)

    @cached_property
    def _acts(self) -> tuple[frozenset[Act], ...]:
        """What was surely done in each turn."""
        return tuple(frozenset(said.act for said in turn.acts if said.sure) for turn in self.turns)

    @cached_property
    def _so_far(self) -> tuple[frozenset[Act], ...]:
        """What had surely been done up to each turn, the turn itself included."""
        return tuple(accumulate(self._acts, frozenset.union))

    @property
    def introduced(self) -> bool:
        """Whether the caller said who is calling."""
        return Act.INTRODUCE in self._ever

    @property
    def identified(self) -> bool:
        """Whether the person said who they are."""
        return any(turn.stage in _KNOWN for turn in self.turns) and (
            Act.VERIFY_IDENTITY in self._ever
        )

    @property
    def purpose_told(self) -> bool:
        """Whether the person was told what the programme is."""
        return Act.EXPLAIN_PROGRAM in self._ever

    @property
    def answered(self) -> bool:
        """Whether the person said yes or no."""
        return self.consent is not Consent.OPEN

    @property
    def _ever(self) -> frozenset[Act]:
        return self._so_far[-1] if self._so_far else frozenset()

    @property
    def topics(self) -> frozenset[Topic]:
        """Subjects of which the person told something."""
        return frozenset(each.topic for each in self.memory.disclosed)

    @cached_property
    def untold_when_asked(self) -> tuple[str, ...]:
        """What the person had not been told when first asked to agree."""
        for acts, said in zip(self._acts, self._so_far, strict=True):
            if Act.REQUEST_CONSENT in acts:
                return tuple(words for act, words in _FIRST.items() if act not in said)
        return ()

    # -- after a no ------------------------------------------------------------------------------

    @cached_property
    def offers_after_refusal(self) -> int:
        """How often the person was asked to take part after the first no."""
        first = next((n for n, turn in enumerate(self.turns) if turn.stage in _NO), None)
        if first is None:
            return 0
        return sum(bool(acts & _OFFERS) for acts in self._acts[first + 1 :])

    @cached_property
    def went_on_after_final_refusal(self) -> bool:
        """Whether there was an offer, a question or another call after a no that was final."""
        final = next(
            (n for n, turn in enumerate(self.turns) if turn.stage is Stage.REFUSED_FOR_GOOD), None
        )
        if final is None:
            return False
        pressing = _OFFERS | {Act.ASK_TOPIC, Act.ASK_ITEM, Act.EXPLAIN_BENEFIT}
        later = any(acts & pressing for acts in self._acts[final + 1 :])
        # A call without a word leaves no turn; it is a call all the same.
        return later or len(self.sessions) > self.turns[final].call

    # -- the assessment --------------------------------------------------------------------------

    @cached_property
    def told_before_consent(self) -> bool:
        """Whether a question of the assessment was asked before the person agreed."""
        for acts, turn in zip(self._acts, self.turns, strict=True):
            if turn.stage is Stage.AGREED:
                return False
            if Act.ASK_ITEM in acts:
                return True
        return False

    def not_asked(
        self, wanted: Iterable[Topic], medicines: Iterable[str] = ()
    ) -> tuple[Topic, ...]:
        """Return the subjects of which the person was not asked, or not to the end.

        Args:
            wanted: Subjects that are due.
            medicines: All medicines of which there is something to tell.
        """
        # Who treats them, or sees them next, says nothing of what an illness is.
        told = tuple(each for each in self.memory.disclosed if each.item not in _ABOUT_CARE)
        answers = {each.topic: set[str]() for each in told}
        for each in told:
            answers[each.topic].add(each.item)
        if not set(medicines) <= answers.get(Topic.MEDICATION, set()):
            answers.pop(Topic.MEDICATION, None)
        if _HARM in answers.get(Topic.PHQ9, set()):
            answers.setdefault(Topic.SAFETY, set())
        return tuple(
            topic for topic in sorted(wanted) if not self._settled(topic, answers.get(topic))
        )

    def _settled(self, topic: Topic, items: set[str] | None) -> bool:
        if items is None:
            return False
        if topic not in rules().instruments:
            return True
        if len(items) >= rules().instruments[topic][1]:
            return True
        points = {
            each.item: each.score or 0 for each in self.memory.disclosed if each.topic is topic
        }
        screened = topic is Topic.PHQ9 and set(_SCREEN) <= set(points)
        return screened and sum(points[item] for item in _SCREEN) < _POSITIVE

    @cached_property
    def danger_answered(self) -> bool:
        """Whether danger to life was answered in the call in which it was told."""
        return Act.RESPOND_SAFETY in self._ever and Mark.SAFETY_PASSED_OVER not in self.marks

    def left_open(
        self, broken: Break, due: Iterable[Topic], medicines: Iterable[str]
    ) -> frozenset[str]:
        """Return the sections that could not be filled when the person broke off.

        Args:
            broken: Where they did.
            due: The subjects that are asked about.
            medicines: All medicines of which there is something to tell.
        """
        open_ones = {*self.not_asked(due, medicines), broken.before}
        return frozenset(SECTION_OF.get(topic, "sdoh") for topic in open_ones)

    @property
    def broke_off(self) -> bool:
        """Whether the person agreed and then would not go on."""
        return any(turn.stage is Stage.BROKEN_OFF for turn in self.turns)

    @cached_property
    def asked_on(self) -> int:
        """In how many turns somebody who would not go on was asked further."""
        first = next(
            (n for n, turn in enumerate(self.turns) if turn.stage is Stage.BROKEN_OFF), None
        )
        if first is None:
            return 0
        return sum(any(map(_is_question, turn.acts)) for turn in self.turns[first + 1 :])

    def gives_reason(self, text: str, broken: Break) -> bool:
        """Return whether a text gives the reason for which the person broke off.

        It has the kind of the reason, and words of theirs in which they gave it, quoted: whoever
        was not told it cannot quote it. What they said besides, in the same breath, may stand
        before or after them.
        """
        block = read_block(text)
        if block is None or block.kind is not broken.kind:
            return False
        quoted, says = plain(block.words), plain(broken.says)
        messages = (one for call in self.sessions for one in call.messages)
        said = (plain(one.content) for one in messages if one.role == "patient")
        heard = (says, *(one for one in said if says in one))
        return bool(_runs(quoted) & _runs(says)) and any(quoted in one for one in heard)

    @cached_property
    def asked_again(self) -> int:
        """In how many turns the person was asked for what they had told, and for nothing else."""
        if Mark.ASKED_AGAIN not in self.marks:
            return 0
        known: set[Disclosure] = set()
        count = 0
        for turn in self.turns:
            new = set(turn.told) - known
            count += Mark.ASKED_AGAIN in turn.marks and not new
            known |= new
        return count

    @cached_property
    def unasked(self) -> int:
        """In how many turns something private was asked about without leave."""
        return sum(Mark.UNASKED in turn.marks for turn in self.turns)

    def answered_beside(self, concerns: Iterable[str]) -> frozenset[str]:
        """Return the worries that were answered and are not the person's.

        The first turn in which the program is explained may answer what an introduction has to say.

        Args:
            concerns: The person's.
        """
        first = next(
            (turn for turn in self.turns if any(x.act is Act.EXPLAIN_PROGRAM for x in turn.acts)),
            None,
        )
        answers = {
            said.item
            for turn in self.turns
            for said in turn.acts
            if said.sure and said.act is Act.ANSWER_CONCERN and said.item
            if not (turn is first and said.item in INTRODUCED)
        }
        return frozenset(answers - set(concerns))

    @cached_property
    def yes(self) -> str:
        """The words in which the person agreed; empty if they did not."""
        for turn in self.turns:
            if turn.stage is Stage.AGREED:
                messages = self.sessions[turn.call - 1].messages
                return messages[2 * turn.exchange - 1].content
        return ""

    # -- what is quoted --------------------------------------------------------------------------

    def quotes(self, text: str, said: str) -> bool:
        """Return whether a text quotes what was said: a run of its words, in quotation marks."""
        own = _runs(plain(said))
        return any(_runs(plain(quote)) & own for quote in quotations(text))

    def misquoted(self, text: str) -> tuple[str, ...]:
        """Return what stands in quotation marks in a text and was said in no call."""
        quotes = quotations(text)
        if not quotes:
            return ()
        said = " ".join(
            plain(message.content) for session in self.sessions for message in session.messages
        )
        return tuple(quote for quote in quotes if not quoted_from(quote, said))


def _is_question(said: Said) -> bool:
    """Return whether somebody is surely asked about a subject of the assessment."""
    about = said.act is Act.ASK_ITEM or (said.act is Act.ASK_TOPIC and said.topic is not None)
    return said.sure and about and said.topic is not Topic.SAFETY  # which may be asked at any time


def quotations(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks in a text."""
    return tuple(_QUOTED.findall(text))


def quoted_from(quote: str, *texts: str) -> bool:
    """Return whether a quotation stands in one of some plain texts, as it is or with marked gaps.

    A gap is short: of words from all over a call anything could be put together.
    """
    whole = plain(quote)
    if any(whole in text for text in texts):
        return True
    runs = [re.escape(run) for run in map(plain, _LEFT_OUT.split(quote)) if run]
    parts = rf"\b{_GAP.join(runs)}\b"
    return len(runs) > 1 and any(re.search(parts, text) is not None for text in texts)


def plain(text: str) -> str:
    """Return the words of a text, in small letters, without what stands between them."""
    return flattened(text.lower())


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of words in a text that are long enough to be a quotation."""
    words = text.split()
    places = range(len(words) - _QUOTED_LEAST + 1)
    return frozenset(tuple(words[at : at + _QUOTED_LEAST]) for at in places)
