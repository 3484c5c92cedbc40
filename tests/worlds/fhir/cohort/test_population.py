"""A server's worth of patients, scaled down; and the same bytes in every process."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from itertools import pairwise

import pytest

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.cohort import PUBLISHED_COUNTS, partition_of, population
from healthgym.worlds.fhir.columns import ColumnBase

SCRIPT = """
import hashlib, json
from datetime import UTC, datetime
from healthgym.worlds.fhir.cohort import population
base = population(5, now=datetime(2023, 11, 13, 10, 15, tzinfo=UTC), data_bearing=4, patients=9,
                  records=1500)
digest = hashlib.blake2b()
for kind in base.resource_types():
    for row in range(base.size(kind)):
        digest.update(json.dumps(base.resource(kind, row)).encode())
print(digest.hexdigest())
"""


@pytest.fixture(scope="module")
def server(now: datetime) -> ColumnBase:
    return population(7, now=now, data_bearing=12, patients=60, records=20_000)


def test_mix_of_records_is_the_published_one(server: ColumnBase) -> None:
    total = sum(PUBLISHED_COUNTS.values())
    for kind, count in PUBLISHED_COUNTS.items():
        assert server.size(kind) == pytest.approx(20_000 * count / total, abs=1)
    assert server.size("Patient") == 60


def test_only_data_bearing_patients_have_records(server: ColumnBase) -> None:
    counts = Counter(
        server.resource("Observation", row)["subject"]["reference"]
        for row in range(server.size("Observation"))
    )
    assert len(counts) == 12
    assert max(counts.values()) > 2 * min(counts.values())


def test_patients_stay_in_their_partition(now: datetime) -> None:
    base = population(1, now=now, data_bearing=1, patients=30, records=100, partition="test")
    assert {partition_of(base.id_of("Patient", row)) for row in range(30)} == {"test"}


def test_upload_order_does_not_follow_time(server: ColumnBase) -> None:
    times = [server.resource("Observation", row)["effectiveDateTime"] for row in range(400)]
    rising = sum(a < b for a, b in pairwise(times))
    assert 120 < rising < 280


def test_another_seed_gives_other_people(now: datetime, server: ColumnBase) -> None:
    other = population(8, now=now, data_bearing=12, patients=60, records=200)
    mine = {server.id_of("Patient", row) for row in range(60)}
    assert len(mine & {other.id_of("Patient", row) for row in range(60)}) < 5


def test_same_bytes_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 2 * hashlib.blake2b().digest_size


def test_server_without_data_is_refused(now: datetime) -> None:
    with pytest.raises(ConfigurationError, match="data_bearing"):
        population(1, now=now, data_bearing=3, patients=2)
