"""One turn of a talk while it is made: what was heard, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Said
from healthgym.worlds.managed_care.conversation.echo import echoes
from healthgym.worlds.managed_care.conversation.mind import (
    FOLLOWS,
    LEAST_TRUST,
    MOST_TRUST,
    Mind,
    Parting,
    Stage,
    Turn,
)
from healthgym.worlds.managed_care.conversation.persona import Concern, Mark, Persona
from healthgym.worlds.managed_care.conversation.replies import Speaker
from healthgym.worlds.managed_care.conversation.surroundings import Answering, Mood
from healthgym.worlds.managed_care.voices import CallContext, Consent, Disclosure, Memory, Reply

#: What has to be said before a yes is one: the handbook's page on consent.
STATEMENTS: Final = (
    Act.INTRODUCE,
    Act.EXPLAIN_PROGRAM,
    Act.DISCLOSE_ACCESS,
    Act.STATE_SHARING,
    Act.EXPLAIN_VOLUNTARY,
)
#: Acts that make the offer, or make it again.
OFFERS: Final = frozenset(
    {Act.EXPLAIN_PROGRAM, Act.EXPLAIN_BENEFIT, Act.ASK_WILLINGNESS, Act.REQUEST_CONSENT}
)
#: Acts that want an answer.
QUESTIONS: Final = frozenset(
    {
        Act.VERIFY_IDENTITY,
        Act.ASK_WILLINGNESS,
        Act.REQUEST_CONSENT,
        Act.ASK_PERMISSION,
        Act.ASK_TOPIC,
        Act.ASK_ITEM,
        Act.ASK_HESITATION,
    }
)
#: Messages of a call by which the strength is less on a bad day.
_LOW: Final = 2
#: Words by which something is said not to be so, or not to have been meant.
_DENIES: Final = re.compile(
    r"\b(?:no|not|never|nobody|nothing|none|cannot|without|sorry|apolog\w+|misunderst\w+)\b"
    r"|n['\N{RIGHT SINGLE QUOTATION MARK}]t\b",
    re.IGNORECASE,
)
_CONSENT: Final = {
    Stage.AGREED: Consent.GIVEN,
    Stage.BROKEN_OFF: Consent.GIVEN,
    Stage.REFUSED: Consent.REFUSED,
    Stage.REFUSED_FOR_GOOD: Consent.REFUSED,
}


@dataclass(slots=True, kw_only=True)
class Talk:
    """One turn while it is made.

    Attributes:
        persona: Who answers.
        memory: What they had in mind before.
        heard: What they understand; of it, what is unsure moves nothing.
        call: When it is heard.
        echoed: Whether the hint that they gave is said back to them.
        message: What was said.
        mind: What they have in mind by now.
        speaker: Finds their words.
        sure: What was surely done.
        words: What they say.
        marks: What was done wrong.
        told: What they tell.
        parting: Why they hang up; None if they do not.
        aside: Whether somebody else hears it, so that nothing is said to the person.
    """

    persona: Persona
    memory: Memory
    heard: Heard
    call: CallContext
    mind: Mind
    speaker: Speaker
    sure: frozenset[Act]
    echoed: bool = False
    message: str = ""
    words: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    told: list[Disclosure] = field(default_factory=list)
    parting: Parting | None = None
    aside: bool = False
    _known: frozenset[Disclosure] | None = None

    @classmethod
    def begin(
        cls, persona: Persona, memory: Memory, heard: Heard, call: CallContext, message: str = ""
    ) -> Talk:
        """Return a turn at its beginning; a new call wipes what holds for one call only."""
        mind = memory.mind or Mind(trust=persona.trust)
        if mind.call != call.call:
            mind = replace(mind, call=call.call, put_off=0, danger=False, used=frozenset())
        speaker = Speaker(
            kind=persona.kind,
            lives=persona.circumstances,
            seed=persona.seed,
            turn=len(memory.turns),
            used=set(mind.used),
        )
        return cls(
            persona=persona,
            memory=memory,
            heard=heard,
            call=call,
            mind=mind,
            speaker=speaker,
            sure=frozenset(said.act for said in heard.acts if said.sure),
            echoed=mind.hinted and echoes(message, persona.hint),
            message=message,
        )

    @property
    def stage(self) -> Stage:
        """How far the person has come with the caller."""
        return self.mind.stage

    @property
    def patience(self) -> int:
        """Exchanges of this call that they have the strength for."""
        low = self.persona.around.manner.mood(self.call.call) is Mood.LOW
        return self.persona.patience - (_LOW if low else 0)

    @property
    def parts(self) -> bool:
        """Whether the caller says goodbye; nobody does with the first words of a call."""
        return Act.CLOSE in self.sure and self.call.exchange > 1

    @property
    def denies(self) -> bool:
        """Whether the caller says that something is not so, or was not meant."""
        return _DENIES.search(self.message) is not None

    @property
    def leave(self) -> tuple[Said, ...]:
        """The private subjects that were named when somebody who has agreed was asked for a yes."""
        asks = {Said(Act.REQUEST_CONSENT), Said(Act.ASK_PERMISSION)}
        if self.stage is not Stage.AGREED or asks.isdisjoint(self.heard.acts):
            return ()
        heard = (said for said in self.heard.acts if said.act is Act.ASK_PERMISSION)
        return tuple(replace(said, sure=True) for said in heard if not said.sure)

    def saids(self, *acts: Act) -> tuple[Said, ...]:
        """Return what was surely said of some acts, in its order."""
        if self.sure.isdisjoint(acts):
            return ()  # as mostly
        return tuple(said for said in self.heard.acts if said.sure and said.act in acts)

    def say(self, key: str, **slots: str) -> None:
        """Say a line."""
        self.words.append(self.speaker.line(key, **slots))

    def mark(self, mark: Mark) -> None:
        """Note what was done wrong, once."""
        if mark not in self.marks:
            self.marks.append(mark)

    def minds(self, **changes: object) -> None:
        """Keep something in mind, if that is anything new: most of it mostly is not."""
        mind = self.mind
        if any(getattr(mind, name) != value for name, value in changes.items()):
            self.mind = replace(mind, **changes)  # type: ignore[arg-type]

    def trusts(self, step: int) -> None:
        """Move trust, within its limits."""
        self.minds(trust=max(LEAST_TRUST, min(MOST_TRUST, self.mind.trust + step)))

    def knows(self, told: Disclosure) -> bool:
        """Return whether something was told in an earlier turn."""
        if self._known is None:
            self._known = frozenset(self.memory.disclosed)
        return told in self._known

    def to(self, stage: Stage) -> None:
        """Move to a stage that may follow; from others, stay."""
        if stage in FOLLOWS[self.stage]:
            self.mind = replace(self.mind, stage=stage)

    def hang_up(self, why: Parting) -> None:
        """End the call."""
        self.parting = why

    def tell(self, told: Iterable[Disclosure]) -> None:
        """Tell something."""
        self.told += (each for each in told if each not in self.told)

    def voice(self, concern: Concern) -> None:
        """Tell a worry."""
        self.mind = replace(self.mind, voiced=self.mind.voiced | {concern})
        self.say(f"told.{concern.value}")

    def let_slip(self, key: str, concern: Concern) -> None:
        """Say something that shows a worry without telling it.

        Args:
            key: What kind of line it is, such as ``hint``.
            concern: The worry.
        """
        self.mind = replace(self.mind, slipped=self.mind.slipped | {concern})
        self.say(f"{key}.{concern.value}")

    def reply(self) -> Reply:
        """Return what the person says, and what they have in mind now."""
        text = self.speaker.whole(" ".join(self.words))
        mind = replace(self.mind, used=frozenset(self.speaker.used))
        turn = Turn(
            call=self.call.call,
            exchange=self.call.exchange,
            at=self.call.now,
            acts=() if self.aside else self.heard.acts,
            marks=tuple(self.marks),
            trust=mind.trust,
            stage=mind.stage,
            told=tuple(self.told),
            parting=self.parting,
            to=self._to,
        )
        new = tuple(told for told in dict.fromkeys(self.told) if not self.knows(told))
        memory = replace(
            self.memory,
            consent=_CONSENT.get(mind.stage, Consent.OPEN),
            disclosed=(*self.memory.disclosed, *new),
            turns=(*self.memory.turns, turn),
            mind=mind,
        )
        stop = self.parting is not None
        return Reply(
            text=text,
            stop=stop,
            memory=memory,
            manner=self.persona.kind.value,
            other=self.aside,
        )

    @property
    def _to(self) -> Answering:
        """Who or what heard what was said."""
        mind = self.memory.mind
        return mind.answering if mind is not None else Answering.PERSON

    def hands_over(self, to: Answering) -> None:
        """Give the telephone to somebody else in the room."""
        answered_by = (*self.mind.answered_by[:-1], to)
        self.mind = replace(self.mind, answered_by=answered_by)
