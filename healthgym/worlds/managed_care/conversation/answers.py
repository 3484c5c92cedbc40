"""What a person tells about a subject, in their own words, and what is disclosed by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.care_management.evidence import rules, same_medicine
from healthgym.worlds.managed_care.conversation import replies
from healthgym.worlds.managed_care.conversation.clues import readiness
from healthgym.worlds.managed_care.conversation.mind import UNDECIDED
from healthgym.worlds.managed_care.conversation.persona import Circumstance, Mark
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.vocabulary.care import CapabilityLevel, SymptomBurden
from healthgym.worlds.managed_care.voices import Disclosure, Part, Topic

#: The item of the PHQ-9 that asks for thoughts of death or self-harm.
_SELF_HARM_ITEM: Final = "9"
_DOSES_OF_A_WEEK: Final = 7
#: What a part of an illness can be like, by the names of the record, the least trouble first.
_LEVELS: Final[Mapping[Part, tuple[str, ...]]] = {
    Part.BAD_DAY: tuple(SymptomBurden),
    Part.SELF_MONITORING: tuple(CapabilityLevel),
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
            _medicines(talk, asked)
        case Topic.DIAGNOSIS if asked.parts:
            _illness(talk, asked.parts)
        case Topic.MOOD if Part.TREATMENT in asked.parts:
            _treated(talk)
            if asked.whole:
                _plainly(talk, asked.topic)
        case Topic.DIAGNOSIS:
            _diagnoses(talk)
            readiness(talk)
        case Topic.HOSPITAL_STAY:
            if Part.FOLLOW_UP in asked.parts:
                _followed_up(talk)
            if asked.whole or not asked.parts:
                _stays(talk)
        case _:
            _plainly(talk, asked.topic)


def _again(talk: Talk, told: Iterable[Disclosure]) -> str:
    """Return what goes before an answer: that it was given already, if it was.

    Who asks right after an answer makes sure of it, which is no wrong.
    """
    told = tuple(told)
    if not told or not all(talk.knows(item) for item in told):
        return ""
    _asked_again(talk, told)
    return talk.speaker.line("again") + " "


def _told_early(talk: Talk, told: Disclosure) -> bool:
    """Return whether something was told before the agreement, and not since."""
    if not talk.knows(told):
        return False  # as mostly
    turns = [turn for turn in talk.memory.turns if told in turn.told]
    return bool(turns) and all(turn.stage in UNDECIDED for turn in turns)


def _asked_again(talk: Talk, told: tuple[Disclosure, ...]) -> None:
    if not _just_told(talk, told):
        talk.mark(Mark.ASKED_AGAIN)


def _just_told(talk: Talk, told: tuple[Disclosure, ...]) -> bool:
    """Return whether some of it was told with the last answer."""
    return bool(set(told) & set(_last(talk)))


def _last(talk: Talk) -> tuple[Disclosure, ...]:
    """Return what was told with the last answer."""
    return talk.memory.turns[-1].told if talk.memory.turns else ()


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
        before = "" if once else _again(talk, (told,))
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


# -- medicines -----------------------------------------------------------------------------------


def _medicines(talk: Talk, asked: Asked) -> None:
    """Tell of the medicines that are named, or go through the bottles, a few at a time."""
    taken = tuple(dosed(talk, told) for told in talk.persona.tells.get(Topic.MEDICATION, ()))
    if not taken:
        none = Disclosure(topic=Topic.MEDICATION, present=False)
        talk.words.append(_again(talk, (none,)) + talk.speaker.fixed("medicine.none", ""))
        talk.tell((none,))
        return
    if asked.items:
        history = Part.HISTORY in asked.parts
        for name in asked.items:
            if not (history and _told_history(talk, taken, name)):
                _named_medicine(talk, taken, name)
        if Part.OTHERS in asked.parts:
            _besides(talk, taken, [])
        return
    left = [told for told in taken if not talk.knows(told)]
    if Part.OTHERS in asked.parts:
        left = _besides(talk, taken, left)
        if not left:
            return
    if not left:
        _asked_again(talk, taken)
        if _just_told(talk, taken) and reasons(talk):
            return
        talk.say("known")
        left = list(taken)
    shown = left[: talk.persona.items_at_once + 1]
    for told in shown:
        tell_medicine(talk, told, "")
    talk.say("medicine.more" if len(left) > len(shown) else "medicine.all")


def _besides(talk: Talk, taken: tuple[Disclosure, ...], left: list[Disclosure]) -> list[Disclosure]:
    """Tell what they take that nobody prescribed, or that there is nothing.

    Returns:
        What they have not told of the other medicines.
    """
    own = [
        told
        for told in taken
        if told.present and told.item not in talk.persona.adherence and told not in talk.told
    ]
    talk.say("medicine.besides" if own else "medicine.nothing_besides")
    for told in own:
        tell_medicine(talk, told, "")
    return [told for told in left if told not in own]


def dosed(talk: Talk, told: Disclosure) -> Disclosure:
    """Return what is told of a medicine, with the doses of a week that are missed.

    Of some medicine something else is told first, and corrected later.
    """
    first = talk.persona.around.takes_back.get(told.item)
    if first is not None and told.item not in talk.mind.corrected:
        return first
    missed = talk.persona.adherence.get(told.item, 0 if told.present else _DOSES_OF_A_WEEK)
    return replace(told, score=missed)


def _told_history(talk: Talk, taken: tuple[Disclosure, ...], name: str) -> bool:
    """Say that they know neither since when nor for what, of a medicine of which they told.

    Returns:
        Whether that is all of the answer.
    """
    told = next((told for told in taken if same_medicine(told.item, name)), None)
    if told is None or not talk.knows(told):
        return False
    drug = _spoken_name(told.item)
    talk.words.append(talk.speaker.fixed("medicine.history", told.item, drug=drug))
    talk.tell((told,))
    return True


def _named_medicine(talk: Talk, taken: tuple[Disclosure, ...], name: str) -> None:
    told = next((told for told in taken if same_medicine(told.item, name)), None)
    if told is None:
        talk.say("medicine.strange", drug=_spoken_name(name))
        return
    # Who comes back to a medicine that is left out asks why, the first time.
    if talk.knows(told) and _unexplained(talk, told):
        _explain(talk, told)
        return
    tell_medicine(talk, told, _again(talk, (told,)))


def reasons(talk: Talk) -> bool:
    """Say why medicines are left out of which that was told; return whether there was a reason.

    Of many medicines as many reasons are given as there are words for in one breath, those of what
    was told last before others; of some that are named, theirs. A reason is given once.
    """
    told = dict.fromkeys((*talk.told, *_last(talk), *talk.memory.disclosed))
    open_ = [each for each in told if _unexplained(talk, each)]
    named = [each for each in open_ if _is_named(talk, each)]
    for each in (named or open_)[: talk.persona.items_at_once]:
        _explain(talk, each)
    return bool(open_)


def wonders_about(talk: Talk) -> bool:
    """Return whether a medicine is named that is left out, and nobody was told why."""
    return any(_unexplained(talk, told) and _is_named(talk, told) for told in talk.memory.disclosed)


def _is_named(talk: Talk, told: Disclosure) -> bool:
    return _spoken_name(told.item).casefold() in talk.message.casefold()


def told_of_medicines(talk: Talk) -> bool:
    """Return whether something about medicines was told with the last answer."""
    return any(told.topic is Topic.MEDICATION for told in _last(talk))


def _unexplained(talk: Talk, told: Disclosure) -> bool:
    """Return whether a medicine is left out, and nobody was told why."""
    left_out = not told.present or bool(told.score)
    return (
        told.topic is Topic.MEDICATION and left_out and told.item not in {"", *talk.mind.explained}
    )


def _explain(talk: Talk, told: Disclosure) -> None:
    key = "reason.missed" if told.present else "reason.stopped"
    talk.words.append(talk.speaker.fixed(key, told.item, drug=_spoken_name(told.item)))
    talk.mind = replace(talk.mind, explained=talk.mind.explained | {told.item})
    if told not in talk.told:
        talk.tell((told,))


def tell_medicine(talk: Talk, told: Disclosure, before: str) -> None:
    """Tell how a medicine is taken, after some words."""
    missed = min(told.score or 0, _DOSES_OF_A_WEEK) if told.present else _DOSES_OF_A_WEEK
    drug, rhythm = _spoken_name(told.item), talk.persona.rhythms.get(told.item)
    taken = rhythm if rhythm is not None and not missed else missed
    said = talk.speaker.fixed(f"medicine.{taken}", told.item, drug=drug)
    talk.words.append(before + said)
    talk.tell((told,))


def _spoken_name(medicine: str) -> str:
    """Return the name of a medicine as one says it: without the dose."""
    words = takewhile(lambda word: not word[0].isdigit(), medicine.replace(",", " ").split())
    return " ".join(words) or "that one"


# -- other subjects ------------------------------------------------------------------------------


def _illness(talk: Talk, parts: tuple[Part, ...]) -> None:
    """Tell what a bad day is like, and what they measure at home."""
    for part in parts:
        levels = _LEVELS[part]
        level = talk.speaker.stable(part, len(levels))
        told = Disclosure(topic=Topic.DIAGNOSIS, item=part, score=level)
        before = _again(talk, (told,))
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
    before = _again(talk, (told,))
    side = "yes" if treated else "no"
    talk.words.append(before + talk.speaker.fixed(f"treatment.{side}", ""))
    talk.tell((told,))


def _diagnoses(talk: Talk) -> None:
    listed = talk.persona.tells.get(Topic.DIAGNOSIS, ())
    named = {told: replies.diagnosis(told.item) for told in listed if told.present}
    before = _again(talk, named)
    for told, what in named.items():
        if what:
            talk.words.append(before + talk.speaker.fixed("diagnosis", told.item, what=what))
            talk.tell((told,))
            before = ""
    if not any(named.values()):
        none = Disclosure(topic=Topic.DIAGNOSIS, present=False)
        talk.words.append(_again(talk, (none,)) + talk.speaker.fixed("diagnosis.nothing", ""))
        talk.tell((none,))


def _stays(talk: Talk) -> None:
    listed = talk.persona.tells.get(Topic.HOSPITAL_STAY, ())
    told = listed[0] if listed else Disclosure(topic=Topic.HOSPITAL_STAY, present=False)
    before = _again(talk, (told,))
    count = sum(item.score or 1 for item in listed) if told.present else 0
    key = "hospital_stay.yes" if count else "hospital_stay.no"
    talk.words.append(before + talk.speaker.fixed(key, "", times=replies.times(count)))
    talk.tell(listed or (told,))


def _followed_up(talk: Talk) -> None:
    """Tell whether a doctor has seen them since they were in a hospital, or when one will."""
    seen = Circumstance.FOLLOWED_UP in talk.persona.circumstances
    arranged = seen or bool(talk.speaker.stable(Part.FOLLOW_UP, 2))
    told = Disclosure(topic=Topic.DIAGNOSIS, item=Part.FOLLOW_UP, present=arranged)
    before = _again(talk, (told,))
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
    before = "" if early else _again(talk, (told,))
    if talk.mind.confided is topic:
        talk.mind = replace(talk.mind, confided=None)
    side = "yes" if told.present else "no"
    talk.words.append(before + talk.speaker.fixed(f"{topic.value}.{side}", ""))
    talk.tell(listed or (told,))
    if topic is Topic.SAFETY and told.present and not before:
        talk.mind = replace(talk.mind, danger=True)
