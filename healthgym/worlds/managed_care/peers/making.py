"""What a clinician holds on a call: made from a policy, what is in dispute, and the chart.

Either the chart has a fact that settles each disputed criterion and that the packet does not show
(the clinician tells it when asked), or it has none. Besides, there are true facts beside the point
and pleas, in both: nothing but the answers tells the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np

from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.peers import remarks, sayings
from healthgym.worlds.managed_care.peers.remarks import Voice
from healthgym.worlds.managed_care.peers.subjects import subjects_of, titled
from healthgym.worlds.managed_care.policies.evaluation import posture
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.policies.reading import bearing, by_kind
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    Posture,
    RevealMode,
    SlotRule,
    TaskActor,
)

#: True facts beside the point, at most.
_MOST_BESIDE = 2
#: Chance that what settles a criterion is told at an open question, too.
_VOLUNTEERED = 0.3
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """What a call is about.

    Attributes:
        policy: The policy in force.
        disputed: Ids of the criteria on which the denial that is intended rests.
        known: Facts of the chart.
        shown: Those that the packet shows.
        request: What is asked for.
        today: The day of the request.
        doctor: Who ordered it, by name.
        service: What was ordered, in words.
    """

    policy: Policy
    disputed: tuple[str, ...]
    known: tuple[AnyFact, ...]
    shown: tuple[AnyFact, ...]
    request: Request
    today: date
    doctor: str
    service: str

    def settling(self, criterion_id: str) -> tuple[AnyFact, ...]:
        """Return the facts of the chart that settle a criterion, and that the packet lacks.

        None if the chart does not settle it, or by silence alone.
        """
        good = favourable(self.policy.criteria)[criterion_id]
        found = posture(self.policy.criterion(criterion_id), self.known, self.request, self.today)
        if found.posture is not good:
            return ()
        shown = {fact.id for fact in self.shown}
        rests = set(found.facts) - shown
        return tuple(fact for fact in self.known if fact.id in rests)

    def bearing(self, criterion_id: str) -> tuple[AnyFact, ...]:
        """Return the facts of the chart that bear on a criterion and leave it open."""
        item = self.policy.criterion(criterion_id)
        found = posture(item, self.known, self.request, self.today)
        rests = set(found.facts) if found.posture in _OPEN else set()
        return tuple(fact for fact in self.known if fact.id in rests)


def overturning(dispute: Dispute, rng: np.random.Generator, turn_limit: int = 8) -> PeerContract:
    """Return what a clinician holds who can settle what is in dispute.

    Args:
        dispute: What the call is about.
        rng: Where wording and modes come from.
        turn_limit: Turns that the agent has.

    Raises:
        ConfigurationError: If the chart does not settle each disputed criterion by a fact that
            the packet lacks.
    """
    facts: list[PeerFact] = []
    for name in dispute.disputed:
        settling = dispute.settling(name)
        if not settling:
            raise ConfigurationError(f"The chart has no fact that settles {name} on a call.")
        volunteered = bool(rng.random() < _VOLUNTEERED)
        mode = RevealMode.VOLUNTEER_AFTER_PROMPT if volunteered else RevealMode.REVEAL_IF_ASKED
        facts += [_held(fact, name, mode, rng) for fact in settling]
    return _contract(dispute, tuple(facts), tuple(fact.id for fact in facts), rng, turn_limit)


def upholding(dispute: Dispute, rng: np.random.Generator, turn_limit: int = 8) -> PeerContract:
    """Return what a clinician holds who cannot settle what is in dispute.

    Args:
        dispute: What the call is about.
        rng: Where wording and modes come from.
        turn_limit: Turns that the agent has.

    Raises:
        ConfigurationError: If the chart settles all that is in dispute.
    """
    if all(dispute.settling(name) for name in dispute.disputed):
        raise ConfigurationError("The chart settles everything that is in dispute.")
    return holding(dispute, rng, turn_limit)


def holding(dispute: Dispute, rng: np.random.Generator, turn_limit: int = 8) -> PeerContract:
    """Return what a clinician holds who turns nothing, and tells what is true if asked.

    What bears on a criterion and leaves it open is told as it is.

    Args:
        dispute: What the call is about.
        rng: Where wording and modes come from.
        turn_limit: Turns that the agent has.
    """
    asked = RevealMode.REVEAL_IF_ASKED
    facts = tuple(
        _held(fact, name, asked, rng)
        for name in dispute.disputed
        for fact in (*dispute.settling(name), *dispute.bearing(name))
    )
    return _contract(dispute, facts, (), rng, turn_limit)


def reviewing(old: Policy, new: Policy, rng: np.random.Generator) -> PeerContract:
    """Return what a payer's physician holds who goes by a superseded version.

    What settles it is the version in force, named with its policy.

    Args:
        old: The version that is gone by.
        new: The one in force.
        rng: Where the wording comes from.
    """
    voice = Voice.PHYSICIAN
    said = {"old": f"{old.id}, version {old.version}", "new": f"{new.id}, version {new.version}"}
    before = {item.id: item for item in criteria(old.criteria)}
    changed = [item for item in criteria(new.criteria) if before.get(item.id, item) != item]
    asked = RevealMode.REVEAL_IF_ASKED
    positions = tuple(
        PeerFact(
            id=f"position-{item.id}",
            text=remarks.one_of(voice, "position", rng).format(text=old.text(item.id), **said),
            reveal_mode=asked,
            criterion=item.id,
        )
        for item in changed
    )
    version = PeerFact(
        id=VERSION,
        text=remarks.one_of(voice, "version", rng).format(**said),
        reveal_mode=asked,
        topics=(f"{new.id} {new.version}",),
    )
    return PeerContract(
        side=TaskActor.PROVIDER,
        opening=remarks.one_of(voice, "opening", rng).format(**said),
        facts=(version, *positions),
        required_points=(VERSION,),
        subjects=subjects_of(criteria(new.criteria)),
        remarks=remarks.drawn(voice, rng),
    )


#: The point on which a call about a superseded version turns.
VERSION = "version"


def _contract(
    dispute: Dispute,
    facts: tuple[PeerFact, ...],
    required: tuple[str, ...],
    rng: np.random.Generator,
    turn_limit: int,
) -> PeerContract:
    titles = [titled(dispute.policy.criterion(name)) for name in dispute.disputed]
    opening = remarks.one_of(Voice.CLINICIAN, "opening", rng).format(
        doctor=dispute.doctor, service=dispute.service, title=" and ".join(titles)
    )
    rules = tuple(SlotRule)
    return PeerContract(
        side=TaskActor.PAYER,
        turn_limit=turn_limit,
        slot_rule=rules[int(rng.integers(len(rules)))],
        opening=opening,
        facts=(*facts, *_beside(dispute, rng)),
        required_points=required,
        subjects=subjects_of(criteria(dispute.policy.criteria)),
        disputed=dispute.disputed,
        remarks=remarks.drawn(Voice.CLINICIAN, rng),
    )


def _beside(dispute: Dispute, rng: np.random.Generator) -> Iterator[PeerFact]:
    """Yield facts on other criteria, which settle nothing that is in dispute."""
    good = favourable(dispute.policy.criteria)
    told: set[str] = set()
    known = by_kind(dispute.known)
    others = [item for item in criteria(dispute.policy.criteria) if item.id not in dispute.disputed]
    for place in rng.permutation(len(others)):
        item = others[int(place)]
        if len(told) >= _MOST_BESIDE:
            break
        bears = bearing(item, known)
        found = posture(item, bears, dispute.request, dispute.today)
        facts = [fact for fact in bears if fact.id in found.facts[:1]]
        if not facts or found.posture is not good[item.id]:
            continue
        told.add(item.id)
        said = sayings.beside(sayings.told(facts[0], rng), rng)
        mode = RevealMode.VOLUNTEER_AFTER_PROMPT
        yield PeerFact(
            id=f"{item.id}/{facts[0].id}",
            text=said,
            reveal_mode=mode,
            criterion=item.id,
            fact=facts[0].id,
        )


def _held(fact: AnyFact, criterion_id: str, mode: RevealMode, rng: np.random.Generator) -> PeerFact:
    return PeerFact(
        id=f"{criterion_id}/{fact.id}",
        text=sayings.told(fact, rng),
        reveal_mode=mode,
        criterion=criterion_id,
        fact=fact.id,
    )
