"""Looking things up as a coordinator does: the patient, the order, the policy, the documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime

from healthgym.envs.managed_care.reading.asking import Asked, Play, ask, policy_for
from healthgym.envs.managed_care.reading.chart_page import ChartReading, Listed, read_chart
from healthgym.envs.managed_care.reading.documents import Document, counting
from healthgym.envs.managed_care.reading.layout import Row, sections, table
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.errors import DataError
from healthgym.worlds.managed_care.charts.ages import age_on

#: Documents that are read at most: an episode has a limit of turns.
_MOST_DOCUMENTS = 34
_BRIEF = re.compile(
    r"it is \w+, (?P<now>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\. "
    r"An? (?P<age>\d+)-year-old (?P<noun>\w+) from (?P<city>.+?) has seen (?P<doctor>.+?) "
    r"\(.+?\), who has ordered: (?P<what>.+), (?P<site>[a-z ]+), on (?P<day>\d{4}-\d\d-\d\d)\."
)
_SEXES = {"woman": "F", "girl": "F", "man": "M", "boy": "M"}


@dataclass(frozen=True, slots=True)
class Brief:
    """What the instruction tells.

    Attributes:
        now: When the work begins.
        age: The patient's age.
        sex: ``F`` or ``M``; empty if it is not told.
        city: Where the patient lives.
        doctor: Who ordered, by name.
        what: The service in words.
        day: The day of the order.
    """

    now: datetime
    age: int
    sex: str
    city: str
    doctor: str
    what: str
    day: str

    @property
    def today(self) -> date:
        """The day of the request."""
        return self.now.date()


def read_brief(instruction: str) -> Brief:
    """Return what an instruction tells.

    Raises:
        DataError: If it is not worded as instructions are.
    """
    found = _BRIEF.search(instruction)
    if found is None:
        raise DataError("The instruction names no patient, order and day.")
    return Brief(
        now=datetime.fromisoformat(found["now"]),
        age=int(found["age"]),
        sex=_SEXES.get(found["noun"], ""),
        city=found["city"],
        doctor=found["doctor"],
        what=found["what"],
        day=found["day"],
    )


def find_request(brief: Brief) -> Play[tuple[ChartReading, Row]]:
    """Find patient and order: by age and sex on the roster, then by clinician, day and city."""
    providers = table((yield from ask("people.list_ordering_providers")), "items")
    doctors = {row["id"] for row in providers if row.get("name") == brief.doctor}
    roster = table((yield from ask("chart.search_patients", limit=200)), "items")
    alike = [row for row in roster if _resembles(row, brief)]
    alike.sort(key=lambda row: brief.what not in row.get("recent_orders", ""))
    for row in alike:
        name = row["id"]
        orders = table((yield from ask("chart.list_candidate_orders", patient_id=name)), "items")
        meant = [order for order in orders if _is_meant(order, brief, doctors)]
        if not meant:
            continue
        chart = read_chart((yield from ask("chart.get_patient_chart_by_patient", patient_id=name)))
        if chart.patient["address_city"] == brief.city:
            return chart, meant[0]
    raise DataError("No patient on the roster is the one who is meant.")


def _resembles(row: Row, brief: Brief) -> bool:
    born = date.fromisoformat(row["dob"])
    return age_on(born, brief.today) == brief.age and brief.sex in ("", row["sex"])


def _is_meant(order: Row, brief: Brief, doctors: set[str]) -> bool:
    if order["ordering_practitioner_id"] not in doctors:
        return False
    return order["description"] == brief.what and order["requested_date"].startswith(brief.day)


def find_policy(brief: Brief, chart: ChartReading, order: Row) -> Play[PolicyReading | None]:
    """Find the page in force for plan, state and day, and what amends it."""
    found = yield from policy_for(
        Asked(
            code=order["procedure_code"],
            service=order["description"],
            plan=chart.coverages[0]["plan_name"],
            state=chart.patient["address_state"],
            day=brief.today,
        )
    )
    return found[0] if found else None


def read_documents(
    chart: ChartReading, policy: PolicyReading
) -> Play[tuple[ChartReading, tuple[Document, ...]]]:
    """Read the documents: those of the kinds that the policy lists first, the newest first.

    Returns:
        The chart without what does not count, and what was read of the rest.
    """
    listed = set(map(str, policy.required()))

    def place(document: Listed) -> tuple[bool, date]:
        return document.kind in listed, document.day

    signed = [each for each in chart.documents if each.signed]
    found = []
    for each in sorted(signed, key=place, reverse=True)[:_MOST_DOCUMENTS]:
        text = yield from ask("docs.get_document", document_id=each.id)
        lines = sections(text).get("content", [])
        found.append(Document(each.id, each.kind, each.title, each.day, "\n".join(lines)))
    kept = counting(found, chart.patient["id"])
    void = {each.id for each in found} - {each.id for each in kept}
    left = tuple(each for each in signed if each.id not in void)
    return replace(chart, documents=left), kept
