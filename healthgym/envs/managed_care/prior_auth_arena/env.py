"""The arena of a provider and a payer as an environment for one agent, the other seat filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from healthgym.core.family import ORACLE
from healthgym.core.players import Filling
from healthgym.envs.declared import Common, DeclaredEnv
from healthgym.envs.managed_care.prior_auth_arena.drill import DRILL
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.opponents.graded import HONEST
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER

_OTHER = {PROVIDER: PAYER, PAYER: PROVIDER}


class PriorAuthArenaEnv(DeclaredEnv, family=ArenaFamily):
    """Take one request to its end from one of two desks, somebody else at the other.

    Not registered yet, and without a page. Arguments are those of :class:`ArenaFamily`, and
    ``opponent``, who fills the other seat: a name of
    :data:`~healthgym.envs.managed_care.prior_auth_arena.opponents.graded.OPPONENTS`; weights by
    name, such as ``{"honest": 2, "slow": 1}``, of which each task draws one;
    ``{"endpoint": {...}}``, ``{"checkpoint": "folder"}`` or another
    :class:`~healthgym.core.players.Occupant`; by default somebody honest who reads what an agent
    reads. ``difficulty="drill"`` is for small models: one page, a note and a report, at most five
    tools and eight calls a seat; by default the other side knows the answer there, and sides that
    err are named in :mod:`~healthgym.envs.managed_care.prior_auth_arena.drill_erring`.
    """

    def __init__(
        self,
        *,
        difficulty: str | AuthorizationConfig | Mapping[str, float] = "medium",
        role: str = PROVIDER,
        opponent: Filling | None = None,
        canonical: bool = False,
        **common: Unpack[Common],
    ) -> None:
        default = ORACLE if difficulty == DRILL else HONEST
        beside = {_OTHER[role]: default if opponent is None else opponent}
        super().__init__(
            ArenaFamily(difficulty, role=role, canonical=canonical, beside=beside),
            role=role,
            counterparts=beside,
            **common,
        )
