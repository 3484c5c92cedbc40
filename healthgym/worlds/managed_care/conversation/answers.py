"""What a person tells about a subject, in their own words, and what is disclosed by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.care_management.evidence import rules
from healthgym.worlds.managed_care.conversation import replies
from healthgym.worlds.managed_care.conversation.bottles import medicines
from healthgym.worlds.managed_care.conversation.clues import readiness
from healthgym.worlds.managed_care.conversation.mind import UNDECIDED
from healthgym.worlds.managed_care.conversation.persona import Circumstance
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.conversation.told_before import again
from healthgym.worlds.managed_care.vocabulary.care import CapabilityLevel, SymptomBurden
from healthgym.worlds.managed_care.voices import Disclosure, Part, Topic

#: The item of the PHQ-9 that asks for thoughts of death or self-harm.
_SELF_HARM_ITEM: Final = "9"
#: What a part of an illness can be like, by the names of the record, the least trouble first.
_LEVELS: Final[Mapping[Part, tuple[str, ...]]] = {
    Part.BAD_DAY: tuple(SymptomBurden),
    Part.SELF_MONITORING: tuple(CapabilityLevel),
    Part.FALLS: ("none",),
    Part.SYMPTOMS: ("none",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A subject that is asked about.

    Attributes:
        topic: The subject.
        items: Which questions or medicines of it; none if it is asked about as a whole.
        parts: What of it, if not the whole.
        whole: Whether it is asked about as a whole besides.
    """

    topic: Topic
    items: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    whole: bool = False


def answer(talk: Talk, asked: Asked) -> None:
    """Tell what is asked."""
    match asked.topic:
        case Topic.PHQ9 | Topic.GAD7:
            _instrument(talk, asked)
        case Topic.MEDICATION:
            medicines(talk, asked.items, asked.parts)
        case Topic.DIAGNOSIS if asked.parts:
            _illness(talk, asked.parts)
        case Topic.MOOD if Part.TREATMENT in asked.parts:
            _treated(talk)
            if asked.whole:
                _plainly(talk, asked.topic)
        case Topic.PHONE_ACCESS if Part.REACH in asked.parts and _is_told(talk, asked.topic):
            talk.say("reach")
        case Topic.DIAGNOSIS:
            _diagnoses(talk)
            readiness(talk)
        case Topic.HOSPITAL_STAY:
            if Part.FOLLOW_UP in asked.parts:
                _followed_up(talk)
            if Part.TESTS in asked.parts:
                talk.say("tests")
            if asked.whole or not asked.parts:
                _stays(talk)
        case Topic.FOOD if Part.TONIGHT in asked.parts:
            if asked.whole and not _is_told(talk, asked.topic):
                _plainly(talk, asked.topic)
            short = any(told.present for told in talk.persona.tells.get(Topic.FOOD, ()))
            talk.words.append(talk.speaker.fixed(f"tonight.{'yes' if short else 'no'}", ""))
        case _:
            _plainly(talk, asked.topic)


def _is_told(talk: Talk, topic: Topic) -> bool:
    """Return whether a story of every day was told before."""
    listed = talk.persona.tells.get(topic, ()) or (Disclosure(topic=topic, present=False),)
    return any(map(talk.knows, listed))


def _told_early(talk: Talk, told: Disclosure) -> bool:
    """Return whether something was told before the agreement, and not since."""
    if not talk.knows(told):
        return False  # as mostly
    turns = [turn for turn in talk.memory.turns if told in turn.told]
    return bool(turns) and all(turn.stage in UNDECIDED for turn in turns)


# -- instruments ---------------------------------------------------------------------------------


def _instrument(talk: Talk, asked: Asked) -> None:
    """Answer as many questions of an instrument as can be taken in; the others are lost.

    Who asks once more, after an answer in words of their own, is told which of the four it is.
    """
    size = rules().instruments[asked.topic][1]
    items = [item for item in asked.items if item.isdecimal() and 1 <= int(item) <= size]
    if not items:
        talk.say("invite.phq9")
        return
    for item in items[: talk.persona.items_at_once]:
        told = _item(talk, asked.topic, item)
        new = not talk.knows(told)
        once = not new and sum(told in turn.told for turn in talk.memory.turns) == 1
        before = "" if once else again(talk, (told,))
        talk.words.append(before + talk.speaker.score(asked.topic, item, told.score or 0))
        if once:
            talk.words.append(talk.speaker.fixed(f"which.{told.score or 0}", item))
        talk.tell((told,))
        if asked.topic is Topic.PHQ9 and item == _SELF_HARM_ITEM and told.score and new:
            talk.say("safety.word")
            talk.mind = replace(talk.mind, danger=True)
    if len(items) > talk.persona.items_at_once:
        talk.say("lost")


