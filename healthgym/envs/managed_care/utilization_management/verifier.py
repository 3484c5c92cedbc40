"""The judge of a review, under both profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from healthgym.core.task import Task
from healthgym.core.verdict import CheckResult, Profile
from healthgym.core.verifier import Evidence
from healthgym.envs.managed_care.checks.desk_verifier import DeskVerifier
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.checks.rubric_records import review_record
from healthgym.envs.managed_care.checks.rubrics import Desk, Judge, judged
from healthgym.envs.managed_care.checks.wording import share_left
from healthgym.envs.managed_care.utilization_management.appealed import Appealed
from healthgym.envs.managed_care.utilization_management.checks import (
    ACKNOWLEDGED,
    ANSWERED,
    CALL,
    DECIDED,
    DETERMINED,
    DOOR,
    ENDED,
    FINDINGS,
    FOREIGN,
    IN_TIME,
    INDEPENDENT,
    INFORMATION,
    INTAKE,
    LETTERS,
    OBSERVED,
    ONCE,
    RECOMMENDED,
    ROLES,
    SOURCED,
    STRICT,
    TRIAGE,
    UNDECIDED,
    WORDED,
)
from healthgym.envs.managed_care.utilization_management.inspection import Inspection
from healthgym.envs.managed_care.utilization_management.steps import reached
from healthgym.envs.managed_care.utilization_management.task import ReviewReference, StartStage
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Checks of the source that are met before anybody of the payer's has looked.
_FILLED = frozenset(
    {
        # Nobody is nobody who decided the case.
        "appeal.reviewer_independence",
        "intake.diagnoses_match",
        "intake.line_items_populated",
        "intake.provider_npi_matches",
        "cross.forward_transitions",
    }
)
#: Checks of the source that ask for a nurse's word, which a drill of findings does not.
_CONCLUDING = frozenset({"nurse.recommendation_exists", "nurse.audit"})
_STAGES = (
    Stage.INTAKE,
    Stage.TRIAGE,
    Stage.NURSE,
    Stage.PHYSICIAN,
    Stage.PEER,
    Stage.OUTCOME,
    Stage.APPEAL,
    Stage.CROSS,
)


class ReviewVerifier(DeskVerifier[ReviewReference]):
    """Judges what has become of the case. Stages that were done before are not asked about."""

    desk = Desk.REVIEW
    stages = _STAGES
    strict = STRICT
    met_before = _FILLED

    def by_source(
        self, evidence: Evidence[Task, ReviewReference, ManagedCareWorld]
    ) -> Iterable[CheckResult]:
        """Return what the source's checks find; of a drill of findings not of a word on them."""
        found = super().by_source(evidence)
        if evidence.reference.drilled:
            return [one for one in found if one.check.name not in _CONCLUDING]
        return found

    def by_rules(
        self, evidence: Evidence[Task, ReviewReference, ManagedCareWorld]
    ) -> Iterable[CheckResult]:
        """Return what our own checks find of the case."""
        return _strict(Inspection(evidence.before, evidence.after, evidence.reference))

    def by_rubrics(
        self, evidence: Evidence[Task, ReviewReference, ManagedCareWorld], judge: Judge
    ) -> Iterator[CheckResult]:
        """Yield what a judge finds of the stages that were the episode's."""
        wanted, after = evidence.reference, evidence.after
        reviewed = wanted.drilled or wanted.recommendation is not None
        asked = {
            "judge.nurse_review.criterion_assessment": reviewed,
            "judge.md_review.decision_rationale": wanted.decision is not None,
            "judge.p2p.resolution_points": wanted.call is not None,
            "judge.outcome.letter": bool(wanted.letters),
        }
        record = review_record(after, wanted.case_id, wanted.policy)
        left_out = [name for name, due in asked.items() if not due]
        yield from judged(judge, after, self.desk, _expected(wanted), record, *left_out)

    def progress(
        self,
        evidence: Evidence[Task, ReviewReference, ManagedCareWorld],
        profile: Profile,
        part: str = "",
    ) -> float:
        """Return how many of the stages ahead were reached, right or wrong, as a share of a half.

        What was reached is no hint at what is right. At settlement the verdict takes its place.
        """
        return 0.5 * reached(evidence.before, evidence.after, evidence.reference.case_id)


def _expected(wanted: ReviewReference) -> str:
    """Return what is right, for the judge alone."""
    findings = ", ".join(f"{name} {result}" for name, result in wanted.results.items())
    parts = [f"findings: {findings}", f"determination: {wanted.determination or 'none'}"]
    if wanted.denied_on:
        parts.append(f"it rests on {', '.join(sorted(wanted.denied_on))}")
    if wanted.outcome is not None:
        parts.append(f"the call ends with: {wanted.outcome}")
    return "; ".join(parts)


