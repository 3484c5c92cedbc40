"""Tasks from seeds: what an episode is like first, then who it is about and what befell them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial

import numpy as np

from healthgym.core.records import replace
from healthgym.core.seeding import Split, TaskStreams, task_rng
from healthgym.core.task import Instance, Task, TaskKey, require_index
from healthgym.envs.managed_care.care_management.answers import (
    PHQ9,
    Answers,
    documented,
    draw_answers,
    soon_out_of_date,
)
from healthgym.envs.managed_care.care_management.around import Minded, draw_minded, surrounded
from healthgym.envs.managed_care.care_management.choices import (
    Choice,
    canonical_episodes,
    draw_choice,
    narrowed,
    ways,
)
from healthgym.envs.managed_care.care_management.circumstances import circumstances_of
from healthgym.envs.managed_care.care_management.history import History, draw_history
from healthgym.envs.managed_care.care_management.ledger import NoRoomError
from healthgym.envs.managed_care.care_management.panel import members
from healthgym.envs.managed_care.care_management.personas import (
    Character,
    draw_persona,
    unlisted,
)
from healthgym.envs.managed_care.care_management.queue import (
    Case,
    apart,
    others,
    render,
    unopened,
    written,
)
from healthgym.envs.managed_care.care_management.reference import asked_of, reference_of
from healthgym.envs.managed_care.care_management.referrals import draw_score, shown
from healthgym.envs.managed_care.care_management.rulings import program_of
from healthgym.envs.managed_care.care_management.task import (
    CareConfig,
    CareInstance,
    CareTaskGenerator,
    Ending,
)
from healthgym.envs.managed_care.care_management.wording import brief
from healthgym.envs.managed_care.cases.clinic import (
    draw_morning,
    staff,
    standing_handbook,
    workforce,
)
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.charts.chart import (
    ChartLibrary,
    PatientChart,
)
from healthgym.worlds.managed_care.charts.hours import business_day
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.deferred import varied
from healthgym.worlds.managed_care.facts import MedicationCourse
from healthgym.worlds.managed_care.handbook.draws import draw_care, draw_conversations
from healthgym.worlds.managed_care.handbook.edition import edition, supplements
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, usual_rules
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart

#: Streams of a task: what it is like, whom it is about and what befell them, how the chart is
#: worded, what stands around, the numbers of the handbook, who answers the phone, what stands
#: between, and how a chart is worded that is written when it is first opened.
_LIKE, _HISTORY, _CHART, _AROUND, _NUMBERS, _PERSON, _BETWEEN, _OPENED = range(8)
_TRIES = 40
_MINDS = ("F32", "F33", "F43", "F20", "F50", "F10", "F11")
#: Calls that winning somebody and asking everything may take.
_CALLS = 4
#: A sum of the PHQ-9 below this leaves no room for what a concern about safety says.
_ROOM_FOR_HARM = 8


class CareGenerator(CareTaskGenerator):
    """Draws tasks.

    The programme is drawn first, as often one as another, then a condition for which it can be
    right, what the person is like, and how the episode ends, apart from all the rest. A history
    for which another programme turns out to be right is drawn again.

    Args:
        config: What referrals and people are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        rules: Which rules the office keeps.
        handbook: How large a handbook stands in it.
        canonical: Whether tasks are composed like the source's; the test split then has 25.
    """

    def __init__(
        self,
        config: CareConfig,
        difficulty: str,
        name: str,
        rules: Rules,
        *,
        handbook: HandbookSize = HandbookSize.COMPACT,
        canonical: bool = False,
    ) -> None:
        self.config, self.difficulty, self.name, self.rules = config, difficulty, name, rules
        self.handbook = handbook
        if config.deep and rules is Rules.COMPAT:
            raise ConfigurationError(
                "What stands between a caller and a person needs rules 'strict': the source's "
                "calls always reach the patient."
            )
        self._episodes = canonical_episodes() if canonical else ()
        if not canonical:
            ways(config)  # raises here, for whoever asks for what cannot be
        self.tests = len(self._episodes) if canonical else None

    def draw(self, split: Split, index: int) -> CareInstance:
        """Return a task."""
        return self.drawn(split, index)

    def drawn(self, split: Split, index: int, shift: Shift | None = None) -> CareInstance:
        """Return a task.

        Args:
            split: The split.
            index: Its number.
            shift: The cases beside which it is to stand; None if it stands alone.
        """
        # Tasks of one index are other tasks at every difficulty.
        name = f"{self.name}/{self.difficulty}"
        streams = TaskStreams(name, split, index, _OPENED)
        choice = self._choice(split, index, streams[_LIKE])
        begins = draw_morning(streams[_AROUND])
        begins = shift.begins if shift else begins
        numbers = shift.numbers if shift else self.numbers(streams[_NUMBERS])
        case = self._case(choice, split, index, begins.date(), numbers, streams, shift)
        between, deep = streams[_BETWEEN], self.config.deep
        minded = self._minded(choice.ending, case, begins.date(), between)
        case = case if minded is None else case.noting(minded.note)
        start = self._start(case, split, begins, numbers, streams[_AROUND], shift)
        patient = case.chart.patient
        person = streams[_PERSON]
        answers = self._answers(case, start, person)
        asked = asked_of(case.history, answers, start)
        character = Character(
            kind=choice.kind,
            strength=choice.strength,
            ending=choice.ending,
            busy=self.config.busy if _may_be_busy(numbers) else 0.0,
            concerns=self.config.concerns,
        )
        persona = draw_persona(character, patient, answers, asked, begins.date(), person)
        if deep:
            persona = surrounded(
                *(persona, self.config, choice.ending, answers, patient.preferred_language),
                *(minded, asked, numbers, between),
            )
        reference = reference_of(
            case.history, case.referred, answers, persona, choice.ending, start
        )
        voices = {case.referred.record.case_id: Person(persona=persona, ears=understand)}
        task = Task(
            TaskKey(self.name, split, index),
            # The programme, the person and the ending are for the agent to find out.
            choice.condition,
            brief(start, patient, case.history.condition.label, case.referred.record),
            {"difficulty": self.difficulty},
        )
        return Instance(task, reference, replace(start, voices=voices))

    def numbers(self, rng: np.random.Generator) -> OperatingRules:
        """Return the numbers that the office keeps to."""
        numbers = draw_care(rng) if self.config.numbers else usual_rules()
        return draw_conversations(numbers, rng) if self.config.deep else numbers

    def kind(self, split: Split, index: int) -> str:
        """Return the kind of a task, the condition of its referral, without drawing the rest.

        Raises:
            ConfigurationError: If the split has no such index.
        """
        require_index(self, split, index)
        rng = task_rng(f"{self.name}/{self.difficulty}", split, index, _LIKE)
        return self._choice(split, index, rng).condition

    def _choice(self, split: Split, index: int, rng: np.random.Generator) -> Choice:
        """Return what the episode of a task is like."""
        if not self._episodes:
            return draw_choice(self.config, rng)
        place = index if self.is_fixed(split) else int(rng.integers(len(self._episodes)))
        return draw_choice(narrowed(self.config, self._episodes[place]), rng)

    def _case(
        self,
        choice: Choice,
        split: Split,
        index: int,
        today: date,
        numbers: OperatingRules,
        streams: Sequence[np.random.Generator],
        shift: Shift | None,
    ) -> Case:
        """Return somebody for whom the programme is right; in a shift nobody who is in it.

        Of a shift's many charts each is written when it is first opened.

        Raises:
            ConfigurationError: If none is found.
        """
        rng, own = streams[_HISTORY], members(split, choice.condition)
        day = business_day(today - timedelta(days=int(rng.integers(3))))
        score = draw_score(numbers, rng)
        safe = rng.random() >= self.config.safety
        for _ in range(_TRIES):
            member = own[int(rng.integers(len(own)))]
            if shift and member.patient.id in shift.patients:
                continue
            try:
                drawn = draw_history(member, choice.program, day, numbers, self.config.life, rng)
            except NoRoomError:
                continue
            if soon_out_of_date(drawn, today, numbers):
                continue
            safety = not safe and _can_worry(drawn, today, numbers)
            known = shown(drawn, score=score, safety=safety)
            if {program_of(known, numbers), program_of(drawn.known(), numbers)} == {choice.program}:
                if shift is None:
                    return written(drawn, choice.program, known, today, streams[_CHART])
                later = partial(self._opened, split, index, drawn, today)
                return unopened(drawn, choice.program, known, streams[_CHART], later)
        raise ConfigurationError(
            f"No member of the plan with {choice.condition} is one for {choice.program}."
        )

    def _opened(self, split: Split, index: int, history: History, today: date) -> PatientChart:
        """Return the chart of a case that stands beside others; the same one every time."""
        rng = task_rng(f"{self.name}/{self.difficulty}", split, index, _OPENED)
        return render(history, rng, today)

    def _answers(self, case: Case, start: WorldStart, rng: np.random.Generator) -> Answers:
        bought = unlisted()
        name = tuple(bought)[int(rng.integers(len(bought)))]
        # What the chart has had under a like name would be no news to it.
        known = [x for x in case.history.facts if isinstance(x, MedicationCourse)]
        had = any(same_medicine(x.medication, name) for x in known)
        return draw_answers(
            case.history,
            case.chart.patient.preferred_language,
            start.now.date(),
            start.operations,
            case.referred.known.safety,
            {} if had else {name: bought[name]},
            rng,
        )

    def _start(
        self,
        case: Case,
        split: Split,
        begins: datetime,
        numbers: OperatingRules,
        rng: np.random.Generator,
        shift: Shift | None,
    ) -> WorldStart:
        people = workforce()
        managers = people.with_role(WorkerRole.CARE_MANAGER)
        # Beside other cases of a shift, these are who else is in the queue.
        own, config = case.history.member, self.config
        around = () if shift else others(own, split, config.twins, config.referrals, rng)
        changed = shift.changed if shift else edition().overlay(numbers)
        queue = [case.referred.record]
        for other in around:
            day = business_day(begins.date() - timedelta(days=int(rng.integers(8))))
            queue.append(apart(varied(other.record, referral_date=day), other, case))
        queue.sort(key=lambda each: (each.referral_date, each.referral_id))
        return WorldStart(
            now=begins,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((case.chart, *(other.chart for other in around))),
            records=tuple(queue),
            rules=self.rules,
            operations=numbers,
            handbook=standing_handbook(self.handbook).overlay(
                (*changed, *self.more_pages(numbers))
            ),
            actor=managers[int(rng.integers(len(managers)))].id,
        )

    def _minded(
        self, ending: Ending, case: Case, today: date, rng: np.random.Generator
    ) -> Minded | None:
        home = case.history.member.patient
        lives = circumstances_of(home, today)
        return draw_minded(self.config, ending, home, lives, rng) if self.config.deep else None

    def more_pages(self, numbers: OperatingRules) -> tuple[Page, ...]:
        """Return the pages that stand in this handbook alone.

        Args:
            numbers: The numbers that the offices keep to.
        """
        return tuple(supplements().pages(numbers)) if self.config.deep else ()


def _may_be_busy(numbers: OperatingRules) -> bool:
    """Return whether a call at a bad time leaves enough of them for the rest."""
    return numbers.outreach_attempts_least > _CALLS


def _can_worry(history: History, today: date, numbers: OperatingRules) -> bool:
    """Return whether a referral may state a concern about safety that the chart does not deny."""
    known = documented(history, PHQ9, today, numbers)
    minds = any(code.startswith(_MINDS) for code in history.codes)
    return minds and (known is None or known >= _ROOM_FOR_HARM)
