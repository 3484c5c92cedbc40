"""The raw text protocol of MedAgentBench, so that agents written for it play unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

import gymnasium as gym

from healthgym.core.env import HealthEnv
from healthgym.core.tool import ToolCall
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.paper.grading import BASE_URL
from healthgym.envs.fhir_record.raw import RawRecordFamily, function_descriptions
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.spaces import UnicodeText

#: Rounds of the published configuration; FINISH is one of them.
PUBLISHED_ROUNDS = 8
#: Nothing is cut upstream: a whole chart asked for at once is some 5,000 rows of 1.3 kB each.
_MAX_TEXT = 8_000_000
_FENCES = ("```tool_code", "```")
_ACCEPTED = "POST request accepted"


class RunStatus(StrEnum):
    """How a run stands, in the words of the published harness."""

    RUNNING = "running"
    COMPLETED = "completed"
    INVALID_ACTION = "agent invalid action"
    LIMIT_REACHED = "task limit reached"


class FhirTextProtocol(gym.Wrapper[str, Any, str, Any], gym.utils.RecordConstructorArgs):
    """Turns a FHIR record environment into the published text protocol.

    An action is one reply: ``GET url?parameters``, or ``POST url`` with JSON on the following
    lines, or ``FINISH([...])``; anything else ends the episode as failed. As upstream, code fences
    are stripped, ``&_format=json`` is added to every GET, a POST whose text is JSON is answered
    with a fixed sentence, and nothing after ``FINISH(`` but the last character is cut off before
    the value is read as JSON. The first observation holds the rules, the nine functions and the
    question. Grading is the environment's own.

    The wrapped environment is taken over: its tools become raw FHIR, its clock stands still and
    its turn budget is ``max_rounds``.

    Args:
        env: A :class:`~healthgym.envs.fhir_record.env.FhirRecordEnv`, wrapped or not.
        max_rounds: Replies an episode may take.
        store_writes: Whether a POST is really stored. Then a resource that the record system
            refuses is answered with the refusal, which upstream never does. If not, only the
            ``paper`` profile can find an order.

    Raises:
        ConfigurationError: If the environment is not one over a FHIR record system.
    """

    def __init__(
        self,
        env: gym.Env[str, Any],
        *,
        max_rounds: int = PUBLISHED_ROUNDS,
        store_writes: bool = True,
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(
            self, max_rounds=max_rounds, store_writes=store_writes
        )
        super().__init__(env)
        inner: Any = env.unwrapped
        family = getattr(inner, "family", None)
        if not isinstance(family, FhirRecordFamily):
            raise ConfigurationError("The text protocol needs an environment over a FHIR record.")
        if type(max_rounds) is not int or max_rounds < 1:
            raise ConfigurationError(f"max_rounds is a positive integer, not {max_rounds!r}.")
        inner.family = RawRecordFamily(family, store_writes=store_writes)
        inner.config = replace(
            inner.config,
            max_turns=max_rounds,
            step_time=timedelta(0),
            show_clock=False,
            max_observation=_MAX_TEXT,
        )
        inner.observation_space = UnicodeText(_MAX_TEXT)
        self._inner: HealthEnv = inner
        self._status = RunStatus.COMPLETED
        self.observation_space = UnicodeText(_MAX_TEXT)
        self.action_space = UnicodeText(100_000)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; the observation is the whole prompt."""
        question, info = self.env.reset(seed=seed, options=options)
        self._status = RunStatus.RUNNING
        return prompt(question), {**info, "tools": [], "status": str(self._status)}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one reply.

        Raises:
            EpisodeStateError: If the episode is over.
        """
        if self._status is not RunStatus.RUNNING:
            raise EpisodeStateError("This episode is over. Call reset() before the next step().")
        request = parse_reply(action) if isinstance(action, str) else None
        if request is None:
            return self._abandon()
        text, reward, terminated, truncated, info = self.env.step(request)
        if terminated:
            self._status = RunStatus.COMPLETED
        elif truncated:
            self._status = RunStatus.LIMIT_REACHED
        shown = _shown(request.name, text, bool(info.get("error")))
        return shown, float(reward), terminated, truncated, {**info, "status": str(self._status)}

    def _abandon(self) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """End the episode over a reply that is none of the three forms; it never pays."""
        self._status = RunStatus.INVALID_ACTION
        episode = self._inner.episode
        info = {
            "task_id": episode.task.task_id,
            "turns_left": episode.turns_left(),
            "time": episode.world.clock.now.isoformat(),
            "error": "The reply is neither GET, nor POST, nor FINISH.",
            "verdict": episode.verdicts(),
            "success": False,
            "status": str(self._status),
        }
        return info["error"], 0.0, True, False, info


def parse_reply(reply: str) -> ToolCall | None:
    """Return the request in a reply, as the published harness reads it; None if there is none."""
    text = reply.strip()
    for fence in _FENCES:
        text = text.replace(fence, "")
    text = text.strip()
    if text.startswith("GET"):
        return ToolCall("get", {"url": text[3:].strip() + "&_format=json"})
    if text.startswith("POST"):
        first, _, body = text.partition("\n")
        fenced = _FENCES[-1] in reply
        return ToolCall("post", {"url": first[4:].strip(), "body": body, "fenced": fenced})
    if text.startswith("FINISH("):
        answer = text[len("FINISH(") : -1]
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError):
            value = None
        return ToolCall("finish", {"value": value, "text": answer})
    return None


def prompt(question: str, base_url: str = BASE_URL) -> str:
    """Return the first message: rules, functions, question."""
    return (
        "You are working with the medical records of a hospital through a FHIR R4 server. Reply "
        "with exactly one of the following three forms each time, with no other words before or "
        "after it.\n\n"
        "1. To read: one line, the word GET and a URL with its parameters filled in:\n"
        "GET url?name=value&name=value\n\n"
        "2. To write: the word POST and a URL, and from the next line on the resource as JSON:\n"
        'POST url\n{"resourceType": ...}\n\n'
        "3. To hand in your answer, once everything asked for is done, as a JSON list; this ends "
        "the task:\n"
        "FINISH([answer, ...])\n\n"
        "Only these functions exist; each reply may call one of them.\n"
        f"The server's base address, written api_base below, is {base_url.rstrip('/')}.\n"
        f"{function_descriptions(base_url)}\n\n"
        f"{question}"
    )


def _shown(name: str, text: str, refused: bool) -> str:
    """Return what the agent reads after a request."""
    if name == "finish":
        return text
    if refused:
        return text.removeprefix("Error: ")
    if name == "post":
        return (
            f"{_ACCEPTED} and executed. If nothing is left to do, call FINISH with the answer, "
            "as a JSON list, to the question."
        )
    return (
        f"The server responded to the GET request with:\n{text}\nIf this is all you need, call "
        "FINISH with the answer, as a JSON list, to the question."
    )
