"""Where sentences and clauses begin and end, as bits: one a word, the first word the lowest bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from healthgym.worlds.managed_care.conversation.ears.words import Break, Words

# Plain numbers: the marks are looked at once a word.
_COMMA, _STOP = int(Break.COMMA), int(Break.STOP)
_ASKED, _COLON = int(Break.ASKED), int(Break.COLON)
#: Words before a verb among which one that asks makes it a part of its question.
_LOOK = 5
#: Verbs that begin a question or are what is asked about.
_FULL = frozenset({"do", "have"})
_TO = frozenset({"to"})
#: Words after which "but" joins nothing: "nobody but you".
_NONE = frozenset({"nobody", "none", "nothing", "anyone", "anything", "one"})
#: The answers there are to the question before them, which they go on: "will you join, yes or no?"
_EITHER = ("yes", "or", "no")


@dataclass(frozen=True)
class Clauses:
    """The sentences and clauses of a message.

    Attributes:
        starts: The first words of clauses.
        sentences: The words of each sentence.
        clauses: The words of each clause.
        asked: The words of clauses before a question mark.
    """

    starts: int
    sentences: tuple[int, ...]
    clauses: tuple[int, ...]
    asked: int

    @cached_property
    def inside(self) -> int:
        """The words that go on a clause."""
        return ~self.starts

    def filled(self, bits: int) -> int:
        """Return all words of the clauses in which one is marked."""
        return _filled(self.clauses, bits)

    def sentence(self, bits: int) -> int:
        """Return all words of the sentences in which one is marked."""
        return _filled(self.sentences, bits)

    def after(self, bits: int) -> int:
        """Return all words of the sentences in which one is marked, and of those after them."""
        found, before = 0, False
        for span in self.sentences:
            here = bool(span & bits)
            found |= span if here or before else 0
            before = here
        return found

    def back(self, bits: int, sentences: int) -> int:
        """Return the words of the sentences so many before those in which one is marked."""
        found = 0
        for place, span in enumerate(self.sentences):
            if span & bits and place >= sentences:
                found |= self.sentences[place - sentences]
        return found

    def onward(self, bits: int) -> int:
        """Return the words from the first marked one of each clause to the clause's end."""
        return _onward(self.clauses, bits)

    def to_end(self, bits: int) -> int:
        """Return the words from the first marked one of each sentence to the sentence's end."""
        return _onward(self.sentences, bits)


def _filled(spans: tuple[int, ...], bits: int) -> int:
    full = 0
    if bits:
        for span in spans:
            if span & bits:
                full |= span
    return full


def _onward(spans: tuple[int, ...], bits: int) -> int:
    full = 0
    if bits:
        for span in spans:
            here = span & bits
            if here:
                full |= span & -(here & -here)
    return full


@dataclass(frozen=True, kw_only=True)
class Joints:
    """Words at which clauses meet.

    Attributes:
        links: Words that join clauses, such as ``and``.
        begins: Words that begin a clause after a comma or a link.
        leads: Words that begin a clause wherever they stand, such as ``because``.
        turns: Verbs that begin a question, such as ``is``.
        turned: Words that follow them there, such as ``you``.
        asking: Words that begin a question before them, such as ``how``.
        conditions: Words after which the first comma ends a clause, such as ``if``.
    """

    links: frozenset[str]
    begins: frozenset[str]
    leads: frozenset[str]
    turns: frozenset[str]
    turned: frozenset[str]
    asking: frozenset[str]
    conditions: frozenset[str]

    @cached_property
    def meeting(self) -> frozenset[str]:
        """Words before which clauses may meet without a mark."""
        return self.links | self.leads | self.turns


def clauses_of(words: Words, joints: Joints) -> Clauses:
    """Return the clauses of a message.

    Args:
        words: Its words.
        joints: The words at which clauses meet.
    """
    texts, breaks, meeting = words.words, words.breaks, joints.meeting
    count = len(texts)
    starts = stops = 0
    conditional = False
    for place, word in enumerate(texts):
        before = breaks[place]
        if not before and word not in meeting:
            continue  # as before most words
        if before & _STOP:
            starts |= 1 << place
            stops |= 1 << place
            conditional = word in joints.conditions
            continue
        if before & _COLON or word in joints.leads:
            starts |= 1 << place
        elif _either(texts, place):
            continue
        elif before & _COMMA:
            if conditional or word in joints.begins or _linked(texts, place, joints):
                starts |= 1 << place
                conditional = word in joints.conditions
        elif _linked(texts, place, joints) or _turned(texts, place, joints):
            starts |= 1 << place
    spans = _spans(starts, count)
    asked = sum(span for span in spans if breaks[span.bit_length()] & _ASKED)
    return Clauses(starts, _spans(stops, count), spans, asked)


def _either(texts: tuple[str, ...], place: int) -> bool:
    """Return whether a place is one of the first two words of "yes or no", which is one thing."""
    begin = place - (texts[place] == _EITHER[1])
    return texts[place] in _EITHER[:2] and texts[begin : begin + 3] == _EITHER


def _linked(texts: tuple[str, ...], place: int, joints: Joints) -> bool:
    """Return whether a clause begins with a link at a place."""
    following = texts[place + 1] if place + 1 < len(texts) else ""
    if texts[place] == "but" and place and texts[place - 1] in _NONE:
        return False
    return texts[place] in joints.links and following in joints.begins


def _turned(texts: tuple[str, ...], place: int, joints: Joints) -> bool:
    """Return whether a question begins at a place without a mark, as in ``okay is this you``."""
    word = texts[place]
    if word not in joints.turns or place + 1 == len(texts):
        return False
    if word in _FULL and place and texts[place - 1] in joints.turned | joints.turns | _TO:
        return False  # "Shall we do this?" is one question.
    before = texts[max(0, place - _LOOK) : place]
    return texts[place + 1] in joints.turned and joints.asking.isdisjoint(before)


def _spans(starts: int, count: int) -> tuple[int, ...]:
    """Return the words from each start to the next."""
    made = []
    end = 1 << count
    while starts:
        last = 1 << (starts.bit_length() - 1)
        made.append(end - last)
        starts, end = starts - last, last
    return tuple(reversed(made))
