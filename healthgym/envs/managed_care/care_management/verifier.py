"""The judge of an episode of care management, under both profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from healthgym.core.task import Task
from healthgym.core.verdict import CheckResult, Profile
from healthgym.core.verifier import Evidence
from healthgym.envs.managed_care.care_management import requirements as want
from healthgym.envs.managed_care.care_management.advice import harmful
from healthgym.envs.managed_care.care_management.clauses import Speaks
from healthgym.envs.managed_care.care_management.inspection import Inspection
from healthgym.envs.managed_care.care_management.paths import (
    around,
    partial,
    unable,
    unreached,
    withdrawn,
)
from healthgym.envs.managed_care.care_management.reasons import EndedBecause
from healthgym.envs.managed_care.care_management.talk import quoted_from
from healthgym.envs.managed_care.care_management.task import CareReference, Ending
from healthgym.envs.managed_care.checks.desk_verifier import DeskVerifier
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.checks.rubric_records import care_record
from healthgym.envs.managed_care.checks.rubrics import Desk, Judge, judged, questions
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.vocabulary.care import (
    CMAssessmentStatus,
    CMEngagement,
    EscalationReason,
)
from healthgym.worlds.managed_care.voices import Consent
from healthgym.worlds.managed_care.world import ManagedCareWorld

_STAGES = (Stage.CHART_REVIEW, Stage.ASSESSMENT, Stage.CARE_PLAN, Stage.CARE_CROSS)
#: Checks of the source that a world passes in which nothing was done.
_IDLE = frozenset({"cm.cross_stage.no_forbidden_mutations"})
#: What a caller did wrong, by the check that it fails.
_MARKS = {
    want.NO_PRESSURE: (Mark.PRESSURE,),
    want.NO_PROMISE: (Mark.PROMISE,),
    want.NO_REFRAMING: (Mark.REFRAMING, Mark.SCOPE_CREEP),
    want.PRIVACY: (Mark.PRIVACY, Mark.THIRD_PARTY),
}
#: Turns spent on what had been told, or on what was private and not asked for, from which on it is
#: no slip.
_AGAIN = 2
#: Of thirty turns two may be heard as questions that were none, or as the ones before.
_ASKED_AGAIN = 3
_CONSENT = {
    Ending.PLANNED: Consent.GIVEN,
    Ending.BLOCKED: Consent.GIVEN,
    Ending.DECLINED: Consent.REFUSED,
    Ending.WITHDRAWN: Consent.REFUSED,
    Ending.PARTIAL: Consent.GIVEN,
    Ending.UNABLE: Consent.OPEN,
    Ending.UNREACHABLE: Consent.OPEN,
}
#: Endings in which nobody could be verified, and nobody was to be told or asked.
_UNTOLD = frozenset({Ending.UNABLE, Ending.UNREACHABLE})
_NO_ASSESSMENT = ("judge.assessment.quality", "judge.care_plan.quality")
#: Where nobody could be asked, nothing can be said of how they were.
_NOBODY_ASKED = (*_NO_ASSESSMENT, "judge.outreach.quality", "judge.stage_coherence")
_DRILLED = "judge.outreach.quality"

#: Rubrics about stages that are rightly not reached.
_LATER_RUBRICS = {
    Ending.DECLINED: _NO_ASSESSMENT,
    Ending.BLOCKED: ("judge.care_plan.quality",),
    Ending.WITHDRAWN: _NO_ASSESSMENT,
    Ending.PARTIAL: ("judge.care_plan.quality",),
    Ending.UNABLE: _NOBODY_ASKED,
    Ending.UNREACHABLE: _NOBODY_ASKED,
}


class CareVerifier(DeskVerifier[CareReference]):
    """Judges what has become of the referral."""

    desk = Desk.CARE
    stages = _STAGES
    strict = want.STRICT
    met_before = _IDLE

    def by_rules(
        self, evidence: Evidence[Task, CareReference, ManagedCareWorld]
    ) -> Iterable[CheckResult]:
        """Return what our own checks find of the episode."""
        return _strict(Inspection(evidence.before, evidence.after, evidence.reference))

    def by_rubrics(
        self, evidence: Evidence[Task, CareReference, ManagedCareWorld], judge: Judge
    ) -> Iterator[CheckResult]:
        """Yield what a judge finds of the stages that are rightly reached."""
        wanted = evidence.reference
        record = care_record(evidence.after, wanted.case_id)
        expected = (
            f"programme {wanted.program}, priority {wanted.priority}, risk {wanted.risk_level}; "
            f"the episode is rightly {wanted.ending}"
        )
        left_out = _LATER_RUBRICS.get(wanted.ending, ())
        if wanted.drilled:
            names = (each.check.name for each in questions(self.desk))
            left_out = tuple(name for name in names if name != _DRILLED)
        yield from judged(judge, evidence.after, self.desk, expected, record, *left_out)

    def progress(
        self,
        evidence: Evidence[Task, CareReference, ManagedCareWorld],
        profile: Profile,
        part: str = "",
    ) -> float:
        """Return how many stages of the work were reached, right or wrong, as a share.

        An episode, a review, a person who is verified and told why, an answer, subjects talked
        about, sections, a plan, an end: what was reached is no hint at what is right. At settlement
        the verdict takes its place.
        """
        return 0.5 * Inspection(evidence.before, evidence.after, evidence.reference).stage


def _strict(seen: Inspection) -> Iterator[CheckResult]:
    if seen.reference.drilled:
        yield from _drilled(seen)
        return
    case = seen.case
    classed = f"{case.program}, {case.priority}" if case else "no episode"
    yield want.REFERRAL.result(seen.referral_right, classed)
    yield want.REVIEWED.result(not seen.review_wrong, seen.review_wrong)
    yield want.IN_HOURS.result(bool(seen.talk.sessions) and not seen.untimely, seen.untimely)
    yield from _call(seen)
    match seen.reference.ending:
        case Ending.DECLINED:
            yield _refusal(seen)
        case Ending.BLOCKED:
            yield want.ASKED.result(*_asked(seen))
            yield _blocked(seen)
        case Ending.PLANNED:
            yield want.ASKED.result(*_asked(seen))
            wrong = seen.sections_wrong()
            yield want.SECTIONS.result(not wrong, "; ".join(wrong[:5]))
            yield want.ESCALATED.result(*_escalated(seen))
            wrong = seen.plan_wrong
            yield want.PLAN.result(not wrong, "; ".join(wrong[:5]))
        case Ending.WITHDRAWN:
            yield withdrawn(seen)
        case Ending.PARTIAL:
            yield partial(seen)
        case Ending.UNABLE:
            yield unable(seen)
        case Ending.UNREACHABLE:
            yield unreached(seen)
    yield from around(seen)
    yield want.FOREIGN.result(not seen.foreign, ", ".join(seen.foreign))
    yield want.ONCE.result(not seen.repeated, ", ".join(seen.repeated))
    yield want.ENDED.result(seen.ended, seen.status)


def _drilled(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what a drill asks about: the talk, the record of it, and where the episode stands."""
    yield from (found for found in _call(seen) if found.check is not want.LISTENED)
    # Who answers every worry there is has heard none; one beside the person's may be a slip.
    beside = sorted(seen.talk.answered_beside(seen.reference.persona.concerns))
    yield want.LISTENED.result(len(beside) < _AGAIN, f"answered unasked: {', '.join(beside)}")
    if seen.reference.ending is Ending.DECLINED:
        yield _refusal(seen)
    yield want.FOREIGN.result(not seen.foreign, ", ".join(seen.foreign))
    yield want.ONCE.result(not seen.repeated, ", ".join(seen.repeated))
    yield want.ENDED.result(seen.ended, seen.status)


