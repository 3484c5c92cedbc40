"""What a care manager files, from what was found: the four sections and the plan, as arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonDict
from healthgym.envs.managed_care.care_management.task import Needs
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    CMInterventionOwner,
    CMProblemCategory,
    DiseaseControlStatus,
    EscalationReason,
    MotivationStage,
    RiskLevel,
)
from healthgym.worlds.managed_care.voices import Topic

_Category, _Owner = CMProblemCategory, CMInterventionOwner
#: To which kind of problem an owner's part belongs, the best first.
_PLACES: Mapping[CMInterventionOwner, tuple[CMProblemCategory, ...]] = {
    _Owner.PHARMACIST: (_Category.MEDICATION, _Category.CLINICAL),
    _Owner.SOCIAL_WORKER: (_Category.SDOH, _Category.COORDINATION, _Category.CLINICAL),
    _Owner.BEHAVIORAL_HEALTH_PROVIDER: (_Category.BEHAVIORAL_HEALTH, _Category.CLINICAL),
    _Owner.PCP: (_Category.CLINICAL, _Category.MEDICATION),
    _Owner.SPECIALIST: (_Category.CLINICAL, _Category.COORDINATION),
    _Owner.PATIENT: (_Category.CLINICAL, _Category.MEDICATION),
    _Owner.CARE_MANAGER: (_Category.COORDINATION, _Category.CLINICAL),
}
#: What fills a plan up to the number of problems that is due.
_FURTHER = (_Category.CLINICAL, _Category.COORDINATION)
_GOAL, _STEP = timedelta(days=60), timedelta(days=10)
#: Most medicines or barriers that a sentence names.
_NAMED = 3
_ANXIETY = ((15, "severe"), (10, "moderate"), (5, "mild"), (0, "minimal"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A diagnosis as it is assessed.

    Attributes:
        code: ICD-10-CM code.
        display: Its name, as the chart has it.
        control: How well it is controlled.
        note: The value that shows it, or what there is.
    """

    code: str
    display: str
    control: DiseaseControlStatus
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Medicine:
    """A medicine as it is taken.

    Attributes:
        name: Its name, as the chart has it.
        dose: Dose and frequency.
        adherence: How regularly it is taken.
        report: What the person says, where that differs from the chart; else empty.
        charted: Whether the chart has it.
    """

    name: str
    dose: str
    adherence: AdherenceLevel
    report: str = ""
    charted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The sum of a screening instrument.

    Attributes:
        points: The sum; None where it was not taken as a whole.
        day: The day it was taken.
    """

    points: int | None
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found of a person, on the phone and in the chart.

    Attributes:
        diagnoses: Diagnoses that drive the plan.
        medicines: Medicines.
        phq9: The PHQ-9.
        gad7: The GAD-7.
        barriers: Social barriers.
        safety: Whether there is danger.
        substances: Whether alcohol or drugs are a worry.
        escalation: Why somebody is brought in the same day; None if nobody is.
        language: Language that needs an interpreter; empty if none does.
        readiness: What they say they will do about their health.
    """

    diagnoses: Sequence[Diagnosis]
    medicines: Sequence[Medicine]
    phq9: Score
    gad7: Score
    barriers: frozenset[Topic]
    safety: bool = False
    substances: bool = False
    mood: bool = False
    escalation: EscalationReason | None = None
    language: str = ""
    readiness: MotivationStage = MotivationStage.PREPARATION


def chart_review(chart: PatientChart, level: RiskLevel) -> JsonDict:
    """Return the review of a chart: its conditions, its medicines, and its latest value.

    Args:
        chart: The chart.
        level: The level of risk.
    """
    named = [f"{each.code} {each.display}" for each in chart.conditions if each.active]
    taken = [each.medication_name for each in chart.medications if each.status == "active"]
    values = [each for each in chart.observations if each.value_quantity is not None]
    last = max(values, key=lambda each: each.observed_at, default=None)
    latest = (
        f" {last.display} {last.value_quantity:.10g} on {last.observed_at:%Y-%m-%d}."
        if last
        else ""
    )
    return {
        "primary_concerns": named[:3] or ["No active condition on the problem list"],
        "preliminary_risk_level": str(level),
        "key_findings": f"On the problem list: {'; '.join(named[:5])}. "
        f"Medicines: {', '.join(taken) or 'none'}.{latest}",
    }


def sections(found: Findings) -> Iterator[JsonDict]:
    """Yield the four sections, in order, as payloads."""
    for name, data in (
        ("clinical", _clinical(found)),
        ("medication", _medication(found)),
        ("behavioral_health", _mind(found)),
        ("sdoh", _social(found)),
    ):
        yield {"section": name, "data": data}


def _clinical(found: Findings) -> JsonDict:
    return {
        "major_diagnoses": [
            {
                "code": each.code,
                "display": each.display,
                "severity": "moderate",
                "control_status": str(each.control),
            }
            for each in found.diagnoses
        ],
        "disease_control": [
            {"condition": each.display, "status": str(each.control), "notes": each.note}
            for each in found.diagnoses
        ],
    }


def _medication(found: Findings) -> JsonDict:
    return {
        "current_medications": [
            {"name": each.name, "dose": each.dose, "adherence": str(each.adherence)}
            for each in found.medicines
        ],
        "discrepancies": [
            {
                "chart_med": each.name if each.charted else "",
                "patient_report": each.report,
                "issue_type": "not taken" if each.charted else "not in the chart",
            }
            for each in found.medicines
            if each.report
        ],
    }


