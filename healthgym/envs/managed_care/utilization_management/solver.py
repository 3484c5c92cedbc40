"""A reviewer who reads what an agent reads: instruction, record, documents, policy, handbook.

It is handed no instance and looks nothing up but by the tools. What it knows beforehand is how the
offices' pages and tables are worded, and no number of any policy: `solve` takes those from the
pages that hold today. `solve_by_heart` does all the same with the numbers of the standing library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from pydantic import TypeAdapter

from healthgym.core.borders import Json
from healthgym.core.tool import call
from healthgym.envs.managed_care.reading.asking import Play, policy_for
from healthgym.envs.managed_care.reading.layout import body, is_cut, record, table
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.envs.managed_care.utilization_management.hearing_out import (
    heard_facts,
    same_fact,
    with_heard,
)
from healthgym.envs.managed_care.utilization_management.lookups import (
    Brief,
    CaseReading,
    Colleague,
    Office,
    packet_of,
    read_brief,
    read_case,
    read_office,
)
from healthgym.errors import DataError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import page_wordings
from healthgym.worlds.managed_care.policies.tree import Node, criteria, transform
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    MdReviewDecision,
    NurseReviewRecommendation,
    PeerToPeerOutcome,
    Posture,
    TriageDisposition,
    TriageUrgency,
)

_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])
_STAMP = re.compile(r"\A\[(\d{4}-\d\d-\d\d \d\d:\d\d)\]")
_LETTER = re.compile(r"\bLET-\d+\b")
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
_NURSE = NurseReviewRecommendation
_MD = MdReviewDecision
#: How soon after an offer a call may be, in business hours: the practice has to choose before.
_SOONEST = timedelta(hours=2, minutes=30)
_HALF = timedelta(minutes=30)
#: Somebody who leaves sooner is not begun with.
_STAYS = timedelta(minutes=12)
_PATIENCE = timedelta(days=12)
_MOST_NEWS = 30
_NOTICES = {"approval": "approval", "partial_approval": "approval", "denial": "denial"}
_ASKS = (
    "What can you tell me about {id}, the {title}? The packet leaves it open.",
    "What else do you have on {id}?",
    "Is there more on the {title}?",
    "Anything further on {id}, the {title}, before we end?",
)


@dataclass(slots=True)
class Memory:
    """Criteria that were read once, and are not looked up again.

    Attributes:
        known: Criteria by policy id, and by what they are about.
    """

    known: dict[str, dict[str, AnyCriterion]] = field(default_factory=dict)

    def criteria_of(self, policy: str, read: Node) -> Node:
        """Return a policy's criteria, each with the numbers with which it was first read."""
        now = _by_subject(read)
        first = self.known.setdefault(policy, now)
        old = {
            item.id: replace(first[name], id=item.id) for name, item in now.items() if name in first
        }
        return transform(read, lambda item: old.get(item.id, item))


def _by_subject(tree: Node) -> dict[str, AnyCriterion]:
    """Return criteria by what they are about; a second one about the same gets a number."""
    found: dict[str, AnyCriterion] = {}
    for item in criteria(tree):
        name, place = f"{item.kind} {item.display}", 1
        while f"{name} {place}" in found:
            place += 1
        found[f"{name} {place}"] = item
    return found


def solve(instruction: str) -> Play[None]:
    """Read what holds today, decide from it, and see the case through."""
    yield from remembering(Memory(), instruction)


def solve_by_heart(instruction: str) -> Play[None]:
    """Do the same with the numbers of the standing edition, whatever the pages say today."""
    known = {policy.id: _by_subject(policy.criteria) for policy in library().values()}
    yield from remembering(Memory(known), instruction)


def remembering(memory: Memory, instruction: str) -> Play[None]:
    """Do the same with the numbers of a memory, whatever the pages say today.

    Args:
        memory: What is known already; what is not is read, and added.
        instruction: What the agent is told.
    """
    try:
        yield from _Reviewer(read_brief(instruction), memory).work()
    except DataError:
        pass  # what cannot be read is given up
    yield call("finish")


