"""What one does who knows the answer: opens, reviews, talks, assesses, plans, or lets go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from healthgym.core.borders import JsonDict
from healthgym.core.family import Script
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.assessed import subjects_due, uncoded
from healthgym.envs.managed_care.care_management.grounds import names_medicine
from healthgym.envs.managed_care.care_management.manner import View, next_words, place_of
from healthgym.envs.managed_care.care_management.reaching import Reaching, portion
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.speech import PhraseBook, caller_of, phrase_book
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
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.mind import Mind, Stage, Supposed
from healthgym.worlds.managed_care.conversation.persona import Concern, Trigger, Willingness
from healthgym.worlds.managed_care.conversation.surroundings import Answering, Capacity
from healthgym.worlds.managed_care.conversation.telephone import strangers, unanswered
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    CMEngagement,
    EscalationReason,
    MotivationStage,
    RiskLevel,
    SessionStatus,
)
from healthgym.worlds.managed_care.voices import Consent, Memory, Topic

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
    Worker(instance, desk, phrase_book(_BOOK, caller_of(instance.start))).work()
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


class Worker:
    """A care manager who knows the answer.

    Args:
        instance: The task.
        desk: The office.
        book: How they talk.
    """

    def __init__(self, instance: CareInstance, desk: Rehearsal, book: PhraseBook) -> None:
        self.wanted = instance.reference
        self.start = instance.start
        self.desk, self.book = desk, book
        self.case = instance.reference.case_id
        self.chart: PatientChart = instance.start.charts[instance.reference.patient_id]
        self._asked: dict[str, int] = {}
        self._said: Counter[Meant] = Counter()
        patient = self.chart.patient
        proxy = instance.reference.persona.around.proxy
        self.reaching = Reaching(
            book=_BOOK,
            caller=caller_of(instance.start).split(",")[0],
            name=f"{patient.first_name} {patient.last_name}",
            rules=instance.start.operations,
            proxy=proxy.name if proxy is not None and proxy.on_file else "",
        )

    def work(self) -> None:
        """Do all of it."""
        self.open()
        self.review()
        self.talk()
        self.file()
        match self.wanted.ending:
            case Ending.DECLINED | Ending.WITHDRAWN | Ending.UNABLE | Ending.UNREACHABLE:
                self.let_go()
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

    # -- the telephone ---------------------------------------------------------------------------

    def talk(self) -> None:
        """Call as often as it takes and may be done."""
        most = self.start.operations.outreach_attempts_least
        while self._attempts() < most:
            self._wait_for_time()
            self.reaching.begins()
            self.desk.do("cm_outreach.start_outreach_call", case_id=self.case)
            self._call()
            if self._finished():
                return

    def _attempts(self) -> int:
        calls = sum(1 for _ in self.desk.world.outreach.calls(self.case))
        return calls - strangers(self.memory)

    def _call(self) -> None:
        if unanswered(self.memory):
            self.reaching.not_taken(self._local_now())
        elif self.mind.answered_by and self.mind.answering is not Answering.STRANGER:
            self.reaching.hour = self._local_now().hour
        for _ in range(_MOST_MESSAGES):
            *_, session = self.desk.world.outreach.calls(self.case)
            if session.status is SessionStatus.ENDED:
                return
            acts, words = self._next_words()
            if not words:
                return
            self.desk.do("cm_outreach.send_message", session_id=session.session_id, message=words)
            self._said.update(set(acts))
            # What an emergency drowned out was not asked.
            for each in () if self.mind.alarmed else acts:
                key = str(each.topic or each.act)
                self._asked[key] = self._asked.get(key, 0) + 1

    def _next_words(self) -> tuple[list[Meant], str]:
        """Return what to do next and in which words; no words if there is nothing to say."""
        other = self._other()
        if other is not None:
            self.reaching.put_off = bool(self.mind.not_before)
            return [], self.reaching.to(other)
        if self.mind.alarmed:
            return [], self.reaching.beside("help")
        waiting, view = self.reaching.waiting, self.view()
        acts = waiting or list(next_words(view))
        around, first = self.wanted.persona.around, not view.introduced
        most = around.manner.most_words
        now = portion(acts, self.book, dict(self._said), most)
        self.reaching.waiting = acts[len(now) :] if most else []
        words = self.book.say(now, self._said)
        if around.interpreter and first:
            words = f"{self.reaching.beside('interpreter')} {words}"
        return now, words

    def _other(self) -> Answering | None:
        """Return who has the telephone, if it is not whoever can be talked with."""
        mind, around = self.mind, self.wanted.persona.around
        if mind.answering in (Answering.PERSON, Answering.PROXY):
            speaks = mind.answering is Answering.PROXY or around.capacity is Capacity.OWN
            return None if speaks or not self.memory.turns else Answering.PERSON
        return mind.answering if mind.answered_by else None

    @property
    def mind(self) -> Mind:
        """What the person has in mind besides."""
        return self.memory.mind or Mind()

    def _finished(self) -> bool:
        mind = self.memory.mind
        if mind is None:
            return False
        if self.wanted.ending is Ending.UNABLE and mind.answering is Answering.PERSON:
            return True
        if mind.stage in (Stage.REFUSED_FOR_GOOD, Stage.BROKEN_OFF):
            return True
        return mind.stage is Stage.AGREED and not self.view().left()

    def _wait_for_time(self) -> None:
        """Wait for an hour at which the person may and can be called."""
        calendar = office_calendar(self.chart.patient.address_state)
        now = self.desk.world.clock.now
        local = calendar.local(now)
        rules_of = self.start.operations
        mind = self.memory.mind
        free = mind.not_before if mind else None
        at = local.replace(tzinfo=None)
        if free is not None and free > at:
            at = free if free.hour else datetime.combine(free.date(), _CALLED_AT)
        busy = self.wanted.persona.busy
        if busy is not None and self.memory.turns and at.hour < busy.free_from:
            at = datetime.combine(at.date(), time(busy.free_from, 5))
        at = self.reaching.next_try(at)
        there = self.reaching.hour if self.reaching.missed else None
        if there is not None:
            # Where somebody was there, they are called at that hour again.
            day = at.date() + timedelta(days=at.time() > time(there, 55))
            at = max(at, datetime.combine(day, time(there, 5)))
        # A call takes half an hour at most, and is not to run into the evening.
        if at.hour >= rules_of.call_closes - 1:
            hour = busy.free_from if busy else _CALLED_AT.hour
            at = datetime.combine(at.date() + timedelta(days=1), time(hour, 5))
        elif at.hour < rules_of.call_opens:
            at = datetime.combine(at.date(), time(rules_of.call_opens, 5))
        self.desk.wait_until(calendar.utc(at.date(), at.time()))

    @property
    def memory(self) -> Memory:
        """What the person has in mind."""
        return self.desk.world.outreach.memory(self.case)

    def view(self) -> View:
        """Return what there is to know of the person now."""
        memory, persona = self.memory, self.wanted.persona
        mind = memory.mind or Mind()
        told: dict[Topic, dict[str, int | None]] = {}
        for each in memory.disclosed:
            told.setdefault(each.topic, {})[each.item] = each.score
        return View(
            stage=mind.stage,
            introduced=mind.introduced_in == memory.calls,
            identified=bool(mind.identified_in),
            said=set(mind.heard),
            worries=[
                each
                for each in persona.concerns
                if each in mind.voiced | mind.slipped and each not in mind.answered
            ],
            since_no=set(mind.since_no),
            supposed=mind.supposed is Supposed.SAID,
            danger=mind.danger,
            parting=bool(mind.not_before and self._local_now() < mind.not_before),
            hint=None,
            wishes=list(self._wishes(mind)),
            permitted=set(mind.permitted),
            answered=told,
            open=sorted(self._due(), key=place_of),
            medicines=self._medicines(),
            asked=self._asked,
        )

    def _due(self) -> set[Topic]:
        """Return the subjects to be asked about; danger by itself, where no item asks for it."""
        due = set(subjects_due(self.wanted, self.chart))
        needs = self.wanted.needs
        danger = needs is not None and needs.escalation is EscalationReason.SAFETY
        return due | ({Topic.SAFETY} if danger and not self._harm_told() else set())

    def _harm_told(self) -> bool:
        told = self.memory.disclosed
        return any(e.topic is Topic.PHQ9 and e.item == "9" and e.score for e in told)

    def _local_now(self) -> datetime:
        calendar = office_calendar(self.chart.patient.address_state)
        return calendar.local(self.desk.world.clock.now).replace(tzinfo=None)

    def _wishes(self, mind: Mind) -> Iterator[Meant]:
        """Yield the acts that this person still waits for."""
        for place, trigger in enumerate(self.wanted.persona.triggers):
            hidden = trigger.concern not in {None, *mind.voiced, *mind.slipped}
            if place in mind.triggers or (trigger.after_hint and not mind.hinted):
                continue
            if self._will_refuse(mind):
                continue
            yield Meant(act=Act.ASK_HESITATION) if hidden else _act_of(trigger)

    def _will_refuse(self, mind: Mind) -> bool:
        """Return whether a no comes first, whatever is said; what is waited for can follow it."""
        first = self.wanted.persona.willingness is Willingness.INITIALLY_REFUSES
        return first and mind.stage in (Stage.UNKNOWN, Stage.IDENTIFIED, Stage.PURPOSE_KNOWN)

    def _medicines(self) -> list[str]:
        return [each.item for each in self.wanted.persona.tells.get(Topic.MEDICATION, ())]

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

    def let_go(self) -> None:
        """End the episode of somebody who is not assessed, and say why."""
        reason = _REASONS[self.wanted.ending]
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
        for code, status in self.wanted.control.items():
            yield Diagnosis(
                code=code,
                display=names.get(code, code),
                control=status,
                note=f"By the latest value on file: {status}",
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


def _act_of(trigger: Trigger) -> Meant:
    act = Act.ACKNOWLEDGE if Act.ACKNOWLEDGE in trigger.acts else trigger.acts[0]
    concern = trigger.concern or Concern(next(iter(Concern)))
    item = concern.value if act is Act.ANSWER_CONCERN else ""
    return Meant(act=act, topic=trigger.topic, item=item)
