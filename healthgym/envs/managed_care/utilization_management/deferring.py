"""Physicians who open no packet: one takes the last word for true, one takes the contrary.

They begin where a nurse has handed a case on, or a denial is appealed, and give up elsewhere. What
they go by is on record; calls they hold as somebody does who knows what to ask.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from pydantic import TypeAdapter

from healthgym.core.borders import Json
from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.envs.managed_care.utilization_management import calling
from healthgym.envs.managed_care.utilization_management.hearing import conclude
from healthgym.envs.managed_care.utilization_management.posting import post, tell
from healthgym.envs.managed_care.utilization_management.task import (
    ReviewInstance,
    ReviewReference,
    StartStage,
)
from healthgym.envs.managed_care.utilization_management.working import Desk, Openings
from healthgym.worlds.managed_care.apps.payer.criteria import findings
from healthgym.worlds.managed_care.policies.criteria import REQUEST_KINDS
from healthgym.worlds.managed_care.policies.postures import combined, decisive, favourable, limit_of
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    CriterionResult,
    LetterType,
    MdReviewDecision,
    PeerToPeerOutcome,
    Posture,
)

_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])
_POSTURES = {
    CriterionResult.MET: Posture.SATISFIED,
    CriterionResult.NOT_MET: Posture.CONTRADICTS,
    CriterionResult.UNCLEAR: Posture.INSUFFICIENT,
}
_RESULTS = {posture: result for result, posture in _POSTURES.items()}
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
_MD = MdReviewDecision
_WORDS = {_MD.APPROVE: "approved", _MD.PARTIAL_APPROVE: "partially_approved", _MD.DENY: "denied"}
_LETTERS: Mapping[CaseStatus, tuple[LetterType, str]] = {
    CaseStatus.APPROVED: (LetterType.APPROVAL, "approval"),
    CaseStatus.PARTIALLY_APPROVED: (LetterType.PARTIAL_APPROVAL, "approval"),
    CaseStatus.DENIED: (LetterType.DENIAL, "denial"),
}


def baselines(opening: Openings) -> Mapping[str, Baseline[Task, ReviewReference, WorldStart]]:
    """Return the physicians.

    Args:
        opening: Returns what begins the episode of a task in which its script is worked out.
    """

    def of(*, contrary: bool) -> Baseline[Task, ReviewReference, WorldStart]:
        def play(instance: ReviewInstance, rng: np.random.Generator) -> Script:
            desk = Desk(opening(instance)(), rng)
            physician = Deferring(desk, instance, contrary=contrary)
            if instance.reference.stage is StartStage.MD_REVIEW:
                physician.work()
            elif instance.reference.stage is StartStage.APPEAL:
                physician.hear()
            desk.do("finish")
            return desk.calls

        return play

    return {"trusting_physician": of(contrary=False), "contrary_physician": of(contrary=True)}


class Deferring:
    """A physician who decides by what was written before, and looks at nothing else.

    Args:
        desk: Where calls are made.
        instance: The task, for the case, its policy, and what the other side of a call holds.
        contrary: Whether the nurse is thought to be wrong on what decides the case.
    """

    def __init__(self, desk: Desk, instance: ReviewInstance, *, contrary: bool) -> None:
        self.desk, self.wanted, self.contrary = desk, instance.reference, contrary
        self.case_id, self.tree = self.wanted.case_id, self.wanted.policy.criteria
        self.rules = instance.start.operations
        self.before = desk.episode.world.clone()

    def work(self) -> None:
        """Decide, make it final, and write; nothing where no nurse has looked."""
        found = findings(self.before.nursing.reviews_of(self.case_id))
        rows = {name: one for (_, name), one in found.items()}
        if not rows:
            return
        if self.contrary:
            rows = self._turned(rows)
        decision = self._decide(rows)
        if decision is _MD.P2P_REVIEW:
            calling.hold(self.desk, self.wanted, self.before)
            held = self.desk.world.peer.of(self.case_id)[-1]
            overturned = held.outcome is PeerToPeerOutcome.OVERTURN_TO_APPROVAL
            decision = _MD.APPROVE if overturned else _MD.DENY
        self._close(_WORDS[decision])

    def hear(self) -> None:
        """Decide an appeal by what the denial found, or by the contrary of what it rests on."""
        found = findings(self.before.medical.reviews_of(self.case_id))
        rows = {name: one for (_, name), one in found.items()}
        hangs_on = decisive(self.tree, _postures(rows))
        outcome = AppealOutcome.APPEAL_UPHELD
        if self.contrary:
            outcome, rows = AppealOutcome.APPEAL_OVERTURNED, self._turned(rows)
        policy = self.wanted.policy
        said = f"{policy.id}, version {policy.version}: {' and '.join(hangs_on)}."
        conclude(self.desk, self.case_id, outcome, said, _written(rows))

    def _turned(
        self, rows: Mapping[str, NurseCriterionEvaluation]
    ) -> dict[str, NurseCriterionEvaluation]:
        """Return findings by which the case ends otherwise, on what it hangs on, or the first."""
        good = favourable(self.tree)
        hangs_on = decisive(self.tree, _postures(rows))
        if hangs_on:
            new = {name: _RESULTS[good[name]] for name in hangs_on}
        else:
            asked = (
                name
                for name in rows
                if not isinstance(self.wanted.policy.criterion(name), REQUEST_KINDS)
            )
            against = {Posture.SATISFIED: CriterionResult.NOT_MET}
            new = {name: against.get(good[name], CriterionResult.MET) for name in list(asked)[:1]}
        return {name: replace(one, result=new.get(name, one.result)) for name, one in rows.items()}

    def _decide(self, rows: Mapping[str, NurseCriterionEvaluation]) -> MdReviewDecision:
        """Write the findings down as one's own, and decide by them."""
        desk, postures = self.desk, _postures(rows)
        hangs_on = decisive(self.tree, postures)
        units = limit_of(self.tree, postures)
        decision = self._follows(postures, hangs_on, units)
        physician = desk.somebody(self.rules.may_sign)
        desk.do(
            "review.save_md_review",
            case_id=self.case_id,
            line_number=1,
            evaluations=_written(rows),
            reviewer_id=physician,
        )
        reason = f"{self.wanted.policy.id}: what was sent does not show {' and '.join(hangs_on)}."
        lines: list[Json] = []
        if decision is _MD.PARTIAL_APPROVE:
            line = {"line_number": 1, "decision": str(decision), "approved_units": units}
            lines.append({**line, "denial_rationale": reason})
        desk.do(
            "review.submit_md_case_decision",
            case_id=self.case_id,
            decision=str(decision),
            determination_rationale=reason if hangs_on else "Everything is met.",
            denial_rationale=reason if decision is _MD.DENY else "",
            line_item_decisions=lines,
            reviewer_id=physician,
            signed_off=True,
        )
        return decision

    def _follows(
        self, postures: Mapping[str, Posture], hangs_on: tuple[str, ...], units: int | None
    ) -> MdReviewDecision:
        """Return the decision that findings call for, by the handbook."""
        whole = combined(self.tree, postures)
        if whole is Posture.SATISFIED:
            return _MD.APPROVE
        if whole is Posture.CONTRADICTS and units is not None:
            return _MD.PARTIAL_APPROVE
        alone = len(hangs_on) == 1 and postures[hangs_on[0]] in _OPEN
        return _MD.P2P_REVIEW if alone and self.wanted.answered else _MD.DENY

    def _close(self, word: str) -> None:
        """Make the decision final, and send what follows from it."""
        roles = self.rules.may_approve if word == "approved" else self.rules.may_deny
        self.desk.do(
            "determination.finalize",
            case_id=self.case_id,
            decision=word,
            actor=self.desk.somebody(roles),
        )
        status = self.desk.world.cases.get(self.case_id).status
        if status in _LETTERS:
            letter, notice = _LETTERS[status]
            post(self.desk, self.case_id, letter)
            tell(self.desk, self.case_id, [notice])


def _written(rows: Mapping[str, NurseCriterionEvaluation]) -> list[Json]:
    """Return findings as a tool takes them."""
    written: list[Json] = json.loads(_EVALUATIONS.dump_json(tuple(rows.values())))
    return written


def _postures(rows: Mapping[str, NurseCriterionEvaluation]) -> dict[str, Posture]:
    """Return postures as a nurse's findings have them; nothing is named where a page is silent."""
    return {
        name: Posture.ABSENT
        if one.result is CriterionResult.UNCLEAR and not one.source_refs_used
        else _POSTURES[one.result]
        for name, one in rows.items()
    }
