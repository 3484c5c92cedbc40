"""What a record of the practice says beside ids: one day, one version, the service ordered."""

from __future__ import annotations

import re
from datetime import date

from healthgym.envs.managed_care.reading.reasons import read_reason
from healthgym.worlds.managed_care.stated import days_in

_VERSION = re.compile(r"(?<![\d.])20\d\d\.\d+(?!\.?\d)")
#: Parts of a record, each about one thing; the point of a number ends none.
_PART = re.compile(r"(?:[^.;!?\n]|\.(?=\d))+")
_AGAIN = re.compile(
    r"\b(?:again|follow(?:s|ed|ing)?(?:[ -]?up)?|take[ns]? up|revisit\w*|re-?check)\b"
)
_WORD = re.compile(r"[a-z0-9]{3,}")
#: Share of the words of a description that the order has, too, above which both mean the same.
_SHARED = 0.5
#: Parts before a day in which it is told what it is the day of; a title's point ends one, too.
_BEFORE = 2


def alone_again(reason: str, day: date, today: date) -> bool:
    """Return whether a reason names a day of follow-up, and no others to choose from.

    Beside each gap the day may stand by which somebody is to close it.

    Args:
        reason: The reason of a determination.
        day: The right day.
        today: That of the request; days up to it are those of what is on file.
    """
    parts = [part.lower() for part in _PART.findall(reason)]
    ahead = [(part, {each for each in days_in(part) if each > today}) for part in parts]
    holding = [place for place, (_, days) in enumerate(ahead) if day in days]
    again = [days for part, days in ahead if days and _AGAIN.search(part)]
    held = [ahead[place][1] for place in holding]
    if not held or not all(days == {day} for days in (*held, *again)):
        return False
    # "C7 wants 120 months without one. The last is of 2022, so the period runs to 2032."
    after = (
        " ".join(one for one, _ in ahead[max(place - _BEFORE, holding[-1] + 1) : place + 1])
        for place, (part, days) in enumerate(ahead)
        if days and place > holding[-1]
    )
    named = read_reason(reason)
    others = set().union(*(days for _, days in ahead)) - {day}
    return all(map(_of_a_gap, after)) and len(others) <= len(named.criteria) + len(named.kinds)


def _of_a_gap(part: str) -> bool:
    """Return whether a part of a record is about a criterion or a document."""
    named = read_reason(part)
    return bool(named.criteria or named.kinds)


def of_version(reason: str, version: str) -> bool:
    """Return whether a reason names no other version of its policy than the one in force."""
    return set(_VERSION.findall(reason)) <= {version}


def has_grounds(rationale: str, policy: str, version: str) -> bool:
    """Return whether an appeal names the policy in force and its version."""
    said = rationale.casefold()
    return policy.casefold() in said and version in _VERSION.findall(said)


def describes(words: str, ordered: str) -> bool:
    """Return whether a description says mostly what the order says, maybe in shorter words."""
    known = set(_WORD.findall(ordered.lower()))
    said = _WORD.findall(words.lower())
    shared = [w for w in said if any(k.startswith(w[:4]) or w.startswith(k) for k in known)]
    return len(shared) > _SHARED * len(said)
