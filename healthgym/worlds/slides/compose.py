"""Drawing a scene: how large, which tissue, which lesions, which stain, which artefacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import hypot, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.slides import foci
from healthgym.worlds.slides.anatomy import node_depths
from healthgym.worlds.slides.grid import TILE
from healthgym.worlds.slides.lattice import Floats, ScalarField
from healthgym.worlds.slides.scene import Disc, Node, Scene, Stroke, TumorLook, um
from healthgym.worlds.slides.stain import Stain

_INKS = ((0.25, 0.35, 0.8), (0.2, 0.55, 0.35), (0.3, 0.3, 0.33))


@dataclass(frozen=True, slots=True)
class Recipe:
    """What slides are like.

    Attributes:
        columns: Fewest and most tiles across.
        rows: Fewest and most tiles down.
        tissue: Least and greatest area of all nodes, in tiles.
        nodes: Fewest and most pieces.
        tiles: Fewest and most tumour tiles; drawn evenly on a logarithmic scale.
        contrast: How unlike the tissue tumours look, from 0 (hard) to 1 (blatant).
        mimics: How many sorts of tissue that resemble tumour from afar there are: sheets of
            histiocytes, and scars.
        mimic_tiles: Least and greatest area of each, in tiles.
        follicles: Least and greatest share of places for a follicle that have one.
        artefacts: Most artefacts of a kind.
        clear: Whether the tumour is one focus that fills whole tiles and leaves none in doubt.
    """

    columns: tuple[int, int]
    rows: tuple[int, int]
    tissue: tuple[int, int]
    nodes: tuple[int, int]
    tiles: tuple[int, int]
    contrast: float
    mimics: int
    mimic_tiles: tuple[int, int]
    follicles: tuple[float, float]
    artefacts: int
    clear: bool = False


def draw_scene(rng: np.random.Generator, recipe: Recipe) -> Scene:
    """Draw a slide.

    Size, tissue, tumour and everything else are drawn apart, so that none tells of another.

    Args:
        rng: Source of chance.
        recipe: What slides are like.
    """
    seed = int(rng.integers(2**31))
    width = _side(rng, recipe.columns)
    height = _side(rng, recipe.rows)
    area = float(rng.uniform(*recipe.tissue))
    count = int(rng.integers(recipe.nodes[0], recipe.nodes[1] + 1))
    nodes = _nodes(rng, width, height, area, count)
    xs, ys = foci.axes(width, height)
    # Half as fine as the outlines is enough to keep lesions inside the tissue.
    depth = node_depths(nodes, xs[::2], ys[::2])[0] - np.float32(um(10))
    depth = np.repeat(np.repeat(depth, 2, axis=0), 2, axis=1)[: len(ys), : len(xs)]
    low, high = recipe.tiles
    wanted = round(low * (high / low) ** rng.uniform())
    room = _Room.of(depth)
    if recipe.clear:
        tumor = foci.blob(rng, seed + 71, wanted, depth, xs, ys)
    else:
        tumor = ScalarField(foci.STEP, room.lesion(rng, seed + 71, wanted)())
    others = []
    for number in range(2):
        least, most = recipe.mimic_tiles
        size = round(least * (most / least) ** rng.uniform())
        others.append(
            # Outlined when they are first looked at: what the tumour is does not depend on them.
            ScalarField(foci.STEP, room.lesion(rng, seed + 72 + number, size))
            if number < recipe.mimics
            else foci.nowhere(width, height)
        )
    strokes, discs = _artefacts(rng, width, height, recipe.artefacts)
    return Scene(
        seed,
        width,
        height,
        nodes,
        tumor,
        others[0],
        others[1],
        look=_look(rng, recipe.contrast),
        stain=_stain(rng),
        follicles=float(rng.uniform(*recipe.follicles)),
        fat=um(float(rng.uniform(300, 1500))),
        medulla=float(rng.uniform(0.35, 0.6)),
        strokes=strokes,
        discs=discs,
    )


def _side(rng: np.random.Generator, tiles: tuple[int, int]) -> int:
    """Return a length in level-0 pixels, a multiple of a square of the outlines."""
    low, high = (tiles[0] - 1) * TILE // foci.STEP + 1, tiles[1] * TILE // foci.STEP
    return int(rng.integers(low, high + 1)) * foci.STEP


def _nodes(
    rng: np.random.Generator, width: int, height: int, area: float, count: int
) -> tuple[Node, ...]:
    """Draw pieces of node that keep apart where there is room."""
    area = min(area, 0.62 * width * height / TILE**2)
    shares = rng.dirichlet(np.full(count, 4.0))
    nodes: list[Node] = []
    for share in np.sort(shares)[::-1]:
        radius = sqrt(share * area * TILE**2 / pi)
        stretch = sqrt(rng.uniform(1.0, 1.9))
        a = min(radius * stretch, 0.46 * max(width, height))
        b = min(radius * radius / a, 0.46 * min(width, height))
        along = rng.uniform() < width / (width + height)
        angle = rng.normal() * 0.3 + (0.0 if along else pi / 2)
        if a > 0.46 * min(width, height):
            angle = rng.normal() * 0.08 + (0.0 if width >= height else pi / 2)
        waves = tuple(
            (float(rng.normal() * 0.09 / sqrt(k)), float(rng.uniform(0, 2 * pi)))
            for k in range(1, 7)
        )
        reach = (
            abs(a * np.cos(angle)) + abs(b * np.sin(angle)),
            abs(a * np.sin(angle)) + abs(b * np.cos(angle)),
        )
        best = (-1e9, 0.0, 0.0)
        for _ in range(12):
            x = rng.uniform(
                min(1.12 * reach[0], width / 2), max(width - 1.12 * reach[0], width / 2)
            )
            y = rng.uniform(
                min(1.12 * reach[1], height / 2), max(height - 1.12 * reach[1], height / 2)
            )
            room = min(
                (hypot(x - n.x, y - n.y) - 1.1 * (sqrt(n.a * n.b) + sqrt(a * b)) for n in nodes),
                default=0.0,
            )
            best = max(best, (min(room, 0.0), x, y))
        nodes.append(Node(best[1], best[2], float(a), float(b), float(angle), waves))
    return tuple(nodes)


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """Where lesions may lie.

    Attributes:
        depth: Depth of each square of the outlines below the surface of the tissue.
        centres: Places deep enough for the centre of a focus, shape (n, 2) as x and y.
        rows: Rows of squares with tissue, and a few beyond for what lies between squares.
        columns: Columns of squares, likewise.
    """

    depth: Floats
    centres: NDArray[np.float64]
    rows: slice
    columns: slice

    @classmethod
    def of(cls, depth: Floats) -> _Room:
        """Return the room there is."""
        rows, columns = np.nonzero(depth > um(100))
        places = np.stack([columns, rows], axis=1) * foci.STEP + foci.STEP // 2
        spans = [
            slice(max(int(found.min()) - 6, 0), int(found.max()) + 7) if len(found) else slice(0)
            for found in (rows, columns)
        ]
        return cls(depth, places.astype(np.float64), spans[0], spans[1])

    def lesion(self, rng: np.random.Generator, seed: int, tiles: int) -> Callable[[], Floats]:
        """Draw the foci of a lesion, and return what outlines them."""
        drawn = foci.draw_foci(rng, tiles, self.centres) if len(self.centres) else ()
        return partial(self._outline, seed, drawn, tiles)

    def _outline(self, seed: int, drawn: tuple[foci.Focus, ...], tiles: int) -> Floats:
        height, width = self.depth.shape
        xs, ys = foci.axes(width * foci.STEP, height * foci.STEP)
        field = np.full_like(self.depth, -np.float32(um(1e4)))
        place = (self.rows, self.columns)
        field[place] = foci.outline(seed, drawn, xs[self.columns], ys[self.rows])
        return foci.settle(field, self.depth, tiles)[0].values


def _look(rng: np.random.Generator, contrast: float) -> TumorLook:
    """Draw cells: the higher the contrast, the larger, the more uneven and the purer."""
    low = 0.05 + 0.5 * contrast * rng.uniform(0.5, 1.0)
    high = min(low + 0.45 + 0.3 * rng.uniform(), 1.0)
    # Nuclei of a mean radius of 15 to 26 pixels, a little apart.
    diameter = 2 * (15 + 11 * (low + high) / 2)
    return TumorLook(
        size=(float(low), float(high)),
        pitch=float(diameter * rng.uniform(1.08, 1.35)),
        density=float(rng.uniform(0.75, 1.1)),
        stroma=float(rng.uniform(0.08, 0.35) * (1 - 0.6 * contrast)),
        nest=um(float(rng.uniform(70, 180))),
        lumens=float(rng.uniform(0.3, 0.9)) if rng.uniform() < 0.35 else 0.0,
        lymphocytes=float(rng.uniform(0.04, 0.22) * (1 - 0.7 * contrast)),
        cytoplasm=float(rng.uniform(0.28, 0.44)),
    )


def _stain(rng: np.random.Generator) -> Stain:
    """Draw a batch of stain, and the light of the scanner."""
    blue, pink = rng.uniform(0.85, 1.15), rng.uniform(0.8, 1.25)
    hue = rng.normal(0, 0.03, 6)
    glass = rng.uniform(0.93, 0.97)
    return Stain(
        haematoxylin=(
            float(blue * (0.58 + hue[0])),
            float(blue * (0.76 + hue[1])),
            float(blue * (0.33 + hue[2])),
        ),
        eosin=(
            float(pink * (0.12 + hue[3])),
            float(pink * (0.88 + hue[4])),
            float(pink * (0.45 + hue[5])),
        ),
        glass=(float(glass), float(glass - 0.004), float(glass + 0.006)),
        drift=float(rng.uniform(-0.12, 0.12)),
    )


def _artefacts(
    rng: np.random.Generator, width: int, height: int, most: int
) -> tuple[tuple[Stroke, ...], tuple[Disc, ...]]:
    """Draw folds, scratches, ink, bubbles and regions out of focus."""
    side = min(width, height)
    ranges = {
        "fold": ((0.06, 0.2), (um(25), um(70))),
        "knife": ((0.2, 0.6), (um(2), um(6))),
        "pen": ((0.05, 0.2), (um(250), um(600))),
    }
    strokes = []
    for kind, (length, thickness) in ranges.items():
        for _ in range(
            int(rng.integers(most + 1)) if kind != "pen" else int(rng.uniform() < 0.35 * most)
        ):
            reach = float(rng.uniform(*length)) * side
            strokes.append(
                Stroke(
                    kind,
                    float(rng.uniform(0.05, 0.95) * width),
                    float(rng.uniform(0.05, 0.95) * height),
                    float(rng.uniform(0, pi)),
                    reach,
                    float(rng.uniform(*thickness)) * (1.0 if side > 40_000 else 0.5),
                    float(rng.normal() * 0.25 * reach) if kind != "knife" else 0.0,
                    _INKS[int(rng.integers(len(_INKS)))],
                )
            )
    discs = []
    for kind, radius in (("blur", (0.04, 0.1)), ("bubble", (0.01, 0.04))):
        for _ in range(int(rng.integers(most + 1))):
            discs.append(
                Disc(
                    kind,
                    float(rng.uniform(0, width)),
                    float(rng.uniform(0, height)),
                    float(rng.uniform(*radius)) * side,
                )
            )
    return tuple(strokes), tuple(discs)
