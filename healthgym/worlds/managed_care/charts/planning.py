"""Which documents a chart has, on what day, and which facts belong in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from healthgym.worlds.managed_care.charts.prose import LASTING, begun, day_of
from healthgym.worlds.managed_care.charts.visits import Visit, visit_for
from healthgym.worlds.managed_care.facts import AnyFact, Measurement
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Kinds that report the results of one day.
REPORTS = (
    DocumentKind.IMAGING_REPORT,
    DocumentKind.LAB_RESULT,
    DocumentKind.QUESTIONNAIRE_FORM,
)
#: Kinds of which a chart has one, written at the end, over everything.
SUMMARIES = (DocumentKind.LAB_SUMMARY, DocumentKind.LETTER_OF_MEDICAL_NECESSITY)


@dataclass(frozen=True, slots=True)
class Planned:
    """A document to be written.

    Attributes:
        kind: What kind of document.
        day: Day of the document.
        since: What became true from this day on is news in it.
        place: Place of its visit; None where it belongs to none.
        facts: What it tells.
    """

    kind: DocumentKind
    day: date
    since: date
    place: int | None
    facts: tuple[AnyFact, ...]


def plan(facts: Sequence[AnyFact], visits: Sequence[Visit], today: date) -> tuple[Planned, ...]:
    """Return the documents of a chart, oldest first.

    Each fact is told in full in at least one document of each kind in its ``noted_in``.

    Args:
        facts: What is true of the patient.
        visits: When the patient was seen.
        today: The day of the world.
    """
    by_kind: dict[DocumentKind, list[AnyFact]] = {}
    for fact in facts:
        for kind in fact.noted_in:
            by_kind.setdefault(kind, []).append(fact)
    found: list[Planned] = []
    for kind, told in by_kind.items():
        if kind in REPORTS:
            found += _reports(kind, told, visits)
        elif kind in SUMMARIES:
            found.append(_summary(kind, told, visits))
        else:
            found += _notes(kind, told, visits)
    return tuple(sorted(found, key=lambda each: (each.day, each.kind.value)))


def _reports(kind: DocumentKind, told: Iterable[AnyFact], visits: Sequence[Visit]) -> list[Planned]:
    groups: dict[tuple[date, str], list[AnyFact]] = {}
    for fact in told:
        form = _instrument(fact) if kind is DocumentKind.QUESTIONNAIRE_FORM else ""
        groups.setdefault((day_of(fact), form), []).append(fact)
    return [
        Planned(kind, day, day, _seen(visits, day), tuple(group))
        for (day, _), group in groups.items()
    ]


def _instrument(fact: AnyFact) -> str:
    """Return which instrument a fact is a score of; each has a form of its own."""
    return fact.code if isinstance(fact, Measurement) else ""


def _seen(visits: Sequence[Visit], day: date) -> int | None:
    """Return the place of the visit to which a day belongs, or None."""
    for place, visit in enumerate(visits):
        if visit.since <= day <= visit.day:
            return place
    return None


def _summary(kind: DocumentKind, told: Sequence[AnyFact], visits: Sequence[Visit]) -> Planned:
    last = max(map(day_of, told))
    place = visit_for(visits, last)
    day = last if place is None else max(last, visits[place].day)
    return Planned(kind, day, day, place, tuple(told))


def _notes(
    kind: DocumentKind, told: Sequence[AnyFact], visits: Sequence[Visit]
) -> Iterable[Planned]:
    if not visits:
        day = max(map(day_of, told))
        return [Planned(kind, day, min(map(day_of, told)), None, tuple(told))]
    first = visits[0].since
    events: dict[int, list[AnyFact]] = {}
    for fact in told:
        lasting = isinstance(fact, LASTING)
        for day in {begun(fact), day_of(fact)} if lasting else {day_of(fact)}:
            if lasting and day < first:
                continue
            group = events.setdefault(_at(visits, day), [])
            if not lasting:
                group.append(fact)
    if not events:
        events[_at(visits, max(map(day_of, told)))] = []
    lasting_facts = [fact for fact in told if isinstance(fact, LASTING)]
    places = sorted(events)
    return [
        _note(kind, visits, place, events[place], lasting_facts, before, place == places[-1])
        for place, before in zip(places, (None, *places), strict=False)
    ]


def _at(visits: Sequence[Visit], day: date) -> int:
    place = visit_for(visits, day)
    return 0 if place is None else place


def _note(
    kind: DocumentKind,
    visits: Sequence[Visit],
    place: int,
    events: Sequence[AnyFact],
    lasting: Sequence[AnyFact],
    before: int | None,
    last: bool,
) -> Planned:
    """Plan a note: its events, what goes on, and what ended since the note before.

    The last note of a kind tells everything that ever ended, as a history of treatment.
    """
    visit = visits[place]
    since = visits[before].day if before is not None else visits[0].since
    kept = [
        fact
        for fact in lasting
        if begun(fact) <= visit.day and (last or _open(fact, visit.day) or day_of(fact) > since)
    ]
    return Planned(kind, visit.day, visit.since, place, (*kept, *events))


def _open(fact: AnyFact, day: date) -> bool:
    ended = getattr(fact, "ended", None)
    return ended is None or ended > day
