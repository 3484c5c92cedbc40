"""The offices with many cases, of which each record belongs to one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from healthgym.core.state import state
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.merging import patients_of
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Characters that the notes of an episode hold.
_MOST_NOTES = 40_000
#: Longest id that is looked for, in characters.
_LONGEST_ID = 60


def ids_among(values: Iterable[object]) -> Iterator[str]:
    """Yield what may be an id among some values, or within one of them.

    An id has a hyphen, and is short: most of what is written is none.
    """
    for value in leaves(tuple(values)):
        if isinstance(value, str) and "-" in value and len(value) <= _LONGEST_ID:
            yield value


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStart(WorldStart):
    """The beginning of a world of many cases.

    Attributes:
        owners: The case to which everything about a patient belongs, by patient id: that of the
            patient, or the one around which the patient stands.
        letters: The same of messages, by message id.
    """

    owners: Mapping[str, str] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)


class QueueOffices(ManagedCareWorld):
    """The offices, with notes that whoever works there keeps.

    Args:
        start: What it begins with.

    Attributes:
        notes: What was noted, as one text.
        posted: Messages by which cases came to the desk, and the case of each.
    """

    derived = frozenset({"_known"})

    notes = state("")

    def __init__(self, start: QueueStart) -> None:
        super().__init__(start)
        self._owners, self.posted = start.owners, start.letters
        whose = patients_of(start.records).items()
        own = {case: start.owners[patient] for case, patient in whose if patient in start.owners}
        #: Cases by the ids of what belongs to them; ids never change hands.
        self._known = {**start.letters, **start.owners, **own}
        self._tables = tuple((app, name) for app in self.apps() for name in app.keeps.values())

    def forked(self) -> None:
        """Let a clone learn ids by itself: another thread may play it."""
        self._known = dict(self._known)
        self._tables = tuple((app, name) for app in self.apps() for name in app.keeps.values())

    def owner(self, name: str) -> str:
        """Return the case to which belongs what has an id; empty if it is none's.

        Args:
            name: Id of a patient, a case, or any record that names one of these.
        """
        known = self._known.get(name)
        if known is not None:
            return known
        for record in self._records(name):
            found = self.owner_of(record)
            if found:
                self._known[name] = found
                return found
        return ""

    def owner_of(self, record: object) -> str:
        """Return the case to which a record belongs; empty if it is none's."""
        patient: str | None = getattr(record, "patient_id", None)
        if patient:
            return self._owners.get(patient, "")
        case: str | None = getattr(record, "case_id", None)
        return self.owner(case) if case else ""

    def named(self, values: Iterable[object]) -> Iterator[str]:
        """Yield the cases of which an id stands among some values, or within one of them."""
        yield from filter(None, map(self.owner, ids_among(values)))

    def note(self, text: str) -> str:
        """Add a line to the notes; return all of them.

        Raises:
            Refusal: If they are full.
        """
        return self.rewrite(f"{self.notes}\n{text}" if self.notes else text)

    def rewrite(self, text: str) -> str:
        """Put something in the place of all notes; return it.

        Raises:
            Refusal: If that is more than they hold.
        """
        if len(text) > _MOST_NOTES:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"Notes hold {_MOST_NOTES} characters, and that makes {len(text)}; shorten them "
                "with notes.rewrite.",
            )
        self.notes = text
        return text

    def _records(self, name: str) -> Iterator[object]:
        for app, table in self._tables:
            record = getattr(app, table).get(name)
            if record is not None:
                yield record
        for found in (self.charts.document(name), self.charts.order(name)):
            if found is not None:
                yield found
