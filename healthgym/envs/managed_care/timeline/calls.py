"""The telephone calls of an episode: what was said, and beside it what it did to the person.

What was said is the call's own record. What was heard by it, what it did to trust and stage, what
was done wrong and what was told is the person's account (``Memory.turns``); a voice that keeps no
account leaves the words alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from healthgym.envs.managed_care.timeline.markdown import clean
from healthgym.envs.managed_care.timeline.offices import Offices, shown_time, words
from healthgym.envs.managed_care.timeline.story import Exhibit
from healthgym.envs.managed_care.timeline.values import chip, local
from healthgym.worlds.managed_care.conversation.acts import SENSITIVE, Act, Said
from healthgym.worlds.managed_care.conversation.mind import LEAST_TRUST, MOST_TRUST, Stage, Turn
from healthgym.worlds.managed_care.records.care import ConversationMessage, ConversationSession
from healthgym.worlds.managed_care.voices import Disclosure, Topic

#: Acts that nobody should do; to ask for the agreement is none of them.
_WRONG = SENSITIVE - {Act.REQUEST_CONSENT, Act.NAME_FACT}
_STAGES = {
    Stage.AGREED: "good",
    Stage.REFUSED: "open",
    Stage.REFUSED_FOR_GOOD: "bad",
    Stage.BROKEN_OFF: "bad",
}
#: Subjects that are short for something.
_NAMES = {Topic.PHQ9: "PHQ-9", Topic.GAD7: "GAD-7"}
#: Doses of a week; who misses all of them does not take a medicine.
_WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A message and its answer.

    Attributes:
        said: What the care manager said.
        answer: What the person said.
        turn: What it did; None where the voice keeps no account.
        trust: Trust before it; None where nobody knows.
        stage: Stage before it.
    """

    said: ConversationMessage
    answer: ConversationMessage
    turn: Turn | None = None
    trust: int | None = None
    stage: Stage = Stage.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A call.

    Attributes:
        number: Its number among the calls, from 1.
        session: Its record.
        exchanges: What was said, in order.
    """

    number: int
    session: ConversationSession
    exchanges: tuple[Exchange, ...] = ()


def conversations(exhibit: Exhibit) -> tuple[Conversation, ...]:
    """Return the calls of an episode, the oldest first."""
    heard = exhibit.world.outreach.memory(exhibit.case_id)
    sessions = tuple(exhibit.world.outreach.calls(exhibit.case_id))
    # Where a person forgets earlier calls, as in the source, they count from the last one.
    forgotten = len(sessions) - heard.calls
    turns = {(one.call + forgotten, one.exchange): one for one in heard.turns}
    trust = exhibit.care.persona.trust if exhibit.care is not None else None
    stage, found = Stage.UNKNOWN, []
    for number, session in enumerate(sessions, 1):
        pairs = zip(session.messages[::2], session.messages[1::2], strict=True)
        exchanges = []
        for place, (said, answer) in enumerate(pairs, 1):
            turn = turns.get((number, place))
            one = Exchange(said=said, answer=answer, turn=turn, trust=trust, stage=stage)
            exchanges.append(one)
            if turn is not None:
                trust, stage = turn.trust, turn.stage
        found.append(Conversation(number=number, session=session, exchanges=tuple(exchanges)))
    return tuple(found)


def calls_html(exhibit: Exhibit, offices: Offices) -> Iterator[str]:
    """Yield the calls, each with its transcript."""
    found = conversations(exhibit)
    if not found:
        yield '<p class="quiet">Nobody was called.</p>'
        return
    yield (
        '<p class="quiet">Beside what was said: the acts that the person heard, their trust from '
        f"{LEAST_TRUST} to +{MOST_TRUST} and their stage after it, what was done wrong, and what "
        "they told. An act with a question mark was not sure.</p>"
    )
    for one in found:
        yield f'<section class="phone" id="call-{one.number}">{_head(one, offices)}'
        yield from (_exchange(one, each, offices) for each in one.exchanges)
        yield "</section>"


def _head(one: Conversation, offices: Offices) -> str:
    session = one.session
    told = [local(offices, session.created_at), counted(len(one.exchanges), "message")]
    if session.termination_reason:
        told.append(clean(words(session.termination_reason)))
    else:
        told.append("not ended")
    return (
        f"<h3>Call {one.number} to {clean(session.patient_name)} "
        f'<span class="quiet">{" · ".join(told)}</span></h3>'
    )


def _exchange(call: Conversation, one: Exchange, offices: Offices) -> str:
    clock = shown_time(offices.home.local(one.said.timestamp))
    kind = " wronged" if one.turn is not None and one.turn.marks else ""
    beside = _beside(one, one.turn) if one.turn is not None else ""
    number = one.turn.exchange if one.turn is not None else one.said.turn_number
    return (
        f'<div class="turn{kind}" data-turn="{call.number}-{number}">'
        f'<div class="spoken"><p class="asked"><b>{clock}</b> {clean(one.said.content)}</p>'
        f'<p class="answered">{clean(one.answer.content)}</p></div>'
        f'<div class="heard">{beside}</div></div>'
    )


# -- what a turn did ------------------------------------------------------------------------------


def _beside(one: Exchange, turn: Turn) -> str:
    acts = " ".join(_acts(turn.acts)) or '<span class="quiet">nothing was understood</span>'
    parts = [f'<p class="acts">{acts}</p>']
    if turn.marks:
        marks = " ".join(chip(mark, "bad") for mark in turn.marks)
        parts.append(f'<p class="wrong"><i>marked</i> {marks}</p>')
    parts.append(
        f'<p class="state">{_trust(one, turn)}<span class="stage">{_stage(one, turn)}</span></p>'
    )
    if turn.told:
        parts.append(f'<p class="told"><i>told</i> {"; ".join(_told(turn.told))}</p>')
    if turn.parting is not None:
        parts.append(f"<p><i>hung up</i> {clean(words(turn.parting))}</p>")
    return "".join(parts)


def _acts(acts: Sequence[Said]) -> Iterator[str]:
    """Yield each act in a box, with its subject; questions of one instrument in one."""
    items: dict[tuple[Act, Topic | None, bool], list[str]] = {}
    for said in acts:
        found = items.setdefault((said.act, said.topic, said.sure), [])
        if said.item and said.item not in found:
            found.append(said.item)
    for (act, topic, sure), named in items.items():
        kind = "bad" if act in _WRONG and sure else "" if sure else "open"
        about = " ".join(part for part in (_name(topic), ", ".join(map(words, named))) if part)
        shown = f": {about}" if about else ""
        yield chip(f"{act}{shown}{'' if sure else ' ?'}", f"act {kind}".strip())


def _name(topic: Topic | None) -> str:
    return _NAMES.get(topic, words(topic)) if topic is not None else ""


def _trust(one: Exchange, turn: Turn) -> str:
    """Return trust as a meter, with how it moved."""
    cells = "".join(
        f'<i class="{"on " if point == turn.trust else ""}{_side(point)}"></i>'
        for point in range(LEAST_TRUST, MOST_TRUST + 1)
    )
    moved = turn.trust - one.trust if one.trust is not None else 0
    by = f' <span class="{_side(moved)}">({moved:+d})</span>' if moved else ""
    return (
        f'<span class="trust" data-trust="{turn.trust}">trust <span class="meter">{cells}</span> '
        f"<b>{points(turn.trust)}</b>{by}</span>"
    )


def points(trust: int) -> str:
    """Return trust as a figure: ``+2``, ``0``, ``-1``."""
    return f"{trust:+d}" if trust else "0"


def counted(count: int, name: str) -> str:
    """Return how many there are of something: ``1 call``, ``2 calls``."""
    return f"{count} {name}{'' if count == 1 else 's'}"


def _side(number: int) -> str:
    return "good" if number > 0 else "bad" if number < 0 else ""


def _stage(one: Exchange, turn: Turn) -> str:
    shown = chip(turn.stage, _STAGES.get(turn.stage, ""))
    if one.stage is turn.stage:
        return shown
    return f'<span class="quiet">{clean(words(one.stage))} →</span> {shown}'


def _told(told: Sequence[Disclosure]) -> Iterator[str]:
    """Yield what was told, one subject at a time."""
    by_topic: dict[Topic, list[Disclosure]] = {}
    for one in told:
        by_topic.setdefault(one.topic, []).append(one)
    for topic, found in by_topic.items():
        told_of = ", ".join(map(disclosed, found))
        yield f"<b>{clean(_name(topic))}</b> {clean(told_of)}"


def disclosed(one: Disclosure) -> str:
    """Return what was told of a subject, in words."""
    match one.topic:
        case Topic.PHQ9 | Topic.GAD7:
            return f"item {one.item}: {one.score}"
        case Topic.MEDICATION:
            return f"{one.item}: {_doses(one)}"
        case Topic.HOSPITAL_STAY:
            return str(one.score or 0)
        case Topic.DIAGNOSIS:
            return one.item.replace("_", " ")
        case Topic.MOOD | Topic.SAFETY | Topic.SUBSTANCE_USE:
            return "a concern" if one.present else "no concern"
    return "a barrier" if one.present else "no barrier"


def _doses(one: Disclosure) -> str:
    if not one.present:
        return "not taken"
    return f"misses {one.score} of {_WEEK}" if one.score else "misses none"
