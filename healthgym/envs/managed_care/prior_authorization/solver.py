"""A coordinator who reads what an agent reads: instruction, chart, handbook, letters.

It is handed no instance and looks nothing up but by the tools. What it knows beforehand is how the
offices' pages, tables and notes are worded, and no number of any policy: `solve` takes those from
the pages that hold today. `solve_by_heart` does all the same with the numbers of the standing
library, which is what fails where the numbers were drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TypeVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.reading.channels import PATH as CHANNELS
from healthgym.envs.managed_care.reading.channels import Channels, read_channels
from healthgym.envs.managed_care.reading.chart_page import ChartReading, Listed, read_chart
from healthgym.envs.managed_care.reading.judging import Judged, bar, judge
from healthgym.envs.managed_care.reading.layout import Row, body, is_cut, record, sections, table
from healthgym.envs.managed_care.reading.operations import read_follow_up
from healthgym.envs.managed_care.reading.policy_page import PageReading, read_page
from healthgym.envs.managed_care.reading.policy_search import (
    PolicyReading,
    in_force,
    paths_in,
    reading_of,
)
from healthgym.envs.managed_care.reading.statements import Document
from healthgym.errors import DataError
from healthgym.worlds.managed_care.apps.provider.forms import UNKNOWN
from healthgym.worlds.managed_care.charts.sections import age_on
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderDeterminationAction,
    UploadableDocumentKind,
)

_T = TypeVar("_T")
#: Calls, to whose answers the play goes on; what it returns is told at its end.
Play = Generator[ToolCall, str, _T]

#: Where the handbook says how to decide, and what follows.
_DECIDING = "provider-pa/operational/decision-standards.md"
_POLICIES = "medical-library/medical-policies"
#: Documents that are read at most: an episode has a limit of turns.
_MOST_DOCUMENTS = 34
#: Answers of the payer that are seen to.
_MOST_ANSWERS = 5
_PATIENCE = timedelta(days=55)
_SENDS = ProviderDeterminationAction.SUBMIT_PA
_LETTER = UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY
_BRIEF = re.compile(
    r"it is \w+, (?P<now>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\. "
    r"A (?P<age>\d+)-year-old (?P<noun>\w+) from (?P<city>.+?) has seen (?P<doctor>.+?) "
    r"\(.+?\), who has ordered: (?P<what>.+), (?P<site>[a-z ]+), on (?P<day>\d{4}-\d\d-\d\d)\."
)
_SEXES = {"woman": "F", "man": "M"}


@dataclass(frozen=True, slots=True)
class Brief:
    """What the instruction tells.

    Attributes:
        now: When the work begins.
        age: The patient's age.
        sex: ``F`` or ``M``; empty if it is not told.
        city: Where the patient lives.
        what: The service in words.
        day: The day of the order.
    """

    now: datetime
    age: int
    sex: str
    city: str
    what: str
    day: str

    @property
    def today(self) -> date:
        """The day of the request."""
        return self.now.date()


@dataclass(slots=True)
class Memory:
    """Numbers that were read once, and are not looked up again.

    Attributes:
        trees: Criteria by policy id.
        channels: Which channel takes what.
        follow_up: After how many days an order that is not sent is taken up again.
    """

    trees: dict[str, Node] = field(default_factory=dict)
    channels: Channels | None = None
    follow_up: int | None = None

    def criteria_of(self, policy: str, read: Node) -> Node:
        """Return a policy's criteria as they were first read."""
        return self.trees.setdefault(policy, read)


def solve(instruction: str) -> Play[None]:
    """Read what holds today, decide from it, and see the request through."""
    yield from _work(read_brief(instruction), Memory())


def solve_by_heart(instruction: str) -> Play[None]:
    """Do the same with the numbers of the standing edition, whatever the pages say today."""
    trees = {policy.id: policy.criteria for policy in library().values()}
    channels = read_channels(standing_handbook().read(CHANNELS).text)
    follow_up = read_follow_up(standing_handbook().read(_DECIDING).text)
    yield from remembering(Memory(trees, channels, follow_up), instruction)


def remembering(memory: Memory, instruction: str) -> Play[None]:
    """Do the same with the numbers of a memory, whatever the pages say today.

    Args:
        memory: What is known already; what is not is read, and added.
        instruction: What the agent is told.
    """
    yield from _work(read_brief(instruction), memory)


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
        what=found["what"],
        day=found["day"],
    )


def _work(brief: Brief, known: Memory) -> Play[None]:
    chart, order = yield from _find(brief)
    policy = yield from _find_policy(brief, chart, order)
    if policy is not None:
        page = policy.page
        tree = known.criteria_of(page.id, page.criteria)
        policy = replace(policy, page=replace(page, criteria=tree))
    judged = bar(policy, chart, order["procedure_code"], brief.today)
    if judged is None and policy is not None:
        documents = yield from _read_documents(chart, policy)
        judged = judge(policy, chart, order, documents, brief.today)
    case = yield from _open_case(order)
    if judged is not None and judged.action is _SENDS and policy is not None:
        yield from _submit(case, policy, judged, chart, order, known)
        yield from _see_through(case, brief, chart, policy)
    elif judged is not None:
        yield call(
            "auth.finalize_provider_determination",
            case_id=case,
            final_action=str(judged.action),
            override_reason=f"{judged.reason}; {(yield from _follow_up(brief, known))}",
        )
    yield call("finish")


