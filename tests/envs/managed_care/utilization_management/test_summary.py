"""The summary that a determination rests on."""

from __future__ import annotations

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.envs.managed_care.utilization_management.task import Path, StartStage
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.apps.payer.criteria import findings
from tests.envs.managed_care.utilization_management.playing import (
    FAMILY,
    MD,
    changed,
    play,
    rows,
    solution,
    task,
)


def test_a_summary_counts_each_criterion_once_by_the_finding_that_stands() -> None:
    instance = task(StartStage.MD_REVIEW, Path.DENIED)
    script = solution(instance)
    seen = [r for r in rows(script, MD) if r["criterion_id"] in instance.reference.denied_on]
    episode = play(instance, changed(script, MD, -1, evaluations=seen))
    world, case_id = episode.world, instance.reference.case_id
    nurses = findings(world.nursing.reviews_of(case_id))
    standing = nurses | findings(world.medical.reviews_of(case_id))
    counts = world.determinations.summary(case_id)["criteria_summary"]
    assert isinstance(counts, dict)
    assert sum(counts.values()) == len(standing)
    for result in counts:
        assert counts[result] == sum(one.result == result for one in standing.values())


def test_what_a_call_shows_has_no_internals() -> None:
    instance = task(StartStage.MD_REVIEW, Path.UPHELD)
    calls = [one for one in solution(instance) if one.name == "p2p_session.submit_summary"]
    assert calls
    episode = Episode(FAMILY, instance, SparseReward(), EpisodeConfig(max_turns=200))
    for action in solution(instance):
        told = episode.step(action).observation
        for hidden in ("revealed_fact_ids", "challenge_index", "benchmark_side"):
            assert hidden not in told, action.name
        if action.name == "p2p_session.submit_summary":
            assert "transcript" in told
