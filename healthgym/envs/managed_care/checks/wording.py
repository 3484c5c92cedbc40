"""What a text in somebody's own words costs where it says what nobody could see.

Readers of free text go by words and may be wrong about some of them: whoever did all the work and
says one thing in a way that no file bears out has not succeeded, yet keeps most of the progress.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

#: Share of the progress that each text costs.
_EACH = 0.2


class Flaw(NamedTuple):
    """What is wrong with a text.

    Attributes:
        what: The words, and why they cannot stand.
        grave: Whether nothing beside it can stand: a form not filled in, abuse, words that take
            back what they say or state another decision, a document that is made up.
    """

    what: str
    grave: bool = False


def share_left(flaws: Collection[Flaw]) -> float:
    """Return the share of the progress that flawed texts leave: of a grave one, nothing."""
    if any(flaw.grave for flaw in flaws):
        return 0.0
    return max(0.0, 1.0 - _EACH * len(flaws))
