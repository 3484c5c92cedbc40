"""A box for the tests that run full Python."""

import pytest

from healthgym.errors import SandboxUnavailableError
from healthgym.worlds.workspace.box import Box, BoxLimits, open_box


@pytest.fixture(scope="module")
def box() -> Box:
    """A box that holds; where there is none the tests are skipped, saying why."""
    try:
        return open_box(BoxLimits(seconds=60.0))
    except SandboxUnavailableError as error:
        pytest.skip(str(error))
