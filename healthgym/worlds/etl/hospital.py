"""A small hospital: raw tables in the columns of MIMIC-IV, with its gaps and oddities.

Values are drawn, not copied: item numbers, people and stays differ with every seed. Missing
values, times of two forms, numbers written as text and repeated rows are there on purpose, since
an event configuration has to say what becomes of them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

_DAY = 24 * 60
_START = datetime(2130, 1, 1)
_SPAN = 60 * 365 * _DAY


@cache
def _vocabulary() -> Mapping[str, Any]:
    text = files("healthgym.worlds.etl").joinpath("vocabulary.json").read_text()
    return dict(json.loads(text))


def table_paths() -> tuple[str, ...]:
    """Return the paths of the files that :func:`draw_hospital` makes."""
    return tuple(f"{table}.csv" for table in _vocabulary()["columns"])


def draw_hospital(
    rng: np.random.Generator, subjects: Sequence[int], *, busy: float = 1.0
) -> dict[str, bytes]:
    """Return the raw tables of a hospital as CSV, by path.

    Args:
        rng: Where the draws come from.
        subjects: The patients' ids.
        busy: How much happens to them; 1 is about a hundred rows a patient.
    """
    return _Hospital(rng, busy).tables(subjects)


class _Hospital:
    """Collects rows, table by table."""

    def __init__(self, rng: np.random.Generator, busy: float) -> None:
        self._rng = rng
        self._drawn: list[float] = []
        self._busy = busy
        self._words = _vocabulary()
        self._rows: dict[str, list[list[object]]] = {table: [] for table in self._words["columns"]}
        self._items = {
            kind: self._numbered(self._words[kind], first) for kind, first in _FIRST_ITEM.items()
        }
        self._next = self._within(20_000_000, 29_000_000)

    # -- drawing -------------------------------------------------------------------------------

    def _numbered(self, entries: Sequence[Any], first: int) -> list[tuple[int, Any]]:
        numbers = first + self._rng.permutation(9000)[: len(entries)]
        return [(int(number), entry) for number, entry in zip(numbers, entries, strict=True)]

    def _id(self) -> int:
        self._next += self._within(1, 900)
        return self._next

    def _uniform(self) -> float:
        """Return a number in [0, 1). Drawn thousands at a time: single draws cost most of a row."""
        if not self._drawn:
            self._drawn = self._rng.random(4096).tolist()
        return self._drawn.pop()

    def _one(self, values: Sequence[Any]) -> Any:
        return values[int(self._uniform() * len(values))]

    def _word(self, name: str, missing: float = 0.0) -> Any:
        return "" if self._uniform() < missing else self._one(self._words[name])

    def _count(self, mean: float) -> int:
        return int(self._rng.poisson(mean * self._busy))

    def _within(self, start: int, end: int) -> int:
        """Return an integer in [start, end), and start if there is none."""
        return start + int(self._uniform() * max(end - start, 1))

    def _between(self, low: float, high: float) -> float:
        return low + (high - low) * self._uniform()

    def _later(self, minute: int, most: int, missing: float = 0.03) -> str:
        return "" if self._uniform() < missing else _time(minute + self._within(1, most))

    def _add(self, table: str, *values: object) -> None:
        self._rows[table].append(list(values))

    # -- tables --------------------------------------------------------------------------------

    def tables(self, subjects: Sequence[int]) -> dict[str, bytes]:
        self._dictionaries()
        for place, subject in enumerate(subjects):
            # The first few have a little of everything, so that no table is ever empty.
            self._patient(subject, sure=place < 2)
        return {f"{table}.csv": self._csv(table, rows) for table, rows in self._rows.items()}

    def _csv(self, table: str, rows: list[list[object]]) -> bytes:
        order = self._rng.permutation(len(rows))
        repeated = order[: len(rows) // 60]  # some rows are there twice, as in real extracts
        sink = io.StringIO()
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(self._words["columns"][table])
        chosen = np.concatenate([order, repeated]) if table in _EVENTS else np.arange(len(rows))
        writer.writerows(rows[int(place)] for place in chosen)
        return sink.getvalue().encode()

    def _patient(self, subject: int, *, sure: bool) -> None:
        age = self._within(18, 90)
        start = self._within(0, _SPAN)
        year = (_START + timedelta(minutes=start)).year
        stays = 1 + sure + self._count(0.7)
        minute, deathtime = start, ""
        for number in range(stays):
            last = number == stays - 1
            minute, deathtime = self._stay(subject, minute, sure=sure, may_die=last and not sure)
            minute += self._within(5 * _DAY, 300 * _DAY)
        dod = deathtime[:10] or ("" if self._uniform() < 0.85 else _day(minute))
        gender = self._one(("F", "M"))
        self._add("hosp/patients", subject, gender, age, year, self._word("year_groups"), dod)
        for _ in range(sure + self._count(2)):
            name, values = self._one(self._words["omr"])
            self._add(
                "hosp/omr",
                subject,
                _day(start + self._within(0, 900 * _DAY)),
                1,
                name,
                self._one(values),
            )

    def _stay(self, subject: int, start: int, *, sure: bool, may_die: bool) -> tuple[int, str]:
        """Add a stay; return the minute it ended and the time of death, if it ended so."""
        stay, end = self._id(), start + self._within(_DAY, 12 * _DAY)
        died = may_die and self._uniform() < 0.1
        emergency = self._uniform() < 0.6 or sure
        deathtime = _time(end) if died else ""
        self._add(
            "hosp/admissions",
            subject,
            stay,
            _time(start),
            _time(end),
            deathtime,
            self._word("admission_types"),
            f"P{self._within(10, 99)}Q",
            self._word("admission_locations", 0.05),
            "DIED" if died else self._word("discharge_locations", 0.1),
            self._word("insurance", 0.05),
            self._word("languages", 0.05),
            self._word("marital", 0.1),
            self._word("races"),
            _time(start - 300) if emergency else "",
            _time(start - 20) if emergency else "",
            int(died),
        )
        who = (subject, stay)
        self._coded(who, start, sure)
        self._moves(who, start, end)
        self._laboratory(who, start, end, sure)
        self._drugs(who, start, end, sure)
        if sure or self._uniform() < 0.5:
            self._intensive(who, start, end, sure)
        return end, deathtime

    def _coded(self, who: tuple[int, int], start: int, sure: bool) -> None:
        for number in range(1 + self._count(3)):
            code, version, _ = self._one(self._words["diagnoses"])
            self._add("hosp/diagnoses_icd", *who, number + 1, code, version)
        for number in range(sure + self._count(0.6)):
            code, version, _ = self._one(self._words["icd_procedures"])
            day = _day(start + self._within(0, 3 * _DAY))
            self._add("hosp/procedures_icd", *who, number + 1, day, code, version)
        for kind in ("HCFA", "APR"):
            if sure or self._uniform() < 0.7:
                code, text = self._one(self._words["drgs"])
                graded = kind == "APR"
                grades = (self._within(1, 5), self._within(1, 5)) if graded else ("", "")
                self._add("hosp/drgcodes", *who, kind, code, text, *grades)
        if sure or self._uniform() < 0.3:
            code, _, short = self._one(self._words["hcpcs"])
            self._add("hosp/hcpcsevents", *who, _day(start), code, 1, short)

    def _moves(self, who: tuple[int, int], start: int, end: int) -> None:
        self._add("hosp/services", *who, _time(start), "", self._word("services"))
        if self._uniform() < 0.4:
            moved = _time(self._within(start, end))
            self._add("hosp/services", *who, moved, self._word("services"), self._word("services"))
        times = sorted(self._within(start, end) for _ in range(self._count(1)))
        for number, (minute, until) in enumerate(zip([start, *times], [*times, end], strict=True)):
            kind = "transfer" if number else "admit"
            unit = self._word("wards", 0.03)
            self._add("hosp/transfers", *who, self._id(), kind, unit, _time(minute), _time(until))
        self._add("hosp/transfers", *who, self._id(), "discharge", "", _time(end), "")

    def _laboratory(self, who: tuple[int, int], start: int, end: int, sure: bool) -> None:
        for number in range(4 + self._count(16)):
            item, (_, unit, low, high, *_rest) = self._one(self._items["labs"])
            minute = self._within(start, end)
            # Now and then a specimen is measured twice: two results of one item at one time.
            for _ in range(2 if number < sure or self._uniform() < 0.04 else 1):
                value, valuenum = self._reading(low, high)
                self._add(
                    "hosp/labevents",
                    self._id(),
                    *who,
                    self._id(),
                    item,
                    _time(minute),
                    self._later(minute, 400),
                    value,
                    valuenum,
                    unit,
                    "abnormal" if self._uniform() < 0.3 else "",
                    self._one(("STAT", "ROUTINE", "")),
                )
        for _ in range(sure + self._count(0.6)):
            minute = self._within(start, end)
            found = self._word("organisms", 0.5)
            self._add(
                "hosp/microbiologyevents",
                self._id(),
                *who,
                _day(minute),
                _time(minute),
                self._word("specimens"),
                self._word("cultures"),
                found,
                self._later(minute, 4000),
            )

    def _reading(self, low: float, high: float) -> tuple[str, str]:
        """Return value and number: most are the same, some are text, some have a sign."""
        drawn = self._uniform()
        value = f"{self._between(low, high):.{1 if high > 3 else 2}f}"
        if drawn < 0.04:
            return self._one(("NEG", "SEE COMMENT", "___")), ""
        if drawn < 0.10:
            return f"<{value}", value
        return value, value

    def _drugs(self, who: tuple[int, int], start: int, end: int, sure: bool) -> None:
        for _ in range(1 + sure + self._count(3)):
            drug, route, often, per_day = self._one(self._words["drugs"])
            order, pharmacy = f"{who[0]}-{self._within(1, 999)}", self._id()
            begin = self._within(start, end)
            until = self._within(begin, end)
            day_only = self._uniform() < 0.15
            stop = "" if self._uniform() < 0.1 else _day(until) if day_only else _time(until)
            self._add(
                "hosp/pharmacy",
                *who,
                pharmacy,
                order,
                _time(begin),
                stop,
                drug,
                "Unit Dose",
                self._one(("Discontinued", "Expired")),
                _time(begin - 45),
                self._later(begin - 45, 40),
                route,
                often,
                per_day,
            )
            for number in range(1 + self._count(1)):
                given = self._within(begin, until + 60)
                self._add(
                    "hosp/emar",
                    *who,
                    f"{order}-{number}",
                    number,
                    order,
                    pharmacy,
                    _time(given),
                    drug,
                    self._word("emar_events", 0.1),
                    _time(given - self._within(0, 50)),
                    self._later(given, 30),
                )

    def _intensive(self, who: tuple[int, int], start: int, end: int, sure: bool) -> None:
        stay = (*who, self._id())
        begin = self._within(start, (start + end) // 2)
        leave = self._within(begin + 60, end + 61)
        first, last = self._word("units"), self._word("units")
        los = f"{(leave - begin) / _DAY:.4f}"
        self._add("icu/icustays", *stay, first, last, _time(begin), _time(leave), los)
        for _ in range(6 + self._count(30)):
            item, (_, unit, low, high) = self._one(self._items["vitals"])
            minute = self._within(begin, leave)
            value, number = self._reading(low, high)
            self._add(
                "icu/chartevents",
                *stay,
                _time(minute),
                self._later(minute, 90),
                item,
                value,
                number,
                unit,
            )
        for _ in range(1 + self._count(3)):
            item, (_, unit, low, high) = self._one(self._items["outputs"])
            minute = self._within(begin, leave)
            self._add(
                "icu/outputevents",
                *stay,
                _time(minute),
                self._later(minute, 60),
                item,
                self._within(int(low), int(high)),
                unit,
            )
        for _ in range(1 + sure + self._count(3)):
            self._infusion(stay, begin, leave)
        for _ in range(sure + self._count(1)):
            item, (_, place) = self._one(self._items["procedures"])
            minute = self._within(begin, leave)
            until = self._within(minute, leave)
            self._add(
                "icu/procedureevents",
                *stay,
                _time(minute),
                _time(until),
                self._later(minute, 90),
                item,
                until - minute,
                "min",
                place,
            )
        for _ in range(sure + self._count(1)):
            item, _ = self._one(self._items["datetimes"])
            minute = self._within(begin, leave)
            self._add(
                "icu/datetimeevents",
                *stay,
                _time(minute),
                self._later(minute, 90),
                item,
                _time(minute - self._within(60, 2000)),
                "Date and Time",
            )

    def _infusion(self, stay: tuple[int, ...], begin: int, leave: int) -> None:
        item, (_, unit, low, high) = self._one(self._items["infusions"])
        minute = self._within(begin, leave)
        until = self._within(minute, leave)
        order, running = self._id(), self._uniform() < 0.7
        rate = f"{self._between(low, high):.2f}" if running else ""
        self._add(
            "icu/inputevents",
            *stay,
            _time(minute),
            _time(until),
            self._later(minute, 60),
            item,
            f"{self._between(1, 500):.1f}",
            unit,
            rate,
            f"{unit}/hour" if running else "",
            order,
            order,
            "Continuous IV" if running else "Drug Push",
            f"{self._between(45, 120):.1f}",
            self._one(("FinishedRunning", "Changed")),
        )

    def _dictionaries(self) -> None:
        for number, (label, unit, _, _, loinc) in self._items["labs"]:
            self._add("hosp/d_labitems", number, label, "Blood", "Chemistry")
            name = f"{label} measured in blood" if self._uniform() < 0.8 else ""
            self._add("d_labitems_to_loinc", number, label, name, "LOINC", loinc, unit)
        for kind, table in _LINKS.items():
            for number, (label, unit, *_rest) in self._items[kind]:
                self._add("icu/d_items", number, label, table, unit)
        for kind, concepts in _CONCEPTS.items():
            for number, (label, unit, *_rest) in self._items[kind]:
                code = self._within(1_000, 99_999)
                self._add(concepts, number, label, f"{label} (concept)", "SITE", code, unit)
        for kind, table in (
            ("diagnoses", "d_icd_diagnoses"),
            ("icd_procedures", "d_icd_procedures"),
        ):
            self._rows[f"hosp/{table}"] = [list(entry) for entry in self._words[kind]]
        self._rows["hosp/d_hcpcs"] = [
            [code, "", text, short] for code, text, short in self._words["hcpcs"]
        ]


#: Item numbers of each kind lie in the 9000 from here on.
_FIRST_ITEM = {
    "labs": 50_000,
    "vitals": 220_000,
    "outputs": 230_000,
    "infusions": 240_000,
    "procedures": 250_000,
    "datetimes": 260_000,
}
_LINKS = {
    "vitals": "chartevents",
    "outputs": "outputevents",
    "infusions": "inputevents",
    "procedures": "procedureevents",
    "datetimes": "datetimeevents",
}
_CONCEPTS = {
    "outputs": "outputevents_to_loinc",
    "infusions": "inputevents_to_rxnorm",
    "procedures": "proc_itemid",
    "datetimes": "proc_datetimeevents",
}
#: Tables of events, whose rows come in no order and sometimes twice.
_EVENTS = frozenset(
    {"hosp/labevents", "hosp/emar", "hosp/omr", "icu/chartevents", "icu/outputevents"}
)


def _time(minute: int) -> str:
    return (_START + timedelta(minutes=minute)).isoformat(" ")


def _day(minute: int) -> str:
    return _time(minute)[:10]


def rows_of(tables: Iterable[bytes]) -> int:
    """Return the number of data rows of some CSV files without line breaks in fields."""
    return sum(contents.count(b"\n") - 1 for contents in tables)
