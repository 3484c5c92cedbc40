"""Typed reading of a record system, for the rules that turn a chart into an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from healthgym.core.borders import JsonDict
from healthgym.worlds.fhir.store import RecordStore

_EVERYTHING = "5000"
#: Most digits of an id that is a number; Python reads none of thousands.
_LONGEST_ID = 19

#: Factors to the first unit of each analyte, by concept and lower-case unit.
_UNITS = {
    "magnesium": {"mg/dl": 1.0, "mmol/l": 2.43, "meq/l": 1.215},
    "glucose": {"mg/dl": 1.0, "mmol/l": 18.016},
    "potassium": {"mmol/l": 1.0, "meq/l": 1.0},
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured value.

    Attributes:
        id: Id of the Observation.
        time: When the specimen was taken, UTC.
        stored_time: The same, as it is written in the chart.
        value: The number.
        unit: Its unit as stored.
    """

    id: str
    time: datetime
    stored_time: str
    value: float
    unit: str

    def in_unit_of(self, concept: str) -> float:
        """Return the value in the unit the concept is asked in; unknown units count as such."""
        factor = _UNITS.get(concept, {}).get(self.unit.strip().lower(), 1.0)
        return self.value if factor == 1.0 else round(self.value * factor, 2)


@dataclass(frozen=True, slots=True)
class Entry:
    """A dated record that is not a measurement.

    Attributes:
        id: Id of the resource.
        time: When it was performed, ordered or begun, UTC; None if the chart does not say.
        stored_time: The same, as written in the chart.
        text: Its display text.
        status: Its status, or empty.
    """

    id: str
    time: datetime | None
    stored_time: str
    text: str
    status: str = ""


def parse_time(value: str | None) -> datetime | None:
    """Return a FHIR dateTime as UTC; partial dates count from their beginning."""
    if not value:
        return None
    padded = value if len(value) > 7 else f"{value}-01-01"[:10]
    try:
        moment = datetime.fromisoformat(padded)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # the year 9999 of one zone is 10000 in another
        return None


def concept_text(concept: object) -> str:
    """Return the words of a CodeableConcept: its text, else its displays."""
    if not isinstance(concept, dict):
        return ""
    if concept.get("text"):
        return str(concept["text"])
    codings = concept.get("coding")
    codings = codings if isinstance(codings, list) else []
    displays = (c.get("display", "") for c in codings if isinstance(c, dict))
    return " ".join(str(display) for display in displays).strip()


class ChartView:
    """Read-only questions to a record store.

    Args:
        store: The store; only its search is used.
    """

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def search(self, resource_type: str, **params: str) -> list[JsonDict]:
        """Return all resources that match, in the store's order."""
        pairs = [(name.replace("__", "-"), value) for name, value in params.items() if value]
        found = self._store.search(resource_type, [*pairs, ("_count", _EVERYTHING)])
        resources = list(found.resources)
        while found.next:
            found = self._store.next_page(found.next)
            resources.extend(found.resources)
        return resources

    def readings(self, patient: str, code: str) -> list[Reading]:
        """Return the numeric Observations of a code, oldest first; ties in store order."""
        result = []
        for resource in self.search("Observation", patient=patient, code=code):
            time = parse_time(resource.get("effectiveDateTime"))
            quantity = resource.get("valueQuantity") or {}
            if time is None or "value" not in quantity:
                continue
            result.append(
                Reading(
                    resource["id"],
                    time,
                    resource["effectiveDateTime"],
                    float(quantity["value"]),
                    str(quantity.get("unit", "")),
                )
            )
        result.sort(key=lambda reading: reading.time)
        return result

    def procedures(self, patient: str, codes: Sequence[str]) -> list[Entry]:
        """Return the Procedures with any of the codes, oldest first; undated ones left out."""
        found = self.search("Procedure", patient=patient, code=",".join(codes))
        return _dated(Entry(r["id"], *_performed(r), concept_text(r.get("code"))) for r in found)

    def immunizations(self, patient: str, codes: str) -> list[Entry]:
        """Return the completed Immunizations with any of the codes, oldest first.

        Args:
            patient: Record number.
            codes: One code, or several with commas between them.
        """
        found = self.search(
            "Immunization", patient=patient, vaccine__code=codes, status="completed"
        )
        return _dated(
            Entry(
                r["id"],
                parse_time(r.get("occurrenceDateTime")),
                str(r.get("occurrenceDateTime") or ""),
                concept_text(r.get("vaccineCode")),
            )
            for r in found
        )

    def medication_orders(self, patient: str, *, status: str = "active") -> list[Entry]:
        """Return the MedicationRequests of a status, oldest first."""
        found = self.search("MedicationRequest", patient=patient, status=status)
        entries = [
            Entry(
                r["id"],
                parse_time(r.get("authoredOn")),
                str(r.get("authoredOn", "")),
                concept_text(r.get("medicationCodeableConcept")),
                str(r.get("status", "")),
            )
            for r in found
        ]
        epoch = datetime(1, 1, 1, tzinfo=UTC)
        return sorted(entries, key=lambda entry: (entry.time or epoch, int_or_zero(entry.id)))

    def service_requests(self, patient: str, code: str, *, status: str = "active") -> list[Entry]:
        """Return the ServiceRequests of a code and status, in store order."""
        found = self.search("ServiceRequest", patient=patient, code=code, status=status)
        return [
            Entry(
                r["id"],
                parse_time(r.get("authoredOn")),
                str(r.get("authoredOn", "")),
                concept_text(r.get("code")),
                str(r.get("status", "")),
            )
            for r in found
        ]

    def conditions(self, patient: str, code: str) -> list[Entry]:
        """Return the Conditions of a code, oldest first."""
        found = self.search("Condition", patient=patient, code=code)
        return _dated(
            Entry(
                r["id"],
                parse_time(r.get("onsetDateTime") or r.get("recordedDate")),
                str(r.get("onsetDateTime") or r.get("recordedDate") or ""),
                concept_text(r.get("code")),
            )
            for r in found
        )

    def patient(self, mrn: str) -> JsonDict | None:
        """Return the Patient with an id, or else with an identifier; None if there is none."""
        found = self.search("Patient", _id=mrn) or self.search("Patient", identifier=mrn)
        return found[0] if found else None

    def patients_named(self, family: str, given: str, birth_date: str) -> list[JsonDict]:
        """Return the Patients of a name and birth date."""
        return self.search("Patient", family=family, given=given, birthdate=birth_date)


def int_or_zero(text: str) -> int:
    """Return a numeric id as a number, for stable ordering; 0 if it is not numeric."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_ID else 0


def _performed(resource: JsonDict) -> tuple[datetime | None, str]:
    period = resource.get("performedPeriod") or {}
    stored = resource.get("performedDateTime") or period.get("end") or period.get("start") or ""
    return parse_time(stored), stored


def _dated(entries: Iterable[Entry]) -> list[Entry]:
    epoch = datetime(1, 1, 1, tzinfo=UTC)
    dated = [entry for entry in entries if entry.time is not None]
    return sorted(dated, key=lambda entry: entry.time or epoch)
