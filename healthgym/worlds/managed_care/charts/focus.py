"""What a visit is about: the problem of most of its facts, and what it is called."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from healthgym.worlds.managed_care.charts.knowledge import Topic, short_names, topics, topics_of
from healthgym.worlds.managed_care.charts.prose import lower_first
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Measurement

_PLAIN = ("a yearly check", "preventive care", "a general check-up", "a wellness visit")
#: Taken at every visit, whatever it is about.
_VITAL_ONLY = frozenset({"8480-6", "8462-4", "29463-7", "39156-5", "8302-2", "8867-4"})


def focus_of(
    active: Iterable[Diagnosis],
    facts: tuple[AnyFact, ...],
    topic: Topic | None,
    day: date,
    number: int,
    *,
    noted: bool,
) -> tuple[str, str]:
    """Return what a visit is about, and its code: the problem of most of its facts.

    Args:
        active: The conditions that the patient has.
        facts: What the visit is known by.
        topic: Their topic.
        day: Its day.
        number: What was drawn for the words.
        noted: Whether a document tells the facts.
    """
    named = [
        fact
        for fact in facts
        if isinstance(fact, Diagnosis) and fact.active and (noted or fact.noted_in)
    ]
    if not named:
        named = [fact for fact in active if fact.onset <= day]
    if topic is not None:
        named.sort(key=lambda fact: topic not in topics_of(fact))
    if named:
        return called(named[0].code, named[0].display, number), named[0].code
    return _PLAIN[number % len(_PLAIN)], ""


def called(code: str, title: str, number: int) -> str:
    """Return what a condition is called, as a number that was drawn has it."""
    names = (*short_names(code), lower_first(title))
    return names[number % len(names)]


def topic_of(facts: Iterable[AnyFact]) -> Topic | None:
    """Return the topic of most facts, vital signs apart; the first in a tie."""
    counts: dict[str, int] = {}
    for fact in facts:
        if not isinstance(fact, Measurement) or fact.code not in _VITAL_ONLY:
            for topic in topics_of(fact):
                counts[topic.name] = counts.get(topic.name, 0) + 1
    most = max(counts.values(), default=0)
    return next((each for each in topics() if most and counts.get(each.name) == most), None)
