"""Whether a reason names something that a decision can rest on, and nothing that it cannot.

It can rest on the policy and its criteria, on what was sent, and on who asks for what; on nobody's
friends, feelings, gain, chance or habit.
"""

from __future__ import annotations

from healthgym.worlds.managed_care.word_forms import form


def groundless(text: str) -> bool:
    """Return whether a reason names nothing that a decision can rest on, or what none may."""
    small = " ".join(text.casefold().replace("’", "'").split())
    return not form("grounds").search(small) or bool(form("improper").search(small))