def _follow_up(brief: Brief, known: Memory) -> Play[str]:
    """Return when a request that is not sent is looked at again."""
    if known.follow_up is None:
        known.follow_up = read_follow_up((yield from _ask("handbook.read", path=_DECIDING)))
    return f"again on {brief.today + timedelta(days=known.follow_up)}"


def _ask(name: str, **arguments: object) -> Play[str]:
    """Call a tool and read its answer to the end."""
    observation = yield call(name, **arguments)
    text = body(observation)
    while is_cut(observation):
        observation = yield call("read_more")
        text += body(observation)
    return text


# -- who and what ------------------------------------------------------------------------------


def _find(brief: Brief) -> Play[tuple[ChartReading, Row]]:
    """Find the patient and the order: by age and sex on the roster, by city and day in charts."""
    roster = table((yield from _ask("chart.search_patients", limit=200)), "items")
    alike = [row for row in roster if _resembles(row, brief)]
    alike.sort(key=lambda row: brief.what not in row.get("recent_orders", ""))
    for row in alike:
        name = row["id"]
        orders = table((yield from _ask("chart.list_candidate_orders", patient_id=name)), "items")
        meant = [order for order in orders if _is_meant(order, brief)]
        if not meant:
            continue
        chart = read_chart((yield from _ask("chart.get_patient_chart_by_patient", patient_id=name)))
        if chart.patient["address_city"] == brief.city:
            return chart, meant[0]
    raise DataError("No patient on the roster is the one who is meant.")


def _resembles(row: Row, brief: Brief) -> bool:
    born = date.fromisoformat(row["dob"])
    return age_on(born, brief.today) == brief.age and brief.sex in ("", row["sex"])


def _is_meant(order: Row, brief: Brief) -> bool:
    return order["description"] == brief.what and order["requested_date"].startswith(brief.day)


def _find_policy(brief: Brief, chart: ChartReading, order: Row) -> Play[PolicyReading | None]:
    """Find the page in force for plan, state and day, and what amends it."""
    code = order["procedure_code"]
    hits = yield from _ask("handbook.search", query=code, section=_POLICIES)
    texts: dict[str, str] = {}
    pages: dict[str, PageReading] = {}
    for path in paths_in(hits):
        if "/bulletins/" in path or "/archive/" in path:
            continue
        text = yield from _ask("handbook.read", path=path)
        page = text.partition("\n\n")[2]
        try:
            pages[path], texts[path] = read_page(page), page
        except DataError:
            continue  # a page of another kind
        if _chosen(brief, chart, code, pages):
            break
    path = _chosen(brief, chart, code, pages)
    if path is None:
        return None
    later = yield from _amendments(pages[path].id)
    return reading_of(pages[path], texts[path], later, brief.today)


def _chosen(
    brief: Brief, chart: ChartReading, code: str, pages: Mapping[str, PageReading]
) -> str | None:
    plan, state = chart.coverages[0]["plan_name"], chart.patient["address_state"]
    return in_force(pages, code, plan, state, brief.today)


def _amendments(policy: str) -> Play[list[str]]:
    """Return the bulletins that name a policy."""
    hits = yield from _ask("handbook.search", query=f"bulletin amendment {policy}")
    texts = []
    for path in paths_in(hits):
        if "/bulletins/" in path and policy in path:
            texts.append((yield from _ask("handbook.read", path=path)))
    return texts


def _read_documents(chart: ChartReading, policy: PolicyReading) -> Play[tuple[Document, ...]]:
    """Read the documents: those of the kinds that the policy lists first, the newest first."""
    listed = set(map(str, policy.required()))

    def place(document: Listed) -> tuple[bool, date]:
        return document.kind in listed, document.day

    found = []
    for each in sorted(chart.documents, key=place, reverse=True)[:_MOST_DOCUMENTS]:
        text = yield from _ask("docs.get_document", document_id=each.id)
        lines = sections(text).get("content", [])
        found.append(Document(each.id, each.kind, each.day, "\n".join(lines)))
    return tuple(found)


# -- the request -------------------------------------------------------------------------------


def _open_case(order: Row) -> Play[str]:
    text = yield from _ask(
        "cases.create_from_order",
        patient_id=order["patient_id"],
        ordering_practitioner_id=order["ordering_practitioner_id"],
        source_order_id=order["id"],
        service_type=order["service_type"],
        procedure_code=order["procedure_code"],
        description=order["description"],
        priority=order["priority"],
        diagnosis_codes=order["diagnosis_codes"].split(", "),
        site_of_service=order["site_of_service"],
    )
    return record(text, "case")["id"]


