"""What follows when a caller does wrong: an answer, less trust, at worst the end of the call."""

from __future__ import annotations

from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import GRAVE, Act
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage, Supposed
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.conversation.surroundings import Answering
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.voices import Topic

#: Subjects that are about health.
HEALTH: Final = frozenset(
    {
        Topic.PHQ9,
        Topic.GAD7,
        Topic.DIAGNOSIS,
        Topic.HOSPITAL_STAY,
        Topic.MEDICATION,
        Topic.MOOD,
        Topic.SUBSTANCE_USE,
        Topic.SAFETY,
    }
)
#: The item of what presses no more than by asking another time.
AGAIN: Final = "again"
#: The item of what writes down a yes that nobody gave; of one that was given it may be said.
CLAIMED: Final = "claimed"
#: Acts that take back what sounded grave.
_TAKES_BACK: Final = frozenset(
    {Act.OFFER_AUTONOMY, Act.EXPLAIN_VOLUNTARY, Act.STATE_SHARING, Act.ACCEPT_REFUSAL}
)
#: How often somebody asks what was meant; who sounds grave ever again means it.
_DOUBTS_MOST: Final = 3
#: How often one may press, or pass over a no, before the person hangs up.
_PRESSED_MOST: Final = 2
_PASSED_OVER_MOST: Final = 2
_SETTLED: Final = frozenset({Stage.AGREED, Stage.BROKEN_OFF, Stage.REFUSED_FOR_GOOD})


def wrongs(talk: Talk) -> bool:
    """Answer what was done wrong, if anything was; return whether that is all of the answer."""
    unsure, doubted = doubtful(talk), talk.mind.doubted
    done = talk.sure - unsure | _stands(talk, unsure)
    if Act.PRESSURE in done:
        again = Act.PRESSURE in doubted & talk.sure  # the first time was in doubt
        talk.mind = replace(talk.mind, pressed=talk.mind.pressed + 1 + again)
        _resent(talk, Mark.PRESSURE, "pressed", -2)
    if Act.PROMISE in done:
        _resent(talk, Mark.PROMISE, "promised", -1)
    if Act.INVOLVE_OTHERS in done:
        _resent(talk, Mark.THIRD_PARTY, "others", -1)
    _too_early(talk)
    if unsure - done and not talk.words:
        _asks_back(talk, unsure - done)
        return True
    if doubted and talk.heard.unsure and not talk.words:
        talk.say("doubt.settled")
    if talk.mind.pressed >= _PRESSED_MOST and Mark.PRESSURE in talk.marks:
        talk.to(Stage.REFUSED_FOR_GOOD)
        talk.say("hangup.refused")
        talk.hang_up(Parting.UPSET)
        return True
    followed(talk)
    return bool(talk.words)


def doubtful(talk: Talk) -> frozenset[Act]:
    """Return what sounds grave in words that leave a doubt.

    Who was told "I suppose so" has to ask once more, and who was told yes writes it down.
    """
    waits = talk.mind.supposed is not Supposed.NEVER or talk.mind.invited
    fine = {AGAIN: waits, CLAIMED: talk.stage is Stage.AGREED}
    unsure = frozenset(
        said.act
        for said in talk.heard.acts
        if said.act in GRAVE and not said.sure and not fine.get(said.item, False)
    )
    return unsure | _of_proxy(talk) | _out_of_place(talk)


def _out_of_place(talk: Talk) -> frozenset[Act]:
    """Return what is in doubt because nothing is to be won by it where it is heard.

    Who has agreed is told "if it gets worse, call 911", and who is not yet known is nobody to whom
    anything could be promised: "so that I can be certain".
    """
    if talk.stage is Stage.AGREED:
        return talk.sure & {Act.PRESSURE}
    early = talk.stage is Stage.UNKNOWN and Act.EXPLAIN_PROGRAM not in talk.sure
    return talk.sure & {Act.PRESSURE, Act.PROMISE} if early else frozenset()


def _of_proxy(talk: Talk) -> frozenset[Act]:
    """Return what is in doubt because a proxy hears it, whose sister may be who it is about."""
    proxy = talk.mind.answering is Answering.PROXY
    return talk.sure & {Act.INVOLVE_OTHERS} if proxy else frozenset()


def _stands(talk: Talk, unsure: frozenset[Act]) -> frozenset[Act]:
    """Return what sounded grave before and was meant so: said again, or not taken back."""
    doubted = talk.mind.doubted
    if not doubted:
        return unsure if talk.mind.doubts >= _DOUBTS_MOST else frozenset()
    talk.mind = replace(talk.mind, doubted=frozenset())
    taken_back = talk.denies or bool(talk.sure & _TAKES_BACK)
    return doubted & unsure if taken_back else doubted


def _asks_back(talk: Talk, unsure: frozenset[Act]) -> None:
    """Ask what was meant, before anything is held against the caller."""
    talk.mind = replace(talk.mind, doubted=unsure, doubts=talk.mind.doubts + 1)
    talk.say(f"doubt.{min(unsure).value}")


def _too_early(talk: Talk) -> None:
    """Mark what is about health or private before the caller may speak of it."""
    named = talk.saids(Act.NAME_FACT)
    told_why = talk.mind.heard & {Act.EXPLAIN_PROGRAM, Act.DISCLOSE_ACCESS}
    known = bool(talk.mind.identified_in)
    if not (known and told_why) and any(said.topic in talk.persona.sensitive for said in named):
        _resent(talk, Mark.PRIVACY, "named", -1)
    about = [said.topic for said in talk.saids(Act.ASK_TOPIC, Act.ASK_ITEM)]
    if not known and (named or HEALTH & set(about)):
        said_already = bool(talk.words)
        talk.mark(Mark.HEALTH_BEFORE_IDENTITY)
        talk.trusts(-1)
        if not said_already:
            who = talk.mind.introduced_in != talk.call.call
            talk.say("who.health" if who else "who.unchecked")


def _resent(talk: Talk, mark: Mark, key: str, step: int) -> None:
    talk.mark(mark)
    talk.trusts(step)
    if not talk.words:
        talk.say(key)


def followed(talk: Talk) -> None:
    """Refuse for good where a mark is one that the person does not forgive, or trust is gone."""
    if talk.stage in _SETTLED:
        return
    unforgiven = talk.persona.anti_triggers & set(talk.marks)
    if unforgiven == {Mark.ASKED_AGAIN} and not _warned(talk):
        # What was not asked again may have been heard so; a warning costs no more than a turn.
        unforgiven = frozenset()
        talk.say("warned")
    if unforgiven or (talk.marks and talk.mind.trust <= -3):
        talk.to(Stage.REFUSED_FOR_GOOD)
        talk.say("no.after")


def _warned(talk: Talk) -> bool:
    """Return whether something was asked again in an earlier turn."""
    return any(Mark.ASKED_AGAIN in turn.marks for turn in talk.memory.turns)


def passed_over(talk: Talk, key: str, *, mark: bool = True) -> None:
    """Answer an offer after a refusal; the second time, hang up.

    Args:
        talk: The turn.
        key: What is said to it.
        mark: Whether it is marked.
    """
    talk.mind = replace(talk.mind, patience_lost=talk.mind.patience_lost + 1)
    if mark:
        talk.mark(Mark.REFRAMING)
        talk.trusts(-1)
    if talk.mind.patience_lost >= _PASSED_OVER_MOST:
        talk.to(Stage.REFUSED_FOR_GOOD)
        talk.say("hangup.refused")
        talk.hang_up(Parting.REFUSING)
        return
    talk.say(key)
