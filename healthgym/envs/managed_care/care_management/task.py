"""Both halves of a care-management task, and how hard it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.core.task import Instance, Task, TaskGenerator
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.lives import Life
from healthgym.envs.managed_care.cases.configuring import adopt_members, require_chances
from healthgym.envs.managed_care.checks.expectation import DeskReference, Expectation
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.conversation.persona import Persona, PersonaKind
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    CMCaseStatus,
    CMInterventionOwner,
    CMPriority,
    CMProblemCategory,
    CMProgram,
    DiseaseControlStatus,
    EscalationReason,
    FollowUpCadence,
    RiskLevel,
)
from healthgym.worlds.managed_care.voices import Topic


class Strength(StrEnum):
    """How much it takes to win somebody; the source's three difficulties."""

    LOW = "low"
    MODERATE = "moderate"
    HARD = "hard"


class Ending(StrEnum):
    """What is right in the end."""

    PLANNED = "planned"  #: agreed, assessed, planned, closed
    DECLINED = "declined"  #: a refusal for good, respected
    BLOCKED = "blocked"  #: agreed, and the assessment cannot be finished
    WITHDRAWN = "withdrawn"  #: agreed, and took it back
    PARTIAL = "partial"  #: agreed to a part, and to no more
    UNABLE = "unable"  #: nobody could agree: not the person, and no one with papers
    UNREACHABLE = "unreachable"  #: never reached

    @property
    def assessed(self) -> bool:
        """Whether something is assessed, in whole or in part."""
        return self in (Ending.PLANNED, Ending.BLOCKED, Ending.PARTIAL)


