"""An endpoint in the other seat of the arena: it plays, it is on record, and it may break down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest

from healthgym.core.endpoint import Endpoint
from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.trajectory import Trajectory
from healthgym.envs.managed_care.prior_auth_arena.drill_erring import SIDES
from healthgym.envs.managed_care.prior_auth_arena.drill_sides import play
from healthgym.envs.managed_care.prior_auth_arena.env import PriorAuthArenaEnv
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.errors import (
    EndpointAnswerError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)
from healthgym.integrations.trl.environment import environment_class
from healthgym.integrations.trl.rewards import episode_reward
from healthgym.policies.seats import EndpointSeat
from healthgym.rewards import SparseReward
from healthgym.testing import replay
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from tests.envs.managed_care.prior_auth_arena.table import joint
from tests.standin import Reply, StandIn, completion, stand_in

FAMILY = ArenaFamily("drill")
#: Drills of two cases: what becomes of each.
APPROVED, DENIED = "approved+asked-approved", "denied+asked-denied"
OTHER = {PROVIDER: PAYER, PAYER: PROVIDER}
Said = tuple[str, str]


@cache
def index_of(kind: str) -> int:
    drawn = (FAMILY.generator.generate(Split.TEST, index).task.kind for index in range(200))
    return next(index for index, each in enumerate(drawn) if each == kind)


@cache
def known(kind: str) -> dict[str, tuple[Said, ...]]:
    """Return what each side does that knows the answer, as (tool, arguments as JSON)."""
    instance = FAMILY.generator.generate(Split.TEST, index_of(kind))
    episode = Episode(FAMILY, instance, SparseReward(), FAMILY.rules)
    sides = {role: SIDES[role]["oracle"] for role in (PROVIDER, PAYER)}
    turns = [(turn.role, json.loads(turn.action)) for turn in play(episode, instance, sides).turns]
    return {
        role: tuple(
            (did["name"], json.dumps(did["arguments"])) for who, did in turns if who == role
        )
        for role in (PROVIDER, PAYER)
    }


def scripted(moves: Sequence[Said]) -> Iterator[Reply]:
    """Yield a model's answers, with the names of tools as an endpoint is told them."""
    for name, arguments in moves:
        yield completion(calls=[(name.replace(".", "__"), arguments)])


def opposed(server: StandIn, role: str, **options: object) -> PriorAuthArenaEnv:
    fields = {"base_url": server.base_url, "model": "m", "retries": 0, **options}
    return PriorAuthArenaEnv(difficulty="drill", role=role, opponent={"endpoint": fields})


def begun(env: PriorAuthArenaEnv, kind: str) -> PriorAuthArenaEnv:
    env.reset(options={"split": "test", "index": index_of(kind)})
    return env


def finished(env: PriorAuthArenaEnv, kind: str) -> PriorAuthArenaEnv:
    """Do one's own part, whatever the other side does."""
    for name, arguments in known(kind)[env.role]:
        if not env.episode.done(env.role):
            env.step({"name": name, "arguments": json.loads(arguments)})
    return env


@pytest.mark.parametrize("role", [PROVIDER, PAYER])
@pytest.mark.parametrize("kind", [APPROVED, DENIED])
def test_an_endpoint_sits_opposite_and_both_are_judged(role: str, kind: str) -> None:
    with stand_in(*scripted(known(kind)[OTHER[role]])) as server:
        env = finished(begun(opposed(server, role), kind), kind)
        assert joint(env.episode)
        record = Trajectory.from_json(env.trajectory().to_json())
    asked = server.requests[0]
    seat = env.episode.seat(OTHER[role])
    assert asked["messages"][0]["content"].startswith(seat.instruction)
    assert asked["tools"] == seat.catalog.openai()
    own = {tool["function"]["name"] for tool in env.episode.seat(role).catalog.openai()}
    assert own != {tool["function"]["name"] for tool in asked["tools"]}
    # Nobody listens there any more, and nobody is asked.
    assert replay(record, opposed(server, role)).success


@pytest.mark.parametrize("role", [PROVIDER, PAYER])
def test_nonsense_from_a_model_is_refused_and_costs_the_other_side_nothing(role: str) -> None:
    kind = APPROVED
    moves = list(scripted(known(kind)[OTHER[role]]))
    own_tool = known(kind)[role][0][0].replace(".", "__")
    lies = [
        completion("I approve everything."),
        completion(calls=[("no_such_tool", "{oh")]),
        completion(calls=[(own_tool, "{}")]),
    ]
    for lie in lies:
        with stand_in(lie, *moves) as server:
            env = finished(begun(opposed(server, role), kind), kind)
        theirs = [turn for turn in env.episode.turns if turn.role == OTHER[role]]
        ours = [turn for turn in env.episode.turns if turn.role == role]
        assert theirs[0].errors
        assert not any(turn.errors for turn in ours)
        assert env.episode.verdict(role).success


def attempted(env: PriorAuthArenaEnv, move: Said) -> EndpointError | None:
    """Make a move; return what outside the episode failed, if anything did."""
    try:
        env.step({"name": move[0], "arguments": json.loads(move[1])})
    except EndpointError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("{}", delay=30.0), EndpointTimeoutError),
        (replace(completion("Hm."), cut=20), EndpointUnreachableError),
        (Reply("{oh"), EndpointAnswerError),
    ],
)
def test_an_opponent_who_is_out_of_reach_is_no_defeat(
    reply: Reply, kind: type[EndpointError]
) -> None:
    ending = APPROVED
    first, *later = scripted(known(ending)[PAYER])
    with stand_in(first, reply, *later) as server:
        env = begun(opposed(server, PROVIDER, timeout=2.0), ending)
        left = list(known(ending)[PROVIDER])
        while len(server.requests) < 2:
            before, turns = env.episode.world.digest(), len(env.episode.turns)
            outcome = attempted(env, left[0])
            del left[: outcome is None]
        assert isinstance(outcome, kind)
        assert env.episode.world.digest() == before
        assert len(env.episode.turns) == turns
        assert env.episode.crash is None
        for name, arguments in left:
            env.step({"name": name, "arguments": json.loads(arguments)})
        assert joint(env.episode)


def test_trainers_mask_an_episode_whose_opponent_breaks_down() -> None:
    with stand_in(Reply("{}", 503)) as server:
        seat = EndpointSeat(Endpoint(server.base_url, "m", retries=0))
        env = PriorAuthArenaEnv(difficulty="drill", role=PROVIDER, opponent=seat)
        rollout = environment_class(env)()
        rollout.reset(split="test", index=index_of(APPROVED))
        for name, arguments in known(APPROVED)[PROVIDER]:
            rollout._call(name, json.loads(arguments))  # type: ignore[attr-defined]
        assert episode_reward([rollout]) == [None]
        assert server.requests