def _submit(
    case: str,
    policy: PolicyReading,
    judged: Judged,
    chart: ChartReading,
    order: Row,
    known: Memory,
) -> Play[None]:
    """Fill the forms, make the packet, decide and send it."""
    providers = table((yield from _ask("people.list_ordering_providers")), "items")
    doctor = next(row for row in providers if row["id"] == order["ordering_practitioner_id"])
    forms = yield from _ask("forms.list_required_forms", case_id=case)
    said = {**(judged.answers or {}), **_request_answers(chart, order, doctor)}
    keys = [key for row in table(forms, "items") for key in row["required_fields"].split(", ")]
    answers = {key: said.get(key) or UNKNOWN for key in keys}
    yield call("forms.save_form_response", case_id=case, answers=answers)
    attached = list(judged.attached)
    if _LETTER in policy.required():
        letter = yield from _ask(
            "docs.upload_evidence",
            case_id=case,
            kind=str(_LETTER),
            title="Letter of medical necessity",
            content=f"We ask for {order['description']}. The attached documents show the criteria.",
        )
        attached.append(_uploaded(letter))
    packet = yield from _ask("docs.create_submission_bundle", case_id=case, document_ids=attached)
    bundle = record(packet, "bundle_document")["id"]
    inside = sections(packet)["included_document_ids"][0].split(", ")
    if known.channels is None:
        known.channels = read_channels((yield from _ask("handbook.read", path=CHANNELS)))
    channel = known.channels.channel(order["priority"], len(inside))
    yield call(
        "auth.finalize_provider_determination",
        case_id=case,
        final_action=str(_SENDS),
        bundle_document_id=bundle,
    )
    yield call(
        "auth.submit_authorization", case_id=case, channel=channel, bundle_document_id=bundle
    )


def _uploaded(text: str) -> str:
    found = re.search(r"\bDOC-UP-\d+\b", text)
    if found is None:
        raise DataError("The upload has no id.")
    return found[0]


def _request_answers(chart: ChartReading, order: Row, doctor: Row) -> dict[str, str]:
    patient, coverage = chart.patient, chart.coverages[0]
    return {
        "request_patient_name": f"{patient['first_name']} {patient['last_name']}",
        "request_patient_dob": patient["dob"],
        "request_member_number": coverage["member_number"],
        "request_group_number": coverage.get("group_number", ""),
        "request_payer_name": coverage["payer_name"],
        "request_plan_name": coverage["plan_name"],
        "request_requesting_provider_name": doctor["name"],
        "request_requesting_provider_npi": doctor.get("npi", ""),
        "request_servicing_provider_name": doctor["name"],
        "request_servicing_provider_npi": doctor.get("npi", ""),
        "request_service_type": order["service_type"],
        "request_procedure_code": order["procedure_code"],
        "request_description": order["description"],
        "request_site_of_service": order["site_of_service"],
        "request_diagnosis_codes": order["diagnosis_codes"],
    }


# -- the payer's answers -----------------------------------------------------------------------


def _see_through(case: str, brief: Brief, chart: ChartReading, policy: PolicyReading) -> Play[None]:
    """Wait for the payer and do what its answer asks for, until nobody owes anything."""
    until = f"{brief.now + _PATIENCE:%Y-%m-%dT%H:%M}"
    page = policy.page
    rationale = (
        f"{page.id} {page.version} is in force for this plan on the day of the request, and the "
        "packet shows what it requires. An earlier version has been superseded."
    )
    for _ in range(_MOST_ANSWERS):
        yield call("wait", until=until)
        status = record(
            (yield from _ask("auth.check_status", case_id=case, channel="portal")), "case"
        )
        match status.get("status", ""):
            case CaseStatus.PENDED_ACTION_REQUIRED:
                letters = yield from _ask("inbox.list_messages", case_id=case)
                yield from _reply(case, letters, chart)
            case CaseStatus.DENIED:
                yield call("auth.file_appeal", case_id=case, rationale=rationale)
            case CaseStatus.APPEAL_UPHELD:
                yield call("auth.file_external_appeal", case_id=case, rationale=rationale)
            case CaseStatus.APPROVED | CaseStatus.PARTIALLY_APPROVED:
                return
            case CaseStatus.APPEAL_OVERTURNED | CaseStatus.EXTERNAL_APPEAL_OVERTURNED:
                return


def _reply(case: str, letters: str, chart: ChartReading) -> Play[None]:
    """Send the latest document of each kind that the payer names."""
    words = letters.replace(" ", "_").lower()
    asked = [kind for kind in UploadableDocumentKind if str(kind) in words]
    latest = {each.kind: each.id for each in chart.documents}
    documents = [latest[str(kind)] for kind in asked if str(kind) in latest]
    yield call("auth.respond_to_pend", case_id=case, note="As asked for.", document_ids=documents)
