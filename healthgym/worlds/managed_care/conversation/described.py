"""A person in words: everything that was drawn of how somebody is to be talked with.

Two people with one description are one person to a caller; how many there are, and how alike, is
measured on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.conversation.surroundings import Capacity, Register, Surroundings
from healthgym.worlds.managed_care.voices import Topic

#: People who are compared with everybody else in one step.
_AT_ONCE: Final = 512
_SUBJECTS = tuple(topic for topic in Topic if topic not in (Topic.PHQ9, Topic.GAD7))


def described(persona: Persona) -> tuple[str, ...]:
    """Return what somebody is like on the phone, one thing a line; not who they are.

    Args:
        persona: The person.
    """
    return tuple(_character(persona)) + tuple(surroundings(persona.around)) + tuple(_told(persona))


def nearest(people: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
    """Return how like each is to whoever is most like them.

    Two are alike by the share of lines that both have among those that either has (Jaccard).

    Args:
        people: Descriptions, of :func:`described`.

    Returns:
        An array of shape (people,), from 0 to 1, where 1 means that two have one description.
    """
    lines = [frozenset(each) for each in people]
    counted = Counter(chain.from_iterable(lines))
    # What only one has counts in nobody's share but their own.
    place = {line: n for n, line in enumerate(line for line, n in counted.items() if n > 1)}
    has = np.zeros((len(lines), len(place)), dtype=np.float32)
    for row, each in enumerate(lines):
        has[row, [place[line] for line in each if line in place]] = 1
    sizes = np.array([len(each) for each in lines], dtype=np.float32)
    most = np.zeros(len(lines), dtype=np.float32)
    for first in range(0, len(lines), _AT_ONCE):
        block = slice(first, first + _AT_ONCE)
        both = has[block] @ has.T
        share = both / np.maximum(sizes[block, None] + sizes - both, 1)
        share[np.arange(len(share)), np.arange(first, first + len(share))] = 0
        most[block] = share.max(axis=1, initial=0)
    return most


def _character(persona: Persona) -> Iterator[str]:
    yield f"is {persona.kind} and {persona.willingness}"
    yield f"begins with trust {persona.trust} and strength for {persona.patience} messages"
    for concern in persona.concerns:
        yield f"worries about {concern}"
    for trigger in persona.triggers:
        yield f"waits for {' or '.join(trigger.acts)}"
    if persona.hint:
        yield f"hints: {persona.hint}"
    if persona.readiness is not None:
        yield f"is at {persona.readiness}"
    if persona.only:
        yield f"agrees only to {', '.join(sorted(persona.only))}"
    if persona.busy is not None:
        yield f"is {persona.busy.says} at first"
    if persona.breaks is not None:
        yield f"breaks off before {persona.breaks.before}: {persona.breaks.reason}"


def surroundings(around: Surroundings) -> Iterator[str]:
    """Yield what stands between a caller and somebody, one thing a line; nothing if nothing does.

    Args:
        around: What stands between.
    """
    manner, line = around.manner, around.line
    if manner.register is not Register.PLAIN or manner.hesitation:
        often = f"hesitating in {manner.hesitation:.0%} of answers"
        yield f"speaks in a {manner.register} tone, {often}"
    if manner.most_words:
        yield f"takes in {manner.most_words} words at a time"
    if manner.plain_words:
        yield "understands no word of the office"
    if manner.moods:
        yield f"is {', '.join(manner.moods)}, call by call"
    if line.never:
        yield "is never there"
    elif line.from_hour or line.to_hour < 24:
        yield f"is there from {line.from_hour} to {line.to_hour} o'clock"
    if line.wrong:
        yield "has a number on file that is a stranger's"
    if line.machine:
        yield "has a machine that picks up"
    if around.relative is not None:
        back = around.relative.back_from
        then = f"who says to call from {back} o'clock on" if back else "who calls them to the phone"
        yield f"has a {around.relative.relation} pick up first, {then}"
    if around.interpreter:
        yield f"speaks {around.interpreter} and no English"
    if around.translates:
        yield f"has a {around.translates} who offers to translate"
    if around.capacity is Capacity.NONE:
        yield "cannot decide"
    if around.proxy is not None:
        papers = "with papers on file" if around.proxy.on_file else "without papers"
        yield f"is looked after by a {around.proxy.relation} {papers}"
    if around.emergency is not None:
        kind, after = around.emergency.kind, around.emergency.after
        yield f"meets with {kind} once {after} things are told"
    if around.withdrawal is not None:
        yield f"takes the yes back: {around.withdrawal.says}"
    for name in around.takes_back:
        yield f"says at first that they take {name}"
    if around.denies:
        yield f"denies {around.denies}"


def _told(persona: Persona) -> Iterator[str]:
    for topic in _SUBJECTS:
        there = [each for each in persona.tells.get(topic, ()) if each.present]
        if there and topic is not Topic.MEDICATION:
            yield f"tells of {topic}"
    for name, missed in sorted(persona.adherence.items()):
        if missed:
            yield f"misses {missed} doses of {name}"
    for instrument in (Topic.PHQ9, Topic.GAD7):
        points = sum(each.score or 0 for each in persona.tells.get(instrument, ()))
        yield f"has {points} points in {instrument}"
