"""Transcripts as text and as pictures."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from healthgym.core.images import Image
from healthgym.errors import MissingDependencyError

if TYPE_CHECKING:
    from healthgym.core.episode import AnyEpisode

WIDTH, HEIGHT = 960, 640
_LINE, _SIZE, _MARGIN, _GAP, _CAPTION = 17, 14, 16, 8, 15
_INK, _FADED, _PAPER, _GROUND = (32, 34, 37), (120, 122, 126), (250, 250, 247), (225, 226, 224)
_CUT = "..."
#: Common characters that pillow's own font lacks.
_DRAWN = str.maketrans(
    {"×": "x", "µ": "u", "≥": ">=", "≤": "<=", "–": "-", "−": "-", "→": "->", "•": "*", "≈": "~"}
    | {"—": "-", "✓": "x", "✗": "-", "α": "alpha", "β": "beta", "μ": "u"}
)
#: Small pictures are enlarged to be seen, but no more than this.
_LARGEST = 6.0


def transcript(episode: AnyEpisode) -> str:
    """Return an episode as a person would read it: task, turns, rewards and verdict."""
    parts = [f"Task {episode.task.task_id} ({episode.task.kind})"]
    parts += [
        f"{role}: {episode.instruction(role)}" if len(episode.roles) > 1 else episode.instruction()
        for role in episode.roles
    ]
    for number, turn in enumerate(episode.turns, 1):
        parts.append(f"--- {number}. {turn.role} ({turn.time[:16]})\n> {turn.action}")
        shown = f"\n({counted(turn.images)})" if turn.images else ""
        reward = f"\n(reward {turn.reward:+.2f})" if turn.reward else ""
        parts.append(turn.observation + shown + reward)
    for role in episode.roles:
        if episode.settled:
            verdict = episode.verdict(role)
            outcome = "success" if verdict.success else "failure"
            marks = [f"  [{'x' if c.passed else ' '}] {c.check.name}" for c in verdict.checks]
            parts.append(f"=== {role}: {outcome}\n" + "\n".join(marks))
    return "\n".join(parts)


def counted(images: int) -> str:
    """Return how many pictures there are, in words."""
    return f"{images} picture{'' if images == 1 else 's'}"


def draw_transcript(text: str, images: Sequence[Image] = (), caption: str = "") -> Image:
    """Draw the end of a transcript, with the pictures last shown beside it.

    Args:
        text: The transcript; lines that do not fit are left out from its beginning.
        images: Arrays of shape (h, w) or (h, w, 3), uint8. They are laid out in rows, as large as
            fits, and each is told its size.
        caption: A line above the pictures.

    Returns:
        A picture of shape (640, 960, 3), uint8.

    Raises:
        MissingDependencyError: If pillow is not installed.
    """
    try:
        from PIL import Image as Picture
        from PIL import ImageDraw, ImageFont
    except ImportError:
        raise MissingDependencyError(
            'render_mode="rgb_array" needs pillow: pip install "healthgym[render]".'
        ) from None
    page = Picture.new("RGB", (WIDTH, HEIGHT), _PAPER)
    pen = ImageDraw.Draw(page)
    font = ImageFont.load_default(size=_SIZE)
    width = (WIDTH // 2 if images else WIDTH) - 2 * _MARGIN
    lines = _last_lines(text, width, (HEIGHT - 2 * _MARGIN) // _LINE, font.getlength)
    for number, line in enumerate(lines):
        ink = _FADED if line.startswith("--- ") or line == _CUT else _INK
        pen.text((_MARGIN, _MARGIN + number * _LINE), line, fill=ink, font=font)
    if not images:
        return np.asarray(page, np.uint8).copy()
    small = ImageFont.load_default(size=_SIZE - 3)
    left, top = WIDTH // 2 + _MARGIN, _MARGIN
    if caption:
        pen.text((left, top), caption, fill=_INK, font=font)
        top += _LINE + _GAP
    cells = _grid(len(images), width, HEIGHT - top - _MARGIN, images)
    for number, (image, (x, y, w, h)) in enumerate(zip(images, cells, strict=True), 1):
        told = f"{number}: " if len(images) > 1 else ""
        told += f"{image.shape[1]} x {image.shape[0]}"
        pen.text((left + x, top + y), told, fill=_FADED, font=small)
        picture = Picture.fromarray(np.asarray(image, np.uint8)).convert("RGB")
        way = Picture.Resampling.NEAREST if w > picture.width else Picture.Resampling.BOX
        place = (left + x, top + y + _CAPTION)
        page.paste(picture.resize((w, h), way), place)
        pen.rectangle((place[0] - 1, place[1] - 1, place[0] + w, place[1] + h), outline=_GROUND)
    return np.asarray(page, np.uint8).copy()


def _last_lines(text: str, width: int, count: int, measure: Callable[[str], float]) -> list[str]:
    """Return the last lines of a text broken to a width in pixels, the first telling of a cut."""
    lines: list[str] = []
    written = text.splitlines()
    for place in range(len(written) - 1, -1, -1):
        lines[:0] = _broken(written[place], width, measure)
        if len(lines) > count or (len(lines) == count and place):
            return [_CUT, *lines[-count + 1 :]]
    return lines


def _plain(line: str) -> str:
    """Return a line in what pillow's own font can draw: all else would show as boxes."""
    if line.isascii() and line.isprintable():
        return line.rstrip()
    apart = unicodedata.normalize("NFKD", line.translate(_DRAWN))
    kept = (c for c in apart if not unicodedata.combining(c))
    return "".join(c if c.isprintable() else " " for c in kept).rstrip()


def _broken(line: str, width: int, measure: Callable[[str], float]) -> Iterator[str]:
    """Yield a line in pieces that fit, broken after spaces where there are any."""
    line = _plain(line)
    # A character is at least two pixels wide, so a longer head need not be measured.
    longest = width // 2
    while len(line) > longest or measure(line) > width:
        low, high = 1, min(len(line), longest) + 1
        while low < high - 1:
            middle = (low + high) // 2
            low, high = (middle, high) if measure(line[:middle]) <= width else (low, middle)
        space = line.rfind(" ", 1, low + 1)
        end = space if space > low // 2 else low
        yield line[:end].rstrip()
        line = line[end:].lstrip()
    yield line


def _grid(
    count: int, width: int, height: int, images: Sequence[Image]
) -> list[tuple[int, int, int, int]]:
    """Return (left, top, width, height) of each picture, in the columns that show most."""

    def sizes(columns: int) -> list[tuple[float, float]]:
        rows = ceil(count / columns)
        across = (width - (columns - 1) * _GAP) / columns
        down = (height - (rows - 1) * _GAP) / rows - _CAPTION
        scales = [
            min(across / image.shape[1], max(down, 1) / image.shape[0], _LARGEST)
            for image in images
        ]
        return [
            (scale * image.shape[1], scale * image.shape[0])
            for scale, image in zip(scales, images, strict=True)
        ]

    columns = max(range(1, count + 1), key=lambda n: (sum(w * h for w, h in sizes(n)), -n))
    across = (width + _GAP) / columns
    cells, top = [], 0
    found = [(max(int(w), 1), max(int(h), 1)) for w, h in sizes(columns)]
    for first in range(0, count, columns):
        row = found[first : first + columns]
        cells += [(round(place * across), top, w, h) for place, (w, h) in enumerate(row)]
        top += max(h for _, h in row) + _CAPTION + _GAP
    return cells
