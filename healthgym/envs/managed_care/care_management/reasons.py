"""Why an episode was ended, as the reason on record says it, or an assessment broken off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from healthgym.envs.managed_care.care_management.words import words
from healthgym.worlds.managed_care.conversation.persona import BlockedBecause


class EndedBecause(StrEnum):
    """Reasons for which an episode ends, as the handbook has them."""

    DECLINED = "declined"
    UNREACHABLE = "unreachable"
    GOALS_MET = "goals_met"
    NOT_ELIGIBLE = "not_eligible"
    MOVED = "moved"
    UNABLE = "unable"


def read_ending(text: str) -> frozenset[EndedBecause]:
    """Return the reasons that a text gives for ending an episode; what it negates is none.

    ``Could not be reached`` and ``did not want it`` are reasons in themselves; ``has not declined``
    is none.
    """
    flat = " ".join(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    found = frozenset(
        kind
        for kind, form in _forms().items()
        if any(not _negated().search(flat[: each.start()]) for each in form.finditer(flat))
    )
    # "Cannot consent" is no "did not consent".
    unable = EndedBecause.UNABLE in found
    return found - {EndedBecause.DECLINED} if unable else found


def read_break(text: str) -> BlockedBecause:
    """Return why somebody broke off, from what they said; private where nothing else is heard."""
    flat = " ".join(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    for kind, forms in words().blocked.items():
        if any(form in flat for form in forms):
            return BlockedBecause(kind)
    return BlockedBecause.PRIVATE


@cache
def _forms() -> Mapping[EndedBecause, re.Pattern[str]]:
    return {
        EndedBecause(kind): re.compile(rf"(?<![a-z])(?:{'|'.join(forms)})")
        for kind, forms in words().ended.items()
    }


@cache
def _negated() -> re.Pattern[str]:
    return re.compile(words().negated)
