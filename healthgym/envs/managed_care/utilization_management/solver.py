"""A reviewer who reads what an agent reads: instruction, record, documents, policy, handbook.

It is handed no instance and looks nothing up but by the tools. What it knows beforehand is how the
offices' pages and tables are worded, and no number of any policy: `solve` takes those from the
pages that hold today. `solve_by_heart` does all the same with the numbers of the standing library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from pydantic import TypeAdapter

from healthgym.core.borders import Json
from healthgym.core.tool import call
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.reading.asking import Play, policy_for
from healthgym.envs.managed_care.reading.layout import record
from healthgym.envs.managed_care.utilization_management.appeal_reader import AppealReader
from healthgym.envs.managed_care.utilization_management.lookups import (
    OFFICE_PAGES,
    Brief,
    CaseReading,
    Office,
    office_from,
    read_brief,
    read_office,
)
from healthgym.envs.managed_care.utilization_management.memory import Memory, by_subject
from healthgym.envs.managed_care.utilization_management.reader import (
    MOST_NEWS,
    PATIENCE,
    fields_of,
    says,
)
from healthgym.envs.managed_care.utilization_management.roster import roster
from healthgym.envs.managed_care.utilization_management.taking_in import DoorReader
from healthgym.errors import DataError
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import page_wordings
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    NurseReviewRecommendation,
    Posture,
    TriageDisposition,
    TriageUrgency,
)

_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
_NURSE = NurseReviewRecommendation
_MD = MdReviewDecision
_NOTICES = {"approval": "approval", "partial_approval": "approval", "denial": "denial"}


def solve(instruction: str) -> Play[None]:
    """Read what holds today, decide from it, and see the case through."""
    yield from remembering(Memory(), instruction)


def solve_by_heart(instruction: str) -> Play[None]:
    """Do the same with the numbers of the standing edition, whatever the pages say today."""
    known = {policy.id: by_subject(policy.criteria) for policy in library().values()}
    yield from remembering(Memory(known, _standing_office()), instruction)


def _standing_office() -> Office:
    """Return what the pages of the standing edition say of the office."""
    pages = (standing_handbook().read(path).text for path in OFFICE_PAGES)
    return office_from(roster().text, *pages)


def remembering(memory: Memory, instruction: str) -> Play[None]:
    """Do the same with the numbers of a memory, whatever the pages say today.

    Args:
        memory: What is known already; what is not is read, and added.
        instruction: What the agent is told.
    """
    with suppress(DataError):  # what cannot be read is given up
        yield from Reviewer(read_brief(instruction), memory).work()
    yield call("finish")


class Reviewer(AppealReader, DoorReader):
    """Somebody who sees a case through from any desk."""

    def __init__(self, brief: Brief, memory: Memory) -> None:
        super().__init__(brief)
        self.memory = memory

    def work(self) -> Play[None]:
        """Do every stage that is left."""
        if self.memory.office is None:
            self.memory.office = yield from self._watching(read_office())
        self.office = self.memory.office
        if self.brief.stage == "door":
            yield from self._open_door()
        case = yield from self._look("nurse")
        found = yield from self._watching(policy_for(case.asked()))
        if found is not None:
            read, self.page = found
            tree = self.memory.criteria_of(read.page.id, read.page.criteria)
            self.reading = replace(read, page=replace(read.page, criteria=tree))
        stage = "intake" if self.brief.stage == "door" else self.brief.stage
        if stage == "intake":
            yield from self._take_in(case)
            if self._returned(case):
                return
        if stage in ("intake", "triage") and (yield from self._sort(case)):
            yield from self._close("approval")
            return
        if stage == "appeal":
            yield from self._hear()
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
        limit = fields_of(clock)
        card = yield from self._do("triage.check_gold_card", case_id=self.case_id)
        gold = fields_of(card).get("gold_card_eligible") == "yes"
        lanes = page_wordings()["lanes"]
        fast = says(self.page, lanes["notification_only"])
        fast = fast or (gold and says(self.page, lanes["gold_card"]))
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
        rows = _EVALUATIONS.dump_json(found.evaluations())
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
        until = self.now + PATIENCE
        for _ in range(MOST_NEWS):
            if self.now >= until:
                return False
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")
            shown = yield from self._do("payer_intake_hub.get_intake_case", case_id=self.case_id)
            state = record(shown, "workflow_state")
            if state.get("action_owner") == "provider":
                continue
            if fields_of(shown).get("status") == "in_progress":
                yield from self._confirm_again()
                return True
            return state.get("workflow_stage") != "closed"
        return False

    def _confirm_again(self) -> Play[None]:
        """Confirm intake once more: what came is counted, the rest as before."""
        case = yield from self._look("nurse")
        required = self._policy.required()
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
        decision = _decision(found, asked=self.asked, wanted=bool(wanted), called=self.called)
        yield from self._decide(found, decision, wanted, doctor)
        match decision:
            case _MD.REQUEST_INFO:
                if not (yield from self._answered()):
                    return ""
                return (yield from self._physician())
            case _MD.P2P_REVIEW:
                self.called = True
                after = yield from self._call()
                if not after:  # what was found stands, and the times offered leave little until due
                    yield from self._decide(found, _MD.DENY, [], doctor)
                return after or "denied"
            case _MD.APPROVE:
                return "approved"
            case _MD.PARTIAL_APPROVE:
                return "partially_approved"
        return "denied"

    def _decide(
        self, found: Finding, decision: MdReviewDecision, wanted: list[str], doctor: str
    ) -> Play[None]:
        """Decide as a physician, or as a colleague once that one has left for the day."""
        doctor = yield from self._same(doctor, "physician", self.nurses)
        until = self.now + timedelta(days=self.office.pend_days)
        yield from self._do(
            "review.submit_md_case_decision",
            case_id=self.case_id,
            **_decided(found, decision, wanted),
            info_deadline=f"{until:%Y-%m-%d}" if wanted else "",
            reviewer_id=doctor,
        )
        self.physicians.add(doctor)

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


def _decision(found: Finding, *, asked: bool, wanted: bool, called: bool) -> MdReviewDecision:
    if wanted:
        return _MD.REQUEST_INFO
    if found.carried:
        return _MD.APPROVE
    if found.assessment.approved_quantity is not None:
        return _MD.PARTIAL_APPROVE
    named = found.named()
    open_ones = found.assessment.posture in _OPEN and not found.assessment.missing_documents
    if asked and not called and len(named) == 1 and open_ones:
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
