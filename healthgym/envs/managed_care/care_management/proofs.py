"""How the verifier of care management is put to the proof."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import numpy as np

from healthgym.core.borders import JsonDict
from healthgym.core.family import Script
from healthgym.core.proofs import Item, Operator, Proofs
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.care_management.task import CareInstance, Ending
from healthgym.envs.managed_care.changing import (
    FINISH,
    changing,
    leaving_out,
    places_of,
    replacing,
    steps_of,
    turning,
)

_OPEN, _QUEUE = "cm_intake.open_case", "cm_intake.list_referral_queue"
_REVIEW = "cm_chart.submit_chart_review"
_CALL, _SAY, _HANG_UP = (
    "cm_outreach.start_outreach_call",
    "cm_outreach.send_message",
    "cm_outreach.end_outreach_call",
)
_SECTION, _PLAN = "cm_assessment.save_section", "cm_care_plan.save_care_plan"
_FINAL, _OUT = "cm_care_plan.finalize", "cm_intake.disenroll_case"
_LEVELS = {"low": "high", "moderate": "high", "high": "low", "very_high": "low", "rising": "low"}
_PROGRAMS = {
    "complex_care": "behavioral_health",
    "behavioral_health": "complex_care",
    "transitions_of_care": "complex_care",
    "disease_management": "complex_care",
}
#: Words with which the oracle asks for consent.
_CONSENT = "Do you agree"


def _other_level(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    review = dict(arguments["review"])
    other = _LEVELS.get(str(review["preliminary_risk_level"]))
    return (
        None
        if other is None
        else {
            **arguments,
            "review": {**review, "preliminary_risk_level": other},
        }
    )


def _other_concerns(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    """Name a disease that the patient has not."""
    return {
        **arguments,
        "review": {**arguments["review"], "primary_concerns": ["B20 HIV disease"]},
    }


def _adherence_turned(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    payload = deepcopy(arguments["payload"])
    if payload.get("section") != "medication" or not payload["data"]["current_medications"]:
        return None
    first = payload["data"]["current_medications"][0]
    first["adherence"] = "non_adherent" if first["adherence"] == "adherent" else "adherent"
    return {**arguments, "payload": payload}


def _unblocked(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Say nothing of why a section could not be finished."""
    if not arguments.get("blocked_reason"):
        return None
    return {name: value for name, value in arguments.items() if name != "blocked_reason"}


