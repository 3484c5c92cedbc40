"""What follows from a policy and a chart that were read: decision, reason, answers, attachments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from healthgym.envs.managed_care.reading.chart_page import ChartReading
from healthgym.envs.managed_care.reading.documents import Document
from healthgym.envs.managed_care.reading.layout import Row
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.envs.managed_care.reading.statements import (
    classed,
    facts_told,
    shown_by,
)
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.criteria import QuantityCriterion
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment, evaluate
from healthgym.worlds.managed_care.policies.questionnaire import answers_from
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import Not, criteria, walk
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    Posture,
    ProviderDeterminationAction,
    ProviderFindingCode,
    UploadableDocumentKind,
)

#: Documents that the office writes for a request.
OWN_KINDS = frozenset(
    {
        UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY,
        UploadableDocumentKind.QUESTIONNAIRE_FORM,
    }
)
_GATHER = ProviderDeterminationAction.GATHER_MORE_EVIDENCE
_LEAVE = ProviderDeterminationAction.DO_NOT_SUBMIT
_SUBMIT = ProviderDeterminationAction.SUBMIT_PA


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be done with a request.

    Attributes:
        action: The decision.
        reason: Why, where it is not submitted.
        answers: Answers to the policy's questions, by key; the rest is not documented.
        attached: Ids of the documents that show what is required, and of no others.
        short: Whether it is submitted though something stays open.
    """

    action: ProviderDeterminationAction
    reason: str = ""
    answers: Mapping[str, str] | None = None
    attached: tuple[str, ...] = ()
    short: bool = False


def bar(policy: PolicyReading | None, chart: ChartReading, code: str, today: date) -> Judged | None:
    """Return why a request is not to be submitted whatever the notes say; None if it may be.

    Args:
        policy: The policy in force; None if no page lists the code.
        chart: The chart.
        code: What is ordered.
        today: The day of the request.
    """
    if policy is None:
        return _left(ProviderFindingCode.SERVICE_NOT_PA_REQUIRED, f"no policy lists {code}")
    name, latest = policy.page.id, chart.coverages[0]
    if not policy.page.authorization[code]:
        rests_on = f"{name} lists {code} without authorization"
        return _left(ProviderFindingCode.SERVICE_NOT_PA_REQUIRED, rests_on)
    coverage = chart.coverage_on(today)
    if coverage is None:
        rests_on = f"{latest['plan_name']} ended on {latest.get('termination_date', '')}"
        return _left(ProviderFindingCode.COVERAGE_INACTIVE, rests_on)
    if coverage["network_status"] != "in_network" and not policy.out_of_network:
        rests_on = f"{coverage['plan_name']}, and {name} makes no exception"
        return _left(ProviderFindingCode.PROVIDER_OUT_OF_NETWORK, rests_on)
    return None


def _left(code: ProviderFindingCode, rests_on: str) -> Judged:
    return Judged(_LEAVE, f"{code}: {rests_on}")


def judge(
    reading: PolicyReading,
    chart: ChartReading,
    order: Row,
    documents: tuple[Document, ...],
    today: date,
    told: tuple[AnyFact, ...] = (),
    *,
    regardless: bool = False,
) -> Judged:
    """Return what is to be done with a request that nothing bars.

    Args:
        reading: The policy in force.
        chart: The chart.
        order: The order.
        documents: What was read of the documents on file.
        today: The day of the request.
        told: What is known besides, and stands in no document: it counts for the decision, and
            neither answers a question nor is attached.
        regardless: Whether it is submitted though something stays open.
    """
    policy = reading.policy()
    asked = criteria(policy.criteria)
    facts = (*classed(chart.facts, asked), *facts_told(documents, asked))
    request = _request(reading, chart, order, today)
    shown = found = evaluate(policy, facts, request, today)
    if told:
        found = evaluate(policy, (*facts, *told), request, today)
    limited = found.approved_quantity is not None
    on_file = {listed.kind for listed in chart.documents}
    missing = [k for k in reading.required() if str(k) not in on_file and k not in OWN_KINDS]
    if found.action is _LEAVE and not limited:
        rests_on = f"{policy.id}, {', '.join(found.against)}"
        return _left(ProviderFindingCode.INSUFFICIENT_SUPPORTING_EVIDENCE, rests_on)
    short = found.action is _GATHER
    if (short and not regardless) or missing:
        named = "; ".join([*found.gaps, *(f"missing: {kind}" for kind in missing)])
        return Judged(_GATHER, f"{policy.id}: {named}")
    return Judged(
        _SUBMIT,
        answers=answers_from(shown.criteria),
        attached=_attached(reading, shown, documents, facts),
        short=short,
    )


def _request(reading: PolicyReading, chart: ChartReading, order: Row, today: date) -> Request:
    patient = chart.patient
    limits = [
        item for item in criteria(reading.page.criteria) if isinstance(item, QuantityCriterion)
    ]
    return Request(
        procedure_code=order["procedure_code"],
        diagnosis_codes=tuple(order["diagnosis_codes"].split(", ")),
        site=PlaceOfService(order["site_of_service"]),
        quantity=_quantity(order["description"], [item.unit for item in limits]),
        age=age_on(date.fromisoformat(patient["dob"]), today),
        sex=patient["sex"],
    )


def _quantity(description: str, units: list[str]) -> float | None:
    """Return how much is ordered, if it says so in a unit that the policy counts."""
    for unit in units:
        found = re.search(rf", (\d+(?:\.\d+)?) {re.escape(unit)}$", description)
        if found:
            return float(found[1])
    return None


def _attached(
    reading: PolicyReading,
    found: PolicyAssessment,
    documents: tuple[Document, ...],
    facts: tuple[AnyFact, ...],
) -> tuple[str, ...]:
    """Return few documents that show what is satisfied, and one of each kind that is required."""
    bearing = [fact for each in found.criteria.values() for fact in each.facts]
    known = [fact for fact in facts if fact.id in bearing]
    able = [each for each in documents if each.kind not in reading.on_request]
    shows = {each.id: shown_by(each, known) for each in able}
    # What must not be has to be seen not to be; and so has an exception to a limit.
    tree = reading.page.criteria
    turned = {x.id for node in walk(tree) if isinstance(node, Not) for x in criteria(node)}
    if found.approved_quantity is not None:
        turned = set(found.criteria)
    open_facts = {
        fact
        for name, each in found.criteria.items()
        if each.posture is Posture.SATISFIED
        or (each.posture is Posture.CONTRADICTS and name in turned)
        for fact in each.facts
    }
    picked: list[str] = []
    while open_facts:
        best = max(able, key=lambda each: len(open_facts & shows[each.id]), default=None)
        if best is None or not open_facts & shows[best.id]:
            break
        picked.append(best.id)
        open_facts -= shows[best.id]
    return (*picked, *_of_kinds(reading, able, picked, shows))


def _of_kinds(
    reading: PolicyReading,
    able: list[Document],
    picked: list[str],
    shows: Mapping[str, frozenset[str]],
) -> list[str]:
    """Return a document of each kind that is required and not among those picked."""
    kinds = {each.kind for each in able if each.id in picked}
    more = []
    for kind in reading.required():
        of_kind = [each for each in able if each.kind == str(kind)]
        if str(kind) not in kinds and of_kind:
            telling = [each for each in of_kind if shows[each.id]] or of_kind
            more.append(telling[0].id)
    return more
