"""A message as it is read: its clauses, what stands in them, and under which scopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from healthgym.worlds.managed_care.conversation.ears.clauses import Clauses, clauses_of
from healthgym.worlds.managed_care.conversation.ears.grammar import (
    Grammar,
    Mood,
    Role,
    Rule,
    Scope,
)
from healthgym.worlds.managed_care.conversation.ears.places import Places, places_of
from healthgym.worlds.managed_care.conversation.ears.words import Words

#: Most words of an expression that looks like a negation or a condition and is none.
_NEAR = 4
_MAY, _ASK = frozenset({"may", "might", "can", "could"}), "ask"
_IF = "if"
_BUT = "but"
#: Words after which what is wanted to be known may be a list.
_ASKS = frozenset({"ask", "asking", "know", "tell", "hear", "wonder", "wondering", "curious"})
_LINKS = frozenset({"and", "so", "but", "yet", "because"})
_SELF = frozenset({"i", "we"})
#: Words of a condition that is not meant to come true.
_UNREAL = frozenset(
    {"were", "had", "would", "wanted", "said", "asked", "joined", "agreed", "did", "was"}
    | {"decided", "enrolled", "consented"}
)
#: Before what "would" is kindness, and the condition an open one: "if you would rather not".
_WOULD = "would"
_KINDLY = frozenset(
    {"like", "rather", "prefer", "find", "be", "help", "want", "care", "feel", "suit"}
)
_WHO = "who"
#: Words for the caller after whom "who" asks nothing.
_CALLER = frozenset({"nurse", "manager", "coordinator", "me", "someone", "person"})
#: Words of a sentence in which the caller speaks of something else than was asked.
_SPEAKER = frozenset({"i", "we", "my", "thank", "thanks", "let"})


@dataclass(slots=True)
class Reading:
    """A message as it is read. Bits stand for words, the first word the lowest.

    Attributes:
        words: Its words.
        clauses: Its sentences and clauses.
        places: Where its words stand.
        rules: The rules of which a pattern was found, by their role, with the last words of where.
        scopes: What stands under each scope.
        free: What stands under no scope but some, by those.
        asked: What is asked.
        tagged: What is said and asked with a tag.
        hindered: What is asked about no more than as something that gets hindered.
        imagined: What follows from a condition without being asked.
        disowned: What the caller says not to say.
    """

    words: Words
    clauses: Clauses
    places: Places
    rules: Mapping[Role | None, list[tuple[Rule, int]]]
    scopes: Mapping[Scope, int] = field(default_factory=dict)
    free: dict[frozenset[Scope], int] = field(default_factory=dict)
    asked: int = 0
    tagged: int = 0
    hindered: int = 0
    imagined: int = 0
    disowned: int = 0

    def role(self, role: Role) -> int:
        """Return where patterns with a role end."""
        bits = 0
        for _, ends in self.of(role):
            bits |= ends
        return bits

    def of(self, role: Role | None) -> Sequence[tuple[Rule, int]]:
        """Return the rules with a role, or for an act, of which a pattern was found, and where."""
        return self.rules.get(role, ())

    def through(self, scopes: frozenset[Scope]) -> int:
        """Return the words that stand under no scope but some."""
        free = self.free.get(scopes)
        if free is None:
            free = -1
            for scope, under in self.scopes.items():
                if under and scope not in scopes:
                    free &= ~under
            self.free[scopes] = free
        return free

    def held(self, rule: Rule, bits: int) -> int:
        """Return where a rule holds, of where its patterns were found.

        Args:
            rule: The rule.
            bits: The last words of where its patterns were found.
        """
        bits &= self.through(rule.through)
        if rule.mood is Mood.ASK:
            bits &= self.asked
        elif rule.mood is Mood.TELL:
            bits &= ~self.asked | self.tagged
        if bits and rule.unless:
            bits &= ~self.clauses.filled(self.places.ends(rule.unless))
        if bits and rule.barring:
            bits &= ~self.clauses.sentence(self.places.ends(rule.barring))
        if bits and rule.beside:
            bits &= self.clauses.filled(self.places.ends(rule.beside))
        if bits and rule.also:
            bits &= self.clauses.sentence(self.places.ends(rule.also))
        if bits and rule.near:
            bits &= self.clauses.after(self.places.ends(rule.near))
        return bits


def read(words: Words, rules: Grammar) -> Reading:
    """Return a message as it is read.

    Args:
        words: Its words.
        rules: By what it is read.
    """
    clauses = clauses_of(words, rules.joints)
    places = places_of(words.words, clauses.starts, rules)
    found: dict[int, int] = {}
    of, matched = rules.of, places.matched
    for pattern in sorted(places.match(rules.ruled)):
        ends = matched[pattern]
        for number in of[pattern]:
            found[number] = found.get(number, 0) | ends
    roles: dict[Role | None, list[tuple[Rule, int]]] = {}
    for number, ends in found.items():
        rule = rules.rules[number]
        roles.setdefault(rule.role, []).append((rule, ends))
    reading = Reading(words, clauses, places, roles)
    _ask(reading)
    _scope(reading)
    return reading


def after(bits: int, words: int, inside: int) -> int:
    """Return some words and so many after each, within clauses."""
    for _ in range(words):
        bits |= (bits << 1) & inside
    return bits


def _before(bits: int) -> int:
    """Return the last words of expressions, with those before them."""
    for _ in range(_NEAR - 1):
        bits |= bits >> 1
    return bits


def _scope(reading: Reading) -> None:
    """Take note of what is not simply said."""
    clauses, words = reading.clauses, reading.words
    negates = reading.role(Role.NEGATES) & ~_before(reading.role(Role.AFFIRMS))
    supposes = reading.role(Role.SUPPOSES) & ~_before(reading.role(Role.POLITE))
    conditional = clauses.onward(supposes)
    following = clauses.to_end(supposes) & ~conditional & ~reading.asked
    entered = words.entered | _written(words.words)
    meta = clauses.sentence(reading.role(Role.META) | entered) | words.aside
    # "No obligation, they always say": what was said may come first.
    reported = _reported(reading) | _previous(clauses, clauses.filled(reading.role(Role.SAID)))
    unreal = 0
    if following:
        kindly = reading.places.of(_WOULD) & reading.places.of(_KINDLY) >> 1
        unreal = clauses.sentence(conditional & reading.places.of(_UNREAL) & ~kindly) & following
    reading.imagined = following
    reading.disowned = clauses.onward(reading.role(Role.DISOWNS) & ~reading.asked)
    reading.scopes = {
        Scope.NEGATED: clauses.onward(negates),
        Scope.CONDITIONAL: conditional,
        Scope.REPORTED: reported,
        Scope.UNREAL: unreal,
        Scope.QUOTED: words.quoted,
        Scope.META: meta,
    }


def _written(words: tuple[str, ...]) -> int:
    """Return the words that nobody says: names with underlines."""
    if "_" not in "".join(words):
        return 0  # as in most messages
    return sum(1 << place for place, word in enumerate(words) if "_" in word)


def _reported(reading: Reading) -> int:
    """Return what is said of what others said, up to where the caller speaks again."""
    # "If you told me" reports nothing.
    clauses, imagined = reading.clauses, reading.places.of(_IF) << 2
    reports = reading.role(Role.REPORTS) & ~imagined
    if not reports:
        return 0
    # Nor does "you said that I may ask about money", which is leave to ask.
    may_ask = reading.places.of(_SELF) & reading.places.of(_MAY) >> 1 & reading.places.of(_ASK) >> 2
    reports &= ~clauses.filled(may_ask)
    # A question, or a clause about the caller that is joined on, is the caller's own.
    links = reading.places.of(_LINKS) & clauses.starts
    own = links & reading.places.of(_SELF) >> 1 | reading.places.of(_BUT) & clauses.starts
    # What follows "the page reads:" is not, asked or not.
    cited = reading.words.announced & reports << 1
    reported = 0
    for sentence in clauses.sentences:
        open_ = False
        for clause in clauses.clauses:
            if not clause & sentence:
                continue
            if clause & reports:
                reported |= clauses.onward(reports) & clause
                open_ = True
            elif clause & cited:
                reported |= clause
            elif clause & own or clause & reading.asked:
                open_ = False
            elif open_:
                reported |= clause
    return reported


def _ask(reading: Reading) -> None:
    """Take note of what is asked."""
    clauses = reading.clauses
    asks = reading.role(Role.ASKS)
    asked = clauses.asked | clauses.onward(asks & ~_related(reading))
    tags = clauses.filled(reading.role(Role.TAG) & asked)
    if tags:
        # The clause before a tag is asked with it, if it is of the same sentence.
        reading.tagged = _previous(clauses, tags)
        asked |= reading.tagged
    # "Your name, if I may?" asks what stands before the condition.
    asked |= _previous(clauses, clauses.asked & reading.places.of(_IF) & clauses.starts)
    asked |= _listed(reading, asked)
    rhythms = clauses.filled(reading.role(Role.RHYTHM)) & ~clauses.asked
    frames = reading.role(Role.FRAME) & ~rhythms
    if frames:
        asked |= _continued(reading, frames)
    reading.asked = asked
    hinders = reading.role(Role.HINDERS) & asked
    if hinders:
        reading.hindered = clauses.onward(hinders << 1 & clauses.inside) & asked


def _listed(reading: Reading, asked: int) -> int:
    """Return what is asked on with "whether": "may I ask how you get there, whether you eat"."""
    clauses, places = reading.clauses, reading.places
    begins = places.of(_IF) & (clauses.starts | (places.of(_LINKS) & clauses.starts) << 1)
    if not begins:
        return 0
    asks = asked & clauses.filled(places.of(_ASKS))
    found = 0
    for before, clause in pairwise(clauses.clauses):
        if clause & begins and before & (asks | found) and clauses.sentence(before) & clause:
            found |= clause
    return found


def _related(reading: Reading) -> int:
    """Return the clauses that tell more of a caller who was just named: "a nurse, who helps"."""
    clauses, places = reading.clauses, reading.places
    who = places.of(_WHO) & clauses.starts
    if not who:
        return 0
    found = 0
    for before, clause in pairwise(clauses.clauses):
        if clause & who and before & places.of(_CALLER) and clauses.sentence(before) & clause:
            found |= clause
    return found


def _previous(clauses: Clauses, bits: int) -> int:
    """Return the clauses before some clauses, within their sentences."""
    found = 0
    if not bits:
        return found  # as mostly
    for before, clause in zip(clauses.clauses, clauses.clauses[1:], strict=False):
        if clause & bits and clauses.sentence(clause) & before:
            found |= before
    return found


def _continued(reading: Reading, frames: int) -> int:
    """Return what is asked with a frame: its sentence, and the fragments before and after it."""
    clauses = reading.clauses
    symptoms = reading.role(Role.SYMPTOM)
    speaker = reading.places.of(_SPEAKER)
    asked, before, open_ = 0, 0, False
    for sentence in clauses.sentences:
        if sentence & frames:
            # "Little interest, low mood. How often each?" asks what stands before it.
            asked |= sentence if sentence & symptoms else sentence | before
            open_ = True
        elif open_ and not sentence & speaker:
            asked |= sentence
        else:
            open_ = False
        before = 0 if sentence & speaker else sentence
    return asked
