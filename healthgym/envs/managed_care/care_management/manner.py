"""How a good call goes: what to say next, from what is known of the person so far.

It is one manner for whoever calls. The oracle knows the person's mind, the solver what it heard;
both keep the same :class:`View` of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from healthgym.worlds.managed_care.apps.care_management.evidence import rules
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.voices import Topic

#: What is said before the agreement is asked for.
TOLD_FIRST: Final = (
    Act.EXPLAIN_PROGRAM,
    Act.DISCLOSE_ACCESS,
    Act.STATE_SHARING,
    Act.EXPLAIN_VOLUNTARY,
)
#: Subjects that are asked about only once that was allowed.
SENSITIVE: Final = frozenset(
    {Topic.MOOD, Topic.PHQ9, Topic.GAD7, Topic.SUBSTANCE_USE, Topic.SAFETY, Topic.FINANCES}
)
#: The items that are asked first, and the points from which on the others are.
SCREEN, POSITIVE = ("1", "2"), 3
#: Questions of an instrument, and plain subjects, in one breath.
ITEMS_AT_ONCE, SUBJECTS_AT_ONCE = 3, 3
#: How often a question is put that was not answered; more often where an answer has many parts.
MOST_ASKED, MOST_PARTS = 4, 12


@dataclass(slots=True)
class View:
    """What a caller knows of the person.

    Attributes:
        stage: How far they have come.
        introduced: Whether the caller has said who is calling, in this call.
        identified: Whether the person has said who they are, in any call.
        said: What was said to them, in any call.
        worries: What makes them hesitate, as they told, and is not answered.
        since_no: What was said to them after a refusal.
        supposed: Whether an "I suppose so" waits to be asked about.
        danger: Whether a word about danger waits for an answer.
        parting: Whether they cannot or will not go on today.
        hint: Subject of a hint that was not picked up.
        wishes: Further acts that this person waits for before they agree.
        permitted: Subjects that may be asked about.
        answered: Items told, with their points, by subject.
        open: Subjects still to be asked about, in order; medicines by their names.
        asked: How often each subject was asked about.
    """

    stage: Stage = Stage.UNKNOWN
    introduced: bool = False
    identified: bool = False
    said: set[Act] = field(default_factory=set)
    worries: list[Concern] = field(default_factory=list)
    since_no: set[Act] = field(default_factory=set)
    supposed: bool = False
    danger: bool = False
    parting: bool = False
    hint: Topic | None = None
    wishes: list[Meant] = field(default_factory=list)
    permitted: set[Topic] = field(default_factory=set)
    answered: dict[Topic, dict[str, int | None]] = field(default_factory=dict)
    open: list[Topic] = field(default_factory=list)
    medicines: list[str] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)

    def left(self) -> list[Topic]:
        """Return the subjects that are still to be asked about."""
        return [topic for topic in self.open if not self.settled(topic)]

    def settled(self, topic: Topic) -> bool:
        """Return whether enough was told about a subject, or it was asked about often enough."""
        parts = topic is Topic.MEDICATION or topic in rules().instruments
        if self.asked.get(topic, 0) >= (MOST_PARTS if parts else MOST_ASKED):
            return True
        return not any(self.items(topic))

    def items(self, topic: Topic) -> Iterator[str]:
        """Yield the parts of a subject that were not told of yet; an empty one stands for all."""
        told = self.answered.get(topic, {})
        if topic is Topic.MEDICATION:
            yield from (name for name in self.medicines if name not in told)
        elif topic not in rules().instruments:
            yield from () if told else (topic.value,)
        else:
            numbers = [str(n) for n in range(1, rules().instruments[topic][1] + 1)]
            if topic is Topic.PHQ9 and set(SCREEN) <= set(told):
                if sum(told[item] or 0 for item in SCREEN) < POSITIVE:
                    return
            elif topic is Topic.PHQ9:
                numbers = list(SCREEN)
            yield from (item for item in numbers if item not in told)


def next_words(view: View) -> tuple[Meant, ...]:
    """Return what to say next: acts for one message."""
    if not view.introduced:
        hello = _acts(Act.GREET, Act.INTRODUCE)
        if view.danger:
            return (*hello, *_acts(Act.RESPOND_SAFETY))
        if view.identified and view.stage is Stage.AGREED:
            return (*hello, *_questions(view))
        return (*hello, *_acts(Act.VERIFY_IDENTITY))
    if view.danger:
        return _acts(Act.RESPOND_SAFETY)
    if view.stage is Stage.REFUSED_FOR_GOOD:
        return _acts(Act.ACCEPT_REFUSAL, Act.CLOSE)
    if view.parting or view.stage is Stage.BROKEN_OFF:
        return _acts(Act.OFFER_CALLBACK, Act.CLOSE)
    if not view.identified:
        return _checked(view)
    if view.stage is Stage.AGREED:
        return _questions(view) or _acts(Act.NEXT_STEPS, Act.CLOSE)
    return _after_no(view) if view.stage is Stage.REFUSED else _invitation(view)


def _checked(view: View) -> tuple[Meant, ...]:
    """Return how to ask once more who answers, who may want to know first who calls."""
    if Concern.SCAM in view.worries:
        sure = Meant(act=Act.ANSWER_CONCERN, item=Concern.SCAM)
        return (sure, *_acts(Act.OFFER_CALLBACK, Act.VERIFY_IDENTITY))
    return _acts(Act.VERIFY_IDENTITY)


def _after_no(view: View) -> tuple[Meant, ...]:
    """Return what may be said after a no: it is asked about once, answered once, and left."""
    if Act.ASK_HESITATION not in view.since_no:
        return _acts(Act.ACKNOWLEDGE, Act.ASK_HESITATION)
    answers = [Meant(act=Act.ANSWER_CONCERN, item=each) for each in view.worries[:1]]
    if answers or Act.OFFER_AUTONOMY not in view.since_no:
        return (*answers, *_acts(Act.ACKNOWLEDGE, Act.OFFER_AUTONOMY))
    if view.wishes:
        return (view.wishes[0],)
    return _acts(Act.REQUEST_CONSENT)


def _invitation(view: View) -> tuple[Meant, ...]:
    """Return what to say on the way to an agreement."""
    untold = [act for act in TOLD_FIRST if act not in view.said]
    if untold:
        return _acts(*([] if Act.ASK_TIME in view.said else [Act.ASK_TIME]), *untold)
    if view.supposed:
        return _acts(Act.ACKNOWLEDGE, Act.ASK_HESITATION)
    if view.worries:
        answer = Meant(act=Act.ANSWER_CONCERN, item=view.worries[0])
        return (*_acts(Act.ACKNOWLEDGE), answer, *_acts(Act.OFFER_AUTONOMY))
    if view.hint is not None:
        return (*_acts(Act.ACKNOWLEDGE), Meant(act=Act.ASK_TOPIC, topic=view.hint))
    if view.wishes:
        free = [] if Act.OFFER_AUTONOMY in view.said else [Act.OFFER_AUTONOMY]
        return (*view.wishes[:2], *_acts(*free))
    if Act.OFFER_AUTONOMY not in view.said:
        return _acts(Act.EXPLAIN_BENEFIT, Act.OFFER_AUTONOMY, Act.REQUEST_CONSENT)
    return _acts(Act.REQUEST_CONSENT)


def _questions(view: View) -> tuple[Meant, ...]:
    """Return the next questions of the assessment, with the permission that they need before."""
    asked: list[Meant] = []
    for topic in _together(view, view.left()):
        if topic in SENSITIVE and topic not in view.permitted:
            asked.append(Meant(act=Act.ASK_PERMISSION, topic=topic))
        asked += _about(view, topic)
    return tuple(asked)


def _together(view: View, left: Sequence[Topic]) -> Sequence[Topic]:
    """Return the subjects of one message: instruments by themselves unless little is left."""
    instruments = [topic for topic in left if topic in rules().instruments]
    chosen: list[Topic] = []
    if instruments and left[0] in instruments:
        chosen = instruments
        if sum(len(list(view.items(topic))) for topic in instruments) > 1:
            return chosen
    for topic in left:
        private = sum(each in SENSITIVE for each in chosen)
        if topic not in instruments and not (topic in SENSITIVE and private):
            chosen.append(topic)
    return chosen[:SUBJECTS_AT_ONCE]


def _about(view: View, topic: Topic) -> list[Meant]:
    """Return the questions on a subject that can be put in one breath."""
    items = list(view.items(topic))
    if topic in rules().instruments:
        return [Meant(act=Act.ASK_ITEM, topic=topic, item=n) for n in items[:ITEMS_AT_ONCE]]
    return [Meant(act=Act.ASK_TOPIC, topic=topic)]


def _acts(*acts: Act) -> tuple[Meant, ...]:
    return tuple(Meant(act=act) for act in acts)


#: In which order subjects are asked about.
_ORDER = (
    Topic.MEDICATION,
    Topic.PHQ9,
    Topic.GAD7,
    Topic.TRANSPORTATION,
    Topic.FOOD,
    Topic.HOUSING,
    *Topic,
)


def place_of(topic: Topic) -> int:
    """Return the place of a subject in the order in which subjects are asked about."""
    return _ORDER.index(topic)
