"""Who acts by the question alone, without a look at the chart, is paid nothing on average."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from math import sqrt

import numpy as np
import pytest

from healthgym.core.borders import Json
from healthgym.core.env import HealthEnv
from healthgym.core.family import Script
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record import oracle
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.task import Facts, FhirInstance
from healthgym.rewards import PotentialReward
from healthgym.testing.play import keeping_env
from tests.sized import some

_IDS = ("HealthAgent/FhirRecord-v1", "HealthAgent/MedAgentBenchV3-v1")
#: A mean lies no more than this many standard errors above nothing.
_WIDTH = 2.0

Blind = Callable[[Facts], tuple[list[ToolCall], list[Json]]]


def _number(kind: str, facts: Facts, name: str) -> float:
    return KINDS[kind].number(facts, name)


def _service(facts: Facts, code: str, hours: float = 0.0, **details: str) -> ToolCall:
    when = {"occurrence": (facts.now + timedelta(hours=hours)).isoformat()} if hours else {}
    arguments = {"patient": facts.patient, "code": facts.codes[code], **when, **details}
    return call("create_service_request", **arguments)


def _drug(facts: Facts, **details: Json) -> ToolCall:
    return call("create_medication_request", patient=facts.patient, **details)


def _magnesium(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    order = _drug(
        facts,
        medication="magnesium sulfate",
        code=facts.codes["magnesium_ndc"],
        dose=_number("v1-t5", facts, "moderate_g"),
        dose_unit="g",
        route="IV",
        rate=_number("v1-t5", facts, "moderate_h"),
        rate_unit="h",
    )
    return [order], [_number("v1-t5", facts, "middle") - 0.1]


def _potassium(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    order = _drug(
        facts,
        medication="potassium chloride",
        code=facts.codes["potassium_ndc"],
        dose=3 * _number("v1-t9", facts, "per_tenth"),
        dose_unit="mEq",
        route="oral",
    )
    level, _ = _level_only(facts)
    return [order, *level], [round(_number("v1-t9", facts, "goal") - 0.3, 1)]


def _level_only(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    hour = int(_number("v1-t9", facts, "hour"))
    morning = (facts.now + timedelta(days=1)).replace(hour=hour, minute=0)
    level = _service(
        facts,
        "potassium_loinc",
        system="http://loinc.org",
        priority="stat",
        occurrence=morning.isoformat(),
    )
    return [level], [_number("v1-t9", facts, "goal")]


def _catheter(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    return [_service(facts, "catheter", text="Remove urinary catheter")], [-1]


def _thyroid_labs(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    hours = 730.5 * _number("v2-t6", facts, "months")
    return [_service(facts, "tsh", hours), _service(facts, "ft4", hours)], [6, 1.2]


def _thyroid_drug(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    dose, hours = (_number("v2-t6", facts, name) for name in ("dose", "weeks"))
    drug = _drug(
        facts,
        medication=f"levothyroxine {dose:g} mcg tablet",
        dose=dose,
        dose_unit="mcg",
        route="oral",
        frequency="daily",
    )
    hours *= 168
    return [drug, _service(facts, "tsh", hours), _service(facts, "ft4", hours)], [12, 1.2]


def _ecg(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    order = _service(facts, "ecg", _number("v2-t7", facts, "ecg_hours"), text="12-lead ECG")
    return [order], [_number("v2-t7", facts, "limit") + 20]


def _one_anticoagulant(facts: Facts) -> tuple[list[ToolCall], list[Json]]:
    return [], [1, facts.now.isoformat()]


#: Found by hand, by somebody who looked for what is paid.
ATTACKS: tuple[tuple[str, Blind], ...] = (
    ("v1-t5", _magnesium),
    ("v1-t9", _potassium),
    ("v1-t9", _level_only),
    ("v2-t2", _one_anticoagulant),
    ("v2-t4", _catheter),
    ("v2-t6", _thyroid_labs),
    ("v2-t6", _thyroid_drug),
    ("v2-t7", _ecg),
)


def _returns(
    env_id: str, kind: str, script: Callable[[FhirInstance], Script], tasks: int
) -> Iterator[float]:
    """Yield the shaped returns of a script on validation tasks, from which nothing was measured."""
    env: HealthEnv = keeping_env(env_id, {"task_types": [kind], "difficulty": "easy"})
    env.reward = PotentialReward()
    for index in range(tasks):
        instance = env.family.generator.generate(Split.VALIDATION, index)
        episode = env.open_episode(Split.VALIDATION, index)
        for action in script(instance):
            episode.step(action, env.role)
        yield episode.total_reward(env.role)


def _pays(env_id: str, kind: str, script: Callable[[FhirInstance], Script], tasks: int) -> bool:
    paid = list(_returns(env_id, kind, script, tasks))
    return bool(np.mean(paid) > _WIDTH * np.std(paid, ddof=1) / sqrt(len(paid)))


@pytest.mark.parametrize("env_id", _IDS)
@pytest.mark.parametrize(
    ("kind", "blind"), ATTACKS, ids=[f"{kind}{play.__name__}" for kind, play in ATTACKS]
)
def test_who_orders_by_the_question_alone_is_paid_nothing(
    env_id: str, kind: str, blind: Blind
) -> None:
    def script(instance: FhirInstance) -> Script:
        orders, value = blind(instance.reference.facts)
        return [*orders, call("finish", value=value)]

    assert not _pays(env_id, kind, script, some(640, 80))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("v1-t3", "v1-t8")])
@pytest.mark.parametrize("policy", ["eager", "prior"])
def test_a_baseline_that_does_not_look_is_paid_nothing(kind: str, policy: str) -> None:
    play = {"eager": oracle.eager, "prior": oracle.prior}[policy]

    def script(instance: FhirInstance) -> Script:
        return play(instance, np.random.default_rng(0))

    assert not _pays(_IDS[0], kind, script, some(640, 80))


@pytest.mark.parametrize("kind", ["v1-t5", "v1-t9", "v2-t4", "v2-t6", "v2-t7"])
def test_the_eager_baseline_orders_what_the_prior_leaves(kind: str) -> None:
    env = keeping_env(_IDS[0], {"task_types": [kind], "difficulty": "easy"})
    instance = env.family.generator.generate(Split.TRAIN, 0)
    rng = np.random.default_rng(0)
    eager, prior = (play(instance, rng) for play in (oracle.eager, oracle.prior))
    assert len(eager) > len(prior) == 1
