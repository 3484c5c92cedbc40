"""By which channel a request goes today, from the handbook's page on channels."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Where the page is.
PATH = "provider-pa/operational/submission-channels.md"
_OWN = re.compile(r"An \*\*expedited\*\* request goes by `(\w+)`")
_LIMIT = re.compile(r"`(\w+)`, (?:at most \*\*(\d+)\*\* documents|any number)")


@dataclass(frozen=True, slots=True)
class Channels:
    """Which channel takes what.

    Attributes:
        expedited: The channel of expedited requests; empty if they go by size as others do.
        limits: Channels in the order in which they are tried, each with the most documents that
            it takes; None for any number.
    """

    expedited: str
    limits: tuple[tuple[str, int | None], ...]

    def channel(self, urgency: str, documents: int) -> str:
        """Return the channel of a request.

        Args:
            urgency: ``standard`` or ``expedited``.
            documents: How many documents its packet lists.
        """
        if urgency == "expedited" and self.expedited:
            return self.expedited
        taking = (name for name, most in self.limits if most is None or documents <= most)
        return next(taking, "portal")


def read_channels(page: str) -> Channels:
    """Return what the page says."""
    own = _OWN.search(page)
    limits = tuple((name, int(most) if most else None) for name, most in _LIMIT.findall(page))
    return Channels(own[1] if own else "", limits)
