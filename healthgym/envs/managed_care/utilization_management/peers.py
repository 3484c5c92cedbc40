"""What the ordering clinician holds on a call of peers: what is true of the chart."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.utilization_management.packet import Sent, turning
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.evaluation import Assessment
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.units import printed_units
from healthgym.worlds.managed_care.policies.wording import summary
from healthgym.worlds.managed_care.vocabulary.authorization import RevealMode, TaskActor

_OPENING = "Thank you for calling. I ordered it, and I know the patient. What is it that you miss?"


def contract_of(case: DrawnCase, path: Path, sent: Sent, rules: OperatingRules) -> PeerContract:
    """Return what the clinician who ordered holds.

    Of the criterion in dispute that is what the chart knows: enough, or no more than was sent. Of
    others it is what was sent, which changes nothing.

    Args:
        case: The case.
        path: How it is rightly decided.
        sent: What was sent.
        rules: The numbers that operations run on.
    """
    disputed = turning(case, sent.found)
    return PeerContract(
        side=TaskActor.PAYER,
        turn_limit=rules.p2p_turn_limit,
        opening=_OPENING,
        facts=tuple(_facts(case, disputed)),
        required_points=disputed if path is Path.OVERTURNED else (),
    )


def _facts(case: DrawnCase, disputed: tuple[str, ...]) -> Iterator[PeerFact]:
    policy = case.book.in_force
    known = case.found.criteria
    for name in (*disputed, *(each for each in known if each not in disputed)):
        yield PeerFact(
            id=name,
            text=_said(case, known[name]),
            reveal_mode=RevealMode.REVEAL_IF_ASKED,
            topics=(name, summary(policy.id, policy.criterion(name))),
        )


def _said(case: DrawnCase, found: Assessment) -> str:
    """Return what the clinician says of a criterion: what the chart has on it."""
    policy = case.book.in_force
    labels = {
        item.item_id: item.label for item in evidence_items(policy.criterion(found.criterion_id))
    }
    known = [
        f"{labels[item.item_id]}: {_value(item.observed_value, item.observed_unit)}"
        for item in found.items
        if item.observed_value is not None
    ]
    about = summary(policy.id, policy.criterion(found.criterion_id))
    if not known:
        return f"On {about}, there is nothing in our chart beyond what you have."
    return f"On {about}, our chart has this. {'; '.join(known)}."


def _value(value: object, unit: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{number} {printed_units().get(unit, unit)}".strip()
