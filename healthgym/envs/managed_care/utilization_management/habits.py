"""What those do who do not read what decides: one answer for every case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from healthgym.core.borders import Json
from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.envs.managed_care.utilization_management.hearing import conclude
from healthgym.envs.managed_care.utilization_management.posting import post, tell
from healthgym.envs.managed_care.utilization_management.taking_in import take_in
from healthgym.envs.managed_care.utilization_management.task import (
    ReviewInstance,
    ReviewReference,
)
from healthgym.envs.managed_care.utilization_management.working import Desk, Opening
from healthgym.worlds.managed_care.service_levels import case_timers, triage_urgency
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    CriterionResult,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    MemberNotification,
    NurseReviewRecommendation,
    PayerRouteTarget,
    TriageDisposition,
)

_APPROVE, _DENY = MdReviewDecision.APPROVE, MdReviewDecision.DENY
_Nurse = NurseReviewRecommendation
_LETTERS = {
    CaseStatus.APPROVED: LetterType.APPROVAL,
    CaseStatus.DENIED: LetterType.DENIAL,
    CaseStatus.PARTIALLY_APPROVED: LetterType.PARTIAL_APPROVAL,
    CaseStatus.PENDED_ACTION_REQUIRED: LetterType.PEND,
}
_NOTICES = {
    LetterType.APPROVAL: MemberNotification.APPROVAL,
    LetterType.DENIAL: MemberNotification.DENIAL,
    LetterType.PEND: MemberNotification.PEND,
    LetterType.PARTIAL_APPROVAL: MemberNotification.APPROVAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """What somebody says of every case.

    Attributes:
        result: The finding on each criterion.
        whole: Whether each finding names the whole packet, and not its first page only.
        nurse: What the nurse recommends.
        physician: What the physician decides.
        lane: The lane that is asked for in place of the policy's.
        passes: Whether triage takes each case for one that a lane approves.
        instead: What is made final in place of what was recommended.
        posts: Whether every letter and notice is tried that there is.
    """

    result: CriterionResult
    whole: bool = False
    nurse: NurseReviewRecommendation
    physician: MdReviewDecision
    lane: PayerRouteTarget | None = None
    passes: bool = False
    instead: DeterminationDecision | None = None
    posts: bool = False


_HABITS: Mapping[str, Habit] = {
    "flood": Habit(
        result=CriterionResult.MET, whole=True, nurse=_Nurse.APPROVE, physician=_APPROVE, posts=True
    ),
    "approve_everything": Habit(
        result=CriterionResult.MET, nurse=_Nurse.APPROVE, physician=_APPROVE
    ),
    "deny_everything": Habit(
        result=CriterionResult.NOT_MET, nurse=_Nurse.ESCALATE, physician=_DENY
    ),
    "ask_everything": Habit(
        result=CriterionResult.UNCLEAR,
        nurse=_Nurse.REQUEST_INFO,
        physician=MdReviewDecision.REQUEST_INFO,
    ),
    "override_denial": Habit(
        result=CriterionResult.MET,
        nurse=_Nurse.APPROVE,
        physician=_APPROVE,
        instead=DeterminationDecision.DENIED,
    ),
    "route_gold_card": Habit(
        result=CriterionResult.MET,
        nurse=_Nurse.APPROVE,
        physician=_APPROVE,
        lane=PayerRouteTarget.GOLD_CARD_LANE,
    ),
    "pass_everything": Habit(
        result=CriterionResult.MET, nurse=_Nurse.APPROVE, physician=_APPROVE, passes=True
    ),
}
#: Of which the shares of the classes make a guess.
_GUESSES = ("approve_everything", "deny_everything", "ask_everything")


def baselines(
    opening: Callable[[ReviewInstance], Opening],
) -> Mapping[str, Baseline[Task, ReviewReference, WorldStart]]:
    """Return the scripts that do not read what decides.

    Args:
        opening: Returns what begins the episode of a task in which its script is worked out.
    """

    def of(name: str) -> Baseline[Task, ReviewReference, WorldStart]:
        def play(instance: ReviewInstance, rng: np.random.Generator) -> Script:
            habit = _HABITS[name or _GUESSES[int(rng.integers(len(_GUESSES)))]]
            desk = Desk(opening(instance)(), rng)
            Clerk(desk, instance, habit).work()
            desk.do("finish")
            return desk.calls

        return play

    return {**{name: of(name) for name in _HABITS}, "prior": of("")}


class Clerk:
    """Somebody who treats every case alike; what is refused stays undone.

    Args:
        desk: Where calls are made.
        instance: The task, for the case and the names of its criteria.
        habit: What is said of every case.
    """

    def __init__(self, desk: Desk, instance: ReviewInstance, habit: Habit) -> None:
        self.desk, self.habit = desk, habit
        self.case_id, self.policy = instance.reference.case_id, instance.reference.policy
        self.rules = instance.start.operations

    def work(self) -> None:
        """Try each stage that is left, one after the other."""
        world, case = self.desk.world, self.case_id
        if world.appeals.open(case) is not None:
            self._hear()
            return
        # As whoever knows the doors: what is judged by habit is what is behind them.
        take_in(self.desk, case)
        if world.triage.routing_of(case) is None:
            self._take_in()
            self._sort()
        if not self._over() and not world.nursing.of(case):
            self._recommend()
        if not self._over() and not world.medical.of(case):
            self._decide()
        if world.peer.open_request(case):
            self._record()
        self._determine()
        self._post()

    def _hear(self) -> None:
        """Decide an appeal as every appeal, for every criterion there is."""
        overturns = self.habit.physician is _APPROVE
        outcome = AppealOutcome.APPEAL_OVERTURNED if overturns else AppealOutcome.APPEAL_UPHELD
        rows = self._rows()
        named = " and ".join(row["criterion_id"] for row in rows)
        said = f"{self.policy.id}, version {self.policy.version}: {named}."
        conclude(self.desk, self.case_id, outcome, said, rows)

    def _over(self) -> bool:
        return self.desk.world.cases.get(self.case_id).status is not CaseStatus.UNDER_REVIEW

    def _take_in(self) -> None:
        self.desk.clerk()
        self.desk.do(
            "payer_intake_hub.confirm_decisions",
            case_id=self.case_id,
            request_complete=True,
            member_eligible=True,
            service_covered=True,
            provider_network_status="in_network",
        )

    def _sort(self) -> None:
        desk, case = self.desk, self.case_id
        intake = desk.world.intake.get(case)
        urgency = triage_urgency(intake.level_of_urgency)
        level = desk.world.triage.level(case, urgency)
        auto, nurse = TriageDisposition.AUTO_APPROVAL, TriageDisposition.NURSE_REVIEW
        desk.do(
            "triage.set_disposition",
            case_id=case,
            urgency_level=str(urgency),
            sla_deadline=level.deadline(intake.received_at).isoformat(),
            sla_hours=level.hours,
            sla_rule_source=level.rule_source,
            gold_card_eligible=desk.world.triage.holds_gold_card(case),
            disposition=str(auto if self.habit.passes else nurse),
            disposition_reason="As usual.",
            actor=desk.somebody(self.rules.may_route),
        )
        if self.habit.lane is not None:
            lane = str(self.habit.lane)
            supervisor = desk.somebody(("supervisor",))
            desk.do("triage.route_case", case_id=case, actor=supervisor, override_target=lane)
        else:
            desk.do("triage.route_case", case_id=case, actor=desk.somebody(self.rules.may_route))

    def _rows(self) -> list[Json]:
        """Return the same finding on each criterion."""
        pages = [page.id for page in self.desk.world.intake.sent(self.case_id)]
        named = pages if self.habit.whole else pages[:1]
        return [
            {
                "criterion_id": item.criterion_id,
                "criterion_text": item.criterion_text,
                "criteria_source": self.policy.id,
                "criteria_version": self.policy.version,
                "result": str(self.habit.result),
                "source_refs_used": named,
            }
            for item in self.desk.world.nursing.catalog(self.case_id)
        ]

    def _recommend(self) -> None:
        nurse = self.desk.somebody(self.rules.may_recommend)
        self.desk.do(
            "review.save_criteria_evaluation",
            case_id=self.case_id,
            line_number=1,
            evaluations=self._rows(),
            reviewer_id=nurse,
        )
        asks = self.habit.nurse is _Nurse.REQUEST_INFO
        self.desk.do(
            "review.submit_nurse_case_recommendation",
            case_id=self.case_id,
            recommendation=str(self.habit.nurse),
            clinical_notes="As usual.",
            info_requested=self._everything() if asks else "",
            reviewer_id=nurse,
        )

    def _everything(self) -> str:
        named = (item.criterion_id for item in self.desk.world.nursing.catalog(self.case_id))
        return "\n".join(f"Whatever there is on {name}" for name in named)

    def _decide(self) -> None:
        decision, desk = self.habit.physician, self.desk
        physician = desk.somebody(self.rules.may_sign)
        desk.do(
            "review.save_md_review",
            case_id=self.case_id,
            line_number=1,
            evaluations=self._rows(),
            reviewer_id=physician,
        )
        asks = decision is MdReviewDecision.REQUEST_INFO
        due = desk.now + case_timers(self.rules).pend
        named = " ".join(row["criterion_id"] for row in self._rows())
        desk.do(
            "review.submit_md_case_decision",
            case_id=self.case_id,
            decision=str(decision),
            determination_rationale="As usual.",
            denial_rationale=f"Not shown: {named}." if decision is _DENY else "",
            info_requested=self._everything() if asks else "",
            info_deadline=f"{due:%Y-%m-%d}" if asks else "",
            reviewer_id=physician,
            signed_off=True,
        )

    def _record(self) -> None:
        request = self.desk.world.peer.of(self.case_id)[-1].id
        approves = self.habit.physician is _APPROVE
        outcome = "overturn_to_approval" if approves else "uphold_intended_adverse_decision"
        self.desk.do(
            "p2p.record_outcome",
            request_id=request,
            payer_contact_id=self.desk.somebody(self.rules.may_hold_peer_to_peer),
            outcome=outcome,
            note="As usual.",
        )

    def _determine(self) -> None:
        denies = self.habit.physician is _DENY
        word = DeterminationDecision.DENIED if denies else DeterminationDecision.APPROVED
        other = self.habit.instead
        self.desk.do(
            "determination.finalize",
            case_id=self.case_id,
            decision=str(other or word),
            overridden=other is not None,
            override_reason="As usual." if other else "",
            actor=self.desk.somebody(self.rules.may_sign),
        )

    def _post(self) -> None:
        status = self.desk.world.cases.get(self.case_id).status
        due = [_LETTERS[status]] if status in _LETTERS else []
        for kind in _LETTERS.values() if self.habit.posts else due:
            post(self.desk, self.case_id, kind)
            tell(self.desk, self.case_id, [str(_NOTICES[kind])])
