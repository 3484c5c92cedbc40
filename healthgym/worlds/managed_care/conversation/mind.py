"""What a person keeps in mind of the calls with a care manager: typed, frozen, state of the world.

The stages are a table of which may follow which; nothing else changes a stage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from healthgym.worlds.managed_care.conversation.acts import Act, Said
from healthgym.worlds.managed_care.conversation.persona import Concern, Mark
from healthgym.worlds.managed_care.conversation.surroundings import UNANSWERED, Answering
from healthgym.worlds.managed_care.voices import Disclosure, Topic

#: Trust moves between these.
LEAST_TRUST: Final = -3
MOST_TRUST: Final = 3


class Stage(StrEnum):
    """How far a person has come with a caller."""

    UNKNOWN = "unknown"  #: somebody calls
    IDENTIFIED = "identified"  #: the person has said who they are
    PURPOSE_KNOWN = "purpose_known"  #: what the call is about has been said
    INVITED = "invited"  #: asked to take part, and not decided
    AGREED = "agreed"
    REFUSED = "refused"  #: a no that may be asked about once
    REFUSED_FOR_GOOD = "refused_for_good"
    BROKEN_OFF = "broken_off"  #: agreed, and will not go on


#: Stages in which nobody has said yes or no.
UNDECIDED: Final = frozenset({Stage.UNKNOWN, Stage.IDENTIFIED, Stage.PURPOSE_KNOWN, Stage.INVITED})
_BEFORE = (Stage.UNKNOWN, Stage.IDENTIFIED, Stage.PURPOSE_KNOWN, Stage.INVITED)
_OPEN = (*_BEFORE[1:], Stage.REFUSED, Stage.AGREED, Stage.REFUSED_FOR_GOOD)
#: Which stage may follow which; each may also last.
FOLLOWS: Final[Mapping[Stage, frozenset[Stage]]] = {
    Stage.UNKNOWN: frozenset({Stage.IDENTIFIED, Stage.PURPOSE_KNOWN, Stage.REFUSED_FOR_GOOD}),
    Stage.IDENTIFIED: frozenset(_OPEN) - {Stage.IDENTIFIED},
    Stage.PURPOSE_KNOWN: frozenset(_OPEN) - {Stage.IDENTIFIED, Stage.PURPOSE_KNOWN},
    Stage.INVITED: frozenset({Stage.REFUSED, Stage.AGREED, Stage.REFUSED_FOR_GOOD}),
    Stage.AGREED: frozenset({Stage.BROKEN_OFF, Stage.REFUSED_FOR_GOOD}),
    Stage.REFUSED: frozenset({Stage.AGREED, Stage.REFUSED_FOR_GOOD}),
    Stage.REFUSED_FOR_GOOD: frozenset(),
    Stage.BROKEN_OFF: frozenset(),
}


class Supposed(StrEnum):
    """What became of an "I suppose so", which is no consent until it was asked about."""

    NEVER = "never"  #: was not said
    SAID = "said"
    ASKED_ABOUT = "asked_about"


class Parting(StrEnum):
    """Why a person hung up."""

    FRIENDLY = "friendly"  #: both said goodbye
    BUSY = "busy"  #: no time for it now
    TIRED = "tired"  #: no strength left for today
    REFUSING = "refusing"  #: wanted no more of the offer
    UPSET = "upset"  #: pressed, or not listened to
    BROKEN_OFF = "broken_off"  #: will not go on
    NOT_IN = "not_in"  #: somebody else had picked up, or nobody had
    AMBULANCE = "ambulance"  #: help is on its way


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a message did.

    Attributes:
        call: Number of the call, from 1.
        exchange: Number of the message in the call, from 1.
        at: When it was said, on the person's clock.
        acts: What was understood, sure or not.
        marks: What was done wrong by it.
        trust: Trust after it.
        stage: Stage after it.
        told: What was told in answer to it.
        parting: Why the person hung up after it; None if they did not.
        to: Who or what heard it.
    """

    call: int
    exchange: int
    at: datetime
    acts: tuple[Said, ...] = ()
    marks: tuple[Mark, ...] = ()
    trust: int = 0
    stage: Stage = Stage.UNKNOWN
    told: tuple[Disclosure, ...] = ()
    parting: Parting | None = None
    to: Answering = Answering.PERSON


