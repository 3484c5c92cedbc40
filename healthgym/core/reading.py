"""What a role reads: the answers to its calls, what it was told, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthgym.core.calls import Result
from healthgym.core.family import EpisodeConfig, Seat
from healthgym.core.seating import SeatState
from healthgym.core.verbs import Verb
from healthgym.core.world import Notice, World

#: From so many calls in a row left on, a role is told of them.
_TOLD = 10
#: With so many left of all calls a role is told, if they are no more than one in so many of them.
_FEW, _SHARE = (10, 5), 4


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
        config = self._config
        if len(results) == 1:
            text = results[0].text
        else:
            text = "\n\n".join(f"[{result.name or 'call'}]\n{result.text}" for result in results)
        news = self.told(world, role, seat)
        text = f"{news}\n{text}" if news else text
        head = f"[{world.clock.minute}]\n" if config.show_clock else ""
        # However short an observation may be, reading on gets somewhere.
        room = max(config.max_observation - len(head), 1)
        text = head + (text if len(text) <= room else self._beginning(role, seat, text, room))
        left = config.budget(role) - seat.calls
        if not seat.done and not config.plain:
            text += _running_out(left, config.budget(role))
        text += self._calls_in_a_row(seat)
        return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")

    def _calls_in_a_row(self, seat: SeatState) -> str:
        """Return how many calls are left before the turn is handed over, where they are few."""
        config = self._config
        if config.spell is None or len(self._seats) == 1 or seat.done or config.plain:
            return ""
        left = config.spell - seat.spell
        if seat.waits is not None or not 0 < left <= min(_TOLD, config.spell - 1):
            return ""
        return f"\n(Calls left in a row before you have to wait: {left})"

    def _beginning(self, role: str, seat: SeatState, text: str, room: int) -> str:
        """Return so many characters of a text, with a notice; keep the rest, if it can be read on.

        What is left of an earlier result stays readable until another one is cut.
        """
        shown, rest = text[:room], text[room:]
        if not self._seats[role].catalog.has(Verb.READ_MORE):
            return f"{shown}\n(cut after {self._config.max_observation} characters)"
        seat.rest = rest
        return f"{shown}\n({len(rest)} more characters; read_more continues)"

    def returned(
        self, world: World, role: str, seat: SeatState, results: Sequence[Result] = ()
    ) -> str:
        """Return what a role reads that has the turn again: the time, and what it was told."""
        seat.away, seat.spell = False, 0
        waited = Result(str(Verb.WAIT), f"Waited until {world.clock.minute}.")
        return self.observation(world, role, seat, [*results, waited])

    def told(self, world: World, role: str, seat: SeatState) -> str:
        """Return what a role was told since it last read, and take it as read."""
        notices = world.notices
        if seat.told == len(notices):
            return ""
        fresh, seat.told = notices[seat.told :], len(notices)
        return told(fresh, role, dated=self._config.show_clock)


def _running_out(left: int, budget: int) -> str:
    """Return how many calls are left, when there are few of what may be many."""
    if left == 1:
        return "\n(1 call left)"
    return f"\n({left} calls left)" if left in _FEW and left * _SHARE <= budget else ""


def told(notices: Sequence[Notice], role: str, *, dated: bool) -> str:
    """Return what a role was told, a line for each notice."""
    return "\n".join(
        f"({notice.at:%Y-%m-%d %H:%M}) {notice.text}" if dated else notice.text
        for notice in notices
        if notice.role == role
    )
