"""What the reason of a determination names: criteria, kinds of documents, codes.

Ids, kinds and codes are read wherever they stand, in any order and between any words. Nothing else
in the text counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderFindingCode,
    UploadableDocumentKind,
)

_CRITERION = re.compile(r"(?<![A-Za-z0-9])C(\d{1,3})(?![A-Za-z0-9])", re.IGNORECASE)
_KINDS = {
    kind: re.compile(rf"(?<![a-z]){str(kind).replace('_', '[ _-]')}s?(?![a-z])")
    for kind in UploadableDocumentKind
    if kind is not UploadableDocumentKind.OTHER
}
_CODES = {
    code: re.compile(rf"(?<![a-z]){str(code).replace('_', '[ _-]')}(?![a-z])")
    for code in ProviderFindingCode
}


@dataclass(frozen=True, slots=True)
class Reason:
    """What a reason names.

    Attributes:
        criteria: Ids of criteria.
        kinds: Kinds of documents.
        codes: Finding codes.
    """

    criteria: frozenset[str]
    kinds: frozenset[str]
    codes: frozenset[str]


def read_reason(text: str) -> Reason:
    """Return what a text names."""
    lowered = text.lower()
    return Reason(
        criteria=frozenset(f"C{int(number)}" for number in _CRITERION.findall(text)),
        kinds=frozenset(str(kind) for kind, form in _KINDS.items() if form.search(lowered)),
        codes=frozenset(str(code) for code, form in _CODES.items() if form.search(lowered)),
    )
