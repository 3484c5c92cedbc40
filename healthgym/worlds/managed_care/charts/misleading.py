"""Pages of a chart that do not count: an error put right, a draft, somebody else's.

What is true of the patient stays as it is, and so does what the other pages state. Which page
counts is a rule of the handbook (``provider-pa/operational/evidence-standards.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import date, timedelta

import numpy as np

from healthgym.core.records import replace
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.filing import Desk
from healthgym.worlds.managed_care.charts.phrases import Ahead, seeded
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.prose import Prose, day_of
from healthgym.worlds.managed_care.charts.sheets import Sheet, also_stating
from healthgym.worlds.managed_care.charts.structured import document_key
from healthgym.worlds.managed_care.charts.unread import DeferredText
from healthgym.worlds.managed_care.deferred import varied
from healthgym.worlds.managed_care.facts import Finding, Measurement
from healthgym.worlds.managed_care.population.staff import Workforce
from healthgym.worlds.managed_care.records.chart import DocumentReference, Patient

#: A page is written after those of the visit of its day.
_AFTER, _EACH = timedelta(minutes=61), timedelta(minutes=5)
#: Facts that a page can state wrongly.
Stated = Measurement | Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """What pages are written with, whenever that is.

    Attributes:
        staff: Who writes.
        numbers: What authors and wording of each page are chosen by.
    """

    staff: Workforce
    numbers: tuple[np.ndarray, ...]

    @classmethod
    def drawn(cls, staff: Workforce, rng: np.random.Generator, pages: int = 1) -> Press:
        """Return what some pages are written with.

        Args:
            staff: Who writes.
            rng: Where authors and wording come from.
            pages: How many pages there are.
        """
        return cls(staff=staff, numbers=tuple(Ahead.drawn(rng) for _ in range(pages)))


@dataclass(eq=False)
class Correction(Sheet):
    """An addendum that puts an earlier note right.

    Attributes:
        right: What is true.
        wrong: What the earlier note states.
    """

    right: Stated
    wrong: Stated

    def content(self) -> str:
        """Return the whole text."""
        prose = Prose(seeded(self.seed), self.binder.units, self.template)
        draft = self._draft(prose)
        # Told as of the addendum's day, so that each statement bears its own.
        wrong, right = (_statement(prose, x, self.signed.date()) for x in (self.wrong, self.right))
        day = prose.day(day_of(self.wrong))
        when = f"{prose.day(self.signed.date())} {self.signed:%H:%M} UTC"
        name, npi = self.author.name, self.author.npi or ""
        return "\n".join(
            (
                *self._header(draft),
                prose.say("correction.heading"),
                prose.say("correction.error", day=day, what=wrong),
                prose.say("correction.right"),
                f"- {right}",
                "",
                prose.say("signed", author=name, npi=npi, when=when),
            )
        )

    @property
    def stated(self) -> frozenset[str]:
        """Id of the fact that it puts right."""
        return frozenset({self.right.id})


def misstate(
    chart: PatientChart, fact: Stated, wrong: Stated, corrected_on: date, press: Press
) -> tuple[PatientChart, str]:
    """Return a chart with a note that states a fact wrongly, and a later one that corrects it.

    Args:
        chart: The chart, opened.
        fact: What is true.
        wrong: What the first note says in its place, of the same day.
        corrected_on: Day of the correction.
        press: What the two pages are written with.

    Returns:
        The chart, and the id of the first note, which does not count. The correction states the
        fact in full.
    """
    first, void = _page(chart, chart.patient, wrong, day_of(wrong), press), _key(chart)
    chart = _filed(chart, first.document(void))
    key = _key(chart)
    second = _page(chart, chart.patient, fact, corrected_on, press, 1)
    known = {item.name: getattr(second.sheet, item.name) for item in fields(Sheet)}
    # Who made the error puts it right.
    known["author"] = first.sheet.author
    sheet = Correction(**known, right=fact, wrong=wrong)
    author = {
        name: getattr(first.written, name)
        for name in ("author_name", "author_npi", "signed_by_name", "signed_by_npi")
    }
    title = f"Addendum to: {first.written.title}"
    page = replace(second, sheet=sheet).document(key, title=title, **author)
    chart = _filed(chart, page)
    return varied(chart, shows=also_stating(chart.shows, key, sheet)), void


def draft(chart: PatientChart, claim: Stated, press: Press) -> tuple[PatientChart, str]:
    """Return a chart with a draft that nobody signed, and the draft's id.

    Args:
        chart: The chart, opened.
        claim: What the draft says; it need not be true.
        press: What pages are written with.
    """
    key = _key(chart)
    page = _page(chart, chart.patient, claim, day_of(claim), press)
    unsigned = page.document(
        key, write=page.unsigned, signed_at=None, signed_by_name=None, signed_by_npi=None
    )
    return _filed(chart, unsigned), key


def misfile(
    chart: PatientChart, whose: Patient, claim: Stated, press: Press
) -> tuple[PatientChart, str]:
    """Return a chart with a page of another patient, whose name its header bears, and its id.

    Args:
        chart: The chart, opened.
        whose: The other patient.
        claim: What the page says.
        press: What pages are written with.
    """
    key = _key(chart)
    return _filed(chart, _page(chart, whose, claim, day_of(claim), press).document(key)), key


@dataclass(frozen=True, slots=True)
class _Page:
    """A page as a desk wrote it, not filed yet."""

    written: DocumentReference
    sheet: Sheet
    patient_id: str

    def document(
        self, key: str, write: Callable[[], str] | None = None, **changes: object
    ) -> DocumentReference:
        """Return the page under an id of the chart; its text is written when it is read."""
        known: dict[str, object] = {
            item.name: getattr(self.written, item.name)
            for item in fields(DocumentReference)
            if item.name not in DeferredText.late
        }
        known |= {"id": key, "patient_id": self.patient_id, **changes}
        return DeferredText.later(write or self.sheet.content, **known)

    def unsigned(self) -> str:
        """Return the text as it stands before anybody has signed it."""
        prose = Prose(seeded(self.sheet.seed), self.sheet.binder.units, self.sheet.template)
        name, npi = self.sheet.author.name, self.sheet.author.npi or ""
        body, _, _ = self.sheet.content().rpartition("\n")
        return f"{body}\n{prose.say('unsigned', author=name, npi=npi)}"


def _page(
    chart: PatientChart, whose: Patient, fact: Stated, day: date, press: Press, place: int = 0
) -> _Page:
    """Return a page that states one fact, of the first kind in which it is noted."""
    kind = fact.noted_in[0]
    told = replace(fact, noted_in=(kind,))
    chooser = Ahead(press.numbers[place].tolist())
    desk = Desk(whose, (told,), (), press.staff, chooser, {})
    others = sum(page.created_at.date() == day for page in chart.documents)
    desk.write(Planned(kind, day, day, None, (told,)), after=_AFTER + _EACH * others)
    (written,) = desk.documents
    return _Page(written, desk.shows[written.id], chart.patient.id)


def _statement(prose: Prose, fact: Stated, on: date) -> str:
    if isinstance(fact, Measurement):
        return prose.measurement(fact, on)
    return prose.finding(fact, on)


def _filed(chart: PatientChart, page: DocumentReference) -> PatientChart:
    """Put a page into a chart, in the order of its days."""
    pages = sorted((*chart.documents, page), key=lambda one: (one.created_at, one.id))
    return varied(chart, documents=tuple(pages))


def _key(chart: PatientChart) -> str:
    """Return the next free id of a page."""
    numbers = (int(page.id.rpartition("-")[2]) for page in chart.documents)
    return f"{document_key(chart.patient.id)}{max(numbers, default=0) + 1:03d}"
