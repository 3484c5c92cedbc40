"""A thorax as numbers: one person's build, and what a study finds in that person.

Lengths are millimetres in the plane of the detector, as seen from the front: x runs from the
middle to the right of the picture, which is the patient's left, y runs down from the top.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np


class Projection(StrEnum):
    """How a radiograph was taken."""

    PA = "PA"
    AP = "AP"
    LATERAL = "LATERAL"


@dataclass(frozen=True, slots=True)
class Sight:
    """Something that shows on a radiograph.

    Attributes:
        kind: What it is, such as ``"effusion"`` or ``"chest_tube"``.
        side: ``"left"``, ``"right"``, ``"bilateral"``, or empty where there are no sides.
        place: Where: ``"upper"``, ``"mid"`` or ``"lower"`` for lungs; the site of a device's tip.
        amount: How much, from 0 (nothing) to about 1.1; what it means depends on the kind.
        count: How many.
    """

    kind: str
    side: str = ""
    place: str = ""
    amount: float = 0.0
    count: int = 1

    def on(self, side: str) -> bool:
        """Return whether it is on a side."""
        return self.side in (side, "bilateral")


@dataclass(frozen=True, slots=True)
class Build:
    """What stays the same in one person.

    Attributes:
        seed: Seed of everything irregular: vessels, texture, bones.
        half_width: Half of the inner width of the thorax at its widest.
        apex: Height of the lung apices.
        dome: Height of the right dome of the diaphragm at a normal breath.
        fat: Thickness of the soft tissue over the ribs.
        ribs: Drop of a rib from back to front.
        breasts: Thickness of breast tissue; 0 for none.
        age: Age in years.
        female: Sex.
    """

    seed: int
    half_width: float
    apex: float
    dome: float
    fat: float
    ribs: float
    breasts: float
    age: int
    female: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A person on the day of a study.

    Attributes:
        build: The person.
        exposure: Seed of the noise and the small differences of position of this study.
        sights: What there is to see.
        ratio: Width of the heart over the inner width of the thorax.
        breath: Shift of the diaphragm from a normal breath; positive is a deeper one.
        shift: Sideways displacement of the patient.
        supine: Whether the patient lies, and was imaged from the front.
    """

    build: Build
    exposure: int
    sights: tuple[Sight, ...] = field(default_factory=tuple)
    ratio: float = 0.45
    breath: float = 0.0
    shift: float = 0.0
    supine: bool = False

    def find(self, kind: str) -> tuple[Sight, ...]:
        """Return the sights of a kind."""
        return tuple(sight for sight in self.sights if sight.kind == kind)

    def first(self, kind: str) -> Sight | None:
        """Return the first sight of a kind, if there is one."""
        return next(iter(self.find(kind)), None)


def draw_build(rng: np.random.Generator) -> Build:
    """Draw a person."""
    female = bool(rng.integers(2))
    return Build(
        seed=int(rng.integers(2**31)),
        half_width=float(rng.uniform(133, 145) - 4 * female),
        apex=float(rng.uniform(42, 52)),
        dome=float(rng.uniform(282, 294)),
        fat=float(rng.uniform(8, 26)),
        ribs=float(rng.uniform(62, 84)),
        breasts=float(rng.uniform(14, 32)) if female else 0.0,
        age=int(rng.integers(24, 92)),
        female=female,
    )
