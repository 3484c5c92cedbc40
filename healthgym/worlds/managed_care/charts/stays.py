"""Days in a hospital or its emergency department: what a practice's own visits do not tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from importlib.resources import files

from healthgym.core.records import replace
from healthgym.worlds.managed_care.charts.knowledge import Form
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.prose import LASTING, begun
from healthgym.worlds.managed_care.charts.visits import Visit
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


class StayKind(StrEnum):
    """What somebody was in the hospital for, as the type of the encounter has it."""

    INPATIENT = "inpatient"
    EMERGENCY = "emergency"  #: seen and sent home
    DAY_SURGERY = "day_surgery"  #: planned, home the same day


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A stay in the hospital.

    Attributes:
        kind: What kind of stay.
        begun: The day on which it began.
        ended: The day of discharge; the first day but for an inpatient.
        code: ICD-10-CM code of what it was for.
        name: Its title.
        changed: Ids of facts that became true in it, such as a medicine begun at discharge.
    """

    kind: StayKind
    begun: date
    ended: date
    code: str
    name: str
    changed: frozenset[str] = frozenset()

    def planned(self, place: int, facts: Sequence[AnyFact]) -> Planned:
        """Return the note of the stay: what was known by its end, and what it changed.

        Args:
            place: Place of its encounter.
            facts: What is true of the patient.
        """
        told = [
            fact
            for fact in facts
            if fact.id in self.changed
            or (isinstance(fact, LASTING) and begun(fact) < self.begun and _lasts(fact, self.ended))
        ]
        return Planned(_KINDS[self.kind], self.ended, self.begun, place, tuple(told))


#: Kinds of the notes.
_KINDS = {
    StayKind.INPATIENT: DocumentKind.DISCHARGE_SUMMARY,
    StayKind.EMERGENCY: DocumentKind.CHART_NOTE,
    StayKind.DAY_SURGERY: DocumentKind.CHART_NOTE,
}


def _lasts(fact: AnyFact, day: date) -> bool:
    ended = getattr(fact, "ended", None)
    return getattr(fact, "active", True) and (ended is None or ended > day)


@cache
def stay_form(kind: StayKind) -> Form:
    """Return the form of the note of a stay."""
    row = json.loads((files(__package__) / "stays.json").read_text("utf-8"))[kind.value]
    return Form(
        tuple(row["titles"]),
        row["note_type"],
        "hospital",
        kind.value,
        tuple(map(tuple, row["layouts"])),
    )


def with_stays(
    stays: Sequence[Stay], visits: Sequence[Visit], planned: Sequence[Planned]
) -> tuple[dict[int, Stay], tuple[Visit, ...], tuple[Planned, ...]]:
    """Put stays among the visits.

    Args:
        stays: The stays, in any order.
        visits: The visits, oldest first.
        planned: Their documents.

    Returns:
        Each stay by its place, all visits, and the documents of the visits with their new places.
    """
    ordered = sorted(stays, key=lambda each: each.begun)
    moved = [
        place + sum(each.begun <= visit.day for each in ordered)
        for place, visit in enumerate(visits)
    ]
    own = {
        sum(visit.day < stay.begun for visit in visits) + before: stay
        for before, stay in enumerate(ordered)
    }
    every = dict(zip(moved, visits, strict=True))
    every |= {place: Visit(stay.begun, stay.begun, ()) for place, stay in own.items()}
    notes = tuple(
        note if note.place is None else replace(note, place=moved[note.place]) for note in planned
    )
    return own, tuple(every[place] for place in sorted(every)), notes
