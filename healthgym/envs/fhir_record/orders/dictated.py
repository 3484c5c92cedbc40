"""The text that a question dictates for a note: whether a note holds it, and what stands beside it.

Letters are compared, and how a text is set is not: spaces, line breaks, list marks and hyphens,
the form of quotation marks, case, and the last full stop.
"""

from __future__ import annotations

import re
from functools import cache

#: What may stand between two letters, or not: how lines, lists and compounds are set.
_SET = r"\s\-\u2010-\u2015\u2022*"
_GAP = rf"[{_SET}]*"
#: Marks that are typed in several forms.
_MARKS = {"'": "['\u2018\u2019]", '"': '["\u201c\u201d]'}


def holds(text: str, dictated: str) -> bool:
    """Return whether a text holds a dictated one."""
    return _pattern(dictated).search(text) is not None


def beside(text: str, dictated: str) -> str:
    """Return a text less a dictated one; what stood before it and behind it are two sentences."""
    return _pattern(dictated).sub(" . ", text) if dictated else text


@cache
def _pattern(dictated: str) -> re.Pattern[str]:
    letters = re.sub(rf"[{_SET}]", "", dictated.rstrip(". "))
    marks = (_MARKS.get(letter, re.escape(letter)) for letter in letters)
    return re.compile(rf"(?<!\w){_GAP.join(marks)}(?!\w)\.?", re.IGNORECASE)
