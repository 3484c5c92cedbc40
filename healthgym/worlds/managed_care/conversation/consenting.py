"""The offer and what a person says to it: hesitating, refusing, agreeing. Nothing else agrees."""

from __future__ import annotations

from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.clues import (
    clue,
    clue_unless_moved,
    hint,
    invites,
    next_clue,
    press_worry,
    readiness,
    weight,
    worry_told,
)
from healthgym.worlds.managed_care.conversation.manners import followed, passed_over
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage, Supposed
from healthgym.worlds.managed_care.conversation.persona import Concern, Mark, Willingness
from healthgym.worlds.managed_care.conversation.replies import spoken
from healthgym.worlds.managed_care.conversation.taking_in import (
    lacking,
    open_concern,
    round_done,
    troubles,
    waits_for,
    won,
)
from healthgym.worlds.managed_care.conversation.talk import OFFERS, QUESTIONS, Talk

#: A yes to this version of the offer, or to a later one, is a refusal if nothing was answered in
#: between: the handbook on consent.
_VERSIONS_MOST: Final = 2
_ASKS: Final = frozenset({Act.ASK_WILLINGNESS, Act.REQUEST_CONSENT})
_EXPLAINS: Final = OFFERS - _ASKS
#: What somebody waits for that can be the reason of a no.
_LEFT: Final = frozenset({Act.ACKNOWLEDGE, Act.OFFER_AUTONOMY, Act.EXPLAIN_BENEFIT})
#: What may be said to somebody who refused, once.
_ROUND: Final = frozenset(
    {Act.ACKNOWLEDGE, Act.ASK_HESITATION, Act.ANSWER_CONCERN, Act.OFFER_AUTONOMY}
)


def final(talk: Talk) -> bool:
    """Answer after a refusal for good, where only a thank-you ends the call well."""
    if talk.stage is not Stage.REFUSED_FOR_GOOD:
        return False
    if talk.sure & OFFERS:
        passed_over(talk, "no.over")
    elif Act.ASK_HESITATION in talk.sure:
        # Why may be asked once, and it is answered with no more than that it is over.
        passed_over(talk, "no.over", mark=talk.mind.asked_behind)
        talk.minds(asked_behind=True)
    elif talk.sure & {Act.CLOSE, Act.ACCEPT_REFUSAL}:
        talk.say("bye.cool" if talk.mind.patience_lost or talk.mind.pressed else "bye.refused")
        talk.hang_up(Parting.FRIENDLY)
    elif talk.sure & {Act.ACKNOWLEDGE, Act.OFFER_AUTONOMY, Act.SUMMARIZE, Act.NEXT_STEPS}:
        talk.say("autonomy")
    elif talk.sure <= {Act.GREET, Act.INTRODUCE}:
        talk.say("no.over")
    else:
        passed_over(talk, "no.over", mark=False)
    return True


def offered(talk: Talk) -> bool:
    """Answer whoever has not yet agreed; the answer is all of it."""
    if talk.stage in (Stage.AGREED, Stage.BROKEN_OFF):
        return False
    if talk.stage is Stage.REFUSED:
        _after_refusal(talk)
    elif Act.ASK_HESITATION in talk.sure or doubt_seen(talk):
        _asked_behind(talk)
    elif Act.REQUEST_CONSENT in talk.sure:
        _asked(talk)
    elif Act.ASK_WILLINGNESS in talk.sure:
        _invited(talk)
    elif not _remarked(talk) and not heard_half(talk):
        talk.say("listen")
        clue_unless_moved(talk)
    return True


# -- before any refusal --------------------------------------------------------------------------


def _invited(talk: Talk) -> None:
    if Act.EXPLAIN_PROGRAM not in talk.mind.heard:
        talk.say("what")
    elif talk.persona.willingness in (Willingness.INITIALLY_REFUSES, Willingness.REFUSES):
        _refuses(talk)
    else:
        talk.to(Stage.INVITED)
        if won(talk) and lacking(talk) is None:
            invites(talk, "will.straight")
        elif won(talk):
            talk.say("will.ready")
            clue(talk)
        else:
            _hesitates(talk, "will.hesitate")


