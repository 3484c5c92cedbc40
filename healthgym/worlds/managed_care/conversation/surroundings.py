"""What stands between a caller and a person: the telephone, others, ears, health, a changed mind.

A plain person has nothing of it: they pick up themselves, hear well, speak the caller's language
and answer for themselves. Immutable, never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.worlds.managed_care.voices import Disclosure


class Answering(StrEnum):
    """Who or what has the telephone at the other end."""

    PERSON = "person"
    RELATIVE = "relative"  #: somebody of the family, who may be told nothing
    PROXY = "proxy"  #: whom papers on file name to decide for the person
    STRANGER = "stranger"  #: the number is somebody else's
    MACHINE = "machine"  #: an answering machine
    NOBODY = "nobody"  #: it rings, and nobody picks up


#: Ends of the line with which no talk comes about.
UNANSWERED = frozenset({Answering.MACHINE, Answering.NOBODY})


class Register(StrEnum):
    """The tone in which somebody speaks."""

    PLAIN = "plain"
    FORMAL = "formal"
    HOMELY = "homely"
    TERSE = "terse"
    CHATTY = "chatty"


class Mood(StrEnum):
    """How somebody is on the day of a call."""

    EVEN = "even"
    BRIGHT = "bright"
    LOW = "low"
    CROSS = "cross"


class Capacity(StrEnum):
    """Whether somebody can decide for themselves."""

    OWN = "own"
    NONE = "none"  #: cannot follow the question; no yes of theirs is one


class Sudden(StrEnum):
    """What befalls somebody in the middle of a call, and calls for an ambulance."""

    CHEST_PAIN = "chest_pain"
    STROKE = "stroke"
    BREATH = "breath"
    FALL = "fall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How somebody speaks and listens.

    Attributes:
        register: The tone.
        hesitation: Share of answers that begin with a sound of hesitation.
        most_words: Words of a message that they can take in; 0 if there is no such limit.
        plain_words: Whether they understand nothing in which there is a word of the office.
        moods: How they are, call by call, over and over again; even if there is none.
    """

    register: Register = Register.PLAIN
    hesitation: float = 0.0
    most_words: int = 0
    plain_words: bool = False
    moods: tuple[Mood, ...] = ()

    def mood(self, call: int) -> Mood:
        """Return how they are in a call, counted from 1."""
        return self.moods[(call - 1) % len(self.moods)] if self.moods else Mood.EVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How the telephone is answered.

    Attributes:
        wrong: Whether the first number that is rung is somebody else's.
        machine: Whether a machine picks up where nobody does.
        from_hour: First local hour at which somebody is there.
        to_hour: Hour from which on nobody is.
        never: Whether nobody is ever there.
        number: The number of the plan that a message has to leave; empty if any will do.
    """

    wrong: bool = False
    machine: bool = False
    from_hour: int = 0
    to_hour: int = 24
    never: bool = False
    number: str = ""

    def somebody_there(self, hour: int) -> bool:
        """Return whether somebody picks up at a local hour."""
        return not self.never and self.from_hour <= hour < self.to_hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """Somebody of the family who picks up first.

    Attributes:
        relation: What they are to the person, such as ``daughter``.
        back_from: Hour from which on the person is there; 0 if they can be called to the phone.
    """

    relation: str
    back_from: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Somebody who looks after a person that cannot decide.

    Attributes:
        name: First and last name.
        relation: What they are to the person.
        on_file: Whether papers on file name them to decide.
    """

    name: str
    relation: str
    on_file: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Emergency:
    """What befalls somebody in the middle of a call.

    Attributes:
        kind: What it is.
        after: How many things they have told before.
    """

    kind: Sudden
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """A yes that is taken back.

    Attributes:
        after: How many things they have told before.
        says: How they take it back.
    """

    after: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What stands between a caller and a person.

    Attributes:
        manner: How they speak and listen.
        line: How their telephone is answered.
        relative: Who picks up first; None if nobody does before them.
        interpreter: The language without whose interpreter nothing is understood; empty if the
            caller's will do.
        translates: Who of the family offers to translate; empty if nobody does.
        capacity: Whether they can decide for themselves.
        proxy: Who looks after them, if they cannot.
        emergency: What befalls them in a call; None if nothing does.
        withdrawal: How they take back their yes; None if they do not.
        takes_back: What they say of a medicine at first, and correct later, by its name.
        denies: What they say that they do not have, though the record has it: the code of a
            diagnosis; empty if they deny none.
    """

    manner: Manner = Manner()
    line: Line = Line()
    relative: Relative | None = None
    interpreter: str = ""
    translates: str = ""
    capacity: Capacity = Capacity.OWN
    proxy: Proxy | None = None
    emergency: Emergency | None = None
    withdrawal: Withdrawal | None = None
    takes_back: Mapping[str, Disclosure] = field(default_factory=dict)
    denies: str = ""


#: Nothing of it.
PLAIN = Surroundings()
