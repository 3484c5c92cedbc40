"""The person on the phone: what is said, and what the person keeps in mind.

A voice is immutable and shared between worlds. What the person remembers, whether they agreed and
what they told is :class:`Memory`, state of the world: a second call meets the same person.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.conversation.acts import Meant
    from healthgym.worlds.managed_care.conversation.mind import Mind, Turn


class Consent(StrEnum):
    """Whether the person agreed to take part; a state of the person, not a claim of the caller."""

    OPEN = "open"  #: not asked, or not answered
    GIVEN = "given"
    REFUSED = "refused"


class Topic(StrEnum):
    """What a person can tell something about."""

    PHQ9 = "phq9"
    GAD7 = "gad7"
    DIAGNOSIS = "diagnosis"
    HOSPITAL_STAY = "hospital_stay"
    MEDICATION = "medication"
    MOOD = "mood"
    SUBSTANCE_USE = "substance_use"
    SAFETY = "safety"
    TRANSPORTATION = "transportation"
    FOOD = "food"
    HOUSING = "housing"
    CAREGIVER = "caregiver"
    FINANCES = "finances"
    LITERACY = "literacy"
    LANGUAGE = "language"
    PHONE_ACCESS = "phone_access"
    WORK = "work"


#: Subjects that need a question first whether they may be asked about.
PRIVATE = frozenset(
    {Topic.MOOD, Topic.PHQ9, Topic.GAD7, Topic.SUBSTANCE_USE, Topic.SAFETY, Topic.FINANCES}
)


class Part(StrEnum):
    """What of a subject a question is about, where it is not the subject as a whole."""

    BAD_DAY = "bad_day"  #: of an illness: how much it weighs on a day
    SELF_MONITORING = "self_monitoring"  #: of an illness: what is measured and noted at home
    FALLS = "falls"  #: of an illness: whether they have fallen
    SYMPTOMS = "symptoms"  #: of an illness: whether anything is new
    OTHERS = "others"  #: of medicines: those that nobody prescribed, or no list has
    AMOUNT = "amount"  #: of a medicine: the dose that its label has
    HISTORY = "history"  #: of a medicine: since when it is taken, and for what
    TREATMENT = "treatment"  #: of mood: whether somebody is treated for it
    REACH = "reach"  #: of telephone and internet: how they want to be reached
    TESTS = "tests"  #: of a stay in a hospital: what came of its tests
    TONIGHT = "tonight"  #: of food: whether there is some for today
    FOLLOW_UP = "follow_up"  #: of a stay in a hospital: whether a doctor has seen them, or will


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """Something the person told.

    Attributes:
        topic: What it is about.
        item: Which part of it: the number of a questionnaire's item from 1, the name of a
            medicine, the code of a diagnosis, a ``Part``; empty if it has none.
        present: Whether it is there: a barrier, a concern, a medicine that is taken.
        score: Points of a questionnaire's item, how many of what is counted, or which level of a
            ``Part``, from 0 for the least trouble.
    """

    topic: Topic
    item: str = ""
    present: bool = True
    score: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a person remembers of the calls about an episode.

    Attributes:
        calls: How often they were called.
        exchanges: How many messages they heard and answered, over all calls.
        consent: Whether they agreed.
        disclosed: What they told, oldest first.
        turns: What each message did, oldest first; of voices that keep account of it.
        mind: What else a voice keeps in mind; None before the first message.
    """

    calls: int = 0
    exchanges: int = 0
    consent: Consent = Consent.OPEN
    disclosed: tuple[Disclosure, ...] = ()
    turns: tuple[Turn, ...] = ()
    mind: Mind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a person answers.

    Attributes:
        text: What they say.
        stop: Whether they hang up.
        memory: What they have in mind now; None if nothing changed but that they heard it.
        manner: How they speak, in a few words; for whoever words what they say.
        before: Sounds before it, such as a hesitation; not to be worded.
        after: Sounds after it.
        other: Whether it is somebody else who answers, or nothing arrived.
    """

    text: str
    stop: bool = False
    memory: Memory | None = None
    manner: str = ""
    before: str = ""
    after: str = ""
    other: bool = False

    def heard(self, words: str) -> str:
        """Return what is heard: words with the sounds around them.

        Args:
            words: The text, or another wording of it.
        """
        return " ".join(part for part in (self.before, words, self.after) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pickup:
    """What is heard when somebody, something or nobody picks up.

    Attributes:
        heard: What is heard.
        over: Whether the call is over by that.
        memory: What the person has in mind now.
    """

    heard: str
    over: bool
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """When a message is heard.

    Attributes:
        now: What the person's clock shows, without a zone.
        call: Number of the call, from 1.
        exchange: Number of the message in the call, from 1.
    """

    now: datetime
    call: int
    exchange: int


@runtime_checkable
class Telephone(Protocol):
    """A voice to which it matters how its telephone is answered."""

    def picks_up(self, heard: Memory, call: CallContext) -> Pickup | None:
        """Return what is heard when it rings; None if it is the person, as always.

        Args:
            heard: What the person has in mind.
            call: When it rings.
        """


def rings(voice: object) -> TypeGuard[Telephone]:
    """Return whether it matters to a voice how its telephone is answered."""
    kind: type = voice.__class__
    return _rings(kind)


@cache
def _rings(kind: type) -> bool:
    return issubclass(kind, Telephone)


class LineDownError(Exception):
    """No answer could be had: a failure of the line or of who speaks for the person."""


class PatientVoice(Protocol):
    """Somebody who answers the phone. Immutable."""

    def reply(
        self,
        message: str,
        heard: Memory,
        acts: tuple[Meant, ...] = (),
        call: CallContext | None = None,
    ) -> Reply:
        """Answer a message.

        Args:
            message: What the care manager says.
            heard: What the person has in mind.
            acts: What the care manager says to have meant by it; none on the published surface.
            call: When it is heard; None where nobody asks for it.

        Raises:
            LineDownError: If no answer can be had.
        """
