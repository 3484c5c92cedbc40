"""What each seat of the drill is played with: few tools, which say little."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.family import Role
from healthgym.core.verbs import Verb
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.envs.managed_care.tools.review import ReviewToolset
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER

#: Name of the difficulty.
DRILL = "drill"
#: Calls of a seat at most.
TURNS = 8
#: The tools that each seat is played with.
TOOLS: Mapping[str, tuple[str, ...]] = {
    PROVIDER: (
        "handbook.read",
        "auth.finalize_provider_determination",
        "auth.submit_authorization",
        "auth.respond_to_pend",
        "finish",
    ),
    PAYER: (
        "handbook.read",
        "review.save_md_review",
        "review.submit_md_case_decision",
        "finish",
    ),
}


class _Quiet:
    """Tools that say of a record only that it is made."""

    def show(self, result: object) -> str:
        """Return no more than that it was done."""
        return "Done."


class DrillAuthToolset(_Quiet, AuthToolset):
    """Decide, submit and answer the payer."""


class DrillReviewToolset(_Quiet, ReviewToolset):
    """Findings on the criteria of a case, and the physician's decision."""


_FINISH = frozenset({Verb.FINISH})
ROLES: Mapping[str, Role] = {
    PROVIDER: Role([HandbookToolset, DrillAuthToolset], _FINISH, only=TOOLS[PROVIDER]),
    PAYER: Role([HandbookToolset, DrillReviewToolset], _FINISH, only=TOOLS[PAYER], waits=True),
}
