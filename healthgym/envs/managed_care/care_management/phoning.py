"""The telephone of a care manager who knows the person's mind: whom to ask what, and when.

The calls are tried out in a rehearsal, one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, time, timedelta

from healthgym.envs.managed_care.care_management.assessed import subjects_due
from healthgym.envs.managed_care.care_management.manner import View, next_words, place_of
from healthgym.envs.managed_care.care_management.reaching import Reaching, portion
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.speech import PhraseBook, caller_of
from healthgym.envs.managed_care.care_management.task import CareInstance, Ending
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.mind import Mind, Stage, Supposed
from healthgym.worlds.managed_care.conversation.persona import Concern, Trigger, Willingness
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.surroundings import Answering, Capacity
from healthgym.worlds.managed_care.conversation.telephone import strangers, unanswered
from healthgym.worlds.managed_care.vocabulary.care import EscalationReason, SessionStatus
from healthgym.worlds.managed_care.voices import Memory, Topic

#: Local hour at which somebody is called who may be called at any.
_CALLED_AT = time(10, 5)
_MOST_MESSAGES = 12
#: Wordings of a question that are tried until one is taken for nothing else.
_WORDINGS = 4
#: Where nothing is asked any more.
_OVER = frozenset({Stage.REFUSED_FOR_GOOD, Stage.BROKEN_OFF})
#: In whose words others are spoken to.
BOOK = "plain"


class Phoning:
    """A care manager on the phone who knows the answer.

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
            book=BOOK,
            caller=caller_of(instance.start).split(",")[0],
            name=f"{patient.first_name} {patient.last_name}",
            rules=instance.start.operations,
            proxy=proxy.name if proxy is not None and proxy.on_file else "",
        )

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
        view = self.view()
        if view.stage in _OVER:
            self.reaching.waiting.clear()  # what was still to be asked is not
        acts = self.reaching.waiting or list(next_words(view))
        around, first = self.wanted.persona.around, not view.introduced
        most = around.manner.most_words
        now = portion(acts, self.book, dict(self._said), most)
        self.reaching.waiting = acts[len(now) :] if most else []
        words = self._worded(now)
        if around.interpreter and first:
            words = f"{self.reaching.beside('interpreter')} {words}"
        return now, words

    def _worded(self, acts: list[Meant]) -> str:
        """Return acts in words, after a yes to a part in those that touch nothing else."""
        only, again = self.wanted.persona.only, Counter(self._said)
        words = self.book.say(acts, again)
        if not only or self.mind.stage is not Stage.AGREED:
            return words
        for _ in range(_WORDINGS):
            if {said.topic for said in understand(words).acts} <= {None, *only}:
                break
            again.update(acts)
            words = self.book.say(acts, again)
        return words

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
        if mind.stage in _OVER:
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


def _act_of(trigger: Trigger) -> Meant:
    act = Act.ACKNOWLEDGE if Act.ACKNOWLEDGE in trigger.acts else trigger.acts[0]
    concern = trigger.concern or Concern(next(iter(Concern)))
    item = concern.value if act is Act.ANSWER_CONCERN else ""
    return Meant(act=act, topic=trigger.topic, item=item)
