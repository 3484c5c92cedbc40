"""Whether a letter states what its type must state, by what held when it was written."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.payer import letter_texts
from healthgym.worlds.managed_care.apps.payer.letter_remarks import AGAIN, REMARKS
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def lacking(world: ManagedCareWorld, letter: Letter) -> list[str]:
    """Return what a letter must state and does not, by the names that the rules give it.

    As long as the case stands where the letter left it, each fact is compared with the records.
    Once the case has moved on (a request was answered, a denial appealed) they tell of something
    else; a letter is rendered from what they were, and lacks then what it leaves blank.

    Args:
        world: The world, a strict one.
        letter: The letter.
    """
    kind, written_at = LetterType(letter.letter_type), _first(world, letter).created_at
    stated = dict(letter_texts.facts(world, world.cases.get(letter.case_id), kind))
    stated["date"] = letter_texts.day(world, written_at)  # a letter keeps its own
    missing = letter_texts.gaps(world, kind, stated, letter.body)
    moves = world.history.of(letter.case_id, EntryKind.TRANSITION)
    if not missing or all(move.at <= written_at for move in moves):
        return missing
    found, keys = _form(kind).match(letter.body), letter_texts.wording()["slots"]
    said = found.groupdict("") if found else {}
    return [name for name in missing if not said.get(keys[name], "").strip()]


def _first(world: ManagedCareWorld, letter: Letter) -> Letter:
    """Return the letter that another repeats, or itself."""
    earlier = world.letters.letters.get(letter.reissued_from_letter_id or "")
    return _first(world, earlier) if earlier is not None else letter


@cache
def _form(kind: LetterType) -> re.Pattern[str]:
    """Return what finds the facts in a letter as it is rendered, whatever was added below."""
    # What has no words of the letter before it is told from what precedes it by its own heading.
    heading = re.escape(str(letter_texts.wording()["criteria_in_words"]))
    headed = {"criteria_asked": rf"(?:\n{heading}.*?)?"}
    parts, names = [], set[str]()
    for text, name, *_ in Formatter().parse(letter_texts.form(kind)):
        parts.append(r"\s*".join(map(re.escape, re.split(r"\s*\n\s*", text))))
        if name:
            facts = f"(?P<{name}>{headed.get(name, '.*?')})"
            parts.append(f"(?P={name})" if name in names else facts)
            names.add(name)
    added = f"(?:(?:{re.escape(REMARKS)}|{re.escape(AGAIN)}).*)?"
    return re.compile("".join(parts) + rf"\s*{added}\Z", re.DOTALL)
