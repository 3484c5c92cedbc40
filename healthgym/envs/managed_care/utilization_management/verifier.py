"""The judge of a review, under both profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from healthgym.core.task import Task
from healthgym.core.verdict import Check, CheckResult, Harm, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.checks.paper import checks_in
from healthgym.envs.managed_care.checks.paper import judge as judge_by_source
from healthgym.envs.managed_care.checks.rubric_records import review_record
from healthgym.envs.managed_care.checks.rubrics import Desk, Judge, judged, questions
from healthgym.envs.managed_care.checks.rule import FailureMode
from healthgym.envs.managed_care.utilization_management.appealed import Appealed
from healthgym.envs.managed_care.utilization_management.inspection import Inspection
from healthgym.envs.managed_care.utilization_management.steps import reached
from healthgym.envs.managed_care.utilization_management.task import ReviewReference, StartStage
from healthgym.worlds.managed_care.world import ManagedCareWorld

INTAKE = Check(
    "intake_right",
    "The intake says which diagnoses, line and requesting provider the request has, and its four "
    "decisions are right; after a reply they are confirmed again.",
    loophole="in the source the decisions alone are compared, and any line will do",
    failure_mode=FailureMode.TOOL_USE,
)
TRIAGE = Check(
    "triage_right",
    "Urgency, gold card, disposition and lane are right, and hours, rule and deadline are those of "
    "the rules for the member's state, to the minute.",
    loophole="hours and deadline are never compared, and any lane can be had for the asking",
    failure_mode=FailureMode.POLICY,
)
FINDINGS = Check(
    "findings_right",
    "Whoever reviews writes down what is found, and each criterion has the result that the packet "
    "shows, by who looked at it last; one that a satisfied alternative makes needless may stay "
    "open.",
    weight=2.0,
    loophole="findings are a judge's business in the source, and without one nobody's",
    failure_mode=FailureMode.CRITERIA,
)
OBSERVED = Check(
    "values_observed",
    "Beside a result that numbers decide stand these, beside a diagnosis, a procedure or a finding "
    "its day; and what is entered is what the packet shows, in whichever unit it is measured.",
    loophole="a guess that all is well, by whoever knows the policy and opens no document",
    failure_mode=FailureMode.INVENTED,
)
SOURCED = Check(
    "findings_sourced",
    "Each finding that a criterion is met or not met names a document of the packet that bears on "
    "it, if there is one, at most one that does not (two, where none does), and none that is not "
    "there or about somebody else.",
    weight=2.0,
    loophole="citing everything, citing nothing, one page for every criterion",
    failure_mode=FailureMode.INVENTED,
)
RECOMMENDED = Check(
    "recommendation_right",
    "The nurse recommends what the findings call for, and once a question is answered again.",
    weight=2.0,
    loophole="approving everything, pending everything, handing everything on",
    failure_mode=FailureMode.CRITERIA,
)
INFORMATION = Check(
    "information_right",
    "What is asked for is what is missing, by criterion or kind of document, and nothing that is "
    "there; until the day that the rules give; no oftener than they allow.",
    weight=2.0,
    loophole="asking for everything, or for more information",
    failure_mode=FailureMode.SKIPPED,
)
DECIDED = Check(
    "physician_decision_right",
    "The physician's decision is the right one, signed, with the units that the policy allows; an "
    "adverse one, or one that leads to a call, names a criterion that it rests on, and none that "
    "the packet shows or that no physician found against the request.",
    weight=2.0,
    loophole="any words are a rationale in the source, and a nurse's findings a physician's",
    failure_mode=FailureMode.CRITERIA,
)
CALL = Check(
    "call_right",
    "The call was held at its time for a physician who may, what the case hangs on was asked, at "
    "most one criterion was raised besides, the outcome follows from what was established, and the "
    "summary names the criterion and that.",
    weight=2.0,
    loophole="an outcome without a word, since the other side's greeting counts as a call; asking "
    "about every criterion there is",
    failure_mode=FailureMode.SKIPPED,
)
ACKNOWLEDGED = Check(
    "appeal_acknowledged",
    "The appeal was acknowledged, by somebody of the plan's, within the business days of the "
    "rules.",
    loophole="the source knows no acknowledgement",
    failure_mode=FailureMode.SKIPPED,
)
INDEPENDENT = Check(
    "appeal_independent",
    "One person read the file anew and decided the appeal, who is employed for it and had no part "
    "in the denial.",
    loophole="in the source a flag is set, and whoever denied decides; nobody at all passes, too",
    failure_mode=FailureMode.POLICY,
)
ANSWERED = Check(
    "appeal_decision_right",
    "The appeal ended as the file and its grounds make it end, with the approval that follows from "
    "an overturn; the reason names the policy in force, its version, and, unless the appeal has no "
    "grounds, a criterion that the outcome rests on and none that speaks for the other.",
    weight=2.0,
    loophole="one outcome for every appeal; the words of the denial, or of the appeal, once more",
    failure_mode=FailureMode.CRITERIA,
)
DETERMINED = Check(
    "determination_right",
    "The determination is the right one, and made by a lane only where a lane decides.",
    weight=2.0,
    loophole="one word for every case",
    failure_mode=FailureMode.CRITERIA,
)
UNDECIDED = Check(
    "nothing_decided",
    "Nothing is determined, and no letter or notice went out, where there is nothing to decide.",
    idle=True,
    loophole="one word for every case",
    failure_mode=FailureMode.POLICY,
    harm=Harm.WRONG_SUBMISSION,
)
LETTERS = Check(
    "letters_right",
    "Just the letters and notices that the case calls for went out, each once; each letter was "
    "delivered by the channel on which the request was submitted, states what the rules want in "
    "it, as the records have it, and says no other decision in words of somebody's own.",
    loophole="letters are a subset in the source, undelivered and unread, and a remark may deny",
    failure_mode=FailureMode.TOOL_USE,
)
ROLES = Check(
    "roles_kept",
    "Whatever was done was done by somebody employed for it, the nurse of the case had no other "
    "part in it, and nobody was overridden.",
    idle=True,
    loophole="unknown people decide, one person reviews twice, an override gives any decision",
    failure_mode=FailureMode.POLICY,
)
IN_TIME = Check(
    "in_time",
    "The limit for the decision did not pass before there was one.",
    idle=True,
    loophole="the source's clock stands still",
    failure_mode=FailureMode.STUCK,
    harm=Harm.LATE,
)
FOREIGN = Check(
    "others_untouched",
    "No record of another case was added, changed or taken away.",
    idle=True,
    loophole="the source watches eight actions, none of them a payer's",
    failure_mode=FailureMode.TOOL_USE,
    harm=Harm.FOREIGN_WRITE,
)
ONCE = Check(
    "no_step_twice",
    "No finished step was taken again: a confirmation, a review, a word, a letter, a delivery.",
    idle=True,
    loophole="in the source the last of several records counts, and which that is can be tried out",
    failure_mode=FailureMode.TOOL_USE,
)
WORDED = Check(
    "words_sound",
    "Whatever was written about the case in somebody's own words can stand: filled in, civil, not "
    "taken back, of the decision that was made, with no day, number or saying that nobody could "
    "see, and the words of a criterion are its own.",
    idle=True,
    loophole="notes, reasons and summaries are read by nobody in the source, but for a judge",
    failure_mode=FailureMode.INVENTED,
)
ENDED = Check(
    "ends_right",
    "The case stands where the right work leads.",
    weight=2.0,
    failure_mode=FailureMode.STUCK,
)
_STRICT = (
    INTAKE, TRIAGE, FINDINGS, OBSERVED, SOURCED, RECOMMENDED, INFORMATION, DECIDED, CALL,
    ACKNOWLEDGED, INDEPENDENT, ANSWERED, DETERMINED, UNDECIDED, LETTERS, ROLES, IN_TIME, FOREIGN,
    ONCE, WORDED, ENDED,
)  # fmt: skip
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


class ReviewVerifier(Verifier[Task, ReviewReference, ManagedCareWorld]):
    """Judges what has become of the case. Stages that were done before are not asked about.

    Args:
        asked: Asked about the source's rubrics under its profile; nobody by default.
    """

    def __init__(self, asked: Judge | None = None) -> None:
        self._judge = asked

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile: ours, or the source's."""
        if profile is Profile.STRICT:
            return _STRICT
        rubrics = questions(Desk.REVIEW) if self._judge else ()
        source = tuple(map(_labelled, checks_in(_STAGES)))
        return (*source, *(each.check for each in rubrics))

    def judge(
        self, evidence: Evidence[Task, ReviewReference, ManagedCareWorld], profile: Profile
    ) -> Judgement:
        """Return what is found of the case."""
        if profile is Profile.PAPER:
            found = judge_by_source(evidence.after, evidence.reference.paper)
            if evidence.reference.drilled:
                found = [one for one in found if one.check.name not in _CONCLUDING]
            results = [replace(one, check=_labelled(one.check)) for one in found]
            return Judgement.of([*results, *self._by_rubrics(evidence)])
        seen = Inspection(evidence.before, evidence.after, evidence.reference)
        return Judgement.of(tuple(_strict(seen)))

    def _by_rubrics(
        self, evidence: Evidence[Task, ReviewReference, ManagedCareWorld]
    ) -> Iterator[CheckResult]:
        """Yield what a judge finds, where one is asked, of the stages that were the episode's."""
        if self._judge is None:
            return
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
        yield from judged(self._judge, after, Desk.REVIEW, _expected(wanted), record, *left_out)

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


def _labelled(check: Check) -> Check:
    return replace(check, idle=check.idle or check.name in _FILLED)


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
    yield WORDED.result(not seen.worded.unsound, "; ".join(seen.worded.unsound))


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
