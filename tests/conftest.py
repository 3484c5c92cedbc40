"""What every test shares: a quiet, offline, single-threaded process, and the way to real data."""

import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Set before any test module is imported, because the libraries read them once, at import. Two
# xdist workers with as many OpenMP threads as cores each spend most of their time waiting.
for name, value in {
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}.items():
    os.environ.setdefault(name, value)

# The suite talks to servers on this machine only, where a proxy of the network cannot find them.
for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ.pop(name, None)
    os.environ.pop(name.lower(), None)

# No deadline, because a busy machine is not a bug; derandomized, so that CI repeats. To search
# for new counterexamples: pytest --hypothesis-profile=search
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("repeat")


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later collection of garbage: millions of objects."""
    gc.collect()
    gc.freeze()


def find_data_dir() -> Path:
    """Where real data sets are looked for: HEALTHGYM_DATA, or a folder beside the checkout."""
    named = os.environ.get("HEALTHGYM_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets; the test is skipped where there is none."""
    path = find_data_dir()
    if not path.is_dir():
        pytest.skip(f"no real data: {path} is not a folder (set HEALTHGYM_DATA)")
    return path


class _FailedCalls(logging.Handler):
    """Keeps what is logged of calls that were refused because something of ours failed."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")


@pytest.fixture(autouse=True)
def _no_failed_calls(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let no failure of ours pass for an agent's mistake, where a test does not ask for one."""
    logger, listener = logging.getLogger("healthgym.failed_calls"), _FailedCalls()
    logger.addHandler(listener)
    yield
    logger.removeHandler(listener)
    if not request.node.get_closest_marker("failed_calls"):
        assert listener.messages == []


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The root of the checkout."""
    return ROOT
