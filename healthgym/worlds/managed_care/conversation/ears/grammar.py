"""The grammar of what is said on the phone, as it is kept in the data beside this module."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from sys import intern
from typing import Any

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.ears.clauses import Joints
from healthgym.worlds.managed_care.conversation.ears.lookup import Lookup, lookup_of
from healthgym.worlds.managed_care.conversation.ears.patterns import (
    UNKNOWN,
    Element,
    Pattern,
    Vocabulary,
)
from healthgym.worlds.managed_care.conversation.ears.words import Spelling, slips_of
from healthgym.worlds.managed_care.voices import Part, Topic

_ROOM = "healthgym.worlds.managed_care.conversation.ears"
_ACTS = ("opening.json", "offer.json", "listening.json", "ending.json", "grave.json")


class Scope(StrEnum):
    """What words can stand under, so that they are not simply said."""

    NEGATED = "negated"
    CONDITIONAL = "conditional"
    REPORTED = "reported"  #: of somebody else, or said earlier
    IMAGINED = "imagined"  #: what follows from a condition
    UNREAL = "unreal"  #: what would follow if the condition came true
    QUOTED = "quoted"
    META = "meta"  #: about the call as a record, not to the person


#: Words by which a pattern says itself what it is negated by, or depends on.
_OWN: Mapping[Scope, frozenset[str]] = {
    Scope.NEGATED: frozenset({"not", "never", "nobody", "nothing", "without", "nor", "none", "no"}),
    Scope.CONDITIONAL: frozenset({"if", "unless"}),
}
#: Under what a question is one all the same.
_ASKED_THROUGH = (Scope.NEGATED, Scope.CONDITIONAL)


class Mood(StrEnum):
    """How a clause is meant."""

    ANY = "any"
    ASK = "ask"
    TELL = "tell"


class Role(StrEnum):
    """What a rule is for, where it is not for an act."""

    ASKS = "asks"  #: makes a question of the rest of its clause
    NEGATES = "negates"
    AFFIRMS = "affirms"  #: looks like a negation and is none
    SUPPOSES = "supposes"  #: begins a condition
    POLITE = "polite"  #: looks like a condition and is none
    REPORTS = "reports"
    SAID = "said"  #: names who said what stands before it
    DISOWNS = "disowns"  #: takes back what follows
    META = "meta"
    TAG = "tag"  #: makes a question of the clause before it
    FRAME = "frame"  #: asks how often something troubled somebody; what follows is asked with it
    RHYTHM = "rhythm"  #: says how often something will be, and asks nothing by that
    HINDERS = "hinders"  #: says that what stands before it gets in the way of what follows
    FELT = "felt"  #: asks what somebody felt, as the instruments do
    WORRY = "worry"  #: names the person's worry
    SUBJECT = "subject"  #: what a question may be about
    SYMPTOM = "symptom"  #: what an instrument asks about
    FACT = "fact"  #: what a chart may hold
    KNOWN = "known"  #: says all that follows as known
    YOURS = "yours"  #: says the next words as known


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What some patterns stand for.

    Attributes:
        role: What the rule is for; None if it is for an act.
        act: The act; None if the rule is for something else.
        topic: What it is about.
        item: The item, or the worry that is answered.
        part: What of a subject it is about; None if it is the whole.
        mood: How the clause has to be meant.
        through: Scopes under which it holds all the same.
        sure: Whether the words leave no doubt.
        claims: Whether a question that it finds is no question about its subject besides.
        worried: Whether it takes a worry that was named.
        yields: Acts in whose presence it is no more than a part of them.
        patterns: The patterns.
        unless: Numbers of patterns that must not stand in the same clause.
        barring: The same, in the same sentence.
        beside: The same of patterns of which one must stand in the same clause; none if empty.
        also: The same, in the same sentence.
        near: The same, in the same sentence or the one before it.
    """

    role: Role | None = None
    act: Act | None = None
    topic: Topic | None = None
    item: str = ""
    part: Part | None = None
    mood: Mood = Mood.ANY
    through: frozenset[Scope] = frozenset()
    sure: bool = True
    claims: bool = False
    worried: bool = False
    yields: frozenset[Act] = frozenset()
    patterns: tuple[Pattern, ...]
    unless: frozenset[int] = frozenset()
    barring: frozenset[int] = frozenset()
    beside: frozenset[int] = frozenset()
    also: frozenset[int] = frozenset()
    near: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """All that is known of what is said on the phone.

    Attributes:
        spelling: How words are written.
        joints: Where clauses meet.
        leads: Words that may stand before what opens a clause.
        usual: Words that are no names: the known ones, and those that patterns need.
        rules: The rules.
        patterns: All patterns, by their numbers.
        lookup: How they are looked up.
        of: The numbers of the rules that are found by each pattern, by its number.
        ruled: The numbers of the patterns by which rules are found.
        medicines: Names of medicines.
        leaders: First words of names that have several.
        drugs: Words of which one begins every name.
        endings: How names of medicines end.
        takes: Words after which the name of a medicine may stand.
        passes: Words that may stand between.
        others: Words that stand there and are no medicines.
    """

    spelling: Spelling
    joints: Joints
    leads: frozenset[str]
    usual: frozenset[str]
    rules: tuple[Rule, ...]
    patterns: tuple[Pattern, ...]
    lookup: Lookup
    of: tuple[tuple[int, ...], ...]
    ruled: frozenset[int]
    medicines: frozenset[str]
    leaders: frozenset[str]
    drugs: frozenset[str]
    endings: tuple[str, ...]
    takes: frozenset[str]
    passes: frozenset[str]
    others: frozenset[str]


