"""Checks of the arguments that every environment takes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from healthgym.core.verdict import Profile
from healthgym.errors import ConfigurationError

Choice = TypeVar("Choice", bound=StrEnum)


def turns(max_turns: object) -> int:
    """Return a turn budget.

    Raises:
        ConfigurationError: If it is not a positive integer.
    """
    if isinstance(max_turns, bool) or not isinstance(max_turns, int) or max_turns < 1:
        raise ConfigurationError(f"max_turns is a positive integer, not {max_turns!r}.")
    return max_turns


def member(kind: type[Choice], value: str, name: str) -> Choice:
    """Return the member of an enumeration that a text names.

    Args:
        kind: The enumeration.
        value: What was passed.
        name: Name of the argument, for the message.

    Raises:
        ConfigurationError: If no member has that value, naming those there are.
    """
    try:
        return kind(value)
    except ValueError:
        accepted = ", ".join(kind)
        raise ConfigurationError(f"{name} {value!r} is not one of {accepted}.") from None


def members(kind: type[Choice], values: Iterable[str], name: str) -> tuple[Choice, ...]:
    """Return members of an enumeration, each once, in the order in which they are named.

    Args:
        kind: The enumeration.
        values: Members, or texts that name them.
        name: Name of the argument, for the message.

    Raises:
        ConfigurationError: If none is given, or one is no member.
    """
    found = () if isinstance(values, str) else tuple(dict.fromkeys(values))
    if not found:
        raise ConfigurationError(f"{name} holds at least one of {', '.join(kind)}.")
    return tuple(member(kind, value, f"{name}:") for value in found)


def profile(name: str) -> Profile:
    """Return the scoring profile of a name.

    Raises:
        ConfigurationError: If there is none of that name.
    """
    return member(Profile, name, "profile")
