"""No agent leaves the score: whatever it sends is carried out, or is its own refused call."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from healthgym.core.action import text_of
from healthgym.core.borders import Json, JsonDict, JsonObject, Settings
from healthgym.core.env import HealthEnv
from healthgym.core.tool import Scope, ToolCall, ToolKind, ToolSpec
from healthgym.errors import ConformanceError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.testing.bounded import EndlessError, processor_seconds
from healthgym.testing.hostile import brief, hostile_actions, is_unicode
from healthgym.testing.languages import Speaker
from healthgym.testing.odd_values import odd_object, pick
from healthgym.testing.play import ORACLE, failed_calls, keeping_env, practice, require

#: Actions of oracles that are kept to be bent.
_MODELS = 300
#: Most of an oracle's actions that are played before an attack, and calls of an attack.
_LEAD, _BURST = 12, 60
#: Attacks on one task, which is drawn once for them.
_ATTACKS = 8
#: Share of calls of every other attack that are the oracle's next, unbent.
_ALONG = 0.4
#: Most processor time of a call: far more than any honest one takes, and no duration is asserted.
_SECONDS = 20.0
#: Share of calls that may hand in, and so end the attack.
_HAND_IN = 0.02


def check_total(
    env_id: str, calls: int = 300, seed: int = 0, *, kwargs: Settings | None = None
) -> int:
    """Attack every tool with what fits its schema and bends its language.

    Attacks begin anywhere on the way of a competent agent: some of the oracle's actions are
    played, then come its actions with something changed in them, and calls with arguments in the
    language that each tool reads (SQL, YAML, Python, JSON, FHIR search, prose, paths), made of
    words of the episode. Some texts repeat a piece of themselves thousands of times, which costs a
    careless pattern hours. Some calls hand in. Each is carried out, or refused; a refused one
    changes nothing and takes no time. Nothing raises or goes on without end, neither a tool nor the
    verifier nor the reward, and no call is refused because something of ours failed in it.

    Args:
        env_id: The environment.
        calls: Number of calls.
        seed: Seed of the attacks.
        kwargs: Arguments of the environment, such as ``{"python": "full"}``.

    Returns:
        The number of calls that were carried out.

    Raises:
        ConformanceError: If a call breaks one of these promises; it names the call.
    """
    env = keeping_env(env_id, kwargs)
    # Long attacks, on tasks that may take long to draw.
    env.config = replace(env.config, max_turns=max(env.config.max_turns, 2 * _BURST), spell=None)
    attack = _Attack(env, np.random.default_rng(seed), f"{env_id}: call {{}} of seed {seed}")
    number = done = 0
    while attack.made < calls:
        done += attack.play(number, calls - attack.made)
        number += 1
    return done


@dataclass
class _Attack:
    """Attacks on one environment, one after the other.

    Attributes:
        env: The environment.
        rng: Source of the variety.
        where: What a finding is headed by; the number of the call is put in.
        made: Calls made so far.
        models: Actions of oracles.
        known: The world's digest and time, where nothing has changed since they were taken.
    """

    env: HealthEnv
    rng: np.random.Generator
    where: str
    made: int = 0
    models: deque[object] = field(default_factory=lambda: deque(maxlen=_MODELS))
    known: tuple[str, datetime] | None = None

    def play(self, number: int, most: int) -> int:
        """Play a task to somewhere on its way, and attack; return the calls carried out."""
        env, speaker = self.env, Speaker(self.rng)
        split, index = practice(env, number // _ATTACKS)
        observation, info = env.reset(options={"split": str(split), "index": index})
        self.known = None
        speaker.hear(observation)
        oracle = ScriptPolicy(ORACLE, number)
        oracle.begin(env, observation, info)
        specs = env.episode.seat(env.role).catalog.specs
        # Every other attack goes on along the oracle's way, and so past the first checks.
        along = number % 2 == 1
        for _ in range(int(self.rng.integers(_LEAD))):
            action = oracle.act(observation)
            self.models.append(action)
            if self._hands_in(action, specs):
                along = False
                break
            observation = env.step(action)[0]
            if env.episode.done(env.role):
                return 0
            speaker.hear(observation)
        done = 0
        for _ in range(min(most, _BURST)):
            action = None
            if along and self.rng.random() < _ALONG:
                action = oracle.act(observation)
                along = not self._hands_in(action, specs)
            if action is None or not along:
                action = self._action(speaker, specs)
            observation, carried_out = self._send(action)
            speaker.hear(observation)
            done += carried_out
            if env.episode.done(env.role):
                break
        return done

    def _hands_in(self, action: object, specs: Sequence[ToolSpec]) -> bool:
        """Return whether an oracle has come to the end of its way."""
        if not isinstance(action, ToolCall):
            return action == ""
        last = (s for s in specs if s.kind is ToolKind.SUBMIT and s.closes is not Scope.CASE)
        return any(action.name in (s.name, s.identifier, s.method) for s in last)

    def _action(self, speaker: Speaker, specs: Sequence[ToolSpec]) -> object:
        rng = self.rng
        kind = rng.random()
        if kind < 0.05:
            return next(hostile_actions(rng, specs, 1))
        if kind < 0.45 and self.models:
            return self._bent(speaker, pick(rng, self.models), specs)
        last = rng.random() < _HAND_IN
        chosen = [spec for spec in specs if (spec.kind is ToolKind.SUBMIT) == last] or specs
        spec = pick(rng, chosen)
        return self._call(speaker, spec)

    def _call(self, speaker: Speaker, spec: ToolSpec) -> ToolCall:
        def write(name: str, schema: JsonObject) -> str:
            return speaker.write(spec, name, schema)

        return ToolCall(spec.identifier, odd_object(self.rng, spec.parameters, 0, write))

    def _bent(self, speaker: Speaker, model: object, specs: Sequence[ToolSpec]) -> object:
        """Return an action of an oracle with one thing in it changed."""
        if not isinstance(model, ToolCall):
            return speaker.bent(text_of(model))
        spec = next((s for s in specs if model.name in (s.name, s.identifier, s.method)), None)
        if spec is None or (spec.kind is ToolKind.SUBMIT and self.rng.random() > 10 * _HAND_IN):
            return self._call(speaker, pick(self.rng, specs))
        arguments = dict(model.arguments)
        other = self._call(speaker, spec).arguments
        if other and self.rng.random() < 0.5:
            name = pick(self.rng, sorted(other))
            return replace(model, arguments={**arguments, name: other[name]})
        return replace(model, arguments=self._changed(speaker, arguments))

    def _changed(self, speaker: Speaker, value: Json) -> Json:
        """Return a JSON value with one of its leaves changed, of the same type where it can be."""
        rng = self.rng
        if isinstance(value, Mapping) and value:
            name = pick(rng, sorted(value))
            changed: JsonDict = {**value, name: self._changed(speaker, value[name])}
            return changed
        if isinstance(value, list | tuple) and value:
            place = int(rng.integers(len(value)))
            if rng.random() < 0.3:
                return [*value[:place], *value[place:], value[place]]
            return [*value[:place], self._changed(speaker, value[place]), *value[place + 1 :]]
        if isinstance(value, str):
            return speaker.word() if rng.random() < 0.3 else speaker.bent(value)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return pick(rng, (0, -1, value + 1, -value, 10**9, 2**63 - 1))
        if isinstance(value, float):
            return pick(rng, (0.0, -value, value * 1e6, 1e308, 1e-300, -0.0))
        return pick(rng, (value, "", 0, [], {}))

    def _send(self, action: object) -> tuple[str, bool]:
        """Send an action; return what is answered, and whether it was carried out."""
        env, where = self.env, f"{self.where.format(self.made)} ({brief(action)})"
        self.made += 1
        world = env.episode.world
        before, self.known = self.known or (world.digest(), world.clock.now), None
        with failed_calls() as failed:
            try:
                with processor_seconds(_SECONDS):
                    observation, reward, terminated, truncated, info = env.step(action)
            except (Exception, EndlessError) as error:
                raise ConformanceError(f"{where} raised {error!r:.500}.") from error
        if failed:
            raise ConformanceError(f"{where} failed: {failed[0]!r:.500}.") from failed[0]
        error_text = info.get("error", "")
        require(math.isfinite(reward), f"{where} earned {reward}.")
        require(env.observation_space.contains(observation), f"{where}: outside of the space.")
        require(is_unicode(observation + error_text), f"{where}: the answer is not Unicode.")
        ended = terminated or truncated
        require(not ended or "success" in info, f"{where} ended the episode without a verdict.")
        # One call alone: of several, some may be carried out.
        if error_text and not ended and isinstance(action, ToolCall):
            after = (world.digest(), world.clock.now)
            require(after == before, f"{where} was refused and changed something.")
            self.known = after
        return observation, not error_text
