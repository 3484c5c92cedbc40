"""A coordinator who reads what an agent reads: instruction, chart, handbook, letters.

It is handed no instance and looks nothing up but by the tools. What it knows beforehand is how the
offices' pages, tables and notes are worded, and no number of any policy: `solve` takes those from
the pages that hold today. `solve_by_heart` does all the same with the numbers of the standing
library, which is what fails where the numbers were drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from healthgym.core.tool import call
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.prior_authorization.lookups import (
    Brief,
    find_policy,
    find_request,
    read_brief,
    read_documents,
)
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.reading.chart_page import ChartReading
from healthgym.envs.managed_care.reading.judging import Judged, bar, judge
from healthgym.envs.managed_care.reading.layout import Row, record, sections, table, value
from healthgym.envs.managed_care.reading.operations import (
    ChannelRule,
    read_channels,
    read_follow_up,
)
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.errors import DataError
from healthgym.worlds.managed_care.apps.provider.forms import UNKNOWN
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PeerToPeerOutcome,
    ProviderDeterminationAction,
    UploadableDocumentKind,
    Urgency,
)

#: Where the handbook says how to decide, and what follows.
_DECIDING = "provider-pa/operational/decision-standards.md"
_CHANNELS = "provider-pa/operational/submission-channels.md"
#: Answers of the payer that are seen to.
_MOST_ANSWERS = 5
_REQUEST = re.compile(r"request (P2P-\d+)")
_SLOT = re.compile(r"- (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)")
_PATIENCE = timedelta(days=55)
_SENDS = ProviderDeterminationAction.SUBMIT_PA
_LETTER = UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY


@dataclass(slots=True)
class Memory:
    """Numbers that were read once, and are not looked up again.

    Attributes:
        trees: Criteria by policy id.
        channels: Which channel takes what.
        follow_up: After how many days an order that is not sent is taken up again.
    """

    trees: dict[str, Node] = field(default_factory=dict)
    channels: ChannelRule | None = None
    follow_up: int | None = None

    def criteria_of(self, policy: str, read: Node) -> Node:
        """Return a policy's criteria as they were first read."""
        return self.trees.setdefault(policy, read)


class Besides:
    """What somebody has besides chart and handbook, and does besides answering; here nothing.

    Attributes:
        insists: Whether the request is sent though something stays open.
        short: Whether that is so.
    """

    insists = short = False

    def known(self, policy: PolicyReading) -> Play[tuple[AnyFact, ...]]:
        """Return what is known of the patient and stands in no document."""
        yield from ()
        return ()

    def see_through(
        self, case: str, brief: Brief, chart: ChartReading, policy: PolicyReading
    ) -> Play[None]:
        """Do what the payer's answers ask for."""
        yield from see_through(case, brief, chart, policy)


def solve(instruction: str) -> Play[None]:
    """Read what holds today, decide from it, and see the request through."""
    yield from remembering(Memory(), instruction)


def solve_by_heart(instruction: str) -> Play[None]:
    """Do the same with the numbers of the standing edition, whatever the pages say today."""
    trees = {policy.id: policy.criteria for policy in library().values()}
    channels = read_channels(standing_handbook().read(_CHANNELS).text)
    follow_up = read_follow_up(standing_handbook().read(_DECIDING).text)
    yield from remembering(Memory(trees, channels, follow_up), instruction)


def remembering(memory: Memory, instruction: str, besides: Besides | None = None) -> Play[None]:
    """Do the same with the numbers of a memory, whatever the pages say today.

    Args:
        memory: What is known already; what is not is read, and added.
        instruction: What the agent is told.
        besides: What is known and done besides.
    """
    try:
        yield from _work(read_brief(instruction), memory, besides or Besides())
    except DataError:
        yield call("finish")  # what cannot be read is given up


def _work(brief: Brief, known: Memory, besides: Besides) -> Play[None]:
    chart, order = yield from find_request(brief)
    policy = yield from find_policy(brief, chart, order)
    if policy is not None:
        page = policy.page
        tree = known.criteria_of(page.id, page.criteria)
        policy = replace(policy, page=replace(page, criteria=tree))
    judged = bar(policy, chart, order["procedure_code"], brief.today)
    if judged is None and policy is not None:
        chart, documents = yield from read_documents(chart, policy)
        told = yield from besides.known(policy)
        judged = judge(
            policy, chart, order, documents, brief.today, told, regardless=besides.insists
        )
        besides.short = judged.short
    case = yield from open_case(order)
    if judged is not None and judged.action is _SENDS and policy is not None:
        yield from submit(case, policy, judged, chart, order, known)
        yield from besides.see_through(case, brief, chart, policy)
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
        known.follow_up = read_follow_up((yield from ask("handbook.read", path=_DECIDING)))
    return f"again on {brief.today + timedelta(days=known.follow_up)}"


# -- the request -------------------------------------------------------------------------------


