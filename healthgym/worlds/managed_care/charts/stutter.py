"""How much of a body of text repeats itself, sentence by sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

#: Shorter lines are headings and labels, which every form repeats.
_LEAST_WORDS = 5


def sentences(text: str) -> Iterator[str]:
    """Return sentences of at least five words; headings and tables are left out."""
    for line in text.splitlines():
        if " | " in line:
            continue  # a row of a table or a letterhead
        for part in re.split(r"(?<=[.?!])\s+", line.lstrip("- ")):
            if len(part.split()) >= _LEAST_WORDS:
                yield part.strip()


def repeated_share(texts: Iterable[str], *, masked: bool = False) -> float:
    """Return which share of sentences occurred before, from 0 to 1.

    Args:
        texts: The texts.
        masked: Whether numbers count as equal, so that a template filled in twice is a repeat.
    """
    found: Counter[str] = Counter()
    for text in texts:
        for sentence in sentences(text):
            found[re.sub(r"\d+", "0", sentence) if masked else sentence] += 1
    total = sum(found.values())
    return (total - len(found)) / total if total else 0.0
