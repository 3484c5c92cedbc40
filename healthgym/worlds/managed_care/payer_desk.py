"""The payer's staff, where nobody plays them.

They work through the same applications as anybody who does, as named people in their hours, one
step at a time by the agenda: intake, triage, review by a nurse, by a physician where one is needed,
determination, letter. What they find is what the policy says of the facts that the attached
documents show, and of nothing else: a claim in a form or a letter is no evidence.
"""

from __future__ import annotations

from datetime import datetime

from healthgym.core.clock import Due
from healthgym.core.state import table
from healthgym.worlds.managed_care import duty, payer_appeals, payer_calls
from healthgym.worlds.managed_care.apps.payer.intake_rules import WITH_PAYER
from healthgym.worlds.managed_care.covering import covering
from healthgym.worlds.managed_care.desk_plan import DeskPlan
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.payer_steps import (
    BEFORE_DECISION,
    HURRIED,
    PER_CASE,
    ROLES,
    TAKES,
)
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.policy import Policy, catalog
from healthgym.worlds.managed_care.reception import Reception
from healthgym.worlds.managed_care.records.review import MdLineItemDecision
from healthgym.worlds.managed_care.service_levels import triage_urgency
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    DeterminationSource,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    Posture,
    ProviderNetworkStatus,
    TriageDisposition,
    Urgency,
)

#: What the desk puts on the agenda.
STEP = "payer_step"
_LETTERS = {
    DeterminationDecision.APPROVED: LetterType.APPROVAL,
    DeterminationDecision.PARTIALLY_APPROVED: LetterType.PARTIAL_APPROVAL,
    DeterminationDecision.DENIED: LetterType.DENIAL,
}
#: How often a nurse asks for what would settle open criteria.
_MOST_ASKED = 2
_INCOMPLETE = "The file is to be completed."


