"""How much an agent had to read: by case, and when that was more than a memory holds."""

from __future__ import annotations

from collections.abc import Callable

from healthgym.core.borders import JsonDict
from healthgym.core.episode import AnyEpisode

#: Returns how many tokens a text has.
Tokenizer = Callable[[str], int]
_BYTES = 4


def by_bytes(text: str) -> int:
    """Return the tokens of a text, reckoned as a quarter of its UTF-8 bytes."""
    return -(-len(text.encode()) // _BYTES)


def tokens_read(
    episode: AnyEpisode, role: str, budget: int | None = None, tokenizer: Tokenizer = by_bytes
) -> JsonDict:
    """Return how many tokens of observations a role has read, its instruction included.

    Args:
        episode: The episode so far.
        role: Who read.
        budget: Tokens that a memory holds; None if nobody asks.
        tokenizer: Counts the tokens of a text.

    Returns:
        ``total``; ``cases``, by case; ``other``, what was read of no case; and ``exceeded_at``, the
        number of the turn, from 1, with which the budget was exceeded, None if it never was; 0 if
        the instruction alone exceeds it.
    """
    total = other = tokenizer(episode.instruction(role))
    exceeded = 0 if budget is not None and total > budget else None
    cases: dict[str, int] = {}
    turns = [turn for turn in episode.turns if turn.role == role]
    for number, (turn, case) in enumerate(zip(turns, episode.subjects(role), strict=True), 1):
        read = tokenizer(turn.news) * bool(turn.news) + tokenizer(turn.observation)
        total += read
        if case:
            cases[case] = cases.get(case, 0) + read
        else:
            other += read
        if exceeded is None and budget is not None and total > budget:
            exceeded = number
    return {"total": total, "cases": cases, "other": other, "exceeded_at": exceeded}
