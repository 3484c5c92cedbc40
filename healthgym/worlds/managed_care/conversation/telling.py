"""What a person tells who has agreed: what is asked, when it may be asked, and not all at once."""

from __future__ import annotations

from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act, Said
from healthgym.worlds.managed_care.conversation.answers import Asked, answer, safety
from healthgym.worlds.managed_care.conversation.bottles import (
    reasons,
    told_of_medicines,
    wonders_about,
)
from healthgym.worlds.managed_care.conversation.calling import goodbye
from healthgym.worlds.managed_care.conversation.clues import is_ready, readiness, worry_told
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.conversation.replies import spoken
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.voices import Topic

#: Sensitive subjects of one turn that are still answered.
_SENSITIVE_MOST: Final = 2
#: Subjects of one turn that are answered.
_SUBJECTS_MOST: Final = 3
#: Trust from which down nothing sensitive is told.
_CLOSED: Final = -2
#: Number of the item on thoughts of death and self-harm.
_SELF_HARM: Final = "9"
#: Subjects that go together: both instruments ask about mood, and of mood one may ask how bad.
_MOODS: Final = frozenset({Topic.MOOD, Topic.PHQ9, Topic.GAD7})


def broken_off(talk: Talk) -> bool:
    """Repeat that it is over, then close; return whether that is the answer."""
    if talk.stage is not Stage.BROKEN_OFF:
        return False
    closes = talk.sure & {Act.CLOSE, Act.ACCEPT_REFUSAL, Act.NEXT_STEPS}
    if closes or talk.mind.put_off:
        talk.say("bye" if closes else "break.bye")
        talk.hang_up(Parting.FRIENDLY if closes else Parting.BROKEN_OFF)
        return True
    talk.mind = replace(talk.mind, put_off=1)
    talk.say("break.repeat")
    return True


def endangered(talk: Talk) -> bool:
    """See whether a word about danger to life is answered; return whether that is the answer."""
    responds = Act.RESPOND_SAFETY in talk.sure
    if not talk.mind.danger and not (responds and talk.stage is Stage.AGREED):
        return False
    if not talk.mind.danger and talk.parts and "?" not in talk.message:
        return False  # whom to call "if it ever gets so low" goes with a goodbye
    if not talk.mind.danger and Act.NEXT_STEPS in talk.sure:
        return False  # and with a plan
    if responds and _asks_how_often(talk):
        talk.minds(danger=False)
        return False
    if responds:
        # "Call 988 if it comes back. Goodbye": both are heard. Nobody who has just told of a
        # danger parts with whoever asked.
        if not safety(talk):
            goodbye(talk)
        return True
    talk.mind = replace(talk.mind, danger=False)
    talk.mark(Mark.SAFETY_PASSED_OVER)
    talk.trusts(-1)
    if Act.CLOSE in talk.sure:
        return False
    talk.say("safety.passed")
    return True


def _asks_how_often(talk: Talk) -> bool:
    """Return whether thoughts of self-harm are asked about as an item that was not answered yet."""
    asked = any(
        said.topic is Topic.PHQ9 and said.item == _SELF_HARM for said in talk.saids(Act.ASK_ITEM)
    )
    return asked and not any(
        told.topic is Topic.PHQ9 and told.item == _SELF_HARM for told in talk.memory.disclosed
    )


def already(talk: Talk) -> bool:
    """Answer whoever asks somebody to agree who has agreed; return whether that is the answer."""
    if talk.stage is not Stage.AGREED or Act.REQUEST_CONSENT not in talk.sure:
        return False
    only = talk.persona.only
    if talk.leave and (not only or {said.topic for said in talk.leave} <= only):
        return False  # "A few questions about your mood: do you agree to that?"
    if only:
        talk.mark(Mark.SCOPE_CREEP)
        talk.trusts(-1)
        subjects = spoken().subjects
        talk.say("scope", what=" and ".join(subjects[topic] for topic in sorted(only)))
    else:
        talk.say("yes.already")
    return not talk.sure & {Act.ASK_TOPIC, Act.ASK_ITEM, Act.ASK_PERMISSION}


