"""The Gymnasium face of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym

from healthgym.core.action import MAX_ACTION_LENGTH
from healthgym.core.borders import AnyArray, Info, JsonDict, Options
from healthgym.core.enclosing import steps_allowed
from healthgym.core.episode import AnyEpisode, StepOutcome
from healthgym.core.family import AnyFamily, EpisodeConfig
from healthgym.core.faults import FaultLedger, is_outage
from healthgym.core.images import Image
from healthgym.core.occupants import resolved
from healthgym.core.opening import Face, record_of
from healthgym.core.players import Filling
from healthgym.core.reward import RewardFunction
from healthgym.core.selection import choose_task, parse_split
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.spaces import JsonText, UnicodeText

__all__ = ["HealthEnv", "parse_split"]

_RENDER_MODES = ("ansi", "rgb_array")


class HealthEnv(Face, gym.Env[str, Any]):
    """A single-agent environment over a task family.

    Observations are text; the pictures of a step are in ``info["images"]``, in full size
    (:class:`healthgym.wrappers.ImageObservation` observes them). An action is a tool call: JSON
    text, or anything else :func:`healthgym.core.action.parse` accepts. ``reset`` takes a seed and
    options.

    Reset options: ``task_id`` or ``index`` chooses the task; ``kind`` and ``difficulty`` (one
    value, or a list of them) draw among the tasks that have these; ``split`` overrides the
    environment's split for that episode; ``record``, a recorded episode, has whoever was asked
    from outside say and do what they did in it, without being asked.

    Args:
        family: Generator, world, tools and verifier.
        reward: The reward function.
        split: Which task set to draw from.
        config: The rules of an episode; the family's own if None.
        role: The role that is played; the first one if empty.
        counterparts: Who plays the other roles, by role: the name of a scripted player; weights by
            name, of which each task draws one; or somebody from outside
            (:class:`~healthgym.core.players.Occupant`), or their fields: ``{"endpoint": {...}}``,
            ``{"checkpoint": "folder"}``.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for pictures of it, with the pictures
            last shown beside it.
    """

    metadata: ClassVar[JsonDict] = {  # type: ignore[misc]
        "render_modes": list(_RENDER_MODES),
        "render_fps": 1,
    }

    def __init__(
        self,
        family: AnyFamily,
        reward: RewardFunction,
        *,
        split: str = "train",
        config: EpisodeConfig | None = None,
        role: str = "",
        counterparts: Mapping[str, Filling] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in _RENDER_MODES:
            accepted = ", ".join(_RENDER_MODES)
            raise ConfigurationError(f"render_mode {render_mode!r} is not one of {accepted}.")
        self.family = family
        self.reward = reward
        self.config = config or family.rules
        family.require_profile(self.config.profile)
        self.role = role or next(iter(family.roles))
        self.counterparts = resolved(counterparts or {})
        self._require_seats()
        #: What becomes of failures of ours; with the usual ceiling of 0 they are raised.
        self.faults = FaultLedger()
        self.split = parse_split(split)
        self.render_mode = render_mode
        self.observation_space = UnicodeText(4 * self.config.max_observation)
        self.action_space = JsonText(MAX_ACTION_LENGTH)
        # The pictures last shown, and the number of the step that showed them.
        self._images: tuple[Image, ...] = ()
        self._shown = 0
        self._task_id = ""  # of the current episode: every step tells it
        # Steps that are left until a TimeLimit truncates the episode; no limit if None.
        self._steps_left: int | None = None

    def _require_seats(self) -> None:
        filled, roles = {self.role, *self.counterparts}, self.family.roles
        if filled != set(roles) or self.role in self.counterparts:
            raise ConfigurationError(
                f"{self.family.name} has the roles {', '.join(roles)}: one is played, each other "
                f"needs a counterpart. Played: {self.role}; counterparts: "
                f"{', '.join(self.counterparts) or 'none'}."
            )

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> tuple[str, Info]:
        """Begin a new episode; see the class for the options.

        Raises:
            ConfigurationError: If an option is unknown, or no task fits it.
            InfrastructureError: If a counterpart who begins is out of reach, or fails.
        """
        super().reset(seed=seed)
        chosen = dict(options or {})
        record = chosen.pop("record", None)
        split, index = choose_task(self.family.generator, self.np_random, self.split, chosen)
        self._episode = self.open_episode(split, index, record)
        self._task_id = self._episode.task.task_id
        self._images = ()
        self._steps_left = steps_allowed(self)
        if self._episode.crash is not None:
            raise self._episode.crash
        task = self._episode.task
        info = {
            "task_id": self._task_id,
            "split": str(task.key.split),
            "kind": task.kind,
            "tools": self._episode.seat(self.role).catalog.openai(),
        }
        news = self._episode.news(self.role)
        instruction = self._episode.instruction(self.role)
        return f"{instruction}\n\n{news}" if news else instruction, info

    def step(self, action: object) -> tuple[str, float, bool, bool, Info]:
        """Carry out one action; never raises for what an agent can send.

        The last step that a :class:`gymnasium.wrappers.TimeLimit` allows ends the episode as if it
        were out of turns, so that it is scored.

        A failure of ours goes to :attr:`faults`. Where that lets the run go on, the episode is
        given up: truncated, without a verdict, with the failure in ``info["fault"]``.

        Raises:
            EpisodeStateError: If the episode is over.
            SeatCrashedError: If a counterpart failed: the episode is over, its record is kept.
            InfrastructureError: If something outside the episode fails, such as a judge.
        """
        episode = self.episode
        try:
            outcome = episode.step(action, self.role)
        except Exception as error:
            # Whatever of ours fails goes on the ledger, which raises what it has no room for.
            over = isinstance(error, EpisodeStateError) and episode.done(self.role)
            if over or is_outage(error):
                raise
            return self._given_up(action, error)
        answer = self._answer(outcome)
        return answer if self._steps_left is None else self._limited(self._steps_left, *answer)

    def _limited(
        self,
        steps: int,
        observation: str,
        reward: float,
        terminated: bool,
        truncated: bool,
        info: Info,
    ) -> tuple[str, float, bool, bool, Info]:
        """Return a step, and end the episode by it if a TimeLimit is about to."""
        self._steps_left = steps - 1
        if self._steps_left > 0 or terminated or truncated:
            return observation, reward, terminated, truncated, info
        charged, ending = self.stop()
        return observation, reward + charged, False, True, {**info, **ending}

    def _given_up(self, action: object, error: Exception) -> tuple[str, float, bool, bool, Info]:
        task_id = self._task_id
        report = self.faults.take(task_id, action, error)
        self._episode = None
        info = {"task_id": task_id, "turns_left": 0, "fault": report}
        return "The environment failed; this episode has no score.", 0.0, False, True, info

    def _answer(self, outcome: StepOutcome) -> tuple[str, float, bool, bool, Info]:
        info = self._info()
        observation, images, reward, terminated, truncated, errors, _ = outcome
        if images:
            self._images, self._shown = images, len(self.episode.turns)
            info["images"] = images
        if errors:
            info["error"] = errors[0]
        return observation, reward, terminated, truncated, info

    def stop(self) -> tuple[float, Info]:
        """End the episode as if it were out of turns; return the reward of that, and the info.

        For wrappers that limit something other than turns, such as tokens.

        Raises:
            EpisodeStateError: If the episode is over.
        """
        return self.episode.stop(self.role), self._info()

    def _info(self) -> Info:
        episode = self.episode
        info: Info = {
            "task_id": self._task_id,
            "turns_left": episode.turns_left(self.role),
            "time": episode.world.clock.text,
        }
        if episode.settled:
            verdicts = episode.verdicts(self.role)
            info["verdict"] = verdicts
            info["success"] = verdicts[str(self.config.profile)]["success"]
        return info

    def trajectory(self, episode: AnyEpisode | None = None) -> Trajectory:
        """Return the record of an episode so far; one that is not over has no verdicts.

        Args:
            episode: One that was opened apart, as :meth:`open_episode` does; the current one if
                None.
        """
        spec = self.spec
        kept = (spec.id, spec.kwargs) if spec else ("", {})
        return record_of(episode or self.episode, *kept)

    def render(self) -> str | AnyArray | None:
        """Return the transcript as text, or as a picture of shape (height, width, 3), uint8."""
        if self.render_mode is None:
            return None
        from healthgym.presentation.render import draw_transcript, transcript

        text = transcript(self.episode)
        if self.render_mode == "ansi":
            return text
        return draw_transcript(text, self._images, f"Shown in step {self._shown}")

    def __getstate__(self) -> JsonDict:
        """Leave the running episode out: a pickled environment is reset before its next use."""
        return {**self.__dict__, "_episode": None, "_images": ()}
