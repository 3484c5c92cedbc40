"""Documents as they lie in a chart: what is on them is written when somebody first reads it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.charts.reports import panel_of
from healthgym.worlds.managed_care.charts.sheets import Sheet
from healthgym.worlds.managed_care.charts.structured import encounter_id
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.records.chart import DocumentReference


class DeferredText(Deferred, DocumentReference):
    """A document whose text is written when somebody first reads it."""

    __slots__ = ("_write",)

    plain = DocumentReference
    late = ("content",)


@dataclass(frozen=True, slots=True)
class _Page:
    """What is on a document besides its kind and time, made of its sheet when it is read."""

    sheet: Sheet

    @property
    def case_id(self) -> None:
        return None

    @property
    def encounter_id(self) -> str | None:
        place = self.sheet.planned.place
        return None if place is None else encounter_id(self.sheet.binder.patient.id, place)

    @property
    def title(self) -> str:
        sheet = self.sheet
        panel = panel_of(sheet.planned.facts) if "{panel}" in sheet.titled else ""
        specialty = sheet.author.specialty
        return sheet.titled.format(focus=sheet.about[0], specialty=specialty, panel=panel)

    @property
    def content(self) -> str:
        return self.sheet.content()

    @property
    def note_type(self) -> str | None:
        return self.sheet.form.note_type

    @property
    def author_name(self) -> str:
        return self.sheet.author.name

    @property
    def author_npi(self) -> str:
        return self.sheet.author.npi or ""

    @property
    def signed_at(self) -> datetime:
        return self.sheet.signed

    signed_by_name, signed_by_npi = author_name, author_npi

    @property
    def structured_data(self) -> JsonObject:
        return {}


class DeferredDocument(Deferred, DocumentReference):
    """A document of which all but its kind and time is written when somebody first reads it."""

    __slots__ = ("_write",)

    plain = DocumentReference
    late = tuple(
        item.name
        for item in fields(DocumentReference)
        if item.name not in ("id", "patient_id", "kind", "created_at")
    )
    written = _Page
