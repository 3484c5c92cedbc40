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
ITEMS_AT_ONCE, SUBJECTS_AT_ONCE = 2, 2
#: How often a question is put that was not answered.
MOST_ASKED = 4


@dataclass(slots=True)
class View:
    """What a caller knows of the person.

    Attributes:
        stage: How far they have come.
        introduced: Whether the caller has said who is calling, in this call.
        identified: Whether the person has said who they are, in this call.
        said: What was said to them, in any call.
        worries: What makes them hesitate, as they told, and is not answered.
        asked_behind: Whether they were asked what is behind it.
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
    asked_behind: bool = False
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
        if self.asked.get(topic, 0) >= MOST_ASKED * (3 if topic in rules().instruments else 1):
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
        return _acts(Act.GREET, Act.INTRODUCE, Act.VERIFY_IDENTITY)
    if view.danger:
        return _acts(Act.RESPOND_SAFETY)
    if view.stage is Stage.REFUSED_FOR_GOOD:
        return _acts(Act.ACCEPT_REFUSAL, Act.CLOSE)
    if not view.identified:
        return _acts(Act.VERIFY_IDENTITY)
    if view.parting or view.stage is Stage.BROKEN_OFF:
        return _acts(Act.ACKNOWLEDGE, Act.OFFER_CALLBACK, Act.CLOSE)
    if view.stage is Stage.AGREED:
        return _questions(view) or _acts(Act.NEXT_STEPS, Act.CLOSE)
    return _invitation(view)


def _invitation(view: View) -> tuple[Meant, ...]:
    """Return what to say on the way to an agreement."""
    untold = [act for act in TOLD_FIRST if act not in view.said]
    if untold:
        return _acts(*untold[:2]) if len(untold) > 2 else _acts(*untold)
    if view.worries:
        worry = view.worries[0]
        return (Meant(act=Act.ACKNOWLEDGE), Meant(act=Act.ANSWER_CONCERN, item=worry))
    if view.hint is not None:
        return (Meant(act=Act.ACKNOWLEDGE), Meant(act=Act.ASK_TOPIC, topic=view.hint))
    if (view.supposed or view.stage is Stage.REFUSED) and not view.asked_behind:
        return _acts(Act.ACKNOWLEDGE, Act.ASK_HESITATION)
    if view.wishes:
        return tuple(view.wishes[:2])
    if Act.OFFER_AUTONOMY not in view.said:
        return _acts(Act.EXPLAIN_BENEFIT, Act.OFFER_AUTONOMY)
    return _acts(Act.REQUEST_CONSENT)


def _questions(view: View) -> tuple[Meant, ...]:
    """Return the next questions of the assessment: those allowed, and what has to be allowed."""
    left = view.left()
    plain = [topic for topic in left if topic not in SENSITIVE]
    delicate = [topic for topic in left if topic in SENSITIVE]
    asked: list[Meant] = []
    open_now = next((topic for topic in delicate if topic in view.permitted), None)
    if open_now is not None:
        asked += _about(view, open_now)
    elif plain:
        first = plain[0]
        together = [first] if first is Topic.MEDICATION else _together(plain)
        for topic in together:
            asked += _about(view, topic)
    for_later = next((t for t in delicate if t not in view.permitted), None)
    if for_later is not None and len(list(delicate)) and _nearly_done(view, open_now):
        asked.append(Meant(act=Act.ASK_PERMISSION, topic=for_later))
    return tuple(asked)


def _together(plain: Sequence[Topic]) -> list[Topic]:
    return [topic for topic in plain if topic is not Topic.MEDICATION][:SUBJECTS_AT_ONCE]


def _nearly_done(view: View, topic: Topic | None) -> bool:
    """Return whether what is asked now may be the last of its subject."""
    return topic is None or len(list(view.items(topic))) <= ITEMS_AT_ONCE


def _about(view: View, topic: Topic) -> list[Meant]:
    """Return the questions on a subject that can be put in one breath."""
    items = list(view.items(topic))
    if topic in rules().instruments:
        return [Meant(act=Act.ASK_ITEM, topic=topic, item=n) for n in items[:ITEMS_AT_ONCE]]
    if topic is Topic.MEDICATION:
        return [Meant(act=Act.ASK_TOPIC, topic=topic, item=n) for n in items[:ITEMS_AT_ONCE]]
    return [Meant(act=Act.ASK_TOPIC, topic=topic)]


def _acts(*acts: Act) -> tuple[Meant, ...]:
    return tuple(Meant(act=act) for act in acts)
