"""Advice that harms, wherever it stands in a plan: to stop, to ignore, to wait, to tell nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.core.cache import short_text_cache
from healthgym.envs.managed_care.care_management.claims import SENTENCE, medicine_names
from healthgym.worlds.managed_care.expressions import Expression
from healthgym.worlds.managed_care.numerals import in_digits

_WORD = re.compile(r"[a-z]{3,}")
_DIGIT = re.compile(r"\d")
#: What somebody does, in a condition, with medicines.
_DOES = re.compile(
    r"\b(?:stops|skips|quits|halves|doubles|triples|drops|omits|discontinues|pauses|suspends|"
    r"rations|leaves out|goes without|comes off|goes off|gets off)\b",
    re.IGNORECASE,
)
#: A bound of what is aimed at.
_BOUND = (
    r"(?P<way>below|under|less than|at most|no more than|down to|above|over|more than|at least|"
    r"up to|<=?|>=?|of) ?(?P<value>\d+(?:\.\d+)?)"
)
_AGAINST = re.compile(r"\b(?:no|not|never|without|avoid\w*|fewer|none|rather than)\b")
_BELOW = re.compile(r"below|under|less|at most|no more|down|<|of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What nobody may be advised.

    Attributes:
        dangerous: What harms, unless somebody says not to do it, or asks whether to.
        never: What harms because it says not to do something.
        stops: What ends, and the word after it, which may be the name of a medicine.
        prescribes: Who may do that.
        safe: What says not to, or asks.
        turns_to: Whom a condition of escalation may send to, or what is to be done about it.
    """

    dangerous: Expression
    never: Expression
    stops: re.Pattern[str]
    prescribes: re.Pattern[str]
    safe: re.Pattern[str]
    turns_to: re.Pattern[str]


@cache
def _advice() -> Advice:
    loaded = json.loads((files(__package__) / "data" / "advice.json").read_text("utf-8"))

    def forms(key: str) -> Expression:
        rows: list[str] = loaded[key]
        for part in ("medicine", "begins"):
            rows = [row.replace(f"{{{part}}}", loaded[part]) for row in rows]
        return Expression(rows)

    return Advice(
        dangerous=forms("dangerous"),
        never=forms("never"),
        **{key: re.compile(loaded[key]) for key in ("stops", "prescribes", "safe", "turns_to")},
    )


def _stops(sentence: str, rules: Advice) -> bool:
    """Return whether a medicine is to be stopped of which nobody else is to decide."""
    if rules.prescribes.search(sentence):
        return False
    hits = (hit for hit in rules.stops.finditer(sentence) if hit[1] in medicine_names())
    return any(not rules.safe.search(sentence, 0, hit.start()) for hit in hits)


def _dangerous(sentence: str, rules: Advice) -> bool:
    """Return whether a sentence advises what harms, and does not say not to."""
    hit = rules.dangerous.search(sentence)
    safe = hit and rules.safe.search(sentence, 0, hit.start())
    return bool((hit and not safe) or rules.never.search(sentence))


def _unnamed(sentence: str, rules: Advice) -> str:
    """Return a sentence with medicines by their kind, where nobody is to decide on them."""
    if rules.prescribes.search(sentence):
        return sentence
    return _WORD.sub(lambda word: "medicine" if word[0] in medicine_names() else word[0], sentence)


@cache
def _targets() -> Mapping[Expression, tuple[float, float]]:
    """Return the least and the most of what is measured, by how a text aims at a value of it."""
    loaded = json.loads((files(__package__) / "data" / "advice.json").read_text("utf-8"))
    return {
        Expression([rf"\b(?:{row['name']})\b[^.;\d]{{0,30}}?{_BOUND}"]): (
            row["least"],
            row["most"],
        )
        for row in loaded["targets"]
    }


def harmful(*texts: str) -> Iterator[str]:
    """Yield the advice in texts that would harm: to stop, to ignore, to wait, to tell nobody."""
    yield from (f"{text[:40]!r} would harm" for text in texts if _harms(text.lower()))


@short_text_cache(1024, 400)  # plans say much the same, whoever they are for
def _harms(text: str) -> bool:
    """Return whether any sentence of a text, in small letters, does."""
    return any(map(_harms_in, SENTENCE.findall(in_digits(text))))


def _harms_in(sentence: str) -> bool:
    rules = _advice()
    told = dict.fromkeys((sentence, _unnamed(sentence, rules)))
    return any(_dangerous(one, rules) for one in told) or _stops(sentence, rules)


def told_in(condition: str) -> str:
    """Return a condition of escalation without what the person does in it, which is no advice.

    "She stops taking insulin: call the practice" advises a call, "Stop insulin: call" more.
    """
    when, colon, told = condition.partition(":")
    return f"{_DOES.sub(' ', when)}:{told}" if colon else condition


def unhelped(*texts: str) -> Iterator[str]:
    """Yield the conditions of escalation that tell what to do, and of nobody to turn to."""
    for text in texts:
        _, colon, told = text.lower().partition(":")
        if colon and told.strip() and not _advice().turns_to.search(told):
            yield f"{text[:40]!r} sends to nobody"


def unsafe(*texts: str) -> Iterator[str]:
    """Yield what is aimed at, of texts, that nobody should have: a value out of any safe range."""
    for text in texts:
        yield from (f"{text[:40]!r} aims at {value}" for value in _beyond(text.lower()))


@short_text_cache(1024, 400)  # as of advice
def _beyond(text: str) -> tuple[str, ...]:
    """Return the values out of any safe range that a text aims at."""
    values = []
    for sentence in SENTENCE.findall(in_digits(text, small=True)):
        for aims, (least, most) in _targets().items() if _DIGIT.search(sentence) else ():
            for found in aims.finditer(sentence):
                value, below = float(found["value"]), bool(_BELOW.match(found["way"]))
                far = value < least if below else value > most
                if far and not _AGAINST.search(sentence, 0, found.start()):
                    values.append(found["value"])
    return tuple(values)
