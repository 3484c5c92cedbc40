"""What the other side of a call says to a turn.

It is no model: it hears which criteria a turn raises, tells what it holds on them, and says so
where it holds nothing. An answer has room for two facts. A turn that asks for three things is
answered in part, one that reads out the whole page is not; what was asked word for word before is
noticed, and neither an accusation nor a bargain moves anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact, Remark
from healthgym.worlds.managed_care.peers.hearing import Manner, Turn, heard
from healthgym.worlds.managed_care.peers.remarks import usual
from healthgym.worlds.managed_care.peers.words import Token, tokens
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord
from healthgym.worlds.managed_care.vocabulary.authorization import RevealMode

#: Facts that one answer has room for.
_AT_ONCE = 2
#: Subjects of a turn that gets no answer but that it asks for too much.
_TOO_MUCH = 5
_TELLS = (RevealMode.VOLUNTEER_AFTER_PROMPT, RevealMode.REVEAL_IF_ASKED)
_NEGATIONS = frozenset({"not", "never", "neither", "longer"})


@dataclass(slots=True)
class Answer:
    """What is said to a turn.

    Attributes:
        parts: Sentences, in their order.
        told: Facts that are told in it for the first time.
        pressed: Whether something is put forward beside the point.
    """

    parts: list[str] = field(default_factory=list)
    told: list[PeerFact] = field(default_factory=list)
    pressed: bool = False

    @property
    def room(self) -> int:
        """How many facts it has room for still."""
        return _AT_ONCE - len(self.told)

    def tell(self, facts: Sequence[PeerFact]) -> None:
        """Add facts, as far as there is room."""
        taken = facts[: self.room]
        self.told += taken
        self.parts += [fact.text for fact in taken]


def answer(contract: PeerContract, session: P2PSessionRecord, message: str) -> Answer:
    """Return what the other side says to a turn.

    Args:
        contract: What it holds.
        session: What was said before.
        message: The turn.
    """
    return _Listener(contract, session).answer(message)


def raised(contract: PeerContract, session: P2PSessionRecord) -> frozenset[str]:
    """Return the criteria that the agent raised in turns that could be answered.

    Args:
        contract: What the other side holds.
        session: The call.
    """
    return frozenset(
        name
        for turn in turns_of(contract, session)
        if turn.manner is Manner.PLAIN and len(turn.about) < _TOO_MUCH
        for name in turn.about
    )


def turns_of(contract: PeerContract, session: P2PSessionRecord) -> Iterator[Turn]:
    """Yield what was heard in each turn of the agent so far."""
    for said in session.transcript:
        if said.speaker == session.benchmark_side:
            yield heard(said.message, contract.subjects)


class _Listener:
    """Whoever is at the other end, at one turn."""

    def __init__(self, contract: PeerContract, session: P2PSessionRecord) -> None:
        self._contract = contract
        self._session = session
        self._earlier = tuple(turns_of(contract, session))
        told = session.revealed_fact_ids
        self._known = tuple(fact for fact in contract.facts if fact.id in told)
        self._open = tuple(fact for fact in contract.facts if fact.id not in told)

    def answer(self, message: str) -> Answer:
        turn = heard(message, self._contract.subjects)
        made = Answer()
        if turn.manner is not Manner.PLAIN:
            declines = turn.manner is Manner.ACCUSING
            return self._only(Remark.ACCUSED if declines else Remark.OFFERED)
        if self._said_before(message):
            return self._only(Remark.REPEATED)
        subjects = turn.about or (self._at_hand() if turn.follows else ())
        asked = [fact for fact in self._open if _tells(fact) and brought_up(fact, message)]
        if len(subjects) >= _TOO_MUCH and not asked:
            return self._only(Remark.TOO_MUCH)
        # Whoever names the version in force has said what counts, whatever it is argued with.
        made.tell(asked)
        if len(subjects) >= _TOO_MUCH:
            return made
        if turn.closes and not any(map(self._holds, subjects)):
            # Thanks for what was told, said back, ask for nothing.
            return made if made.parts else self._only(Remark.CLOSED)
        # Of three things or more, the first is answered.
        for subject in subjects[: _AT_ONCE if len(subjects) <= _AT_ONCE else 1]:
            self._speak_of(subject, made)
        if len(subjects) > _AT_ONCE:
            made.parts.append(self._remark(Remark.PARTIAL))
        if not subjects:
            self._volunteer(turn, message, made)
        if not made.parts:
            made.parts.append(self._remark(Remark.NOTHING))
        return made

    def _speak_of(self, subject: str, made: Answer) -> None:
        """Add what is held on a criterion."""
        mine = self._holds(subject)
        told = [fact for fact in self._known if fact.criterion == subject]
        if mine:
            more = len(mine) > made.room
            made.tell(mine)
            if more:
                made.parts.append(self._remark(Remark.MORE))
        elif told:
            made.parts += [self._remark(Remark.TOLD), *(fact.text for fact in told[:_AT_ONCE])]
        elif subject in self._contract.disputed:
            again = any(subject in turn.about for turn in self._earlier)
            kind = Remark.STILL_UNKNOWN if again else Remark.UNKNOWN
            made.parts.append(self._remark(kind, subject))
            self._press(made)
        else:
            made.parts.append(self._remark(Remark.AGREED, subject))

    def _holds(self, subject: str) -> list[PeerFact]:
        """Return what is still to be told on a criterion."""
        return [fact for fact in self._open if fact.criterion == subject and _tells(fact)]

    def _volunteer(self, turn: Turn, message: str, made: Answer) -> None:
        """Tell what people tell once they are asked for anything at all."""
        # Where nothing is known of what a turn may be about, any question asks for it.
        asks = turn.open if self._contract.subjects else "?" in message
        if not asks or not made.room:
            return
        offered = [fact for fact in self._open if fact not in made.told and _volunteers(fact)]
        made.tell(offered)
        if not made.parts and self._contract.disputed:
            self._press(made)

    def _press(self, made: Answer) -> None:
        """Put something forward beside the point: a fact on another criterion, or a plea."""
        beside = [
            fact
            for fact in self._open
            if fact not in made.told
            and _volunteers(fact)
            and fact.criterion
            and fact.criterion not in self._contract.disputed
        ]
        pleas = self._contract.remarks.get(Remark.PRESSES, ())
        place = self._session.challenge_index
        if beside and place % 2 == 0:
            made.tell(beside[:1])
        elif pleas:
            made.parts.append(pleas[place % len(pleas)])
        made.pressed = True

    def _at_hand(self) -> tuple[str, ...]:
        """Return what the talk was about last."""
        return next((turn.about for turn in reversed(self._earlier) if turn.about), ())

    def _said_before(self, message: str) -> bool:
        said = [one.text for one in tokens(message)]
        return any(
            one.speaker == self._session.benchmark_side
            and [word.text for word in tokens(one.message)] == said
            for one in self._session.transcript
        )

    def _only(self, remark: Remark) -> Answer:
        return Answer(parts=[self._remark(remark)])

    def _remark(self, remark: Remark, subject: str = "") -> str:
        known = self._contract.remarks.get(remark) or usual(remark)
        title = next((one.title for one in self._contract.subjects if one.id == subject), "that")
        text = known[self._session.agent_turns_used % len(known)]
        return text.format(title=title, Title=title[:1].upper() + title[1:])


def brought_up(fact: PeerFact, message: str) -> bool:
    """Return whether words bring a fact up: all words of one of its topics.

    A topic is not brought up by a clause that says no to it ("2024.2 is not in force").

    Args:
        fact: The fact.
        message: What was said.
    """
    words = tokens(message)
    said = {one.text for one in words}
    for topic in fact.topics:
        wanted = [one.text for one in tokens(topic)]
        if wanted and set(wanted) <= said and _affirmed(wanted[-1], words):
            return True
    return False


def _affirmed(name: str, words: tuple[Token, ...]) -> bool:
    """Return whether a word stands in some clause that denies nothing."""
    clauses = {one.clause for one in words if one.text == name}
    denied = {one.clause for one in words if one.text in _NEGATIONS}
    return not any(sign.isdigit() for sign in name) or bool(clauses - denied)


def _tells(fact: PeerFact) -> bool:
    return fact.reveal_mode in _TELLS


def _volunteers(fact: PeerFact) -> bool:
    return fact.reveal_mode is RevealMode.VOLUNTEER_AFTER_PROMPT
