"""What of one case was written into another: ids, names and values that only the other one holds.

What two cases share tells nothing of either: a policy, a clinician, a medicine, a plan. So a mark
counts only where it is one case's alone, and stands nowhere in what there is of the case that it
was written into, nor in the handbook or on the roster.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import chain

from healthgym.core.borders import JsonObject
from healthgym.core.verifier import Event
from healthgym.envs.managed_care.marathon.task import Piece
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.facts import Measurement
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.queue import QueueOffices

#: Values with so many digits are one patient's; smaller ones are many people's.
_DIGITS = 3
#: A value is somebody's where it is said what was measured: in a word of so many letters, at least,
#: and at most so many words away.
_LETTERS, _NEAR = 3, 6
#: What of a medicine is given follows its number.
_DOSES = frozenset({"mg", "mcg", "g", "ml", "units", "mg/ml", "mg/kg", "tablets"})
_TOKEN = re.compile(r"[^\W_](?:[\w./-]*[^\W_])?")
_TITLES = ("mr", "mrs", "ms", "miss", "mx")
#: What the agent notes for itself is of no case.
_OWN_NOTES = "notes."


@dataclass(frozen=True, slots=True, order=True)
class Carried:
    """Something of one case that was written into another.

    Attributes:
        case: The case into which it was written.
        owner: The case that alone holds it.
        mark: What it is.
    """

    case: str
    owner: str
    mark: str


class Belongings:
    """What tells whose case something is about.

    Args:
        world: The offices.
        pieces: The cases, by name.
    """

    def __init__(self, world: QueueOffices, pieces: Mapping[str, Piece]) -> None:
        self._world, self._pieces = world, pieces
        self._owners: dict[str, str] = {}
        self._held: dict[str, frozenset[str]] = {}

    def carried(self, events: Iterable[Event]) -> tuple[Carried, ...]:
        """Return what was written into one case and is another's, each once for a call.

        Args:
            events: The accepted calls that write.
        """
        found: list[Carried] = []
        for event in events:
            if event.case and not event.tool.startswith(_OWN_NOTES):
                found += sorted(set(self._in(event.case, list(words(event.arguments)))))
        return tuple(found)

    def _in(self, case: str, said: list[str]) -> Iterator[Carried]:
        low = [word.casefold() for word in said]
        for place, (word, plain) in enumerate(zip(said, low, strict=True)):
            if "-" in word and (owner := self._owner(word)) not in ("", case):
                # A page of somebody else may be misfiled in the chart.
                yield from self._unknown(case, owner, word)
            if plain in self._begins:
                for more in low[place + 1 : place + 3]:
                    yield from self._of_another(case, f"{plain} {more}")
            if plain in self._marked:
                yield from self._of_another(case, plain)
            if word in self._values and self._values[word].told_at(low, place):
                yield from self._unknown(case, self._values[word].owner, word)

    def _of_another(self, case: str, mark: str) -> Iterator[Carried]:
        owner = self._marked.get(mark)
        if owner is not None and owner != case:
            title, _, name = mark.partition(" ")
            if (name if title in _TITLES else mark) not in self._known(case):
                yield Carried(case, owner, mark)

    def _unknown(self, case: str, owner: str, word: str) -> Iterator[Carried]:
        if owner == case or word in self._printed:
            return
        if word.casefold() not in self._known(case):
            yield Carried(case, owner, word)

    def _owner(self, name: str) -> str:
        """Return the case to which belongs what has an id."""
        if name not in self._owners:
            self._owners[name] = self._world.owner(name.upper())
        return self._owners[name]

    def _known(self, case: str) -> frozenset[str]:
        """Return the words of what a case began with; few are ever asked for."""
        if case not in self._held:
            self._held[case] = _words_of(self._pieces[case])
        return self._held[case]

    @cached_property
    def _begins(self) -> frozenset[str]:
        """The first words of marks of two."""
        return frozenset(mark.partition(" ")[0] for mark in self._marked if " " in mark)

    @cached_property
    def _marked(self) -> Mapping[str, str]:
        """Whose a mark is, of those that one case alone has, but for ids and values."""
        found = {key: set(_marks(piece)) for key, piece in self._pieces.items()}
        often = Counter(chain.from_iterable(found.values()))
        for worker in self._world.staff.workers.values():
            often.update(_pairs(_TOKEN.findall(worker.name.casefold())))
        return {mark: key for key, own in found.items() for mark in own if often[mark] == 1}

    @cached_property
    def _values(self) -> Mapping[str, _Value]:
        """What was measured, of values that one case alone has."""
        found: dict[str, list[_Value]] = defaultdict(list)
        for key, piece in self._pieces.items():
            for value, display, unit in set(_measured(_chart(piece))):
                found[value].append(_Value(key, display, unit))
        return {value: each[0] for value, each in found.items() if len({o.owner for o in each}) < 2}

    @cached_property
    def _printed(self) -> frozenset[str]:
        """The words and numbers of the handbook."""
        book = self._world.handbook
        texts = (book.read(path).text for path in book.paths())
        return frozenset(chain.from_iterable(map(_TOKEN.findall, texts)))


@dataclass(frozen=True, slots=True)
class _Value:
    """Whose a value is, what was measured, and in which unit."""

    owner: str
    display: str
    unit: str

    def told_at(self, said: list[str], place: int) -> bool:
        """Return whether a number among words, in lower case, is said of what was measured."""
        after = said[place + 1 : place + 2]
        if after and after[0] in _DOSES and after[0] not in self.unit.casefold():
            return False
        named = _TOKEN.findall(self.display.casefold())
        short = "".join(word[0] for word in named)
        wanted = [word for word in (*named, short) if len(word) >= _LETTERS]
        around = said[max(0, place - _NEAR) : place + _NEAR]
        return any(word in each for word in wanted for each in around)


def words(arguments: JsonObject) -> Iterator[str]:
    """Yield the words and numbers of what a call says."""
    for value in leaves(arguments):
        if isinstance(value, str):
            yield from _TOKEN.findall(value)
        elif isinstance(value, float):
            yield f"{value:g}"


def _pairs(said: list[str]) -> Iterator[str]:
    """Yield what two words say that stand beside each other, or around a third."""
    for near in (1, 2):
        yield from map(" ".join, zip(said, said[near:], strict=False))


def _chart(piece: Piece) -> PatientChart:
    return piece.instance.start.charts[piece.patient_id]


def _names(chart: PatientChart) -> tuple[str, str]:
    """Return the first word of the first name and the last of the last one, in lower case."""
    who = chart.patient
    first, last = _TOKEN.findall(who.first_name), _TOKEN.findall(who.last_name)
    return first[0].casefold(), last[-1].casefold()


def _marks(piece: Piece) -> Iterator[str]:
    """Yield what tells whom a case is about, in lower case: names, numbers and the birthday."""
    chart = _chart(piece)
    who, coverage = chart.patient, chart.coverage
    first, last = _names(chart)
    yield from (f"{first} {last}", f"{last} {first}")
    yield from (f"{title} {last}" for title in _TITLES)
    yield from map(str.casefold, (who.member_id, who.dob.isoformat()))
    if coverage is not None:
        numbers = coverage.member_number, coverage.group_number or ""
        yield from map(str.casefold, filter(None, numbers))


def _measured(chart: PatientChart) -> Iterator[tuple[str, str, str]]:
    """Yield values that hardly anybody else has, what was measured, and the unit."""
    for fact in chart.facts:
        if isinstance(fact, Measurement):
            value = f"{fact.value:g}"
            if "." in value and sum(map(str.isdigit, value)) >= _DIGITS:
                yield value, fact.display, fact.unit


def _words_of(piece: Piece) -> frozenset[str]:
    """Return the words of what a case began with, and what stands beside each other, in lower case.

    That is all that its charts, records and people can tell an honest reader.
    """
    start = piece.instance.start
    parts = (
        *start.charts.values(),
        *start.records,
        *start.contracts.values(),
        *start.voices.values(),
        start.provider_desk,
        piece.instance.reference,
        piece.instance.task.instruction,
    )
    found: set[str] = set()
    for value in leaves(parts):
        said = [word.casefold() for word in _TOKEN.findall(_written(value))]
        found.update(said, _pairs(said))
    return frozenset(found)


def _written(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:g}" if isinstance(value, float) else str(value)
