"""The handbook's markdown as HTML: headings, paragraphs, nested lists, tables, quotes, spans.

Only what the handbook's pages are written in. Everything is escaped before anything else, so no
text of a page becomes markup. Links lead to other pages of the handbook, which are not there, and
are shown as text with their target in a tooltip.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape

#: Returns what stands beside the statement of a label such as ``C1``; empty for other labels.
Marker = Callable[[str], str]

_HEADING = re.compile(r"(#{1,6}) +(.+?) *$")
_ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)$")
_RULE = re.compile(r"\|?[ :|-]*-[ :|-]*$")
_LABEL = re.compile(r"(?:\*\*)?([A-Z]{1,2}\d{1,3})\b")
_CODE = re.compile(r"(`[^`]+`)")
#: In this order; none reaches over what an earlier one has made, so that tags never cross.
_SPANS = (
    (re.compile(r"\*\*([^<]+?)\*\*"), r"<b>\1</b>"),
    (re.compile(r"(?<![\w*])\*([^\s*<][^*<]*)\*"), r"<i>\1</i>"),
    (re.compile(r"\[([^\]<]+)\]\(([^)\s<]+)\)"), r'<span class="link" title="\2">\1</span>'),
)
#: A table of one row and so many columns is set upright: it would be all line breaks.
_ONE_ROW, _WIDE = 3, 5


def clean(text: object) -> str:
    """Return a value as text of a page: escaped, and what no page may hold shown as such."""
    kept = (c if c.isprintable() or c in "\n\t" else "\ufffd" for c in str(text))
    return escape("".join(kept).encode("utf-8", "replace").decode("utf-8"))


def to_html(text: str, mark: Marker = lambda label: "") -> str:
    """Return markdown as HTML.

    Args:
        text: The markdown; headings become one level smaller, for the page has its own.
        mark: Is asked for the label of each list item and table row that begins with one.
    """
    return "\n".join(_blocks(text.splitlines(), mark))


def _blocks(lines: Sequence[str], mark: Marker) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        heading = _HEADING.match(line)
        if heading:
            depth = min(len(heading[1]) + 1, 6)
            yield f"<h{depth}>{_spans(heading[2])}</h{depth}>"
            place += 1
            continue
        belongs, render = _kind(line)
        end = place + 1
        while end < len(lines) and lines[end].strip() and belongs(lines[end]):
            end += 1
        yield render(lines[place:end], mark)
        place = end


def _kind(
    line: str,
) -> tuple[Callable[[str], bool], Callable[[Sequence[str], Marker], str]]:
    """Return which lines go with a first line, and what renders them together."""
    if line.lstrip().startswith("|"):
        return lambda other: other.lstrip().startswith("|"), _table
    if line.lstrip().startswith(">"):
        return lambda other: other.lstrip().startswith(">"), _quote
    if _ITEM.match(line):
        return lambda other: bool(_ITEM.match(other)) or other.startswith(" "), _list
    return lambda other: not (_HEADING.match(other) or _ITEM.match(other)), _paragraph


def _paragraph(lines: Sequence[str], mark: Marker) -> str:
    return f"<p>{_spans(' '.join(line.strip() for line in lines))}</p>"


def _quote(lines: Sequence[str], mark: Marker) -> str:
    inner = [line.lstrip().removeprefix(">").removeprefix(" ") for line in lines]
    return f"<blockquote>{''.join(_blocks(inner, mark))}</blockquote>"


def _table(lines: Sequence[str], mark: Marker) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    headed = len(lines) > 1 and _RULE.match(lines[1].strip()) is not None
    if headed and len(rows) == _ONE_ROW and len(rows[0]) >= _WIDE:
        pairs = zip(rows[0], rows[2], strict=False)
        rows, headed = [list(pair) for pair in pairs], False
    parts = []
    for number, cells in enumerate(rows):
        if headed and number == 1:
            continue
        name = "th" if headed and number == 0 else "td"
        shown = [f"<{name}>{_spans(cell)}</{name}>" for cell in cells]
        beside = _beside(cells[0], mark) if name == "td" else ""
        if beside:
            shown[-1] = f"<td>{_spans(cells[-1])}{beside}</td>"
        parts.append(f"<tr>{''.join(shown)}</tr>")
    return f'<div class="scroll"><table>{"".join(parts)}</table></div>'


def _list(lines: Sequence[str], mark: Marker) -> str:
    """Return a list: lines set deeper than an item are part of it, as text or as a list."""
    first = _ITEM.match(lines[0])
    depth = len(first[1]) if first else 0
    items: list[list[str]] = []
    for line in lines:
        match = _ITEM.match(line)
        if match and len(match[1]) <= depth:
            items.append([match[3]])
        else:
            items[-1].append(line)
    parts = []
    for item in items:
        cut = next((n for n, line in enumerate(item) if n and _ITEM.match(line)), len(item))
        head = " ".join(line.strip() for line in item[:cut])
        below = _list(item[cut:], mark) if cut < len(item) else ""
        parts.append(f"<li>{_spans(head)}{_beside(head, mark)}{below}</li>")
    name = "ol" if first and first[2][0].isdigit() else "ul"
    return f"<{name}>{''.join(parts)}</{name}>"


def _beside(text: str, mark: Marker) -> str:
    label = _LABEL.match(text)
    return mark(label[1]) if label else ""


def _spans(text: str) -> str:
    parts = []
    for part in _CODE.split(clean(text)):
        if _CODE.fullmatch(part):
            parts.append(f"<code>{part[1:-1]}</code>")
            continue
        for pattern, form in _SPANS:
            part = pattern.sub(form, part)
        parts.append(part)
    return "".join(parts)
