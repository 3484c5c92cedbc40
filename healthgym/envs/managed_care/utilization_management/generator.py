"""Tasks from seeds: a case as the provider's office has it, sent, and worked up to a stage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import numpy as np

from healthgym.core.records import replace
from healthgym.core.seeding import Split, TaskStreams
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.managed_care.cases.clinic import (
    draw_morning,
    staff,
    standing_handbook,
    workforce,
)
from healthgym.envs.managed_care.cases.drawing import (
    AROUND,
    ENDING,
    NUMBERS,
    PATIENT,
    RULES,
    DrawnCase,
    draw_case,
)
from healthgym.envs.managed_care.cases.same_service import with_same_service
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.cases.subjects import draw_others, draw_subject
from healthgym.envs.managed_care.utilization_management.answering import (
    NOTHING,
    answer_of,
    require_due,
)
from healthgym.envs.managed_care.utilization_management.appeal_reference import (
    appeal_reference,
)
from healthgym.envs.managed_care.utilization_management.appealing import work_up_appeal
from healthgym.envs.managed_care.utilization_management.at_door import door_of
from healthgym.envs.managed_care.utilization_management.canonical import same_draw
from healthgym.envs.managed_care.utilization_management.chain import Chain, work_up
from healthgym.envs.managed_care.utilization_management.choices import (
    Choices,
    Way,
    canonical_ask,
    canonical_cases,
    canonical_ways,
    choices_of,
    narrowed,
)
from healthgym.envs.managed_care.utilization_management.disputes import (
    Kind,
    draw_dispute,
    draw_kind,
)
from healthgym.envs.managed_care.utilization_management.feasible import end_of_day, require_time
from healthgym.envs.managed_care.utilization_management.packet import (
    may_lead,
    put_together,
)
from healthgym.envs.managed_care.utilization_management.peers import contract_of
from healthgym.envs.managed_care.utilization_management.reference import Taken, reference_of
from healthgym.envs.managed_care.utilization_management.roster import roster
from healthgym.envs.managed_care.utilization_management.start import (
    BegunElsewhen,
    blank,
    require_begun,
    require_near,
    taken_over,
)
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewConfig,
    ReviewInstance,
    ReviewReference,
    ReviewTaskGenerator,
    StartStage,
)
from healthgym.envs.managed_care.utilization_management.wording import brief
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.deferred import varied
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.provider_plan import PendAnswer, ProviderPlan
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import PayerRole, SlotRule

#: Streams besides those of the case: what is sent and answered, and when the agent begins.
_DESK, _STREAMS = 6, 7
#: How many pages of the handbook a task changes at most, policies and bulletins among them.
_PAGES_MOST = 20
_FIRST_CASE, _STEP = 6100, 7
#: Chance that directors of appeals sign denials, too, so that one of them may have signed this one.
_DIRECTORS_SIGN = 0.5


class ReviewGenerator(ReviewTaskGenerator):
    """Draws tasks.

    Where the case is taken over is drawn first, then how it is rightly decided, each as often as
    another that is possible, those without a review more rarely, then what request leads there, a
    kind of service, a policy, and a patient. The practice then sends it, and the payer's people
    work it up. A draw in which what is sent does not lead there is drawn again.

    Args:
        config: What cases are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        rules: Which rules the offices keep.
        handbook: How large a handbook stands in them.
        canonical: Whether the test split is the 25 cases of prior authorization's canonical one.
    """

    def __init__(
        self,
        config: ReviewConfig,
        difficulty: str,
        name: str,
        rules: Rules,
        *,
        handbook: HandbookSize = HandbookSize.COMPACT,
        canonical: bool = False,
    ) -> None:
        self.config, self.difficulty, self.name, self.rules = config, difficulty, name, rules
        self.handbook = handbook
        self._cases = canonical_cases() if canonical else ()
        if not canonical:
            choices_of(config)  # raises here, for whoever asks for what cannot be
        self.tests = len(self._cases) if canonical else None

    def draw(self, split: Split, index: int) -> ReviewInstance:
        """Return a task."""
        return self.drawn(split, index)[1]

    def drawn(
        self,
        split: Split,
        index: int,
        shift: Shift | None = None,
        opens: datetime | None = None,
    ) -> tuple[DrawnCase, ReviewInstance]:
        """Return a task, after the case it is about.

        Args:
            split: The split.
            index: Its number.
            shift: The cases beside which it is to stand; None if it stands alone.
            opens: When the request is sent; drawn if None.

        Raises:
            BegunElsewhen: If it is taken over on another day than that on which the shift begins.
            ConfigurationError: If no policy gives such a case.
        """
        # Tasks of one index are other tasks at every difficulty.
        family = f"{self.name}/{self.difficulty}"
        streams: Sequence[np.random.Generator] = TaskStreams(family, split, index, _STREAMS)
        if self._cases and self.is_fixed(split):
            return self._fixed(split, index, streams, shift, opens)
        config, choices = self._asked(streams[ENDING])
        way = choices.way(streams[ENDING])
        morning = draw_morning(streams[ENDING])
        opens = opens or morning
        if way.path is Path.UPHELD:  # a call is about one criterion
            config = replace(config, open_criteria=1)
        elif way.stage is StartStage.APPEAL:  # without several a call comes before a denial
            config = replace(config, open_criteria=max(2, config.open_criteria))
        kind = None
        if way.stage is StartStage.APPEAL:
            # Before a case is, or the kinds that are easier to draw would be more frequent.
            kind = draw_kind(way.ending, streams[ENDING])
        fits = None
        if shift is not None and kind is None:
            require_near(opens, shift)
            fits = partial(require_begun, way=way, opens=opens, shift=shift)
        for policy in choices.policies(way, streams[RULES]):
            try:
                taken = shift.patients if shift else ()
                subject = draw_subject(streams[PATIENT], policy, split, taken)
                case = draw_case(
                    config,
                    policy,
                    way.ending,
                    subject,
                    opens.date(),
                    streams,
                    accept=may_lead(way.path),
                    shift=shift,
                    fits=fits,
                )
                key = TaskKey(self.name, split, index)
                return case, self._task(key, way, case, opens, streams, kind, shift)
            except BegunElsewhen:
                raise
            except ConfigurationError:
                continue
        raise ConfigurationError(f"No policy gives a case that goes {way.path} from {way.stage}.")

    def _fixed(
        self,
        split: Split,
        index: int,
        streams: Sequence[np.random.Generator],
        shift: Shift | None,
        opens: datetime | None,
    ) -> tuple[DrawnCase, ReviewInstance]:
        """Return a canonical task: on the same case as prior authorization's.

        At another difficulty than the usual one the case is another, and if what is asked of it
        cannot be, something else is.
        """
        case, opens, around = same_draw(self.config, self.difficulty, split, index, shift, opens)
        key = TaskKey(self.name, split, index)
        streams = [*around, *streams[len(around) :]]
        asked = self._cases[index]
        for way in canonical_ways(asked, case.drawn.ending, case.book.in_force):
            try:
                return case, self._task(key, way, case, opens, streams, shift=shift)
            except ConfigurationError:
                continue
        raise ConfigurationError(f"Canonical case {index} can be taken over at no stage.")

    def _asked(self, rng: np.random.Generator) -> tuple[ReviewConfig, Choices]:
        """Return what the case of a task is like."""
        if not self._cases:
            return self.config, choices_of(self.config)
        config = narrowed(self.config, canonical_ask(rng))
        return config, choices_of(config)

    # -- the case at the payer -----------------------------------------------------------------

    def _task(
        self,
        key: TaskKey,
        way: Way,
        case: DrawnCase,
        opens: datetime,
        streams: Sequence[np.random.Generator],
        kind: Kind | None = None,
        shift: Shift | None = None,
    ) -> ReviewInstance:
        rng = streams[_DESK]
        first = shift.first_case if shift else _FIRST_CASE
        ids = [f"CASE-{first + _STEP * place}" for place in range(1, self.config.cases + 2)]
        own = ids.pop(int(rng.integers(len(ids))))
        if kind is not None:
            return self._appealed(key, way, kind, case, own, ids, opens, streams, shift)
        sent = put_together(case, way.path, own, opens, rng, more=self.config.misleading)
        lapses, answer = answer_of(way, case, sent, rng)
        require_due(way, case, sent, lapses=lapses)
        numbers = shift.numbers if shift else self.numbers(streams[NUMBERS], case)
        start = self._offices(case, opens, numbers, shift, streams[AROUND])
        door = door_of(way.stage, case.patient.order.priority, numbers, rng)
        called = way.path in (Path.UPHELD, Path.OVERTURNED)
        call = contract_of(case, way.path, sent, numbers, rng.spawn(1)[0])
        plan = ProviderPlan(
            answers={own: (answer,)},
            slot_rules={own: tuple(SlotRule)[int(rng.integers(len(SlotRule)))]},
        )
        call = varied(call, slot_rule=plan.slot_rules[own])
        start = replace(
            start, contracts={own: call}, provider_desk=plan, front_doors=door is not None
        )
        world = blank(start, opens)
        chain = Chain(
            world=world,
            case=case,
            sent=sent,
            case_id=own,
            path=way.path,
            answer=answer,
            rng=rng,
            slips=self.config.slips,
            door=door,
        )
        work_up(chain, way.stage)
        reference = reference_of(
            Taken(
                chain=chain,
                stage=way.stage,
                path=way.path,
                lapses=lapses,
                call=call if called else None,
            )
        )
        start = taken_over(start, chain, way.stage, ids, rng)
        if called:
            # Beside others it may be the last that is turned to on the day.
            turned_to = end_of_day(start.now) if shift else start.now
            require_time(world, own, way.stage, turned_to, timedelta(hours=answer.hours))
        return self._instance(key, way, reference, start)

    def _appealed(
        self,
        key: TaskKey,
        way: Way,
        kind: Kind,
        case: DrawnCase,
        own: str,
        ids: list[str],
        opens: datetime,
        streams: Sequence[np.random.Generator],
        shift: Shift | None,
    ) -> ReviewInstance:
        """Return a task in which a denial is disputed."""
        rng = streams[_DESK]
        more = self.config.misleading
        dispute = draw_dispute(case, kind, way.path, own, opens, rng, more=more)
        sign = rng.random() < _DIRECTORS_SIGN
        numbers = shift.numbers if shift else self.numbers(streams[NUMBERS], case, sign=sign)
        start = self._offices(case, opens, numbers, shift, streams[AROUND])
        answer = PendAnswer(sentence=NOTHING, hours=int(rng.integers(2, 7)))
        start = replace(start, provider_desk=ProviderPlan(answers={own: (answer,)}))
        chain = Chain(
            world=blank(start, opens),
            case=case,
            sent=dispute.sent,
            case_id=own,
            path=way.path,
            answer=answer,
            rng=rng,
        )
        work_up_appeal(chain, dispute)
        reference = appeal_reference(chain, dispute, way.path)
        start = taken_over(start, chain, way.stage, ids, rng)
        return self._instance(key, way, reference, start)

    def numbers(
        self, rng: np.random.Generator, case: DrawnCase | None = None, *, sign: bool = False
    ) -> OperatingRules:
        """Return the numbers that the offices keep to.

        Args:
            rng: Where they come from.
            case: The case, whose policies change pages, too; None if there are several.
            sign: Whether directors of appeals sign denials, too.
        """
        drawn = draw(rng, decisive=self.config.numbers)
        if sign:
            both = (PayerRole.PHYSICIAN_REVIEWER, PayerRole.APPEALS_MEDICAL_DIRECTOR)
            drawn = replace(drawn, may_sign=both, may_deny=both)
        return edition().within(drawn, _PAGES_MOST - (len(case.book.pages) if case else 0))

    def _instance(
        self, key: TaskKey, way: Way, reference: ReviewReference, start: WorldStart
    ) -> ReviewInstance:
        text = brief(start, reference.case_id, way.stage)
        task = Task(key, f"{way.stage}-{way.path}", text, {"difficulty": self.difficulty})
        return Instance(task, reference, start)

    def _offices(
        self,
        case: DrawnCase,
        opens: datetime,
        numbers: OperatingRules,
        shift: Shift | None,
        rng: np.random.Generator,
    ) -> WorldStart:
        people = workforce()
        # Beside other cases of a shift, these are who else there is.
        others = () if shift else self._others(case, rng)
        changed = shift.changed if shift else edition().overlay(numbers)
        return WorldStart(
            now=opens,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((case.patient.chart, *others)),
            rules=self.rules,
            letters_queued=True,
            operations=numbers,
            handbook=standing_handbook(self.handbook).overlay(
                (*changed, *case.book.pages, roster())
            ),
            policies=case.book.book,
            counters=shift.counters if shift else {},
        )

    def _others(self, case: DrawnCase, rng: np.random.Generator) -> tuple[PatientChart, ...]:
        """Return the charts of other members."""
        others = draw_others(case.subject, self.config.patients, self.config.twins, rng)
        patient = case.patient
        return with_same_service(
            others, patient.chart.patient, patient.order, self.config.same_service, rng
        )


__all__ = ["ReviewGenerator", "ReviewReference"]
