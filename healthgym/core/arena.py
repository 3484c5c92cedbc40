"""The PettingZoo face of the engine, for worlds with several roles.

Importing this module needs pettingzoo; nothing else in the engine does.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from gymnasium.utils import seeding

from healthgym.core.episode import Episode, RewardFunction
from healthgym.core.family import EpisodeConfig, Family
from healthgym.core.selection import choose_task, parse_split
from healthgym.errors import ConfigurationError, EpisodeStateError, MissingDependencyError
from healthgym.spaces import JsonText, UnicodeText

try:
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
except ImportError:
    raise MissingDependencyError(
        'Environments with several agents need pettingzoo: pip install "healthgym[pettingzoo]".'
    ) from None


class Arena(AECEnv):  # type: ignore[misc]
    """A turn-based environment over a task family with several roles.

    Each role is an agent, named after it (``buyer`` is ``buyer_0``). Agents act in the order of
    the family's seats, one action each; a role that has submitted or is out of turns is passed
    over. Rewards that depend on the others are paid when the last role is done, and then all
    agents terminate (they submitted) or are truncated (they did not) together, with their
    verdicts in ``infos``.

    An observation is ``{"text": ...}``: the instruction at first, then the answer to the agent's
    own last action. An action is a tool call, in any form that
    :func:`healthgym.core.action.parse` accepts; a bad one is answered, never raised.

    Args:
        family: Generator, world, tools and verifier.
        reward: The reward function, applied to each role.
        split: Which task set to draw from.
        config: The rules of an episode.
        render_mode: ``"ansi"`` or None.
        name: Name in PettingZoo's metadata.
    """

    def __init__(
        self,
        family: Family[Any],
        reward: RewardFunction,
        *,
        split: str = "train",
        config: EpisodeConfig | None = None,
        render_mode: str | None = None,
        name: str = "arena_v0",
    ) -> None:
        super().__init__()
        if render_mode not in (None, "ansi"):
            raise ConfigurationError(f"render_mode {render_mode!r} is not one of ansi.")
        self.family = family
        self.reward = reward
        self.config = config or EpisodeConfig()
        self.split = parse_split(split)
        self.render_mode = render_mode
        self.metadata = {"name": name, "render_modes": ["ansi"], "is_parallelizable": True}
        # The roles are the same in every task; any task names them.
        roles = family.seats(family.generator.generate(self.split, 0))
        self._roles = {f"{role}_0": role for role in roles}
        self.possible_agents = list(self._roles)
        self.agents: list[str] = []
        length = self.config.max_observation
        self.observation_spaces = {
            agent: spaces.Dict({"text": UnicodeText(4 * length)}) for agent in self._roles
        }
        self.action_spaces = {agent: JsonText(length) for agent in self._roles}
        self._rng, _ = seeding.np_random()
        self._episode: Episode[Any] | None = None
        self._texts: dict[str, str] = {}

    @property
    def episode(self) -> Episode[Any]:
        """The current episode.

        Raises:
            EpisodeStateError: Before the first reset.
        """
        if self._episode is None:
            raise EpisodeStateError("Call reset() first.")
        return self._episode

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> JsonText:
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new episode; the options are those of :class:`healthgym.core.env.HealthEnv`.

        Raises:
            ConfigurationError: If an option is unknown, or no task fits it.
        """
        if seed is not None:
            self._rng, _ = seeding.np_random(seed)
        # PettingZoo's api_test resets with an option of this name, which it made up.
        known = {name: value for name, value in (options or {}).items() if name != "options"}
        split, index = choose_task(self.family.generator, self._rng, self.split, known)
        instance = self.family.generator.generate(split, index)
        self._episode = episode = Episode(self.family, instance, self.reward, self.config)
        self.agents = list(self.possible_agents)
        self._texts = {agent: episode.instruction(role) for agent, role in self._roles.items()}
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {
            agent: {
                "task_id": episode.task.task_id,
                "split": str(split),
                "kind": episode.task.kind,
                "role": role,
                "tools": episode.seat(role).catalog.openai(),
            }
            for agent, role in self._roles.items()
        }
        self._skip_agent_selection = None
        self._select(self.agents[0])

    def observe(self, agent: str) -> dict[str, str]:
        """Return what an agent last read."""
        return {"text": self._texts[agent]}

    def step(self, action: Any) -> None:
        """Carry out an action of the selected agent; None if that agent is dead."""
        agent = self.agent_selection
        if not self.agents:
            raise EpisodeStateError("This episode is over. Call reset() before the next step().")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        episode, role = self.episode, self._roles[agent]
        outcome = episode.step(action, role)
        self._texts[agent] = outcome.observation
        self._cumulative_rewards[agent] = 0.0
        earned = {role: outcome.reward, **outcome.settled}
        self.rewards = {a: earned.get(self._roles[a], 0.0) for a in self.agents}
        self._accumulate_rewards()
        info: dict[str, Any] = {
            "task_id": episode.task.task_id,
            "role": role,
            "turns_left": episode.turns_left(role),
            "time": episode.world.clock.now.isoformat(),
        }
        if outcome.images:
            info["images"] = outcome.images
        if outcome.errors:
            info["error"] = outcome.errors[0]
        self.infos[agent] = info
        if episode.done():
            self._finish()
        self._select(self._next(agent))

    def _select(self, agent: str) -> None:
        self.agent_selection = agent
        for info in self.infos.values():
            info["turn"] = agent

    def _finish(self) -> None:
        for agent, role in self._roles.items():
            self.terminations[agent] = self.episode.submitted(role)
            self.truncations[agent] = not self.terminations[agent]
            verdicts = self.episode.verdicts(role)
            success = verdicts[str(self.config.profile)]["success"]
            self.infos[agent] = {**self.infos[agent], "verdict": verdicts, "success": success}

    def _next(self, agent: str) -> str:
        """Return the next agent in the order of seats that may still act, or simply the next."""
        start = self.agents.index(agent) + 1
        order = self.agents[start:] + self.agents[:start]
        return next((a for a in order if not self.episode.done(self._roles[a])), order[0])

    def render(self) -> str | None:
        """Return the transcript, or None without a render mode."""
        from healthgym.presentation.render import transcript

        return transcript(self.episode) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is held open."""


def parallel(arena: Arena) -> ParallelEnv:
    """Return an arena as a PettingZoo ``ParallelEnv``.

    Only the action of the agent whose turn it is counts; ``infos[agent]["turn"]`` names it.
    """
    return turn_based_aec_to_parallel(arena)
