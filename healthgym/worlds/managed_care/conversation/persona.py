"""Who answers the phone: what a person wants, fears and knows. Immutable, never shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.surroundings import PLAIN, Surroundings
from healthgym.worlds.managed_care.vocabulary.care import MotivationStage, TriggerKind
from healthgym.worlds.managed_care.voices import PRIVATE, Disclosure, Topic


class Rhythm(StrEnum):
    """How a medicine is taken that is not for every day."""

    NEEDED = "needed"  #: when there is need of it
    SELDOM = "seldom"  #: on its day of the week or month


class Willingness(StrEnum):
    """How somebody meets the offer."""

    READY = "ready"
    HESITANT = "hesitant"
    INITIALLY_REFUSES = "initially_refuses"
    REFUSES = "refuses"  #: for good; to be respected


class PersonaKind(StrEnum):
    """What somebody is like on the phone; the source's five."""

    REFUSING = "hard_refuses"
    ANXIOUS = "anxious"
    LOW_COOPERATION = "low_coop"
    TENTATIVE = "tentative"
    RELUCTANT = "reluctant"


class Circumstance(StrEnum):
    """How somebody lives, so far as what they say has to agree with it."""

    HUSBAND = "husband"  #: has one
    WIFE = "wife"
    WIDOW = "widow"
    WIDOWER = "widower"
    ALONE = "alone"  #: neither married nor with a partner
    WORKING = "working"
    RETIRED = "retired"
    OLDER = "older"  #: old enough for grown children
    FOLLOWED_UP = "followed_up"  #: has been to the doctor since the last stay in a hospital


class Concern(StrEnum):
    """What makes somebody hesitate; told when asked, hinted at before."""

    COST = "cost"
    PRIVACY = "privacy"
    TIME = "time"
    TOO_MANY_CALLS = "too_many_calls"
    REPLACES_DOCTOR = "replaces_doctor"
    BEING_JUDGED = "being_judged"
    LOSING_BENEFITS = "losing_benefits"
    SCAM = "scam"


#: Worries that the introduction answers as the handbook has it: no cost, who is told what, that it
#: replaces no doctor, that a no changes no benefits.
INTRODUCED: Final = frozenset(
    {Concern.COST, Concern.PRIVACY, Concern.REPLACES_DOCTOR, Concern.LOSING_BENEFITS}
)


class Mark(StrEnum):
    """What a caller did wrong in a turn, by what followed from it."""

    PRESSURE = "pressure"
    PROMISE = "promise"
    PRIVACY = "privacy"  #: named a sensitive fact before identity and purpose
    HEALTH_BEFORE_IDENTITY = "health_before_identity"  #: anything about health to an unknown person
    REFRAMING = "reframing"  #: made the same offer again after a refusal
    SCOPE_CREEP = "scope_creep"  #: widened the question after the answer
    HARVESTING = "harvesting"  #: three sensitive subjects in a turn
    UNASKED = "unasked"  #: a sensitive subject without permission
    THIRD_PARTY = "third_party"  #: wanted to talk to others without being asked to
    ASKED_AGAIN = "asked_again"  #: asked for what had been told
    SAFETY_PASSED_OVER = "safety_passed_over"  #: went on after a word about danger to life
    TOLD_OTHERS = "told_others"  #: told more than a name to somebody else, or to a machine
    MESSAGE = "message"  #: left a message that lacks what it must say
    NO_CAPACITY = "no_capacity"  #: asked somebody to agree who cannot decide, or may not


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What has to happen before somebody agrees.

    Attributes:
        kind: Whether it is good manners, a hint that is picked up, or what suits this person.
        acts: Acts of which one does it.
        topic: Subject that the act has to be about; None where it need be none.
        concern: Worry that the act has to answer; None where it need be none.
        after_hint: Whether it counts only once the person has given the hint.
    """

    kind: TriggerKind
    acts: tuple[Act, ...]
    topic: Topic | None = None
    concern: Concern | None = None
    after_hint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A first call that comes at a bad time.

    Attributes:
        says: What keeps the person, such as ``at work until five``.
        free_from: First hour at which they can talk, local time.
        free_days: After how many days at the earliest; 0 for the same day.
    """

    says: str
    free_from: int
    free_days: int = 0


class BlockedBecause(StrEnum):
    """Why a person does not go on with an assessment that they agreed to."""

    #: A lawyer, a claim or a court stands in the way.
    LEGAL = "legal"
    #: They go through this only with a clinician or pharmacist of their own.
    OWN_CLINICIAN = "own_clinician"
    #: It is nobody's business, or nothing for the telephone.
    PRIVATE = "private"
    #: The questions weigh too much on them.
    DISTRESS = "distress"
    #: They do not know, and whoever does is away.
    DOES_NOT_KNOW = "does_not_know"
    #: They are ill, or on the way to hospital.
    ILL = "ill"
    #: They agreed to a part of it, and to no more.
    SCOPE = "scope"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """An assessment that cannot be finished: the person breaks off for good.

    Attributes:
        before: The subject about which they will not or cannot talk.
        says: Why, in their words.
        reason: Why, for the record, such as ``wants a lawyer to be asked first``.
        kind: What stands in the way.
    """

    before: Topic
    says: str
    reason: str
    kind: BlockedBecause


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A person on the phone.

    Attributes:
        kind: What they are like.
        willingness: How they meet the offer.
        patient_name: First and last name, as they say it.
        birth_date: As they say it, in ISO form.
        concerns: What makes them hesitate, the first one first.
        triggers: What has to happen before they agree, all of it.
        anti_triggers: Marks after which they refuse for good.
        sensitive: Subjects that need a question first whether they may be asked about.
        tells: What they tell when asked, by subject.
        adherence: Doses of a week that they miss, by medicine; of those they take at all.
        rhythms: How they take the medicines that are not for every day.
        doses: What stands on the label of each medicine, such as ``500 mg``.
        hint: What they say about what worries them most before anybody asks; empty if nothing.
        hint_topic: What the hint is about.
        readiness: What they say they will do about their health, told with the agreement and when
            asked; None if they say nothing of it.
        circumstances: How they live.
        trust: Trust at the beginning, from -2 to 2.
        patience: Exchanges of a call that they have the strength for.
        items_at_once: Questions of an instrument that they can take in one turn.
        only: Subjects for which alone they agree; empty if they agree to the programme as it is.
        busy: A first call at a bad time; None if it is a good one.
        breaks: Where the assessment ends unfinished; None if it does not.
        seed: From which their wording is drawn.
        around: What stands between a caller and them.
    """

    kind: PersonaKind
    willingness: Willingness
    patient_name: str
    birth_date: str
    concerns: tuple[Concern, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    anti_triggers: frozenset[Mark] = frozenset({Mark.PRESSURE, Mark.REFRAMING})
    sensitive: frozenset[Topic] = PRIVATE
    tells: Mapping[Topic, tuple[Disclosure, ...]] = field(default_factory=dict)
    adherence: Mapping[str, int] = field(default_factory=dict)
    rhythms: Mapping[str, Rhythm] = field(default_factory=dict)
    doses: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""
    hint_topic: Topic | None = None
    readiness: MotivationStage | None = None
    circumstances: frozenset[Circumstance] = frozenset()
    trust: int = 0
    patience: int = 10
    items_at_once: int = 3
    only: frozenset[Topic] = frozenset()
    busy: Busy | None = None
    breaks: Break | None = None
    seed: int = 0
    around: Surroundings = PLAIN