def _one_problem(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    plan = deepcopy(arguments["plan_data"])
    if len(plan["problems"]) < 2:
        return None
    plan["problems"] = plan["problems"][:1]
    return {**arguments, "plan_data": plan}


def _one_owner(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Leave to the care manager what another profession has to do."""
    plan = deepcopy(arguments["plan_data"])
    for problem in plan["problems"]:
        for goal in problem["goals"]:
            for step in goal["interventions"]:
                step["owner"] = "care_manager"
    return None if plan == arguments["plan_data"] else {**arguments, "plan_data": plan}


def _symptom_made_up(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    payload = deepcopy(arguments["payload"])
    if payload.get("section") != "clinical":
        return None
    payload["data"]["red_flags"] = ["Coughs blood since last night"]
    return {**arguments, "payload": payload}


def _harmful_advice(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    plan = deepcopy(arguments["plan_data"])
    plan["problems"][0]["goals"][0]["interventions"][0]["description"] = "Stop all medicines"
    return {**arguments, "plan_data": plan}


def _other_conditions(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    """Say otherwise when somebody is to be called."""
    plan = deepcopy(arguments["plan_data"])
    plan["escalation_conditions"] = [
        "Chest pain or trouble breathing: 911, and do not wait",
        "A fall, fever for two days or sudden swelling: the practice, the same day",
    ]
    return {**arguments, "plan_data": plan}


def _said(words: str, other: str) -> Operator:
    """Return what says something else wherever some words are said."""

    def do(instance: CareInstance, script: Script, rng: np.random.Generator) -> Script | None:
        steps = steps_of(script)
        said = [n for n in places_of(steps, {_SAY}) if words in str(steps[n].arguments["message"])]
        for n in said:
            steps[n] = ToolCall(_SAY, {**steps[n].arguments, "message": other})
        return steps if said else None

    return do


def _without_a_section(
    instance: CareInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    steps = steps_of(script)
    places = places_of(steps, {_SECTION})
    if not places:
        return None
    left = places[int(rng.integers(len(places)))]
    return [step for n, step in enumerate(steps) if n != left]


def _sections_in_reverse(
    instance: CareInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    steps = steps_of(script)
    places = places_of(steps, {_SECTION})
    if len(places) < 2 or any(steps[n].arguments.get("blocked_reason") for n in places):
        return None
    saved = [steps[n] for n in places]
    for n in places:
        steps[n] = saved.pop()
    return steps


def _looking_again(
    instance: CareInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    steps = steps_of(script)
    return [steps[0], *steps] if steps and steps[0].name == _QUEUE else None


def _chart_again(instance: CareInstance, script: Script, rng: np.random.Generator) -> Script | None:
    steps = steps_of(script)
    places = places_of(steps, {"cm_chart.get_chart_data"})
    return [*steps[: places[0]], steps[places[0]], *steps[places[0] :]] if places else None


def _concerns_in_reverse(
    instance: CareInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    review = arguments["review"]
    if len(review["primary_concerns"]) < 2:
        return None
    turned = list(review["primary_concerns"])[::-1]
    return {**arguments, "review": {**review, "primary_concerns": turned}}


def _takeaways(instance: CareInstance, arguments: JsonDict, rng: np.random.Generator) -> JsonDict:
    told = ["I called, and wrote down what was said."]
    return {**arguments, "summary": {**arguments["summary"], "key_takeaways": told}}


def _enrolled_anyway(
    instance: CareInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    """Leave somebody in the program who declined."""
    steps = steps_of(script)
    places = places_of(steps, {_OUT})
    return [*steps[: places[0]], call(FINISH)] if places else None


def _sent_away(instance: CareInstance, script: Script, rng: np.random.Generator) -> Script | None:
    """Take somebody out of the program who agreed to it."""
    steps = steps_of(script)
    places = places_of(steps, {_HANG_UP})
    if not places or places_of(steps, {_OUT}):
        return None
    out = call(_OUT, case_id=instance.reference.case_id, reason="Declined on the phone.")
    return [*steps[: places[-1] + 1], out, call(FINISH)]


def _items(instance: CareInstance) -> Iterator[Item]:
    """Ask how the work rightly ends: what is told before the first call must not show it."""
    ending = instance.reference.ending
    yield Item("a plan is made", ending is Ending.PLANNED)
    yield Item("a refusal is respected", ending is Ending.DECLINED)


PROOFS = Proofs(
    corruptions={
        "another_program": changing(_OPEN, turning("program", _PROGRAMS)),
        "another_priority": changing(
            _OPEN,
            turning("priority", {"high": "standard", "standard": "high", "urgent": "standard"}),
        ),
        "another_risk": changing(_REVIEW, _other_level),
        "a_disease_made_up": changing(_REVIEW, _other_concerns),
        "consent_pressed_for": _said(_CONSENT, "You have to take part, or your benefits end."),
        "a_talk_not_ended": leaving_out(_HANG_UP, ends=True),
        "kept_who_declined": _enrolled_anyway,
        "sent_away_who_agreed": _sent_away,
        "a_section_left_out": _without_a_section,
        "an_adherence_turned": changing(_SECTION, _adherence_turned),
        "a_block_without_reason": changing(_SECTION, _unblocked),
        "a_plan_of_one_problem": changing(_PLAN, _one_problem),
        "everything_left_to_the_manager": changing(_PLAN, _one_owner),
        "a_symptom_made_up": changing(_SECTION, _symptom_made_up),
        "advice_that_harms": changing(_PLAN, _harmful_advice),
        "the_plan_not_finished": leaving_out(_FINAL),
    },
    equivalents={
        "looking_again": _looking_again,
        "the_chart_again": _chart_again,
        "concerns_in_another_order": changing(_REVIEW, _concerns_in_reverse),
        "other_takeaways": changing(_HANG_UP, _takeaways),
        "sections_in_another_order": _sections_in_reverse,
        "another_reason_of_leaving": changing(
            _OUT, replacing(reason="The member does not want to take part and said so on the call.")
        ),
        "other_conditions_of_escalation": changing(_PLAN, _other_conditions),
        "consent_in_other_words": _said(_CONSENT, "Do you consent to take part in the program?"),
    },
    items=_items,
)
