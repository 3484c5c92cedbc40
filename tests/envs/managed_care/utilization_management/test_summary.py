"""The summary that a determination rests on."""

from __future__ import annotations

from healthgym.envs.managed_care.utilization_management.task import Path, StartStage
from healthgym.worlds.managed_care.apps.payer.criteria import findings
from tests.envs.managed_care.utilization_management.playing import (
    MD,
    first_of,
    play,
    rows,
    solution,
)


def test_a_summary_counts_each_criterion_once_by_the_finding_that_stands() -> None:
    instance = first_of(
        StartStage.MD_REVIEW,
        Path.DENIED,
        lambda one: len(rows(solution(one), MD)) < len(one.reference.final),
    )
    world, case_id = play(instance, solution(instance)).world, instance.reference.case_id
    nurses = findings(world.nursing.reviews_of(case_id))
    standing = nurses | findings(world.medical.reviews_of(case_id))
    counts = world.determinations.summary(case_id)["criteria_summary"]
    assert isinstance(counts, dict)
    assert sum(counts.values()) == len(standing)
    for result in counts:
        assert counts[result] == sum(one.result == result for one in standing.values())
