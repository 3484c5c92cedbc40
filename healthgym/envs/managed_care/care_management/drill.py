"""The drill: one call with somebody who is ready, has a worry, or will not have it.

It is for training small models on a processor: the episode is open and the chart reviewed, and
what is left are five tools, eight calls and a talk of two to five turns. The talk is judged by the
checks that judge it in every other task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.core.family import Baseline, Script
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.panel import members
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.task import (
    CareInstance,
    CareReference,
    CareTaskGenerator,
    Ending,
)
from healthgym.envs.managed_care.cases.clinic import draw_morning, staff, workforce
from healthgym.envs.managed_care.checks.care_expectation import CareExpectation
from healthgym.envs.managed_care.checks.expectation import Contract, Expectation, Stage
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.conversation.mind import Stage as Reached
from healthgym.worlds.managed_care.conversation.mind import Supposed
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    Persona,
    PersonaKind,
    Willingness,
)
from healthgym.worlds.managed_care.handbook.rules import usual_rules
from healthgym.worlds.managed_care.records.care import CMCase, CMChartReview, CMReferral
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.care import (
    CMCaseStatus,
    CMPriority,
    CMProgram,
    CMReferralSource,
    RiskLevel,
)

#: Name of the difficulty.
DRILL = "drill"
#: The tools it is played with, and calls at most.
TOOLS = (
    "cm_outreach.start_outreach_call",
    "cm_outreach.send_message",
    "cm_outreach.end_outreach_call",
    "cm_intake.disenroll_case",
    "finish",
)
TURNS = 8
#: The episode that is open when a drill begins, and the call that is made in it.
CASE, SESSION = "CM-7001", "SES-0001"
_REFERRAL, _REASON = "REF-7001", "Referred for support with a chronic condition"
#: An hour at which one may call.
_HOUR = time(10, 5)
#: What somebody may be like, each as often as another, and what they may worry about. Who fears a
#: trick asks for a number first, for which a drill has no turn.
_WILLING = (Willingness.READY, Willingness.HESITANT, Willingness.REFUSES)
_WORRIES = tuple(each for each in Concern if each is not Concern.SCAM)
#: What is said about the offer before it is made, in order.
_OFFER = ("program", "access", "sharing", "voluntary", "ask")
_MOST_MESSAGES = 6


@cache
def _table() -> JsonObject:
    table: JsonObject = json.loads((files(__package__) / "data" / "drill.json").read_text("utf-8"))
    return table


class DrillGenerator(CareTaskGenerator):
    """Draws drills: who is ready, who has a worry and who refuses, each as often as another.

    Args:
        name: Family name in task keys.
        rules: Which rules the office keeps.
    """

    def __init__(self, name: str, rules: Rules) -> None:
        self.name, self.rules = f"{name}-{DRILL}", rules

    def draw(self, split: Split, index: int) -> CareInstance:
        """Return a drill."""
        rng = task_rng(self.name, split, index, 0)
        patient = _patient(split, rng)
        persona = _persona(patient, rng)
        begins = office_calendar(patient.address_state).utc(draw_morning(rng).date(), _HOUR)
        people = workforce()
        actor = people.with_role(WorkerRole.CARE_MANAGER)[0].id
        start = WorldStart(
            now=begins,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((PatientChart(patient=patient),)),
            records=_records(patient, begins, actor),
            rules=self.rules,
            operations=usual_rules(),
            voices={CASE: Person(persona=persona)},
            actor=actor,
        )
        task = Task(
            TaskKey(self.name, split, index),
            str(persona.willingness),
            str(_table()["text"]).format(case=CASE),
            {"difficulty": DRILL},
        )
        return Instance(task, _reference(patient, persona), start)


def _patient(split: Split, rng: np.random.Generator) -> Patient:
    """Return somebody of those who are meant in a split."""
    names = tuple(care_conditions())
    own = members(split, names[int(rng.integers(len(names)))])
    return own[int(rng.integers(len(own)))].patient


def _persona(patient: Patient, rng: np.random.Generator) -> Persona:
    willing = _WILLING[int(rng.integers(len(_WILLING)))]
    worry = _WORRIES[int(rng.integers(len(_WORRIES)))]
    return Persona(
        kind=PersonaKind.LOW_COOPERATION,  # who answers in few words
        willingness=willing,
        patient_name=f"{patient.first_name} {patient.last_name}",
        birth_date=patient.dob.isoformat(),
        concerns=(worry,) if willing is Willingness.HESITANT else (),
        seed=int(rng.integers(2**31)),
    )


def _records(patient: Patient, begins: datetime, actor: str) -> tuple[object, ...]:
    """Return what a colleague has done: the referral, the episode, the review of the chart."""
    before = begins - timedelta(days=1)
    referral = CMReferral(
        referral_id=_REFERRAL,
        case_id=CASE,
        patient_id=patient.id,
        source=CMReferralSource.PCP_REFERRAL,
        referral_date=before.date(),
        reason=_REASON,
    )
    case = CMCase(
        case_id=CASE,
        patient_id=patient.id,
        referral_source=referral.source,
        referral_reason=_REASON,
        status=CMCaseStatus.CHART_REVIEWED,
        priority=CMPriority.STANDARD,
        program=CMProgram.CHRONIC_DISEASE,
        assigned_to=actor,
        opened_at=before,
    )
    review = CMChartReview(
        review_id="REV-7001",
        case_id=CASE,
        reviewer_id=actor,
        reviewed_at=before,
        preliminary_risk_level=RiskLevel.MODERATE,
    )
    return referral, case, review


def _reference(patient: Patient, persona: Persona) -> CareReference:
    refuses = persona.willingness is Willingness.REFUSES
    status = CMCaseStatus.DISENROLLED if refuses else CMCaseStatus.OUTREACH_COMPLETE
    paper = Expectation(
        contract=Contract.CM4,
        target_patient_id=patient.id,
        target_case_id=CASE,
        stages=(Stage.CHART_REVIEW,),
        care=CareExpectation(target_status=status, audit_actions=("end_outreach_call",)),
    )
    return CareReference(
        referral_id=_REFERRAL,
        patient_id=patient.id,
        case_id=CASE,
        program=CMProgram.CHRONIC_DISEASE,
        priority=CMPriority.STANDARD,
        risk_level=RiskLevel.MODERATE,
        ending=Ending.DECLINED if refuses else Ending.PLANNED,
        persona=persona,
        paper=paper,
        status=status,
        drilled=True,
    )


class Caller:
    """Somebody who listens: what is said next follows from what was answered.

    Args:
        desk: The office.
        rng: Where the wording comes from.
    """

    def __init__(self, desk: Rehearsal, rng: np.random.Generator) -> None:
        self.desk, self.rng = desk, rng

    def work(self) -> Script:
        """Call, ask, file, and return all the calls that took."""
        self.desk.do("cm_outreach.start_outreach_call", case_id=CASE)
        for _ in range(_MOST_MESSAGES):
            parts = self._next()
            message = " ".join(wording(part, self.rng) for part in parts)
            self.desk.do("cm_outreach.send_message", session_id=SESSION, message=message)
            if parts[0] == "thanks" or self._stage is Reached.AGREED:
                break
        consent = self._stage is Reached.AGREED
        return [*self.desk.script, *filed(consent=consent, reason=wording("reason", self.rng))]

    @property
    def _stage(self) -> Reached:
        mind = self.desk.world.outreach.memory(CASE).mind
        return mind.stage if mind else Reached.UNKNOWN

    def _next(self) -> Sequence[str]:
        """Return what is said now, by the names of its parts."""
        mind = self.desk.world.outreach.memory(CASE).mind
        if mind is None or not mind.identified_in:
            return ("who", "verify")
        if mind.stage in (Reached.REFUSED, Reached.REFUSED_FOR_GOOD):
            return ("thanks", "left")
        if mind.supposed is Supposed.SAID:
            return ("unsure",)
        if mind.supposed is Supposed.ASKED_ABOUT:
            return ("ask",)
        worries = tuple(each.value for each in mind.slipped - mind.answered)
        return (*worries, "ask") if worries else _OFFER


def wordings(part: str) -> Sequence[str]:
    """Return the wordings of a part of a message."""
    listed: Sequence[str] = _table()["lines"][part]
    return listed


def wording(part: str, rng: np.random.Generator) -> str:
    """Return one of the wordings of a part of a message."""
    options = wordings(part)
    return options[int(rng.integers(len(options)))]


def filed(*, consent: bool, reason: str) -> list[ToolCall]:
    """Return the calls that file a talk, in as few words as can be."""
    summary = {
        "engagement_status": "engaged" if consent else "refused",
        "consent_obtained": consent,
    }
    ended = call("cm_outreach.end_outreach_call", session_id=SESSION, summary=summary)
    let_go = call("cm_intake.disenroll_case", case_id=CASE, reason=reason)
    return [ended, *(() if consent else (let_go,)), call("finish")]


def baselines() -> Mapping[str, Baseline[Task, CareReference, WorldStart]]:
    """Return the scripts that say the same whatever is answered."""
    return {
        "prior": _constant(("thanks", "left"), consent=False),
        "flood": _constant((*_WORRIES, "ask"), ("unsure",), ("ask",), consent=True),
        "always_agree": _constant(("cost", "ask"), ("unsure",), ("ask",), consent=True),
        "always_ready": _constant(consent=True),
        "asks_behind": _constant(("unsure",), ("voluntary", "sharing", "ask"), consent=True),
    }


def _constant(*messages: Sequence[str], consent: bool) -> Baseline[Task, CareReference, WorldStart]:
    def play(instance: CareInstance, rng: np.random.Generator) -> Script:
        said = (
            call(
                "cm_outreach.send_message",
                session_id=SESSION,
                message=" ".join(wording(part, rng) for part in parts),
            )
            for parts in (("who", "verify"), _OFFER, *messages)
        )
        began = call("cm_outreach.start_outreach_call", case_id=CASE)
        return [began, *said, *filed(consent=consent, reason=wording("reason", rng))]

    return play
