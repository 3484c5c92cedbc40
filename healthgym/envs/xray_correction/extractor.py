"""From text to claims: a reader of findings for our own sentences and for free rewordings.

The vocabulary is in ``data/lexicon.json``. A sentence is cut into clauses; the entities named in a
clause are found, longest name first; sides, zones, severities, numbers and comparisons go to the
entity they stand next to, and negation reaches to the end of its clause.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.xray_correction.claims import Claim, Statement, entities, load

_BREAK = re.compile(r"(?<!\d)\.(?!\d)|[!?;\n]+|\.(?=\s|$)")
_CLAUSE = re.compile(r"\b(?:but|however|although|though|while|whereas|except for)\b")
_JOINT = re.compile(r"\band\b|\bor\b|,|\bwith\b|\bnor\b")
_HEIGHT = re.compile(r"(\d+(?:\.\d+)?)\s*(cm|mm)?\s+(?:above|superior to|from|proximal to)\b")
_WORD = re.compile(r"[a-z][a-z'/-]*|\d+(?:\.\d+)?")
#: Heights above the carina that are in order, in centimetres (tip of an endotracheal tube).
_PROPER = (2.0, 7.0)
#: What may follow "bilateral" without taking a side.
_GREATER = re.compile(r"\b(left|right) (?:greater|more|larger) than (?:the )?(left|right)\b")


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    value: str


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with its full stop, white space collapsed."""
    flat = " ".join(text.split())
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z0-9_(\[{\"'])", flat)
    return [part.strip() for part in parts if part.strip()]


def read(text: str) -> tuple[Claim, ...]:
    """Return the claims of a sentence, or of several."""
    claims: list[Claim] = []
    for sentence in split_sentences(text):
        for clause in _clauses(normalise(sentence)):
            claims += _read_clause(clause)
    return tuple(_merged(claims))


def statements(sentences: Iterable[str]) -> tuple[Statement, ...]:
    """Return sentences with their claims."""
    return tuple(Statement(sentence, read(sentence)) for sentence in sentences)


def normalise(text: str) -> str:
    """Return a text in lower case with abbreviations written out and white space collapsed."""
    lower = " ".join(text.lower().replace("\u2013", "-").replace("_", " ").split())
    for short, long in _lexicon()["abbreviations"].items():
        lower = re.sub(rf"(?<![\w/]){re.escape(short)}(?![\w/])", long, lower)
    return lower


def residue(text: str, known: frozenset[str] = frozenset()) -> tuple[bool, int]:
    """Return whether a text speaks to somebody who grades it, and how many words are foreign.

    A text that leaves open which of two things it says counts as speaking to a grader: a report
    commits itself, or says what cannot be told.

    Args:
        text: The text.
        known: Further words that are in order, such as those of the draft.
    """
    lower = normalise(text)
    aimed = bool(_forbidden().search(lower)) or bool(re.search(r"[{}<>\[\]#|`=]", text))
    aimed = aimed or bool(_alternatives().search(lower))
    hedges = _list("hedges").findall(lower)
    aimed = aimed or any(not known.issuperset(hedge.split()) for hedge in hedges)
    words = set(_WORD.findall(lower))
    return aimed, len([w for w in words if w not in _vocabulary() and w not in known])


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, as :func:`residue` counts them."""
    return frozenset(_WORD.findall(normalise(text)))


# -- vocabulary ------------------------------------------------------------------------------


def _lexicon() -> JsonObject:
    return load("lexicon.json")


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(phrases, key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w-])")


@cache
def _table(name: str, entity: str = "") -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the pattern of a table of phrases, and the value that each phrase stands for."""
    table = _lexicon()[name][entity] if entity else _lexicon()[name]
    values = {phrase: value for value, phrases in table.items() for phrase in phrases}
    return _pattern(values), values


@cache
def _list(name: str) -> re.Pattern[str]:
    return _pattern(_lexicon()[name])


@cache
def _forbidden() -> re.Pattern[str]:
    return _list("forbidden")


@cache
def _alternatives() -> re.Pattern[str]:
    """Return what matches two severities, sides, changes or numbers joined by "or"."""
    options = []
    for name in ("severities", "sides", "changes", "counts"):
        phrases = (phrase for phrases in _lexicon()[name].values() for phrase in phrases)
        either = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
        options.append(rf"(?:{either})(?:,| and/)? or (?:{either})")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(options)})(?![\w-])")


