"""Record numbers and their partition."""

from collections import Counter

import numpy as np
import pytest

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.cohort import PARTITIONS, draw_mrn, partition_of


@pytest.mark.parametrize("partition", PARTITIONS)
def test_numbers_are_drawn_from_their_partition(partition: str) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_mrn(rng, partition) for _ in range(500)]
    assert {partition_of(mrn) for mrn in drawn} == {partition}
    assert all(mrn[0] == "S" and 7_000_000 <= int(mrn[1:]) <= 9_999_999 for mrn in drawn)
    assert len(set(drawn)) > 490


def test_partitions_hold_eighty_ten_and_ten_percent() -> None:
    counts = Counter(partition_of(f"S{number}") for number in range(7_000_000, 7_050_000))
    shares = [counts[name] / 50_000 for name in PARTITIONS]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.005)


def test_partition_is_fixed_for_ever() -> None:
    """A changed key would move patients between the splits of published results."""
    pinned = {"S7000000": "train", "S7000004": "validation", "S7000012": "test"}
    assert {mrn: partition_of(mrn) for mrn in pinned} == pinned


def test_unknown_partition_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="train, validation, test"):
        draw_mrn(np.random.default_rng(0), "dev")
