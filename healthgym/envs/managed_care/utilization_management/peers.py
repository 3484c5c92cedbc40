"""What the ordering clinician holds on a call of peers: what is true of the chart."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.utilization_management.packet import Sent, turning
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.worlds.managed_care.contracts import DeferredContract, PeerContract
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.peers.making import Dispute, holding, overturning, upholding
from healthgym.worlds.managed_care.vocabulary.authorization import SlotRule, TaskActor


def contract_of(
    case: DrawnCase, path: Path, sent: Sent, rules: OperatingRules, rng: np.random.Generator
) -> PeerContract:
    """Return what the clinician who ordered holds.

    Of the criterion in dispute that is what the chart knows: enough, or nothing that was not sent.
    On a path that has no call somebody may be called, too, and tells what is true.

    Args:
        case: The case.
        path: How it is rightly decided.
        sent: What was sent.
        rules: The numbers that operations run on.
        rng: Where wording and modes come from.

    Raises:
        ConfigurationError: If the chart does not give the path that call.
    """
    make = _MAKERS.get(path)
    if make is not None:
        return make(_dispute(case, sent), rng, rules.p2p_turn_limit)
    return DeferredContract.later(
        # Once: the chance it takes is spent then.
        cache(partial(_held, case, sent, rules, rng)),
        side=TaskActor.PAYER,
        turn_limit=rules.p2p_turn_limit,
        fixed_result=None,
        offered_slots=(),
        slot_rule=SlotRule.FIRST_OFFERED,
        expected_decision=None,
    )


_MAKERS = {Path.OVERTURNED: overturning, Path.UPHELD: upholding}


def _held(
    case: DrawnCase, sent: Sent, rules: OperatingRules, rng: np.random.Generator
) -> PeerContract:
    return holding(_dispute(case, sent), rng, rules.p2p_turn_limit)


def _dispute(case: DrawnCase, sent: Sent) -> Dispute:
    chart, order = case.patient.chart, case.patient.order
    shown = {fact for name in sent.documents for fact in chart.shows.get(name, ())}
    people = {worker.id: worker.name for worker in workforce().workers}
    return Dispute(
        policy=case.book.in_force,
        disputed=turning(case, sent.found),
        known=tuple(chart.facts),
        shown=tuple(fact for fact in chart.facts if fact.id in shown),
        request=case.drawn.request,
        today=case.today,
        doctor=people.get(order.ordering_practitioner_id, "the ordering physician"),
        service=order.description,
    )
