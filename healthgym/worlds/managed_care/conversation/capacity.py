"""Somebody who cannot follow the question, and who speaks for them: with papers on file or not.

Whoever cannot decide agrees with everything, kindly, and none of it is a yes. With papers on file
the proxy is asked in their place, and asks them; without, nobody can agree.
"""

from __future__ import annotations

import re
from typing import Final

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.manners import HEALTH
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.conversation.replies import birthday
from healthgym.worlds.managed_care.conversation.surroundings import Answering, Capacity, Proxy
from healthgym.worlds.managed_care.conversation.talk import OFFERS, STATEMENTS, Talk
from healthgym.worlds.managed_care.conversation.telephone import named, overhears

#: How a caller asks for whoever looks after somebody.
_ASKS_FOR: Final = re.compile(
    r"\b(?:proxy|power of attorney|guardian|look(?:s|ing)? after|tak(?:es|ing) care of"
    r"|decides? for|speaks? for|somebody else|someone else|anybody else|anyone else)\b",
    re.IGNORECASE,
)
_PAPERS: Final = re.compile(
    r"\b(?:papers?|paperwork|proxy|power of attorney|document\w*|on file|legal\w*|guardian\w*)\b",
    re.IGNORECASE,
)


def cannot_decide(talk: Talk, message: str) -> bool:
    """Answer for somebody who cannot decide, or for a proxy without papers; return whether it is.

    Args:
        talk: The turn.
        message: What was said.
    """
    around = talk.persona.around
    if around.capacity is Capacity.OWN:
        return False
    proxy = around.proxy
    if talk.mind.answering is Answering.PROXY and proxy is not None:
        if proxy.on_file:
            return False
        _without_papers(talk, message, proxy)
    else:
        _wanders(talk, message)
    talk.aside = True
    return True


def _wanders(talk: Talk, message: str) -> None:
    """Answer kindly, and beside the point."""
    proxy, relation = talk.persona.around.proxy, _relation(talk)
    first = talk.persona.patient_name.split()[0]
    asked_for = bool(_ASKS_FOR.search(message)) or _meant(message, relation)
    if proxy is not None and (asked_for or named(message, proxy.name)):
        talk.say("unable.fetches", proxy=proxy.name, relation=relation, first=first)
        talk.hands_over(Answering.PROXY)
        return
    health = HEALTH & {said.topic for said in talk.saids(Act.ASK_TOPIC, Act.ASK_ITEM)}
    if health or talk.saids(Act.NAME_FACT):
        talk.mark(Mark.HEALTH_BEFORE_IDENTITY)
    if Act.REQUEST_CONSENT in talk.sure:
        talk.mark(Mark.NO_CAPACITY)
        talk.say("unable.yes")
    elif Act.CLOSE in talk.sure:
        talk.say("unable.bye")
        talk.hang_up(Parting.FRIENDLY)
    elif Act.VERIFY_IDENTITY in talk.sure:
        talk.say("unable.identity", first=first, relation=relation)
    elif talk.sure & (OFFERS | set(STATEMENTS)) - {Act.INTRODUCE}:
        talk.say("unable.agrees")
    else:
        talk.say("unable.wanders", relation=relation)


def _without_papers(talk: Talk, message: str, proxy: Proxy) -> None:
    """Answer for somebody who would decide, and may not."""
    slots = {"relation": proxy.relation, "first": talk.persona.patient_name.split()[0]}
    overhears(talk, message)
    if Act.REQUEST_CONSENT in talk.sure:
        talk.mark(Mark.NO_CAPACITY)
        talk.say("no_papers.yes", **slots)
    elif Act.CLOSE in talk.sure:
        talk.say("no_papers.bye", **slots)
        talk.hang_up(Parting.FRIENDLY)
    elif _PAPERS.search(message):
        talk.say("no_papers.none", **slots)
    else:
        talk.say("no_papers.offers", **slots)


def _relation(talk: Talk) -> str:
    proxy = talk.persona.around.proxy
    return proxy.relation if proxy is not None else "neighbor"


def _meant(message: str, relation: str) -> bool:
    return re.search(rf"\b{relation}\b", message, re.IGNORECASE) is not None


def relayed(talk: Talk, before: Stage) -> None:
    """Put a proxy's words around an answer that they ask the person for.

    Args:
        talk: The turn.
        before: The stage before it.
    """
    proxy = talk.persona.around.proxy
    if proxy is None or talk.mind.answering is not Answering.PROXY or talk.aside:
        return
    name, birth = talk.persona.patient_name, birthday(talk.persona.birth_date)
    slots = {"proxy": proxy.name, "relation": proxy.relation, "name": name, "birth": birth}
    if Act.VERIFY_IDENTITY in talk.sure and talk.mind.identified_in == talk.call.call:
        talk.words[:] = [talk.speaker.line("proxy.identity", **slots)]
        return
    if talk.words and talk.parting is None:
        talk.words.insert(0, talk.speaker.line("proxy.relays", **slots))
    if talk.stage is Stage.AGREED and before is not Stage.AGREED:
        talk.words.append(talk.speaker.line("proxy.yes", **slots))
