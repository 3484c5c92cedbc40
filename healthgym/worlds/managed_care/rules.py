"""How strictly the offices keep their own rules, and who plays the payer."""

from __future__ import annotations

from enum import StrEnum


class Rules(StrEnum):
    """Which rules a world keeps; it has nothing to do with how an episode is scored."""

    STRICT = "strict"  #: roles, independence, order, content and dates are checked
    COMPAT = "compat"  #: the source's permissiveness, call by call, for parity
