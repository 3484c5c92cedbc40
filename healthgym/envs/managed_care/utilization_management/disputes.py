"""What a denial is disputed over: what was sent first, what comes later, what they show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import combinations

import numpy as np

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.editions import Ending
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.utilization_management.choosing import Shelf
from healthgym.envs.managed_care.utilization_management.packet import (
    Sent,
    call_due,
    filled,
    papers,
    seen,
)
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
#: Criteria that a practice overlooks together, where one alone would lead to a call of peers.
_TOGETHER = 2
#: Chance that a page without bearing comes with an appeal that brings nothing else.
_SPARE = 0.5
#: Chance that an appeal without grounds names a policy, though not the one or not as it is.
_NAMES = 0.67


class Kind(StrEnum):
    """How a denial came about, and what the appeal brings."""

    BROUGHT = "brought"  #: what was not sent before comes now, and carries the request
    OVERLOOKED = "overlooked"  #: everything was sent, and somebody erred
    SHORT = "short"  #: what comes now settles something, and not everything
    STANDS = "stands"  #: denied rightly, whatever somebody erred on besides


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A denial that is disputed.

    Attributes:
        kind: How it came about.
        sent: What was sent with the request.
        brought: Ids of the documents that come with the appeal.
        after: What everything shows that was sent by then.
        policy: What the appeal calls the policy in force; empty if it names none.
        grounded: Whether that is the policy, and its version.
    """

    kind: Kind
    sent: Sent
    brought: tuple[str, ...]
    after: PolicyAssessment
    policy: str
    grounded: bool


def draw_kind(ending: Ending, rng: np.random.Generator) -> Kind:
    """Return how a denial came about: one of two ways, each as often.

    Args:
        ending: What the request deserves at the provider.
        rng: Where chance comes from.
    """
    deserved = isinstance(ending, Course)
    kinds = (Kind.BROUGHT, Kind.OVERLOOKED) if deserved else (Kind.SHORT, Kind.STANDS)
    return kinds[int(rng.integers(len(kinds)))]


def draw_dispute(
    case: DrawnCase,
    kind: Kind,
    path: Path,
    case_id: str,
    at: datetime,
    rng: np.random.Generator,
    *,
    more: bool,
) -> Dispute:
    """Return what an appeal is about.

    Args:
        case: The case.
        kind: How the denial came about.
        path: How the appeal is rightly decided.
        case_id: Its id.
        at: When the request is sent.
        rng: Where chance comes from.
        more: Whether pages that do not count are sent along.

    Raises:
        ConfigurationError: If the chart gives no such dispute.
    """
    deserved = isinstance(case.drawn.ending, Course)
    own, shelf = papers(case, case_id, at), Shelf(case)
    kept, held = shelf.picked(), tuple[str, ...]()
    if kind in (Kind.BROUGHT, Kind.SHORT):
        kept, held = _held_back(case, kind, shelf, case_id, at, rng)
    sent = filled(case, shelf, own, kept, held, rng, more=more)
    brought = sent.held_back or (sent.spare if rng.random() < _SPARE else ())
    names = {page.id for page in own}
    chart = [name for name in sent.documents if name not in names]
    after = seen(case, (*chart, *brought), own)
    _require(case, kind, sent, after)
    # What deserves approval is upheld for want of grounds alone.
    grounded = not (deserved and path is Path.APPEAL_UPHELD)
    return Dispute(
        kind=kind,
        sent=sent,
        brought=brought,
        after=after,
        policy=_named(case) if grounded else _misnamed(case, rng),
        grounded=grounded,
    )


def _held_back(
    case: DrawnCase,
    kind: Kind,
    shelf: Shelf,
    case_id: str,
    at: datetime,
    rng: np.random.Generator,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is sent with the request, and what only with the appeal.

    Raises:
        ConfigurationError: If nothing that is held back makes such a dispute.
    """
    own = papers(case, case_id, at)
    for names in _groups(case, kind, rng):
        facts = frozenset(fact for name in names for fact in case.found.criteria[name].facts)
        kept, held = shelf.without(facts, frank=kind is Kind.SHORT)
        first, after = seen(case, kept, own), seen(case, (*kept, *held), own)
        if held and _disputed(case, kind, first, after):
            return kept, held
    raise ConfigurationError(f"Nothing that is held back makes it {kind.value}.")


def _groups(case: DrawnCase, kind: Kind, rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
    """Yield criteria that speak for the request, of which nothing is sent at first."""
    good = favourable(case.book.in_force.criteria)
    found = case.found.criteria
    names = [name for name, each in found.items() if each.facts and each.posture is good[name]]
    groups = list(combinations(names, _TOGETHER if kind is Kind.BROUGHT else 1))
    yield from (groups[int(place)] for place in rng.permutation(len(groups)))


def _disputed(
    case: DrawnCase, kind: Kind, first: PolicyAssessment, after: PolicyAssessment
) -> bool:
    """Return whether a request is denied by what was sent first, and what comes then settles."""
    good = favourable(case.book.in_force.criteria)
    settled = any(
        each.posture is good[name] and first.criteria[name].posture is not good[name]
        for name, each in after.criteria.items()
    )
    if not settled or not _deniable(case, first):
        return False
    if kind is Kind.BROUGHT:
        return after.posture is Posture.SATISFIED and not after.missing_documents
    return _deniable(case, after)


def _deniable(case: DrawnCase, found: PolicyAssessment) -> bool:
    """Return whether a physician denies by what is shown, once nothing more comes."""
    return (
        found.posture is not Posture.SATISFIED
        and found.approved_quantity is None
        and not found.missing_documents
        and not call_due(case, found)
    )


def _require(case: DrawnCase, kind: Kind, sent: Sent, after: PolicyAssessment) -> None:
    """Refuse a packet that makes no such dispute once everything lies in it.

    Raises:
        ConfigurationError: If it does not.
    """
    first = sent.found
    match kind:
        case Kind.OVERLOOKED:
            right = first.posture is Posture.SATISFIED and not first.missing_documents
        case Kind.STANDS:
            right = _deniable(case, first) and _deniable(case, after)
        case _:
            right = _disputed(case, kind, first, after)
    if not right:
        raise ConfigurationError(f"The packet does not make it {kind.value}.")


def asks_first(dispute: Dispute) -> bool:
    """Return whether a nurse asked for what the packet left open before it was denied."""
    return dispute.sent.found.posture in _OPEN


def _named(case: DrawnCase) -> str:
    policy = case.book.in_force
    return f"{policy.id}, version {policy.version}"


def _misnamed(case: DrawnCase, rng: np.random.Generator) -> str:
    """Return another version, another policy, or nothing, in the place of the policy in force."""
    policy = case.book.in_force
    others = [
        f"{other.id}, version {other.version}"
        for other in case.book.book.policies
        if (other.id, other.version) != (policy.id, policy.version)
    ]
    near = [each for each in others if each.startswith(f"{policy.id},")]
    pool = near or others
    if not pool or rng.random() >= _NAMES:
        return ""
    return pool[int(rng.integers(len(pool)))]