def _asked(talk: Talk) -> None:
    if Act.EXPLAIN_PROGRAM not in talk.mind.heard:
        talk.say("what")
    elif talk.persona.willingness in (Willingness.INITIALLY_REFUSES, Willingness.REFUSES):
        _counts(talk)
        _refuses(talk)
    else:
        talk.to(Stage.INVITED)
        _decides(talk)


def _decides(talk: Talk) -> None:
    """Agree, or say why not yet: what was not said, a worry, an unsure yes."""
    missing, mind = lacking(talk), talk.mind
    talk.mind = replace(mind, invited=False)
    if mind.versions >= _VERSIONS_MOST and not mind.invited and weight(talk) <= mind.weighed:
        talk.to(Stage.REFUSED_FOR_GOOD)
        talk.say("no.third")
    elif missing is not None:
        talk.say(f"lack.{missing.value}")
    elif not won(talk):
        _counts(talk)
        _hesitates(talk, "distrust" if mind.trust < 0 else "hesitate")
    elif not _supposes(talk):
        talk.to(Stage.AGREED)
        only = " and ".join(spoken().subjects[topic] for topic in sorted(talk.persona.only))
        talk.say("yes.only", what=only) if only else talk.say("yes")
        readiness(talk)


def _counts(talk: Talk) -> None:
    """Count the question as another version of the offer, if nothing was done since the last."""
    mind, now = talk.mind, weight(talk)
    again = mind.versions == 0 or now <= mind.weighed
    talk.mind = replace(mind, versions=mind.versions + again, weighed=now)


def _supposes(talk: Talk) -> bool:
    """Say an unsure yes, which is none until it was asked about; return whether that is said."""
    mind = talk.mind
    if talk.persona.willingness is not Willingness.HESITANT:
        return False
    if mind.supposed is Supposed.NEVER:
        talk.mind = replace(mind, supposed=Supposed.SAID)
        talk.say("suppose")
    elif mind.supposed is Supposed.SAID:
        _counts(talk)
        talk.say("supposed")
    return mind.supposed is not Supposed.ASKED_ABOUT


def _hesitates(talk: Talk, key: str) -> None:
    """Hesitate, and say what it is about."""
    talk.say(key)
    clue(talk)
    hint(talk)


def _asked_behind(talk: Talk) -> None:
    """Answer the question what makes them hesitate."""
    concern = open_concern(talk)
    if talk.mind.supposed is Supposed.SAID:
        talk.mind = replace(talk.mind, supposed=Supposed.ASKED_ABOUT)
        invites(talk, "worry")
    elif concern is not None and concern not in talk.mind.voiced:
        talk.voice(concern)
    elif concern is not None:
        press_worry(talk, concern)
    elif talk.mind.hinted and not talk.mind.worried and _knows_why(talk):
        worry_told(talk)
    elif talk.stage in (Stage.UNKNOWN, Stage.IDENTIFIED):
        talk.say("told.nothing")
    else:
        talk.say("leaning" if talk.persona.concerns else "told.nothing")
        clue(talk)
    hint(talk)


def doubt_seen(talk: Talk) -> bool:
    """Return whether who has said no more than "I suppose so" is told that they sound unsure."""
    if talk.mind.supposed is not Supposed.SAID or talk.sure & QUESTIONS:
        return False
    return any(said.act is Act.ASK_HESITATION for said in talk.heard.acts)


def _knows_why(talk: Talk) -> bool:
    """Return whether the caller may be told what worries them: they said what the call is about."""
    return talk.stage not in (Stage.UNKNOWN, Stage.IDENTIFIED)


