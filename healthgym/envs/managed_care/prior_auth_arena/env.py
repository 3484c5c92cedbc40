"""The arena of a provider and a payer as an environment for one agent, the other seat filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from healthgym.core.family import ORACLE
from healthgym.core.players import Filling
from healthgym.envs.declared import Common, DeclaredEnv
from healthgym.envs.managed_care.prior_auth_arena.drill import DRILL
from healthgym.envs.managed_care.prior_auth_arena.family import READER, ArenaFamily
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER

_OTHER = {PROVIDER: PAYER, PAYER: PROVIDER}


class PriorAuthArenaEnv(DeclaredEnv, family=ArenaFamily):
    """Take one request to its end from one of two desks, somebody else at the other.

    Not registered yet: calls between the two sides, appeals and the graded opponents are missing,
    and so is its page. Arguments are those of :class:`ArenaFamily`, and ``opponent``, who fills the
    other seat: a scripted policy by its name, ``{"endpoint": {...}}``, ``{"checkpoint": "folder"}``
    or another :class:`~healthgym.core.players.Occupant`; by default somebody who reads what an
    agent reads. ``difficulty="drill"`` is for small models: one page, a note and a report, at most
    five tools and eight calls a seat; by default the other side knows the answer there, and sides
    that err are named in :mod:`~healthgym.envs.managed_care.prior_auth_arena.drill_erring`.
    """

    def __init__(
        self,
        *,
        difficulty: str | AuthorizationConfig | Mapping[str, float] = "medium",
        role: str = PROVIDER,
        opponent: Filling | None = None,
        **common: Unpack[Common],
    ) -> None:
        default = ORACLE if difficulty == DRILL else READER
        super().__init__(
            ArenaFamily(difficulty, role=role),
            role=role,
            counterparts={_OTHER[role]: opponent or default},
            **common,
        )
