"""Environments where UTF-8 is not the encoding, and where POSIX's modules are missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import gymnasium
import pytest

from healthgym.errors import MissingDependencyError
from healthgym.worlds.workspace import optional

#: Begins and ends an episode of each id, and tells what failed.
_EVERY_ID = """
import json, locale, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "grp", "pwd", "resource", "termios"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules.pop(name, None)
assert locale.getpreferredencoding(False) != "UTF-8"

import gymnasium, healthgym

failed = {}
for env_id in json.loads(sys.argv[1]):
    try:
        env = gymnasium.make(env_id)
        env.reset(seed=0)
        env.step("finish()")
        env.close()
    except Exception as error:
        failed[env_id] = repr(error)[:300]
print(json.dumps(failed))
"""


def test_every_environment_begins_without_posix_and_in_any_locale() -> None:
    ids = sorted(name for name in gymnasium.registry if name.startswith("HealthAgent/"))
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _EVERY_ID, json.dumps(ids)],
        env=plain, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert json.loads(told.stdout.splitlines()[-1]) == {}
    assert len(ids) > 20


def test_windows_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional.sys, "platform", "win32")
    with pytest.raises(MissingDependencyError, match="use WSL or a container"):
        optional.require("pyarrow")


@pytest.mark.parametrize(("flag", "told"), [("-O", ""), ("-OO", "python -OO strips docstrings")])
def test_asserts_may_be_stripped_and_docstrings_may_not(flag: str, told: str) -> None:
    begin = "import gymnasium, healthgym; gymnasium.make('HealthAgent/FhirRecord-v1').reset(seed=0)"
    ended = subprocess.run(
        [sys.executable, flag, "-W", "ignore", "-c", begin],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode == 0) is not bool(told)
    assert told in ended.stderr
