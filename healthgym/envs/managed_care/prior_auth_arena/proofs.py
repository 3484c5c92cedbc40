"""How the verifier of the arena is put to the proof: at the provider's seat, as on the desk."""

from __future__ import annotations

import numpy as np

from healthgym.core.family import Script
from healthgym.core.proofs import Operator, Proofs
from healthgym.core.task import Instance
from healthgym.envs.managed_care.changing import places_of, steps_of
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_authorization.proofs import PROOFS as DESK
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance

#: By which a provider chooses one of the times that are offered.
_PICK = "auth.respond_to_peer_to_peer"


def _at_the_desk(instance: ArenaInstance) -> AuthorizationInstance:
    """Return the task as the provider's desk alone would have it."""
    return Instance(instance.task, instance.reference.provider, instance.start)


def _seated(operator: Operator) -> Operator:
    """Return an operator of the provider's desk that is handed what is right there."""

    def do(instance: ArenaInstance, script: Script, rng: np.random.Generator) -> Script | None:
        return operator(_at_the_desk(instance), script, rng)

    return do


def _in_the_same_time(operator: Operator) -> Operator:
    """Return an operator that leaves tasks with a call alone.

    It lengthens the script, and who offers times later offers others than the script chooses from.
    """

    def do(instance: ArenaInstance, script: Script, rng: np.random.Generator) -> Script | None:
        changed = operator(instance, script, rng)
        longer = changed is not None and len(changed) > len(script)
        return None if longer and places_of(steps_of(script), {_PICK}) else changed

    return do


PROOFS = Proofs(
    corruptions={name: _seated(each) for name, each in DESK.corruptions.items()},
    equivalents={name: _in_the_same_time(_seated(each)) for name, each in DESK.equivalents.items()},
    items=lambda instance: DESK.items(_at_the_desk(instance)),
)
