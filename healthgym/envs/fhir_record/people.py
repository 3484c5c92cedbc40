"""The patients of a folder of real charts: what is dated when, and who may be asked about."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from pathlib import Path

from healthgym.core.borders import JsonDict
from healthgym.core.seeding import Split, stable_hash
from healthgym.envs.fhir_record.asof import AsOfBase
from healthgym.envs.fhir_record.kinds.lookups import birth_date
from healthgym.envs.fhir_record.view import parse_time
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.bundles import load_bundles
from healthgym.worlds.fhir.documents import DocumentBase

#: Elements that say when something took place, by type of resource, the first that is there wins.
_DATES = (
    "effectiveDateTime",
    "effectivePeriod",
    "performedDateTime",
    "performedPeriod",
    "occurrenceDateTime",
    "authoredOn",
    "onsetDateTime",
    "recordedDate",
    "period",
    "billablePeriod",
    "started",
    "date",
    "created",
    "issued",
)
#: Parts into which patients are divided: each is held out by one of as many folds.
FOLDS = 5
_OWNERS = ("subject", "patient", "beneficiary")

#: The types that task types ask about.
CLINICAL = (
    "Patient",
    "Observation",
    "Condition",
    "MedicationRequest",
    "Procedure",
    "ServiceRequest",
    "Immunization",
)


@dataclass(frozen=True, slots=True)
class DatedRow:
    """A resource of a patient.

    Attributes:
        when: When it took place, UTC.
        resource_type: Its type.
        row: Its row in the base.
        resource_id: Its id.
    """

    when: datetime
    resource_type: str
    row: int
    resource_id: str


@dataclass(frozen=True)
class Person:
    """A patient of a folder.

    Attributes:
        id: Id of the Patient.
        resource: The Patient.
        rows: All dated rows about the patient, oldest first.
        chart: The patient's own clinical resources, as a base of their own.
    """

    id: str
    resource: JsonDict
    rows: tuple[DatedRow, ...]
    chart: DocumentBase

    @cached_property
    def fifth(self) -> int:
        """Which of five parts the patient belongs to, by the id alone."""
        return stable_hash(f"healthgym/bundles/{self.id}") % FOLDS

    def split(self, fold: int = 0) -> Split:
        """Return the patient's split: 60, 20 and 20 percent; each part is one fold's test."""
        place = (self.fifth + fold) % FOLDS
        return Split.TRAIN if place < 3 else Split.VALIDATION if place == 3 else Split.TEST

    def measured(self, code: str) -> list[float]:
        """Return the values of the patient's Observations under a code."""
        found = []
        for row in range(self.chart.size("Observation")):
            resource = self.chart.resource("Observation", row)
            codings = (resource.get("code") or {}).get("coding") or []
            value = (resource.get("valueQuantity") or {}).get("value")
            if isinstance(value, int | float) and any(c.get("code") == code for c in codings):
                found.append(float(value))
        return found

    @cached_property
    def name(self) -> tuple[str, str] | None:
        """Family and first given name in use; None if the chart does not give both."""
        names = [n for n in self.resource.get("name") or [] if isinstance(n, dict)]
        names.sort(key=lambda n: n.get("use") not in ("official", "usual"))
        for name in names:
            givens = name.get("given") or []
            if name.get("family") and givens and givens[0]:
                return str(name["family"]), str(givens[0])
        return None

    @cached_property
    def birth_date(self) -> date | None:
        """The birth date; None if it is missing or partial."""
        return birth_date(self.resource)

    @cached_property
    def alive(self) -> bool:
        """Whether the chart does not say that the patient has died."""
        return not any(
            self.resource.get(key) not in (None, False)
            for key in ("deceasedDateTime", "deceasedBoolean")
        )

    def hidden_at(self, now: datetime) -> dict[str, list[int]]:
        """Return the rows that lie after a moment, by type."""
        first = bisect_right(self.rows, now, key=lambda row: row.when)
        hidden: dict[str, list[int]] = {}
        for row in self.rows[first:]:
            hidden.setdefault(row.resource_type, []).append(row.row)
        return hidden

    def chart_at(self, base: Base, now: datetime) -> Base:
        """Return the whole chart as it stood for this patient at a moment."""
        hidden = self.hidden_at(now)
        return AsOfBase(base, hidden) if hidden else base


@dataclass(frozen=True)
class Folder:
    """A folder of FHIR files, read once.

    Attributes:
        base: Everything in it.
        people: Its patients, by id.
    """

    base: DocumentBase
    people: tuple[Person, ...]


def read_folder(folder: Path | str) -> Folder:
    """Return the patients of a folder; it is read again only if a file in it changed.

    Raises:
        MissingDataError: If there is no such folder, or nothing in it.
        DamagedDataError: If a file cannot be read as FHIR.
    """
    root = Path(folder).resolve()
    marks: tuple[tuple[str, int, int], ...] = ()
    if root.is_dir():
        stats = ((path.name, path.stat()) for path in sorted(root.iterdir()))
        marks = tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
    return _read(root, marks)


@lru_cache(maxsize=2)
def _read(root: Path, marks: tuple[tuple[str, int, int], ...]) -> Folder:
    base = load_bundles(root)
    return Folder(base, tuple(_people(base)))


def _people(base: DocumentBase) -> Iterator[Person]:
    rows: dict[str, list[DatedRow]] = {}
    own: dict[str, list[JsonDict]] = {}
    for kind in base.resource_types():
        for row in range(base.size(kind)):
            resource = base.resource(kind, row)
            owner = resource["id"] if kind == "Patient" else _owner(resource)
            if owner is None:
                continue
            if kind in CLINICAL:
                own.setdefault(owner, []).append(resource)
            when = None if kind == "Patient" else dated(resource)
            if when is not None:
                rows.setdefault(owner, []).append(DatedRow(when, kind, row, str(resource["id"])))
    for row in range(base.size("Patient")):
        resource = base.resource("Patient", row)
        key = resource["id"]
        dated_rows = sorted(rows.get(key, ()), key=lambda r: (r.when, r.resource_type, r.row))
        yield Person(key, resource, tuple(dated_rows), DocumentBase(own[key]))


def _owner(resource: JsonDict) -> str | None:
    """Return the id of the patient a resource is about."""
    for element in _OWNERS:
        reference = resource.get(element)
        text = reference.get("reference") if isinstance(reference, dict) else None
        if isinstance(text, str):
            kind, _, key = text.rpartition("/")
            if kind == "Patient" or kind.endswith("/Patient"):
                return key
    return None


def dated(resource: JsonDict) -> datetime | None:
    """Return when something took place, UTC; a period counts from its beginning."""
    for element in _DATES:
        value = resource.get(element)
        if isinstance(value, dict):
            value = value.get("start") or value.get("end")
        moment = parse_time(value) if isinstance(value, str) else None
        if moment is not None:
            return moment.astimezone(UTC)
    return None
