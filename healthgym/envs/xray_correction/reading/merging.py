"""Joins what a text says of one entity in several places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from healthgym.envs.xray_correction.claims import Claim

_FIELDS = ("side", "place", "severity", "count", "change", "kind")
_SIDES = {"left", "right"}


def merged(claims: Iterable[Claim]) -> list[Claim]:
    """Join claims about one entity that add to each other; keep those that do not agree."""
    found: list[Claim] = []
    for claim in claims:
        for place, known in enumerate(found):
            joined = _join(known, claim)
            if joined is not None:
                found[place] = joined
                break
        else:
            found.append(claim)
    return found


def _join(one: Claim, two: Claim) -> Claim | None:
    if one.entity != two.entity or one.certain != two.certain:
        return None
    for there, absent in ((one, two), (two, one)):
        # "A large effusion on the right, none on the left" speaks of one effusion.
        bare = absent == Claim(absent.entity, False, absent.side)
        if there.present and bare and {there.side, absent.side} == _SIDES:
            return there
        if there.place.startswith("not:") and absent.present is False:
            # "Normal, without hyperinflation."
            return absent
    if None not in (one.present, two.present) and one.present != two.present:
        return None
    pairs = ((getattr(one, name), getattr(two, name)) for name in _FIELDS)
    if any(a and b and a != b for a, b in pairs):
        return None
    return replace(
        one,
        present=two.present if one.present is None else one.present,
        side=one.side or two.side,
        place=one.place or two.place,
        severity=one.severity or two.severity,
        count=one.count or two.count,
        change=one.change or two.change,
        kind=one.kind or two.kind,
    )
