"""Tables as text: short, aligned to nothing, with a bound on every part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from healthgym.core.borders import Json


def cell(value: object, width: int = 80) -> str:
    """Return a value as text: empty for null, no line breaks, at most ``width`` characters."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    text = " ".join(str(value).split()).replace("|", "/")
    return text if len(text) <= width else f"{text[: width - 1]}…"


def table_text(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    characters: int = 10_000,
    width: int = 80,
) -> tuple[str, int]:
    """Return a header and rows, cells parted by ``|``, and how many rows fitted."""
    lines = [" | ".join(cell(name, width) for name in columns)]
    used, shown = len(lines[0]), 0
    for row in rows:
        line = " | ".join(cell(value, width) for value in row)
        used += len(line) + 1
        if used > characters and shown:
            break
        lines.append(line[:characters])
        shown += 1
    return "\n".join(lines), shown


def plain(value: object) -> Json:
    """Return a database value as one that sandboxed code knows."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str | datetime | date):
        return value
    return str(value)
