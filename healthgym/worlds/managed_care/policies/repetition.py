"""How often pages say the same thing in the same words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable


def sentences(page: str) -> list[str]:
    """Return the sentences of a markdown page: paragraphs and list entries.

    Headings and tables are left out: a table repeats its head so that it can be found.
    """
    found = []
    for line in page.splitlines():
        text = line.strip()
        if not text or text.startswith(("#", "|")):
            continue
        text = re.sub(r"^- ", "", text)
        text = re.sub(r"\*\*[CG]\d+[^*]*\*\* ?", "", text)
        found += [part.strip() for part in re.split(r"(?<=[.:!?]) (?=[A-Z])", text) if part.strip()]
    return found


def repeated_share(pages: Iterable[str], masked: bool = False) -> float:
    """Return which share of all sentences stands on the pages more than once.

    Args:
        pages: Pages in markdown.
        masked: Whether sentences that differ in numbers only count as the same.
    """
    said = Counter(
        re.sub(r"\d+(?:\.\d+)?", "#", text) if masked else text
        for page in pages
        for text in sentences(page)
    )
    total = sum(said.values())
    return sum(count for count in said.values() if count > 1) / total if total else 0.0
