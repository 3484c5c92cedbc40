"""Nearly right work gets a verdict: the oracle's script with one place in it made odd."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from healthgym.core.action import MAX_ACTION_LENGTH
from healthgym.core.borders import Settings
from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode
from healthgym.core.family import Script
from healthgym.core.seeding import Split, stable_hash
from healthgym.core.task import AnyInstance
from healthgym.core.tool import ToolCall, ToolKind
from healthgym.testing.bounded import EndlessError, processor_seconds
from healthgym.testing.distorting import distorted, distorted_text, placed
from healthgym.testing.hostile import brief, is_unicode
from healthgym.testing.play import failed_calls, keeping_env, practice, require
from healthgym.testing.scripts import kind_of, oracle_script

#: How much rarer a call that only reads is distorted than one that changes something.
_READ = 0.1
#: Most processor time of a step: far more than any honest one takes, and no duration is asserted.
_SECONDS = 20.0
#: How often another odd call is drawn where one is refused: most of typed arguments are, unread.
_TRIES = 5
#: Longest text of an action that is told of.
_TOLD = 300
#: Faults that a message names.
_NAMED = 3


@dataclass(slots=True)
class Distorted:
    """What became of scripts with one place made odd.

    Attributes:
        tried: How many odd calls were made.
        played: How many were played on, to a verdict.
        carried_out: How many of those were carried out; the others were refused.
        faults: What went wrong, each with its task and its call.
    """

    tried: int = 0
    played: int = 0
    carried_out: int = 0
    faults: list[str] = field(default_factory=list)


def play_distortions(
    env_id: str,
    tasks: int = 3,
    each: int = 40,
    seed: int = 0,
    *,
    kwargs: Settings | None = None,
) -> Distorted:
    """Play the oracle's scripts with one place in one call made odd, and hand in.

    The place is an argument, or lies within one: in an object or list, in the JSON that a text
    holds, or a word or line of it (of YAML, CSV, SQL, a report). It becomes another type of JSON, a
    number that cannot be computed with, digits of other scripts, letters without width, thousands
    of characters, nothing. The forms of an answer that a family declares as equal are distorted,
    too. What comes after the odd call is played as it stands, and the episode is judged.

    Args:
        env_id: The environment.
        tasks: How many tasks.
        each: Distortions of each.
        seed: Seed of the distortions.
        kwargs: Arguments of the environment, such as ``{"protocol": "raw"}``.

    Returns:
        What became of them.
    """
    env = keeping_env(env_id, kwargs)
    found = Distorted()
    for number in range(tasks):
        split, index = practice(env, number)
        instance = env.family.generator.generate(split, index)
        entropy = stable_hash(f"{seed}/{instance.task.task_id}")
        rng = np.random.default_rng(entropy)
        scripts = list(_scripts(env, instance, rng))
        for place in range(len(scripts)):
            share = each // len(scripts) + (place < each % len(scripts))
            _Way(env, split, index, scripts[place], found).distort(rng, share)
    return found


def check_distortions(
    env_id: str,
    tasks: int = 3,
    each: int = 40,
    seed: int = 0,
    *,
    kwargs: Settings | None = None,
) -> int:
    """Require that the oracle's work with one place made odd is judged as any other.

    Nothing raises or goes on without end; no call is refused because something of ours failed in
    it; both profiles have a verdict in the end, of finite numbers and text that can be sent; and
    the same script has the same verdict again. See :func:`play_distortions`.

    Args:
        env_id: The environment.
        tasks: How many tasks.
        each: Distortions of each.
        seed: Seed of the distortions.
        kwargs: Arguments of the environment.

    Returns:
        How many of the odd calls were carried out.

    Raises:
        ConformanceError: If one breaks a promise; it names the task and the call.
    """
    found = play_distortions(env_id, tasks, each, seed, kwargs=kwargs)
    named = " ".join(found.faults[:_NAMED])
    require(not found.faults, f"{env_id}: {len(found.faults)} of {found.played}: {named}")
    return found.carried_out


def _scripts(
    env: HealthEnv, instance: AnyInstance, rng: np.random.Generator
) -> Iterator[list[object]]:
    """Yield the oracle's script, and what its family declares to say the same in another form."""
    script = oracle_script(env, instance)
    yield script
    for operator in env.family.proofs.equivalents.values():
        other = operator(instance, script, rng)
        if other is not None:
            yield list(other)