class _Reviewer:
    """Somebody at the payer's desks, with one case."""

    def __init__(self, brief: Brief, memory: Memory) -> None:
        self.brief, self.memory = brief, memory
        self.case_id, self.now = brief.case, brief.now
        self.office = Office({}, {}, 0, 0)
        self.reading: PolicyReading | None = None
        self.page = ""
        self.asked = False
        self.nurses: set[str] = set()
        self.physicians: set[str] = set()
        self.text = ""

    def work(self) -> Play[None]:
        """Do every stage that is left."""
        self.office = yield from self._watching(read_office())
        case = yield from self._look("nurse")
        found = yield from self._watching(policy_for(case.asked()))
        if found is not None:
            read, self.page = found
            tree = self.memory.criteria_of(read.page.id, read.page.criteria)
            self.reading = replace(read, page=replace(read.page, criteria=tree))
        stage = self.brief.stage
        if stage == "intake":
            yield from self._take_in(case)
            if self._returned(case):
                return
        if stage in ("intake", "triage") and (yield from self._sort(case)):
            yield from self._close("approval")
            return
        letters = yield from self._do("payer_letter_center.list", case_id=self.case_id)
        self.asked = "pend" in letters
        if stage in ("intake", "triage", "nurse") and not self._reserved:
            decided = yield from self._nurse()
        elif stage == "call":
            decided = yield from self._call()
        else:
            decided = yield from self._physician()
        if decided:
            yield from self._determine(decided)

    # -- calling -----------------------------------------------------------------------------------

    def _do(self, name: str, **arguments: object) -> Play[str]:
        """Call a tool, keep the time, and read the answer to the end."""
        observation = yield call(name, **arguments)
        self._stamp(observation)
        text = body(observation)
        while is_cut(observation):
            observation = yield call("read_more")
            self._stamp(observation)
            text += body(observation)
        self.text = text
        return text

    def _watching(self, play: Play[object]) -> Play[object]:  # type: ignore[type-arg]
        """Follow another play, and keep the time."""
        try:
            made = next(play)
            while True:
                observation = yield made
                self._stamp(observation)
                made = play.send(observation)
        except StopIteration as end:
            return end.value

    def _stamp(self, observation: str) -> None:
        found = _STAMP.match(observation)
        if found:
            self.now = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)

    def _wait(self, until: datetime) -> Play[None]:
        for _ in range(_MOST_NEWS):
            if self.now >= until:
                return
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")

    def _somebody(self, desk: str, but: Iterable[str] = ()) -> Play[str]:
        """Return who may work at a desk and is in; wait for the first where nobody is."""
        people = self.office.able(desk, but)
        if not people:
            raise DataError(f"Nobody may work at the {desk} desk.")
        while not (able := [one for one in people if self._stays(one)]):
            yield from self._wait(min(self._back(one) for one in people))
        return able[0].id

    def _stays(self, one: Colleague) -> bool:
        return one.is_in(self.now) and one.is_in(self.now + _STAYS)

    def _back(self, one: Colleague) -> datetime:
        at = one.opens(self.now if not one.is_in(self.now) else self.now + _STAYS)
        return max(at, self.now + timedelta(minutes=1))

    def _same(self, worker: str, desk: str, but: Iterable[str] = ()) -> Play[str]:
        """Return somebody who is in: the same as before, or a colleague."""
        if self.office.people[worker].is_in(self.now):
            return worker
        return (yield from self._somebody(desk, but))

    # -- reading -----------------------------------------------------------------------------------

    def _look(self, who: str) -> Play[CaseReading]:
        text = yield from self._do(f"review.get_{who}_review_data", case_id=self.case_id)
        case = read_case(text)
        self.nurses |= {row["reviewer_id"] for row in table(text, "nurse_reviews")}
        self.nurses |= {record(text, "case_recommendation").get("reviewer_id", "")} - {""}
        self.physicians |= {row["reviewer_id"] for row in table(text, "md_reviews")}
        self.physicians |= {record(text, "case_decision").get("reviewer_id", "")} - {""}
        return case

    @property
    def _policy(self) -> PolicyReading:
        if self.reading is None:
            raise DataError("No page of a policy lists what is asked for.")
        return self.reading

    @property
    def _reserved(self) -> bool:
        return not _says(self.page, page_wordings()["nurse"])

    def _found(self, case: CaseReading) -> Finding:
        packet = packet_of(case, self._policy)
        return self._judged(packet, case)

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        policy = self._policy.policy()
        found = evaluate(policy, packet.facts, packet.request, case.day)
        # Which kinds are required is on the page; some take the place of others.
        missing = tuple(k for k in self._policy.required() if str(k) not in packet.kinds)
        return Finding(policy, packet, replace(found, missing_documents=missing))

    # -- intake and triage -------------------------------------------------------------------------

    def _take_in(self, case: CaseReading) -> Play[None]:
        """Confirm what the record shows."""
        missing = (
            [kind for kind in self.reading.required() if str(kind) not in case.kinds]
            if self.reading
            else []
        )
        yield from self._clerk()
        yield from self._do(
            "payer_intake_hub.confirm_decisions",
            case_id=self.case_id,
            request_complete=not missing,
            member_eligible=case.eligible,
            service_covered=True,
            provider_network_status=case.intake.get("provider_network_status", "not_found"),
        )

    def _clerk(self) -> Play[None]:
        """Wait for whoever confirms intake: the one who uses the desk, or any of the clerks."""
        own = self.office.people.get(self.brief.worker)
        if own is not None and own.role in self.office.roles["intake"]:
            while not self._stays(own):
                yield from self._wait(self._back(own))
        else:
            yield from self._somebody("intake")

    def _returned(self, case: CaseReading) -> bool:
        """Return whether a request ends with its intake."""
        reading = self.reading
        if reading is None or not case.eligible:
            return True
        return not reading.page.authorization[case.code] or not (
            case.in_network or reading.out_of_network
        )

    def _sort(self, case: CaseReading) -> Play[bool]:
        """Say until when and by whom the case is reviewed; return whether a lane approves it."""
        level = case.intake.get("level_of_urgency", "")
        known = {"stat": TriageUrgency.STAT, "urgent": TriageUrgency.URGENT}
        urgency = str(known.get(level, TriageUrgency.ROUTINE))
        clock = yield from self._do(
            "triage.calculate_sla", case_id=self.case_id, urgency_level=urgency
        )
        limit = _fields(clock)
        card = yield from self._do("triage.check_gold_card", case_id=self.case_id)
        gold = _fields(card).get("gold_card_eligible") == "yes"
        lanes = page_wordings()["lanes"]
        fast = _says(self.page, lanes["notification_only"])
        fast = fast or (gold and _says(self.page, lanes["gold_card"]))
        disposition = TriageDisposition.NURSE_REVIEW
        if fast:
            disposition = TriageDisposition.AUTO_APPROVAL
        elif self._reserved:
            disposition = TriageDisposition.MD_REVIEW
        worker = yield from self._somebody("triage")
        yield from self._do(
            "triage.set_disposition",
            case_id=self.case_id,
            urgency_level=urgency,
            sla_deadline=limit.get("sla_deadline", ""),
            sla_hours=int(limit.get("sla_hours", "0")),
            sla_rule_source=limit.get("rule_source", ""),
            gold_card_eligible=gold,
            disposition=str(disposition),
            disposition_reason="By the policy, and by the record of the provider.",
            actor=worker,
        )
        worker = yield from self._same(worker, "triage")
        yield from self._do("triage.route_case", case_id=self.case_id, actor=worker)
        return fast

    # -- review ------------------------------------------------------------------------------------

    def _evaluate(self, desk: str, found: Finding) -> Play[str]:
        tool = "save_criteria_evaluation" if desk == "nurse" else "save_md_review"
        but = self.physicians if desk == "nurse" else self.nurses
        worker = yield from self._somebody(desk, but)
        rows = _EVALUATIONS.dump_json(_sourced(found))
        yield from self._do(
            f"review.{tool}",
            case_id=self.case_id,
            line_number=1,
            evaluations=json.loads(rows),
            reviewer_id=worker,
        )
        (self.nurses if desk == "nurse" else self.physicians).add(worker)
        return worker

    def _wanted(self, found: Finding) -> list[str]:
        """Return what is to be asked for, one item a line; nothing where the packet decides."""
        if found.assessment.posture is Posture.CONTRADICTS:
            return []
        policy = found.policy.id
        lacking = [str(kind).replace("_", " ") for kind in found.assessment.missing_documents]
        names = found.named() if found.assessment.posture in _OPEN else ()
        return [
            *(f"Criterion {name} of {policy}: a record that settles it" for name in names),
            *(f"Document: {kind}" for kind in lacking),
        ]

    def _nurse(self) -> Play[str]:
        """Evaluate and recommend; return the determination that follows, empty for none."""
        case = yield from self._look("nurse")
        found = self._found(case)
        wanted = [] if self.asked else self._wanted(found)
        nurse = yield from self._evaluate("nurse", found)
        word = _NURSE.REQUEST_INFO if wanted else _NURSE.ESCALATE
        if not wanted and found.carried:
            word = _NURSE.APPROVE
        nurse = yield from self._same(nurse, "nurse", self.physicians)
        yield from self._do(
            "review.submit_nurse_case_recommendation",
            case_id=self.case_id,
            recommendation=str(word),
            clinical_notes=found.summary(),
            info_requested="\n".join(wanted),
            reviewer_id=nurse,
        )
        self.nurses.add(nurse)
        if word is _NURSE.APPROVE:
            return "approved"
        if word is _NURSE.ESCALATE:
            return (yield from self._physician())
        if not (yield from self._answered()):
            return ""
        return (yield from self._nurse())

    def _answered(self) -> Play[bool]:
        """Send the letter of a request, and wait for the reply; return whether one came."""
        self.asked = True
        yield from self._post("pend")
        yield from self._tell("pend")
        until = self.now + _PATIENCE
        for _ in range(_MOST_NEWS):
            if self.now >= until:
                return False
            text = yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")
            shown = yield from self._do("payer_intake_hub.get_intake_case", case_id=self.case_id)
            state = record(shown, "workflow_state")
            if state.get("action_owner") == "provider":
                continue
            if _fields(shown).get("status") == "in_progress":
                yield from self._confirm_again(shown)
                return True
            if "closed" in json.dumps(dict(state)) or not text:
                return False
            return state.get("outcome", "none") == "none"
        return False

    def _confirm_again(self, shown: str) -> Play[None]:
        """Confirm intake once more: what came is counted, the rest as before."""
        case = yield from self._look("nurse")
        required = self._policy.required()
        del shown
        yield from self._clerk()
        yield from self._do(
            "payer_intake_hub.confirm_decisions",
            case_id=self.case_id,
            request_complete=all(str(kind) in case.kinds for kind in required),
            member_eligible=case.eligible,
            service_covered=True,
            provider_network_status=case.intake.get("provider_network_status", "not_found"),
        )

    def _physician(self) -> Play[str]:
        """Evaluate and decide; return the determination that follows, empty for none."""
        case = yield from self._look("md")
        found = self._found(case)
        wanted = [] if self.asked else self._wanted(found)
        doctor = yield from self._evaluate("physician", found)
        decision = _decision(found, asked=self.asked, wanted=bool(wanted))
        doctor = yield from self._same(doctor, "physician", self.nurses)
        yield from self._do(
            "review.submit_md_case_decision",
            case_id=self.case_id,
            **_decided(found, decision, wanted),
            reviewer_id=doctor,
        )
        self.physicians.add(doctor)
        match decision:
            case _MD.REQUEST_INFO:
                if not (yield from self._answered()):
                    return ""
                return (yield from self._physician())
            case _MD.P2P_REVIEW:
                return (yield from self._call())
            case _MD.APPROVE:
                return "approved"
            case _MD.PARTIAL_APPROVE:
                return "partially_approved"
        return "denied"

    # -- the call ----------------------------------------------------------------------------------

    def _call(self) -> Play[str]:
        """Arrange and hold a call with the clinician; return the determination that follows."""
        case = yield from self._look("md")
        found = self._found(case)
        listed = yield from self._do("p2p.list", case_id=self.case_id)
        request = re.findall(r"\bP2P-\d+\b", listed)[-1]
        peers = self.office.able("call", self.nurses | self.physicians)
        if not peers:
            raise DataError("Nobody may hold the call.")
        peer, slots = min(
            ((one, self._slots(one, case.intake.get("state", ""))) for one in peers),
            key=lambda offer: (offer[1][-1], offer[0].id),
        )
        while not peer.is_in(self.now):
            yield from self._wait(peer.opens(self.now))
            slots = self._slots(peer, case.intake.get("state", ""))
        yield from self._do(
            "p2p.offer_slots",
            request_id=request,
            payer_contact_id=peer.id,
            slots=[f"{at:%Y-%m-%dT%H:%M:%S}" for at in slots],
        )
        picked = yield from self._picked(request)
        if not peer.is_in(self.now):
            yield from self._wait(peer.opens(self.now))
        yield from self._do("p2p.schedule", request_id=request, payer_contact_id=peer.id)
        yield from self._wait(picked)
        return (yield from self._talk(request, case, found))

    def _slots(self, peer: Colleague, state: str) -> list[datetime]:
        """Return as few times as may be offered, the first that both offices allow."""
        region = office_calendar(state)
        # The practice has to answer before.
        at = region.add_business_hours(max(self.now, peer.opens(self.now)), _SOONEST)
        at = at.replace(minute=0, second=0, microsecond=0) + _HALF * (1 + (at.minute >= 30))
        slots: list[datetime] = []
        while len(slots) < self.office.slots:
            if region.is_open(at) and peer.is_in(at) and peer.is_in(at - _HALF):
                slots.append(at)
            at += _HALF
        return slots

    def _picked(self, request: str) -> Play[datetime]:
        until = self.now + _PATIENCE
        for _ in range(_MOST_NEWS):
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")
            listed = yield from self._do("p2p.list", case_id=self.case_id)
            row = next((r for r in _rows(listed) if r.get("id") == request), {})
            if row.get("provider_selected_slot"):
                at = datetime.fromisoformat(row["provider_selected_slot"])
                return at.replace(tzinfo=UTC) if at.tzinfo is None else at
        raise DataError("The practice picks no time.")

    def _talk(self, request: str, case: CaseReading, found: Finding) -> Play[str]:
        """Ask about each criterion in dispute until nothing more is told, and sum it up."""
        said: list[str] = []
        packet = found.packet
        for name in found.named():
            item, heard = found.policy.criterion(name), set[AnyFact]()
            for ask in _ASKS:
                text = yield from self._do(
                    "p2p_session.send_turn",
                    request_id=request,
                    message=ask.format(id=name, title=item.display),
                )
                answer = _last_said(text)
                told = set(heard_facts(answer, item)) - heard
                if not told and ask is not _ASKS[0]:
                    break
                said.append(answer)
                heard |= told
            new = (one for one in heard if not any(same_fact(one, f) for f in packet.facts))
            packet = replace(packet, facts=with_heard(packet.facts, new))
        after = self._judged(packet, case)
        turned = after.assessment.posture is Posture.SATISFIED
        outcome = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
        if turned:
            outcome = PeerToPeerOutcome.OVERTURN_TO_APPROVAL
        named = ", ".join(found.named())
        yield from self._do(
            "p2p_session.submit_summary",
            request_id=request,
            summary=f"In dispute under {found.policy.id}: {named}. {' '.join(said)}",
            proposed_result=str(outcome),
        )
        return "approved" if turned else "denied"

    # -- the end -----------------------------------------------------------------------------------

    def _determine(self, decision: str) -> Play[None]:
        """Make the decision final, and send what follows from it."""
        worker = yield from self._somebody("approve" if decision == "approved" else "deny")
        yield from self._do(
            "determination.finalize", case_id=self.case_id, decision=decision, actor=worker
        )
        kinds: Mapping[str, str] = {
            "approved": "approval",
            "partially_approved": "partial_approval",
            "denied": "denial",
        }
        yield from self._close(kinds[decision])

    def _close(self, kind: str) -> Play[None]:
        yield from self._post(kind)
        yield from self._tell(_NOTICES[kind])

    def _post(self, kind: str) -> Play[None]:
        """Write a letter, and send it by the channel on which the request came."""
        writer = yield from self._somebody("letters")
        text = yield from self._do(
            f"payer_letter_center.generate_{kind}", case_id=self.case_id, actor=writer
        )
        letter = _LETTER.search(text)
        if letter is None:
            raise DataError("No letter was written.")
        shown = yield from self._do("payer_intake_hub.get_intake_case", case_id=self.case_id)
        channel = _fields(shown).get("method", "portal")
        yield from self._do("payer_letter_center.audit_completeness", letter_id=letter[0])
        yield from self._do("payer_letter_center.deliver", letter_id=letter[0], channel=channel)

    def _tell(self, notice: str) -> Play[None]:
        yield from self._do(
            "payer_letter_center.generate_notification",
            case_id=self.case_id,
            notification_type=notice,
            actor=(yield from self._somebody("letters")),
        )


