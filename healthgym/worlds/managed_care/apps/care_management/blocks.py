"""Why an assessment cannot go on: one of a few kinds, and the person's own words for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from healthgym.worlds.managed_care.conversation.persona import BlockedBecause
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

_FORM = re.compile(
    r"\s*(?P<kind>[a-z_]+)\s*:\s*"
    '["\N{LEFT DOUBLE QUOTATION MARK}](?P<words>.+)["\N{RIGHT DOUBLE QUOTATION MARK}]\\s*',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A reason for which an assessment stands still.

    Attributes:
        kind: What stands in the way.
        words: How the person said it.
    """

    kind: BlockedBecause
    words: str


def read_block(text: str) -> Block | None:
    """Return the reason that a text gives, as in ``legal: "My lawyer said no."``; None if none."""
    found = _FORM.fullmatch(text)
    if found is None or found["kind"] not in set(BlockedBecause) or not found["words"].strip():
        return None
    return Block(kind=BlockedBecause(found["kind"]), words=found["words"].strip())


def require_block(text: str) -> None:
    """Refuse a reason that is not of the form which the handbook gives.

    Raises:
        Refusal: Naming the form.
    """
    if read_block(text) is None:
        raise Refusal(
            RefusalCode.MISSING_TEXT,
            f"blocked_reason: {text[:60]!r} is no kind, a colon and the person's words in "
            f'quotation marks, as in legal: "My lawyer said no."; kinds are '
            f"{', '.join(BlockedBecause)}.",
        )
