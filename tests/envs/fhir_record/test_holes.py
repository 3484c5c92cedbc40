"""Each known hole of the published graders pays under ``paper`` and not under ``strict``.

The published record systems are used (``benchmark=``), so that the paper verdict is the published
one with its defects. What a hole is, and which grader has it, stands in
:class:`healthgym.envs.fhir_record.paper.base.Defect`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.paper.base import Defect

Script = list[ToolCall]


def episode_of(kind: str, branch: str, benchmark: str | None) -> tuple[Episode[Any], Script]:
    env = FhirRecordEnv(task_types=[kind], difficulty="medium", benchmark=benchmark)
    for index in range(400):
        instance = env.family.generator.generate("train", index)
        if instance.reference.decision.branch == branch:
            env.reset(options={"index": index})
            return env.episode, list(env.family.oracle(instance, np.random.default_rng(0)))
    raise AssertionError(f"no {kind} task of branch {branch}")


def empty(script: Script) -> Script:
    return [call("finish", value=[])]


def no_answer(script: Script) -> Script:
    return [*script[:-1], call("finish", value=[])]


def edit(name: str, **arguments: Any) -> Callable[[Script], Script]:
    def changed(script: Script) -> Script:
        return [
            ToolCall(name, {**a.arguments, **arguments}) if a.name == name else a for a in script
        ]

    return changed


def one_stop(script: Script) -> Script:
    stops = [a for a in script if a.name == "stop_medication_request"]
    assert len(stops) > 1
    return [a for a in script if a not in stops[1:]]


def extra_order(script: Script) -> Script:
    patient = script[0].arguments["patient"]
    return [*script[:-1], call("create_service_request", patient=patient, code="1-8"), script[-1]]


def two_of_one_repeat(script: Script) -> Script:
    orders = [a for a in script if a.name == "create_service_request"]
    assert len(orders) == 2
    return [orders[0] if a == orders[1] else a for a in script]


def fluid(script: Script) -> Script:
    patient = script[0].arguments["patient"]
    order = call("create_service_request", patient=patient, code="none", text="fluid restriction")
    return [order, script[-1]]


HOLES: dict[str, tuple[Defect, str, str, str, Callable[[Script], Script]]] = {
    "nothing read, potassium normal": (Defect.EMPTY_FINISH, "v1", "v1-t9", "normal", empty),
    "nothing read, A1c fresh": (Defect.EMPTY_FINISH, "v1", "v1-t10", "fresh", empty),
    "ordered, value not reported": (Defect.EMPTY_FINISH, "v1", "v1-t5", "mild", no_answer),
    "nothing read, no magnesium": (Defect.ABSENT_FINISH_IGNORED, "v1", "v1-t5", "absent", empty),
    "nothing read, CT is recent": (Defect.FINISH_IGNORED, "v2", "v2-t5", "recent_ct", empty),
    "nothing read, QTc normal": (Defect.FINISH_IGNORED, "v2", "v2-t7", "normal", empty),
    "nothing read, naloxone there": (Defect.FINISH_IGNORED, "v2", "v2-t8", "covered", empty),
    "nothing read, vaccine recent": (Defect.FINISH_IGNORED, "v2", "v2-t9", "fresh", empty),
    "one duplicate stopped": (Defect.ONE_STOP_ENOUGH, "v2", "v2-t2", "other_newest", one_stop),
    "a further order": (Defect.EXTRA_POSTS, "v2", "v2-t4", "overdue", extra_order),
    "one repeat test twice": (Defect.TWO_TSH_PASS, "v2", "v2-t6", "protocol_b", two_of_one_repeat),
    "repeat tests tomorrow": (
        Defect.FUTURE_UNCHECKED,
        "v2",
        "v2-t6",
        "protocol_b",
        edit("create_service_request", occurrence="2023-11-14T08:00:00+00:00"),
    ),
    "naloxone by mouth, 400 g": (
        Defect.DOSE_UNCHECKED,
        "v2",
        "v2-t8",
        "uncovered",
        edit("create_medication_request", dose=400.0, dose_unit="g", route="oral"),
    ),
    "fluids for a vaccine": (Defect.FLU_SUBSTRING, "v2", "v2-t9", "stale", fluid),
}


@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES.keys())
def test_a_hole_pays_under_paper_and_not_under_strict(hole: Any) -> None:
    defect, benchmark, kind, branch, exploit = hole
    episode, script = episode_of(kind, branch, benchmark)
    for action in exploit(script):
        assert not episode.step(action).errors
    assert episode.verdict(profile=Profile.PAPER).success, defect
    assert not episode.verdict(profile=Profile.STRICT).success, defect


def swap_orders(script: Script) -> Script:
    look, first, second, finish = script
    return [look, second, first, finish]


PUNISHED: dict[str, tuple[Defect, str | None, str, str, Callable[[Script], Script]]] = {
    "level before the drug": (Defect.POST_ORDER, "v1", "v1-t9", "low", swap_orders),
    "date with a Z": (
        Defect.DATE_AS_STORED,
        "v1",
        "v1-t10",
        "fresh",
        lambda script: [
            *script[:-1],
            call(
                "finish",
                value=[
                    script[-1].arguments["value"][0],
                    script[-1].arguments["value"][1].replace("+00:00", "Z"),
                ],
            ),
        ],
    ),
    "vaccine by its code alone": (
        Defect.COVID_WORD,
        "v2",
        "v2-t10",
        "stale",
        lambda script: [
            ToolCall(
                a.name, {k: v for k, v in a.arguments.items() if k not in ("text", "medication")}
            )
            if a.name.startswith("create")
            else a
            for a in script
        ],
    ),
}


@pytest.mark.parametrize("case", PUNISHED.values(), ids=PUNISHED.keys())
def test_an_honest_answer_the_published_grader_fails_passes_strict(case: Any) -> None:
    defect, benchmark, kind, branch, honest = case
    episode, script = episode_of(kind, branch, benchmark)
    for action in honest(script):
        outcome = episode.step(action)
        assert not outcome.errors, outcome.observation
    assert episode.verdict(profile=Profile.STRICT).success, episode.verdict().to_dict()
    assert not episode.verdict(profile=Profile.PAPER).success, defect