def _fields(text: str) -> Mapping[str, str]:
    found = re.findall(r"^(\w+): (.+)$", text, re.MULTILINE)
    return dict(found)


def _rows(text: str) -> list[Mapping[str, str]]:
    lines = text.strip().split("\n")
    names = lines[0].split(" | ") if lines else []
    return [dict(zip(names, line.split(" | "), strict=False)) for line in lines[1:]]


def _says(page: str, wordings: Iterable[str]) -> bool:
    """Return whether a page says something, in one of its wordings."""
    for said in wordings:
        pattern = re.escape(said)
        for slot in ("title", "id", "name"):
            pattern = pattern.replace(rf"\{{{slot}\}}", ".+?")
        if re.search(pattern, page):
            return True
    return False


def _last_said(text: str) -> str:
    """Return what the other side said last."""
    found = re.findall(r"counterpart \| .*?\n\s+message: (.+)", text)
    if found:
        return str(found[-1])
    return str(re.findall(r"^.*counterpart.*$", text, re.MULTILINE)[-1])


def _sourced(found: Finding) -> tuple[NurseCriterionEvaluation, ...]:
    """Return the findings; what is open rests on nothing but what bears on it."""
    rows = []
    for row in found.evaluations():
        bearing = found.assessment.criteria[row.criterion_id].facts
        named = tuple(
            dict.fromkeys(d for fact in bearing for d in found.packet.sources.get(fact, ()))
        )
        silent = row.result is CriterionResult.UNCLEAR
        rows.append(replace(row, source_refs_used=named if named or silent else _whole(found)))
    return tuple(rows)


