"""A review of a criterion that no policy has gets a verdict, where the world lets it be saved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.registration import make_health_env
from healthgym.testing.scripts import oracle_script

SAVE = "review.save_md_review"


@pytest.mark.parametrize("name", ["C77", "C\uff17", ""])
def test_a_criterion_that_there_is_not_fails_and_raises_nothing(name: str) -> None:
    env = make_health_env(
        "HealthAgent/UtilizationManagement-v1", {"rules": "compat", "profile": "paper"}
    )
    for index in range(40):
        instance = env.family.generator.generate(Split.TEST, index)
        script = oracle_script(env, instance)
        if any(isinstance(one, ToolCall) and one.name == SAVE for one in script):
            break
    env.reset(options={"split": "test", "index": index})
    for one in script:
        if isinstance(one, ToolCall) and one.name == SAVE:
            first, *others = one.arguments["evaluations"]
            renamed = [{**first, "criterion_id": name}, *others]
            one = replace(one, arguments={**one.arguments, "evaluations": renamed})
        *_, info = env.step(one)
    assert info["verdict"].keys() == {"paper", "strict"}
    assert not info["verdict"]["strict"]["success"]