# Without slots: a turn changes few of the many fields, and a dictionary is copied sooner.
@dataclass(frozen=True, kw_only=True)
class Mind:
    """What else a person has in mind.

    Attributes:
        stage: How far they have come with the caller.
        trust: From -3 to 3.
        heard: What was surely said or done to them, in any call.
        introduced_in: Number of the last call in which the caller said who is calling.
        identified_in: Number of the last call in which they said who they are.
        slipped: Worries that they have let slip; only what slipped or was told can be answered.
        voiced: Worries that they have told.
        answered: Worries that were answered.
        triggers: Places of the triggers that have happened.
        hinted: Whether they have given the hint, or told what it is about.
        hint_turn: Place of the turn in which they gave it; None before.
        worried: Whether they have told what worries them most.
        confided: Subject of the worry that they told by its name, until they are asked about it.
        explained: Medicines of which they have said why they leave them out.
        since_no: What was surely done since they first said no.
        asked_behind: Whether they were asked what is behind a refusal.
        supposed: What became of an "I suppose so".
        versions: How often they were asked to agree and did not, of what nothing was done between.
        invited: Whether they said that they can be asked to agree; the next time is then no version
            too many.
        weighed: How much had been said and done for them when they were last asked to agree.
        permitted: Subjects that may be asked about.
        open_permission: Whether a question was allowed whose subject was not said.
        danger: Whether a word about danger to life waits for an answer in this call.
        pressed: How often they were pressed.
        doubted: What sounded grave, and of which they asked what was meant, until it is answered.
        doubts: How often they asked that.
        patience_lost: How often a no was passed over, in any call.
        not_before: From when on they can talk, on their clock; None if at any time.
        tired_in: Number of the call in which they got tired; 0 if they did in none.
        put_off: How often in this call they said that they will not go on talking now.
        call: Number of the call to which the next ones belong.
        used: Lines that they have said in this call.
        answered_by: Who or what has the telephone, or had it last, call by call; empty where
            nobody but the person ever picks up.
        interpreted_in: Number of the last call in which an interpreter was on the line.
        struck: Whether what befalls them in a call has done so.
        alarmed: Whether it waits for an ambulance to be called.
        withdrawn: Whether they took back their yes.
        corrected: Medicines of which they have corrected what they said first.
        denied: Whether they have denied what the record has.
        greeted_in: Number of the last call in which they showed how they are today.
    """

    stage: Stage = Stage.UNKNOWN
    trust: int = 0
    heard: frozenset[Act] = frozenset()
    introduced_in: int = 0
    identified_in: int = 0
    slipped: frozenset[Concern] = frozenset()
    voiced: frozenset[Concern] = frozenset()
    answered: frozenset[Concern] = frozenset()
    triggers: frozenset[int] = frozenset()
    hinted: bool = False
    hint_turn: int | None = None
    worried: bool = False
    confided: Topic | None = None
    explained: frozenset[str] = frozenset()
    since_no: frozenset[Act] = frozenset()
    asked_behind: bool = False
    supposed: Supposed = Supposed.NEVER
    versions: int = 0
    invited: bool = False
    weighed: int = 0
    permitted: frozenset[Topic] = frozenset()
    open_permission: bool = False
    danger: bool = False
    pressed: int = 0
    doubted: frozenset[Act] = frozenset()
    doubts: int = 0
    patience_lost: int = 0
    not_before: datetime | None = None
    tired_in: int = 0
    put_off: int = 0
    call: int = 0
    used: frozenset[str] = frozenset()
    answered_by: tuple[Answering, ...] = ()
    interpreted_in: int = 0
    struck: bool = False
    alarmed: bool = False
    withdrawn: bool = False
    corrected: frozenset[str] = frozenset()
    denied: bool = False
    greeted_in: int = 0

    @property
    def answering(self) -> Answering:
        """Who or what has the telephone in the latest call."""
        return self.answered_by[-1] if self.answered_by else Answering.PERSON

    @property
    def reached(self) -> bool:
        """Whether the latest call was picked up by somebody."""
        return self.answering not in UNANSWERED
