from typing import Any

import pytest

from healthgym.core.seeding import INDEX_BOUND, Split, task_rng
from healthgym.envs.ehr_event_modelling.env import EhrEventModellingEnv
from healthgym.envs.ehr_event_modelling.sizes import PRESETS, CohortConfig
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.errors import ConfigurationError


def test_canonical_test_split_has_the_six_tasks() -> None:
    generator = EhrEventModellingEnv(canonical=True).family.generator
    assert generator.size(Split.TEST) == 6
    assert generator.size(Split.TRAIN) == INDEX_BOUND
    assert [generator.kind(Split.TEST, index) for index in range(6)] == list(Target)  # type: ignore[attr-defined]
    for wrong in (6, -1):
        for ask in (generator.generate, generator.kind):  # type: ignore[attr-defined]
            with pytest.raises(ConfigurationError, match=f"no number {wrong}"):
                ask(Split.TEST, wrong)


def test_neighbouring_indices_share_a_cohort(tiny_config: CohortConfig) -> None:
    generator = EhrEventModellingEnv(difficulty=tiny_config).family.generator
    one, two, other = (generator.generate(Split.TRAIN, i).start.study for i in (0, 1, 6))
    assert set(one.timeline.patient_ids) & set(two.timeline.patient_ids)
    assert not set(one.timeline.patient_ids) & set(other.timeline.patient_ids)


def test_environments_share_one_copy(tiny_config: CohortConfig) -> None:
    starts = [
        EhrEventModellingEnv(difficulty=tiny_config).family.generator.generate(Split.TRAIN, 4).start
        for _ in range(3)
    ]
    assert len({id(start.study) for start in starts}) == 1
    assert len({id(start.workspace.tables["events"]) for start in starts}) == 1


def test_kind_is_told_without_making_the_task(tiny_config: CohortConfig) -> None:
    env = EhrEventModellingEnv(difficulty=tiny_config)
    _, info = env.reset(seed=3, options={"kind": "new_celiac"})
    assert info["kind"] == "new_celiac"


def test_difficulties_mix() -> None:
    env = EhrEventModellingEnv(difficulty={"easy": 1.0, "medium": 1.0})
    levels = [env.family.generator._level(Split.TRAIN, i).label for i in range(60)]  # type: ignore[attr-defined]
    assert 15 < levels.count("easy") < 45
    # One for each cohort, by the second stream of its number.
    rngs = [task_rng("ehr-event-modelling", Split.TRAIN, i, stream=2) for i in range(60)]
    assert levels == ["easy" if rng.random() < 0.5 else "medium" for rng in rngs]


def test_hard_does_not_tell_what_codes_mean() -> None:
    assert not PRESETS["hard"].named
    env = EhrEventModellingEnv(difficulty=CohortConfig(patients=(60, 60, 60), named=False))
    env.reset(options={"index": 0})
    assert "codes" not in env.episode.world.tables


@pytest.mark.parametrize(
    "kwargs",
    [
        {"difficulty": "impossible"},
        {"difficulty": {"easy": -1.0}},
        {"difficulty": {}},
        {"targets": ["new_gout"]},
        {"targets": []},
        {"targets": ["new_lupus", "new_lupus"]},
        {"profile": "lenient"},
        {"max_turns": 0},
        {"max_turns": True},
    ],
)
def test_wrong_arguments_are_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        EhrEventModellingEnv(**kwargs)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"patients": (10, 100, 100)},
        {"least_positive": 0.9},
        {"expressed": 0.0},
        {"signal": 0.0},
        {"visits": 0.1},
        {"detail": 2.0},
        {"recipe": "best"},
    ],
)
def test_wrong_cohort_configurations_are_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        CohortConfig(**kwargs)