@cache
def spelling() -> Spelling:
    """Return how words are written; who asks for no more waits for no more than the rules."""
    _, vocabulary, patterns = _made()
    spoken = frozenset(_words(patterns)) | _parts() | vocabulary.common
    return _spelling(_read("words.json"), spoken - {UNKNOWN})


@cache
def grammar() -> Grammar:
    """Return the grammar."""
    words, drugs = _read("words.json"), _read("medicines.json")
    medicines = frozenset(drugs["names"])
    rules, vocabulary, patterns = _made()
    leaders = frozenset(name.split()[0] for name in medicines if " " in name)
    of = _of(rules, len(patterns))
    return Grammar(
        spelling=spelling(),
        joints=Joints(**{name: _set(found) for name, found in words["joints"].items()}),
        leads=vocabulary.classes["lead"],
        usual=spelling().known | frozenset(_needed(patterns)),
        rules=rules,
        patterns=patterns,
        lookup=lookup_of(patterns, vocabulary),
        of=of,
        ruled=frozenset(number for number, found in enumerate(of) if found),
        medicines=medicines,
        leaders=leaders,
        drugs=medicines | leaders,
        endings=tuple(drugs["endings"]),
        takes=_set(drugs["takes"]),
        passes=_set(drugs["passes"]),
        others=_set(drugs["others"]),
    )


@cache
def _made() -> tuple[tuple[Rule, ...], Vocabulary, tuple[Pattern, ...]]:
    """Return the rules, what they are made of, and all patterns."""
    vocabulary = _vocabulary(_read("words.json"), _parts())
    rules = tuple(_rules(vocabulary))
    return rules, vocabulary, tuple(vocabulary.made.values())


def _parts() -> frozenset[str]:
    """Return the words of the names of medicines."""
    return frozenset().union(*map(_set, _read("medicines.json")["names"]))


def _set(text: str) -> frozenset[str]:
    return frozenset(map(intern, text.split()))


def _vocabulary(words: Mapping[str, Any], medicines: frozenset[str]) -> Vocabulary:
    common = _set(words["common"])
    forms = {name: tuple(found.split()) for name, found in words["forms"].items()}
    phrases = {name: tuple(found) for name, found in words["phrases"].items()}
    bare = Vocabulary({}, {}, forms, common)
    classes = {name: _spread(_set(group), bare) for name, group in words["classes"].items()}
    return Vocabulary(
        {**classes, "medicine": medicines, "name": frozenset({UNKNOWN})},
        phrases,
        forms,
        common | {UNKNOWN},
    )


