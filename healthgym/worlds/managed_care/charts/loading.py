"""Charts in a folder: one JSON file a patient, read whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType

from healthgym.core.borders import Json, JsonDict
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.charts.checking import faults_of
from healthgym.worlds.managed_care.charts.codec import (
    BadValueError,
    from_json,
    read_fact,
    to_json,
)
from healthgym.worlds.managed_care.charts.stated import states
from healthgym.worlds.managed_care.charts.structured import structured
from healthgym.worlds.managed_care.records.chart import (
    Allergy,
    Condition,
    Coverage,
    DocumentReference,
    Encounter,
    MedicationRequest,
    Observation,
    Patient,
    Procedure,
    ServiceRequest,
)

#: The lists of a chart's file, and what each holds.
_LISTS: Mapping[str, type] = MappingProxyType(
    {
        "coverages": Coverage,
        "encounters": Encounter,
        "conditions": Condition,
        "observations": Observation,
        "procedures": Procedure,
        "medications": MedicationRequest,
        "allergies": Allergy,
        "documents": DocumentReference,
        "orders": ServiceRequest,
    }
)
#: What follows from the facts, and must agree with them where a file has some.
_DERIVED = ("conditions", "observations", "procedures", "medications", "allergies")


def save_charts(charts: Iterable[PatientChart], folder: Path) -> None:
    """Write charts into a folder, one file a patient, named by the patient's id.

    Args:
        charts: The charts.
        folder: An existing folder.
    """
    for chart in charts:
        rows: JsonDict = {"patient": to_json(chart.patient)}
        rows |= {name: to_json(getattr(chart, name)) for name in _LISTS}
        rows["facts"] = to_json(chart.facts)
        rows["shows"] = to_json(chart.shows)
        text = json.dumps(rows, indent=1, ensure_ascii=False)
        (folder / f"{chart.patient.id}.json").write_text(text + "\n", "utf-8")


def load_charts(folder: Path, today: date) -> ChartLibrary:
    """Read every chart of a folder.

    Args:
        folder: Where the files are; each ``*.json`` is a patient's chart.
        today: The day up to which charts are kept; nothing may be dated later.

    Raises:
        MissingDataError: If there is no such folder, or no chart in it.
        DamagedDataError: If a file is no JSON or no chart, or contradicts itself or another; the
            message names the file and the line or key. Nothing is loaded then.
    """
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not paths:
        raise MissingDataError(f"{folder} holds no charts; each patient's is a JSON file.")
    charts: list[PatientChart] = []
    owners: dict[str, Path] = {}
    for path in paths:
        chart = _load(path, today)
        for key in (chart.patient.id, *_ids(chart)):
            if key in owners:
                raise DamagedDataError(f"{path}: the id {key} is in {owners[key].name}, too.")
            owners[key] = path
        charts.append(chart)
    return ChartLibrary(charts)


def _ids(chart: PatientChart) -> list[str]:
    return [record.id for name in _LISTS for record in getattr(chart, name)]


def _load(path: Path, today: date) -> PatientChart:
    try:
        rows = json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise DamagedDataError(f"{path}, line {error.lineno}: no JSON, {error.msg}.") from error
    except UnicodeDecodeError as error:
        raise DamagedDataError(f"{path} is not UTF-8 at byte {error.start}.") from error
    try:
        chart = _read(rows)
        _agree(chart, today)
    except BadValueError as error:
        raise DamagedDataError(f"{path}: {error}.") from error
    return chart


def _read(rows: Json) -> PatientChart:
    if not isinstance(rows, Mapping):
        raise BadValueError("top", "expected an object with the patient and lists of records")
    for key in rows:
        if key not in ("patient", "facts", "shows", *_LISTS):
            raise BadValueError(key, f"a chart has {', '.join(('patient', *_LISTS))}")
    if "patient" not in rows:
        raise BadValueError("top", "the field patient is missing")
    found: JsonDict = {"patient": from_json(Patient, rows["patient"], "patient")}
    for name, cls in _LISTS.items():
        found[name] = tuple(
            from_json(cls, row, f"{name}[{place}]") for place, row in enumerate(_list(rows, name))
        )
    found["facts"] = tuple(
        read_fact(row, f"facts[{place}]") for place, row in enumerate(_list(rows, "facts"))
    )
    shows = rows.get("shows", {})
    if not isinstance(shows, Mapping):
        raise BadValueError("shows", "expected an object of lists of fact ids by document id")
    found["shows"] = MappingProxyType(
        {key: frozenset(map(str, _list(shows, key, "shows."))) for key in shows}
    )
    return PatientChart(**found)


def _list(rows: Mapping[str, Json], name: str, prefix: str = "") -> list[Json]:
    value = rows.get(name, [])
    if not isinstance(value, list):
        raise BadValueError(prefix + name, "expected a list")
    return value


def _agree(chart: PatientChart, today: date) -> None:
    """Refuse a chart that contradicts itself."""
    patient = chart.patient
    if patient.dob > today:
        raise BadValueError("patient.dob", f"{patient.dob} is after today ({today})")
    seen: set[str] = set()
    for name in _LISTS:
        for place, record in enumerate(getattr(chart, name)):
            where = f"{name}[{place}]"
            if record.patient_id != patient.id:
                raise BadValueError(
                    f"{where}.patient_id", f"{record.patient_id} is not {patient.id}"
                )
            if record.id in seen:
                raise BadValueError(f"{where}.id", f"{record.id} is there twice")
            seen.add(record.id)
    _agree_on_dates(chart, today)
    _agree_on_facts(chart, today)
    _agree_on_shows(chart)


def _agree_on_dates(chart: PatientChart, today: date) -> None:
    for place, each in enumerate(chart.coverages):
        begin, end = each.effective_date, each.termination_date
        if begin is not None and end is not None and end < begin:
            problem = f"{end} is before the effective date {begin}"
            raise BadValueError(f"coverages[{place}].termination_date", problem)
    born = chart.patient.dob
    for place, one in enumerate(chart.encounters):
        if not born <= one.occurred_at.date() <= today:
            problem = f"{one.occurred_at.date()} is not between {born} and {today}"
            raise BadValueError(f"encounters[{place}].occurred_at", problem)
    known = {one.id for one in chart.encounters}
    for place, page in enumerate(chart.documents):
        if page.encounter_id is not None and page.encounter_id not in known:
            problem = f"there is no encounter {page.encounter_id}"
            raise BadValueError(f"documents[{place}].encounter_id", problem)
        if page.signed_at is not None and page.signed_at < page.created_at:
            problem = f"signed before it was written ({page.created_at})"
            raise BadValueError(f"documents[{place}].signed_at", problem)


def _agree_on_facts(chart: PatientChart, today: date) -> None:
    faults = faults_of(chart.patient, chart.facts, today)
    if faults:
        raise BadValueError("facts", faults[0])
    if not chart.facts:
        return
    records = structured(chart.patient, chart.facts)
    for name in _DERIVED:
        there, due = getattr(chart, name), getattr(records, name)
        if len(there) != len(due):
            raise BadValueError(name, f"{len(there)} records, and the facts make {len(due)}")
        for place, (one, other) in enumerate(zip(there, due, strict=True)):
            if one != other:
                raise BadValueError(f"{name}[{place}]", f"{one.id} is not what the facts say")


def _agree_on_shows(chart: PatientChart) -> None:
    facts = {fact.id: fact for fact in chart.facts}
    pages = {page.id: page for page in chart.documents}
    for key, shown in chart.shows.items():
        if key not in pages:
            raise BadValueError(f"shows.{key}", "there is no such document")
        for fact_id in sorted(shown):
            if fact_id not in facts:
                raise BadValueError(f"shows.{key}", f"there is no fact {fact_id}")
            if not states(pages[key].content, facts[fact_id]):
                raise BadValueError(f"shows.{key}", f"the document does not state {fact_id}")
