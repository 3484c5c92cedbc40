"""What the reason of a determination names: a policy, criteria, kinds of documents, codes, days.

Ids, kinds, codes and days are read wherever they stand, in any order and between any words.
Nothing else in the text counts. A reason has to show what it rests on, since the right class of
decision alone can be guessed: of every twelve requests one is right to be left for any one reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from healthgym.worlds.managed_care.policies.naming import criteria_named
from healthgym.worlds.managed_care.stated import days_in
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderFindingCode,
    UploadableDocumentKind,
)

_KINDS = {
    str(kind): re.compile(rf"(?<![a-z]){str(kind).replace('_', '[ _-]')}s?(?![a-z])")
    for kind in UploadableDocumentKind
    if kind is not UploadableDocumentKind.OTHER
}
_CODES = {
    str(code): re.compile(rf"(?<![a-z]){str(code).replace('_', '[ _-]')}(?![a-z])")
    for code in ProviderFindingCode
}
#: What is said to be missing.
_MISSING = re.compile(r"\bmissing\b[^;.(\u2013\u2014]*")


@dataclass(frozen=True, slots=True)
class Reason:
    """What a reason names.

    Attributes:
        text: The reason in small letters, each run of white space as one space.
        policies: Ids of policies.
        criteria: Ids of criteria; "criterion 3" and "criteria 3 and 4" are C3 and C4.
        kinds: Kinds of documents.
        listed: Those of them that are written as the policy has them, such as ``imaging_report``,
            or said to be missing.
        codes: Finding codes.
        days: Days, written as 2026-02-28, 02/28/2026, 28 February 2026 or Feb 28, 2026.
    """

    text: str
    policies: frozenset[str]
    criteria: frozenset[str]
    kinds: frozenset[str]
    listed: frozenset[str]
    codes: frozenset[str]
    days: frozenset[date]

    def names(self, term: str) -> bool:
        """Return whether a term stands in the text as a whole, in letters of any case."""
        wanted = _flat(term)
        return re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", self.text) is not None


def read_reason(text: str, policies: Iterable[str] = ()) -> Reason:
    """Return what a text names.

    Args:
        text: The reason.
        policies: Ids of all policies there are. The id of a policy for another plan begins with
            that of its sibling, and is taken whole.
    """
    flat = _flat(text)
    ids = sorted(policies, key=len, reverse=True)
    known = {each.lower(): each for each in ids}
    form = "|".join(re.escape(each) for each in known)
    found = re.findall(rf"(?<![a-z0-9])(?:{form})(?![a-z0-9])", flat) if form else []
    return Reason(
        text=flat,
        policies=frozenset(known[each] for each in found),
        criteria=criteria_named(flat),
        kinds=frozenset(kind for kind, each in _KINDS.items() if each.search(flat)),
        listed=frozenset(
            kind
            for kind, each in _KINDS.items()
            if kind in flat or any(map(each.search, _MISSING.findall(flat)))
        ),
        codes=frozenset(code for code, each in _CODES.items() if each.search(flat)),
        days=days_in(flat),
    )


def _flat(text: str) -> str:
    return " ".join(text.lower().split())