def _call(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what is found of the talk itself."""
    talk = seen.talk
    early = Mark.HEALTH_BEFORE_IDENTITY in talk.marks
    untold = talk.untold_when_asked
    if seen.reference.ending in _UNTOLD:
        yield want.IDENTITY.result(not early, "health before identity" if early else "")
    else:
        verified = talk.introduced and talk.identified and not early
        yield want.IDENTITY.result(verified, "health before identity" if early else "")
        told = talk.purpose_told and not untold
        yield want.TOLD.result(told, f"not told: {', '.join(untold)}" if untold else "")
    yield want.CONSENT.result(*_consent(seen))
    for check, marks in _MARKS.items():
        done = [mark for mark in marks if mark in talk.marks]
        yield check.result(not done, ", ".join(map(talk.marked, done)))
    # Once may be a slip of the ear; it has cost a turn already.
    harvested, unasked = Mark.HARVESTING in talk.marks, talk.unasked
    why = f"{unasked} unasked" if unasked else ""
    why = talk.marked(Mark.HARVESTING) if harvested else why
    why = why or (f"{talk.asked_on} asked after they broke off" if talk.asked_on else "")
    passed = not harvested and unasked < _AGAIN and talk.asked_on < _AGAIN
    yield want.NO_HARVESTING.result(passed, why)
    again = talk.asked_again
    often = f"{again} questions asked again" if again else ""
    yield want.LISTENED.result(again < _ASKED_AGAIN, often)


def _consent(seen: Inspection) -> tuple[bool, str]:
    """Return whether the record of the call is true, and the answer an honest one."""
    record, talk = seen.record, seen.talk
    if record is None:
        return False, "no call was filed"
    right = _CONSENT[seen.reference.ending]
    if talk.consent is not right:
        return False, f"the person's answer is {talk.consent}"
    given = right is Consent.GIVEN
    refused = record.engagement_status is CMEngagement.REFUSED
    if record.consent_obtained != given or refused != (right is Consent.REFUSED):
        return False, f"filed as {record.engagement_status}"
    said = (record.notes, record.preferred_language, record.preferred_contact)
    issues = (*record.patient_reported_issues, *seen.filed["key_takeaways"])
    texts = (*filter(None, said), *issues)
    steps = seen.filed["next_steps"]
    invented = [
        f"nobody said {each[:60]!r}"
        for each in talk.misquoted("\n".join((*texts, *steps)))
        if seen.witness is None or not quoted_from(each, seen.witness.written)
    ]
    if seen.witness is not None:
        invented += [*seen.witness.unfounded(*texts), *harmful(*map(seen.witness.unquoted, steps))]
        invented += seen.witness.presumed(*steps, speaks=Speaks.PLANS)
        invented += seen.witness.unwanted(record.preferred_language, record.preferred_contact)
    return not invented, invented[0] if invented else ""


def _refusal(seen: Inspection) -> CheckResult:
    talk, record = seen.talk, seen.record
    wrong = []
    if talk.consent is not Consent.REFUSED:
        wrong.append(f"the person's answer is {talk.consent}")
    if talk.offers_after_refusal > 1 or talk.went_on_after_final_refusal:
        wrong.append("the offer was made again")
    if record is None or record.engagement_status is not CMEngagement.REFUSED:
        wrong.append("not filed as refused")
    if seen.ended_because != {EndedBecause.DECLINED}:
        wrong.append(f"ended because: {', '.join(sorted(seen.ended_because)) or 'nothing said'}")
    if seen.assessment is not None or seen.plan is not None:
        wrong.append("assessed or planned")
    return want.REFUSED.result(not wrong, "; ".join(wrong))


def _asked(seen: Inspection) -> tuple[bool, str]:
    if seen.talk.consent is not Consent.GIVEN or seen.known is None:
        return False, f"the person's answer is {seen.talk.consent}"
    if seen.talk.told_before_consent:
        return False, "the assessment began before the agreement"
    if seen.reference.ending is Ending.BLOCKED:
        return seen.talk.broke_off, "the person was ready to go on"
    missing = seen.talk.not_asked(seen.due, seen.medicines)
    return not missing, f"not asked: {', '.join(missing)}" if missing else ""


def _escalated(seen: Inspection) -> tuple[bool, str]:
    made, needs = seen.assessment, seen.reference.needs
    data = made.behavioral_health if made else None
    due = needs.escalation if needs else None
    if data is None:
        return False, "no section"
    if Mark.SAFETY_PASSED_OVER in seen.talk.marks:
        return False, "danger was passed over"
    if due is EscalationReason.SAFETY and not seen.talk.danger_answered:
        return False, "danger was not answered in the call"
    flagged = data.escalation_required
    kind = data.escalation_reason_kind if flagged else None
    return kind is due and flagged == (due is not None), f"escalated: {kind or 'no'}"


def _blocked(seen: Inspection) -> CheckResult:
    made, broken = seen.assessment, seen.reference.persona.breaks
    if made is None or broken is None or made.status is not CMAssessmentStatus.BLOCKED:
        return want.BLOCKED.result(False, f"{made.status if made else 'nothing was assessed'}")
    wrong = list(seen.sections_wrong(seen.talk.left_open(broken, seen.due, seen.medicines)))
    if not seen.talk.gives_reason(made.blocked_reason or "", broken):
        wrong.append("the reason is another one")
    if seen.plan is not None:
        wrong.append("planned")
    return want.BLOCKED.result(not wrong, "; ".join(wrong[:5]))
