"""What one does who knows the answer: opens, reviews, talks, assesses, plans, or lets go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time

from healthgym.core.borders import JsonDict
from healthgym.core.family import Script
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.assessed import uncoded
from healthgym.envs.managed_care.care_management.grounds import names_medicine
from healthgym.envs.managed_care.care_management.phoning import BOOK, Phoning
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.speech import caller_of, phrase_book
from healthgym.envs.managed_care.care_management.talk import SECTION_OF, Talk
from healthgym.envs.managed_care.care_management.task import CareInstance, Ending
from healthgym.envs.managed_care.care_management.writing import (
    Diagnosis,
    Findings,
    Medicine,
    Score,
    chart_review,
    plan,
    sections,
)
from healthgym.worlds.managed_care.apps.care_management.evidence import rules, same_medicine
from healthgym.worlds.managed_care.control import basis_of
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    CMEngagement,
    MotivationStage,
    RiskLevel,
)
from healthgym.worlds.managed_care.voices import Consent, Topic

_FINISH = call("finish")
#: Local hour at which somebody is called who may be called at any.
_CALLED_AT = time(10, 5)
_MOST_MESSAGES, _BOOK = 12, "plain"


def solve(instance: CareInstance, desk: Rehearsal) -> Script:
    """Handle a referral as it should be.

    Args:
        instance: The task.
        desk: An office in which the calls are tried out.
    """
    Worker(instance, desk, phrase_book(BOOK, caller_of(instance.start))).work()
    return [*desk.script, _FINISH]


#: Why an episode ends that is not assessed.
_REASONS = {
    Ending.DECLINED: "Declined on the phone after the programme was explained; wants no further "
    "calls.",
    Ending.WITHDRAWN: "Declined: agreed on the phone at first, and took the agreement back.",
    Ending.UNABLE: "Cannot consent: does not follow the question, and nobody with papers on file "
    "can answer it.",
    Ending.UNREACHABLE: "Unreachable: all attempts of the protocol were made, at different times "
    "of day.",
}


class Worker(Phoning):
    """A care manager who knows the answer."""

    def work(self) -> None:
        """Do all of it."""
        self.open()
        self.review()
        self.talk()
        self.file()
        match self.wanted.ending:
            case Ending.DECLINED | Ending.WITHDRAWN | Ending.UNABLE | Ending.UNREACHABLE:
                self.let_go(self.wanted.ending)
            case Ending.PARTIAL:
                self.assess_a_part()
            case Ending.BLOCKED:
                self.assess_in_part()
            case Ending.PLANNED:
                self.assess()
                self.plan()

    def open(self) -> None:
        """Open the episode."""
        wanted = self.wanted
        self.desk.do("cm_intake.list_referral_queue")
        self.desk.do(
            "cm_intake.open_case",
            referral_id=wanted.referral_id,
            priority=str(wanted.priority),
            program=str(wanted.program),
        )

    def review(self) -> None:
        """Read the chart and file what it tells."""
        self.file_review(self.wanted.risk_level)

    def file_review(self, level: RiskLevel) -> None:
        """File what the chart tells, with a level of risk."""
        self.desk.do("cm_chart.get_chart_data", case_id=self.case)
        review = chart_review(self.chart, level)
        self.desk.do("cm_chart.submit_chart_review", case_id=self.case, review=review)

    def file(self) -> None:
        """File the last call."""
        *_, session = self.desk.world.outreach.calls(self.case)
        given = self.memory.consent is Consent.GIVEN
        refused = self.memory.consent is Consent.REFUSED
        engaged = CMEngagement.ENGAGED if given else CMEngagement.PENDING
        summary: JsonDict = {
            "engagement_status": str(CMEngagement.REFUSED if refused else engaged),
            "consent_obtained": given,
            "key_takeaways": ["What was said is in the transcript."],
        }
        if self.wanted.ending is Ending.PARTIAL:
            summary["notes"] = f'Agreed to a part: "{self._yes()}"'
        self.desk.do(
            "cm_outreach.end_outreach_call", session_id=session.session_id, summary=summary
        )

    # -- what follows ----------------------------------------------------------------------------

    def let_go(self, ending: Ending) -> None:
        """End the episode of somebody who is not assessed, and say why."""
        reason = _REASONS[ending]
        self.desk.do("cm_intake.disenroll_case", case_id=self.case, reason=reason)

    def assess_a_part(self) -> None:
        """File what somebody told who agreed to a part."""
        self.desk.do("cm_assessment.start_assessment", case_id=self.case)
        part = next(each for each in sections(self.found()) if each["section"] == "sdoh")
        self.desk.do(
            "cm_assessment.save_section",
            case_id=self.case,
            payload=part,
            blocked_reason=f'scope: "{self._yes()}"',
        )

    def _yes(self) -> str:
        """Return the words in which the person agreed."""
        return Talk.of(self.desk.world, self.case).yes

    def assess(self) -> None:
        """File the four sections."""
        self.desk.do("cm_assessment.start_assessment", case_id=self.case)
        for payload in sections(self.found()):
            self.desk.do("cm_assessment.save_section", case_id=self.case, payload=payload)
        self.desk.do("cm_assessment.complete_assessment", case_id=self.case)

    def assess_in_part(self) -> None:
        """File what was told, and leave the rest open with its reason."""
        broken = self.wanted.persona.breaks
        if broken is None:
            return
        self.desk.do("cm_assessment.start_assessment", case_id=self.case)
        open_ones = Talk.of(self.desk.world, self.case).left_open(
            broken, self._due(), self._medicines()
        )
        stuck = SECTION_OF.get(broken.before, "sdoh")
        by_name = {str(each["section"]): each for each in sections(self.found())}
        for name, payload in by_name.items():
            if name not in open_ones:
                self.desk.do("cm_assessment.save_section", case_id=self.case, payload=payload)
        self.desk.do(
            "cm_assessment.save_section",
            case_id=self.case,
            payload=by_name[stuck],
            blocked_reason=f'{broken.kind}: "{broken.says}"',
        )

    def plan(self) -> None:
        """Write the plan and close the episode."""
        needs = self.wanted.needs
        if needs is None:
            return
        self.desk.do("cm_care_plan.create_draft", case_id=self.case)
        data = plan(needs, self.found(), self._today)
        self.desk.do("cm_care_plan.save_care_plan", case_id=self.case, plan_data=data)
        self.desk.do("cm_care_plan.finalize", case_id=self.case)

    @property
    def _today(self) -> date:
        return self.desk.world.clock.now.date()

    def found(self) -> Findings:
        """Return what was found, in the chart and on the phone."""
        wanted = self.wanted
        flags = {each.topic: each.present for each in self.memory.disclosed}
        asked = wanted.asked | uncoded(wanted, self.chart)
        coded = {topic for topic, there in wanted.barriers.items() if there and topic not in asked}
        barriers = coded | {topic for topic, there in flags.items() if there}
        return Findings(
            diagnoses=list(self._diagnoses()),
            medicines=[*self._taken(), *self._unlisted()],
            phq9=self._score(Topic.PHQ9, wanted.phq9),
            gad7=self._score(Topic.GAD7, wanted.gad7),
            barriers=frozenset(barriers),
            safety=self._harm_told() or flags.get(Topic.SAFETY, False),
            substances=flags.get(Topic.SUBSTANCE_USE, False),
            mood=flags.get(Topic.MOOD, False),
            escalation=wanted.needs.escalation if wanted.needs else None,
            language=self.chart.patient.preferred_language,
            readiness=wanted.persona.readiness or MotivationStage.PREPARATION,
        )

    def _diagnoses(self) -> Iterator[Diagnosis]:
        names = {each.code: each.display for each in self.chart.conditions}
        values = [
            (each.code, each.observed_at.date(), each.value_quantity)
            for each in self.chart.observations
            if each.value_quantity is not None
        ]
        world = self.desk.world
        day = world.referrals.referrals[self.wanted.referral_id].referral_date
        for code, status in self.wanted.control.items():
            yield Diagnosis(
                code=code,
                display=names.get(code, code),
                control=status,
                note=basis_of(code, values, day, world.operations),
            )

    def _taken(self) -> Iterator[Medicine]:
        for order in self.chart.medications:
            if order.status != "active":
                continue
            name = order.medication_name
            told = any(
                each.topic is Topic.MEDICATION and same_medicine(each.item, name)
                for each in self.memory.disclosed
            )
            level = next(
                (lv for key, lv in self.wanted.adherence.items() if same_medicine(key, name)),
                AdherenceLevel.UNKNOWN,
            )
            level = level if told else AdherenceLevel.UNKNOWN
            differs = told and any(same_medicine(e, name) for e in self.wanted.discrepancies)
            yield Medicine(
                name=name,
                dose=f"{order.dose or 'as prescribed'} {order.frequency or ''}".strip(),
                adherence=level,
                report=f"Does not take {name}" if differs else "",
            )

    def _unlisted(self) -> Iterator[Medicine]:
        """Yield what is taken and not in the chart."""
        for each in self.memory.disclosed:
            charted = names_medicine(self.chart, each.item)
            if each.topic is Topic.MEDICATION and each.item and not charted:
                yield Medicine(
                    name=each.item,
                    dose="dose not known",
                    adherence=AdherenceLevel.ADHERENT,
                    report=f"Takes {each.item}, which the chart does not have",
                    charted=False,
                )

    def _score(self, topic: Topic, points: int | None) -> Score:
        """Return a sum with its day: that of the call, or that of the chart."""
        calls = self.desk.world.outreach.calls(self.case)
        days = [each.created_at.date() for each in calls] or [self._today]
        code, items = rules().instruments[topic]
        told = {each.item for each in self.memory.disclosed if each.topic is topic}
        if len(told) == items:
            return Score(points=points, day=days[-1])
        found = [
            each.observed_at.date()
            for each in self.chart.observations
            if each.code == code and each.value_quantity == points
        ]
        known = found and topic not in self.wanted.asked
        return Score(points=points if known else None, day=max(found) if known else days[-1])