@cache
def _vocabulary() -> frozenset[str]:
    found: set[str] = set()
    _collect(_lexicon(), found)
    _collect(load("phrases.json"), found)
    return frozenset(found) - words_of_list(_lexicon()["forbidden"])


def words_of_list(phrases: Sequence[str]) -> frozenset[str]:
    """Return single words among phrases."""
    return frozenset(phrase for phrase in phrases if " " not in phrase)


def _collect(value: object, found: set[str]) -> None:
    if isinstance(value, str):
        found.update(_WORD.findall(re.sub(r"\{\w+\}|\(\w+\)", " ", value.lower())))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key != "forbidden":
                _collect(item, found)
    elif isinstance(value, list):
        for item in value:
            _collect(item, found)


# -- clauses ---------------------------------------------------------------------------------


def _clauses(sentence: str) -> list[str]:
    pieces = [piece for part in _BREAK.split(sentence) for piece in _CLAUSE.split(part or "")]
    return [piece.strip() for piece in pieces if piece.strip()]


def _hits(name: str, text: str, entity: str = "") -> list[_Hit]:
    pattern, values = _table(name, entity)
    return [_Hit(m.start(), m.end(), values[m[0]]) for m in pattern.finditer(text)]


def _read_clause(clause: str) -> list[Claim]:
    mentions = _mentions(clause)
    if not mentions:
        return []
    ends = [mention.start for mention in mentions[1:]] + [len(clause)]
    claims = []
    cuts = [0, *(_cut(clause, a, b) for a, b in itertools.pairwise(mentions))]
    cuts.append(len(clause))
    negations = [m.start() for m in _list("negative").finditer(clause)]
    for number, mention in enumerate(mentions):
        scope = clause[cuts[number] : cuts[number + 1]]
        negated = _negated(clause, mention, negations, ends[number], cuts[number])
        claims.append(_claim(mention, scope, clause, negated))
    return claims


def _mentions(clause: str) -> list[_Hit]:
    """Return the entities of a clause; a device takes the clause's words for places with it."""
    hits = _hits("entities", clause)
    named = {hit.value for hit in hits}
    if len(named) > 1:
        # "Similar to the prior study" compares something; it is not about priors.
        hits = [hit for hit in hits if hit.value != "comparison"]
    if "nodule" in named:
        hits = [hit for hit in hits if hit.value != "opacity"]
    kept: list[_Hit] = []
    for hit in hits:
        if kept and kept[-1].value == hit.value and hit.value in _ONCE:
            continue
        kept.append(hit)
    return kept


_ONCE = frozenset({"heart", "volumes", "diaphragm", "comparison", "fracture", "nodule"})


def _cut(clause: str, first: _Hit, second: _Hit) -> int:
    """Return where the words of one entity end and those of the next begin."""
    joints = list(_JOINT.finditer(clause, first.end, second.start))
    return joints[-1].start() if joints else first.end


def _negated(clause: str, mention: _Hit, negations: Sequence[int], end: int, cut: int) -> bool:
    after = clause[mention.end : end]
    if _list("after").search(after):
        return True
    before = [place for place in negations if place < mention.start]
    if not before:
        return False
    between = clause[before[-1] : mention.start]
    # A new positive statement ends the reach of a negation: "no effusion and there is a ...".
    if re.search(r"\bthere (?:is|are) (?:a|an|now)\b|, (?:a|an) |\band (?:a|an) ", between):
        return False
    return not _unchanged_only(clause, before[-1])


def _unchanged_only(clause: str, place: int) -> bool:
    """Return whether a negation belongs to a comparison ("not significantly changed")."""
    text = clause[place:]
    return any(text.startswith(p) for p in _lexicon()["changes"]["unchanged"]) or text.startswith(
        ("not enlarged", "not intact", "no longer enlarged")
    )


def _values(name: str, scope: str) -> list[str]:
    return [hit.value for hit in _hits(name, scope)]


