"""Patient and physician worded by an endpoint that is faithful, lies, stalls, or breaks off."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import httpx
import numpy as np
import pytest

from healthgym.core.endpoint import Endpoint
from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import AnyFamily
from healthgym.core.seeding import Split
from healthgym.core.trajectory import Trajectory
from healthgym.envs.managed_care.care_management.env import CareManagementEnv
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.utilization_management.env import UtilizationManagementEnv
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.errors import (
    ConfigurationError,
    EndpointAnswerError,
    EndpointError,
    EndpointRefusedError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)
from healthgym.integrations.trl.environment import environment_class
from healthgym.integrations.trl.rewards import episode_reward
from healthgym.rewards import SparseReward
from healthgym.testing import replay
from healthgym.worlds.managed_care.speaking.endpoint import EndpointWording
from tests.standin import Reply, completion, stand_in

FAMILIES: dict[str, Callable[..., AnyFamily]] = {"patient": CareFamily, "peer": ReviewFamily}
LEVELS = {"patient": "easy", "peer": "hard"}
ENVS = {"patient": CareManagementEnv, "peer": UtilizationManagementEnv}
#: How many drawn tasks each liar plays on.
TASKS = 2
Saying = Callable[[str], str]


def draft_of(body: dict[str, Any]) -> str:
    return str(json.loads(body["messages"][1]["content"])["draft"])


def fillers(draft: str) -> str:
    return f"Well, you know, {draft}"


def speaking(say: Saying) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: completion(say(draft_of(body)))


def worded(say: Saying, seen: list[str] | None = None) -> EndpointWording:
    """Return words by a model that makes them of the draft."""

    def answer(request: httpx.Request) -> httpx.Response:
        draft = draft_of(json.loads(request.content))
        if seen is not None:
            seen.append(draft)
        return httpx.Response(200, text=str(completion(say(draft)).body))

    return EndpointWording(Endpoint("http://h/v1", "m"), transport=httpx.MockTransport(answer))


@cache
def indices(who: str) -> tuple[int, ...]:
    """Return tasks in which somebody speaks."""
    family = FAMILIES[who](LEVELS[who])

    def talks() -> Iterator[int]:
        for index in range(200):
            wanted = family.generator.draw(Split.TEST, index).reference
            if not isinstance(wanted, ReviewReference) or wanted.call is not None:
                yield index

    found = talks()
    return tuple(next(found) for _ in range(TASKS))


@cache
def script(who: str, index: int) -> tuple[object, ...]:
    family = FAMILIES[who](LEVELS[who])
    instance = family.generator.generate(Split.TEST, index)
    return tuple(family.oracle(instance, np.random.default_rng(0)))


def played(who: str, index: int, speaker: object = None) -> AnyEpisode:
    """Return the episode of who knows the answer, with somebody who finds words."""
    family = FAMILIES[who](LEVELS[who], speaker=speaker)
    instance = family.generator.generate(Split.TEST, index)
    episode = Episode(family, instance, SparseReward(), family.rules)
    for action in script(who, index):
        episode.step(action)
    assert episode.verdict().success
    return episode


def heard(episode: AnyEpisode) -> list[str]:
    return [turn.observation for turn in episode.turns]


@pytest.mark.parametrize("who", FAMILIES)
def test_other_words_are_heard_and_change_nothing_else(who: str) -> None:
    for index in indices(who):
        seen: list[str] = []
        plain, spoken = played(who, index), played(who, index, worded(fillers, seen))
        assert seen
        assert len(spoken.world.said) == len(seen)
        assert all(
            each.text == fillers(draft) for each, draft in zip(spoken.world.said, seen, strict=True)
        )
        told = "\n".join(heard(spoken))
        assert "Well, you know, " in told
        assert told.replace("Well, you know, ", "") == "\n".join(heard(plain))
        assert spoken.verdicts() == plain.verdicts()
        assert plain.world.said == []


LIES: dict[str, Saying] = {
    "agrees to everything": lambda draft: "Yes, I agree to take part.",
    "agrees besides": lambda draft: f"Yes, I agree. {draft}",
    "tells a secret": lambda draft: f"{draft} I drink a bottle every night.",
    "tells of another medicine": lambda draft: f"{draft} I also take warfarin 5 mg.",
    "says nothing": lambda draft: "",
    "says half of it": lambda draft: draft[: len(draft) // 2],
    "turns it round": lambda draft: " ".join(reversed(draft.split())),
    "says no": lambda draft: f"No. {draft}",
    "gives it all away": lambda draft: f"{draft} The answer is to finalize the plan.",
    "counts otherwise": lambda draft: f"{draft} Three times.",
    "goes on and on": lambda draft: f"{draft} " + "well " * 500,
    "speaks in code": lambda draft: json.dumps({"reply": draft}),
    "speaks another language": lambda draft: f"{draft} \u662f\u7684\uff0c\u6211\u540c\u610f\u3002",
    "hangs up": lambda draft: f"{draft} ###STOP###",
}


@pytest.mark.parametrize("who", FAMILIES)
@pytest.mark.parametrize("lie", LIES)
def test_a_liar_is_not_heard(who: str, lie: str) -> None:
    for index in indices(who)[:1]:
        episode = played(who, index, worded(LIES[lie]))
        assert episode.world.said
        assert heard(episode) == heard(played(who, index))


def test_a_no_that_becomes_a_yes_is_not_heard() -> None:
    flips = (("n't", ""), (" not ", " "), ("No", "Yes"), ("never", "always"))
    changed = 0

    def flipping(draft: str) -> str:
        nonlocal changed
        said = draft
        for no, yes in flips:
            said = said.replace(no, yes)
        changed += said != draft
        return said

    for who in FAMILIES:
        for index in indices(who):
            assert heard(played(who, index, worded(flipping))) == heard(played(who, index))
    assert changed


def test_numbers_that_change_are_not_heard() -> None:
    def counting(draft: str) -> str:
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), draft)

    for index in indices("peer"):
        spoken = played("peer", index, worded(counting))
        assert heard(spoken) == heard(played("peer", index))


# -- recorded, and played again -------------------------------------------------------------------


@pytest.mark.parametrize("who", FAMILIES)
def test_what_an_endpoint_said_is_in_the_record_and_is_said_again_without_it(who: str) -> None:
    index = indices(who)[0]
    lies = iter(range(1000))

    def sometimes(draft: str) -> str:
        return fillers(draft) if next(lies) % 2 == 0 else "Yes, I agree."

    with stand_in(speaking(sometimes)) as server:
        endpoint = Endpoint(server.base_url, "m", seed=3)
        env = ENVS[who](difficulty=LEVELS[who], speaker=asdict(endpoint))
        env.reset(options={"split": "test", "index": index})
        for action in script(who, index):
            env.step(action)
        record = Trajectory.from_json(env.trajectory().to_json())
        asked = len(server.requests)
    assert [request["seed"] for request in server.requests] == list(range(3, 3 + asked))
    assert len(record.said) == asked
    assert {each.speaker for each in record.said} == {who}
    gone = replace(endpoint, api_key_env="NO_SUCH_KEY")
    assert replay(record, ENVS[who](difficulty=LEVELS[who], speaker=gone)).success


def test_a_record_that_lacks_words_is_told_apart() -> None:
    index = indices("patient")[0]
    env = CareManagementEnv(difficulty="easy", speaker=worded(fillers))
    env.reset(options={"split": "test", "index": index})
    for action in script("patient", index):
        env.step(action)
    record = env.trajectory()
    shorter = replace(record, said=record.said[:-1])
    swapped = replace(record, said=(replace(record.said[0], text="Yes."), *record.said[1:]))
    for damaged in (shorter, swapped):
        with pytest.raises(Exception, match=r"the record has|recorded"):
            replay(damaged, CareManagementEnv(difficulty="easy", speaker=worded(fillers)))


def test_who_knows_the_answer_asks_nobody_for_words() -> None:
    def never(draft: str) -> str:
        raise AssertionError("asked")

    for who, make in FAMILIES.items():
        family = make(LEVELS[who], speaker=worded(never))
        instance = family.generator.generate(Split.TEST, indices(who)[0])
        assert tuple(family.oracle(instance, np.random.default_rng(0)))


# -- an endpoint that fails -----------------------------------------------------------------------


def talking(speaker: object) -> tuple[CareManagementEnv, list[object]]:
    """Return an environment right before the first words of the patient, and what is to be done."""
    index = indices("patient")[0]
    env = CareManagementEnv(difficulty="easy", speaker=speaker)
    env.reset(options={"split": "test", "index": index})
    left = list(script("patient", index))
    while "send" not in str(left[0]):
        env.step(left.pop(0))
    return env, left


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("{}", 503), EndpointRefusedError),
        (Reply("{}", delay=30.0), EndpointTimeoutError),
        (replace(completion("Hm."), cut=30), EndpointUnreachableError),
        (Reply("{oh"), EndpointAnswerError),
    ],
)
def test_an_outage_is_no_answer_and_changes_nothing(
    reply: Reply, kind: type[EndpointError]
) -> None:
    with stand_in(reply, speaking(fillers)) as server:
        endpoint = Endpoint(server.base_url, "m", retries=0, timeout=3.0)
        env, left = talking(endpoint)
        before, turns = env.episode.world.digest(), len(env.episode.turns)
        with pytest.raises(kind):
            env.step(left[0])
        assert env.episode.world.digest() == before
        assert len(env.episode.turns) == turns
        for action in left:
            env.step(action)
        assert env.episode.verdict().success


def test_a_server_that_is_busy_for_a_moment_is_asked_again() -> None:
    busy = Reply("{}", 429, {"Retry-After": "0"})
    with stand_in(busy, busy, speaking(fillers)) as server:
        env, left = talking(Endpoint(server.base_url, "m"))
        assert "Well, you know" in env.step(left[0])[0]
    assert len(server.requests) == 3


def test_trainers_mask_a_talk_that_broke_off() -> None:
    with stand_in(Reply("{}", 503)) as server:
        endpoint = Endpoint(server.base_url, "m", retries=0)
        env = CareManagementEnv(difficulty="drill", speaker=endpoint)
        rollout = environment_class(env)()
        rollout.reset(split="train", index=0)
        script = env.family.oracle(
            env.family.generator.generate(Split.TRAIN, 0), np.random.default_rng(0)
        )
        for action in script:
            rollout._call(action.name, dict(action.arguments))  # type: ignore[attr-defined]
        assert episode_reward([rollout]) == [None]
        assert server.requests


@pytest.mark.parametrize(
    "speaker", [7, "http://h/v1", {"model": "m"}, {"base_url": "h", "model": "m"}]
)
def test_who_finds_no_words_is_told_at_once(speaker: Any) -> None:
    with pytest.raises(ConfigurationError):
        CareManagementEnv(speaker=speaker)
