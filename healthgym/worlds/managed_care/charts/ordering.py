"""The visit from which an order comes: who saw the patient, why, and in which note it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from healthgym.core.records import replace
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.visits import Visit
from healthgym.worlds.managed_care.facts import Diagnosis
from healthgym.worlds.managed_care.staff import Worker
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """A visit of the clinician who orders something.

    Attributes:
        at: When the patient was seen, in UTC.
        clinician: By whom.
        kind: Kind of the note.
        code: ICD-10-CM code that the order gives.
        name: Its title.
        listed: The condition, where it is established; None where it is still to be confirmed.
        service: What is ordered.
        encounter: Type of the visit.
    """

    at: datetime
    clinician: Worker
    kind: DocumentKind
    code: str
    name: str
    listed: Diagnosis | None
    service: str
    encounter: str = "office"

    @property
    def day(self) -> date:
        """The day of the visit."""
        return self.at.date()

    def planned(self, place: int) -> Planned:
        """Return the note, of the visit in a place."""
        facts = () if self.listed is None else (self.listed,)
        return Planned(self.kind, self.day, self.day, place, facts)


def with_visit(
    ordering: Ordering, visits: Sequence[Visit], planned: Sequence[Planned]
) -> tuple[int, tuple[Visit, ...], tuple[Planned, ...]]:
    """Put the visit among the others.

    Args:
        ordering: The visit.
        visits: The others, oldest first.
        planned: Their documents.

    Returns:
        The place of the visit, all visits, and the documents of the others with their new places.
    """
    place = sum(visit.day <= ordering.day for visit in visits)
    moved = tuple(
        replace(note, place=note.place + 1)
        if note.place is not None and note.place >= place
        else note
        for note in planned
    )
    own = Visit(ordering.day, ordering.day, ())
    return place, (*visits[:place], own, *visits[place:]), moved