def _item(talk: Talk, topic: Topic, item: str) -> Disclosure:
    listed = talk.persona.tells.get(topic, ())
    none = Disclosure(topic=topic, item=item, score=0)
    return next((told for told in listed if told.item == item), none)


# -- other subjects ------------------------------------------------------------------------------


def _illness(talk: Talk, parts: tuple[Part, ...]) -> None:
    """Tell what a bad day is like, what they measure at home, and whether anything is new."""
    for part in parts:
        levels = _LEVELS[part]
        level = talk.speaker.stable(part, len(levels))
        told = Disclosure(topic=Topic.DIAGNOSIS, item=part, score=level)
        before = again(talk, (told,))
        talk.words.append(before + talk.speaker.fixed(f"{part}.{levels[level]}", ""))
        talk.tell((told,))


def _treated(talk: Talk) -> None:
    """Tell whether somebody treats them for how they feel; who has no such illness is not."""
    ill = any(
        told.present and told.item.startswith("F")
        for told in talk.persona.tells.get(Topic.DIAGNOSIS, ())
    )
    treated = ill and bool(talk.speaker.stable(Part.TREATMENT, 2))
    told = Disclosure(topic=Topic.DIAGNOSIS, item=Part.TREATMENT, present=treated)
    before = again(talk, (told,))
    side = "yes" if treated else "no"
    talk.words.append(before + talk.speaker.fixed(f"treatment.{side}", ""))
    talk.tell((told,))


def _diagnoses(talk: Talk) -> None:
    listed = talk.persona.tells.get(Topic.DIAGNOSIS, ())
    named = {told: replies.diagnosis(told.item) for told in listed if told.present}
    before = again(talk, named)
    for told, what in named.items():
        if what:
            talk.words.append(before + talk.speaker.fixed("diagnosis", told.item, what=what))
            talk.tell((told,))
            before = ""
    if not any(named.values()):
        none = Disclosure(topic=Topic.DIAGNOSIS, present=False)
        talk.words.append(again(talk, (none,)) + talk.speaker.fixed("diagnosis.nothing", ""))
        talk.tell((none,))


def _stays(talk: Talk) -> None:
    listed = talk.persona.tells.get(Topic.HOSPITAL_STAY, ())
    told = listed[0] if listed else Disclosure(topic=Topic.HOSPITAL_STAY, present=False)
    before = again(talk, (told,))
    count = sum(item.score or 1 for item in listed) if told.present else 0
    key = "hospital_stay.yes" if count else "hospital_stay.no"
    talk.words.append(before + talk.speaker.fixed(key, "", times=replies.times(count)))
    talk.tell(listed or (told,))


def _followed_up(talk: Talk) -> None:
    """Tell whether a doctor has seen them since they were in a hospital, or when one will."""
    seen = Circumstance.FOLLOWED_UP in talk.persona.circumstances
    arranged = seen or bool(talk.speaker.stable(Part.FOLLOW_UP, 2))
    told = Disclosure(topic=Topic.DIAGNOSIS, item=Part.FOLLOW_UP, present=arranged)
    before = again(talk, (told,))
    key = "follow_up.seen" if seen else "follow_up.yes" if arranged else "follow_up.no"
    talk.words.append(before + talk.speaker.fixed(key, ""))
    talk.tell((told,))


def safety(talk: Talk) -> bool:
    """Tell whether they are in danger, to somebody who looks after that, however often.

    Returns:
        Whether a danger is told for the first time.
    """
    listed = talk.persona.tells.get(Topic.SAFETY, ())
    told = listed[0] if listed else Disclosure(topic=Topic.SAFETY, present=False)
    side = "yes" if told.present else "no"
    known = talk.knows(told)
    if known:
        talk.say(f"safety.still_{side}")
    else:
        talk.words.append(talk.speaker.fixed(f"safety.{side}", ""))
    talk.tell(listed or (told,))
    talk.mind = replace(talk.mind, danger=False)
    return told.present and not known


def _plainly(talk: Talk, topic: Topic) -> None:
    """Tell whether something is there, as a story of every day."""
    listed = talk.persona.tells.get(topic, ())
    told = listed[0] if listed else Disclosure(topic=topic, present=False)
    early = talk.mind.confided is topic or _told_early(talk, told)
    before = "" if early else again(talk, (told,))
    if talk.mind.confided is topic:
        talk.mind = replace(talk.mind, confided=None)
    side = "yes" if told.present else "no"
    talk.words.append(before + talk.speaker.fixed(f"{topic.value}.{side}", ""))
    talk.tell(listed or (told,))
    if topic is Topic.SAFETY and told.present and not before:
        talk.mind = replace(talk.mind, danger=True)
