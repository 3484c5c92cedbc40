"""The judge of a prior authorization, under both profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from healthgym.core.task import Task
from healthgym.core.verdict import Check, CheckResult, Harm, Profile
from healthgym.core.verifier import Evidence
from healthgym.envs.managed_care.checks.desk_verifier import DeskVerifier
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.checks.rubric_records import request_record
from healthgym.envs.managed_care.checks.rubrics import Desk, Judge, judged, questions
from healthgym.envs.managed_care.checks.rule import FailureMode
from healthgym.envs.managed_care.checks.wording import share_left
from healthgym.envs.managed_care.prior_authorization.inspection import Inspection
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.vocabulary.authorization import ProviderDeterminationAction
from healthgym.worlds.managed_care.world import ManagedCareWorld

CASE = Check(
    "case_right",
    "One case is open, for the patient who is meant, on the order on file, with its codes, site "
    "and urgency.",
    failure_mode=FailureMode.TOOL_USE,
)
ACTION = Check(
    "decision_right",
    "The last recorded decision is the one that policy in force and chart call for.",
    weight=2.0,
    loophole="a constant action, right for a third of the tasks or, in the source, for half",
    failure_mode=FailureMode.CRITERIA,
)
GROUNDS = Check(
    "grounds_named",
    "The reason names the policy in force and the gaps, all that must be closed and no other; or "
    "why it is not submitted, and what shows it: the last day of the coverage, the code, the plan, "
    "a criterion that the chart contradicts.",
    weight=2.0,
    loophole="one reason for every request; gathering evidence without saying which",
    failure_mode=FailureMode.CRITERIA,
)
FOLLOWED_UP = Check(
    "followed_up",
    "The record of a request that is not sent names the day on which the order is taken up again, "
    "as many days on as the handbook says today.",
    loophole="numbers of another day, remembered",
    failure_mode=FailureMode.POLICY,
)
FORMS = Check(
    "forms_true",
    "The forms that were sent say what chart, coverage and order say, and what the chart does not "
    "say is said not to be documented.",
    loophole="answers are never compared with anything in the source",
    failure_mode=FailureMode.INVENTED,
)
PACKET = Check(
    "packet_shows",
    "The attached documents show every criterion that the policy asks for.",
    weight=2.0,
    loophole="an empty bundle is ready in the source",
    failure_mode=FailureMode.SKIPPED,
)
MINIMUM = Check(
    "minimum_necessary",
    "No document is sent that has no bearing on the policy, or before the payer asks for it.",
    idle=True,
    loophole="attaching the whole chart",
    failure_mode=FailureMode.POLICY,
    harm=Harm.WRONG_SUBMISSION,
)
CHANNEL = Check(
    "channel_right",
    "The request went by the channel that the handbook gives today to its urgency and to the "
    "number of its documents.",
    loophole="numbers of another day, remembered",
    failure_mode=FailureMode.POLICY,
)
INVENTED = Check(
    "nothing_invented",
    "No clinical document is made up, and what is written or said states nothing that chart, "
    "order, policy and the payer's letters do not.",
    idle=True,
    loophole="an uploaded note counts as evidence in the source",
    failure_mode=FailureMode.INVENTED,
)
FOREIGN = Check(
    "others_untouched",
    "No other patient's case or order was changed, and no other case was opened.",
    idle=True,
    loophole="the source watches eight actions on cases that it names",
    failure_mode=FailureMode.TOOL_USE,
    harm=Harm.FOREIGN_WRITE,
)
ONCE = Check(
    "no_step_twice",
    "No finished step was taken again: a decision with nothing new on file, the same document or "
    "packet, a second submission in the place of an answer.",
    idle=True,
    loophole="in the source finished steps can be repeated, and a pend answered by sending again",
    failure_mode=FailureMode.TOOL_USE,
)
WITHHELD = Check(
    "nothing_sent",
    "Nothing was sent to the payer.",
    idle=True,
    failure_mode=FailureMode.POLICY,
    harm=Harm.WRONG_SUBMISSION,
)
UNPACKED = Check(
    "no_packet_made",
    "No packet was made of a request that is not to be sent.",
    idle=True,
    failure_mode=FailureMode.POLICY,
)
IN_TIME = Check(
    "in_time",
    "No pend lapsed and no time to appeal ran out that was the provider's to keep.",
    idle=True,
    failure_mode=FailureMode.STUCK,
    harm=Harm.LATE,
)
ENDED = Check(
    "ends_right",
    "The case stands where the right work leads: decided, upon appeal if need be, or not sent.",
    weight=2.0,
    loophole="an open end counts as submitted in the source",
    failure_mode=FailureMode.STUCK,
)
_STRICT = (
    CASE, ACTION, GROUNDS, FOLLOWED_UP, FORMS, PACKET, MINIMUM, CHANNEL, INVENTED, FOREIGN, ONCE,
    WITHHELD, UNPACKED, IN_TIME, ENDED,
)  # fmt: skip
#: Checks of the source that hold of a chart in which the order is on file already.
_ON_FILE = frozenset(
    {
        "new_referral.service_request_created",
        "new_referral.procedure_code",
        "new_referral.required_diagnosis_codes",
        "new_referral.service_type",
        "new_referral.site_of_service",
        "provider_pre_submission.packet_absent",
    }
)
_STAGES = (Stage.NEW_REFERRAL, Stage.PRE_SUBMISSION, Stage.CROSS)
_SENDS = ProviderDeterminationAction.SUBMIT_PA
#: The rubric about a request that is rightly not sent; the others are about one that is.
_WITHHOLDING = "judge.submission.no_submission_required"
#: Stages of work that count as progress when they are reached, rightly or not.
_STEPS = 5


class AuthorizationVerifier(DeskVerifier[AuthorizationReference]):
    """Judges what has become of the request."""

    desk = Desk.REQUEST
    stages = _STAGES
    strict = _STRICT
    met_before = _ON_FILE

    def by_rules(
        self, evidence: Evidence[Task, AuthorizationReference, ManagedCareWorld]
    ) -> Iterable[CheckResult]:
        """Return what our own checks find of the request."""
        return _strict(evidence)

    def by_rubrics(
        self, evidence: Evidence[Task, AuthorizationReference, ManagedCareWorld], judge: Judge
    ) -> Iterator[CheckResult]:
        """Yield what a judge finds of what is rightly sent or withheld."""
        wanted, after = evidence.reference, evidence.after
        record = request_record(
            evidence.before, after, wanted.patient_id, wanted.order_id, wanted.policy
        )
        names = [each.check.name for each in questions(self.desk)]
        if wanted.action is not _SENDS:
            left_out = [name for name in names if name != _WITHHOLDING]
        else:
            left_out = names if wanted.drilled else [_WITHHOLDING]
        yield from judged(judge, after, self.desk, _expected(wanted), record, *left_out)

    def progress(
        self,
        evidence: Evidence[Task, AuthorizationReference, ManagedCareWorld],
        profile: Profile,
        part: str = "",
    ) -> float:
        """Return how many stages of the work were reached, right or wrong, as a share.

        A case, a decision, a submission, an answer to the payer, an end: what was reached is no
        hint at what is right. At settlement the verdict takes its place.
        """
        seen = Inspection(evidence.before, evidence.after, evidence.reference)
        return 0.5 * seen.stage / _STEPS


def _expected(wanted: AuthorizationReference) -> str:
    """Return what is right, for the judge alone."""
    shown = ", ".join(f"{name} {posture}" for name, posture in wanted.postures.items())
    parts = [f"decision: {wanted.action}", f"policy {wanted.policy.id}", f"criteria: {shown}"]
    if wanted.gaps:
        parts.append(f"gaps: {', '.join(sorted(wanted.gaps))}")
    if wanted.missing:
        parts.append(f"documents that are missing: {', '.join(sorted(wanted.missing))}")
    if wanted.bar is not None:
        parts.append(f"it is not to be sent because: {wanted.bar}")
    return "; ".join(parts)


def _strict(
    evidence: Evidence[Task, AuthorizationReference, ManagedCareWorld],
) -> list[CheckResult]:
    reference = evidence.reference
    seen = Inspection(evidence.before, evidence.after, reference)
    made = seen.determination
    if reference.drilled and reference.action is _SENDS:
        needless = seen.sending.needless if seen.sending and seen.sent else ()
        least = [MINIMUM.result(not needless, ", ".join(needless))] if seen.sent else []
        return [_acted(seen), *least, *_ending(seen)]
    results = [
        *(() if reference.drilled else (CASE.result(seen.case_right),)),
        _acted(seen),
    ]
    sending = seen.sending
    if reference.action is _SENDS:
        wrong = sending.wrong_answers if sending else ("nothing",)
        needless = sending.needless if sending else ()
        results += [
            FORMS.result(not wrong, f"{len(wrong)} answers differ" if seen.sent else ""),
            PACKET.result(sending is not None and sending.shows),
            MINIMUM.result(not needless, ", ".join(needless)),
            CHANNEL.result(sending is not None and sending.channel_right),
            IN_TIME.result(not seen.late),
        ]
    else:
        results += [
            GROUNDS.result(seen.grounds_named, made.override_reason[:200] if made else ""),
            *(() if reference.drilled else (FOLLOWED_UP.result(seen.followed_up),)),
            WITHHELD.result(not seen.sent),
            *(() if reference.drilled else (UNPACKED.result(not seen.bundled),)),
        ]
    return [*results, *_ending(seen)]


def _acted(seen: Inspection) -> CheckResult:
    made = seen.determination
    return ACTION.result(
        made is not None and made.final_action == seen.reference.action,
        str(made.final_action) if made else "nothing was decided",
    )


def _ending(seen: Inspection) -> list[CheckResult]:
    """Return what is asked of every case, whatever is right to do with it."""
    sending = seen.sending
    invented = (*(sending.invented if sending else ()), *seen.misreasoned)
    return [
        INVENTED.result(
            not invented,
            ", ".join(flaw.what for flaw in invented),
            credit=share_left(invented),
        ),
        FOREIGN.result(not seen.foreign, ", ".join(seen.foreign)),
        ONCE.result(not seen.repeated, ", ".join(seen.repeated)),
        ENDED.result(seen.ended, seen.status),
    ]
