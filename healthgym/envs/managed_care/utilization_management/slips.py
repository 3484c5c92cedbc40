"""How a nurse errs who has read a packet: a page passed over, a number misread, an old version.

Each is the finding of somebody who read a little less, or something else, and was careful
otherwise: sources, values and summary agree with each other, and the packet alone shows that they
are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.worlds.managed_care.facts import Measurement
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import REQUEST_KINDS
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult, Posture

_DECIDED = (Posture.SATISFIED, Posture.CONTRADICTS)


@dataclass(frozen=True, slots=True)
class Slip:
    """What a nurse writes down who errs.

    Attributes:
        finding: What was found.
        closed: Whether what was not seen was taken for not met, and not asked for.
        wrong: Criteria of which something is written that the packet does not show.
    """

    finding: Finding
    closed: bool
    wrong: frozenset[str]

    def evaluations(self) -> tuple[NurseCriterionEvaluation, ...]:
        """Return the findings."""
        return self.finding.evaluations(closed=self.closed)


def draw_slip(
    case: DrawnCase,
    right: Finding,
    rng: np.random.Generator,
    *,
    answered: bool,
    denies: bool = False,
) -> Slip | None:
    """Return an error on which a case would be decided wrongly; None where none would do that.

    Args:
        case: The case.
        right: What the packet shows.
        rng: Which kind of error it is, and on what.
        answered: Whether the practice was asked already; else a nurse who leaves something open
            would ask, and not hand the case on.
        denies: Whether whoever goes by it denies; else anything may follow.
    """
    kinds = [
        [(right.policy, packet) for packet in _passed_over(right.packet)],
        [(right.policy, packet) for packet in _misread(right)],
        [(old, right.packet) for old in _superseded(case, right.policy)],
    ]
    for kind in rng.permutation(len(kinds)):
        found = kinds[int(kind)]
        for place in rng.permutation(len(found)):
            policy, packet = found[int(place)]
            slip = _slip(right, _judged(policy, packet, case), answered=answered)
            if slip is not None and not (denies and _grants(slip.finding)):
                return slip
    return None


def _grants(seen: Finding) -> bool:
    """Return whether something is approved by a finding, or it names no criterion against it."""
    partly = seen.assessment.approved_quantity is not None
    return seen.carried or partly or not seen.named()


def _slip(right: Finding, seen: Finding, *, answered: bool) -> Slip | None:
    """Return an error if it misleads whoever goes by it."""
    closed = not answered and seen.assessment.posture not in _DECIDED
    first, then = right.results(), seen.results(closed=closed)
    wrong = frozenset(name for name in first if _contrary(first[name], then[name]))
    if not wrong or set(seen.named()) == set(right.named()):
        return None
    return Slip(seen, closed, wrong)


def _contrary(right: CriterionResult, written: CriterionResult) -> bool:
    """Return whether a result is wrong; what is open may be written down as not met in the end."""
    late = right is CriterionResult.UNCLEAR and written is CriterionResult.NOT_MET
    return right is not written and not late


def _judged(policy: Policy, packet: Packet, case: DrawnCase) -> Finding:
    found = evaluate(policy, packet.facts, packet.request, case.today)
    return Finding(policy, packet, found)


def _passed_over(packet: Packet) -> Iterator[Packet]:
    """Yield a packet without one of its pages each."""
    for name in packet.documents:
        left = {
            fact: kept
            for fact, pages in packet.sources.items()
            if (kept := tuple(page for page in pages if page != name))
        }
        if left != packet.sources:
            facts = tuple(fact for fact in packet.facts if fact.id in left)
            yield replace(packet, facts=facts, sources=left)


def _misread(right: Finding) -> Iterator[Packet]:
    """Yield a packet with one value of which two digits have changed places each."""
    asked = [
        item for item in criteria(right.policy.criteria) if not isinstance(item, REQUEST_KINDS)
    ]
    told = {fact for item in asked for fact in right.assessment.criteria[item.id].facts}
    for fact in right.packet.facts:
        if isinstance(fact, Measurement) and fact.id in told:
            for value in _turned(fact.value):
                facts = tuple(
                    replace(fact, value=value) if one is fact else one for one in right.packet.facts
                )
                yield replace(right.packet, facts=facts)


def _turned(value: float) -> Iterator[float]:
    """Yield a number with two neighbouring digits in each other's place."""
    text = f"{value:g}"
    for place in range(len(text) - 1):
        one, other = text[place], text[place + 1]
        if one.isdigit() and other.isdigit() and one != other and (place or other != "0"):
            yield float(f"{text[:place]}{other}{one}{text[place + 2 :]}")


def _superseded(case: DrawnCase, policy: Policy) -> Iterator[Policy]:
    """Yield the versions that were in force before, and ask for the same things."""
    names = {item.id for item in criteria(policy.criteria)}
    for other in case.book.book.policies:
        same = other.id == policy.id and other.version != policy.version
        if same and {item.id for item in criteria(other.criteria)} == names:
            yield other