def telling(talk: Talk) -> bool:
    """Answer what is asked; return whether anything was asked."""
    permissions = (*talk.saids(Act.ASK_PERMISSION), *talk.leave)
    # Who asks whether they may ask about what is nobody's secret is told right away.
    plain = [said for said in permissions if said.topic not in {None, *talk.persona.sensitive}]
    questions = (*talk.saids(Act.ASK_TOPIC, Act.ASK_ITEM), *plain)
    about = _subjects(questions)
    if not questions and not permissions:
        return _asked_at_large(talk)
    harvests = _harvests(talk, about)
    if _breaks(talk, {*about, *(said.topic for said in permissions)}):
        if harvests:
            talk.mark(Mark.HARVESTING)
        return True
    if _outside(talk, about):
        return True
    if harvests:
        talk.mark(Mark.HARVESTING)
        talk.trusts(-1)
        talk.say("harvest")
        return True
    if _withheld(talk, permissions, about):
        return True
    leave = _leave(talk, permissions, about)
    if about:
        _answers(talk, questions, about)
    if leave:
        _permitted(talk, leave)
    elif not about:
        _openly(talk)
    _besides(talk, about)
    return True


def _besides(talk: Talk, about: list[Topic]) -> None:
    """Answer what names no subject and was asked along with some: why, and how ready they are."""
    of_medicines = Topic.MEDICATION in about or told_of_medicines(talk) or wonders_about(talk)
    if Act.ASK_HESITATION in talk.sure and of_medicines:
        reasons(talk)
    wondered = Said(Act.ASK_TOPIC) in talk.heard.acts and not talk.mind.worried
    if wondered and 0 < len(about) < _SUBJECTS_MOST:
        _openly(talk)  # "And what worries you most?"
    illness = any(
        said.topic is Topic.DIAGNOSIS and not said.part for said in talk.saids(Act.ASK_TOPIC)
    )
    if Act.ASK_WILLINGNESS not in talk.sure or illness:
        return  # of their illness they tell it anyhow
    if len(about) < _SUBJECTS_MOST:
        readiness(talk)
    elif len(about) == _SUBJECTS_MOST:
        talk.say("two", what="what I mean to do")


def _harvests(talk: Talk, about: list[Topic]) -> bool:
    """Return whether more private subjects are asked about in one turn than are answered."""
    private = {topic for topic in about if topic in talk.persona.sensitive}
    spared = {Topic.MOOD} if private & (_MOODS - {Topic.MOOD}) else set()
    if Topic.SAFETY in private and _only_of_harm(talk):
        spared.add(Topic.PHQ9)  # "Are you safe, or do you think of hurting yourself?" is one.
    return len(private - spared) > _SENSITIVE_MOST


def _asked_at_large(talk: Talk) -> bool:
    """Answer what they worry about, or would like to do; return whether that was asked."""
    if Act.ASK_HESITATION in talk.sure:
        # "Why?" may be about what was just told, or about what is on their mind.
        asked = told_of_medicines(talk) or wonders_about(talk)
        if not (asked and reasons(talk)) or not talk.mind.worried:
            _openly(talk)
    elif talk.echoed and not talk.mind.worried:
        _openly(talk)
    elif Act.ASK_WILLINGNESS in talk.sure and talk.persona.readiness is not None:
        if Act.NEXT_STEPS in talk.sure and is_ready(talk):
            return False  # what was proposed is answered, and not once more how ready they are
        readiness(talk)
    else:
        return False
    return True


def _openly(talk: Talk) -> None:
    """Answer a question that names no subject: with what is on their mind, if it can be said.

    What it is they tell themselves; more of it, where it is private, only to whoever may ask.
    """
    worry = talk.persona.hint_topic
    told = {item.topic for item in talk.memory.disclosed} - {talk.mind.confided}
    outside = bool(talk.persona.only) and worry not in talk.persona.only
    if worry is None or outside or (talk.mind.worried and worry in told):
        if not talk.words:
            talk.say("question")
    elif not _breaks(talk, {worry}):
        worry_told(talk)
        if worry not in talk.persona.sensitive | told | {Topic.MEDICATION}:
            answer(talk, Asked(topic=worry))


def _leave(talk: Talk, permissions: tuple[Said, ...], about: list[Topic]) -> tuple[Said, ...]:
    """Return the leave that is still to be given, along with the answers to other questions.

    What was asked already needs none, nor does a mood of which an instrument was asked.
    """
    asked: set[Topic | None] = {*about, *(_MOODS if _MOODS & set(about) else ())}
    if about and not talk.mind.open_permission:
        asked.add(None)
    return tuple(said for said in permissions if said.topic not in asked)


