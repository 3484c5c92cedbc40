"""What a role reads: the answers to its calls, what it was told, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthgym.core.calls import Result
from healthgym.core.family import EpisodeConfig, Seat
from healthgym.core.seating import SeatState
from healthgym.core.verbs import Verb
from healthgym.core.world import Notice, World


class Reader:
    """Words what the roles of an episode read, and keeps in their seats what they have read.

    Args:
        config: The rules.
        seats: The seats by role.
    """

    def __init__(self, config: EpisodeConfig, seats: Mapping[str, Seat]) -> None:
        self._config, self._seats = config, seats

    def observation(
        self, world: World, role: str, seat: SeatState, results: Sequence[Result]
    ) -> str:
        """Return what a role reads once its calls are answered."""
        text, rest = compose(
            results,
            self.told(world, role, seat),
            world.clock.text[:16].replace("T", " "),
            self._config,
            can_read_on=self._seats[role].catalog.has(Verb.READ_MORE),
        )
        if rest:  # what is left of an earlier result stays readable until another one is cut
            seat.rest = rest
        left = self._config.budget(role) - seat.calls
        if left == 1 and not seat.done and not self._config.plain:
            text += "\n(1 call left)"
        return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")

    def returned(
        self, world: World, role: str, seat: SeatState, results: Sequence[Result] = ()
    ) -> str:
        """Return what a role reads that has the turn again: the time, and what it was told."""
        seat.away, seat.spell = False, 0
        waited = Result(str(Verb.WAIT), f"Waited until {world.clock.now:%Y-%m-%d %H:%M}.")
        return self.observation(world, role, seat, [*results, waited])

    def told(self, world: World, role: str, seat: SeatState) -> str:
        """Return what a role was told since it last read, and take it as read."""
        notices = world.notices
        if seat.told == len(notices):
            return ""
        fresh, seat.told = notices[seat.told :], len(notices)
        return told(fresh, role, dated=self._config.show_clock)


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
