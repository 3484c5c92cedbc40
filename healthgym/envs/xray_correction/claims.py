"""What a sentence of findings claims, and how two claims differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject

LEFT, RIGHT = "left", "right"
SIDES = (RIGHT, LEFT)
ZONES = ("upper", "mid", "lower")
SEVERITIES = ("mild", "severe")
CHANGES = ("unchanged", "worsened", "improved")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement about one entity.

    Attributes:
        entity: What it is about, a key of ``data/entities.json``.
        present: Whether it is said to be there (a heart enlarged, a volume abnormal, a device in
            place); None where the text does not say.
        side: ``"left"``, ``"right"``, ``"bilateral"`` or empty.
        place: Zone of the lung, site of a tip, or state; empty if not said.
        severity: ``"mild"``, ``"moderate"``, ``"severe"`` or empty.
        count: How many; 0 if not said.
        change: ``"unchanged"``, ``"worsened"``, ``"improved"``, ``"new"``, ``"resolved"`` (it is
            absent, and was not) or empty.
        certain: Whether it is said without reserve.
        kind: What narrows a denial ("no *linear* atelectasis"); empty if the whole is denied, or
            if it is there.

    A value that is denied, and leaves open which one holds, begins with ``not:``. A claim that
    something is absent may be of a side, place or size only.
    """

    entity: str
    present: bool | None = True
    side: str = ""
    place: str = ""
    severity: str = ""
    count: int = 0
    change: str = ""
    certain: bool = True
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Entity:
    """What may be said of an entity.

    Attributes:
        name: Its name.
        sides: Whether it has a side.
        severities: Whether it has a severity.
        zones: Whether its place is a zone of the lung.
        places: Its other places or states.
        counts: How many there may be.
        change: Whether it can be compared with a prior study.
        negative: Whether reports say that it is not there.
        normal: Whether its absence is called normal.
        device: Whether it is a device, which is there when it is mentioned.
        place_principle: The swap principle that changes its place.
        plain: Whether it is only there or not.
    """

    name: str
    sides: bool = False
    severities: bool = False
    zones: bool = False
    places: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    change: bool = False
    negative: bool = False
    normal: bool = False
    device: bool = False
    place_principle: str = "P6"
    plain: bool = False


class ErrorClass(StrEnum):
    """The six classes of errors that CheXprompt counts."""

    FALSE_FINDING = "A_false_finding"
    OMISSION = "B_omission"
    LOCATION = "C_location"
    SEVERITY = "D_severity"
    COMPARISON_ADDED = "E_comparison_added"
    COMPARISON_OMITTED = "F_comparison_omitted"


@dataclass(frozen=True, slots=True)
class ClaimError:
    """One difference between a candidate and the reference.

    Attributes:
        error: Its class.
        entity: What it is about.
        significant: Whether it is clinically significant: something said that is not so, or a
            side, size, place or comparison left out. Only that something is absent may stay unsaid.
    """

    error: ErrorClass
    entity: str
    significant: bool = True


@cache
def entities() -> Mapping[str, Entity]:
    """Return the entities by name."""
    return {name: _entity(name, row) for name, row in load("entities.json").items()}


def _entity(name: str, row: JsonObject) -> Entity:
    kept = {key: value for key, value in row.items() if key not in ("swaps", "normal")}
    for key in ("places", "counts"):
        if key in kept:
            kept[key] = tuple(kept[key])
    return Entity(name, normal="normal" in row, **kept)


@cache
def load(name: str) -> JsonObject:
    """Return a JSON file of the family."""
    text = files("healthgym.envs.xray_correction").joinpath(f"data/{name}").read_text("utf-8")
    return dict(json.loads(text))


def compare(truth: Claim, said: Claim) -> list[ClaimError]:
    """Return how a claim differs from the truth about the same entity."""
    name, found = truth.entity, []
    if said.present is not None and truth.present is not None and said.present != truth.present:
        kind = ErrorClass.FALSE_FINDING if said.present else ErrorClass.OMISSION
        return [ClaimError(kind, name)]
    if said.certain != truth.certain:
        found.append(ClaimError(ErrorClass.FALSE_FINDING, name))
    for attribute, kind in (
        ("side", ErrorClass.LOCATION),
        ("place", ErrorClass.LOCATION),
        ("severity", ErrorClass.SEVERITY),
        ("count", ErrorClass.SEVERITY),
    ):
        if getattr(truth, attribute) != getattr(said, attribute):
            found.append(ClaimError(kind, name))
    if truth.kind != said.kind:
        # What is not denied may stay unsaid.
        found.append(ClaimError(ErrorClass.OMISSION, name, significant=False))
    if (truth.present is None) != (said.present is None):
        found.append(ClaimError(ErrorClass.OMISSION, name))
    if truth.change != said.change:
        kind = ErrorClass.COMPARISON_ADDED if said.change else ErrorClass.COMPARISON_OMITTED
        found.append(ClaimError(kind, name))
    return found


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence and what it claims.

    Attributes:
        text: The sentence, with its full stop.
        claims: Its claims, in their order; none where nothing could be read.
        unread: What else it says, word by word.
    """

    text: str
    claims: tuple[Claim, ...] = ()
    unread: tuple[str, ...] = ()