def _remarked(talk: Talk) -> bool:
    """Answer what is neither asked nor offered; return whether there was something."""
    asked = talk.saids(Act.ASK_TOPIC, Act.ASK_ITEM, Act.ASK_PERMISSION)
    if {said.topic for said in asked} - {each.topic for each in talk.told}:
        _asked_early(talk)
    elif talk.mind.answered - _answered_before(talk):
        talk.say("settled")
        if not _tells_worry(talk):
            next_clue(talk)
    elif _opens_up(talk):
        pass
    elif talk.mind.voiced - talk.mind.answered:
        answered = Act.ANSWER_CONCERN in talk.sure
        talk.say("missed" if answered else "warm" if Act.ACKNOWLEDGE in talk.sure else "listen")
        press_worry(talk, next(iter(troubles(talk))))
    else:
        return _remarked_kindly(talk)
    return True


#: What is answered to an act that neither asks nor offers, the first of them that was done.
_REMARKS: Final = (
    (Act.OFFER_CALLBACK, "callback"),
    (Act.OFFER_MATERIAL, "material"),
    (Act.OFFER_AUTONOMY, "autonomy"),
    (Act.ACKNOWLEDGE, "warm"),
    (Act.ACCEPT_REFUSAL, "left"),
    (Act.ASK_TIME, "time.fine"),
)


def _remarked_kindly(talk: Talk) -> bool:
    """Answer an offer of time or paper, a reflection, a freedom; return whether there was one."""
    for act, key in _REMARKS:
        if act in talk.sure and (act is not Act.ACCEPT_REFUSAL or talk.stage is Stage.REFUSED):
            talk.say(key)
            if act is not Act.ACCEPT_REFUSAL:
                clue_unless_moved(talk)
            return True
    return False


def _asked_early(talk: Talk) -> None:
    """Answer a question that comes before the agreement: only what is on their mind is told."""
    asked = talk.saids(Act.ASK_TOPIC, Act.ASK_ITEM, Act.ASK_PERMISSION)
    openly = any(said.topic is None for said in asked)
    aimed = openly or (talk.mind.hinted and talk.persona.hint_topic in {x.topic for x in asked})
    if not aimed or not _knows_why(talk) or talk.persona.hint_topic is None:
        talk.say("courtesy" if {said.topic for said in asked} == {None} else "why")
    elif talk.mind.worried:
        talk.say("hint.more")
        clue_unless_moved(talk)
    else:
        worry_told(talk)


def _opens_up(talk: Talk) -> bool:
    """Tell a worry that slipped out to somebody who heard it; return whether that is said."""
    concern = open_concern(talk)
    if _tells_worry(talk, "warm"):
        return True
    heard = Act.ACKNOWLEDGE in talk.sure and talk.stage is not Stage.REFUSED
    if heard and concern is not None and concern in talk.mind.slipped - talk.mind.voiced:
        talk.say("warm")
        talk.voice(concern)
        return True
    return False


def _tells_worry(talk: Talk, before: str = "") -> bool:
    """Tell what their hint was about to somebody who picked it up; return whether that is said."""
    earlier = talk.memory.mind.triggers if talk.memory.mind else frozenset()
    new = talk.mind.triggers - earlier
    picked = any(talk.persona.triggers[place].after_hint for place in new)
    if talk.mind.worried or not (picked or talk.echoed):
        return False
    if before:
        talk.say(before)
    worry_told(talk)
    return True


def _answered_before(talk: Talk) -> frozenset[Concern]:
    """Return the worries that were answered before this turn."""
    return talk.memory.mind.answered if talk.memory.mind is not None else frozenset()


def heard_half(talk: Talk) -> bool:
    """Ask back where a question was not surely one; return whether that is the answer."""
    if not any(said.act in QUESTIONS and not said.sure for said in talk.heard.acts):
        return False
    talk.say("back")
    return True


# -- refusals ------------------------------------------------------------------------------------


