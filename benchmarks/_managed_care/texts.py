"""Free texts in a right file: what becomes of it when a field says something else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from _managed_care.honest import Calls
from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management.task import CareInstance
from healthgym.rewards import SparseReward

_TOOLS = {
    "review": ("cm_chart.submit_chart_review", "review"),
    "outreach": ("cm_outreach.end_outreach_call", "summary"),
    "plan": ("cm_care_plan.save_care_plan", "plan_data"),
}
_SECTION = ("cm_assessment.save_section", "payload")
#: What makes a number and a day ones that no chart has.
_MISREAD = 1.7
_ANOTHER_DAY = timedelta(days=37)


@dataclass(frozen=True, slots=True)
class Text:
    """Something to write.

    Attributes:
        field: Where, such as ``plan.goal``.
        text: The words, with slots in braces.
    """

    field: str
    text: str


def texts(path: Path) -> tuple[Text, ...]:
    """Return the texts of a file."""
    rows: list[dict[str, str]] = list(map(json.loads, path.read_text("utf-8").splitlines()))
    return tuple(Text(**row) for row in rows)


class Files:
    """Right files, in which other words can be written.

    Args:
        count: How many people they are of.
    """

    def __init__(self, count: int) -> None:
        self.calls = Calls(count)

    def failed(self, number: int, written: Sequence[Text]) -> tuple[str, ...]:
        """Return what fails, and why, when fields of a right file say something else.

        Args:
            number: Whose file, counted round.
            written: What is written, at most one text for each field.
        """
        turn = number % len(self.calls.tasks)
        task, script = self.calls.tasks[turn], list(self.calls.scripts[turn])
        slots = _slots(task)
        for each in written:
            _write(script, each.field, each.text.format(**slots))
        rules = EpisodeConfig(max_turns=200)
        episode = Episode(self.calls.family, task, SparseReward(), rules)
        for step in script:
            episode.step(step)
        if not episode.done():
            episode.stop()
        verdict = episode.verdict(profile=Profile.STRICT)
        return tuple(
            f"{one.check.name}: {one.detail}" for one in verdict.checks if one.passed is False
        )


def _slots(task: CareInstance) -> Mapping[str, str]:
    """Return what stands in the slots for somebody."""
    chart = task.start.charts[task.reference.patient_id]
    found = next(one for one in reversed(chart.observations) if one.value_quantity is not None)
    taken = next(one for one in chart.medications if one.status == "active")
    known = next(one for one in chart.conditions if one.active)
    day, another = found.observed_at, found.observed_at - _ANOTHER_DAY
    return {
        "value": f"{found.display} {found.value_quantity:g} on {day:%Y-%m-%d}",
        "misread": f"{found.display} {_MISREAD * found.value_quantity:g} on {day:%Y-%m-%d}",
        "misdated": f"{found.display} {found.value_quantity:g} on {another:%Y-%m-%d}",
        "medicine": taken.medication_name,
        "condition": known.display,
    }


def _write(script: list[ToolCall], field: str, text: str) -> None:
    """Write a text into the first call of a script that has the field."""
    place, _, name = field.partition(".")
    tool, argument = _TOOLS.get(place, _SECTION)
    for n, step in enumerate(script):
        if step.name != tool:
            continue
        data: Any = deepcopy(step.arguments[argument])
        if place in _TOOLS or data["section"] == place:
            _set(data if place in _TOOLS else data["data"], name, text)
            script[n] = replace(step, arguments={**step.arguments, argument: data})
            return


def _set(data: Any, name: str, text: str) -> None:
    match name:
        case "problem":
            data["problems"][0]["description"] = text
        case "goal" | "measure":
            key = {"goal": "description", "measure": "measurable_criteria"}[name]
            next(_goals(data))[key] = text
        case "intervention":
            next(_goals(data))["interventions"][0]["description"] = text
        case "escalation":
            data["escalation_conditions"] = [*data["escalation_conditions"], text]
        case "notes" if "disease_control" in data:
            data["disease_control"][0]["notes"] = text
        case "issues":
            data["current_medications"][0]["issues"] = [text]
        case "key_findings":
            data[name] = text
        case "notes" | "depression_screen_notes" | "anxiety_screen_notes" | "motivation_notes":
            data[name] = text
        case _:
            data[name] = [*data.get(name, ()), text]


def _goals(plan: Any) -> Iterator[Any]:
    return (goal for problem in plan["problems"] for goal in problem["goals"])