def _whole(found: Finding) -> tuple[str, ...]:
    """Return a document of the packet for what the request itself shows."""
    used = [d for names in found.packet.sources.values() for d in names]
    return tuple(used[:1]) or found.packet.documents[:1]


def _decision(found: Finding, *, asked: bool, wanted: bool) -> MdReviewDecision:
    if wanted:
        return _MD.REQUEST_INFO
    if found.carried:
        return _MD.APPROVE
    if found.assessment.approved_quantity is not None:
        return _MD.PARTIAL_APPROVE
    named = found.named()
    open_ones = found.assessment.posture in _OPEN and not found.assessment.missing_documents
    if asked and len(named) == 1 and open_ones:
        return _MD.P2P_REVIEW
    return _MD.DENY


def _decided(found: Finding, decision: MdReviewDecision, wanted: list[str]) -> dict[str, Json]:
    """Return what a decision is submitted with."""
    grounds = (
        f"{found.policy.id}, version {found.policy.version}: what was sent does not show "
        f"{' and '.join(found.named())}."
    )
    lines: list[Json] = []
    if decision is _MD.PARTIAL_APPROVE:
        lines.append(
            {
                "line_number": 1,
                "decision": str(decision),
                "approved_units": found.assessment.approved_quantity,
                "denial_rationale": grounds,
            }
        )
    ends = decision in (_MD.APPROVE, _MD.DENY, _MD.PARTIAL_APPROVE)
    return {
        "decision": str(decision),
        "clinical_notes": found.summary(),
        "determination_rationale": found.summary(),
        "denial_rationale": grounds if decision is _MD.DENY else "",
        "info_requested": "\n".join(wanted),
        "line_item_decisions": lines,
        "signed_off": ends,
    }
