"""Validate environments as OpenEnv packages, into results/openenv_validation.json.

    python benchmarks/openenv_validation.py        (with the extra `openenv`)

Each is exported, and OpenEnv's own graders are run on a server of it; for the checks of RFC 008
that the library has no grader for, ours answer, and for an operator's the published card does. A
figure is a check: its status, who answered, and what was measured.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from _harness import Figures, Run, Suite
from _harness.suite import RESULTS

suite = Suite("openenv_validation", __doc__)


def validated(env_id: str, tasks: int) -> Figures:
    """Export an environment, validate the package, and return what each check found."""
    from healthgym.integrations.openenv_checks import validate
    from healthgym.integrations.openenv_checks.package import OpenEnvExport, export_openenv

    card = json.loads((RESULTS / "cards.json").read_text())["figures"].get(env_id)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        package = export_openenv(OpenEnvExport(env_id, tasks=tasks), Path(folder))
        report = validate(package, card)
    checks = {
        result.check_id: {
            "status": result.status.value,
            "by": result.evidence[-1].removeprefix("by "),
            "told": "; ".join(result.evidence[:-1]),
            "measured": result.measured,
        }
        for result in report.results
    }
    return {
        "verdict": report.verdict.value,
        "policy": report.policy_version,
        "counts": dict(Counter(check["status"] for check in checks.values())),
        "checks": checks,
        "wall_s": time.monotonic() - begun,
    }


@suite.measure()
def fhir_record(run: Run) -> Figures:
    """A clinical record system."""
    return validated("HealthAgent/FhirRecord-v1", run.tasks(5))


@suite.measure()
def xray_correction(run: Run) -> Figures:
    """Reports beside pictures."""
    return validated("HealthAgent/XrayCorrection-v1", run.tasks(5))


@suite.measure()
def care_management(run: Run) -> Figures:
    """A desk with a handbook and a person on the phone."""
    return validated("HealthAgent/CareManagement-v1", run.tasks(5))


if __name__ == "__main__":
    raise SystemExit(suite.main())
