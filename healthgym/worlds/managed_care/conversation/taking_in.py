"""What a caller's words do to a person before they answer: statements, trust, worries, triggers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from healthgym.worlds.managed_care.conversation.acts import Act, Said
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.persona import Concern, Trigger, Willingness
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
#: Acts of which one leaves a decision to the person.
_LEAVING_IT: Final = frozenset({Act.OFFER_AUTONOMY, Act.EXPLAIN_VOLUNTARY})


def take_in(talk: Talk) -> None:
    """Note what was surely said: statements, trust, worries that were answered, triggers."""
    sure, mind = talk.sure, talk.mind
    raised = len(sure & _EACH_TIME) + len((sure & _ONCE) - mind.heard)
    answered = _answers(talk)
    done = frozenset(
        place
        for place, trigger in enumerate(talk.persona.triggers)
        if any(_pulls(talk, trigger, said) for said in talk.saids(*trigger.acts))
    )
    talk.mind = replace(
        mind,
        heard=mind.heard | sure,
        introduced_in=talk.call.call if Act.INTRODUCE in sure else mind.introduced_in,
        answered=mind.answered | answered,
        triggers=mind.triggers | done,
        since_no=mind.since_no | sure if talk.stage is Stage.REFUSED else mind.since_no,
    )
    talk.trusts(min(raised, 1) + (1 if answered - mind.answered else 0))


def _answers(talk: Talk) -> frozenset[Concern]:
    """Return the worries that were answered, of those that showed.

    Who gives a number to call before anybody asks for it has answered that worry too.
    """
    shown = talk.mind.voiced | talk.mind.slipped | {Concern.SCAM}
    found = {
        concern
        for concern, acts in _ANSWERED_BY.items()
        if concern in talk.mind.voiced and acts & talk.sure
    }
    for said in talk.saids(Act.ANSWER_CONCERN):
        named = said.item in set(Concern)
        found |= {Concern(said.item)} if named else set(talk.mind.voiced)
    return frozenset(found & shown & set(talk.persona.concerns))


def _pulls(talk: Talk, trigger: Trigger, said: Said) -> bool:
    """Return whether something that was said pulls a trigger."""
    if trigger.after_hint and not talk.mind.hinted:
        return False
    if trigger.topic is not None and said.topic is not trigger.topic:
        return False
    return trigger.concern is None or trigger.concern in _answers(talk)


def open_concern(talk: Talk) -> Concern | None:
    """Return the first worry that was not answered; None if there is none."""
    open_ = (concern for concern in talk.persona.concerns if concern not in talk.mind.answered)
    return next(open_, None)


def wish(talk: Talk) -> Act | None:
    """Return what somebody still waits for before they agree; None if it is nothing."""
    for place, trigger in enumerate(talk.persona.triggers):
        if place not in talk.mind.triggers:
            return trigger.acts[0]
    return None


def lacking(talk: Talk) -> Act | None:
    """Return the first statement without which a yes is none; None if all were made."""
    return next((act for act in STATEMENTS if act not in talk.mind.heard), None)


def round_done(talk: Talk) -> bool:
    """Return whether a refusal was met as the handbook allows it to be met, once."""
    since = talk.mind.since_no
    met = Act.ACKNOWLEDGE in since and bool(since & _LEAVING_IT)
    return met and talk.mind.asked_behind and _eased(talk)


def _eased(talk: Talk) -> bool:
    """Return whether the first worry was answered, and every other that was told."""
    return {*talk.persona.concerns[:1], *talk.mind.voiced} <= talk.mind.answered


def won(talk: Talk) -> bool:
    """Return whether what had to happen before somebody agrees has happened."""
    persona, mind = talk.persona, talk.mind
    if len(mind.triggers) < len(persona.triggers):
        return False
    match persona.willingness:
        case Willingness.READY:
            return True
        case Willingness.HESITANT:
            return _eased(talk) and mind.trust >= 0
        case Willingness.INITIALLY_REFUSES:
            return round_done(talk) and mind.trust >= 0
        case Willingness.REFUSES:
            return False
