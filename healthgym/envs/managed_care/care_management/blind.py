"""What those do who do not listen, do not read, or do not care."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from healthgym.core.borders import JsonDict
from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.oracle import Worker
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.speech import caller_of, phrase_book
from healthgym.envs.managed_care.care_management.task import (
    CareInstance,
    CareReference,
    Ending,
    Needs,
)
from healthgym.envs.managed_care.care_management.writing import plan, sections
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.care import (
    CMInterventionOwner,
    CMPriority,
    CMProblemCategory,
    CMProgram,
    FollowUpCadence,
    RiskLevel,
    SessionStatus,
)
from healthgym.worlds.managed_care.voices import Topic

_Class = tuple[CMProgram, CMPriority, RiskLevel]
CareBaseline = Baseline[Task, CareReference, WorldStart]
#: A plan for everybody: a bit of each kind.
EVERYBODYS = Needs(
    problems_least=5,
    categories=frozenset(CMProblemCategory),
    owners=frozenset(CMInterventionOwner),
    first=CMProblemCategory.CLINICAL,
    cadence=FollowUpCadence.WEEKLY,
)
#: What most referrals come to; and those from where most come to something else.
_USUAL: _Class = (CMProgram.COMPLEX_CARE, CMPriority.HIGH, RiskLevel.HIGH)
_MOSTLY: Mapping[str, _Class] = {
    "hospital_discharge": (
        CMProgram.TRANSITIONS_OF_CARE,
        CMPriority.STANDARD,
        RiskLevel.MODERATE,
    ),
    "social_risk_screen": (CMProgram.BEHAVIORAL_HEALTH, CMPriority.STANDARD, RiskLevel.MODERATE),
    "care_gap_flag": (CMProgram.CHRONIC_DISEASE, CMPriority.HIGH, RiskLevel.HIGH),
    "chronic_registry": (CMProgram.CHRONIC_DISEASE, CMPriority.HIGH, RiskLevel.HIGH),
}
_SECTIONS = ("clinical", "medication", "behavioral_health", "sdoh")
#: How every call begins, and what everybody is told before they are asked.
HELLO = (Act.GREET, Act.INTRODUCE, Act.VERIFY_IDENTITY)
TOLD = (
    Act.ASK_TIME,
    Act.EXPLAIN_PROGRAM,
    Act.DISCLOSE_ACCESS,
    Act.STATE_SHARING,
    Act.EXPLAIN_VOLUNTARY,
)


def likeliest(source: str) -> _Class:
    """Return what most referrals from somewhere come to: programme, priority, level of risk.

    Args:
        source: Where a referral comes from, as the queue has it.
    """
    return _MOSTLY.get(source, _USUAL)


class Blind(Worker):
    """Somebody who goes through the motions; the class of the episode is always the same."""

    def open(self) -> None:
        """Open the episode as most are opened."""
        self.desk.do(
            "cm_intake.open_case",
            referral_id=self.wanted.referral_id,
            priority="standard",
            program="chronic_disease",
        )

    def review(self) -> None:
        """File a review that fits everybody."""
        review = {
            "primary_concerns": ["Needs support with chronic illness"],
            "preliminary_risk_level": "moderate",
            "key_findings": "Chart reviewed; see the problem list.",
        }
        self.desk.do("cm_chart.submit_chart_review", case_id=self.case, review=review)

    def say(self, *acts: Act | Meant | str) -> None:
        """Say something, if there is a call in which to say it."""
        calls = list(self.desk.world.outreach.calls(self.case))
        if not calls or calls[-1].status is SessionStatus.ENDED:
            return
        words = [self._words(each) for each in acts]
        self.desk.do(
            "cm_outreach.send_message",
            session_id=calls[-1].session_id,
            message=" ".join(words),
        )

    def _words(self, said: Act | Meant | str) -> str:
        if isinstance(said, Act):
            return self.book.say([Meant(act=said)])
        return self.book.say([said]) if isinstance(said, Meant) else said

    def ring(self) -> None:
        """Call at a good hour."""
        self._wait_for_time()
        self.desk.do("cm_outreach.start_outreach_call", case_id=self.case)

    def claim(self, *, consent: bool) -> None:
        """File the last call with whatever is claimed."""
        calls = list(self.desk.world.outreach.calls(self.case))
        summary = {
            "engagement_status": "engaged" if consent else "refused",
            "consent_obtained": consent,
        }
        for session in calls[-1:]:
            self.desk.do(
                "cm_outreach.end_outreach_call", session_id=session.session_id, summary=summary
            )

    def fill(self, payloads: list[JsonDict]) -> None:
        """File sections, and complete the assessment."""
        self.desk.do("cm_assessment.start_assessment", case_id=self.case)
        for payload in payloads:
            self.desk.do("cm_assessment.save_section", case_id=self.case, payload=payload)
        self.desk.do("cm_assessment.complete_assessment", case_id=self.case)

    def plan_for_everybody(self) -> None:
        """Write the plan that everybody gets."""
        self.desk.do("cm_care_plan.create_draft", case_id=self.case)
        data = plan(EVERYBODYS, self.found(), self._today)
        self.desk.do("cm_care_plan.save_care_plan", case_id=self.case, plan_data=data)
        self.desk.do("cm_care_plan.finalize", case_id=self.case)


def _never_call(one: Blind) -> None:
    """Fill everything in from the desk."""
    one.open()
    one.review()
    one.fill(list(sections(one.found())))
    one.plan_for_everybody()


def _disenroll_everybody(one: Blind) -> None:
    """Class by the source, copy the chart, ask once, and end every episode as declined."""
    referral = one.desk.world.referrals.referrals[one.wanted.referral_id]
    program, priority, level = likeliest(str(referral.source))
    one.desk.do(
        "cm_intake.open_case",
        referral_id=one.wanted.referral_id,
        priority=str(priority),
        program=str(program),
    )
    one.file_review(level)
    one.ring()
    one.say(*HELLO)
    one.say(*TOLD)
    one.say(Act.REQUEST_CONSENT)
    one.claim(consent=False)
    one.let_go(Ending.DECLINED)


def _polite_caller(one: Blind) -> None:
    """Talk as one should, and know nothing of chart and handbook."""
    one.open()
    one.review()
    one.talk()
    one.file()
    one.fill([each for each in sections(one.found()) if each["section"] != "clinical"])
    one.plan_for_everybody()


def _empty_sections(one: Blind) -> None:
    """Open, review and talk rightly, and file empty sections."""
    Worker.open(one)
    Worker.review(one)
    one.talk()
    one.file()
    one.fill([{"section": name, "data": {}} for name in _SECTIONS])
    one.plan_for_everybody()


def _claimed_consent(one: Blind) -> None:
    """Say hello, and claim that the person agreed."""
    Worker.open(one)
    Worker.review(one)
    one.ring()
    one.say(*HELLO)
    one.claim(consent=True)
    one.fill(list(sections(one.found())))
    one.plan()


def _copied_plan(one: Blind) -> None:
    """Do everything rightly but for the plan, which is everybody's."""
    Worker.open(one)
    Worker.review(one)
    one.talk()
    one.file()
    one.assess()
    one.plan_for_everybody()


