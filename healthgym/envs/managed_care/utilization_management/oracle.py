"""What somebody does who knows the answer: each stage that is left, by whoever is in."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
from pydantic import TypeAdapter

from healthgym.core.borders import Json
from healthgym.core.family import Script
from healthgym.envs.managed_care.utilization_management import calling, hearing, taking_in
from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.envs.managed_care.utilization_management.posting import post, tell
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from healthgym.envs.managed_care.utilization_management.working import Desk, Opening
from healthgym.worlds.managed_care.duty import is_in
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.service_levels import case_timers, service_level
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    IntakeStatus,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerRouteTarget,
)

_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])
_ASKS = NurseReviewRecommendation.REQUEST_INFO
_PENDED = CaseStatus.PENDED_ACTION_REQUIRED
_CLERKS = ("intake_coordinator",)
_FAST = (PayerRouteTarget.GOLD_CARD_LANE, PayerRouteTarget.NOTIFICATION_ONLY_LANE)
#: A reply takes no longer; a pend lapses before.
_PATIENCE = timedelta(days=20)


def solve(instance: ReviewInstance, rng: np.random.Generator, opening: Opening) -> Script:
    """Take the case over where it stands, and see it through to the letter.

    Args:
        instance: The task.
        rng: Who of several able people does something.
        opening: Begins the episode in which it is worked out.
    """
    desk = Desk(opening(), rng)
    Review(desk, instance).see_through()
    desk.do("finish")
    return desk.calls


class Review:
    """A case in the hands of somebody who knows what it deserves.

    Args:
        desk: Where calls are made.
        instance: The task.
    """

    def __init__(self, desk: Desk, instance: ReviewInstance) -> None:
        self.desk, self.wanted = desk, instance.reference
        self.case_id = instance.reference.case_id
        self.before = desk.episode.world.clone()
        self.rules = instance.start.operations

    def see_through(self) -> None:
        """Do every stage that is left; what is wanted may turn out on the way."""
        if self.wanted.appeal is not None:
            hearing.hear(self.desk, self.wanted, self.before, self.evaluations)
            return
        taking_in.take_in(self.desk, self.case_id)
        if self.wanted.intake is not None:
            self.take_in()
        if self.wanted.triage is not None:
            self.sort()
        if self.wanted.recommendation is not None:
            self.recommend()
        asks = bool(self.wanted.wanted) and self.wanted.recommendation is None
        if self.wanted.decision is not None or asks:
            self.decide()
        self.talk()
        if self.wanted.determination is not None:
            self.determine()
        self.inform()

    def talk(self) -> None:
        """Hold the call that is due, if one is."""
        if self.wanted.call is not None:
            calling.hold(self.desk, self.wanted, self.before)

    # -- intake and triage -----------------------------------------------------------------------

    def take_in(self) -> None:
        """Put the record right, and confirm it."""
        self.desk.do("payer_intake_hub.get_intake_case", case_id=self.case_id)
        self.desk.do("payer_intake_hub.list_documents", case_id=self.case_id)
        self.desk.clerk()
        for name, data in self._corrections(self.desk.world.intake.get(self.case_id)).items():
            self.desk.do(f"payer_intake_hub.{name}", case_id=self.case_id, data=data)
        self.confirm()

    def _corrections(self, intake: IntakeCase) -> dict[str, Json]:
        """Return what the record has otherwise than the request."""
        world = self.desk.world
        asked_for = world.cases.line(self.case_id)
        order = world.cases.order(world.cases.get(self.case_id).service_request_id)
        clinician = world.staff.practitioners.get(order.ordering_practitioner_id)
        found: dict[str, Json] = {}
        if not intake.state:
            found["save_auth_header"] = {"state": world.intake.member_state(self.case_id)}
        if sorted(one.code for one in intake.diagnoses) != sorted(asked_for.diagnosis_codes):
            names = {c.code: c.display for c in world.charts[order.patient_id].conditions}
            rows = [
                {"name": names.get(code, code), "code": code, "is_primary": not place}
                for place, code in enumerate(asked_for.diagnosis_codes)
            ]
            found["save_diagnoses"] = {"diagnoses": rows}
        named = intake.requesting_provider
        if clinician is not None and (named is None or named.npi != clinician.npi):
            found["save_requesting_provider"] = {
                "provider_name": clinician.name,
                "provider_id": clinician.id,
                "npi": clinician.npi,
            }
        return found

    def confirm(self) -> None:
        """Confirm the decisions of intake; after a reply those of before."""
        self.desk.clerk()
        wanted = self.wanted.intake
        known = self.before.intake.get(self.case_id)
        self.desk.do(
            "payer_intake_hub.confirm_decisions",
            case_id=self.case_id,
            request_complete=not self.finding().assessment.missing_documents,
            member_eligible=wanted.eligible if wanted else known.decision_member_eligible,
            service_covered=wanted.covered if wanted else known.decision_service_covered,
            provider_network_status=str(
                wanted.network if wanted else known.decision_provider_network_status
            ),
        )

    def sort(self) -> None:
        """Say until when and by whom the case is reviewed, and send it there."""
        wanted = self.wanted.triage
        if wanted is None:
            return
        desk, case = self.desk, self.case_id
        urgency = str(wanted.urgency)
        desk.do("triage.calculate_sla", case_id=case, urgency_level=urgency)
        desk.do("triage.check_gold_card", case_id=case)
        level = service_level(self.rules, wanted.urgency, desk.world.intake.member_state(case))
        worker = desk.somebody(self.rules.may_route)
        desk.do(
            "triage.set_disposition",
            case_id=case,
            urgency_level=urgency,
            sla_deadline=wanted.deadline.isoformat(),
            sla_hours=level.hours,
            sla_rule_source=level.rule_source,
            gold_card_eligible=wanted.gold_card,
            disposition=str(wanted.disposition),
            disposition_reason="By policy and provider.",
            actor=worker,
        )
        desk.do("triage.route_case", case_id=case, actor=desk.somebody(self.rules.may_route))

    # -- review ----------------------------------------------------------------------------------

    def recommend(self) -> None:
        """Evaluate and recommend, as a nurse; where something is asked, once more after that."""
        desk, wanted = self.desk, self.wanted
        nurse = self._evaluate("nurse")
        if wanted.recommendation is _ASKS:
            desk.do(
                "review.submit_nurse_case_recommendation",
                case_id=self.case_id,
                recommendation=str(_ASKS),
                clinical_notes="The packet leaves something open.",
                info_requested=self.listed(),
                reviewer_id=self._still(nurse),
            )
            if not self.answered():
                return
            wanted, nurse = self.wanted, self._evaluate("nurse")
        last = NurseReviewRecommendation.APPROVE
        if wanted.decision is not None or wanted.recommendation is not _ASKS:
            last = NurseReviewRecommendation.ESCALATE
        if wanted.recommendation is NurseReviewRecommendation.APPROVE:
            last = NurseReviewRecommendation.APPROVE
        desk.do(
            "review.submit_nurse_case_recommendation",
            case_id=self.case_id,
            recommendation=str(last),
            clinical_notes=self.finding().summary(),
            reviewer_id=self._still(nurse),
        )

    def listed(self) -> str:
        """Return what is asked for, one item a line."""
        policy = self.wanted.policy
        known = set(self.wanted.postures)
        return "\n".join(
            f"Criterion {name} of {policy.id}: a record that settles it"
            if name in known
            else f"Document: {name.replace('_', ' ')}"
            for name in sorted(self.wanted.wanted)
        )

    def answered(self) -> bool:
        """Send the letter of a request, and wait for the reply; return whether one came."""
        if LetterType.PEND in self.wanted.letters:
            post(self.desk, self.case_id, LetterType.PEND)
        tell(self.desk, self.case_id, [one for one in self.wanted.notices if one == "pend"])
        case = self.case_id
        self.desk.wait_for(lambda world: world.cases.get(case).status is not _PENDED, _PATIENCE)
        intake = self.desk.world.intake.get(case)
        if self.desk.world.cases.get(case).status in (CaseStatus.CLOSED, _PENDED):
            return False
        if intake.status is not IntakeStatus.COMPLETE:
            self.confirm()
        return True

    def decide(self) -> None:
        """Evaluate and decide, as a physician; where something is asked, once more after that."""
        desk, wanted = self.desk, self.wanted
        asks = wanted.wanted and wanted.recommendation is None
        if asks:
            physician = self._evaluate("md")
            due = desk.now + case_timers(self.rules).pend
            desk.do(
                "review.submit_md_case_decision",
                case_id=self.case_id,
                decision=str(MdReviewDecision.REQUEST_INFO),
                clinical_notes="The packet leaves something open.",
                info_requested=self.listed(),
                info_deadline=f"{due:%Y-%m-%d}",
                reviewer_id=self._still(physician),
            )
            if not self.answered():
                return
        self.conclude()

    def conclude(self, *, evaluates: bool = True) -> None:
        """Decide, as a physician of whom nothing more is asked.

        Args:
            evaluates: Whether the criteria are evaluated before; not where that was done, and
                nothing has come since.
        """
        desk, wanted = self.desk, self.wanted
        if wanted.decision is None:
            return
        physician = self._evaluate("md") if evaluates else desk.somebody(self.rules.may_sign)
        desk.do(
            "review.submit_md_case_decision",
            case_id=self.case_id,
            decision=str(wanted.decision),
            clinical_notes="Read against the policy in force.",
            determination_rationale=self.finding().summary(),
            denial_rationale=self.grounds() if self._adverse else "",
            line_item_decisions=self._lines(),
            reviewer_id=self._still(physician),
            signed_off=True,
        )

    @property
    def _adverse(self) -> bool:
        return self.wanted.decision is MdReviewDecision.DENY

    def _lines(self) -> list[Json]:
        if self.wanted.decision is not MdReviewDecision.PARTIAL_APPROVE:
            return []
        return [
            {
                "line_number": 1,
                "decision": str(MdReviewDecision.PARTIAL_APPROVE),
                "approved_units": self.wanted.units,
                "denial_rationale": self.grounds(),
            }
        ]

    def grounds(self) -> str:
        """Return why less is granted than was asked for."""
        found = self.finding()
        named = " and ".join(sorted(self.wanted.denied_on or found.named()))
        policy = self.wanted.policy
        return f"{policy.id}, version {policy.version}: what was sent does not show {named}."

    def finding(self) -> Finding:
        """Return what the packet shows now."""
        seen = Findings(self.before, self.desk.world, self.wanted)
        return Finding(self.wanted.policy, seen.packet, seen.shown)

    def evaluations(self) -> tuple[NurseCriterionEvaluation, ...]:
        """Return the findings, each with a document that bears on it."""
        seen = Findings(self.before, self.desk.world, self.wanted)
        rows = []
        for row in Finding(self.wanted.policy, seen.packet, seen.shown).evaluations():
            bearing = [
                name for name in seen.packet.documents if name in seen.bearing(row.criterion_id)
            ]
            rows.append(replace(row, source_refs_used=tuple(bearing)))
        return tuple(rows)

    def _evaluate(self, kind: str) -> str:
        """Write down what is found; return who does."""
        roles = self.rules.may_recommend if kind == "nurse" else self.rules.may_sign
        tool = "save_criteria_evaluation" if kind == "nurse" else "save_md_review"
        self.desk.do(f"review.get_{kind}_review_data", case_id=self.case_id)
        worker = self.desk.somebody(roles)
        self.desk.do(
            f"review.{tool}",
            case_id=self.case_id,
            line_number=1,
            evaluations=json.loads(_EVALUATIONS.dump_json(self.evaluations())),
            reviewer_id=worker,
        )
        return worker

    def _still(self, worker: str) -> str:
        """Return somebody who is in, or a colleague once that person has left for the day."""
        if is_in(self.desk.world, worker):
            return worker
        return self.desk.somebody((str(self.desk.world.staff.role_of(worker)),))

    # -- the end ---------------------------------------------------------------------------------

    def determine(self) -> None:
        """Make the decision final, unless a lane has."""
        triage = self.wanted.triage
        if triage is not None and triage.target in _FAST:
            return
        approved = self.wanted.determination is DeterminationDecision.APPROVED
        roles = self.rules.may_approve if approved else self.rules.may_deny
        self.desk.do("determination.get_summary", case_id=self.case_id)
        self.desk.do(
            "determination.finalize",
            case_id=self.case_id,
            decision=str(self.wanted.determination),
            actor=self.desk.somebody(roles),
        )

    def inform(self) -> None:
        """Write and send what is due in the end."""
        for kind in self.wanted.letters:
            if kind is not LetterType.PEND:
                post(self.desk, self.case_id, kind)
        tell(self.desk, self.case_id, [one for one in self.wanted.notices if one != "pend"])
