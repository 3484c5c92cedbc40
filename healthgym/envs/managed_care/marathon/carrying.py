"""What of one case was written into another: ids and values that only the other one holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from healthgym.core.borders import JsonObject
from healthgym.core.verifier import Event
from healthgym.envs.managed_care.marathon.task import Piece
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.facts import Measurement
from healthgym.worlds.managed_care.queue import leaves

#: Values with so many digits are one patient's; smaller ones are many people's.
_DIGITS = 3
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9./-]*[A-Za-z0-9]")


def marks(piece: Piece) -> Iterator[str]:
    """Yield what tells whose case something is about: names and ids of people, and values."""
    chart = piece.instance.start.charts[piece.patient_id]
    patient, coverage = chart.patient, chart.coverage
    yield from (patient.id, piece.key, patient.dob.isoformat())
    yield f"{patient.first_name} {patient.last_name}"
    yield from (order.id for order in chart.orders)
    if coverage is not None:
        yield from filter(None, (coverage.member_number, coverage.group_number))
    yield from _values(chart)


def _values(chart: PatientChart) -> Iterator[str]:
    for fact in chart.facts:
        if isinstance(fact, Measurement):
            value = f"{fact.value:g}"
            if "." in value and sum(map(str.isdigit, value)) >= _DIGITS:
                yield value


def distinctive(pieces: Iterable[Piece]) -> Mapping[str, str]:
    """Return whose a mark is, of those that one case alone has."""
    found = {piece.key: set(marks(piece)) for piece in pieces}
    often = Counter(mark for own in found.values() for mark in own)
    return {mark: key for key, own in found.items() for mark in own if often[mark] == 1}


def carried(events: Iterable[Event], whose: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return what was written into one case and is another's: the case, the other, the mark.

    Args:
        events: The accepted calls that write.
        whose: Whose a mark is.
    """
    found = []
    for event in events:
        said = list(words(event.arguments))
        names = map(" ".join, pairwise(said))
        for mark in {*said, *names}:
            owner = whose.get(mark)
            if event.case and owner is not None and owner != event.case:
                found.append((event.case, owner, mark))
    return found


def words(arguments: JsonObject) -> Iterator[str]:
    """Yield the words and numbers of what a call says."""
    for value in leaves(arguments):
        if isinstance(value, str):
            yield from _TOKEN.findall(value)
        elif isinstance(value, float):
            yield f"{value:g}"
