"""The drill: one decision on an open case, from a page of two criteria and a note.

It is for training small models on a processor: four tools, four calls, some two hundred tokens to
read. The decision is judged by the checks that judge it in every other task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.core.tool import call
from healthgym.envs.managed_care.cases.clinic import draw_morning, staff, workforce
from healthgym.envs.managed_care.cases.drills import CASE, NOTE, Drill, draw_drill
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.checks.expectation import PreSubmission
from healthgym.envs.managed_care.prior_authorization.oracle import reason_of
from healthgym.envs.managed_care.prior_authorization.reference import reference_of
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationInstance,
    AuthorizationReference,
    AuthorizationTaskGenerator,
)
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    ProviderDeterminationAction,
)

#: Name of the difficulty.
DRILL = "drill"
#: The tools it is played with, and calls at most.
TOOLS = ("handbook.read", "docs.get_document", "auth.finalize_provider_determination", "finish")
TURNS = 8
_TEXT = (
    "Case {case} is open: {service}. Read {page} and {note}. Decide: submit_pa if every criterion "
    "is met; do_not_submit if the note contradicts one, with the reason {code}: {policy} and the "
    "criterion; gather_more_evidence if one is open, with {policy} and the criterion. Then finish."
)
_ENDS = {
    ProviderDeterminationAction.SUBMIT_PA: CaseStatus.READY_TO_SUBMIT,
    ProviderDeterminationAction.GATHER_MORE_EVIDENCE: CaseStatus.DOCS_NEEDED,
    ProviderDeterminationAction.DO_NOT_SUBMIT: CaseStatus.CLOSED,
}


class DrillGenerator(AuthorizationTaskGenerator):
    """Draws drills: each of the three actions as often right as another.

    Args:
        name: Family name in task keys.
        rules: Which rules the offices keep.
    """

    def __init__(self, name: str, rules: Rules) -> None:
        self.name, self.rules = f"{name}-{DRILL}", rules

    def draw(self, split: Split, index: int) -> AuthorizationInstance:
        """Return a drill."""
        rng = task_rng(self.name, split, index, 0)
        now = draw_morning(rng)
        drill = draw_drill(now, split, rng)
        people = workforce()
        start = WorldStart(
            now=now,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((drill.drawn.patient.chart,)),
            records=(drill.case, drill.line, packet_of(drill, (NOTE,))),
            rules=self.rules,
            operations=draw(rng),
            handbook=Library.of(drill.drawn.book.pages),
            policies=drill.drawn.book.book,
            actor=drill.case.assigned_to,
        )
        reference = _reference(drill)
        task = Task(
            TaskKey(self.name, split, index),
            f"{reference.action}-{drill.drawn.drawn.ending}",
            _brief(drill),
            {"difficulty": DRILL},
        )
        return Instance(task, reference, start)


def packet_of(drill: Drill, documents: tuple[str, ...]) -> DocumentReference:
    """Return the packet that a colleague has made, so that only the decision is open.

    Args:
        drill: The drill.
        documents: Ids of the chart's documents that it holds.
    """
    pages = [page for page in drill.drawn.patient.chart.documents if page.id in documents]
    return DocumentReference(
        id=drill.case.id.replace("CASE-", "DOC-BUNDLE-"),
        patient_id=pages[0].patient_id,
        case_id=drill.case.id,
        kind=DocumentKind.SUBMISSION_BUNDLE,
        title=f"Packet for {drill.case.external_case_id}",
        content=", ".join(page.title for page in pages),
        created_at=drill.case.created_at,
        structured_data={
            "package_id": f"PKG-{drill.case.id}",
            "included_document_ids": tuple(page.id for page in pages),
            "extras": (),
            "answers": {},
            "ready_to_submit": True,
        },
    )


def _reference(drill: Drill) -> AuthorizationReference:
    found = reference_of(drill.drawn)
    status = _ENDS[found.action]
    paper = replace(
        found.paper,
        target_case_id=CASE,
        target_status=status,
        pre_submission=PreSubmission(),  # the packet was made before, and the status tells the rest
    )
    return replace(found, status=status, paper=paper, drilled=CASE)


def _brief(drill: Drill) -> str:
    policy = drill.drawn.book.in_force
    return _TEXT.format(
        case=CASE,
        service=drill.drawn.patient.order.description,
        page=page_path(policy.id),
        note=NOTE,
        policy=policy.id,
        code=Bar.CONTRADICTED,
    )


def solve(instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
    """Read page and note, decide, finish."""
    wanted, start = instance.reference, instance.start
    chart = start.charts[wanted.patient_id]
    sends = wanted.action is ProviderDeterminationAction.SUBMIT_PA
    reason = "" if sends else reason_of(wanted, chart)
    return [
        call("handbook.read", path=page_path(wanted.policy.id)),
        call("docs.get_document", document_id=NOTE),
        _decided(wanted.action, reason),
        call("finish"),
    ]


def baselines() -> Mapping[str, Baseline[Task, AuthorizationReference, WorldStart]]:
    """Return the scripts that decide without reading."""
    gather = ProviderDeterminationAction.GATHER_MORE_EVIDENCE
    leave = ProviderDeterminationAction.DO_NOT_SUBMIT
    return {
        "prior": _constant(leave, "C1"),
        "flood": _constant(gather, "C1, C2"),
        "always_submit": _constant(ProviderDeterminationAction.SUBMIT_PA, ""),
        "gather_everything": _constant(gather, "C1, C2"),
    }


def _constant(
    action: ProviderDeterminationAction, named: str
) -> Baseline[Task, AuthorizationReference, WorldStart]:
    def play(instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
        code = f"{Bar.CONTRADICTED}: " * (action is ProviderDeterminationAction.DO_NOT_SUBMIT)
        policy = instance.reference.policy.id  # the instruction names it
        reason = f"{code}{policy}, {named}" if named else ""
        return [_decided(action, reason), call("finish")]

    return play


def _decided(action: ProviderDeterminationAction, reason: str) -> object:
    more = {"override_reason": reason} if reason else {}
    return call(
        "auth.finalize_provider_determination", case_id=CASE, final_action=str(action), **more
    )
