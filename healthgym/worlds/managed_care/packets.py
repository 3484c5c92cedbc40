"""What a payer can see of a request: the attached documents, and the facts that they show.

A document of the chart shows the facts that it states. What an agent wrote itself (a letter, an
upload, an answer in a form) is a claim: it counts as a document of its kind and shows no fact,
but for the quantity asked for, which is the request's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.criteria import QuantityCriterion
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.questionnaire import answer_key
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    UploadableDocumentKind,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_IN_NETWORK = "in_network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """What was sent for a case, as its reader sees it.

    Attributes:
        documents: Ids of the attached documents.
        kinds: Their kinds.
        facts: What they show.
        sources: Ids of the documents that show a fact, by its id.
        request: What is asked for.
    """

    documents: tuple[str, ...]
    kinds: frozenset[str]
    facts: tuple[AnyFact, ...]
    sources: dict[str, tuple[str, ...]]
    request: Request

    @property
    def by_id(self) -> dict[str, AnyFact]:
        """What the documents show, by its id."""
        return {fact.id: fact for fact in self.facts}


def read_packet(world: ManagedCareWorld, case_id: str, policy: Policy, today: date) -> Packet:
    """Return what was sent for a case, replies and appeals included.

    Args:
        world: The world.
        case_id: The case.
        policy: The policy it is read against, for the quantity that the form asks for.
        today: The day of the reading.
    """
    case = world.cases.get(case_id)
    attached = dict.fromkeys(_attached(world, case_id))
    chart = world.charts[case.patient_id]
    kinds = {str(world.documents.get(name).kind) for name in attached}
    sources: dict[str, tuple[str, ...]] = {}
    for name in attached:
        for fact in sorted(chart.shows.get(name, ())):
            sources[fact] = (*sources.get(fact, ()), name)
    return Packet(
        documents=tuple(attached),
        kinds=frozenset(kinds),
        facts=tuple(fact for fact in chart.facts if fact.id in sources),
        sources=sources,
        request=_request(world, case_id, policy, today, kinds),
    )


def _attached(world: ManagedCareWorld, case_id: str) -> Iterable[str]:
    for packet in world.authorizations.packets.values():
        if packet.case_id == case_id:
            bundle = packet.payload.get("bundle_document_id")
            yield from (name for name in packet.attached_document_ids if name != bundle)


def _request(
    world: ManagedCareWorld, case_id: str, policy: Policy, today: date, kinds: set[str]
) -> Request:
    case = world.cases.get(case_id)
    order = world.cases.order(case.service_request_id)
    line = world.cases.line(case_id)
    chart = world.charts[case.patient_id]
    patient, coverage = chart.patient, chart.coverage_on(today)
    had_birthday = (today.month, today.day) >= (patient.dob.month, patient.dob.day)
    return Request(
        procedure_code=order.procedure_code,
        diagnosis_codes=line.diagnosis_codes,
        site=PlaceOfService(order.site_of_service),
        quantity=quantity(world, case_id, policy),
        age=today.year - patient.dob.year - (not had_birthday),
        sex=patient.sex,
        coverage_active=coverage is not None and coverage.active,
        in_network=coverage is not None and coverage.network_status == _IN_NETWORK,
        documents=tuple(k for k in UploadableDocumentKind if str(k) in kinds),
    )


def quantity(world: ManagedCareWorld, case_id: str, policy: Policy) -> float | None:
    """Return how much the form of a case asks for; None if it does not say, or not in a number.

    Args:
        world: The world.
        case_id: The case.
        policy: The policy whose form asks.
    """
    keys = {
        answer_key(evidence_items(item)[0].item_id)
        for item in criteria(policy.criteria)
        if isinstance(item, QuantityCriterion)
    }
    for response in reversed(tuple(world.documents.responses.values())):
        for key in keys & set(response.answers) if response.case_id == case_id else ():
            try:
                return float(response.answers[key])
            except ValueError:
                return None
    return None
