"""The offer and what a person says to it: hesitating, refusing, agreeing. Nothing else agrees."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.manners import followed, passed_over
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage, Supposed
from healthgym.worlds.managed_care.conversation.persona import Concern, Mark, Willingness
from healthgym.worlds.managed_care.conversation.replies import lines, spoken
from healthgym.worlds.managed_care.conversation.taking_in import (
    lacking,
    open_concern,
    round_done,
    wish,
    won,
)
from healthgym.worlds.managed_care.conversation.talk import OFFERS, QUESTIONS, Talk

#: A yes to this version of the offer, or to a later one, is a refusal: the handbook on consent.
_VERSIONS_MOST: Final = 2
_ASKS: Final = frozenset({Act.ASK_WILLINGNESS, Act.REQUEST_CONSENT})
_EXPLAINS: Final = OFFERS - _ASKS
#: What may be said to somebody who refused, once.
_ROUND: Final = frozenset(
    {Act.ACKNOWLEDGE, Act.ASK_HESITATION, Act.ANSWER_CONCERN, Act.OFFER_AUTONOMY}
)


def final(talk: Talk) -> bool:
    """Answer after a refusal for good, where only a thank-you ends the call well."""
    if talk.stage is not Stage.REFUSED_FOR_GOOD:
        return False
    if talk.sure & (OFFERS | {Act.ASK_HESITATION}):
        passed_over(talk, "no.over")
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
    elif Act.ASK_HESITATION in talk.sure:
        _asked_behind(talk)
    elif Act.REQUEST_CONSENT in talk.sure:
        _asked(talk)
    elif Act.ASK_WILLINGNESS in talk.sure:
        _invited(talk)
    elif not _remarked(talk) and not heard_half(talk):
        talk.say("listen")
    return True


# -- before any refusal --------------------------------------------------------------------------


def _invited(talk: Talk) -> None:
    if Act.EXPLAIN_PROGRAM not in talk.mind.heard:
        talk.say("what")
    elif talk.persona.willingness is Willingness.READY:
        again = talk.stage is Stage.INVITED and lacking(talk) is None
        talk.to(Stage.INVITED)
        talk.say("will.straight" if again else "will.ready")
    elif talk.persona.willingness is Willingness.HESITANT:
        talk.to(Stage.INVITED)
        if won(talk) and lacking(talk) is None:
            talk.say("will.straight")
        else:
            _hesitates(talk, "will.hesitate")
    else:
        _refuses(talk)


def _asked(talk: Talk) -> None:
    if Act.EXPLAIN_PROGRAM not in talk.mind.heard:
        talk.say("what")
    elif talk.persona.willingness in (Willingness.INITIALLY_REFUSES, Willingness.REFUSES):
        talk.mind = replace(talk.mind, versions=talk.mind.versions + 1)
        _refuses(talk)
    else:
        talk.to(Stage.INVITED)
        _decides(talk)


def _decides(talk: Talk) -> None:
    """Agree, or say why not yet: what was not said, a worry, an unsure yes."""
    missing, mind = lacking(talk), talk.mind
    if mind.versions >= _VERSIONS_MOST:
        talk.to(Stage.REFUSED_FOR_GOOD)
        talk.say("no.third")
    elif missing is not None:
        talk.say(f"lack.{missing.value}")
    elif not won(talk):
        talk.mind = replace(mind, versions=mind.versions + 1)
        _hesitates(talk, "distrust" if mind.trust < 0 else "hesitate")
    elif not _supposes(talk):
        talk.to(Stage.AGREED)
        only = " and ".join(spoken().subjects[topic] for topic in sorted(talk.persona.only))
        talk.say("yes.only", what=only) if only else talk.say("yes")


def _supposes(talk: Talk) -> bool:
    """Say an unsure yes, which is none until it was asked about; return whether that is said."""
    mind = talk.mind
    if talk.persona.willingness is not Willingness.HESITANT:
        return False
    if mind.supposed is Supposed.NEVER:
        talk.mind = replace(mind, supposed=Supposed.SAID)
        talk.say("suppose")
    elif mind.supposed is Supposed.SAID:
        talk.mind = replace(mind, versions=mind.versions + 1)
        talk.say("supposed")
    return mind.supposed is not Supposed.ASKED_ABOUT


def _hesitates(talk: Talk, key: str) -> None:
    """Hesitate, and let slip what it is about."""
    talk.say(key)
    concern = open_concern(talk)
    if concern is not None:
        talk.let_slip("hint", concern)
    elif key != "will.hesitate":
        _wishes(talk)
    hint(talk)


def _wishes(talk: Talk) -> None:
    """Let slip what would have to be said or asked yet, of what this person waits for."""
    waits_for = wish(talk)
    if waits_for is not None and (waits_for is not Act.ASK_TOPIC or talk.mind.hinted):
        key = f"wish.{waits_for.value}"
        talk.say(key if key in lines() else "wish.answer_concern")


def _asked_behind(talk: Talk) -> None:
    """Answer the question what makes them hesitate."""
    concern = open_concern(talk)
    if talk.mind.supposed is Supposed.SAID:
        talk.mind = replace(talk.mind, supposed=Supposed.ASKED_ABOUT)
        talk.say("worry")
    elif concern is not None and concern not in talk.mind.voiced:
        talk.voice(concern)
    elif concern is not None:
        talk.say("told.again")
    else:
        talk.say("leaning" if talk.persona.concerns else "told.nothing")
        _wishes(talk)
    hint(talk)


def _remarked(talk: Talk) -> bool:
    """Answer what is neither asked nor offered; return whether there was something."""
    asked = talk.saids(Act.ASK_TOPIC, Act.ASK_ITEM, Act.ASK_PERMISSION)
    if asked:
        aimed = {None, talk.persona.hint_topic}
        picked = talk.mind.hinted and any(said.topic in aimed for said in asked)
        talk.say("hint.more" if picked else "why")
    elif talk.mind.answered - _answered_before(talk):
        talk.say("settled")
    elif _opens_up(talk):
        pass
    elif talk.mind.voiced - talk.mind.answered:
        answered = Act.ANSWER_CONCERN in talk.sure
        if not answered:
            talk.say("warm" if Act.ACKNOWLEDGE in talk.sure else "listen")
        talk.say("missed" if answered else "still")
    elif Act.OFFER_CALLBACK in talk.sure:
        talk.say("callback")
    elif Act.OFFER_MATERIAL in talk.sure:
        talk.say("material")
    elif Act.OFFER_AUTONOMY in talk.sure:
        talk.say("autonomy")
    elif Act.ACKNOWLEDGE in talk.sure:
        talk.say("warm")
    elif Act.ACCEPT_REFUSAL in talk.sure and talk.stage is Stage.REFUSED:
        talk.say("left")
    elif Act.ASK_TIME in talk.sure:
        talk.say("time.fine")
    else:
        return False
    return True


def _opens_up(talk: Talk) -> bool:
    """Tell a worry that slipped out to somebody who heard it; return whether that is said."""
    concern = open_concern(talk)
    heard = Act.ACKNOWLEDGE in talk.sure and talk.stage is not Stage.REFUSED
    if concern is None or not heard or concern not in talk.mind.slipped - talk.mind.voiced:
        return False
    talk.say("warm")
    talk.voice(concern)
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


def hint(talk: Talk) -> None:
    """Say what worries them most, once, to somebody who has said what the call is about."""
    known = talk.stage not in (Stage.UNKNOWN, Stage.IDENTIFIED, Stage.REFUSED_FOR_GOOD)
    if talk.persona.hint and not talk.mind.hinted and known and talk.parting is None:
        talk.mind = replace(talk.mind, hinted=True)
        talk.words.append(talk.persona.hint)


# -- refusals ------------------------------------------------------------------------------------


def _refuses(talk: Talk) -> None:
    """Say no for the first time: with a reason where there is one behind it."""
    talk.to(Stage.REFUSED)
    if talk.persona.willingness is Willingness.REFUSES:
        talk.say("no.flat")
        return
    concern = open_concern(talk) or next(iter(talk.persona.concerns), None)
    talk.let_slip("no", concern) if concern is not None else talk.say("no.nothing")


def _after_refusal(talk: Talk) -> None:
    asks, explains = talk.sure & _ASKS, talk.sure & _EXPLAINS
    if Act.ASK_HESITATION in talk.sure:
        asks -= {Act.ASK_WILLINGNESS}  # "what would you like to know?"
    if talk.persona.willingness is Willingness.REFUSES:
        _refuses_again(talk)
    elif asks and (round_done(talk) or _begun(talk)):
        _asked_again(talk)
    elif asks or (explains and not talk.sure & _ROUND and not _explains_itself(talk)):
        _reframed(talk)
    elif Act.ASK_HESITATION in talk.sure and not talk.mind.asked_behind:
        talk.mind = replace(talk.mind, asked_behind=True)
        concern = open_concern(talk)
        talk.voice(concern) if concern is not None else talk.say("told.nothing")
        hint(talk)
    elif Act.ASK_HESITATION in talk.sure:
        talk.trusts(-1)
        talk.say("told.again")
    elif not _remarked(talk):
        talk.say("listen")


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
        )
        talk.say("hesitate")
        _still_open(talk)
        return
    if Act.REQUEST_CONSENT in talk.sure:
        _decides(talk)
        return
    talk.say("open")
    _wishes(talk)
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


def _still_open(talk: Talk) -> None:
    """Say what keeps a refusal from being taken back."""
    since = talk.mind.since_no
    if talk.mind.voiced - talk.mind.answered:
        talk.say("still")
    elif Act.ACKNOWLEDGE not in since:
        talk.say("wish.acknowledge")
    else:
        talk.say("wish.offer_autonomy")


def already(talk: Talk) -> bool:
    """Answer whoever asks somebody to agree who has agreed; return whether that is the answer."""
    if talk.stage is not Stage.AGREED or Act.REQUEST_CONSENT not in talk.sure:
        return False
    if talk.persona.only:
        talk.mark(Mark.SCOPE_CREEP)
        talk.trusts(-1)
        subjects = spoken().subjects
        talk.say("scope", what=" and ".join(subjects[topic] for topic in sorted(talk.persona.only)))
    else:
        talk.say("yes.already")
    return not talk.sure & {Act.ASK_TOPIC, Act.ASK_ITEM, Act.ASK_PERMISSION}
