"""Lab values: plausible, coupled, and correlated over time."""

import numpy as np
import pytest

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.cohort import PatientProfile, lab_values, vocabulary

END = 1_699_870_500
WEEKLY = END - 7 * 86_400 * np.arange(20)[::-1]


def means(crowd: list[PatientProfile], code: str, disease: str) -> tuple[float, float]:
    """Return the mean value of a lab in patients with and without a disease."""
    rng = np.random.default_rng(1)
    values = [(disease in p.conditions, lab_values(rng, p, code, WEEKLY).mean()) for p in crowd]
    sick = [value for has, value in values if has]
    well = [value for has, value in values if not has]
    return float(np.mean(sick)), float(np.mean(well))


@pytest.mark.parametrize("code", [lab.code for lab in vocabulary().labs])
def test_values_stay_within_limits_and_are_rounded(crowd: list[PatientProfile], code: str) -> None:
    rng, lab = np.random.default_rng(2), vocabulary().lab_by_code[code]
    values = np.concatenate([lab_values(rng, p, code, WEEKLY) for p in crowd[:150]])
    assert lab.signal.floor <= values.min()
    assert values.max() <= lab.signal.ceiling
    scaled = values * 10**lab.signal.decimals
    assert np.abs(scaled - np.rint(scaled)).max() < 1e-6
    low, high = lab.reference
    assert low <= np.median(values) <= 1.15 * high
    assert values.std() > 0


@pytest.mark.parametrize(
    ("code", "disease", "gap"),
    [
        ("A1C", "dm2", 1.0),
        ("GLU", "dm2", 30),
        ("CR", "ckd4", 0.8),
        ("K", "ckd4", 0.25),
        ("TSH", "hypothyroidism", 1.5),
        ("FT4", "hypothyroidism", -0.05),
        ("HEARTRATE", "af", 6),
        ("BNP", "hf", 800),
        ("HGB", "iron_deficiency", -1),
    ],
)
def test_disease_shifts_its_labs(
    crowd: list[PatientProfile], code: str, disease: str, gap: float
) -> None:
    sick, well = means(crowd, code, disease)
    assert (sick - well) / gap > 1


@pytest.mark.parametrize(
    ("one", "other", "r"), [("A1C", "GLU", 0.6), ("TSH", "FT4", -0.4), ("CR", "BUN", 0.5)]
)
def test_related_labs_are_correlated_over_patients(
    crowd: list[PatientProfile], one: str, other: str, r: float
) -> None:
    rng = np.random.default_rng(3)
    pairs = np.log(
        [
            (lab_values(rng, p, one, WEEKLY).mean(), lab_values(rng, p, other, WEEKLY).mean())
            for p in crowd[:600]
        ]
    )
    assert np.corrcoef(pairs.T)[0, 1] / r > 1


def test_values_close_in_time_agree_more_than_distant_ones(crowd: list[PatientProfile]) -> None:
    rng, hour = np.random.default_rng(4), 3600
    times = END - np.array([400 * 24 * hour, 2 * hour, hour, 0])
    values = np.array([lab_values(rng, crowd[0], "K", times) for _ in range(800)])
    correlations = np.corrcoef(values.T)[-1]
    assert correlations[2] > 0.8
    assert correlations[1] > 0.8
    assert abs(correlations[0]) < 0.15


def test_values_come_back_in_the_order_of_the_times(crowd: list[PatientProfile]) -> None:
    shuffled = np.random.default_rng(5).permutation(len(WEEKLY))
    straight = lab_values(np.random.default_rng(6), crowd[0], "GLU", WEEKLY)
    mixed = lab_values(np.random.default_rng(6), crowd[0], "GLU", WEEKLY[shuffled])
    assert mixed.tolist() == straight[shuffled].tolist()


def test_no_times_give_no_values(crowd: list[PatientProfile]) -> None:
    assert lab_values(np.random.default_rng(7), crowd[0], "K", np.array([])).shape == (0,)


def test_unknown_lab_is_refused(crowd: list[PatientProfile]) -> None:
    with pytest.raises(ConfigurationError, match="POTASSIUM"):
        lab_values(np.random.default_rng(8), crowd[0], "POTASSIUM", WEEKLY)