def _mind(found: Findings) -> JsonDict:
    data: JsonDict = {
        "motivation_stage": str(found.readiness),
        "safety_concerns": found.safety,
        "substance_use_concerns": found.substances,
        "mood_affecting_adherence": found.mood,
        "escalation_required": found.escalation is not None,
    }
    if found.phq9.points is None:
        data["depression_screen_notes"] = "The first two questions were answered: no sign."
    else:
        data |= {"phq9_score": found.phq9.points, "phq9_administered_at": str(found.phq9.day)}
    if found.gad7.points is not None:
        severity = next(name for least, name in _ANXIETY if found.gad7.points >= least)
        data |= {
            "gad7_score": found.gad7.points,
            "gad7_administered_at": str(found.gad7.day),
            "anxiety_severity": severity,
        }
    if found.escalation is not None:
        data |= {
            "escalation_reason_kind": str(found.escalation),
            "escalation_notes": "Passed on by voice to the supervisor on the day of the call.",
        }
    return data


def _social(found: Findings) -> JsonDict:
    there = found.barriers
    level = {True: "limited", False: "adequate"}
    return {
        "transportation_barrier": Topic.TRANSPORTATION in there,
        "food_insecurity": Topic.FOOD in there,
        "housing_instability": Topic.HOUSING in there,
        "caregiver_support": level[Topic.CAREGIVER in there],
        "financial_constraints": Topic.FINANCES in there,
        "health_literacy": level[Topic.LITERACY in there],
        "language_barrier": found.language if Topic.LANGUAGE in there else None,
        "phone_internet_access": Topic.PHONE_ACCESS not in there,
        "work_schedule_barrier": Topic.WORK in there,
    }


# -- the plan ------------------------------------------------------------------------------------


def plan(needs: Needs, found: Findings, today: date) -> JsonDict:
    """Return the plan that follows from what was found.

    Args:
        needs: What it must hold.
        found: What was found.
        today: The day it is written.
    """
    kinds = [needs.first, *sorted(needs.categories - {needs.first})]
    while len(kinds) < needs.problems_least:
        kinds.append(_FURTHER[len(kinds) % 2])
    owned: list[list[CMInterventionOwner]] = [[_Owner.CARE_MANAGER] for _ in kinds]
    for owner in sorted(needs.owners):
        place = next((kinds.index(each) for each in _PLACES[owner] if each in kinds), 0)
        if owner not in owned[place]:
            owned[place].append(owner)
    slots = _slots(found)
    problems = [
        _problem(kind, kinds[:place].count(kind), owners, slots, today)
        for place, (kind, owners) in enumerate(zip(kinds, owned, strict=True))
    ]
    return {
        "problems": problems,
        "escalation_conditions": [each.format(**slots) for each in _words().escalation],
        "follow_up_cadence_kind": str(needs.cadence),
        "follow_up_start_date": str(today + timedelta(days=3)),
    }


def _slots(found: Findings) -> Mapping[str, str]:
    """Return what the words of a plan are about, by what they leave open."""
    late = {AdherenceLevel.PARTIAL, AdherenceLevel.NON_ADHERENT}
    missed = [each.name for each in found.medicines if each.report or each.adherence in late]
    sums = {"PHQ-9": found.phq9, "GAD-7": found.gad7}
    scores = [f"{name} {each.points} on {each.day}" for name, each in sums.items() if each.points]
    words = _words().barriers
    barriers = [words[topic] for topic in sorted(found.barriers) if topic in words]
    return {
        "subject": found.diagnoses[0].display if found.diagnoses else "the illness",
        "medicines": ", ".join(missed[:_NAMED]) or f"all {len(found.medicines)} of the list",
        "scores": ", ".join(scores) or "as told on the call",
        "barriers": " and ".join(barriers[:_NAMED]) or "what is needed at home",
    }


def _problem(
    kind: CMProblemCategory,
    again: int,
    owners: Sequence[CMInterventionOwner],
    slots: Mapping[str, str],
    today: date,
) -> JsonDict:
    wordings = _words().problems[kind]
    words = {key: said.format(**slots) for key, said in wordings[again % len(wordings)].items()}
    others = {owner: said.format(**slots) for owner, said in _words().steps.items()}
    steps = {**others, _Owner.CARE_MANAGER: words["step"]}
    goal = {
        "description": words["goal"],
        "target_date": str(today + _GOAL),
        "measurable_criteria": words["measure"],
        "interventions": [
            {"description": steps[owner], "owner": str(owner), "due_date": str(today + _STEP)}
            for owner in owners
        ],
    }
    source = kind if kind is not _Category.COORDINATION else _Category.CLINICAL
    return {
        "description": words["problem"],
        "category": str(kind),
        "priority": "high" if not again else "medium",
        "source_assessment": str(source),
        "goals": [goal],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanWords:
    """Words of ``data/plan_words.json``; slots in braces stand for what was found.

    Attributes:
        problems: Problems, each with a goal, its measure and the care manager's step, by kind.
        steps: What else is to be done, by owner.
        barriers: What a social barrier is called, by subject.
        escalation: When somebody is called, and who.
    """

    problems: Mapping[str, Sequence[Mapping[str, str]]]
    steps: Mapping[str, str]
    barriers: Mapping[str, str]
    escalation: Sequence[str]


@cache
def _words() -> _PlanWords:
    text = (files(__package__) / "data" / "plan_words.json").read_text("utf-8")
    return _PlanWords(**json.loads(text))
