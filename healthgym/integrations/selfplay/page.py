"""What came of self-play on one HTML page: curves, tables, and games turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from healthgym.core.trajectory import Trajectory
from healthgym.presentation.viewer import PageData, Section, Shown, page

#: Size of the picture of the curves, in pixels, and the colour of each curve in turn.
_WIDTH, _HEIGHT, _EDGE = 720, 260, 30
_COLOURS = ("#1f4f6b", "#b0413e", "#2f7d32", "#8a6d1d", "#666666")


def render(
    title: str,
    curve: Sequence[Mapping[str, float]],
    tables: Sequence[Sequence[Sequence[str]]],
    shown: Sequence[Trajectory],
    note: str = "",
) -> str:
    """Return the page.

    Args:
        title: Its heading.
        curve: Figures between 0 and 1 of each round, by name; ``round`` is its number.
        tables: Tables of text, each with its heading first.
        shown: Games to show.
        note: A sentence below the heading.
    """
    sections = [
        Section(figure=_curves(curve)),
        *(Section(table=rows) for rows in tables),
    ]
    games = [Shown(one, "games") for one in shown]
    return page(PageData(title, games, note, sections))


def _curves(curve: Sequence[Mapping[str, float]]) -> str:
    """Return curves as a picture that needs no script."""
    names = [name for name in curve[0] if name != "round"] if curve else []
    across = (_WIDTH - 2 * _EDGE) / max(len(curve) - 1, 1)
    lines = []
    for number, name in enumerate(names):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(
            f"{_EDGE + place * across:.1f},{_up(row[name]):.1f}" for place, row in enumerate(curve)
        )
        lines.append(f'<polyline fill="none" stroke="{colour}" points="{points}"/>')
        lines.append(
            f'<text x="{_EDGE + 110 * number}" y="16" fill="{colour}" font-size="12">'
            f"{escape(name)}</text>"
        )
    for share in (0.0, 0.5, 1.0):
        height = _up(share)
        lines.append(f'<text x="2" y="{height:.1f}" font-size="11">{share:.1f}</text>')
        lines.append(
            f'<line x1="{_EDGE}" x2="{_WIDTH - _EDGE}" y1="{height:.1f}" y2="{height:.1f}" '
            'stroke="#ddd"/>'
        )
    for place in (0, len(curve) - 1) if curve else ():
        lines.append(
            f'<text x="{_EDGE + place * across:.1f}" y="{_HEIGHT - 8}" font-size="11" '
            f'text-anchor="middle">{curve[place]["round"]:.0f}</text>'
        )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        'role="img" '
        f'aria-label="share by round">{"".join(lines)}</svg>'
    )


def _up(share: float) -> float:
    """Return how far down in the picture a share is drawn."""
    return _HEIGHT - _EDGE - share * (_HEIGHT - 2 * _EDGE)
