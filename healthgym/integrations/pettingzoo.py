"""The PettingZoo face of the engine, for worlds with several roles.

``env``, ``raw_env`` and ``parallel_env`` make what is registered under ``HealthArena``; an
:class:`Arena` is made of any family with several roles. Importing this module needs pettingzoo, and
registers the arenas there; nothing else in the package imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gymnasium import spaces
from gymnasium.utils import seeding

from healthgym import registration
from healthgym.core import arguments
from healthgym.core.action import MAX_ACTION_LENGTH
from healthgym.core.borders import Argument, Info, JsonDict, Options
from healthgym.core.episode import StepOutcome
from healthgym.core.family import AnyFamily, EpisodeConfig
from healthgym.core.faults import FaultLedger, is_outage
from healthgym.core.occupants import resolved
from healthgym.core.opening import Face, record_of
from healthgym.core.players import Filling
from healthgym.core.reward import RewardFunction
from healthgym.core.selection import choose_task, parse_split
from healthgym.core.trajectory import Trajectory
from healthgym.errors import (
    ConfigurationError,
    EpisodeStateError,
    MissingDependencyError,
)
from healthgym.rewards import Costs, resolve
from healthgym.spaces import JsonText, UnicodeText

try:
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError:
    raise MissingDependencyError(
        'Environments with several agents need pettingzoo: pip install "healthgym[pettingzoo]".'
    ) from None

__all__ = ["Arena", "env", "parallel", "parallel_env", "raw_env"]

_FAILED = "The environment failed; this episode has no score."


class Arena(Face, AECEnv):  # type: ignore[misc]
    """A turn-based environment over a task family with several roles.

    Each role that no counterpart fills is an agent, named after it (``buyer`` is ``buyer_0``). The
    family says whose turn it is; a role that waits, has submitted or is out of turns is not asked.
    When the turn comes to an agent, what it was told meanwhile follows its last observation.
    Rewards that depend on the others are paid when the last role is done, and then all agents
    terminate (they submitted) or are truncated (they did not) together, with their verdicts in
    ``infos``.

    An observation is ``{"text": ...}``: the instruction at first, then the answer to the agent's
    own last action. An action is a tool call, in any form that
    :func:`healthgym.core.action.parse` accepts; a bad one is answered, never raised.

    Args:
        family: Generator, world, tools and verifier.
        reward: ``"sparse"``, ``"shaped"`` or a function; applied to each role.
        costs: Charges for a named reward.
        split: Which task set to draw from.
        config: The rules of an episode; the family's own if None.
        counterparts: Who fills other seats, by role: scripted players by name or weight, or others.
        render_mode: ``"ansi"`` or None.
        name: Name in PettingZoo's metadata.

    Attributes:
        faults: What becomes of failures of ours; with the usual ceiling of 0 they are raised.
        made_by: Registered id and arguments, for records; an empty id if made by hand.
    """

    def __init__(
        self,
        family: AnyFamily,
        reward: str | RewardFunction = "sparse",
        *,
        costs: Costs | Mapping[str, float] | None = None,
        split: str = "train",
        config: EpisodeConfig | None = None,
        counterparts: Mapping[str, Filling] | None = None,
        render_mode: str | None = None,
        name: str = "arena_v0",
    ) -> None:
        super().__init__()
        if render_mode not in (None, "ansi"):
            raise ConfigurationError(f"render_mode {render_mode!r} is not one of ansi.")
        self.family = family
        self.reward = resolve(reward, costs)
        self.config = config or family.rules
        self.split = parse_split(split)
        self.counterparts = resolved(counterparts or {})
        self.faults = FaultLedger()
        self.made_by: tuple[str, JsonDict] = ("", {})
        self.render_mode = render_mode
        self.metadata = {"name": name, "render_modes": ["ansi"], "is_parallelizable": True}
        self._roles = _agents(family, self.counterparts)
        self._agents = {role: agent for agent, role in self._roles.items()}
        self.possible_agents = list(self._roles)
        self.agents: list[str] = []
        length = self.config.max_observation
        self.observation_spaces = {
            agent: spaces.Dict({"text": UnicodeText(4 * length)}) for agent in self._roles
        }
        self.action_spaces = {agent: JsonText(MAX_ACTION_LENGTH) for agent in self._roles}
        self._rng, _ = seeding.np_random()
        self._texts: dict[str, str] = {}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> JsonText:
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    # -- playing -----------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Options | None = None) -> None:
        """Begin a new episode; the options are those of :class:`healthgym.core.env.HealthEnv`.

        Raises:
            ConfigurationError: If an option is unknown, or no task fits it.
            InfrastructureError: If a counterpart who begins is out of reach, or fails.
        """
        if seed is not None:
            self._rng, _ = seeding.np_random(seed)
        # PettingZoo's api_test resets with an option of this name, which it made up.
        known = {name: value for name, value in (options or {}).items() if name != "options"}
        record = known.pop("record", None)
        split, index = choose_task(self.family.generator, self._rng, self.split, known)
        self._episode = episode = self.open_episode(split, index, record)
        if episode.crash is not None:
            raise episode.crash
        self.agents = list(self.possible_agents)
        self._texts = {agent: episode.instruction(role) for agent, role in self._roles.items()}
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, JsonDict] = {
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
        self._select(self._whose_turn())

    def trajectory(self) -> Trajectory:
        """Return the record of the current episode, the turns of all roles in it."""
        return record_of(self.episode, *self.made_by)

    def observe(self, agent: str) -> dict[str, str]:
        """Return what an agent last read."""
        return {"text": self._texts[agent]}

    def step(self, action: object) -> None:
        """Carry out an action of the selected agent; None if that agent is dead.

        A failure of ours goes to :attr:`faults`. Where that lets the run go on, the episode is
        given up: all agents are truncated, without a verdict, with the failure in
        ``infos[agent]["fault"]``.
        """
        if not self.agents:
            raise EpisodeStateError("This episode is over. Call reset() before the next step().")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        try:
            outcome = self.episode.step(action, self._roles[agent])
        except Exception as error:
            # Whatever of ours fails goes on the ledger, which raises what it has no room for.
            if is_outage(error):
                raise
            self._give_up(action, error)
        else:
            self._answer(agent, outcome)

    def _answer(self, agent: str, outcome: StepOutcome) -> None:
        """Hand out what came of an action, and pass the turn on."""
        episode, role = self.episode, self._roles[agent]
        self._texts[agent] = outcome.observation
        earned = {role: outcome.reward, **outcome.settled}
        self.rewards = {each: earned.get(self._roles[each], 0.0) for each in self.agents}
        self._accumulate_rewards()
        info: Info = {
            "task_id": episode.task.task_id,
            "role": role,
            "turns_left": episode.turns_left(role),
            "time": episode.world.clock.text,
        }
        if outcome.images:
            info["images"] = outcome.images
        if outcome.errors:
            info["error"] = outcome.errors[0]
        self.infos[agent] = info
        if episode.done():
            self._finish()
        self._select(self._whose_turn())

    def _whose_turn(self) -> str:
        """Return who is to act; the first agent where nobody is, to be stepped out dead."""
        role = self.episode.to_act()
        return self.agents[0] if role is None else self._agents[role]

    def _select(self, agent: str) -> None:
        self.agent_selection = agent
        self._tell(agent)
        for info in self.infos.values():
            info["turn"] = agent

    def _tell(self, agent: str) -> None:
        """Add what an agent was told since its last observation."""
        news = self.episode.news(self._roles[agent])
        if news:
            self._texts[agent] += f"\n\n{news}"

    def _finish(self) -> None:
        """End all agents' parts, with their verdicts."""
        for agent, role in self._roles.items():
            self._tell(agent)
            self.terminations[agent] = self.episode.submitted(role)
            self.truncations[agent] = not self.terminations[agent]
            verdicts = self.episode.verdicts(role)
            success = verdicts[str(self.config.profile)]["success"]
            self.infos[agent] = {**self.infos[agent], "verdict": verdicts, "success": success}

    def _give_up(self, action: object, error: Exception) -> None:
        """End an episode that failed on our account, without a score."""
        task_id = self.episode.task.task_id
        report = self.faults.take(task_id, action, error)
        self._episode = None
        self._texts = dict.fromkeys(self.agents, _FAILED)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.truncations = dict.fromkeys(self.agents, True)
        self.infos = {
            agent: {"task_id": task_id, "role": self._roles[agent], "fault": report}
            for agent in self.agents
        }
        self.agent_selection = self.agents[0]

    def render(self) -> str | None:
        """Return the transcript, or None without a render mode."""
        from healthgym.presentation.render import transcript

        return transcript(self.episode) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is held open."""


def _agents(family: AnyFamily, counterparts: Mapping[str, object]) -> dict[str, str]:
    """Return the roles that are played from outside, by the names of their agents."""
    unknown = counterparts.keys() - family.roles.keys()
    played = {f"{role}_0": role for role in family.roles if role not in counterparts}
    if unknown or not played:
        raise ConfigurationError(
            f"{family.name} has the roles {', '.join(family.roles)}: counterparts fill some of "
            f"them, not {', '.join(counterparts)}."
        )
    return played


def parallel(arena: AECEnv) -> ParallelEnv:
    """Return an arena as a PettingZoo ``ParallelEnv``.

    Only the action of the agent whose turn it is counts; ``infos[agent]["turn"]`` names it.
    """
    return turn_based_aec_to_parallel(arena)


# -- the registered arenas -----------------------------------------------------------------------


def raw_env(
    arena_id: str,
    *,
    split: str = "train",
    reward: str | RewardFunction = "sparse",
    profile: str = "strict",
    max_turns: int | None = None,
    costs: Costs | Mapping[str, float] | None = None,
    counterparts: Mapping[str, Filling] | None = None,
    render_mode: str | None = None,
    **own: object,
) -> Arena:
    """Return a registered arena, without wrappers.

    Args:
        arena_id: One of :func:`healthgym.registration.arena_ids`.
        split: Which task set to draw from.
        reward: ``"sparse"``, ``"shaped"`` or a function.
        profile: The profile that decides success and reward.
        max_turns: Tool calls each role may make; the family's own number if None.
        costs: Charges for a named reward.
        counterparts: Who fills other seats, by role: scripted players by name or weight, or others.
        render_mode: ``"ansi"`` or None.
        own: Arguments of the family, such as ``difficulty``.

    Raises:
        ConfigurationError: If there is no such arena or argument.
    """
    row = registration.arena_row(arena_id)
    family = registration.arena_family(arena_id, **own)
    rules = replace(family.rules, profile=arguments.profile(profile))
    if max_turns is not None:
        rules = replace(rules, max_turns=arguments.turns(max_turns))
    arena = Arena(
        family,
        reward,
        costs=costs,
        split=split,
        config=rules,
        counterparts=counterparts,
        render_mode=render_mode,
        name=f"{family.name.replace('-', '_')}_{row.id.rpartition('-')[2]}",
    )
    if isinstance(reward, str) and not isinstance(costs, Costs):
        given: JsonDict = {
            "split": split,
            "reward": reward,
            "profile": profile,
            "max_turns": max_turns,
            "costs": costs,
            "counterparts": counterparts,
            **own,
        }
        arena.made_by = (arena_id, {name: value for name, value in given.items() if value})
    return arena


def env(arena_id: str, **kwargs: Argument) -> AECEnv:
    """Return a registered arena that refuses to be used in the wrong order; see :func:`raw_env`."""
    return OrderEnforcingWrapper(raw_env(arena_id, **kwargs))


def parallel_env(arena_id: str, **kwargs: Argument) -> ParallelEnv:
    """Return a registered arena as a ``ParallelEnv``; see :func:`raw_env` and :func:`parallel`."""
    return parallel(raw_env(arena_id, **kwargs))


registration.register_arenas()
