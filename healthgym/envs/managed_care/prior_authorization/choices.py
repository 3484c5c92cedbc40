"""What a request may be about: endings, and the policies under which each of them can be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from healthgym.envs.managed_care.cases.editions import Ending, able_policies, tries
from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderDeterminationAction,
    ServiceTypeCategory,
)

#: Where the requests of both offices are listed.
_CASES = "healthgym.envs.managed_care.cases"
#: Policies of any depth.
_ANY = (1, 20)
#: Configurations whose choices are kept.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be drawn under a configuration.

    Attributes:
        ways: Endings, by the action that is right.
        known: Policies under which a request can end so, category by category, each policy as
            often as another.
    """

    ways: tuple[tuple[Ending, ...], ...]
    known: Mapping[Ending, tuple[tuple[Policy, ...], ...]]

    def ending(self, rng: np.random.Generator) -> Ending:
        """Return how a request is to end: each action as often, each way of it as often."""
        action = self.ways[int(rng.integers(len(self.ways)))]
        return action[int(rng.integers(len(action)))]

    def policies(self, ending: Ending, rng: np.random.Generator) -> Iterator[Policy]:
        """Yield policies to try: of one category, each category as often, then of the others.

        Args:
            ending: How the request is to end.
            rng: Where the order comes from.
        """
        yield from tries(self.known[ending], rng)


@lru_cache(maxsize=_KEPT)
def choices_of(config: AuthorizationConfig, shelf: Shelf | None = None) -> Choices:
    """Return what can be drawn under a configuration.

    Args:
        config: What requests are like.
        shelf: The payer's policies; those of the library if None.

    Raises:
        ConfigurationError: If no policy gives requests for which one of the actions is right.
    """
    ways: list[tuple[Ending, ...]] = []
    known: dict[Ending, tuple[tuple[Policy, ...], ...]] = {}
    for action, endings in config.ways().items():
        found = {
            ending: able_policies(config.categories, config.criteria, ending, shelf)
            for ending in endings
        }
        able = tuple(ending for ending in endings if found[ending])
        if not able:
            low, high = config.criteria
            raise ConfigurationError(
                f"No policy of {low} to {high} criteria in the categories "
                f"{', '.join(config.categories)} gives a request that ends in "
                f"{' or '.join(endings)}, as {action} needs; widen criteria or categories, or "
                "leave the action out."
            )
        ways.append(able)
        known |= {ending: found[ending] for ending in able}
    return Choices(tuple(ways), known)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a canonical request is about.

    Attributes:
        ending: How it ends.
        category: The kind of service; None for any.
    """

    ending: Ending
    category: ServiceTypeCategory | None = None


@lru_cache(maxsize=1)
def canonical_requests() -> tuple[Ask, ...]:
    """Return what the 25 canonical requests are about, in order."""
    text = files(_CASES).joinpath("data/canonical.json").read_text("utf-8")
    endings: dict[str, Ending] = {each.value: each for each in (*Course, *Gap, *Bar)}
    return tuple(
        Ask(endings[row["ending"]], ServiceTypeCategory(row["category"]))
        for row in json.loads(text)["requests"]
    )


def narrowed(config: AuthorizationConfig, asked: Ask) -> AuthorizationConfig:
    """Return a configuration that draws one kind of request, under policies of any depth.

    Args:
        config: What requests are like besides.
        asked: What the request is about.
    """
    ending = asked.ending
    categories = config.categories if asked.category is None else (asked.category,)
    if isinstance(ending, Course):
        actions = (ProviderDeterminationAction.SUBMIT_PA,)
        return replace(
            config, actions=actions, courses=(ending,), categories=categories, criteria=_ANY
        )
    if isinstance(ending, Gap):
        actions = (ProviderDeterminationAction.GATHER_MORE_EVIDENCE,)
        return replace(
            config, actions=actions, gaps=(ending,), categories=categories, criteria=_ANY
        )
    actions = (ProviderDeterminationAction.DO_NOT_SUBMIT,)
    return replace(config, actions=actions, bars=(ending,), categories=categories, criteria=_ANY)


__all__ = ["Ask", "Choices", "Ending", "canonical_requests", "choices_of", "narrowed"]
