"""Runs the command line as a person would: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOY = "tests.core.toys:ToyLedger-v0"
SIGNS = "tests.core.signs:ToySigns-v0"
_ROOT = Path(__file__).resolve().parents[2]


def healthgym(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run `healthgym ARGUMENTS` with something typed, warnings being errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "healthgym", *arguments],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        timeout=600,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
