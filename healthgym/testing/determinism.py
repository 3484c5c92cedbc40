"""Same seed and actions, same bytes; and no episode touches another."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import zip_longest

from healthgym.core.canonical import canonical
from healthgym.core.drawn import DRAWN
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split, content_hash
from healthgym.core.state import Stateful
from healthgym.registration import make_health_env
from healthgym.testing.play import (
    Step,
    actions_of,
    play,
    policies,
    practice,
    replay_actions,
    require,
)
from healthgym.testing.play import shown as as_text


def check_determinism(env_id: str, seeds: int = 5) -> int:
    """Play tasks in two instances with the same seeds and actions; all must come out the same.

    Args:
        env_id: The environment.
        seeds: Number of seeds.

    Returns:
        The number of steps compared.
    """
    one, two = make_health_env(env_id), make_health_env(env_id)
    with DRAWN.anew():
        return _same_twice(env_id, one, two, seeds)


def _same_twice(env_id: str, one: HealthEnv, two: HealthEnv, seeds: int) -> int:
    steps = 0
    for seed in range(seeds):
        first, second = one.reset(seed=seed), two.reset(seed=seed)
        require(as_text(first) == as_text(second), f"{env_id}: reset(seed={seed}) differs.")
        third, fourth = one.reset(), two.reset()
        require(as_text(third) == as_text(fourth), f"{env_id}: the reset after {seed} differs.")
    for index in range(seeds):
        for policy in policies(index):
            played = play(one, policy, *practice(one, index))
            again = list(replay_actions(two, played, *practice(two, index)))
            _compare(env_id, f"task {index}, {policy.name}", played, again)
            steps += len(played)
    return steps


def transcript_digest(env_id: str, tasks: int = 5) -> str:
    """Return a hex digest of everything some episodes of an environment show."""
    env = make_health_env(env_id)
    digest = hashlib.blake2b(digest_size=16)
    for seed in range(tasks):
        digest.update(as_text(env.reset(seed=seed)).encode())
    for split in Split:
        for index in range(min(tasks, env.family.generator.size(split))):
            for policy in policies(index):
                for step in play(env, policy, split, index):
                    digest.update(step.shown.encode())
                digest.update(env.episode.world.digest().encode())
    return digest.hexdigest()


def check_processes(
    *env_ids: str, tasks: int = 3, hash_seeds: Sequence[int] = (0, 4242)
) -> dict[str, str]:
    """Play tasks in fresh processes with other hash seeds; each must show what this one shows.

    Every second process plays the environments in the opposite order, so that what one leaves
    behind in a process is seen as well.

    Args:
        env_ids: The environments; ``"module:Name-v0"`` if the module must be imported first.
        tasks: Number of tasks of each split.
        hash_seeds: A process is started for each value of ``PYTHONHASHSEED``.

    Returns:
        The digest that all agree on, by environment.
    """
    here = {env_id: transcript_digest(env_id, tasks) for env_id in env_ids}
    program = (
        "import json, sys; from healthgym.testing import transcript_digest; "
        "print(json.dumps({i: transcript_digest(i, int(sys.argv[1])) for i in sys.argv[2:]}))"
    )
    for number, hash_seed in enumerate(hash_seeds):
        order = env_ids[:: -1 if number % 2 else 1]
        done = subprocess.run(
            [sys.executable, "-c", program, str(tasks), *order],
            env={
                **os.environ,
                "PYTHONHASHSEED": str(hash_seed),
                "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        require(done.returncode == 0, f"A fresh process failed: {done.stderr[-2000:]}")
        there = json.loads(done.stdout.splitlines()[-1])
        for env_id, digest in here.items():
            same = digest == there[env_id]
            require(same, f"{env_id}: PYTHONHASHSEED={hash_seed} shows something else.")
    return here


def check_isolation(env_id: str, tasks: int = 4) -> int:
    """Interleave two environments, and use one again: neither may notice.

    Args:
        env_id: The environment.
        tasks: Number of pairs of tasks.

    Returns:
        The number of steps compared.
    """
    steps = 0
    used = make_health_env(env_id)
    for index in range(tasks):
        alone = [
            play(make_health_env(env_id), policy, *practice(used, task))
            for policy, task in zip(policies(index), (2 * index, 2 * index + 1), strict=True)
        ]
        runs = [
            replay_actions(make_health_env(env_id), played, *practice(used, 2 * index + number))
            for number, played in enumerate(alone)
        ]
        together = list(zip_longest(*runs))
        for number, played in enumerate(alone):
            seen = [row[number] for row in together if row[number] is not None]
            _compare(env_id, f"task {2 * index + number}, interleaved", played, seen)
            again = list(replay_actions(used, played, *practice(used, 2 * index + number)))
            _compare(env_id, f"task {2 * index + number}, used before", played, again)
            steps += len(played)
    return steps


def check_clone(env_id: str, tasks: int = 3, futures: int | None = None) -> int:
    """Clone episodes at every step: same future, and nothing done to one reaches the other.

    What a world holds undeclared is shared by its clones and never undone, so it must not change.

    Args:
        env_id: The environment.
        tasks: Number of tasks.
        futures: How many clones of an episode are played on, from steps spread over it, the first
            and the last among them; all of them if None, which grows with the square of its length.

    Returns:
        The number of clones that were played on.
    """
    env = make_health_env(env_id)
    clones = 0
    for index in range(tasks):
        for policy in policies(index):
            script = []
            twins = []
            shared: dict[str, str] = {}
            for action in actions_of(env, policy, *practice(env, index)):
                shared = shared or _undeclared(env.episode.world)
                twins.append((env.episode.clone(), env.episode.world.digest()))
                script.append(action)
                env.step(action)
            last = (env.episode.world.digest(), env.episode.turns, env.episode.verdicts(env.role))
            chosen = _spread(len(twins), futures)
            for number, (twin, digest) in enumerate(twins):
                where = f"{env_id}: task {index}, {policy.name}, clone at step {number}"
                require(twin.world.digest() == digest, f"{where} was changed by its original.")
                if number not in chosen:
                    continue
                for action in script[number:]:
                    twin.step(action, env.role)
                future = (twin.world.digest(), twin.turns, twin.verdicts(env.role))
                require(future == last, f"{where} has another future.")
                clones += 1
            now = (env.episode.world.digest(), env.episode.turns, env.episode.verdicts(env.role))
            require(now == last, f"{env_id}: task {index}: clones changed their original.")
            for name, value in _undeclared(env.episode.world).items():
                what = f"{env_id}: task {index}: {name}, which is not declared as state,"
                require(shared.get(name) == value, f"{what} was changed.")
    return clones


def _spread(length: int, most: int | None) -> frozenset[int]:
    """Return so many places of a sequence at most, evenly apart and with both ends."""
    if most is None or most >= length:
        return frozenset(range(length))
    return frozenset(round(n * (length - 1) / max(most - 1, 1)) for n in range(most))


def _undeclared(whole: Stateful, met: frozenset[int] = frozenset()) -> dict[str, str]:
    """Return digests of the collections that a world and its parts hold without declaring them."""
    met |= {id(whole)}
    declared = {*whole.derived, "journal"}
    found: dict[str, str] = {}
    for name, value in vars(whole).items():
        if name in declared or id(value) in met:
            continue
        if isinstance(value, Stateful):
            found.update(_undeclared(value, met))
        elif type(value) in (dict, list, set, bytearray):
            found[f"{type(whole).__name__}.{name}"] = content_hash(canonical(value))
    return found


def _compare(env_id: str, what: str, played: Sequence[Step], again: Sequence[str]) -> None:
    require(len(played) == len(again), f"{env_id}: {what}: {len(played)} steps, {len(again)} now.")
    for number, (step, now) in enumerate(zip(played, again, strict=True), 1):
        require(
            step.shown == now, f"{env_id}: {what}: step {number} showed {step.shown}, now {now}."
        )
