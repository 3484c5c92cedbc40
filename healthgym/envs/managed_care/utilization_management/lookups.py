"""Looking things up as somebody at the payer's desks does: the case, the policy, who is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from healthgym.envs.managed_care.reading.asking import Asked, Play, ask
from healthgym.envs.managed_care.reading.documents import ANY_DAY, Document, counting, read_day
from healthgym.envs.managed_care.reading.layout import Row, fields, record, rows, sections, table
from healthgym.envs.managed_care.reading.packet import facts_shown
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.errors import DataError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import QuantityCriterion
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    UploadableDocumentKind,
)

_OFFICE = "payer-um/operational"
#: Where the rules for roles, calls and requests for information stand.
OFFICE_PAGES = (
    f"{_OFFICE}/roles-and-independence.md",
    f"{_OFFICE}/peer-to-peer.md",
    f"{_OFFICE}/pends-and-information-requests.md",
)
_BRIEF = re.compile(
    r"at first as .+? \((?P<worker>W-\d+), (?P<role>.+?)\); it is \w+, "
    r"(?P<now>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\. Case (?P<case>[\w-]+) is yours\. "
    r"(?:The member is .+?, (?P<member>[\w-]+)\. )?(?P<where>.+)"
)
_DOORS = {"by fax": "fax", "by EDI": "EDI", "by telephone": "telephone"}
_STAGES = {
    "is not indexed": "door",
    "is not taken in": "door",
    "is not filed": "door",
    "lies at intake": "intake",
    "nobody has triaged": "triage",
    "waits for a nurse": "nurse",
    "waits for a physician": "physician",
    "asked for a call": "call",
    "has appealed": "appeal",
}
_ACTS = {
    "intake": "Confirm intake",
    "triage": "Set disposition, route",
    "nurse": "Recommend",
    "approve": "Approve",
    "deny": "Deny, in whole or in part",
    "physician": "Sign a physician's decision",
    "call": "Hold a call between peers",
    "appeal": "Decide an internal appeal",
}
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_SLOTS = re.compile(r"[Oo]ffer at least (\w+) slots")
_PEND = re.compile(r"has \*\*(\d+) calendar days?\*\*")
_IN_FORCE = "in force"
#: Papers that the practice wrote for the request: claims, not evidence.
_CLAIMS = "DOC-UP-"


@dataclass(frozen=True, slots=True)
class Brief:
    """What the instruction tells.

    Attributes:
        worker: Who uses the desks.
        role: As what.
        now: When the work begins.
        case: The case.
        stage: Where it stands: ``door``, ``intake``, ``triage``, ``nurse``, ``physician``, ``call``
            or ``appeal``.
        member: Whose it is, of a case at a front door.
        door: The front door, ``fax``, ``EDI`` or ``telephone``; empty of any other case.
    """

    worker: str
    role: str
    now: datetime
    case: str
    stage: str
    member: str = ""
    door: str = ""


def read_brief(instruction: str) -> Brief:
    """Return what an instruction tells.

    Raises:
        DataError: If it is not worded as instructions are.
    """
    found = _BRIEF.search(instruction)
    stage = next((s for w, s in _STAGES.items() if found and w in found["where"]), "")
    if found is None or not stage:
        raise DataError("The instruction names no case and no desk.")
    now = datetime.fromisoformat(found["now"]).replace(tzinfo=UTC)
    door = next((name for words, name in _DOORS.items() if words in found["where"]), "")
    return Brief(
        worker=found["worker"],
        role=found["role"].replace(" ", "_"),
        now=now,
        case=found["case"],
        stage=stage,
        member=found["member"] or "",
        door=door if stage == "door" else "",
    )


# -- the office ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody on the roster."""

    id: str
    role: str
    region: str
    hours: tuple[time, time]

    def opens(self, at: datetime) -> datetime:
        """Return when the person is in next: now, if so."""
        return office_calendar(self.region, self.hours).next_opening(at)

    def is_in(self, at: datetime) -> bool:
        """Return whether the person is at work."""
        return office_calendar(self.region, self.hours).is_open(at)


@dataclass(frozen=True, slots=True)
class Office:
    """What the pages say of the office.

    Attributes:
        people: Who works there, by id.
        roles: Who may do what, by the names of the desks.
        slots: Times that an offer of a call has, at least.
        pend_days: Days that the practice has to answer.
    """

    people: Mapping[str, Colleague]
    roles: Mapping[str, tuple[str, ...]]
    slots: int
    pend_days: int

    def able(self, desk: str, but: Iterable[str] = ()) -> tuple[Colleague, ...]:
        """Return who may work at a desk."""
        left_out = frozenset(but)
        roles = self.roles[desk]
        return tuple(
            one for one in self.people.values() if one.role in roles and one.id not in left_out
        )


def read_office() -> Play[Office]:
    """Read roster, roles and the rules for calls and pends."""
    pages = [(yield from ask("handbook.read", path=f"{_OFFICE}/roster.md"))]
    for path in OFFICE_PAGES:
        pages.append((yield from ask("handbook.read", path=path)))
    return office_from(*pages)


