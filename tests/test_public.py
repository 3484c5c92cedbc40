"""What is public: the modules that the README names, and in them what they list."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PUBLIC = (
    "healthgym",
    "healthgym.core",
    "healthgym.envs",
    "healthgym.errors",
    "healthgym.policies",
    "healthgym.registration",
    "healthgym.rewards",
    "healthgym.testing",
    "healthgym.wrappers",
)

#: What an environment, a policy or a reward of somebody else's is made of: none may go.
CONTRACTS = frozenset(
    re.findall(
        r"\w+",
        """
    AGENT ORACLE WORLD Agenda Baseline Caller Check CheckResult Clock Combine Counters Due Episode
    EpisodeConfig Event Evidence Family FaultLedger HandIn HealthEnv Image Instance Judgement
    KindIndex Level Lifecycle Notice Part Player Profile Reference RewardFunction Role Scope Script
    Solver Split Stateful StepOutcome Task TaskGenerator TaskKey ToolCall ToolKind ToolResult
    Toolset Trajectory Transition Turn Verb Verdict Verifier World assemble call log single state
    table task_rng tool
    """,
    )
)


def test_the_readme_names_the_public_modules(repo_root: Path) -> None:
    readme = (repo_root / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"^Public are (.+?), each with", readme, re.MULTILINE)
    assert tuple(re.findall(r"`(healthgym[\w.]*)`", sentence)) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_has_what_it_lists(name: str) -> None:
    module = import_module(name)
    assert module.__doc__
    for item in getattr(module, "__all__", ()):
        assert getattr(module, item) is not None


def test_the_engine_keeps_its_contracts() -> None:
    core = import_module("healthgym.core")
    assert set(core.__all__) >= CONTRACTS
    assert sorted(core.__all__) == sorted(set(core.__all__))


def test_names_of_contracts_win_over_modules_of_the_same_name() -> None:
    """`healthgym.core.tool` is a module as well, loaded after the package or before."""
    script = (
        "import healthgym.core.tool, healthgym.core.state; from healthgym.core import state, tool; "
        "from healthgym.core.tool import tool as same; print(isinstance(state, type), tool is same)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_policies_load_no_client_before_one_is_asked_for() -> None:
    script = (
        "import sys; from healthgym.policies import RandomPolicy, evaluate; "
        "print('httpx' in sys.modules); from healthgym.policies import LLMPolicy; "
        "print('httpx' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[0] == "False"
    with pytest.raises(AttributeError, match="no attribute 'oracle'"):
        import_module("healthgym.policies").oracle  # noqa: B018
