"""Bounds that configurations of the desks have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Protocol

from healthgym.core import arguments
from healthgym.errors import ConfigurationError

#: Most there may be of each.
_MOST = {"patients": 60, "cases": 24, "rivals": 8}


class Surrounded(Protocol):
    """A configuration of cases under policies, with others around them."""

    @property
    def criteria(self) -> tuple[int, int]:
        """Fewest and most criteria of a policy."""

    @property
    def open_criteria(self) -> int:
        """Most criteria that are open, or that stand against a request."""

    @property
    def patients(self) -> int:
        """Other patients."""

    @property
    def twins(self) -> int:
        """Of these, patients who resemble the one that is meant."""


def adopt_members(config: object, kinds: Mapping[str, type[StrEnum]]) -> None:
    """Turn what a frozen configuration was given as text into members of enumerations.

    Args:
        config: The configuration, while it is made.
        kinds: Which fields hold members of which enumeration.

    Raises:
        ConfigurationError: If one is no member.
    """
    for name, kind in kinds.items():
        object.__setattr__(config, name, arguments.members(kind, getattr(config, name), name))


def require_bounds(config: Surrounded, others: str) -> None:
    """Refuse policies and people that no case can be drawn with.

    Args:
        config: The configuration.
        others: What the other people are called.

    Raises:
        ConfigurationError: If a number is out of bounds.
    """
    low, high = config.criteria
    if not 1 <= low <= high <= 20:
        raise ConfigurationError(
            f"criteria is a lowest and a highest number from 1 to 20, not {(low, high)!r}."
        )
    if not 1 <= config.open_criteria <= 20:
        raise ConfigurationError("open_criteria lies between 1 and 20.")
    for name, most in _MOST.items():
        if not 0 <= getattr(config, name) <= most:
            raise ConfigurationError(f"{name} lies between 0 and {most}.")
    if not 0 <= config.twins <= config.patients:
        raise ConfigurationError(f"twins are among the {others}; there are not more of them.")


def require_chances(config: object, names: Iterable[str]) -> None:
    """Refuse what is no probability.

    Args:
        config: The configuration.
        names: Its fields that are to be probabilities.

    Raises:
        ConfigurationError: If one is none.
    """
    for name in names:
        chance = getattr(config, name)
        if not 0 <= chance <= 1:
            raise ConfigurationError(f"{name} is a probability, not {chance!r}.")
