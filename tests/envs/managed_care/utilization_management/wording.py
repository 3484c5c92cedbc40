"""Words put into a right episode: variants of letters, reasons, notes and calls, from data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from healthgym.core.tool import ToolCall
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from healthgym.worlds.managed_care.apps.payer.letter_texts import written
from healthgym.worlds.managed_care.service_levels import case_timers
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    FAMILY,
    MD,
    NURSE,
    RECOMMEND,
    Script,
    play,
)

_DATA = Path(__file__).parent / "data"
_LETTER = "payer_letter_center.generate_"
_APPROVAL, _DENIAL = f"{_LETTER}approval", f"{_LETTER}denial"
_TRIAGE = "triage.set_disposition"
#: Slots that only an intake fills.
_OF_THE_REQUEST = ("member", "doctor", "service", "diagnosis", "plan")
_TURN, _SUMMARY = "p2p_session.send_turn", "p2p_session.submit_summary"


@cache
def variants(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the texts of a file, by the field in which they are written."""
    found = json.loads((_DATA / f"{name}.json").read_text("utf-8"))
    return {field: tuple(texts) for field, texts in found.items()}


def put_in(instance: ReviewInstance, script: Script, field: str, text: str) -> Script | None:
    """Return a script with a text in a field; None where there is no such field.

    Args:
        instance: The task.
        script: The right calls.
        field: The field.
        text: The text, with slots for what the task is about.
    """
    slots = _slots(instance, script)
    if any(f"{{{name}}}" in text for name in _OF_THE_REQUEST if name not in slots):
        return None
    if not any(True for one in script for _ in _given(one, field, text, slots)):
        return None
    return [_changed(one, field, text, slots) for one in script]


def _changed(one: ToolCall, field: str, text: str, slots: Mapping[str, str]) -> ToolCall:
    given = {**one.arguments}
    for name, value in _given(one, field, text, slots):
        given[name] = value
    return replace(one, arguments=given)


def _given(
    one: ToolCall, field: str, text: str, slots: Mapping[str, str]
) -> Iterator[tuple[str, object]]:
    """Yield the arguments of a call that a field stands for."""
    own = one.arguments
    match field, one.name:
        case ("approval_body", name) if name == _APPROVAL:
            yield "body", filled(text, slots)
        case ("denial_body", name) if name == _DENIAL:
            yield "body", filled(text, slots)
        case ("basis", name) if name in (_APPROVAL, _DENIAL):
            yield "supporting_basis", filled(text, slots)
        case ("appeal_information", name) if name == _DENIAL:
            yield "appeal_information", filled(text, slots)
        case ("denial_rationale", name) if name == DECIDE and own["decision"] == "deny":
            right = str(own["denial_rationale"])
            yield "denial_rationale", filled(text, {**slots, "right": right})
        case ("approving_rationale", name) if name == DECIDE and own["decision"] == "approve":
            right = str(own["determination_rationale"])
            yield "determination_rationale", filled(text, {**slots, "right": right})
        case ("clinical_notes", name) if name in (RECOMMEND, DECIDE):
            kept = str(own["clinical_notes"]) if own.get("info_requested") else ""
            yield "clinical_notes", f"{kept} {filled(text, slots)}".strip()
        case ("finding_notes", name) if name in (NURSE, MD):
            yield (
                "evaluations",
                [
                    {**row, "notes": filled(text, {**slots, "notes": str(row["notes"])})}
                    for row in rows_of(one)
                ],
            )
        case ("criterion_text", name) if name in (NURSE, MD):
            yield "evaluations", [_renamed(row, rows_of(one), text, slots) for row in rows_of(one)]
        case ("disposition_reason", name) if name == _TRIAGE:
            if own["disposition"] == "nurse_review":
                yield "disposition_reason", filled(text, slots)
        case ("turn", name) if name == _TURN:
            yield "message", f"{filled(text, slots)} {own['message']}"
        case ("summary", name) if name == _SUMMARY:
            yield "summary", f"{own['summary']} {filled(text, slots)}"


def rows_of(one: ToolCall) -> list[dict[str, object]]:
    """Return the findings of a call."""
    given = one.arguments["evaluations"]
    assert isinstance(given, list)
    return [dict(row) for row in given]


def _renamed(
    row: dict[str, object], rows: list[dict[str, object]], text: str, slots: Mapping[str, str]
) -> dict[str, object]:
    own = str(row["criterion_text"])
    others = [str(each["criterion_text"]) for each in rows if each is not row]
    others = [each for each in others if each != own] or ["Something else altogether."]
    told = {
        **slots,
        "text": own,
        "text_lower": own.lower(),
        "id": str(row["criterion_id"]),
        "other": others[0],
    }
    return {**row, "criterion_text": filled(text, told)}


def filled(text: str, slots: Mapping[str, str]) -> str:
    """Return a text with its slots filled; what is in braces and is none of them stays."""
    for name, value in slots.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _slots(instance: ReviewInstance, script: Script) -> Mapping[str, str]:
    wanted = instance.reference
    return {
        "policy": wanted.policy.id,
        "version": wanted.policy.version,
        "unmet": " and ".join(sorted(wanted.denied_on)) or "C1",
        "case": wanted.case_id,
        "appeal_days": str(case_timers(instance.start.operations).appeal.days),
        **_asked_for(instance),
        **_last_day(instance, script),
    }


def _asked_for(instance: ReviewInstance) -> Mapping[str, str]:
    """Return for whom what was requested, by whom and why, as the intake has it."""
    world = FAMILY.open(instance)
    case = world.cases.get(instance.reference.case_id)
    intakes = world.intake.intakes.values()
    intake = next((one for one in intakes if one.case_id == case.id), None)
    if intake is None or not intake.line_items or not intake.diagnoses:
        return {}
    patient = world.charts[case.patient_id].patient
    return {
        "member": f"{patient.first_name} {patient.last_name}",
        "doctor": intake.requesting_provider.provider_name,
        "service": intake.line_items[0].procedures[0].name,
        "diagnosis": intake.diagnoses[0].name,
        "plan": intake.plan_type,
    }


_KNOWN: dict[str, Mapping[str, str]] = {}


def _last_day(instance: ReviewInstance, script: Script) -> Mapping[str, str]:
    """Return until when the decision can be appealed, once it is made."""
    name = f"{instance.task.task_id} {instance.task.kind}"
    if name not in _KNOWN:
        world = play(instance, script[:-1], stops=False).world
        until = world.cases.get(instance.reference.case_id).appeal_due_at
        found = {"deadline": f"{until:%Y-%m-%d}", "deadline_long": written(until)} if until else {}
        _KNOWN[name] = found
    return _KNOWN[name]