#: How episodes end where nothing stands between a caller and the person.
USUAL_ENDINGS = (Ending.PLANNED, Ending.DECLINED, Ending.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a plan must hold because of what was found.

    Attributes:
        problems_least: Problems at least.
        categories: Kinds of problems that are due.
        owners: Who must own at least one intervention.
        first: Kind of the problem that the person named first, or of safety.
        cadence: How often to follow up.
        escalation: Why somebody is brought in the same day; None if nobody is.
    """

    problems_least: int
    categories: frozenset[CMProblemCategory]
    owners: frozenset[CMInterventionOwner]
    first: CMProblemCategory
    cadence: FollowUpCadence
    escalation: EscalationReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CareReference(DeskReference):
    """What the right handling of a referral is.

    Attributes:
        referral_id: The referral that is meant.
        patient_id: Whom it is about.
        case_id: The id that its episode has.
        program: The right programme.
        priority: The right priority.
        risk_level: The right level after the chart review.
        ending: What is right in the end.
        persona: Who answers the phone.
        asked: Subjects that must have been talked about, where neither chart nor an answer settles
            them otherwise.
        phq9: Sum of the PHQ-9 as answered or documented in time; None where the two-question
            screen is negative.
        gad7: Sum of the GAD-7.
        adherence: How each medicine is really taken, by the name in the chart.
        discrepancies: Medicines on which chart and person differ.
        barriers: Whether there is a social barrier, by subject.
        control: How well a condition is controlled, by ICD-10-CM code.
        needs: What the plan must hold; None where there is none.
        paper: What the source's checks expect.
        status: Where the episode ends.
        drilled: Whether the consent is drilled, and nothing else is asked about.
        label: What the person is referred with, as the instruction calls it.
    """

    referral_id: str
    patient_id: str
    case_id: str
    program: CMProgram
    priority: CMPriority
    risk_level: RiskLevel
    ending: Ending
    persona: Persona
    asked: frozenset[Topic] = frozenset()
    phq9: int | None = None
    gad7: int | None = None
    adherence: Mapping[str, AdherenceLevel] = field(default_factory=dict)
    discrepancies: frozenset[str] = frozenset()
    barriers: Mapping[Topic, bool] = field(default_factory=dict)
    control: Mapping[str, DiseaseControlStatus] = field(default_factory=dict)
    needs: Needs | None = None
    paper: Expectation
    status: CMCaseStatus
    drilled: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class CareConfig:
    """What referrals and people are like, and how much stands around them.

    Attributes:
        programs: Programmes that may be right; each is drawn as often.
        conditions: Names of conditions; of those that a programme can be right for, each is drawn
            as often.
        kinds: What people are like on the phone; each is drawn as often.
        strengths: How much it takes to win them; each is drawn as often.
        endings: What may be right in the end. Plans are drawn twice as often as each of the others.
            What stands in the way of a call, or of a yes, is not among the usual ones.
        declined: Share that is kept of the refusals drawn, which take a class and a call and no
            more; the rest are plans, where there may be any.
        referrals: Other referrals in the queue.
        twins: Of these, people who resemble the one that is meant.
        stale: Chance of each thing in the chart that is too old to count: a stay, a visit, a score.
        lagging: Chance of an emergency visit of which the referral does not know.
        day_surgery: Chance of a planned one-day procedure, which is no stay.
        screened: Chance of a screening score of the last visit.
        polypharmacy: Chance of many medicines, where there are not many anyway.
        coded_barriers: Chance of each usual barrier to stand in the chart with a code.
        safety: Chance of a concern about safety on a referral for a disorder of mind or mood.
        concerns: Most worries that somebody has.
        busy: Chance of a first call at a bad time, where so many calls may be made that one can be
            spared.
        numbers: Whether the handbook's numbers of care management are the task's own.
        unanswered: Chance that the first number is a stranger's, or that nobody is there at
            some hours.
        relatives: Chance that somebody of the family picks up first.
        interpreters: Chance that whoever has a barrier of language speaks nothing else.
        tones: Chance of a tone and of hesitations of one's own.
        hearing: Chance of hearing so hard that only short messages arrive.
        plain_words: Chance of understanding nothing in which there is a word of the office.
        moods: Chance of a mood that changes from call to call.
        emergencies: Chance of an emergency in the middle of an assessment.
        corrections: Chance of an answer that is taken back later, and of denying a diagnosis.
        proxies: Chance of somebody who cannot decide, and whose papers name who does.
    """

    programs: tuple[CMProgram, ...] = tuple(CMProgram)
    conditions: tuple[str, ...] = ()
    kinds: tuple[PersonaKind, ...] = tuple(PersonaKind)
    strengths: tuple[Strength, ...] = (Strength.MODERATE,)
    endings: tuple[Ending, ...] = USUAL_ENDINGS
    declined: float = 0.4
    referrals: int = 5
    twins: int = 1
    stale: float = 0.35
    lagging: float = 0.2
    day_surgery: float = 0.2
    screened: float = 0.25
    polypharmacy: float = 0.3
    coded_barriers: float = 0.12
    safety: float = 0.12
    concerns: int = 2
    busy: float = 0.15
    numbers: bool = True
    unanswered: float = 0.0
    relatives: float = 0.0
    interpreters: float = 0.0
    tones: float = 0.0
    hearing: float = 0.0
    plain_words: float = 0.0
    moods: float = 0.0
    emergencies: float = 0.0
    corrections: float = 0.0
    proxies: float = 0.0

    def __post_init__(self) -> None:
        adopt_members(self, _KINDS)
        object.__setattr__(self, "conditions", _named(self.conditions))
        if not 0 <= self.referrals <= _MOST_REFERRALS:
            raise ConfigurationError(f"referrals lies between 0 and {_MOST_REFERRALS}.")
        if not 0 <= self.twins <= min(self.referrals, _MOST_TWINS):
            raise ConfigurationError(
                f"twins are among the referrals, and at most {_MOST_TWINS}; not {self.twins!r}."
            )
        if not 1 <= self.concerns <= _MOST_CONCERNS:
            raise ConfigurationError(f"concerns lies between 1 and {_MOST_CONCERNS}.")
        require_chances(self, _CHANCES)

    @property
    def deep(self) -> bool:
        """Whether anything can stand between a caller and the person."""
        beyond = set(self.endings) - set(USUAL_ENDINGS)
        return bool(beyond) or any(getattr(self, name) for name in _AROUND)

    @property
    def life(self) -> Life:
        """How much happens in a life besides what decides."""
        return Life(**{name: getattr(self, name) for name in _LIFE})


_LIFE = ("stale", "lagging", "day_surgery", "screened", "polypharmacy", "coded_barriers")
_AROUND = (
    *("unanswered", "relatives", "interpreters", "tones", "hearing", "plain_words", "moods"),
    *("emergencies", "corrections", "proxies"),
)
_CHANCES = (*_LIFE, *_AROUND, "declined", "safety", "busy")
_MOST_REFERRALS, _MOST_TWINS, _MOST_CONCERNS = 24, 4, 3
_KINDS: Mapping[str, type[StrEnum]] = {
    "programs": CMProgram,
    "kinds": PersonaKind,
    "strengths": Strength,
    "endings": Ending,
}


def _named(values: Iterable[str]) -> tuple[str, ...]:
    """Return names of conditions, each once; all of them if none is named."""
    known = care_conditions()
    found = () if isinstance(values, str) else tuple(dict.fromkeys(values))
    strange = [name for name in found if name not in known]
    if strange or isinstance(values, str):
        raise ConfigurationError(
            f"conditions: {values!r} names {strange or 'no list'}; known are {', '.join(known)}."
        )
    return found or tuple(known)


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, CareConfig] = {
    "easy": CareConfig(
        strengths=(Strength.LOW,),
        declined=0.3,
        referrals=2,
        twins=0,
        stale=0.1,
        lagging=0.0,
        day_surgery=0.0,
        safety=0.06,
        concerns=1,
        busy=0.0,
    ),
    "medium": CareConfig(),
    "hard": CareConfig(
        strengths=(Strength.MODERATE, Strength.HARD),
        referrals=11,
        twins=3,
        stale=0.6,
        lagging=0.35,
        day_surgery=0.35,
        screened=0.35,
        polypharmacy=0.4,
        safety=0.18,
        concerns=3,
        busy=0.3,
    ),
    "conversations": CareConfig(
        strengths=(Strength.LOW, Strength.MODERATE),
        endings=tuple(Ending),
        declined=1.0,
        unanswered=0.3,
        relatives=0.35,
        interpreters=0.9,
        tones=0.8,
        hearing=0.15,
        plain_words=0.2,
        moods=0.5,
        emergencies=0.3,
        corrections=0.35,
        proxies=0.1,
    ),
}

CareInstance = Instance[Task, CareReference, WorldStart]
CareTaskGenerator = TaskGenerator[Task, CareReference, WorldStart]
