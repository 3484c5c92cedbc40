"""Runs the published MEDS tools (MIMIC-IV-MEDS 0.0.7) in an interpreter of their own.

They pin an old polars, so they live in a separate environment, named by ``HEALTHGYM_MEDS_PYTHON``:

    python -m venv meds && meds/bin/pip install MIMIC-IV-MEDS==0.0.7
    HEALTHGYM_MEDS_PYTHON=meds/bin/python pytest -m slow tests/worlds/etl
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PRE_MEDS = (
    "import sys; from pathlib import Path; from MIMIC_IV_MEDS.pre_MEDS import main;"
    "main(Path(sys.argv[1]), Path(sys.argv[2]))"
)
_LOCATE = (
    "import MIMIC_IV_MEDS as m, MEDS_transforms, meds;"
    "print(m.__version__, MEDS_transforms.__version__, meds.__version__);"
    "print(m.ETL_CFG); print(m.RUNNER_CFG); print(m.EVENT_CFG)"
)


class MedsTools:
    """The published tools, installed for one interpreter."""

    def __init__(self, python: Path) -> None:
        self.python = python
        found = subprocess.run([python, "-c", _LOCATE], capture_output=True, text=True, check=False)
        if found.returncode:
            pytest.skip(
                f"MIMIC-IV-MEDS 0.0.7 is not installed for {python}; install it in an environment "
                "of its own and name its interpreter in HEALTHGYM_MEDS_PYTHON"
            )
        versions, etl, runner, events = found.stdout.strip().splitlines()
        if versions.split() != ["0.0.7", "0.2.4", "0.3.3"]:
            pytest.skip(
                f"{python} has MIMIC-IV-MEDS, MEDS_transforms, meds {versions}; "
                "parity is claimed for 0.0.7, 0.2.4, 0.3.3"
            )
        self._etl, self._runner, self.default_config = Path(etl), Path(runner), Path(events)

    def prepare(self, raw: Path, prepared: Path) -> None:
        """Run the step before the pipeline: the tables it joins and rewrites."""
        self._run([self.python, "-c", _PRE_MEDS, raw, prepared], {})

    def convert(self, prepared: Path, config: Path, cohort: Path) -> None:
        """Run the pipeline on prepared tables; a list at a time, in one process."""
        self._run(
            [
                self.python.parent / "MEDS_transform-runner",
                f"--config-path={self._runner.parent}",
                f"--config-name={self._runner.stem}",
                f"pipeline_config_fp={self._etl}",
                "~parallelize",
                "hydra.searchpath=[pkg://MEDS_transforms.configs]",
            ],
            {
                "DATASET_NAME": "MIMIC-IV",
                "DATASET_VERSION": "3.1:0.0.7",
                "EVENT_CONVERSION_CONFIG_FP": str(config),
                "PRE_MEDS_DIR": str(prepared),
                "MEDS_COHORT_DIR": str(cohort),
            },
        )

    def _run(self, command: list[object], extra: dict[str, str]) -> None:
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, **extra, "PATH": path, "N_WORKERS": "1"}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [str(part) for part in command],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def meds_tools() -> MedsTools:
    """Return the tools, or skip the test with the way to install them."""
    return MedsTools(Path(os.environ.get("HEALTHGYM_MEDS_PYTHON", sys.executable)))
