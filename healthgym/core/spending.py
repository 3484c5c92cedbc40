"""What a model's answers cost, and the limit at which to stop."""

from __future__ import annotations

import math
import threading
from dataclasses import astuple, dataclass, field
from typing import Protocol, runtime_checkable

from healthgym.errors import BudgetExceededError, ConfigurationError

#: Rule of thumb for English text and JSON, used where an endpoint does not count tokens itself.
CHARACTERS_PER_TOKEN = 4


def estimate_tokens(characters: int) -> int:
    """Return the tokens a text of that many characters takes, at four characters a token."""
    return -(-characters // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written by a model.

    Attributes:
        prompt_tokens: Tokens read, summed over requests.
        completion_tokens: Tokens written.
        requests: Requests answered.
        usd: Price in US dollars; zero where no prices were given.
        estimated: Requests whose tokens the endpoint did not count, so that we estimated them.
        cached_tokens: Tokens of those read that the endpoint had kept from an earlier request.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    usd: float = 0.0
    estimated: int = 0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
            self.usd + other.usd,
            self.estimated + other.estimated,
            self.cached_tokens + other.cached_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.requests - other.requests,
            self.usd - other.usd,
            self.estimated - other.estimated,
            self.cached_tokens - other.cached_tokens,
        )


@runtime_checkable
class Metered(Protocol):
    """A policy that knows what it has spent."""

    @property
    def usage(self) -> Usage:
        """Everything spent since the policy was made."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What an endpoint charges, in US dollars for a million tokens.

    Attributes:
        prompt: For tokens read.
        completion: For tokens written.
        cached: For tokens read that the endpoint had kept from an earlier request; those cost as
            much as any if None.
    """

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def __post_init__(self) -> None:
        kept = () if self.cached is None else (self.cached,)
        _require_amounts("Prices", self.prompt, self.completion, *kept)

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Return the price of a request in US dollars; cached tokens are among those read."""
        cached = self.prompt if self.cached is None else self.cached
        read = self.prompt * (prompt_tokens - cached_tokens) + cached * cached_tokens
        return (read + self.completion * completion_tokens) / 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; None is no limit.

    They are looked at before each request, so a run can pass them by one request per worker.

    Attributes:
        tokens: Most tokens, read and written.
        usd: Most US dollars; needs prices.
        requests: Most requests that were answered.
    """

    tokens: int | None = None
    usd: float | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        limits = (self.tokens, self.usd, self.requests)
        _require_amounts("Limits of a budget", *(each for each in limits if each is not None))


@dataclass(slots=True)
class Meter:
    """A running total that several workers may share. It only rises.

    Args:
        budget: The limits.

    Raises:
        BudgetExceededError: From :meth:`check`, once a limit is reached.
    """

    budget: Budget = field(default_factory=Budget)
    total: Usage = field(default_factory=Usage)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, usage: Usage) -> None:
        """Add what a request cost.

        Raises:
            ConfigurationError: If it cost less than nothing, or what is no number.
        """
        _require_amounts("What a request cost", *astuple(usage))
        with self._lock:
            self.total += usage

    def check(self) -> None:
        """Raise if a limit is reached.

        Raises:
            BudgetExceededError: Naming the limit and what was spent.
        """
        spent, budget = self.total, self.budget
        if budget.requests is not None and spent.requests >= budget.requests:
            raise BudgetExceededError(f"The budget of {budget.requests:,} requests is spent.")
        if budget.tokens is not None and spent.tokens >= budget.tokens:
            raise BudgetExceededError(
                f"The budget of {budget.tokens:,} tokens is spent ({spent.tokens:,} used in "
                f"{spent.requests} requests)."
            )
        if budget.usd is not None and spent.usd >= budget.usd:
            raise BudgetExceededError(
                f"The budget of {budget.usd:.2f} USD is spent ({spent.usd:.4f} USD in "
                f"{spent.requests} requests)."
            )


def _require_amounts(what: str, *amounts: float) -> None:
    """Refuse what would keep a limit from ever being reached.

    Raises:
        ConfigurationError: If an amount is negative, infinite or no number.
    """
    for each in amounts:
        number = type(each) is int or (type(each) is float and math.isfinite(each))
        if not number or each < 0:
            raise ConfigurationError(f"{what}: numbers from 0, not {each!r}.")


def require_prices(budget: Budget, prices: Prices) -> None:
    """Refuse a limit in dollars that nothing would ever count towards.

    Raises:
        ConfigurationError: If the budget is in dollars and no price is given.
    """
    if budget.usd is not None and prices == Prices():
        raise ConfigurationError("A budget in USD needs the prices of the model's tokens.")
