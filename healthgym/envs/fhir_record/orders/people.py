"""Whether free words say that an order is about another person than its subject."""

from __future__ import annotations

import re
from collections.abc import Set

#: A record number as the charts have them.
_NUMBER = re.compile(r"\bS\d{7}\b", re.IGNORECASE)
#: Who is named behind "patient": two words in capitals, an initial between them at most.
_NAMED = re.compile(
    r"\b(?:patient|pt)(?:'s name)?(?: name)?(?: is|:| -|,)? +"
    r"(?-i:(?P<first>[A-Z][a-z]+) (?:[A-Z]\.? )?(?P<last>[A-Z][a-z]+))(?=$|[.,;()]| mrn\b| is\b)",
    re.IGNORECASE,
)
#: Words that are set in capitals behind "patient" and are no names.
_NO_NAMES = frozenset(
    {"education", "safety", "care", "instructions", "instruction", "consent", "provided", "given",
     "obtained", "protocol", "status", "history", "aware", "agrees", "counseled", "identity",
     "verified", "confirmed", "information", "due", "overdue", "has", "is", "needs", "with", "on",
     "portal", "message", "sent", "services", "reviewed", "chart", "inpatient", "outpatient"}
)  # fmt: skip


def names_another(text: str, names: Set[str]) -> bool:
    """Return whether a text gives another patient's number, or calls the patient by another name.

    Args:
        text: Free text as written.
        names: Words of the patient's names and the id, lower case; with the id alone any name
            passes.
    """
    if any(number.lower() not in names for number in _NUMBER.findall(text)):
        return True
    if len(names) == 1:
        return False
    called = ({one["first"].lower(), one["last"].lower()} for one in _NAMED.finditer(text))
    return any(not name & (names | _NO_NAMES) for name in called)
