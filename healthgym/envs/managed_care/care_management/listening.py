"""What a listener makes of a person, reply by reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from healthgym.envs.managed_care.care_management import hearing
from healthgym.envs.managed_care.care_management.lookups import Chart
from healthgym.envs.managed_care.care_management.manner import View
from healthgym.envs.managed_care.care_management.rulings import Known
from healthgym.worlds.managed_care.apps.care_management.evidence import rules as section_rules
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.care import MotivationStage
from healthgym.worlds.managed_care.voices import Topic

#: Social subjects, in the order in which they are asked about.
SOCIAL = (
    Topic.TRANSPORTATION,
    Topic.FOOD,
    Topic.HOUSING,
    Topic.CAREGIVER,
    Topic.FINANCES,
    Topic.LITERACY,
    Topic.PHONE_ACCESS,
    Topic.WORK,
    Topic.LANGUAGE,
)
#: What stands for medicines that were not told of yet.
_REST = "the rest"
_AT = time(10, 5)
_ASKS = frozenset({Act.REQUEST_CONSENT, Act.ASK_WILLINGNESS})


class Listener:
    """Keeps the view of a person up to date with what they say.

    Args:
        chart: The tables of the chart.
        known: What they show.
        rules: Today's numbers.
        today: The day on which the work begins.
    """

    def __init__(self, chart: Chart, known: Known, rules: OperatingRules, today: date) -> None:
        self.names = [row["medication_name"] for row in chart.medications]
        self.view = View(
            medicines=[_REST],
            open=list(_due(chart, known, rules, today)),
            wishes=[
                Meant(act=Act.ASK_HESITATION),
                Meant(act=Act.EXPLAIN_BENEFIT),
            ],
        )
        self.taken: dict[str, hearing.Taken] = {}
        self.barriers: dict[Topic, bool] = {}
        self.worry: Topic | None = None
        self.readiness = MotivationStage.PREPARATION
        self.agreed = False
        self.last_words = ""
        self.only: Topic | None = None
        self.said: Counter[Meant] = Counter()
        self.now = datetime.min
        self._free: datetime | None = None
        self._busy_hour: int | None = None

    @property
    def done(self) -> bool:
        """Whether no further call is needed."""
        view = self.view
        over = view.stage in (Stage.REFUSED_FOR_GOOD, Stage.BROKEN_OFF)
        return over or (view.stage is Stage.AGREED and not view.left())

    # -- when to call ----------------------------------------------------------------------------

    def next_time(self, local: datetime, rules: OperatingRules) -> datetime:
        """Return when to call, on the person's clock.

        Args:
            local: What their clock shows.
            rules: Today's numbers.
        """
        at = max(local, self._free) if self._free is not None else local
        hour = self._busy_hour
        if hour is not None and at.hour < hour:
            at = datetime.combine(at.date(), time(hour, 5))
        if at.hour >= rules.call_closes - 1:
            at = datetime.combine(at.date() + timedelta(days=1), time(hour or _AT.hour, 5))
        elif at.hour < rules.call_opens:
            at = datetime.combine(at.date(), time(rules.call_opens, 5))
        return at

    def begin_call(self, at: datetime) -> None:
        """Forget what holds for one call only."""
        self.now = at
        self.view.introduced = False
        self.view.parting = False

    # -- what is heard ---------------------------------------------------------------------------

    def hear(self, text: str, acts: Sequence[Meant]) -> None:
        """Take in what a person answers to a message.

        Args:
            text: What they say.
            acts: What the message was to do.
        """
        view, said = self.view, {each.act for each in acts}
        self.said.update(set(acts))
        asked_before = view.stage
        view.introduced = view.introduced or Act.INTRODUCE in said
        view.said |= said
        if asked_before is Stage.REFUSED:
            view.since_no |= said
        view.wishes = [each for each in view.wishes if each.act not in said]
        for each in acts:
            key = str(each.topic or each.act)
            view.asked[key] = view.asked.get(key, 0) + 1
        view.danger = False
        self.readiness = hearing.readiness(text) or self.readiness
        if self._parts(text):
            return
        if not view.identified:
            self._identify(text, said)
        self._worries(text, acts)
        if view.stage is Stage.AGREED:
            self._told(text, acts)
        else:
            self._decides(text, said)

    def _parts(self, text: str) -> bool:
        """Note that the person cannot or will not go on today; return whether that is all."""
        view = self.view
        if hearing.sounds(text, "tired"):
            view.parting = True
            tomorrow = (self.now + timedelta(days=1)).date()
            self._free = datetime.combine(tomorrow, _AT)
            return False
        if view.stage in (Stage.UNKNOWN, Stage.IDENTIFIED) and hearing.sounds(text, "busy"):
            view.parting = True
            self.put_off(hearing.appointment(text))
            return True
        return False

    def free_from(self, at: datetime) -> None:
        """Note that the person is not to be called before a time on their clock."""
        self._free = at

    def put_off(self, when: hearing.Appointment) -> None:
        """Note when somebody said to call again."""
        if when == hearing.Appointment() and self._free is not None:
            return  # a goodbye, after they said when
        day = self.now.date()
        if when.tomorrow:
            day += timedelta(days=1)
        elif when.weekday is not None:
            day += timedelta(days=(when.weekday - day.weekday()) % 7 or 7)
        self._busy_hour = when.hour if when.hour is not None else self._busy_hour
        self._free = datetime.combine(day, time(self._busy_hour or _AT.hour, 5))

    def _identify(self, text: str, said: set[Act]) -> None:
        if Act.VERIFY_IDENTITY not in said:
            return
        if any(year in text for year in map(str, range(1900, 2020))):
            self.view.identified = True
            self.view.stage = Stage.IDENTIFIED
            self.view.worries = [w for w in self.view.worries if w is not Concern.SCAM]
        elif hearing.sounds(text, "wary"):
            self.view.worries.append(Concern.SCAM)

    def _worries(self, text: str, acts: Sequence[Meant]) -> None:
        view = self.view
        answered = {each.item for each in acts if each.act is Act.ANSWER_CONCERN}
        view.worries = [each for each in view.worries if each not in answered]
        hint = hearing.hint(text)
        if hint is not None and self.worry is None:
            self.worry, view.hint = hint, hint
        elif any(each.topic is view.hint for each in acts):
            view.hint = None
        if view.stage is Stage.AGREED or not view.identified:
            return
        for each in hearing.worries(text):
            if each not in answered and each not in view.worries:
                view.worries.append(each)
        for act in hearing.missed_statements(text):
            view.said.discard(act)

    # -- yes and no ------------------------------------------------------------------------------

    def _decides(self, text: str, said: set[Act]) -> None:
        view = self.view
        if hearing.sounds(text, "final"):
            view.stage = Stage.REFUSED_FOR_GOOD
        elif Act.ASK_HESITATION in said and view.supposed:
            view.supposed = False
        elif said & _ASKS:
            self._answers(text)

    def _answers(self, text: str) -> None:
        view = self.view
        only = hearing.part(text)
        if hearing.sounds(text, "suppose"):
            view.supposed = True
        elif only is not None:
            view.stage, self.agreed, view.worries = Stage.AGREED, True, []
            self.only, self.last_words, view.open = only, text, [only]
        elif hearing.sounds(text, "yes"):
            view.stage, self.agreed, view.worries = Stage.AGREED, True, []
        elif hearing.sounds(text, "no") and view.stage is not Stage.REFUSED:
            view.stage, view.since_no = Stage.REFUSED, set()
        elif view.stage is not Stage.REFUSED:
            view.stage = Stage.INVITED
            view.wishes.append(Meant(act=Act.ASK_HESITATION))

    # -- the assessment --------------------------------------------------------------------------

    def _told(self, text: str, acts: Sequence[Meant]) -> None:
        view = self.view
        asked = {each.topic for each in acts if each.topic is not None}
        if not hearing.sounds(text, "unasked"):
            view.permitted |= {each.topic for each in acts if each.topic is not None}
        for topic, items in hearing.points(text, _asked_items(acts)).items():
            view.answered.setdefault(topic, {}).update(items)
        if Topic.MEDICATION in asked or hearing.sounds(text, "corrects"):
            self._medicines(text)
        for topic in asked - {Topic.MEDICATION, Topic.PHQ9, Topic.GAD7}:
            there = hearing.subject(text, topic)
            if there is not None:
                view.answered.setdefault(topic, {})[""] = None
                self.barriers[topic] = there
        harm = {each.item for each in acts if each.topic is Topic.PHQ9} & {"9"}
        harmed = bool(harm and view.answered.get(Topic.PHQ9, {}).get("9"))
        unsafe = Topic.SAFETY in asked and self.barriers.get(Topic.SAFETY, False)
        if harmed or unsafe or hearing.sounds(text, "danger"):
            view.danger = True
            self.barriers[Topic.SAFETY] = True
        if hearing.sounds(text, "withdrawn"):
            view.stage, self.agreed = Stage.REFUSED_FOR_GOOD, False
        elif not self._anything(text, acts) and hearing.sounds(text, "broken"):
            view.stage, self.last_words = Stage.BROKEN_OFF, text

    def _medicines(self, text: str) -> None:
        self.taken.update(hearing.medicines(text, self.names))
        told = self.view.answered.setdefault(Topic.MEDICATION, {})
        told.update(dict.fromkeys(self.taken))
        if hearing.sounds(text, "all_told"):
            told[_REST] = None

    def _anything(self, text: str, acts: Sequence[Meant]) -> bool:
        """Return whether a text answers anything that was asked."""
        asked = {each.topic for each in acts if each.topic is not None}
        told = bool(hearing.points(text, _asked_items(acts))) or any(
            hearing.subject(text, topic) is not None for topic in asked
        )
        return told or (Topic.MEDICATION in asked and bool(hearing.medicines(text, self.names)))


def _asked_items(acts: Sequence[Meant]) -> list[tuple[Topic, str]]:
    """Return the items of instruments that were asked about, in order."""
    return [
        (each.topic, each.item) for each in acts if each.topic is not None and each.item.isdecimal()
    ]


def _due(chart: Chart, known: Known, rules: OperatingRules, today: date) -> Sequence[Topic]:
    """Return the subjects to be asked about: what the chart does not settle."""
    first = today - timedelta(days=rules.screening_age_days)
    codes = section_rules().social
    coded = {
        topic
        for topic in SOCIAL
        if any(code.startswith(codes.get(topic.value, ("-",))) for code in known.codes)
    }
    instruments = [
        topic
        for topic, (loinc, _) in section_rules().instruments.items()
        if chart.latest(loinc, first) is None
    ]
    english = chart.patient.get("preferred_language", "English") == "English"
    social = [
        topic
        for topic in SOCIAL
        if topic not in coded and not (topic is Topic.LANGUAGE and english)
    ]
    # Item 9 is not asked of everybody; whoever asks about safety besides asks nothing twice.
    return [Topic.MEDICATION, *instruments, Topic.SAFETY, *social]
