"""What a request may be about: endings, and the policies under which each of them can be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from healthgym.core.seeding import weighted_order
from healthgym.envs.managed_care.cases.editions import Ending, able_policies, tries
from healthgym.envs.managed_care.cases.handling import handlings
from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.trimming import editions
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
#: Draws of one ending under one policy before another is tried.
_TRIES = 10


#: Editions of a policy under which a request can end in a way, by the policy's id.
Editions = Mapping[str, tuple[Policy, ...]]


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be drawn under a configuration.

    Attributes:
        ways: Endings, by the action that is right; each entry is drawn as often.
        known: Policies under which a request can end so, as the payer may handle them.
        services: Ids of the policies under which every action can be right, category by category.
        weights: How often an ending is drawn where it can be, by ending: those that few policies
            allow more often.
    """

    ways: tuple[tuple[Ending, ...], ...]
    known: Mapping[Ending, Editions]
    services: tuple[tuple[str, ...], ...]
    weights: Mapping[Ending, float]
    _found: dict[tuple[tuple[Ending, ...], str], tuple[list[Ending], list[float]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def action(self, rng: np.random.Generator) -> tuple[Ending, ...]:
        """Return the endings of an action."""
        return self.ways[int(rng.integers(len(self.ways)))]

    def cases(
        self, action: tuple[Ending, ...], rng: np.random.Generator
    ) -> Iterator[tuple[Ending, Policy]]:
        """Yield endings and policies to try.

        The service comes first, each category as often and each policy of it, whatever the action
        is: what was ordered tells nothing of what is to be done. Where a policy gives no request
        that ends in one way, another way of the same action is tried before another policy.

        Args:
            action: The endings of the action.
            rng: Where the order comes from.
        """
        for place in rng.permutation(len(self.services)):
            group = self.services[int(place)]
            for name in rng.permutation(group):
                for ending in self._endings(action, str(name), rng):
                    able = self.known[ending][str(name)]
                    for _ in range(_TRIES):
                        yield ending, able[int(rng.integers(len(able)))]

    def _endings(
        self, action: tuple[Ending, ...], name: str, rng: np.random.Generator
    ) -> list[Ending]:
        """Return the ways of an action that a policy allows, in the order they are tried."""
        able, shares = self._able(action, name)
        return [able[place] for place in weighted_order(shares, rng)]

    def _able(self, action: tuple[Ending, ...], name: str) -> tuple[list[Ending], list[float]]:
        """Return the ways of an action that a policy allows, and how often each is the first."""
        found = self._found.get((action, name))
        if found is None:
            able = [ending for ending in action if name in self.known[ending]]
            shares = np.array([self.weights[ending] for ending in able])
            found = self._found[action, name] = able, (shares / shares.sum()).tolist()
        return found


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
    known: dict[Ending, Editions] = {}
    for action, endings in config.ways().items():
        found = {ending: _able(config, ending, shelf) for ending in endings}
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
    services = _services(ways, known)
    return Choices(tuple(ways), known, services, _weights(known, services))


def _able(config: AuthorizationConfig, ending: Ending, shelf: Shelf | None) -> Editions:
    """Return the policies under which a request can end in a way; a shelf's are as they stand."""
    low, high = config.criteria
    if shelf is not None:
        groups = able_policies(config.categories, config.criteria, ending, shelf)
        return {policy.id: (policy,) for group in groups for policy in group}
    found = {
        policy.id: tuple(
            handled
            for edition in editions(policy, low, high)
            for handled in handlings(edition, ending)
        )
        for policy in library().values()
        if policy.category in config.categories
    }
    return {name: able for name, able in found.items() if able}


def _services(
    ways: Sequence[tuple[Ending, ...]], known: Mapping[Ending, Editions]
) -> tuple[tuple[str, ...], ...]:
    """Return the policies that serve every action, by category; if there are none, any action."""
    serving = [{name for ending in way for name in known[ending]} for way in ways]
    names = set.intersection(*serving) or set.union(*serving)
    groups: dict[ServiceTypeCategory, list[str]] = {}
    for name in sorted(names):
        policy = next(each[name][0] for each in known.values() if name in each)
        groups.setdefault(policy.category, []).append(name)
    return tuple(tuple(groups[each]) for each in sorted(groups))


def _weights(
    known: Mapping[Ending, Editions], services: Sequence[Sequence[str]]
) -> Mapping[Ending, float]:
    """Return how often endings are drawn where they can be: the inverse of how often that is."""
    weights: dict[Ending, float] = {}
    for ending, able in known.items():
        share = sum(name in able for group in services for name in group)
        weights[ending] = 1 / max(1, share)
    return weights


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


def canonical_tries(asked: Ask, rng: np.random.Generator) -> Iterator[tuple[Ending, Policy]]:
    """Yield the ending of a canonical request, and policies of its category to try.

    They are as the library has them: the published cases are not balanced either.

    Args:
        asked: What the request is about.
        rng: Where the order comes from.
    """
    groups = able_policies(
        (asked.category,) if asked.category else tuple(ServiceTypeCategory), _ANY, asked.ending
    )
    for policy in tries(groups, rng):
        yield asked.ending, policy


@lru_cache(maxsize=_KEPT)
def composed(
    config: AuthorizationConfig, requests: tuple[Ask, ...]
) -> tuple[AuthorizationConfig, Choices]:
    """Return from what requests are drawn that end as some others do, each as often as there.

    Of those others the services are not kept: with a few each, the service would tell the ending.

    Args:
        config: What requests are like besides.
        requests: The others.
    """
    counts = Counter(each.ending for each in requests)
    mixed = replace(
        config,
        courses=tuple(one for one in counts if isinstance(one, Course)),
        gaps=tuple(one for one in counts if isinstance(one, Gap)),
        bars=tuple(one for one in counts if isinstance(one, Bar)),
        criteria=_ANY,
    )
    found = choices_of(mixed)
    ways = tuple(next(way for way in found.ways if each.ending in way) for each in requests)
    weights = {ending: weight * counts[ending] for ending, weight in found.weights.items()}
    return mixed, replace(found, ways=ways, weights=weights)


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


__all__ = [
    "Ask",
    "Choices",
    "Ending",
    "canonical_requests",
    "canonical_tries",
    "choices_of",
    "composed",
    "narrowed",
]
