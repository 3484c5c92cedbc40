"""What somebody adds to a letter in words of their own, and whether it can stand there.

A letter states its decision and its appeal rights by the records. A remark under it may say the
contrary all the same: "your request has been denied" under an approval is a denial for whoever
reads it, and "you have three days to appeal" takes a right away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.appeal_words import AppealRights, misinforms
from healthgym.worlds.managed_care.apps.payer import letter_texts
from healthgym.worlds.managed_care.grounds import groundless
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.own_words import Said, says, unsound
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.service_levels import case_timers
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What heads a remark in a letter that is rendered from the records.
REMARKS, AGAIN = "\n\nRemarks: ", "\n\nIssued again: "
_ADDED = re.compile(f"{REMARKS}|{AGAIN}")
#: What a letter may not say, by its type; one in part tells of either, and of neither as a whole.
_CONTRARY: Mapping[LetterType, tuple[Said, ...]] = {
    LetterType.APPROVAL: (Said.DENIED,),
    LetterType.PARTIAL_APPROVAL: (Said.WHOLE,),
    LetterType.DENIAL: (Said.APPROVED,),
    LetterType.PEND: (Said.DENIED, Said.APPROVED),
}
_BASIS, _APPEALS = "supporting_basis", "appeal_information"
_HOURS_OF_A_DAY = 24


def said_otherwise(letter_type: LetterType, text: str) -> str:
    """Return a sentence that says another decision than a type of letter; blank if none does."""
    return says(_CONTRARY.get(letter_type, ()), text)


def require_sound(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    letter_type: LetterType,
    **texts: str | None,
) -> None:
    """Refuse words under a letter that cannot stand there.

    Args:
        world: The world.
        case: The case.
        letter_type: The letter.
        **texts: What somebody adds, by the name of the argument.

    Raises:
        Refusal: Naming the argument.
    """
    for name, text in texts.items():
        if not text:
            continue
        if said_otherwise(letter_type, text):
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"{name}: the letter is of type {letter_type}, and this tells of another decision; "
                "say what was decided, or leave it out.",
            )
        found = unsound(text)
        if found:
            raise Refusal(RefusalCode.UNSUPPORTED_CLAIM, f"{name}: this is {found}; mend it.")
        if misinforms(text, appeal_rights(world, case), about=name == _APPEALS):
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"{name}: this tells of appeals otherwise than the rules and the case have it.",
            )
        if name == _BASIS and groundless(text):
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"{name}: name what the decision rests on: policy, criteria or records.",
            )


def appeal_rights(world: ManagedCareWorld, case: PriorAuthCase) -> AppealRights:
    """Return what holds of appeals of a case: its last day, and the spans of the rules."""
    rules = world.operations
    spans = {
        getattr(rules, name) / (_HOURS_OF_A_DAY if "hours" in name else 1)
        for name in _of_appeals()
        if isinstance(getattr(rules, name), int)
    }
    filing = {case_timers(rules).appeal / timedelta(days=1), float(rules.external_appeal_days)}
    last = case.appeal_due_at.date() if case.appeal_due_at else None
    written = world.clock.now.date()
    return AppealRights(written, last, frozenset(filing), frozenset(spans | filing))


@cache
def _of_appeals() -> tuple[str, ...]:
    """Return the names of the rules of appeals."""
    beginnings = ("internal_", "external_", "appeal_")
    return tuple(one.name for one in fields(OperatingRules) if one.name.startswith(beginnings))


def contrary(
    world: ManagedCareWorld, case: PriorAuthCase, letter: Letter, *, rendered: bool
) -> bool:
    """Return whether a letter holds words of somebody's own that cannot stand in it.

    Args:
        world: The world.
        case: The case.
        letter: The letter.
        rendered: Whether its text comes from the records, with remarks under it; else all of it is
            somebody's own.
    """
    kind, rights = LetterType(letter.letter_type), appeal_rights(world, case)
    own = tuple(added(letter.body)) if rendered else (letter.body,)
    basis = letter.supporting_basis or ""
    # The office's own phrase is nobody's fault, whatever days it names.
    standing = letter_texts.wording()[_APPEALS]
    told = letter.appeal_information or ""
    told = "" if told == standing else told
    # Elsewhere the office itself takes the policy's summary for it.
    return (rendered and bool(basis) and groundless(basis)) or any(
        said_otherwise(kind, text) or unsound(text) or misinforms(text, rights, about=text is told)
        for text in (*own, basis, told)
    )


def added(body: str) -> Iterator[str]:
    """Yield what was added to a letter that is rendered from the records."""
    yield from _ADDED.split(body)[1:]
