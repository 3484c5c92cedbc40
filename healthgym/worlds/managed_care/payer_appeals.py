"""Appeals where nobody plays the payer: what the appeals desk finds, and an outside reviewer.

An appeal is won if what was sent carries the request by then, and the appeal names the policy in
force and its version. Whoever is stubborn upholds the denial all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.vocabulary.authorization import AppealOutcome

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_VENDOR = "Northgate Independent Review"


def decide(
    world: ManagedCareWorld,
    appeal: Appeal,
    worker: str,
    found: Finding,
    in_force: Policy,
    *,
    stubborn: bool,
) -> None:
    """Decide an internal appeal.

    Args:
        world: The world.
        appeal: The appeal.
        worker: Who decides it.
        found: What that person finds, by whatever version of the policy.
        in_force: The policy that is in force.
        stubborn: Whether the denial is upheld in any case.
    """
    won = found.carried and not stubborn and _rests_on(appeal.rationale, in_force)
    world.appeals.assign_internal_appeal_reviewer(appeal.id, worker)
    world.appeals.decide_internal_appeal(
        appeal.id,
        worker,
        AppealOutcome.APPEAL_OVERTURNED if won else AppealOutcome.APPEAL_UPHELD,
        found.summary(),
    )


def review_externally(world: ManagedCareWorld, appeal: Appeal, worker: str, found: Finding) -> None:
    """Have somebody outside review an appeal, and record what came of it.

    Args:
        world: The world.
        appeal: The appeal.
        worker: Who records it.
        found: What is found by the policy in force.
    """
    won = found.carried and _rests_on(appeal.rationale, found.policy)
    outcome = (
        AppealOutcome.EXTERNAL_APPEAL_OVERTURNED if won else AppealOutcome.EXTERNAL_APPEAL_UPHELD
    )
    world.appeals.assign_external_review(appeal.id, worker, _VENDOR)
    world.appeals.record_external_review_outcome(appeal.id, worker, outcome, found.summary())


def _rests_on(rationale: str, policy: Policy) -> bool:
    """Return whether an appeal names the policy in force, and its version."""
    words = rationale.replace(",", " ").replace("(", " ").replace(")", " ").split()
    named = {word.strip(".;:") for word in words}
    return policy.id in named and policy.version in named