def _claim(mention: _Hit, scope: str, clause: str, negated: bool) -> Claim:
    name = mention.value
    entity = entities()[name]
    if name == "comparison":
        return Claim(name, present=not negated and not clause[mention.start :].startswith("no "))
    if name == "heart":
        return _heart(scope, negated)
    if name == "volumes":
        return _volumes(scope, negated)
    if name == "fracture" and re.search(r"\bintact\b", scope):
        return Claim(name, present=bool(re.search(r"\bnot intact\b", scope)))
    change = next(iter(_values("changes", scope)), "") if entity.change else ""
    if negated:
        return Claim(name, present=False)
    rest = scope
    place = ""
    if name in _lexicon()["places"]:
        place, rest = _place(name, scope)
    elif entity.zones:
        place = next(iter(dict.fromkeys(_values("zones", scope))), "")
    if name == "diaphragm" and not re.search(r"elevat|raised|high", scope):
        return Claim(name, present=False if re.search(r"normal|not", scope) else None)
    claim = Claim(name, place=place, change=change)
    if entity.sides:
        claim = replace(claim, side=_side(rest))
    if entity.severities:
        claim = replace(claim, severity=next(iter(_values("severities", _still(scope))), ""))
    if entity.counts:
        claim = replace(claim, count=_count(name, rest))
    return claim


def _still(scope: str) -> str:
    """Return a text without its comparisons, whose words also grade ("significantly changed")."""
    return _table("changes")[0].sub(" ", scope)


def _side(scope: str) -> str:
    greater = _GREATER.search(scope)
    found = set(_values("sides", scope))
    if greater or "bilateral" in found or len(found) > 1:
        return "bilateral"
    return next(iter(found), "")


def _count(name: str, scope: str) -> int:
    nouns = "|".join(_lexicon()["counted"][name])
    numbers = {p: v for v, phrases in _lexicon()["counts"].items() for p in phrases}
    words = "|".join(sorted(map(re.escape, numbers), key=len, reverse=True))
    match = re.search(rf"\b({words})\b(?:[- ](?!and\b)[\w-]+){{0,6}}?[- ](?:{nouns})\b", scope)
    if match:
        return int(numbers[match[1]])
    noun = re.search(rf"\b(?:{nouns})\b", scope)
    # "A nodule", "the chest tube": one; a plural says no number.
    return 1 if noun and not noun[0].endswith("s") and noun[0] != "nodular opacities" else 0


def _place(name: str, scope: str) -> tuple[str, str]:
    hits = _hits("places", scope, name)
    rest = _table("places", name)[0].sub(" ", scope)
    if name == "endotracheal_tube" and not hits:
        match = _HEIGHT.search(scope)
        if match:
            height = float(match[1]) / (10.0 if match[2] == "mm" else 1.0)
            low, high = _PROPER
            return ("low" if height < low else "high" if height > high else "appropriate"), rest
    return (hits[0].value if hits else ""), rest


def _heart(scope: str, negated: bool) -> Claim:
    still = _still(scope)
    change = next(iter(_values("changes", scope)), "")
    normal = bool(_list("normal").search(still))
    enlarged = bool(_list("enlarged").search(re.sub(r"not enlarged", "", still)))
    if normal or (negated and enlarged):
        return Claim("heart", present=False, change=change)
    if enlarged:
        severity = next(iter(_values("severities", still)), "")
        return Claim("heart", severity=severity, change=change)
    return Claim("heart", present=None, change=change)


def _volumes(scope: str, negated: bool) -> Claim:
    found = [hit.value for hit in _hits("volumes", scope)]
    if "" in found or (negated and found):
        return Claim("volumes", present=False)
    return Claim("volumes", place=found[0]) if found else Claim("volumes", present=None)


def _merged(claims: Sequence[Claim]) -> list[Claim]:
    """Join statements about one entity that add to each other; keep those that do not agree."""
    merged: list[Claim] = []
    for claim in claims:
        for place, known in enumerate(merged):
            joined = _join(known, claim)
            if joined is not None:
                merged[place] = joined
                break
        else:
            merged.append(claim)
    return merged


def _join(one: Claim, two: Claim) -> Claim | None:
    if one.entity != two.entity:
        return None
    values: JsonDict = {}
    for name, empty in (
        ("present", None), ("side", ""), ("place", ""), ("severity", ""), ("count", 0),
        ("change", ""),
    ):  # fmt: skip
        a, b = getattr(one, name), getattr(two, name)
        if a != empty and b != empty and a != b:
            return None
        values[name] = b if a == empty else a
    return Claim(one.entity, **values)
