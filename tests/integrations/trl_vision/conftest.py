"""An environment of signs, and what reads them, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from healthgym.integrations.trl import demonstrations
from healthgym.registration import make_health_env
from tests.core.signs import SIGNS_ID


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Models as small as these are no faster on several cores, and far slower on busy ones."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def env() -> Any:
    return make_health_env(SIGNS_ID)


@pytest.fixture(scope="module")
def processor(env: Any) -> Any:
    from tests.integrations.trl_vision import eyes

    return eyes.processor(demonstrations(env, size=8))


@pytest.fixture(scope="module")
def demos(env: Any) -> list[Any]:
    return list(demonstrations(env, size=8, images=True))
