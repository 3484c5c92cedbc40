"""What a synthetic slide is made of, before anything is looked at.

A scene is a few numbers and three smooth fields; everything else about the slide follows from them
and from hashes of places. Lengths are level-0 pixels of 0.25 um.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields

from healthgym.worlds.slides.lattice import ScalarField
from healthgym.worlds.slides.stain import Stain

#: Micrometres per level-0 pixel of every synthetic slide.
MPP = 0.25


def um(length: float) -> float:
    """Return a length in micrometres as level-0 pixels."""
    return length / MPP


@dataclass(frozen=True, slots=True)
class Node:
    """The outline of one piece of lymph node: an ellipse with waves.

    Attributes:
        x: Centre, in level-0 pixels.
        y: Centre.
        a: Half axis along ``angle``.
        b: The other half axis.
        angle: In radians.
        waves: Amplitude, relative to the radius, and phase of the waves 1, 2, 3, ...
    """

    x: float
    y: float
    a: float
    b: float
    angle: float
    waves: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TumorLook:
    """What the cells of a metastasis look like, and how they are arranged.

    Attributes:
        size: Smallest and largest nuclei, as shares of the library ordered by size.
        pitch: Distance of nuclei, in level-0 pixels.
        density: Haematoxylin relative to the library.
        stroma: Share of the tumour that is stroma between nests, in [0, 0.5].
        nest: Size of nests, in level-0 pixels.
        lumens: Share of nests with a lumen (glands), in [0, 1].
        lymphocytes: Lymphocytes left among the cells, in [0, 1].
        cytoplasm: Amount of eosin of the cytoplasm.
    """

    size: tuple[float, float] = (0.2, 1.0)
    pitch: float = 46.0
    density: float = 1.0
    stroma: float = 0.25
    nest: float = 420.0
    lumens: float = 0.0
    lymphocytes: float = 0.1
    cytoplasm: float = 0.32


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line across the slide: a fold, a scratch of the knife, or a stroke of a pen.

    Attributes:
        kind: ``"fold"``, ``"knife"`` or ``"pen"``.
        x: A point of the line, in level-0 pixels.
        y: That point.
        angle: Direction, in radians.
        length: Half length.
        width: Half width.
        bend: How far its ends bend away, in level-0 pixels.
        colour: Light that passes the ink in red, green and blue; for pens.
    """

    kind: str
    x: float
    y: float
    angle: float
    length: float
    width: float
    bend: float
    colour: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Disc:
    """A round artefact: a region out of focus, or an air bubble.

    Attributes:
        kind: ``"blur"`` or ``"bubble"``.
        x: Centre, in level-0 pixels.
        y: Centre.
        radius: Radius.
    """

    kind: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A synthetic slide.

    Attributes:
        seed: Seed of all hashes.
        width: Width at level 0, in pixels.
        height: Height at level 0.
        nodes: Pieces of lymph node.
        tumor: Depth below the outline of the metastases, positive inside, in level-0 pixels.
        histiocytes: Likewise of sheets of histiocytes.
        sclerosis: Likewise of scars.
        look: What tumour cells look like.
        stain: How the slide is stained.
        follicles: Share of places in the cortex that have a follicle.
        fat: How far fat reaches around the nodes, in level-0 pixels.
        medulla: Relative depth at which sinuses begin to cross the node, in (0, 1).
        strokes: Folds, knife lines and pen marks.
        discs: Regions out of focus and bubbles.
    """

    seed: int
    width: int
    height: int
    nodes: tuple[Node, ...]
    tumor: ScalarField
    histiocytes: ScalarField
    sclerosis: ScalarField
    look: TumorLook
    stain: Stain
    follicles: float = 0.6
    fat: float = 4000.0
    medulla: float = 0.5
    strokes: tuple[Stroke, ...] = field(default=())
    discs: tuple[Disc, ...] = field(default=())

    def content_hash(self) -> str:
        """Return a hex digest of all there is."""
        digest = hashlib.blake2b(digest_size=16)
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, ScalarField):
                digest.update(value.values.tobytes())
            else:
                digest.update(repr(value).encode())
        return digest.hexdigest()
