"""What a caller's words do to a person before they answer: statements, trust, worries, triggers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from healthgym.worlds.managed_care.conversation.acts import Act, Said
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.persona import (
    INTRODUCED,
    Concern,
    Trigger,
    Willingness,
)
from healthgym.worlds.managed_care.conversation.talk import STATEMENTS, Talk

#: Acts that raise trust each time, and those that do it once.
_EACH_TIME: Final = frozenset({Act.ACKNOWLEDGE, Act.RESPOND_SAFETY})
_ONCE: Final = frozenset({Act.OFFER_AUTONOMY, Act.ASK_TIME, Act.ASK_PERMISSION})
#: Statements that answer a worry which was told, by the worry.
_ANSWERED_BY: Final[Mapping[Concern, frozenset[Act]]] = {
    Concern.COST: frozenset({Act.EXPLAIN_VOLUNTARY}),
    Concern.LOSING_BENEFITS: frozenset({Act.EXPLAIN_VOLUNTARY}),
    Concern.PRIVACY: frozenset({Act.STATE_SHARING}),
    Concern.TIME: frozenset({Act.OFFER_CALLBACK}),
    Concern.SCAM: frozenset({Act.OFFER_CALLBACK}),
}
#: Acts of which one may answer a worry.
_ANSWERING: Final = frozenset({Act.ANSWER_CONCERN}).union(*_ANSWERED_BY.values())
#: Worries that were not told, of a message, and that are not theirs, of all calls, beside which an
#: answer still counts.
_BESIDE_MOST: Final = 2
_BESIDE_EVER: Final = 3
#: Stages in which nobody has been asked yet to take part.
_INTRODUCING: Final = frozenset({Stage.UNKNOWN, Stage.IDENTIFIED, Stage.PURPOSE_KNOWN})
#: What goes after a hint, besides a question on its subject.
_FOLLOWING: Final = (Act.ACKNOWLEDGE,)
#: Acts of which one leaves a decision to the person.
LEAVING_IT: Final = frozenset({Act.OFFER_AUTONOMY, Act.EXPLAIN_VOLUNTARY})


def take_in(talk: Talk) -> None:
    """Note what was surely said: statements, trust, worries that were answered, triggers."""
    sure, mind = talk.sure, talk.mind
    raised = len(sure & _EACH_TIME) + len((sure & _ONCE) - mind.heard)
    answered = mind.answered | _answers(talk)
    done = (
        place
        for place, trigger in enumerate(talk.persona.triggers)
        if place not in mind.triggers and _happened(talk, trigger, answered)
    )
    talk.minds(
        heard=mind.heard | sure,
        introduced_in=talk.call.call if Act.INTRODUCE in sure else mind.introduced_in,
        answered=answered,
        triggers=mind.triggers.union(done),
        since_no=mind.since_no | sure if talk.stage is Stage.REFUSED else mind.since_no,
    )
    talk.trusts(min(raised, 1) + (1 if answered - mind.answered else 0))


def _happened(talk: Talk, trigger: Trigger, answered: frozenset[Concern]) -> bool:
    """Return whether what a trigger waits for happens with this message, or has happened."""
    if trigger.concern in answered:
        return True
    if trigger.after_hint and (talk.echoed or _asked_after(talk)):
        return True
    return any(_pulls(talk, trigger, said) for said in talk.saids(*trigger.acts, *_FOLLOWING))


def _answers(talk: Talk) -> frozenset[Concern]:
    """Return the worries that were answered, of those that showed.

    Who gives a number to call before anybody asks for it has answered that worry too.
    """
    if talk.sure.isdisjoint(_ANSWERING) or _scattered(talk):
        return frozenset()
    shown = talk.mind.voiced | talk.mind.slipped | {Concern.SCAM}
    found = {
        concern for concern, acts in _ANSWERED_BY.items() if concern in shown and acts & talk.sure
    }
    for said in talk.saids(Act.ANSWER_CONCERN):
        named = said.item in set(Concern)
        found |= {Concern(said.item)} if named else set(talk.mind.voiced)
    return frozenset(found & shown & set(talk.persona.concerns))


def _scattered(talk: Talk) -> bool:
    """Return whether worries are answered at random, one of which may be theirs.

    Some reassurance beside the matter is kind, and some everybody is told before they are asked to
    take part. Who has an answer to everything has listened to nobody, and is heard again with one
    to what was told.
    """
    now = {said.item for said in talk.saids(Act.ANSWER_CONCERN) if said.item}
    now -= talk.mind.voiced | talk.mind.slipped
    if not now:
        return False  # as mostly
    return (
        len(now) > _BESIDE_MOST
        or len((now | _answered_ever(talk)) - set(talk.persona.concerns)) > _BESIDE_EVER
    )


def _answered_ever(talk: Talk) -> set[str]:
    """Return the worries that were answered in earlier turns, but for what everybody is told."""
    ever: set[str] = set()
    before = Stage.UNKNOWN
    for turn in talk.memory.turns:
        free = INTRODUCED if before in _INTRODUCING else frozenset[Concern]()
        saids = (said for said in turn.acts if said.sure and said.act is Act.ANSWER_CONCERN)
        ever |= {said.item for said in saids if said.item and said.item not in free}
        before = turn.stage
    return ever


def _pulls(talk: Talk, trigger: Trigger, said: Said) -> bool:
    """Return whether something that was said pulls a trigger."""
    if trigger.concern is not None:
        return False  # its answer does
    if trigger.after_hint:
        return _picks_up(talk, trigger, said)
    fits = trigger.topic is None or said.topic is trigger.topic
    return fits and said.act in trigger.acts


def _picks_up(talk: Talk, trigger: Trigger, said: Said) -> bool:
    """Return whether something that was said goes after a hint.

    A question on its subject does, and an open one; what reflects it does in the next breath.
    """
    if not talk.mind.hinted:
        return False
    if said.act in trigger.acts:
        return said.topic in {None, trigger.topic}
    return said.act is Act.ACKNOWLEDGE and just_hinted(talk)


def just_hinted(talk: Talk) -> bool:
    """Return whether they gave the hint with their last answer."""
    return talk.mind.hint_turn == len(talk.memory.turns) - 1


def _asked_after(talk: Talk) -> bool:
    """Return whether something vague is asked right after the hint, which is then about that."""
    vague = (said.act is Act.ASK_TOPIC and said.topic is None for said in talk.heard.acts)
    return just_hinted(talk) and any(vague)


def open_concern(talk: Talk) -> Concern | None:
    """Return the first worry that was not answered; None if there is none."""
    open_ = (concern for concern in talk.persona.concerns if concern not in talk.mind.answered)
    return next(open_, None)


def troubles(talk: Talk) -> tuple[Concern, ...]:
    """Return the worries that keep somebody from a yes: the first, and those that were told."""
    concerns = talk.persona.concerns
    told = (concern for concern in concerns if concern in talk.mind.voiced)
    found = dict.fromkeys((*told, *concerns[:1]))
    return tuple(concern for concern in found if concern not in talk.mind.answered)


def waits_for(talk: Talk) -> Trigger | None:
    """Return what somebody still waits for before they agree; None if it is nothing."""
    for place, trigger in enumerate(talk.persona.triggers):
        if place not in talk.mind.triggers:
            return trigger
    return None


def lacking(talk: Talk) -> Act | None:
    """Return the first statement without which a yes is none; None if all were made."""
    return next((act for act in STATEMENTS if act not in talk.mind.heard), None)


def round_done(talk: Talk) -> bool:
    """Return whether a refusal was met as the handbook allows it to be met, once."""
    since = talk.mind.since_no
    met = Act.ACKNOWLEDGE in since and bool(since & LEAVING_IT)
    return met and talk.mind.asked_behind and not troubles(talk)


def won(talk: Talk) -> bool:
    """Return whether what had to happen before somebody agrees has happened."""
    persona, mind = talk.persona, talk.mind
    if len(mind.triggers) < len(persona.triggers):
        return False
    match persona.willingness:
        case Willingness.READY:
            return True
        case Willingness.HESITANT:
            return not troubles(talk) and mind.trust >= 0
        case Willingness.INITIALLY_REFUSES:
            return round_done(talk) and mind.trust >= 0
        case Willingness.REFUSES:
            return False
