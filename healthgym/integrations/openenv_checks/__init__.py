"""OpenEnv's own validation of an environment (its RFC 008), and answers where it has none yet.

The library's graders are run first and their word stands. For the ids of its policy that it has no
grader for, the checks here answer, in the same form; an operator's come from the environment's
card. What cannot be found out on this machine is said to be skipped, with the reason.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.core.borders import JsonDict
from healthgym.core.optional import require

require("openenv.validation", extra="openenv", purpose="The validation of an OpenEnv package")

from openenv.validation import (  # noqa: E402
    CheckResult,
    CheckStatus,
    Lane,
    Level,
    apply_policy,
    load_policy,
    run_validation,
)
from openenv.validation.report import ValidationReportV2  # noqa: E402
from openenv.validation.runtime.contracts import LaunchSpec  # noqa: E402

from healthgym.integrations.openenv_checks import runtime, semantic, static  # noqa: E402
from healthgym.integrations.openenv_checks.looking import (  # noqa: E402
    Finding,
    OurCheck,
    Package,
    Unchecked,
)
from healthgym.integrations.openenv_checks.operator import operator_checks  # noqa: E402
from healthgym.integrations.openenv_checks.subject import ProcessProvider  # noqa: E402
from healthgym.integrations.openenv_checks.wire import Refused  # noqa: E402
from healthgym.version import __version__  # noqa: E402

if TYPE_CHECKING:
    from openenv.validation import ValidationReport

_UNWRITTEN = "grader not implemented in this build"


def validate(folder: Path, card: JsonDict | None = None) -> ValidationReport:
    """Validate a package that ``export_openenv`` wrote; return the report in the library's form.

    The last line of a result's evidence says who answered it.

    Args:
        folder: The package.
        card: The environment's card, for an operator's checks.

    Raises:
        ConfigurationError: If this machine lets nobody run a process without a network.
    """
    policy = load_policy("v2")
    local = run_validation(folder, provider=ProcessProvider(), policy=policy)
    theirs = {
        result.check_id: result for result in local.results if _UNWRITTEN not in result.evidence
    }
    for result in theirs.values():
        result.evidence.append(f"by openenv {version('openenv')}")
    results = dict(theirs)
    asked = [*static.CHECKS, *runtime.CHECKS, *semantic.CHECKS, *operator_checks(card)]
    if theirs["runtime.startup"].status is CheckStatus.PASS:
        provider = ProcessProvider()
        spec = LaunchSpec(
            image_ref=provider.build(folder, local.manifest.execution),
            resources=local.manifest.resources,
            network=local.manifest.network,
            run_id="healthgym-checks",
        )
        running = provider.start(spec)
        try:
            package = Package(folder, local.manifest, running)
            for check in asked:
                if check.check_id not in results:
                    results[check.check_id] = _answer(check, package)
        finally:
            running.stop()
    ordered = [results[entry.check_id] for entry in policy.entries if entry.check_id in results]
    return ValidationReportV2(
        report_schema_version="2",
        target=folder.name,
        source_digest=local.source_digest,
        signature=local.signature,
        manifest=local.manifest,
        policy_version=policy.policy_version,
        lane=Lane.HUB,
        levels_run=sorted({policy_entry.level for policy_entry in policy.entries}),
        results=ordered,
        verdict=apply_policy(ordered, policy, Lane.HUB),
    )


def _answer(check: OurCheck, package: Package) -> CheckResult:
    begun = time.monotonic()
    by = f"by healthgym {__version__}" + (
        ", from the card" if check.level is Level.STATISTICAL else ""
    )
    try:
        found = check.look(package)
    except Unchecked as reason:
        return CheckResult(
            check_id=check.check_id, status=CheckStatus.SKIP, evidence=[str(reason), by],
            duration_s=0,
        )  # fmt: skip
    except Refused as answer:
        found = Finding("the server was asked", [str(answer)])
    return CheckResult(
        check_id=check.check_id,
        status=CheckStatus.FAIL if found.problems else CheckStatus.PASS,
        measured=found.measured,
        evidence=[*list(found.problems)[:20], found.looked, by],
        remediation="See the evidence's first lines." if found.problems else None,
        duration_s=time.monotonic() - begun,
    )


__all__ = ["validate"]