def _strict(seen: Inspection) -> Iterator[CheckResult]:
    wanted = seen.reference
    if wanted.drilled:
        yield from _drilled(seen)
        return
    if seen.appealed is not None:
        yield from _appeal(seen, seen.appealed)
        return
    if wanted.door is not None:
        yield DOOR.result(not seen.door_wrong, seen.door_wrong)
    answered = bool(wanted.wanted) and wanted.determination is not None
    if wanted.intake is not None or answered or seen.reopened:
        due = wanted.intake is not None or seen.reopened
        yield INTAKE.result(due and seen.intake_right)
    if wanted.triage is not None:
        yield TRIAGE.result(seen.triage_right)
    yield from _reviewed(seen)
    if wanted.call is not None:
        yield CALL.result(seen.call_right)
    yield from _closed(seen)
    yield from _kept(seen)


def _kept(seen: Inspection) -> Iterator[CheckResult]:
    """Yield whether the rules were kept that hold whatever a case deserves."""
    yield ROLES.result(not seen.misplaced, ", ".join(seen.misplaced))
    yield IN_TIME.result(not seen.late)
    yield FOREIGN.result(not seen.foreign, ", ".join(seen.foreign))
    yield ONCE.result(not seen.repeated, ", ".join(seen.repeated))
    flaws = seen.worded.unsound
    said = "; ".join(flaw.what for flaw in flaws)
    yield WORDED.result(not flaws, said, credit=share_left(flaws))


def _appeal(seen: Inspection, appealed: Appealed) -> Iterator[CheckResult]:
    """Yield what is found of an appeal."""
    found, read = seen.findings, appealed.read_first
    wrong = found.wrong_on_appeal
    yield ACKNOWLEDGED.result(appealed.acknowledged)
    yield INDEPENDENT.result(appealed.independent)
    yield FINDINGS.result(read and not wrong, f"{len(wrong)} differ" if wrong else "")
    yield OBSERVED.result(read and not found.misread, ", ".join(found.misread))
    yield SOURCED.result(read and not found.unsourced, ", ".join(found.unsourced))
    yield ANSWERED.result(appealed.decided_right, str(appealed.appeal.outcome or "not decided"))
    yield LETTERS.result(seen.posted.right, ", ".join(seen.posted.flawed))
    yield ENDED.result(seen.ended, str(seen.status))
    yield from _kept(seen)


def _drilled(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what is found where a nurse's findings, or a physician's word, is all that is asked."""
    if seen.reference.stage is not StartStage.NURSE_REVIEW:
        yield from _decided(seen)
        return
    found, entered = seen.findings, bool(seen.findings.nurse)
    wrong = found.wrong_by_nurse
    right = 1 - len(wrong) / len(seen.reference.results) if entered else 0.0
    said = f"{len(wrong)} differ" if wrong else ""
    yield FINDINGS.result(entered and not wrong, said, credit=right)
    yield SOURCED.result(entered and not found.unsourced, ", ".join(found.unsourced))
    yield ROLES.result(not seen.misplaced, ", ".join(seen.misplaced))
    yield FOREIGN.result(not seen.foreign, ", ".join(seen.foreign))
    yield ONCE.result(not seen.repeated, ", ".join(seen.repeated))


def _decided(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what is found of a physician's questions and word."""
    wanted = seen.reference
    if wanted.wanted:
        yield INFORMATION.result(seen.information_right)
    said = ", ".join(str(one.decision) for one in seen.decided)
    if wanted.decision is not None:
        yield DECIDED.result(seen.physician_right, said)
        yield DETERMINED.result(seen.determination_right, said)
    else:
        yield UNDECIDED.result(seen.undecided, said)
    yield ENDED.result(seen.ended, str(seen.status))
    yield from _kept(seen)


def _closed(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what is found of the end; where there is nothing to decide, that nobody did."""
    made = seen.determination
    said = str(made.final_decision) if made else "nothing is determined"
    if seen.reference.determination is not None:
        yield DETERMINED.result(seen.determination_right, said)
    else:
        yield UNDECIDED.result(seen.undecided, said)
    if seen.reference.letters:
        yield LETTERS.result(seen.posted.right, ", ".join(seen.posted.flawed))
        yield ENDED.result(seen.ended, str(seen.status))


def _reviewed(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what is found of the reviews that are the episode's."""
    wanted, found = seen.reference, seen.findings
    by_nurse = wanted.recommendation is not None
    # Where the policy reserves a service, nobody but a physician asks.
    by_physician = wanted.decision is not None or (bool(wanted.wanted) and not by_nurse)
    if by_nurse or by_physician:
        wrong = (found.wrong_by_nurse if by_nurse else ()) or (
            found.wrong_on_record if by_physician else ()
        )
        entered = bool(found.nurse) or bool(found.physician)
        yield FINDINGS.result(entered and not wrong, f"{len(wrong)} differ" if wrong else "")
        yield OBSERVED.result(entered and not found.misread, ", ".join(found.misread))
        yield SOURCED.result(entered and not found.unsourced, ", ".join(found.unsourced))
    if by_nurse:
        yield RECOMMENDED.result(seen.recommendation_right, ", ".join(map(str, seen.recommended)))
    if wanted.wanted:
        yield INFORMATION.result(seen.information_right)
    if wanted.decision is not None:
        said = ", ".join(str(one.decision) for one in seen.decided)
        yield DECIDED.result(seen.physician_right, said)
