"""Looking things up as a care manager does: the referral, today's numbers, the chart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.rulings import Known
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.reading.care_pages import PAGES, read_rules
from healthgym.envs.managed_care.reading.layout import Row, body, is_cut, record, rows, table
from healthgym.errors import DataError
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind
from healthgym.worlds.managed_care.control import controls
from healthgym.worlds.managed_care.handbook.rules import OperatingRules

_BRIEF = re.compile(
    r"You are (?P<caller>[^,]+), .*?it is \w+, (?P<now>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\. "
    r"In the referral queue is an? "
    r"(?P<age>\d+)-year-old (?P<noun>\w+) from (?P<city>.+?), referred on "
    r"(?P<day>\d{4}-\d\d-\d\d) by (?P<source>.+?): (?P<label>.+?)\.\n"
)
_SEXES = {"woman": "F", "man": "M"}
#: How an instruction calls where referrals come from.
_SOURCES = {
    "the hospital at discharge": "hospital_discharge",
    "the emergency department": "ed_visit",
    "primary care": "pcp_referral",
    "a specialist": "specialist_referral",
    "the plan's high-risk list": "payer_high_risk",
    "the registry of chronic conditions": "chronic_registry",
    "the list of care gaps": "care_gap_flag",
    "a screening for social needs": "social_risk_screen",
}
_STAY = re.compile(
    r"(?P<kind>inpatient stay, discharged|emergency visit|planned one-day procedure[a-z -]*?) "
    r"(?P<day>\d{4}-\d\d-\d\d)"
)
_KINDS = {"inpatient": StayKind.INPATIENT, "emergency": StayKind.EMERGENCY}
_DISCHARGED = re.compile(r"discharged (\d{4}-\d\d-\d\d)")
_VALUE = re.compile(r"([A-Z][\w ,/-]*?): (\d[\d,.]*)[^();]*\((\d{4}-\d\d-\d\d)\)")
_SAFETY = re.compile(
    r"ending it all|thoughts of ending|concern about safety|better off (?:alone|without)|"
    r"not wanting to wake",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Brief:
    """What the instruction tells.

    Attributes:
        caller: Whose desk it is.
        now: When the work begins.
        age: The person's age.
        sex: ``F`` or ``M``; empty if it is not told.
        city: Where the person lives.
        day: The day of the referral.
        source: Where it came from, as the queue has it.
        label: What it is for.
    """

    caller: str
    now: datetime
    age: str
    sex: str
    city: str
    day: str
    source: str
    label: str


def read_brief(instruction: str) -> Brief:
    """Return what an instruction tells.

    Raises:
        DataError: If it is not worded as instructions are.
    """
    found = _BRIEF.search(instruction)
    if found is None:
        raise DataError("The instruction names nobody in the queue.")
    return Brief(
        caller=found["caller"],
        now=datetime.fromisoformat(found["now"]),
        age=found["age"],
        sex=_SEXES.get(found["noun"], ""),
        city=found["city"],
        day=found["day"],
        source=_SOURCES.get(found["source"], ""),
        label=found["label"],
    )


def find_referral(brief: Brief) -> Play[Row]:
    """Find the referral that is meant: by day, source, age and sex, then by what it is for.

    Raises:
        DataError: If none is.
    """
    text = yield from ask("cm_intake.list_referral_queue")
    alike = [row for row in rows(text.split("\n")) if _resembles(row, brief)]
    named = [row for row in alike if brief.label.lower() in row.get("reason", "").lower()]
    if not (named or alike):
        raise DataError("Nobody in the queue is the one who is meant.")
    return (named or alike)[0]


def _resembles(row: Row, brief: Brief) -> bool:
    return (
        row.get("patient_age") == brief.age
        and brief.sex in ("", row.get("patient_sex"))
        and row.get("referral_date") == brief.day
        and brief.source in ("", row.get("source"))
    )


def read_numbers() -> Play[OperatingRules]:
    """Read the pages that hold today's numbers."""
    pages: dict[str, str] = {}
    for path in PAGES:
        pages[path] = yield from ask("handbook.read", path=path)
    return read_rules(pages)


