"""Calling a tool and reading its answer to the end, and finding the policy that holds."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.reading.layout import body, is_cut
from healthgym.envs.managed_care.reading.policy_page import PageReading, read_page
from healthgym.envs.managed_care.reading.policy_search import (
    PolicyReading,
    in_force,
    paths_in,
    reading_of,
)
from healthgym.errors import DataError

_T = TypeVar("_T")
#: Calls, to whose answers the play goes on; what it returns is told at its end.
Play = Generator[ToolCall, str, _T]
_POLICIES = "medical-library/medical-policies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked for, as far as the choice of a policy goes.

    Attributes:
        code: What is ordered.
        service: The same in words.
        plan: The member's plan.
        state: The member's state.
        day: The day of the request.
    """

    code: str
    service: str
    plan: str
    state: str
    day: date


def ask(name: str, **arguments: object) -> Play[str]:
    """Call a tool and read its answer to the end."""
    observation = yield call(name, **arguments)
    text = body(observation)
    while is_cut(observation):
        observation = yield call("read_more")
        text += body(observation)
    return text


def policy_for(asked: Asked) -> Play[tuple[PolicyReading, str] | None]:
    """Find the page in force for plan, state and day, and what amends it.

    Returns:
        The policy, amendments included, and the text of its page; None if no page lists the code.
    """
    texts: dict[str, str] = {}
    pages: dict[str, PageReading] = {}
    # A large handbook has a page for every plan: service and plan rank the right one first.
    for query in (f"{asked.service} {asked.code} {asked.plan}", asked.code):
        hits = yield from ask("handbook.search", query=query, section=_POLICIES)
        for path in paths_in(hits):
            if "/bulletins/" in path or "/archive/" in path or path in texts:
                continue
            texts[path] = (yield from ask("handbook.read", path=path)).partition("\n\n")[2]
            try:
                pages[path] = read_page(texts[path])
            except DataError:
                continue  # a page of another kind
            chosen = _chosen(asked, pages)
            if chosen is not None:
                later = yield from _amendments(pages[chosen].id)
                found = reading_of(pages[chosen], texts[chosen], later, asked.day)
                return found, texts[chosen]
    return None


def _chosen(asked: Asked, pages: Mapping[str, PageReading]) -> str | None:
    return in_force(pages, asked.code, asked.plan, asked.state, asked.day)


def _amendments(policy: str) -> Play[list[str]]:
    """Return the bulletins that name a policy."""
    hits = yield from ask("handbook.search", query=f"bulletin amendment {policy}")
    texts = []
    for path in paths_in(hits):
        if "/bulletins/" in path and policy in path:
            texts.append((yield from ask("handbook.read", path=path)))
    return texts
