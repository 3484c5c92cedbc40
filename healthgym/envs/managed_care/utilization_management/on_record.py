"""What is on record of the payer's own work on a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.worlds.managed_care.accounts import Account
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, values_of
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.vocabulary.authorization import ProviderNetworkStatus


def account_of(
    findings: Findings, texts: Texts, heard: Iterable[str], spans: Callable[[], Set[int]]
) -> Account:
    """Return what is on record of the work on a case.

    Args:
        findings: What the packet shows, and what was found.
        texts: What could be seen.
        heard: What the other side said on calls.
        spans: Returns the times that lie between days on file, in any unit.
    """
    world, case = findings.after, findings.case_id
    intake, said = world.intake.find(case), "\n".join(heard)
    asked = [one.info_requested for one in world.nursing.of(case)]
    asked += [one.info_requested for one in world.medical.of(case)]
    replied = any(one.case_id == case for one in world.documents.responses.values())
    turned_away = intake is not None and (
        intake.decision_provider_network_status is ProviderNetworkStatus.OUT_OF_NETWORK
        or False in (intake.decision_member_eligible, intake.decision_service_covered)
    )
    free = {
        "asked_for": bool(said) or replied or any(asked),
        "left_unanswered": not replied,
        "turned_away": turned_away,
        "decided_before": findings.before.determinations.active(case) is not None,
        "appealed": bool(world.appeals.of(case)),
    }
    by = intake.requesting_provider if intake else None
    return Account(
        texts,
        heard=said,
        other=(by.provider_name if by else "") or "",
        spans=spans,
        rules=lambda: _numbers(world.operations),
        found=lambda: frozenset(_amounts(findings)),
        free=frozenset(name for name, so in free.items() if so),
    )


@kept
def _numbers(rules: OperatingRules) -> frozenset[float]:
    return frozenset(float(one) for one in values_of(rules) if isinstance(one, int | float))


def _amounts(findings: Findings) -> Iterator[float]:
    """Yield how much was requested, how much of it is granted and how much is not.

    And what the criteria come to: values, ages, counts.
    """
    asked, granted = findings.packet.request.quantity, findings.shown.approved_quantity
    if asked is not None:
        yield asked
    if granted is not None:
        yield granted
        yield (asked or granted) - granted
    for shown in findings.shown.criteria.values():
        for _, value, _ in shown.observed:
            if isinstance(value, int | float):
                yield float(value)