class _Way:
    """One script on one task, distorted at one place after the other.

    Args:
        env: The environment.
        split: Split of the task.
        index: Its index.
        script: What is done.
        found: Where it is noted what became of each distortion.
    """

    def __init__(
        self, env: HealthEnv, split: Split, index: int, script: Script, found: Distorted
    ) -> None:
        self._env, self._script, self._found = env, list(script), found
        self._options = {"split": str(split), "index": index}
        self._where = f"{split}/{index}"

    def distort(self, rng: np.random.Generator, count: int) -> None:
        """Distort the script so often; each place is played from where the script had come to."""
        env = self._env
        catalog = env.family.roles[env.role].catalog
        kinds = [kind_of(catalog, action) for action in self._script]
        weights = [
            (_READ if kind is ToolKind.READ else 1.0) if _has_places(action) else 0.0
            for kind, action in zip(kinds, self._script, strict=True)
        ]
        if not any(weights):
            return
        places = sorted(placed(rng, weights) for _ in range(count))
        env.reset(options=self._options)
        come = 0
        for place in places:
            while come < place and not env.episode.done(env.role):
                env.step(self._script[come])
                come += 1
            if env.episode.done(env.role):
                return
            here = env.episode.snapshot()
            self._try(rng, place, here)
            env.episode.restore(here)

    def _try(self, rng: np.random.Generator, place: int, here: AnyEpisode) -> None:
        """Distort one call, play it and the rest twice, and note what is wrong with it.

        Another is drawn where it is refused; the last is played on even so.
        """
        env, found, action = self._env, self._found, self._script[place]
        odd: object = action
        try:
            for tries in range(_TRIES):
                env.episode.restore(here)
                found.tried += 1
                odd = _odd_action(rng, action)
                carried_out = self._step(odd)
                if carried_out or env.episode.done(env.role) or rng.random() * _TRIES < tries:
                    break
            found.played += 1
            found.carried_out += carried_out
            rest = self._script[place + 1 :]
            first = self._verdict(rest)
            env.episode.restore(here)
            require(first == self._verdict([odd, *rest]), "has another verdict the second time.")
        except (Exception, EndlessError) as error:
            cause = error.__cause__ or error
            told = f"{type(cause).__name__}: {cause}"[:_TOLD]
            found.faults.append(f"{self._where}, call {place} ({brief(odd)}): {told}")

    def _step(self, action: object) -> bool:
        """Take an action; return whether it was carried out.

        Raises:
            ConformanceError: If it earned no number.
        """
        with failed_calls() as failed, processor_seconds(_SECONDS):
            _, reward, _, _, info = self._env.step(action)
        if failed:
            raise failed[0]
        require(math.isfinite(reward), f"it earned {reward}.")
        return "error" not in info

    def _verdict(self, script: Sequence[object]) -> str:
        """Play a script from where the episode is to its end; return the verdicts as JSON.

        Raises:
            ConformanceError: If something of ours failed, or a verdict is not one.
        """
        env, role = self._env, self._env.role
        for action in script:
            if env.episode.done(role):
                break
            self._step(action)
        if not env.episode.done(role):
            with processor_seconds(_SECONDS):
                env.stop()
        verdicts = env.episode.verdicts(role)
        require(len(verdicts) > 1 and all(verdicts.values()), "a profile has no verdict.")
        told = json.dumps(verdicts, sort_keys=True, ensure_ascii=False, allow_nan=False)
        require(is_unicode(told), "a verdict is not Unicode.")
        return told


def _has_places(action: object) -> bool:
    return bool(action.arguments) if isinstance(action, ToolCall) else bool(action)


def _odd_action(rng: np.random.Generator, action: object) -> object:
    """Return an action with one place made odd, no longer than an action may be."""
    for _ in range(8):
        if isinstance(action, ToolCall):
            odd: object = replace(action, arguments=distorted(rng, dict(action.arguments)))
        else:
            odd = distorted_text(rng, str(action))
        if odd != action and len(str(odd)) < MAX_ACTION_LENGTH:
            return odd
    return odd
