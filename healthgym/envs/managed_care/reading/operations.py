"""The numbers of operations, read from the handbook's pages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from healthgym.errors import DataError
from healthgym.worlds.managed_care.vocabulary.authorization import SubmissionChannel

_EXPEDITED = re.compile(r"An \*\*expedited\*\* request goes by `(\w+)`")
_FIRST = re.compile(r"the first of these that takes its packet: (.+)")
_FOLLOW_UP = re.compile(r"takes the order up again \*\*(\d+) calendar days\*\* after")
_STEP = re.compile(r"`(\w+)`, (?:at most \*\*(\d+)\*\* documents|any number)")


class UnreadableRuleError(DataError):
    """A page does not state its rule as it usually does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRule:
    """By which channel a request goes.

    Attributes:
        steps: Channels by size of the packet: the most documents, None for any number.
        expedited: The channel of expedited requests; None if they go by size, too.
    """

    steps: tuple[tuple[SubmissionChannel, int | None], ...]
    expedited: SubmissionChannel | None

    def channel(self, *, expedited: bool, documents: int) -> SubmissionChannel:
        """Return the channel of a request whose packet lists so many documents."""
        if expedited and self.expedited is not None:
            return self.expedited
        return next(name for name, most in self.steps if most is None or documents <= most)


def read_channels(page: str) -> ChannelRule:
    """Return what the page on submission channels says.

    Raises:
        UnreadableRuleError: If it does not say by which channels packets of any size go.
    """
    own, first = _EXPEDITED.search(page), _FIRST.search(page)
    steps = tuple(
        (SubmissionChannel(name), int(most) if most else None)
        for name, most in _STEP.findall(first[1] if first else "")
    )
    if not steps or steps[-1][1] is not None:
        raise UnreadableRuleError("The page names no channel that takes any number of documents.")
    return ChannelRule(steps=steps, expedited=SubmissionChannel(own[1]) if own else None)


def read_follow_up(page: str) -> int:
    """Return how many days after a request that is not sent its order is taken up again.

    Raises:
        UnreadableRuleError: If the page on deciding does not say so.
    """
    found = _FOLLOW_UP.search(page)
    if found is None:
        raise UnreadableRuleError("The page names no day on which an order is taken up again.")
    return int(found[1])
