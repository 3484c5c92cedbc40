"""Names what measured, without naming the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from healthgym.testing.cards.schema import Machine
from healthgym.version import __version__


def machine(checkout: Path | None) -> Machine:
    """Return processor, versions and commit.

    Args:
        checkout: Root of the source checkout; None if the package is installed.
    """
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    return Machine(
        cpu=model or platform.processor(),
        cores=os.cpu_count() or 1,
        python=platform.python_version(),
        healthgym=__version__,
        commit=_commit(checkout) if checkout else "",
    )


def _commit(checkout: Path) -> str:
    asked = ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return told.stdout.strip()
