"""What a role reads: the answers to its calls, what it was told, and the time."""

from __future__ import annotations

from collections.abc import Sequence

from healthgym.core.calls import Result
from healthgym.core.family import EpisodeConfig
from healthgym.core.world import Notice


def compose(
    results: Sequence[Result],
    news: str,
    clock: str,
    config: EpisodeConfig,
    *,
    can_read_on: bool,
) -> tuple[str, str]:
    """Return an observation, and what did not fit and can be read on.

    Args:
        results: What the calls are answered.
        news: What the role was told meanwhile; empty if nothing.
        clock: The time, as it is shown.
        config: The rules.
        can_read_on: Whether the role has a verb for what does not fit.
    """
    if len(results) == 1:
        text = results[0].text
    else:
        text = "\n\n".join(f"[{result.name or 'call'}]\n{result.text}" for result in results)
    head = f"[{clock}]\n" if config.show_clock else ""
    text = f"{news}\n{text}" if news else text
    limit = config.max_observation
    # However short an observation may be, reading on gets somewhere.
    room = max(limit - len(head), 1)
    if len(text) <= room:
        return head + text, ""
    shown, rest = head + text[:room], text[room:]
    if not can_read_on:
        return f"{shown}\n(cut after {limit} characters)", ""
    return f"{shown}\n({len(rest)} more characters; read_more continues)", rest


def told(notices: Sequence[Notice], role: str, *, dated: bool) -> str:
    """Return what a role was told, a line for each notice."""
    return "\n".join(
        f"({notice.at:%Y-%m-%d %H:%M}) {notice.text}" if dated else notice.text
        for notice in notices
        if notice.role == role
    )
