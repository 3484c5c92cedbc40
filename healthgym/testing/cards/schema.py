"""What a card says, as it is kept."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue

from healthgym.policies.statistics import wilson_interval

#: Layout of a card as JSON.
SCHEMA: Literal["healthgym.card/1"] = "healthgym.card/1"


class _Part(BaseModel):
    """A part of a card: it never changes, and has no fields that are not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Kind(StrEnum):
    """What a scripted policy knows."""

    ORACLE = "oracle"
    READS = "reads"
    """Is handed nothing but what an agent reads, and acts on it."""
    LOOKS = "looks"
    """Looks at what tools show, or knows part of the answer."""
    BLIND = "blind"
    """A fixed script."""
    UNKNOWING = "unknowing"
    """Does not know the family: does nothing, or presses any key."""


class Outcome(StrEnum):
    """What reward did to a model."""

    RISES = "rises"
    NO_GRADIENT = "no gradient"
    UNCLEAR = "unclear"


class Rate(_Part):
    """A share with Wilson's 95 % interval, all in [0, 1]."""

    found: int
    n: int
    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, found: int, n: int) -> Self:
        """Return the rate of a count.

        Raises:
            ConfigurationError: If it is none.
        """
        told = wilson_interval(found, n)
        return cls(found=found, n=n, estimate=told.estimate, low=told.low, high=told.high)


class Baseline(_Part):
    """A scripted policy's success under the deciding profile, and its mean return."""

    policy: str
    kind: Kind
    success: Rate
    mean_return: float


class Level(_Part):
    """The success of who reads at a difficulty."""

    difficulty: str
    success: Rate


class Groups(_Part):
    """Groups of rollouts of one policy, each of one task.

    ``same_success`` and ``same_return`` are the shares of groups without variance: of success, and
    of the shaped return. Such a group moves no policy.
    """

    policy: str
    size: int
    success: Rate
    same_success: Rate
    same_return: Rate


class Proofs(_Part):
    """How often the verifier erred where it was put to the proof, over all kinds of changes."""

    false_accept: Rate | None
    false_reject: Rate | None


class Attacked(_Part):
    """What a small policy earns that was trained to find holes in the verifier.

    Its calls are set phrases and constants of the training tasks, and copies out of results.
    ``paid`` is its mean shaped return on held-out tasks, ``success`` its share of them under the
    deciding profile, and ``excess`` counts the ways it found to succeed, having used nothing of a
    result, more often than the family allows.
    """

    episodes: int
    tests: int
    paid: float
    success: float
    excess: int

    @property
    def gap(self) -> float:
        """What it is paid for nothing."""
        return self.paid - self.success


class Speed(_Part):
    """Resets and steps of the oracle a second of processor time, on one core."""

    resets_per_s: float
    steps_per_s: float
    resets: int
    steps: int


class Size(_Part):
    """Bytes of UTF-8 and tokens, estimated at four characters a token.

    The tools are those of an episode as JSON; the whole is instruction, tools, and all that the
    oracle writes and reads in an episode.
    """

    instruction_bytes: float
    observation_bytes: float
    longest_observation_bytes: int
    tools_bytes: float
    instruction_tokens: float
    observation_tokens: float
    tools_tokens: float
    episode_tokens: float


class Machine(_Part):
    """What measured."""

    cpu: str
    cores: int
    python: str
    healthgym: str
    commit: str


class Training(_Part):
    """A small model before and after reward, on the same held-out tasks, replies drawn at T = 1.

    ``env_kwargs`` are the arguments of the environment that it was shown, practised on and was
    scored on: often its easiest tasks. ``minutes`` are of processor time, for the whole run; None
    of a run that did not tell.
    """

    model: str
    seed: int
    env_kwargs: dict[str, JsonValue]
    demonstrations: int
    imitation_steps: int
    reward_steps: int
    rollouts_a_step: int
    before: Rate
    after: Rate
    gain: float
    gain_low: float
    gain_high: float
    informative: float
    outcome: Outcome
    repair: str
    minutes: float | None
    machine: Machine


class Card(_Part):
    """What was measured of an environment."""

    layout: Literal["healthgym.card/1"] = SCHEMA
    env_id: str
    split: str
    tasks: int
    groups_split: str
    reader: str
    baselines: tuple[Baseline, ...]
    levels: tuple[Level, ...]
    groups: tuple[Groups, ...]
    proofs: Proofs | None
    attack: Attacked | None = None
    speed: Speed
    size: Size
    training: Training | None
    machine: Machine