class PayerDesk(Reception):
    """The payer's staff at work.

    Attributes:
        asked: How often information was asked for, by case.
    """

    name = "payer_desk"
    asked = table[str, int]()

    @property
    def plan(self) -> DeskPlan | None:
        """What the staff goes by; None where somebody plays the payer."""
        return self.world.start.desk

    # -- what sets the desk to work ------------------------------------------------------------

    def take_in(self, case_id: str, *, reply: bool = False) -> None:
        """Begin work on what was handed in; a reply goes on where the question arose."""
        if self.plan is None:
            return
        if covering(self.world, case_id) is None:
            self._tell(f"The payer returns case {case_id}: its plan asks for no authorization.")
            return
        # Sent again in the place of an answer, the question stays open, and nobody takes it up.
        if reply or not self.asked.get(case_id):
            self._later(case_id, "intake", reply=reply)

    def contested(self, case_id: str) -> None:
        """Take note that a denial is about to be appealed, which changes nothing yet."""

    def appealed(self, case_id: str, level: str) -> None:
        """Begin work on an appeal."""
        if self.plan is not None:
            self._later(case_id, "appeal" if level == "internal" else "external")

    def called(self, case_id: str) -> bool:
        """Let the reviewer determine a case on which a call was held; False if nobody works here.

        Args:
            case_id: The case.
        """
        asked = self.world.medical.active(case_id)
        if self.plan is None or asked is None:
            return False
        self._later(case_id, "determine", worker=asked.reviewer_id)
        return True

    def concluded(self, case_id: str) -> None:
        """Note that a physician has decided a case; whose step follows it puts it on himself.

        Args:
            case_id: The case.
        """

    def on_due(self, due: Due) -> None:
        """Do the step that is due."""
        case_id, worker = str(due.facts["case_id"]), str(due.facts["worker"])
        step = str(due.facts["step"])
        if step in BEFORE_DECISION and self.world.cases.get(case_id).status not in WITH_PAYER:
            return
        match step:
            case "intake":
                self._take_in(case_id, worker, reply=bool(due.facts["reply"]))
            case "triage":
                self._triage(case_id, worker)
            case "nurse":
                self._nurse(case_id, worker)
            case "physician":
                self._physician(case_id, worker)
            case "offer":
                self._offer(case_id, worker)
            case "missed":
                self._decide_without_call(payer_calls.give_up(self.world, case_id), case_id)
            case "determine":
                self._determine(case_id, worker)
            case "letter":
                self._letter(case_id, worker)
            case "appeal":
                self._appeal(case_id, worker)
            case _:
                self._external(case_id, worker)

    # -- steps -----------------------------------------------------------------------------------

    def _take_in(self, case_id: str, worker: str, *, reply: bool) -> None:
        found = self._found(case_id)
        network = found.packet.request.in_network
        self.world.intake.confirm(
            case_id,
            request_complete=not found.assessment.missing_documents,
            member_eligible=found.packet.request.coverage_active,
            service_covered=True,
            network=(
                ProviderNetworkStatus.IN_NETWORK
                if network
                else ProviderNetworkStatus.OUT_OF_NETWORK
            ),
        )
        self._later(case_id, "nurse" if reply else "triage")

    def _triage(self, case_id: str, worker: str) -> None:
        self._sort(case_id, worker, TriageDisposition.NURSE_REVIEW)
        decided = self.world.determinations.active(case_id) is not None
        self._later(case_id, "letter" if decided else "nurse")

    def _sort(self, case_id: str, worker: str, disposition: TriageDisposition) -> None:
        """Triage a case by the rules, and route it."""
        triage = self.world.triage
        urgency = triage_urgency(self.world.intake.get(case_id).level_of_urgency)
        level = triage.level(case_id, urgency)
        received = self.world.intake.get(case_id).received_at
        triage.set_disposition(
            case_id,
            urgency=urgency,
            deadline=level.deadline(received).isoformat(),
            hours=level.hours,
            rule_source=level.rule_source,
            gold_card=triage.holds_gold_card(case_id),
            disposition=disposition,
            reason="Reviewed against the policy.",
            actor=worker,
        )
        triage.route(case_id, worker, None)

    def _nurse(self, case_id: str, worker: str) -> None:
        found = self._found(case_id)
        policy = found.policy
        self.world.nursing.set_catalog(case_id, catalog(policy, "nurse_review"), policy.criteria)
        self.world.nursing.save(case_id, 1, evaluations=found.evaluations(), reviewer_id=worker)
        wanted = self._wanted(case_id, found)
        times = self.asked.get(case_id, 0)
        if wanted and times < min(_MOST_ASKED, self.world.operations.pends_most):
            self.asked[case_id] = times + 1
            self.world.nursing.submit(
                case_id,
                NurseReviewRecommendation.REQUEST_INFO,
                clinical_notes=_INCOMPLETE if found.carried else "The packet leaves criteria open.",
                info_requested="\n".join(wanted),
                reviewer_id=worker,
            )
            self._tell(f"The payer asks for information about case {case_id}.")
            return
        approves = not wanted and found.carried and found.policy.nurse_may_approve
        self.world.nursing.submit(
            case_id,
            NurseReviewRecommendation.APPROVE if approves else NurseReviewRecommendation.ESCALATE,
            clinical_notes=found.summary(),
            reviewer_id=worker,
        )
        if approves:
            self._later(case_id, "determine", worker=worker)
        else:
            self._later(case_id, "physician")

    def _physician(self, case_id: str, worker: str) -> None:
        found = self._found(case_id)
        wanted = self._wanted(case_id, found)
        shown = found.assessment.posture is Posture.SATISFIED
        judged = found.evaluations(closed=True, withheld=shown and bool(wanted))
        self.world.medical.save(case_id, 1, evaluations=judged, reviewer_id=worker)
        limit = found.assessment.approved_quantity
        satisfied, reason = shown and not wanted, found.summary()
        if shown and wanted:
            reason = f"{found.policy.id}: asked for and not sent. {'; '.join(wanted)}."
        lines: tuple[MdLineItemDecision, ...] = ()
        if satisfied:
            decision = MdReviewDecision.APPROVE
        elif limit is not None:
            decision = MdReviewDecision.PARTIAL_APPROVE
            lines = (
                MdLineItemDecision(
                    line_number=1,
                    decision=MdReviewDecision.PARTIAL_APPROVE,
                    approved_units=limit,
                    denial_rationale=reason,
                ),
            )
        elif payer_calls.intended(self.world, case_id):
            payer_calls.ask(self.world, case_id, found, worker)
            self._later(case_id, "offer")
            return
        else:
            decision = MdReviewDecision.DENY
        self.world.medical.submit(
            case_id,
            decision,
            clinical_notes=reason,
            determination_rationale=reason,
            denial_rationale="" if satisfied else reason,
            line_item_decisions=lines,
            reviewer_id=worker,
            signed_off=True,
        )
        self._later(case_id, "determine", worker=worker)

    def _offer(self, case_id: str, worker: str) -> None:
        at = payer_calls.offer(self.world, case_id, worker)
        if at is None:
            reviewer = payer_calls.give_up(self.world, case_id, payer_calls.NO_TIME)
            return self._decide_without_call(reviewer, case_id)
        self._tell(f"The payer offers a call on case {case_id}; the inbox has the times.")
        self._put(at, case_id, "missed", worker)

    def _decide_without_call(self, reviewer: str, case_id: str) -> None:
        if reviewer:
            self._later(case_id, "physician", worker=reviewer)

    def _determine(self, case_id: str, worker: str) -> None:
        decided = self.world.medical.active(case_id)
        decision = DeterminationDecision.APPROVED
        if decided is not None and decided.decision is MdReviewDecision.DENY:
            decision = DeterminationDecision.DENIED
        elif decided is not None and decided.decision is MdReviewDecision.PARTIAL_APPROVE:
            decision = DeterminationDecision.PARTIALLY_APPROVED
        elif payer_calls.upheld(self.world, case_id):
            decision = DeterminationDecision.DENIED
        self.world.determinations.finalize(case_id, decision, actor=worker)
        self._later(case_id, "letter")

    def _letter(self, case_id: str, worker: str) -> None:
        determined = self.world.determinations.active(case_id)
        if determined is None:
            return
        approved = determined.final_decision is DeterminationDecision.APPROVED
        # An approval rests on what is in force, whatever a reviewer went by before.
        found = self._found(case_id, self._in_force(case_id) if approved else None)
        # Where a lane decides without a review, there are no criteria to cite.
        listed = {item.criterion_id for item in self.world.nursing.catalog(case_id)}
        named = () if approved else tuple(name for name in found.named() if name in listed)
        kind = _LETTERS[determined.final_decision]
        basis = found.summary()
        if determined.source == DeterminationSource.TRIAGE_AUTO_APPROVE:  # nobody read the packet
            reason = self.world.determinations.decisions_of(case_id)[-1].rationale
            basis = f"{found.policy.id}, version {found.policy.version}: {reason}"
        self.world.letters.generate(
            case_id,
            kind,
            actor=worker,
            supporting_basis=basis,
            # A version that is read in error is named in the basis; the desk cites its own policy.
            policy_citations=None
            if found.policy is not self._in_force(case_id)
            else tuple(map(found.policy.cite, named)) or found.policy.citations,
        )
        self._deliver(case_id, self.world.letters.of(case_id)[-1].id, worker)

    def _appeal(self, case_id: str, worker: str) -> None:
        appeal = self.world.appeals.open(case_id)
        if appeal is None:
            return
        plan, patient = self._plan(), self.world.cases.get(case_id).patient_id
        in_force, stubborn = self._in_force(case_id), patient in plan.stubborn
        policy = plan.misread.get(patient, in_force) if stubborn else in_force
        found = self._found(case_id, policy)
        payer_appeals.decide(self.world, appeal, worker, found, in_force, stubborn=stubborn)
        self._tell(f"The appeal of case {case_id} is decided.")

    def _external(self, case_id: str, worker: str) -> None:
        appeal = self.world.appeals.open(case_id)
        if appeal is None:
            return
        found = self._found(case_id, self._in_force(case_id))
        payer_appeals.review_externally(self.world, appeal, worker, found)
        self._tell(f"The external review of case {case_id} is decided.")

    # -- what steps share ------------------------------------------------------------------------

    def _later(self, case_id: str, step: str, *, worker: str = "", reply: bool = False) -> None:
        """Put a step on the agenda: who does it, and when that person gets to it."""
        worker = worker or self._assigned(case_id, ROLES[step])
        known = self.world.staff.workers.get(worker)
        hurried = self.world.cases.get(case_id).urgency is Urgency.EXPEDITED
        takes = HURRIED.get(step, TAKES[step]) if hurried else TAKES[step]
        takes += PER_CASE * (known.load if known else 0)
        at = duty.after(self.world, worker, takes)
        self._put(at, case_id, step, worker, reply=reply)

    def _put(
        self, at: datetime, case_id: str, step: str, worker: str, *, reply: bool = False
    ) -> None:
        self.world.clock.agenda.put(
            at, STEP, case_id=case_id, step=step, worker=worker, reply=reply
        )

    def _assigned(self, case_id: str, role: WorkerRole) -> str:
        """Return who of a role takes a case: the least busy who has not judged it before."""
        before = {entry.actor for entry in self.world.history.of(case_id)}
        people = [one for one in self.world.staff.with_role(role) if one not in before]
        again = tuple(self.world.staff.with_role(role))
        workers = self.world.staff.workers
        # Intake may come back to the clerk who had it.
        pool = people or list(again)
        return min(pool, key=lambda one: (workers[one].load if one in workers else 0, one))

    def _deliver(self, case_id: str, letter_id: str, worker: str) -> None:
        channel = self.world.cases.get(case_id).letter_channel
        self.world.letters.deliver(letter_id, channel, worker)
        self._tell(f"A letter about case {case_id} has arrived: {letter_id}.")

    def _tell(self, text: str) -> None:
        self.world.notify(self._plan().listener, text)

    def _plan(self) -> DeskPlan:
        plan = self.plan
        if plan is None:
            raise RuntimeError("The payer's desk works without a plan.")
        return plan

    def _in_force(self, case_id: str) -> Policy:
        policy = covering(self.world, case_id)
        if policy is None:
            raise RuntimeError(f"No policy of the payer's covers what {case_id} asks for.")
        return policy

    def _found(self, case_id: str, policy: Policy | None = None) -> Finding:
        """Return what the packet shows, by the policy that the reviewers go by."""
        case = self.world.cases.get(case_id)
        policy = policy or self._plan().misread.get(case.patient_id) or self._in_force(case_id)
        today = case.created_at.date()
        packet = read_packet(self.world, case_id, policy, today)
        return Finding(policy, packet, evaluate(policy, packet.facts, packet.request, today))

    def _wanted(self, case_id: str, found: Finding) -> tuple[str, ...]:
        """Return what is still to be asked for, in words."""
        case = self.world.cases.get(case_id)
        asked = self._plan().on_request.get(case.patient_id, ())
        return found.wanted(asked, self.world.operations, case.created_at.date())