def referred(row: Row) -> Known:
    """Return what a referral shows of somebody."""
    notes, flags = row.get("notes", ""), row.get("utilization_flags", "")
    codes = tuple(filter(None, row.get("diagnosis_codes", "").split(", ")))
    return Known(
        day=date.fromisoformat(row["referral_date"]),
        main=codes[0] if codes else "",
        codes=codes,
        values=tuple(_values(notes)),
        stays=tuple(
            _stay(_KINDS.get(each["kind"].split()[0], StayKind.DAY_SURGERY), each["day"])
            for each in _STAY.finditer(flags)
        ),
        score=float(row["risk_score"]) if row.get("risk_score") else None,
        safety=_SAFETY.search(notes) is not None,
    )


def _values(notes: str) -> Sequence[tuple[str, date, float]]:
    """Return the values that a referral states, under each code that has their name."""
    found = []
    for name, number, day in _VALUE.findall(notes.replace("Latest values: ", "")):
        for row in controls():
            if row.measure.lower() == name.strip().lower():
                value = float(number.replace(",", "").rstrip("."))
                found.append((row.loinc, date.fromisoformat(day), value))
    return found


def _stay(kind: StayKind, day: str) -> Stay:
    ended = date.fromisoformat(day)
    return Stay(kind=kind, begun=ended, ended=ended, code="", name="")


@dataclass(frozen=True, slots=True)
class Chart:
    """What the tables of a chart show.

    Attributes:
        patient: The person.
        conditions: Problem list, the active ones.
        medications: Medicines, the active ones.
        observations: Results, oldest first.
        encounters: Visits and stays.
    """

    patient: Row
    conditions: Sequence[Row]
    medications: Sequence[Row]
    observations: Sequence[Row]
    encounters: Sequence[Row]

    def latest(self, code: str, first: date) -> tuple[int, date] | None:
        """Return the latest whole value under a code since a day, and its day."""
        found = [
            (row["observed_at"][:10], row["value_quantity"])
            for row in self.observations
            if row["code"] == code and row.get("value_quantity")
        ]
        if not found or date.fromisoformat(max(found)[0]) < first:
            return None
        day, value = max(found)
        return int(float(value)), date.fromisoformat(day)


def read_chart(case: str) -> Play[Chart]:
    """Read the tables of a chart; what follows them is left unread.

    Args:
        case: Id of the episode.
    """
    observation = yield call("cm_chart.get_chart_data", case_id=case)
    text = body(observation)
    while is_cut(observation) and "\nallergies:" not in text and "\ndocuments:" not in text:
        observation = yield call("read_more")
        text += body(observation)
    return Chart(
        patient=record(text, "patient"),
        conditions=[row for row in table(text, "conditions") if row["active"] == "yes"],
        medications=[row for row in table(text, "medications") if row["status"] == "active"],
        observations=table(text, "labs_and_vitals"),
        encounters=table(text, "encounters"),
    )


def charted(chart: Chart, shown: Known) -> Known:
    """Return what a chart shows, with what only the referral tells.

    Args:
        chart: The chart.
        shown: What the referral shows.
    """
    stays = []
    for row in chart.encounters:
        kind = _KINDS.get(row["encounter_type"])
        ended = _DISCHARGED.search(row.get("summary", ""))
        if kind is not None:
            stays.append(_stay(kind, ended[1] if ended else row["occurred_at"][:10]))
    values = [
        (row["code"], date.fromisoformat(row["observed_at"][:10]), float(row["value_quantity"]))
        for row in chart.observations
        if row.get("value_quantity")
    ]
    return Known(
        day=shown.day,
        main=shown.main,
        codes=tuple(row["code"] for row in chart.conditions),
        values=tuple(values),
        stays=tuple(stays),
        medicines=len(chart.medications),
        score=shown.score,
        safety=shown.safety,
    )
