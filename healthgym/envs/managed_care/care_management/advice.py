"""Advice that harms, wherever it stands in a plan: to stop, to ignore, to wait, to tell nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.envs.managed_care.care_management.claims import SENTENCE, medicine_names


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

    dangerous: re.Pattern[str]
    never: re.Pattern[str]
    stops: re.Pattern[str]
    prescribes: re.Pattern[str]
    safe: re.Pattern[str]
    turns_to: re.Pattern[str]


@cache
def _advice() -> Advice:
    loaded = json.loads((files(__package__) / "data" / "advice.json").read_text("utf-8"))

    def forms(key: str) -> re.Pattern[str]:
        return re.compile("|".join(loaded[key]).replace("{medicine}", loaded["medicine"]))

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


def harmful(*texts: str) -> Iterator[str]:
    """Yield the advice in texts that would harm: to stop, to ignore, to wait, to tell nobody."""
    rules = _advice()
    for text in texts:
        for sentence in SENTENCE.findall(text.lower()):
            hit = rules.dangerous.search(sentence)
            safe = hit and rules.safe.search(sentence, 0, hit.start())
            if (hit and not safe) or rules.never.search(sentence) or _stops(sentence, rules):
                yield f"{text[:40]!r} would harm"
                break


def unhelped(*texts: str) -> Iterator[str]:
    """Yield the conditions of escalation that tell what to do, and of nobody to turn to."""
    for text in texts:
        _, colon, told = text.lower().partition(":")
        if colon and told.strip() and not _advice().turns_to.search(told):
            yield f"{text[:40]!r} sends to nobody"