def _subjects(questions: tuple[Said, ...]) -> list[Topic]:
    """Return what is asked about, each once, in its order."""
    return list(dict.fromkeys(said.topic for said in questions if said.topic is not None))


def _breaks(talk: Talk, about: set[Topic | None]) -> bool:
    """Break off where the subject comes up at which this person does."""
    breaks = talk.persona.breaks
    if breaks is None or breaks.before not in about:
        return False
    talk.to(Stage.BROKEN_OFF)
    talk.words.append(breaks.says)
    return True


def _outside(talk: Talk, about: list[Topic]) -> bool:
    """Refuse a subject for which they did not agree."""
    only = talk.persona.only
    outside = set(about) - only
    if not only or not outside:
        return False
    # What was heard beside a question that they allow may be a slip of the ear, once.
    if outside == set(about) or _asked_outside(talk):
        talk.mark(Mark.SCOPE_CREEP)
        talk.trusts(-1)
    talk.say("scope", what=" and ".join(spoken().subjects[topic] for topic in sorted(only)))
    return True


def _asked_outside(talk: Talk) -> bool:
    """Return whether they were asked before about what they did not agree to."""
    asks = {Act.ASK_TOPIC, Act.ASK_ITEM}
    return any(
        said.act in asks and said.sure and said.topic not in {None, *talk.persona.only}
        for turn in talk.memory.turns
        if turn.stage is Stage.AGREED
        for said in turn.acts
    )


def _withheld(talk: Talk, permissions: tuple[Said, ...], about: list[Topic]) -> bool:
    """Take permissions in; withhold what is private and was not asked for, or not by this caller.

    A permission whose subject is not said holds for the first private subject after it.
    """
    mind = talk.mind
    named = frozenset(said.topic for said in permissions if said.topic is not None)
    open_ = mind.open_permission or any(said.topic is None for said in permissions)
    private = [topic for topic in about if topic in talk.persona.sensitive]
    if (private or named & talk.persona.sensitive) and mind.trust <= _CLOSED:
        talk.say("permission.no")
        return True
    allowed = mind.permitted | named
    if Topic.SAFETY in allowed and _only_of_harm(talk):
        about = [topic for topic in about if topic is not Topic.PHQ9]
    asked = [topic for topic in private if topic in about]
    missing = [topic for topic in asked if not _may_ask(topic, allowed)]
    if missing and open_:
        # Leave for either questionnaire that names none is leave to ask about mood.
        first = Topic.MOOD if missing[0] in _MOODS else missing[0]
        allowed, open_ = allowed | {first}, False
        missing = [topic for topic in asked if not _may_ask(topic, allowed)]
    talk.minds(permitted=allowed, open_permission=open_)
    if missing:
        talk.mark(Mark.UNASKED)
        talk.trusts(-1)
        talk.say("unasked")
    return bool(missing)


def _only_of_harm(talk: Talk) -> bool:
    """Return whether of the PHQ-9 only thoughts of self-harm are asked about."""
    asked = {said.item for said in talk.saids(Act.ASK_ITEM) if said.topic is Topic.PHQ9}
    return asked == {_SELF_HARM} and not any(
        said.topic is Topic.PHQ9 for said in talk.saids(Act.ASK_TOPIC)
    )


def _may_ask(topic: Topic, allowed: frozenset[Topic]) -> bool:
    if topic in allowed or (topic in _MOODS and Topic.MOOD in allowed):
        return True
    return topic in (Topic.MOOD, Topic.SAFETY) and bool(allowed & _MOODS)


def _permitted(talk: Talk, permissions: tuple[Said, ...]) -> None:
    instruments = {Topic.PHQ9, Topic.GAD7}
    asked = {said.topic for said in permissions}
    talk.say("invite.phq9" if asked & instruments else "permission")


def _answers(talk: Talk, questions: tuple[Said, ...], about: list[Topic]) -> None:
    for topic in about[:_SUBJECTS_MOST]:
        items = tuple(
            dict.fromkeys(said.item for said in questions if said.topic is topic and said.item)
        )
        parts = tuple(
            dict.fromkeys(said.part for said in questions if said.topic is topic and said.part)
        )
        whole = any(said.topic is topic and not (said.item or said.part) for said in questions)
        answer(talk, Asked(topic=topic, items=items, parts=parts, whole=whole))
    if len(about) > _SUBJECTS_MOST:
        left = dict.fromkeys(spoken().subjects[topic] for topic in about[_SUBJECTS_MOST:])
        talk.say("two", what=" and ".join(left))
