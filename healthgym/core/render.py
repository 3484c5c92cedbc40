"""Transcripts as text and as pictures."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from healthgym.errors import MissingDependencyError

if TYPE_CHECKING:
    from healthgym.core.episode import Episode

WIDTH, HEIGHT = 960, 640
_COLUMNS, _LINE, _SIZE, _MARGIN = 118, 17, 14, 16
_INK, _PAPER = (32, 34, 37), (250, 250, 247)


def transcript(episode: Episode[Any]) -> str:
    """Return an episode as a person would read it: task, turns, rewards and verdict."""
    parts = [f"Task {episode.task.task_id} ({episode.task.kind})"]
    parts += [
        f"{role}: {episode.instruction(role)}" if len(episode.roles) > 1 else episode.instruction()
        for role in episode.roles
    ]
    for number, turn in enumerate(episode.turns, 1):
        parts.append(f"--- {number}. {turn.role} ({turn.time[:16]})\n> {turn.action}")
        reward = f"\n(reward {turn.reward:+.2f})" if turn.reward else ""
        parts.append(turn.observation + reward)
    for role in episode.roles:
        if episode.done(role):
            verdict = episode.verdict(role)
            outcome = "success" if verdict.success else "failure"
            marks = [f"  [{'x' if c.passed else ' '}] {c.check.name}" for c in verdict.checks]
            parts.append(f"=== {role}: {outcome}\n" + "\n".join(marks))
    return "\n".join(parts)


def draw_transcript(text: str, images: Sequence[NDArray[Any]] = ()) -> NDArray[np.uint8]:
    """Draw the end of a transcript, with the pictures last shown beside it.

    Args:
        text: The transcript.
        images: Arrays of shape (h, w) or (h, w, 3), uint8.

    Returns:
        A picture of shape (640, 960, 3), uint8.

    Raises:
        MissingDependencyError: If pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingDependencyError(
            'render_mode="rgb_array" needs pillow: pip install "healthgym[render]".'
        ) from None
    columns = _COLUMNS if not images else _COLUMNS // 2
    wrapped = [
        piece for line in text.splitlines() for piece in textwrap.wrap(line, columns) or [""]
    ]
    lines = wrapped[-((HEIGHT - 2 * _MARGIN) // _LINE) :]
    page = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(size=_SIZE)
    draw.multiline_text(
        (_MARGIN, _MARGIN), "\n".join(lines), fill=_INK, font=font, spacing=_LINE - _SIZE
    )
    side = WIDTH // 2 - 2 * _MARGIN
    for image in images[:1]:
        picture = Image.fromarray(np.asarray(image, np.uint8)).convert("RGB")
        picture.thumbnail((side, HEIGHT - 2 * _MARGIN))
        page.paste(picture, (WIDTH // 2 + _MARGIN, _MARGIN))
    return np.asarray(page, np.uint8).copy()
