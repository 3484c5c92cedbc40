"""What is practised next: environments, levels and kinds of task by weights, which may adapt.

A group of rollouts of one task teaches where its outcomes differ. An adaptive mixture draws more of
what has lately given such groups: what a policy cannot do yet is tried now and then, what it can do
is left behind, and difficulty rises with skill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from healthgym.core.borders import Json, JsonDict, Settings
from healthgym.core.choice import Weighted
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.integrations.trl.demonstrations import ORACLE, Demonstration, demonstrations
from healthgym.registration import make_health_env


@dataclass(frozen=True, slots=True)
class Part:
    """An ingredient of a mixture.

    Attributes:
        env: A registered id.
        arguments: Its arguments, such as a difficulty or ``task_types``.
        weight: How often it is drawn, relative to others.
    """

    env: str
    arguments: Settings = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Adaptive:
    """How weights follow what groups of rollouts taught.

    The weight of a part is multiplied by the share of its groups in which some rollouts succeeded
    and some failed. What was seen fades, and every part has a few imagined groups of that sort, so
    one that has not been drawn for long is given another chance.

    Attributes:
        hope: How many groups with mixed outcomes each part is credited with.
        half_life: Groups, of any part, after which what was seen counts half.
        least: Share below which none falls.

    Raises:
        ConfigurationError: If one of them is out of range.
    """

    hope: float = 2.0
    half_life: float = 64.0
    least: float = 0.05

    def __post_init__(self) -> None:
        if not (self.hope > 0 and self.half_life > 0 and 0 < self.least <= 1):
            raise ConfigurationError(
                "hope and half_life are positive numbers, and least is a share in (0, 1]."
            )


@dataclass(frozen=True, slots=True)
class Place:
    """A task of a mixture: the name of its part, and its index there."""

    name: str
    index: int


class Mixture:
    """A stream of tasks, the same for the same seed and the same outcomes.

    Which part the task of a slot comes from is drawn by the seed; within a part, tasks come by
    their index, from ``first`` on, and from the beginning again once all have been.

    Args:
        parts: Parts by name, or registered ids by name.
        seed: Seed of the draws; the tasks themselves do not depend on it.
        first: Index of each part's first task, such as the number of demonstrations.
        split: Where tasks are drawn from.
        adaptive: How weights follow the outcomes; they stay as they are if None.

    Raises:
        ConfigurationError: If the weights are none.
    """

    def __init__(
        self,
        parts: Mapping[str, Part | str],
        *,
        seed: int = 0,
        first: int = 0,
        split: str = "train",
        adaptive: Adaptive | None = None,
    ) -> None:
        self.parts = {
            name: Part(part) if isinstance(part, str) else part for name, part in parts.items()
        }
        Weighted({name: part.weight for name, part in self.parts.items()}, "a mixture")
        self.seed, self.first, self.split, self.adaptive = seed, first, Split(split), adaptive
        self._places: dict[int, Place] = {}
        self._counts: Counter[str] = Counter()
        #: By part, how many groups had mixed outcomes, and how many there were; both fade.
        self._seen = {name: [0.0, 0.0] for name in self.parts}

    def weights(self) -> dict[str, float]:
        """Return how likely each part is to be drawn next; they sum to one."""
        raw = {name: part.weight * self._share(name) for name, part in self.parts.items()}
        total = sum(raw.values())
        return {name: weight / total for name, weight in raw.items()}

    def _share(self, name: str) -> float:
        if self.adaptive is None:
            return 1.0
        mixed, groups = self._seen[name]
        hope = self.adaptive.hope
        return max((mixed + hope) / (groups + hope), self.adaptive.least)

    def task(self, slot: int) -> Place:
        """Return the task of a slot, always the same once it has been asked for.

        With fixed weights it follows from the slot. With adaptive ones it is drawn, by the weights
        of the moment, when it is first asked for.

        Args:
            slot: Number of a group of rollouts, or of a demonstration, from 0.
        """
        if self.adaptive is not None:
            if slot not in self._places:
                self._draw(slot)
        else:
            for each in range(len(self._places), slot + 1):
                self._draw(each)
        return self._places[slot]

    def _draw(self, slot: int) -> None:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(len(self._places),))
        name = Weighted(self.weights(), "a mixture").draw(np.random.default_rng(sequence))
        self._places[slot] = Place(name, self.first + self._counts[name])
        self._counts[name] += 1

    def note(self, slot: int, won: Sequence[bool]) -> None:
        """Take in what became of a group of rollouts.

        Args:
            slot: Its slot, which was asked for before.
            won: Whether each rollout succeeded, without those that have no score. Fewer than two
                say nothing.
        """
        if self.adaptive is None or len(won) < 2:
            return
        kept = 0.5 ** (1 / self.adaptive.half_life)
        for seen in self._seen.values():
            seen[:] = [kept * number for number in seen]
        seen = self._seen[self._places[slot].name]
        seen[0] += float(0 < sum(won) < len(won))
        seen[1] += 1.0

    # -- checkpoints -------------------------------------------------------------------------

    def state(self) -> JsonDict:
        """Return what a mixture of the same arguments needs to go on, as JSON values."""
        names = list(self.parts)
        return {
            "parts": names,
            "seed": self.seed,
            "slots": list(self._places),
            "drawn": [names.index(place.name) for place in self._places.values()],
            "seen": {name: list(seen) for name, seen in self._seen.items()},
        }

    def restore(self, state: Json) -> None:
        """Go on from a state.

        Raises:
            ConfigurationError: If it is that of a mixture with other parts, or another seed.
            DamagedDataError: If it cannot be read.
        """
        names = list(self.parts)
        try:
            other = (list(state["parts"]), state["seed"])
            drawn = [other[0][number] for number in state["drawn"]]
            seen = {
                name: [float(number) for number in seen] for name, seen in state["seen"].items()
            }
            slots = [int(slot) for slot in state["slots"]]
            if len(slots) != len(drawn) or any(len(pair) != 2 for pair in seen.values()):
                raise ValueError("its lists do not belong together")
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise DamagedDataError(f"Not the state of a mixture: {error!r}.") from None
        if other != (names, self.seed):
            raise ConfigurationError(
                f"The checkpoint's mixture is of {', '.join(map(str, other[0]))}, seed {other[1]}; "
                f"this one is of {', '.join(names)}, seed {self.seed}."
            )
        self._places, self._counts, self._seen = {}, Counter(), seen
        for slot, name in zip(slots, drawn, strict=True):
            self._places[slot] = Place(name, self.first + self._counts[name])
            self._counts[name] += 1

    # -- what it is of -----------------------------------------------------------------------

    def made(self, costs: Settings | None = None) -> dict[str, HealthEnv]:
        """Return a new environment for each part.

        Args:
            costs: Charges where a part's own arguments do not name them.

        Raises:
            ConfigurationError: If an id or an argument is not accepted, or a part has no tasks in
                the split.
        """
        found = {}
        for name, part in self.parts.items():
            kwargs = dict(part.arguments)
            if costs:
                kwargs["costs"] = {**costs, **kwargs.get("costs", {})}
            found[name] = make_health_env(part.env, kwargs)
            if not found[name].family.generator.size(self.split):
                raise ConfigurationError(f"{part.env} has no tasks in its {self.split} split.")
        return found

    def demonstrations(
        self, size: int, *, start: int = 0, policies: Mapping[str, str] | None = None
    ) -> Iterator[Demonstration]:
        """Yield the demonstrations of slots ``start`` to ``start + size - 1``.

        Args:
            size: How many.
            start: The first slot.
            policies: Who demonstrates, by part; the oracle where none is named. See
                :func:`~healthgym.integrations.trl.demonstrations` for more choices.

        Raises:
            ConfigurationError: If there is no such policy.
            HealthGymError: If the oracle fails a task, which is a bug of its family.
        """
        envs, named = self.made(), policies or {}
        for slot in range(start, start + size):
            place = self.task(slot)
            env = envs[place.name]
            index, policy = self.index_in(env, place), named.get(place.name, ORACLE)
            yield from demonstrations(env, str(self.split), 1, first=index, policy=policy)

    def index_in(self, env: HealthEnv, place: Place) -> int:
        """Return the index of a place's task in its environment, which may have fewer tasks."""
        return place.index % env.family.generator.size(self.split)


def levels(env: str, *names: str, arguments: Settings | None = None) -> dict[str, Part]:
    """Return a part for each difficulty of an environment, by the difficulty's name.

    Args:
        env: A registered id.
        names: Its difficulties, such as ``"easy"`` and ``"hard"``.
        arguments: Further arguments of the environment.
    """
    return {name: Part(env, {**(arguments or {}), "difficulty": name}) for name in names}