def _spelling(words: Mapping[str, Any], spoken: frozenset[str]) -> Spelling:
    spread = {name: tuple(map(intern, found.split())) for name, found in words["spread"].items()}
    fillers = _set(words["fillers"]) - spread.keys()
    right = (spoken | _set(words["known"])) - fillers - spread.keys()
    known = frozenset(word for word in right if word[0].isalnum())
    return Spelling(
        spread=spread,
        fillers=fillers,
        titles=_set(words["titles"]),
        known=known,
        right=_set(files(_ROOM).joinpath("data", "spelled_right.txt").read_text(encoding="utf-8")),
        same={word: word for word in known},
        slips=slips_of(spoken),
    )


def _read(name: str) -> Any:
    return json.loads(files(_ROOM).joinpath("data").joinpath(name).read_text(encoding="utf-8"))


def _spread(group: frozenset[str], vocabulary: Vocabulary) -> frozenset[str]:
    return frozenset(word for entry in group for word in vocabulary.words(entry))


def _rules(vocabulary: Vocabulary) -> Iterable[Rule]:
    """Return all rules: those of scopes, of subjects and symptoms, and of acts."""
    for name, lines in _read("scopes.json").items():
        yield Rule(role=Role(name), patterns=_patterns(lines, vocabulary))
    for role in (Role.SUBJECT, Role.SYMPTOM, Role.FACT):
        for row in _read(f"{role}s.json"):
            yield from _told_apart(_rule(row, vocabulary, role))
    for name in _ACTS:
        for row in _read(name):
            yield from _told_apart(_rule(row, vocabulary, None))


def _told_apart(rule: Rule) -> Iterable[Rule]:
    """Return a rule, apart those of its patterns that say their negation or condition."""
    apart: dict[frozenset[Scope], list[Pattern]] = {}
    for pattern in rule.patterns:
        spoken = set(_spoken(pattern.elements))
        own = {scope for scope, words in _OWN.items() if not words.isdisjoint(spoken)}
        apart.setdefault(rule.through | own, []).append(pattern)
    for through, patterns in apart.items():
        yield replace(rule, through=through, patterns=tuple(patterns))


def _rule(row: Mapping[str, Any], vocabulary: Vocabulary, role: Role | None) -> Rule:
    through = row.get("through", _ASKED_THROUGH if role in (Role.SUBJECT, Role.SYMPTOM) else ())
    return Rule(
        role=role,
        act=Act(row["act"]) if "act" in row else None,
        topic=Topic(row["topic"]) if row.get("topic") else None,
        item=row.get("item", ""),
        part=Part(row["part"]) if "part" in row else None,
        mood=Mood(row.get("mood", Mood.ANY)),
        through=frozenset(map(Scope, through)),
        sure=row.get("sure", True),
        claims=row.get("claims", False),
        worried=row.get("worried", False),
        yields=frozenset(map(Act, row.get("yields", ()))),
        patterns=_patterns(row["say"], vocabulary),
        unless=_numbers(row.get("unless", ()), vocabulary),
        barring=_numbers(row.get("barring", ()), vocabulary),
        beside=_numbers(row.get("beside", ()), vocabulary),
        also=_numbers(row.get("also", ()), vocabulary),
        near=_numbers(row.get("near", ()), vocabulary),
    )


def _patterns(lines: Iterable[str], vocabulary: Vocabulary) -> tuple[Pattern, ...]:
    return tuple(map(vocabulary.pattern, lines))


def _numbers(lines: Iterable[str], vocabulary: Vocabulary) -> frozenset[int]:
    return frozenset(pattern.number for pattern in _patterns(lines, vocabulary))


def _words(patterns: Iterable[Pattern]) -> Iterable[str]:
    for pattern in patterns:
        for element in pattern.elements:
            yield from element.words


def _needed(patterns: Iterable[Pattern]) -> Iterable[str]:
    for pattern in patterns:
        for element in pattern.elements:
            if not element.optional:
                yield from element.any


def _spoken(elements: Iterable[Element]) -> Iterable[str]:
    for element in elements:
        yield from element.words
        for run in element.runs:
            yield from _spoken(run.elements)


def _of(rules: tuple[Rule, ...], patterns: int) -> tuple[tuple[int, ...], ...]:
    """Return the rules that are found by each pattern, both by their numbers."""
    made: list[tuple[int, ...]] = [()] * patterns
    for number, rule in enumerate(rules):
        for pattern in rule.patterns:
            made[pattern.number] += (number,)
    return tuple(made)
