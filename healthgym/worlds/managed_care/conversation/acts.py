"""What somebody does by saying something: the dialogue acts of a care manager on the phone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from healthgym.worlds.managed_care.voices import Part, Topic


class Act(StrEnum):
    """A dialogue act; an utterance may hold several."""

    GREET = "greet"  #: a greeting, a pleasantry
    INTRODUCE = "introduce"  #: who is calling, and for whom
    VERIFY_IDENTITY = "verify_identity"  #: asks for full name, birth date or another identifier
    ASK_TIME = "ask_time"  #: whether now is a good time
    DISCLOSE_ACCESS = "disclose_access"  #: which part of the record the caller sees
    STATE_SHARING = "state_sharing"  #: with whom what is told may be shared, what must be passed on
    EXPLAIN_PROGRAM = "explain_program"  #: what the programme is, why the call
    EXPLAIN_BENEFIT = "explain_benefit"  #: what it may be good for
    EXPLAIN_VOLUNTARY = "explain_voluntary"  #: free, voluntary, may be left, no effect on benefits
    ASK_WILLINGNESS = "ask_willingness"  #: whether the person would like to hear more or take part
    REQUEST_CONSENT = "request_consent"  #: asks for the agreement to take part
    ASK_PERMISSION = "ask_permission"  #: whether a subject may be asked about
    ASK_TOPIC = "ask_topic"  #: a question on a subject; the topic says which
    ASK_ITEM = "ask_item"  #: a question of a screening instrument; topic and item say which
    ACKNOWLEDGE = "acknowledge"  #: reflects or validates what the person said
    ASK_HESITATION = "ask_hesitation"  #: what makes the person hesitate; why, of what was told
    ANSWER_CONCERN = "answer_concern"  #: answers a worry: cost, privacy, time, more calls, doctors
    OFFER_AUTONOMY = "offer_autonomy"  #: it is the person's decision; a no is all right
    OFFER_MATERIAL = "offer_material"  #: to send something
    OFFER_CALLBACK = "offer_callback"  #: to call on another day, or when it suits
    ACCEPT_REFUSAL = "accept_refusal"  #: thanks for the answer and leaves it at that
    RESPOND_SAFETY = "respond_safety"  #: is the person safe now; 988, 911; stays on the line
    SUMMARIZE = "summarize"  #: says back what was said or agreed
    NEXT_STEPS = "next_steps"  #: what happens next, and when
    CLOSE = "close"  #: says goodbye
    # Sensitive: what follows from them is more than a turn.
    NAME_FACT = "name_fact"  #: names a fact of the chart: a diagnosis, a medicine, a result
    PROMISE = "promise"  #: promises what nobody can: an outcome, an approval, money, secrecy
    PRESSURE = "pressure"  #: presses: threat, guilt, urgency, false authority, insisting
    INVOLVE_OTHERS = "involve_others"  #: to talk with a relative or employer without being asked to


#: Acts that do harm: a clause with one does little else, and what leaves a doubt is asked about.
GRAVE = frozenset({Act.PRESSURE, Act.PROMISE, Act.INVOLVE_OTHERS})
#: Acts which a list of acts that the caller gives along never proves.
SENSITIVE = frozenset(
    {Act.REQUEST_CONSENT, Act.NAME_FACT, Act.PROMISE, Act.PRESSURE, Act.INVOLVE_OTHERS}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What a caller says to have meant by a message; it helps to understand, and proves nothing.

    Attributes:
        act: What was meant, such as 'explain_voluntary'.
        topic: What it is about, such as 'medication'; blank where it is about nothing special.
        item: Number of an instrument's question from '1', or the name of a medicine; blank where
            there is none.
    """

    act: Act
    topic: Topic | None = None
    item: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """One act of an utterance.

    Attributes:
        act: What is done.
        topic: What a question, a permission or a named fact is about; None where it is open.
        item: Number of an instrument's item from 1, the medicine that is named, or the worry that
            is answered (a ``Concern``); empty where it is open.
        sure: Whether the words leave no doubt; where they do, the person asks back.
        part: What of the subject a question is about; None where it is about the whole of it.
    """

    act: Act
    topic: Topic | None = None
    item: str = ""
    sure: bool = True
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What a person understands of an utterance.

    Attributes:
        acts: Its acts, in the order of the words, each once.
    """

    acts: tuple[Said, ...] = ()

    def has(self, *acts: Act) -> bool:
        """Return whether one of some acts was surely done."""
        return any(said.act in acts and said.sure for said in self.acts)

    @property
    def unsure(self) -> bool:
        """Whether nothing that was said is sure."""
        return not any(said.sure for said in self.acts)