def open_case(order: Row) -> Play[str]:
    """Open a case for an order on file; return its id."""
    text = yield from ask(
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
    return value(text, "id", "case")


def submit(
    case: str,
    policy: PolicyReading,
    judged: Judged,
    chart: ChartReading,
    order: Row,
    known: Memory,
) -> Play[None]:
    """Fill the forms, make the packet, decide and send it."""
    yield from fill(case, judged.answers or {}, chart, order)
    attached = list(judged.attached)
    if _LETTER in policy.required():
        letter = yield from ask(
            "docs.upload_evidence",
            case_id=case,
            kind=str(_LETTER),
            title="Letter of medical necessity",
            content=f"We ask for {order['description']}. The attached documents show the criteria.",
        )
        attached.append(uploaded(letter))
    packet = yield from ask("docs.create_submission_bundle", case_id=case, document_ids=attached)
    bundle = value(packet, "id", "bundle_document")
    inside = value(packet, "included_document_ids").split(", ")
    if known.channels is None:
        known.channels = read_channels((yield from ask("handbook.read", path=_CHANNELS)))
    expedited = order["priority"] == Urgency.EXPEDITED
    channel = known.channels.channel(expedited=expedited, documents=len(inside))
    yield call(
        "auth.finalize_provider_determination",
        case_id=case,
        final_action=str(_SENDS),
        bundle_document_id=bundle,
    )
    yield call(
        "auth.submit_authorization", case_id=case, channel=str(channel), bundle_document_id=bundle
    )


def fill(case: str, answers: Mapping[str, str], chart: ChartReading, order: Row) -> Play[None]:
    """Fill the forms of a case: the request's as chart and order have it, the policy's as known.

    Args:
        case: The case.
        answers: Answers to the policy's questions, by key; the rest is said not to be documented.
        chart: The chart.
        order: The order.
    """
    providers = table((yield from ask("people.list_ordering_providers")), "items")
    doctor = next(row for row in providers if row["id"] == order["ordering_practitioner_id"])
    forms = yield from ask("forms.list_required_forms", case_id=case)
    said = {**answers, **request_answers(chart, order, doctor)}
    pages = map("\n".join, sections(forms).values())
    asked = (each for page in pages for each in table(page, "questions"))
    keys = [each["key"] for each in asked if each["required"] == "yes"]
    given = {key: said.get(key) or UNKNOWN for key in keys}
    yield call("forms.save_form_response", case_id=case, answers=given)


def uploaded(text: str) -> str:
    """Return the id of a document that was just uploaded.

    Raises:
        DataError: If the answer names none.
    """
    found = re.search(r"\bDOC-UP-\d+\b", text)
    if found is None:
        raise DataError("The upload has no id.")
    return found[0]


def request_answers(chart: ChartReading, order: Row, doctor: Row) -> dict[str, str]:
    """Return the answers of the request form."""
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


def see_through(case: str, brief: Brief, chart: ChartReading, policy: PolicyReading) -> Play[None]:
    """Wait for the payer and do what its answer asks for, until nobody owes anything."""
    until = f"{brief.now + _PATIENCE:%Y-%m-%dT%H:%M}"
    held: set[str] = set()
    for _ in range(_MOST_ANSWERS):
        yield call("wait", until=until)
        shown = yield from ask("auth.check_status", case_id=case, channel="portal")
        match status := record(shown, "case").get("status", ""):
            case CaseStatus.PENDED_ACTION_REQUIRED:
                letters = yield from ask("inbox.list_messages", case_id=case)
                yield from reply(case, letters, chart)
            case CaseStatus.UNDER_REVIEW:
                offered = set(_REQUEST.findall(shown)) - held
                held |= offered
                for request in sorted(offered):
                    yield from _hold_call(case, request, _SLOT.findall(shown)[0], _point(policy))
            case CaseStatus.DENIED | CaseStatus.APPEAL_UPHELD:
                yield from appeal(case, status, policy)
            case CaseStatus.APPROVED | CaseStatus.PARTIALLY_APPROVED:
                return
            case CaseStatus.APPEAL_OVERTURNED | CaseStatus.EXTERNAL_APPEAL_OVERTURNED:
                return


def appeal(case: str, status: str, policy: PolicyReading) -> Play[None]:
    """Appeal a denial; where the appeal was upheld, ask for the review outside.

    Args:
        case: The case.
        status: Where it stands.
        policy: The policy in force.
    """
    outside = status == CaseStatus.APPEAL_UPHELD
    filed = "auth.file_external_appeal" if outside else "auth.file_appeal"
    yield call(filed, case_id=case, rationale=_point(policy))


def _point(policy: PolicyReading) -> str:
    page = policy.page
    return (
        f"{page.id} {page.version} is in force for this plan on the day of the request, and the "
        "packet shows what it requires. An earlier version has been superseded."
    )


def _hold_call(case: str, request: str, slot: str, point: str) -> Play[None]:
    """Take the first time that the plan's physician offers, make one's point, and sum it up."""
    yield call("auth.respond_to_peer_to_peer", case_id=case, request_id=request, selected_slot=slot)
    yield call("wait", until=slot)
    yield call("p2p_session.send_turn", request_id=request, message=point)
    yield call(
        "p2p_session.submit_summary",
        request_id=request,
        summary=f"The version was in dispute. {point}",
        proposed_result=str(PeerToPeerOutcome.OVERTURN_TO_APPROVAL),
    )


def reply(case: str, letters: str, chart: ChartReading) -> Play[None]:
    """Send the latest document of each kind that the payer names.

    Args:
        case: The case.
        letters: What the payer wrote.
        chart: The chart.
    """
    words = letters.replace(" ", "_").lower()
    asked = [kind for kind in UploadableDocumentKind if str(kind) in words]
    latest = {each.kind: each.id for each in sorted(chart.documents, key=lambda one: one.day)}
    documents = [latest[str(kind)] for kind in asked if str(kind) in latest]
    note = "As asked for." if documents else "There is no record of it that could be sent."
    yield call("auth.respond_to_pend", case_id=case, note=note, document_ids=documents)