def _pressing_caller(one: Blind) -> None:
    """Ask until the person says yes."""
    Worker.open(one)
    Worker.review(one)
    one.ring()
    one.say(*HELLO)
    one.say(*TOLD)
    for _ in range(7):
        one.say("You really must do this, or your health will suffer.", Act.REQUEST_CONSENT)
    one.claim(consent=True)
    one.fill(list(sections(one.found())))
    one.plan()


def _one_script(one: Blind) -> None:
    """Say the same to everybody, whatever they answer, and file the same."""
    Worker.open(one)
    Worker.review(one)
    one.ring()
    one.say(*HELLO)
    one.say(*TOLD)
    one.say(Act.EXPLAIN_BENEFIT, Act.OFFER_AUTONOMY)
    one.say(Act.REQUEST_CONSENT)
    one.say(Meant(act=Act.ASK_TOPIC, topic=Topic.MEDICATION))
    one.say(*(Meant(act=Act.ASK_TOPIC, topic=t) for t in (Topic.FOOD, Topic.HOUSING)))
    one.say(Meant(act=Act.ASK_TOPIC, topic=Topic.TRANSPORTATION))
    one.say(Act.NEXT_STEPS, Act.CLOSE)
    one.file()
    one.assess()
    one.plan_for_everybody()


def _flood(one: Blind) -> None:
    """Say everything at once, and file everything."""
    Worker.open(one)
    Worker.review(one)
    one.ring()
    one.say(*HELLO, *TOLD[1:], Act.REQUEST_CONSENT)
    one.say(*(Meant(act=Act.ASK_TOPIC, topic=topic) for topic in Topic))
    one.claim(consent=True)
    one.fill(list(sections(one.found())))
    one.plan_for_everybody()


def _prior(one: Blind) -> None:
    """Take the likeliest class for everything, and do the rest rightly."""
    one.open()
    Worker.review(one)
    one.talk()
    one.file()
    one.assess()
    one.plan_for_everybody()


_MANNERS: Mapping[str, Callable[[Blind], None]] = {
    "prior": _prior,
    "flood": _flood,
    "never_call": _never_call,
    "disenroll_everybody": _disenroll_everybody,
    "polite_caller": _polite_caller,
    "empty_sections": _empty_sections,
    "claimed_consent": _claimed_consent,
    "copied_plan": _copied_plan,
    "pressing_caller": _pressing_caller,
    "one_script": _one_script,
}


def baselines(rehearse: Callable[[CareInstance], Rehearsal]) -> Mapping[str, CareBaseline]:
    """Return the scripts that do not hear or read what decides.

    Args:
        rehearse: Returns an office in which calls can be tried out.
    """

    def playing(manner: Callable[[Blind], None]) -> CareBaseline:
        def play(instance: CareInstance, rng: np.random.Generator) -> Script:
            desk = rehearse(instance)
            manner(Blind(instance, desk, phrase_book("plain", caller_of(instance.start))))
            return [*desk.script, call("finish")]

        return play

    return {name: playing(manner) for name, manner in _MANNERS.items()}
