"""A small hospital: raw tables in the columns of MIMIC-IV, with its gaps and oddities.

Values are drawn, not copied: item numbers, people and stays differ with every seed. Missing
values, times of two forms, numbers written as text and repeated rows are there on purpose, since
an event configuration has to say what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

import numpy as np

from healthgym.worlds.etl.extract import DAY, SPAN, START, Extract, day_text, time_text, vocabulary
from healthgym.worlds.etl.intensive import add_intensive_stay


def table_paths() -> tuple[str, ...]:
    """Return the paths of the files that :func:`draw_hospital` makes."""
    return tuple(f"{table}.csv" for table in vocabulary()["columns"])


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


class _Hospital(Extract):
    """Fills the tables, patient by patient."""

    def tables(self, subjects: Sequence[int]) -> dict[str, bytes]:
        self._dictionaries()
        for place, subject in enumerate(subjects):
            # The first few have a little of everything, so that no table is ever empty.
            self._patient(subject, sure=place < 2)
        return {f"{table}.csv": self.csv(table) for table in self.rows}

    def _patient(self, subject: int, *, sure: bool) -> None:
        age = self.within(18, 90)
        start = self.within(0, SPAN)
        year = (START + timedelta(minutes=start)).year
        stays = 1 + sure + self.count(0.7)
        minute, deathtime = start, ""
        for number in range(stays):
            last = number == stays - 1
            minute, deathtime = self._stay(subject, minute, sure=sure, may_die=last and not sure)
            minute += self.within(5 * DAY, 300 * DAY)
        dod = deathtime[:10] or ("" if self.uniform() < 0.85 else day_text(minute))
        gender = self.one(("F", "M"))
        self.add("hosp/patients", subject, gender, age, year, self.word("year_groups"), dod)
        for _ in range(sure + self.count(2)):
            name, values = self.one(self.words["omr"])
            self.add(
                "hosp/omr",
                subject,
                day_text(start + self.within(0, 900 * DAY)),
                1,
                name,
                self.one(values),
            )

    def _stay(self, subject: int, start: int, *, sure: bool, may_die: bool) -> tuple[int, str]:
        """Add a stay; return the minute it ended and the time of death, if it ended so."""
        stay, end = self.next_id(), start + self.within(DAY, 12 * DAY)
        died = may_die and self.uniform() < 0.1
        emergency = self.uniform() < 0.6 or sure
        deathtime = time_text(end) if died else ""
        self.add(
            "hosp/admissions",
            subject,
            stay,
            time_text(start),
            time_text(end),
            deathtime,
            self.word("admission_types"),
            f"P{self.within(10, 99)}Q",
            self.word("admission_locations", 0.05),
            "DIED" if died else self.word("discharge_locations", 0.1),
            self.word("insurance", 0.05),
            self.word("languages", 0.05),
            self.word("marital", 0.1),
            self.word("races"),
            time_text(start - 300) if emergency else "",
            time_text(start - 20) if emergency else "",
            int(died),
        )
        who = (subject, stay)
        self._coded(who, start, sure)
        self._moves(who, start, end)
        self._laboratory(who, start, end, sure)
        self._drugs(who, start, end, sure)
        if sure or self.uniform() < 0.5:
            add_intensive_stay(self, who, start, end, sure)
        return end, deathtime

    def _coded(self, who: tuple[int, int], start: int, sure: bool) -> None:
        for number in range(1 + self.count(3)):
            code, version, _ = self.one(self.words["diagnoses"])
            self.add("hosp/diagnoses_icd", *who, number + 1, code, version)
        for number in range(sure + self.count(0.6)):
            code, version, _ = self.one(self.words["icd_procedures"])
            day = day_text(start + self.within(0, 3 * DAY))
            self.add("hosp/procedures_icd", *who, number + 1, day, code, version)
        for kind in ("HCFA", "APR"):
            if sure or self.uniform() < 0.7:
                code, text = self.one(self.words["drgs"])
                graded = kind == "APR"
                grades = (self.within(1, 5), self.within(1, 5)) if graded else ("", "")
                self.add("hosp/drgcodes", *who, kind, code, text, *grades)
        if sure or self.uniform() < 0.3:
            code, _, short = self.one(self.words["hcpcs"])
            self.add("hosp/hcpcsevents", *who, day_text(start), code, 1, short)

    def _moves(self, who: tuple[int, int], start: int, end: int) -> None:
        self.add("hosp/services", *who, time_text(start), "", self.word("services"))
        if self.uniform() < 0.4:
            moved = time_text(self.within(start, end))
            self.add("hosp/services", *who, moved, self.word("services"), self.word("services"))
        times = sorted(self.within(start, end) for _ in range(self.count(1)))
        for number, (minute, until) in enumerate(zip([start, *times], [*times, end], strict=True)):
            kind = "transfer" if number else "admit"
            unit = self.word("wards", 0.03)
            self.add(
                "hosp/transfers",
                *who,
                self.next_id(),
                kind,
                unit,
                time_text(minute),
                time_text(until),
            )
        self.add("hosp/transfers", *who, self.next_id(), "discharge", "", time_text(end), "")

    def _laboratory(self, who: tuple[int, int], start: int, end: int, sure: bool) -> None:
        for number in range(4 + self.count(16)):
            item, (_, unit, low, high, *_rest) = self.one(self.items["labs"])
            minute = self.within(start, end)
            # Now and then a specimen is measured twice: two results of one item at one time.
            for _ in range(2 if number < sure or self.uniform() < 0.04 else 1):
                value, valuenum = self.reading(low, high)
                self.add(
                    "hosp/labevents",
                    self.next_id(),
                    *who,
                    self.next_id(),
                    item,
                    time_text(minute),
                    self.later(minute, 400),
                    value,
                    valuenum,
                    unit,
                    "abnormal" if self.uniform() < 0.3 else "",
                    self.one(("STAT", "ROUTINE", "")),
                )
        for _ in range(sure + self.count(0.6)):
            minute = self.within(start, end)
            found = self.word("organisms", 0.5)
            self.add(
                "hosp/microbiologyevents",
                self.next_id(),
                *who,
                day_text(minute),
                time_text(minute),
                self.word("specimens"),
                self.word("cultures"),
                found,
                self.later(minute, 4000),
            )

    def _drugs(self, who: tuple[int, int], start: int, end: int, sure: bool) -> None:
        for _ in range(1 + sure + self.count(3)):
            drug, route, often, per_day = self.one(self.words["drugs"])
            order, pharmacy = f"{who[0]}-{self.within(1, 999)}", self.next_id()
            begin = self.within(start, end)
            until = self.within(begin, end)
            day_only = self.uniform() < 0.15
            stop = "" if self.uniform() < 0.1 else day_text(until) if day_only else time_text(until)
            self.add(
                "hosp/pharmacy",
                *who,
                pharmacy,
                order,
                time_text(begin),
                stop,
                drug,
                "Unit Dose",
                self.one(("Discontinued", "Expired")),
                time_text(begin - 45),
                self.later(begin - 45, 40),
                route,
                often,
                per_day,
            )
            for number in range(1 + self.count(1)):
                given = self.within(begin, until + 60)
                self.add(
                    "hosp/emar",
                    *who,
                    f"{order}-{number}",
                    number,
                    order,
                    pharmacy,
                    time_text(given),
                    drug,
                    self.word("emar_events", 0.1),
                    time_text(given - self.within(0, 50)),
                    self.later(given, 30),
                )

    def _dictionaries(self) -> None:
        for number, (label, unit, _, _, loinc) in self.items["labs"]:
            self.add("hosp/d_labitems", number, label, "Blood", "Chemistry")
            name = f"{label} measured in blood" if self.uniform() < 0.8 else ""
            self.add("d_labitems_to_loinc", number, label, name, "LOINC", loinc, unit)
        for kind, table in _LINKS.items():
            for number, (label, unit, *_rest) in self.items[kind]:
                self.add("icu/d_items", number, label, table, unit)
        for kind, concepts in _CONCEPTS.items():
            for number, (label, unit, *_rest) in self.items[kind]:
                code = self.within(1_000, 99_999)
                self.add(concepts, number, label, f"{label} (concept)", "SITE", code, unit)
        for kind, table in (
            ("diagnoses", "d_icd_diagnoses"),
            ("icd_procedures", "d_icd_procedures"),
        ):
            self.rows[f"hosp/{table}"] = [list(entry) for entry in self.words[kind]]
        self.rows["hosp/d_hcpcs"] = [
            [code, "", text, short] for code, text, short in self.words["hcpcs"]
        ]


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


def rows_of(tables: Iterable[bytes]) -> int:
    """Return the number of data rows of some CSV files without line breaks in fields."""
    return sum(contents.count(b"\n") - 1 for contents in tables)
