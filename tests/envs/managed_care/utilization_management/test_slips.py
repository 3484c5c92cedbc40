"""Nurses who err before a physician begins: the packet shows it, and nothing else does."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    ReviewInstance,
    StartStage,
)
from healthgym.worlds.managed_care.apps.payer.criteria import findings
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.drawing import drawn
from tests.envs.managed_care.utilization_management.playing import (
    FAMILY,
    MD,
    changed,
    fails,
    play,
    rows,
    solution,
)

COUNT = 40


@cache
def handed_on(slips: float) -> tuple[ReviewInstance, ...]:
    """Return cases that nurses handed on to the physician who begins."""
    config = replace(PRESETS["medium"], stages=(StartStage.MD_REVIEW,), slips=slips)
    generator = ReviewGenerator(config, "medium", "tests-slips", Rules.STRICT)
    found = (generator.generate(Split.TEST, index) for index in range(COUNT))
    return tuple(one for one in found if one.reference.policy.nurse_may_approve)


def written(instance: ReviewInstance) -> dict[str, CriterionResult]:
    """Return what the nurse wrote down last."""
    world = ManagedCareWorld(instance.start)
    found = findings(world.nursing.reviews_of(instance.reference.case_id))
    return {name: one.result for (_, name), one in found.items()}


def test_a_declared_share_of_nurses_errs_and_others_are_right() -> None:
    slipped = [bool(one.reference.slipped) for one in handed_on(PRESETS["medium"].slips)]
    assert 0.6 < sum(slipped) / len(slipped) < 0.95
    assert not any(one.reference.slipped for one in handed_on(0.0))


def test_nobody_errs_where_no_physician_begins() -> None:
    for one in drawn():
        assert one.reference.stage is StartStage.MD_REVIEW or not one.reference.slipped


def test_what_is_said_to_be_wrong_is_and_the_rest_is_right() -> None:
    for one in handed_on(1.0):
        wanted = one.reference
        for name, result in written(one).items():
            late = wanted.results[name] is CriterionResult.UNCLEAR
            right = result is wanted.results[name] or (late and result is CriterionResult.NOT_MET)
            assert right is (name not in wanted.slipped), (one.task.key, name)


def test_an_error_is_of_several_kinds_and_changes_nothing_else() -> None:
    kinds = Counter[str]()
    for one, right in zip(handed_on(1.0), handed_on(0.0), strict=True):
        assert replace(one.reference, slipped=frozenset()) == right.reference
        if not one.reference.slipped:
            continue
        world, case_id = ManagedCareWorld(one.start), one.reference.case_id
        review = world.nursing.reviews_of(case_id)[-1]
        versions = {row.criteria_version for row in review.criteria_evaluations}
        kinds["version" if versions != {one.reference.policy.version} else "packet"] += 1
    assert min(kinds["version"], kinds["packet"]) >= 2


@pytest.mark.parametrize("name", ["trusting_physician", "contrary_physician"])
def test_who_goes_by_the_nurse_is_right_as_often_as_the_nurse(name: str) -> None:
    rng = np.random.default_rng(0)
    for one in handed_on(PRESETS["medium"].slips)[:24]:
        script = [each for each in FAMILY.baselines()[name](one, rng) if isinstance(each, ToolCall)]
        broken = fails(play(one, script, refused=True))
        if one.reference.slipped:
            assert broken
        elif name == "trusting_physician":
            assert not broken


def test_an_error_left_on_record_is_the_physicians() -> None:
    one = next(each for each in handed_on(1.0) if each.reference.slipped)
    script = solution(one)
    kept = [row for row in rows(script, MD) if row["criterion_id"] not in one.reference.slipped]
    assert "findings_right" in fails(play(one, changed(script, MD, -1, evaluations=kept)))
