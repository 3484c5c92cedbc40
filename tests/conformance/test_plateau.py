"""A process that plays episodes of all kinds stops growing."""

import resource
import subprocess
import sys

import pytest

import healthgym
from healthgym.testing.growth import holdings


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_two_thousand_mixed_episodes_reach_a_plateau() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        curve = list(holdings(healthgym.ids(), 2000, every=100))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    settled, later = curve[1], curve[2:]
    assert max(one.mib for one in later) - settled.mib <= 50
    assert max(one.shared for one in later) - settled.shared <= 256  # tables of a few episodes
    assert max(one.children for one in later) - settled.children <= 512  # what queries work with
    assert max(one.descriptors for one in later) <= settled.descriptors + 16


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_process_holds_is_told() -> None:
    short = {"HealthAgent/MedicationReconciliation-v1": {"difficulty": "easy"}}
    first, second = holdings(list(short), 4, every=2, kwargs=short)
    with subprocess.Popen(["sleep", "60"]) as child:
        (third,) = holdings(list(short), 1, every=1)
        child.kill()
    assert third.children > 0
    assert (first.episode, second.episode) == (2, 4)
    assert first.mib > 10
    assert abs(second.descriptors - first.descriptors) <= 2
