"""What is on record of the payer's own work on a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from healthgym.core.records import replace
from healthgym.envs.managed_care.utilization_management.dealings import Dealings
from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.worlds.managed_care.accounts import Account
from healthgym.worlds.managed_care.facts import MedicationCourse, TherapyCourse
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, values_of
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.policies.criteria import QuantityCriterion
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.vocabulary.authorization import ProviderNetworkStatus

#: What a page is called that amends the policy's.
_AMENDING = ("medical bulletins", "medical bulletin", "bulletins", "bulletin")


def account_of(
    findings: Findings,
    texts: Texts,
    spans: Callable[[], Set[int]],
    policy: Callable[[], str],
) -> Account:
    """Return what is on record of the work on a case.

    Args:
        findings: What the packet shows, and what was found.
        texts: What could be seen.
        spans: Returns the times that lie between days on file, in any unit.
        policy: Returns what the policy says.
    """
    world, case = findings.after, findings.case_id
    intake = world.intake.find(case)
    turned_away = intake is not None and (
        intake.decision_provider_network_status is ProviderNetworkStatus.OUT_OF_NETWORK
        or False in (intake.decision_member_eligible, intake.decision_service_covered)
    )
    by = intake.requesting_provider if intake else None
    return Account(
        texts,
        other=(by.provider_name if by else "") or "",
        spans=spans,
        rules=lambda: _numbers(world.operations),
        found=lambda: frozenset(amounts_of(findings)),
        service=lambda: "\n".join((*_services(findings), policy())),
        free=frozenset({"turned_away"} if turned_away else ()),
        courses=sum(
            isinstance(fact, TherapyCourse | MedicationCourse) for fact in findings.packet.facts
        ),
    )


def dealings_of(
    findings: Findings, texts: Texts, heard: Iterable[str], policy: Callable[[], str]
) -> Dealings:
    """Return what is on record of dealings with the practice and others.

    Args:
        findings: What the packet shows, and what was found.
        texts: What could be seen.
        heard: What the other side said on calls.
        policy: Returns what the policy says.
    """
    world, case = findings.after, findings.case_id

    def theirs() -> str:
        written = leaves([replace(one, outcome_reason=None) for one in world.appeals.of(case)])
        return "\n".join((*heard, *(text for text in written if isinstance(text, str))))

    called = bool(world.peer.of(case)) or any(heard)
    return Dealings(texts, theirs, policy, _names(findings), called)


def _names(findings: Findings) -> Mapping[str, str]:
    """Return who and what is called by a name, longer names before shorter ones."""
    world, case = findings.after, findings.after.cases.get(findings.case_id)
    chart, intake = world.charts[case.patient_id], world.intake.find(case.id)
    patient, policy = chart.patient, findings.policy
    found = {f"{patient.first_name} {patient.last_name}": "the member"}
    found |= {plan.plan_name: "the plan" for plan in chart.coverages}
    found |= {policy.id: "the policy", policy.version: "the version"}
    pages = findings.before.start.handbook.changed.values()
    if any(page_path(policy.id) in page.amends for page in pages):
        found |= dict.fromkeys(_AMENDING, "the page")
    if intake is not None:
        by = intake.requesting_provider
        doctor = (by.provider_name if by else "") or ""
        found |= {doctor: "the doctor", doctor.partition(",")[0]: "the doctor"}
        for line in intake.line_items:
            found |= {each.name: "the service" for each in line.procedures if each.name}
    longest = sorted(filter(None, found), key=len, reverse=True)
    return {name.casefold(): found[name] for name in longest}


def _services(findings: Findings) -> Iterator[str]:
    """Yield what the service is called that was ordered and requested."""
    world, case = findings.after, findings.after.cases.get(findings.case_id)
    yield world.cases.order(case.service_request_id).description
    intake = world.intake.find(case.id)
    for line in intake.line_items if intake else ():
        yield from (each.name for each in line.procedures)


@kept
def _numbers(rules: OperatingRules) -> frozenset[float]:
    return frozenset(float(one) for one in values_of(rules) if isinstance(one, int | float))


def amounts_of(findings: Findings) -> Iterator[float]:
    """Yield how much was requested, how much of it is granted and how much is not.

    And what the criteria come to, and what they ask for: values, ages, counts.
    """
    asked, granted = findings.packet.request.quantity, findings.shown.approved_quantity
    if asked is not None:
        yield asked
    if granted is not None:
        yield granted
        yield (asked or granted) - granted
    for one in criteria(findings.policy.criteria):
        if asked is not None and isinstance(one, QuantityCriterion):
            yield abs(asked - one.maximum)
    for shown in findings.shown.criteria.values():
        for _, value, _ in shown.observed:
            if isinstance(value, int | float):
                yield float(value)
    for asked_for in leaves(findings.policy.criteria):
        if isinstance(asked_for, int | float) and not isinstance(asked_for, bool):
            yield float(asked_for)