def _refuses(talk: Talk) -> None:
    """Say no for the first time: with a reason where there is one behind it."""
    talk.to(Stage.REFUSED)
    if talk.persona.willingness is Willingness.REFUSES:
        talk.say("no.flat")
        return
    concern, left = open_concern(talk), waits_for(talk)
    if concern is not None:
        talk.let_slip("no", concern)
    elif left is not None and left.acts[0] in _LEFT:
        talk.say(f"no.{left.acts[0].value}")
    else:
        talk.say("no.first" if talk.persona.concerns else "no.nothing")


def _after_refusal(talk: Talk) -> None:
    asks, explains = talk.sure & _ASKS, talk.sure & _EXPLAINS
    if Act.ASK_HESITATION in talk.sure:
        asks -= {Act.ASK_WILLINGNESS}  # "what would you like to know?"
    if talk.persona.willingness is Willingness.REFUSES:
        _refuses_again(talk)
        talk.minds(asked_behind=talk.mind.asked_behind or Act.ASK_HESITATION in talk.sure)
    elif asks and (round_done(talk) or _begun(talk)):
        _asked_again(talk)
    elif asks or (explains and not talk.sure & _ROUND and not _explains_itself(talk)):
        _reframed(talk)
    elif Act.ASK_HESITATION in talk.sure and not talk.mind.asked_behind:
        talk.mind = replace(talk.mind, asked_behind=True)
        concern = open_concern(talk)
        if concern is None:
            talk.say("told.nothing")
            clue_unless_moved(talk)
        elif concern in talk.mind.voiced:
            press_worry(talk, concern)
        else:
            talk.voice(concern)
        hint(talk)
    elif Act.ASK_HESITATION in talk.sure:
        talk.trusts(-1)
        talk.say("told.again")
        clue_unless_moved(talk)
    elif not _remarked(talk):
        talk.say("listen")
        clue_unless_moved(talk)


def _explains_itself(talk: Talk) -> bool:
    """Return whether an explanation is an answer, or tries to be one, to a worry that was told."""
    mind = talk.mind
    return bool(mind.voiced - mind.answered or mind.answered - _answered_before(talk))


def _begun(talk: Talk) -> bool:
    """Return whether a refusal was asked about, and nobody has yet asked too soon after it."""
    return talk.mind.asked_behind and talk.mind.patience_lost == 0


def _asked_again(talk: Talk) -> None:
    """Answer the one question that a refusal allows, if all was done that is due before it.

    Whoever asks when it is not gets no yes, and hears what is open; after that it is reframing.
    """
    if not round_done(talk):
        talk.mind = replace(
            talk.mind,
            versions=talk.mind.versions + (Act.REQUEST_CONSENT in talk.sure),
            patience_lost=talk.mind.patience_lost + 1,
            weighed=weight(talk),
        )
        talk.say("hesitate")
        clue(talk)
        return
    if Act.REQUEST_CONSENT in talk.sure:
        _decides(talk)
        return
    talk.say("open")
    clue(talk)
    hint(talk)


def _refuses_again(talk: Talk) -> None:
    """Say no for good as soon as anybody comes back to it; there is nothing behind it."""
    comes_back = talk.sure & (OFFERS | {Act.ASK_HESITATION, Act.ANSWER_CONCERN})
    asked = talk.sure & {Act.ASK_TOPIC, Act.ASK_ITEM, Act.ASK_PERMISSION}
    if talk.sure & OFFERS and not talk.sure & _ROUND:
        talk.to(Stage.REFUSED_FOR_GOOD)
        passed_over(talk, "no.final")
    elif comes_back or asked:
        talk.to(Stage.REFUSED_FOR_GOOD)
        talk.say("no.final")
    elif not _remarked(talk):
        talk.say("listen")


def _reframed(talk: Talk) -> None:
    """Answer an offer that was made again too soon."""
    if Mark.REFRAMING in talk.persona.anti_triggers:
        talk.mark(Mark.REFRAMING)
        talk.trusts(-1)
        followed(talk)
        return
    passed_over(talk, "told.again" if talk.mind.voiced else "no.over")