def office_from(roster: str, roles: str, calls: str, pends: str) -> Office:
    """Return what four pages say.

    Raises:
        DataError: If one is not worded as it usually is.
    """
    acts = {cells[0]: cells[1] for cells in _table(roles) if len(cells) == 2}
    slots, days = _SLOTS.search(calls), _PEND.search(pends)
    if slots is None or days is None or not set(_ACTS.values()) <= set(acts):
        raise DataError("The pages of the office are not worded as usual.")
    said = slots[1].lower()
    people = [_colleague(cells) for cells in _table(roster) if cells[0].startswith("W-")]
    return Office(
        people={one.id: one for one in people},
        roles={
            **{desk: _roles(acts[act]) for desk, act in _ACTS.items()},
            "letters": ("letter_specialist",),
        },
        slots=_NUMBERS.get(said) or int(said),
        pend_days=int(days[1]),
    )


def _table(page: str) -> list[list[str]]:
    lines = (line.strip() for line in page.split("\n"))
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in lines
        if line.startswith("|")
    ]


def _colleague(cells: list[str]) -> Colleague:
    begin, _, end = cells[5].partition("-")
    hours = (time.fromisoformat(begin), time.fromisoformat(end))
    return Colleague(cells[0], cells[2], cells[4], hours)


def _roles(words: str) -> tuple[str, ...]:
    return tuple(part.strip().replace(" ", "_") for part in re.split(r", | or | and ", words))


# -- the case --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseReading:
    """A case as a reviewer's page shows it.

    Attributes:
        text: The page.
        intake: The intake record.
        line: The line that is asked for.
        diagnoses: Codes of the request.
        documents: What was sent, as the page has it.
    """

    text: str
    intake: Row
    line: Row
    diagnoses: tuple[str, ...]
    documents: tuple[Row, ...]

    @property
    def day(self) -> date:
        """The day of the request."""
        return date.fromisoformat(self.intake["request_date"][:10])

    @property
    def code(self) -> str:
        """What is asked for."""
        return _part(self.line["procedures"], "code")

    @property
    def service(self) -> str:
        """The same in words."""
        return _part(self.line["procedures"], "name")

    @property
    def eligible(self) -> bool:
        """Whether the member was insured."""
        return self.intake.get("coverage_details", "").rstrip(".").endswith(_IN_FORCE)

    @property
    def in_network(self) -> bool:
        """Whether the provider is in the plan's network."""
        return self.intake.get("provider_network_status", "") == "in_network"

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of documents that were sent."""
        return frozenset(row["kind"] for row in self.documents)

    @property
    def reviewers(self) -> frozenset[str]:
        """Who has had a part in the case so far."""
        found: set[str] = set()
        for name in ("nurse_reviews", "md_reviews"):
            found |= {row["reviewer_id"] for row in table(self.text, name)}
        for name in ("case_recommendation", "case_decision"):
            found |= {record(self.text, name).get("reviewer_id", "")}
        return frozenset(found - {""})

    def asked(self) -> Asked:
        """Return what the choice of a policy goes by."""
        return Asked(
            code=self.code,
            service=self.service,
            plan=self.intake.get("plan_type", ""),
            state=self.intake.get("state", ""),
            day=self.day,
        )


def read_case(text: str) -> CaseReading:
    """Return a case from the answer of a tool that shows it to a reviewer.

    Raises:
        DataError: If the answer has no intake record with a line.
    """
    parts = sections(text)
    inner = sections("\n".join(parts.get("intake_case", [])))
    lines = rows(inner.get("line_items", []))
    if not lines:
        raise DataError("The answer shows no line that is asked for.")
    return CaseReading(
        text=text,
        intake=fields(parts["intake_case"]),
        line=lines[0],
        diagnoses=tuple(row["code"] for row in rows(inner.get("diagnoses", []))),
        documents=tuple(rows(parts.get("artifacts", []))),
    )


def _part(cell: str, name: str) -> str:
    found = re.search(rf"(?:^|; ){name} (.+?)(?:; |$)", cell)
    return found[1] if found else ""


def packet_of(case: CaseReading, reading: PolicyReading) -> Packet:
    """Return what was sent, as its texts have it.

    Args:
        case: The case.
        reading: The policy, for what is looked for.
    """
    asked = tuple(criteria(reading.page.criteria))
    chart = [row for row in case.documents if not row["id"].startswith(_CLAIMS)]
    member = next((row["patient_id"] for row in case.documents), "")
    signed = [_document(row) for row in chart if row.get("signed_at")]
    shown = facts_shown(counting(signed, member), asked)
    return Packet(
        documents=tuple(row["id"] for row in case.documents),
        kinds=case.kinds,
        facts=tuple(one.fact for one in shown),
        sources={one.fact.id: one.documents for one in shown},
        request=_request(case, reading, signed),
    )


def _document(row: Row) -> Document:
    text = row.get("content", "").replace(" / ", "\n")
    made = date.fromisoformat(row["created_at"][:10])
    return Document(row["id"], row["kind"], row["title"], made, text)


def _request(case: CaseReading, reading: PolicyReading, pages: list[Document]) -> Request:
    limited = any(isinstance(item, QuantityCriterion) for item in criteria(reading.page.criteria))
    units = case.line.get("requested_units", "")
    return Request(
        procedure_code=case.code,
        diagnosis_codes=case.diagnoses,
        site=PlaceOfService(case.line["place_of_service"]),
        quantity=float(units) if units and limited else None,
        age=_age(pages, case.day),
        sex="",  # no criterion asks for it
        coverage_active=case.eligible,
        in_network=case.in_network,
        documents=tuple(k for k in UploadableDocumentKind if str(k) in case.kinds),
    )


def _age(pages: list[Document], day: date) -> int:
    for page in pages:
        head = page.text.partition("\n")[0]
        born = ANY_DAY.search(head.partition("DOB")[2])
        if born:
            return age_on(read_day(born[0]), day)
    return 0
