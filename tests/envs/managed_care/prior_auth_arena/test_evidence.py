"""Two who know the answer succeed on every seed, of each lane, action, call and appeal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_auth_arena.generator import CALLED, ArenaGenerator
from healthgym.envs.managed_care.prior_auth_arena.task import PRESETS
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import ProviderDeterminationAction
from tests.envs.managed_care.prior_auth_arena.table import FAMILY, failed, played

pytestmark = pytest.mark.slow
#: Seeds of each.
SEEDS = 200
USUAL = PRESETS["medium"]
SENDS, GATHERS, LEAVES = (
    ProviderDeterminationAction.SUBMIT_PA,
    ProviderDeterminationAction.GATHER_MORE_EVIDENCE,
    ProviderDeterminationAction.DO_NOT_SUBMIT,
)


def drawing(config: AuthorizationConfig = USUAL, called: float = 0.0) -> ArenaGenerator:
    """Requests of one kind."""
    return ArenaGenerator(config, "medium", FAMILY.name, called)


#: Requests by what becomes of them.
KINDS: Mapping[str, AuthorizationConfig] = {
    **{str(one): replace(USUAL, actions=(SENDS,), courses=(one,)) for one in USUAL.courses},
    **{str(one): replace(USUAL, actions=(GATHERS,), gaps=(one,)) for one in Gap},
    **{str(one): replace(USUAL, actions=(LEAVES,), bars=(one,)) for one in Bar},
    "calls": USUAL,
}


def of_kind(kind: str) -> ArenaGenerator:
    """What draws requests of a kind."""
    return drawing(KINDS[kind], called=float(kind == "calls"))


def lost(generator: ArenaGenerator, split: Split) -> list[tuple[int, set[str]]]:
    """The tasks on which one side fails, and in which checks."""
    found = []
    for index in range(SEEDS):
        episode = played(generator.generate(split, index))
        names = {n for role in episode.roles for p in Profile for n in failed(episode, role, p)}
        found += [(index, names)] if names else []
    return found


@pytest.mark.parametrize("split", Split)
def test_of_each_split(split: Split) -> None:
    assert lost(drawing(called=CALLED), split) == []


@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind(kind: str) -> None:
    assert lost(of_kind(kind), Split.TEST) == []


@pytest.mark.parametrize("kind", [Course.APPROVED, Course.PENDED])
def test_the_provider_that_appeals_what_is_wrongly_denied(kind: Course) -> None:
    for index in range(SEEDS):
        episode = played(of_kind(kind).generate(Split.TEST, index), payer="misreads")
        assert failed(episode, PROVIDER) == set(), index


#: Where no payer can be right: it has to hold a call that the hours of both offices leave no room
#: for.
NO_CALL_FITS = {(Gap.INSUFFICIENT, 22), (Gap.INSUFFICIENT, 50)}


@pytest.mark.parametrize("kind", [Gap.INSUFFICIENT, Gap.ABSENT, "calls"])
def test_the_payer_that_hears_what_is_appealed_without_reason(kind: str) -> None:
    for index in range(SEEDS):
        episode = played(of_kind(kind).generate(Split.TEST, index), "appeals_all")
        wrong = failed(episode, PAYER)
        if (kind, index) in NO_CALL_FITS:
            assert "payer.in_time" in wrong
        else:
            assert wrong == set(), index
