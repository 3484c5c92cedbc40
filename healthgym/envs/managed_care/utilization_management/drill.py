"""The drill: what is found on two criteria, from a page, a note, and nothing else.

It is for training small models on a processor: four tools, four calls, some three hundred tokens
to read. The findings are judged by the checks that judge them in every other task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.clinic import draw_morning, staff, workforce
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.drills import Drill, draw_findings
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.checks import expectation as paper
from healthgym.envs.managed_care.utilization_management.chain import Chain, work_up
from healthgym.envs.managed_care.utilization_management.packet import Sent, seen
from healthgym.envs.managed_care.utilization_management.start import blank, log_of, records_of
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewInstance,
    ReviewReference,
    ReviewTaskGenerator,
    StartStage,
)
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.provider_plan import PendAnswer
from healthgym.worlds.managed_care.records.catalog import CriteriaCatalog
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.review import ClinicalCriterionCatalogItem, TriageRecord
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    Posture,
)

#: Name of the difficulty.
DRILL = "drill"
#: The tools it is played with, and calls at most.
TOOLS = (
    "handbook.read",
    "review.get_nurse_review_data",
    "review.save_criteria_evaluation",
    "finish",
)
TURNS = 8
#: Minutes after triage at which the nurse begins.
_LATER = 20
_TEXT = (
    "You are nurse {nurse}. Read {page} and the note {note} of {case}. Save what the note shows on "
    "each criterion: met; not_met if it contradicts it; unclear if it leaves it open. Cite {note}. "
    "Then finish."
)
_PATHS = {
    Posture.SATISFIED: Path.NURSE_APPROVES,
    Posture.CONTRADICTS: Path.DENIED,
}


class DrillGenerator(ReviewTaskGenerator):
    """Draws drills: each of the three results as often right as another.

    Args:
        name: Family name in task keys.
        rules: Which rules the offices keep.
    """

    def __init__(self, name: str, rules: Rules) -> None:
        self.name, self.rules = f"{name}-{DRILL}", rules

    def draw(self, split: Split, index: int) -> ReviewInstance:
        """Return a drill."""
        return self.drawn(split, index)[1]

    def drawn(
        self, split: Split, index: int, shift: Shift | None = None
    ) -> tuple[DrawnCase, ReviewInstance]:
        """Return a drill, after the case it is about.

        Args:
            split: The split.
            index: Its number.
            shift: The cases beside which it is to stand; None if it stands alone.

        Raises:
            ConfigurationError: If it cannot stand beside them.
        """
        rng = task_rng(self.name, split, index, 0)
        now = draw_morning(rng)
        now = shift.begins if shift else now
        drill = _headed(draw_findings(now, split, rng, shift))
        chain = _worked_up(drill, self._offices(drill, now, rng, shift), rng)
        nurse = _nurse(chain)
        page = page_path(drill.drawn.book.in_force.id) if shift else ""
        start = replace(
            chain.world.start,
            now=chain.world.clock.now,
            actor=nurse,
            records=tuple(_short(record, page) for record in records_of(chain.world)),
            history=log_of(chain.world),
            counters=chain.world.counters.numbers(),
        )
        found = chain.sent.found
        kind = "-".join(sorted(str(each.result) for each in found.criteria.values()))
        task = Task(
            TaskKey(self.name, split, index), kind, _brief(drill, nurse), {"difficulty": DRILL}
        )
        return drill.drawn, Instance(task, _reference(drill, found), start)

    def _offices(
        self, drill: Drill, now: datetime, rng: np.random.Generator, shift: Shift | None
    ) -> WorldStart:
        people = workforce()
        return WorldStart(
            now=now,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((drill.drawn.patient.chart,)),
            rules=self.rules,
            operations=shift.numbers if shift else draw(rng),
            handbook=Library.of(drill.drawn.book.pages),
            policies=drill.drawn.book.book,
            counters=shift.counters if shift else {},
        )


def _headed(drill: Drill) -> Drill:
    """Return a drill whose note says whom it is about, as what is sent to a payer does."""
    patient = drill.drawn.patient
    chart, note = patient.chart, patient.chart.documents[0]
    named = replace(note, content=f"{chart.patient.id}\n{note.content}")
    told = replace(patient, chart=replace(chart, documents=(named,)))
    return replace(drill, drawn=replace(drill.drawn, patient=told))


def _worked_up(drill: Drill, start: WorldStart, rng: np.random.Generator) -> Chain:
    """Return the case as a nurse finds it: sent, taken in, and routed by whose work that is."""
    documents = (drill.note,)
    sent = Sent(documents=documents, own=(), found=seen(drill.drawn, documents, ()), answers={})
    chain = Chain(
        world=blank(start, start.now),
        case=drill.drawn,
        sent=sent,
        case_id=drill.case.id,
        path=_PATHS.get(sent.found.posture, Path.UNINFORMED),
        answer=PendAnswer(silent=True),
        rng=rng,
    )
    work_up(chain, StartStage.NURSE_REVIEW)
    return chain


def _nurse(chain: Chain) -> str:
    """Return who reviews, the same in every drill, once that person is in."""
    who = workforce().with_role(WorkerRole.UM_NURSE)[0].id
    chain.pass_time(_LATER)
    nurse, at = chain.in_first(WorkerRole.UM_NURSE, who)
    chain.world.clock.advance(at - chain.world.clock.now)
    return nurse


def _short(record: object, page: str) -> object:
    """Return a record with as little in it as a nurse needs for the findings.

    The page has the criteria in words; who asked for what, and by when it is due, decides nothing
    here.

    Args:
        record: The record.
        page: The page, where the case itself has to say which that is; else empty.
    """
    match record:
        case IntakeCase():
            return IntakeCase(
                id=record.id,
                case_id=record.case_id,
                status=record.status,
                received_at=record.received_at,
            )
        case TriageRecord():
            return TriageRecord(
                id=record.id,
                case_id=record.case_id,
                intake_case_id=record.intake_case_id,
                urgency_level=record.urgency_level,
                receipt_timestamp=record.receipt_timestamp,
                disposition=record.disposition,
                created_at=record.created_at,
                actor=record.actor,
            )
        case CriteriaCatalog():
            items = (
                ClinicalCriterionCatalogItem(
                    criterion_id=item.criterion_id,
                    stage=item.stage,
                    criterion_text="",
                    criteria_source=page,
                )
                for item in record.items
            )
            return replace(record, items=tuple(items))
        case _:
            return record


def _reference(drill: Drill, found: PolicyAssessment) -> ReviewReference:
    results = {name: each.result for name, each in found.criteria.items()}
    truths = tuple(
        paper.CriterionTruth(
            stage=paper.Stage.NURSE, criterion_id=name, expected_criterion_result=result
        )
        for name, result in results.items()
    )
    return ReviewReference(
        case_id=drill.case.id,
        stage=StartStage.NURSE_REVIEW,
        path=_PATHS.get(found.posture, Path.UNINFORMED),
        policy=drill.drawn.book.in_force,
        postures={name: each.posture for name, each in found.criteria.items()},
        results=results,
        final=results,
        bearing={
            name: frozenset({drill.note}) for name, each in found.criteria.items() if each.facts
        },
        packet=(drill.note,),
        determination=None,
        letters=(),
        notices=(),
        status=CaseStatus.UNDER_REVIEW,
        paper=paper.Expectation(
            contract=paper.Contract.V2,  # the edition that matches criteria by rule
            target_case_id=drill.case.id,
            stages=(paper.Stage.NURSE,),
            criteria=truths,
        ),
        drilled=True,
    )


def _brief(drill: Drill, nurse: str) -> str:
    page = page_path(drill.drawn.book.in_force.id)
    return _TEXT.format(nurse=nurse, page=page, note=drill.note, case=drill.case.id)


def solve(instance: ReviewInstance, rng: np.random.Generator) -> Script:
    """Read page and note, write down what is found, finish."""
    wanted = instance.reference
    return [
        call("handbook.read", path=page_path(wanted.policy.id)),
        call("review.get_nurse_review_data", case_id=wanted.case_id),
        _saved(wanted.results, instance),
        call("finish"),
    ]


def baselines() -> Mapping[str, Baseline[Task, ReviewReference, WorldStart]]:
    """Return the scripts that find without reading: all unclear, all met, all not met."""
    return {
        "prior": _constant(CriterionResult.UNCLEAR),
        "flood": _constant(CriterionResult.MET),
        "all_not_met": _constant(CriterionResult.NOT_MET),
    }


def _constant(result: CriterionResult) -> Baseline[Task, ReviewReference, WorldStart]:
    def play(instance: ReviewInstance, rng: np.random.Generator) -> Script:
        found = dict.fromkeys(instance.reference.results, result)
        return [_saved(found, instance), call("finish")]

    return play


def _saved(results: Mapping[str, CriterionResult], instance: ReviewInstance) -> ToolCall:
    wanted = instance.reference
    evaluations = [
        {
            "criterion_id": name,
            "criterion_text": "",
            "result": str(result),
            "source_refs_used": [*wanted.packet],
        }
        for name, result in results.items()
    ]
    return call(
        "review.save_criteria_evaluation",
        case_id=wanted.case_id,
        line_number=1,
        evaluations=evaluations,
        reviewer_id=instance.start.actor,
    )
