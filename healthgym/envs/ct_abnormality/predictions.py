"""The text of predictions: how it is written, and how the published evaluator reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from healthgym.core.files import BYTE_ORDER_MARK

#: Values the published evaluator understands, after lower-casing and up to the first comma.
TRUE_TOKENS = frozenset({"yes", "y", "true", "t", "1", "positive", "pos"})
FALSE_TOKENS = frozenset({"no", "n", "false", "f", "0", "negative", "neg"})
_YES, _NO = TRUE_TOKENS | {"present"}, FALSE_TOKENS | {"absent"}

_LISTED = re.compile(r"^(?:[-*+\u2022]|\d{1,2}[.)])\s+")
_ROW = re.compile(r"^\|\s*([^|]+?)\s*\|\s*([^|]+?)\s*\|$")
_MARKS = re.compile(r"\*\*|[\"'`\u201c\u201d]")
#: Nothing of the rule below a table's head is given back: a rule is cut in one way only.
_FRAME = re.compile(
    r"#* ?(?:my |the |final )?(?:predictions?|findings?|answers?|calls?|results?):?"
    r"|\|? ?(?:findings?|abnormality|label) ?[|,:] ?(?:answer|present|call|prediction|value) ?\|?"
    r"|\|?(?: ?:?-{3,}+:? ?\|?)++|```\w*|[{}]"
)


def parse_published(lines: Iterable[str]) -> dict[str, bool]:
    """Read predictions as the published evaluator does.

    Blank lines and lines that begin with ``#`` are skipped. A line is split at its first colon;
    its value ends at the first comma. Values that are none of the tokens are skipped. Names are
    compared in lower case; of several lines for one name the last counts.

    Args:
        lines: The lines of the file.

    Returns:
        Lower-cased name -> call.
    """
    found: dict[str, bool] = {}
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#") or ":" not in text:
            continue
        name, _, value = text.partition(":")
        token = value.split(",", 1)[0].strip().lower()
        if token in TRUE_TOKENS:
            found[name.strip().lower()] = True
        elif token in FALSE_TOKENS:
            found[name.strip().lower()] = False
    return found


def line_of(label: str, present: bool) -> str:
    """Return the line that calls a finding."""
    return f"{label}: {'yes' if present else 'no'}"


def parse_plain(line: str, labels: Sequence[str]) -> tuple[str, bool] | None:
    """Return the call of a line that says one thing, such as ``finding: yes``.

    Case, spaces and underscores are free; the line may be numbered or stand in a list, in a row of
    a table, in bold or in quotes, and end with a point or comma. The value is any word that the
    published evaluator understands, or ``present`` and ``absent``; it has nothing beside it.

    Args:
        line: The line as written.
        labels: The findings asked for.

    Returns:
        Finding and call; None for anything else.
    """
    text = _ROW.sub(r"\1: \2", _LISTED.sub("", line.removeprefix(BYTE_ORDER_MARK).strip()))
    text = " ".join(_MARKS.sub("", text).replace("_", " ").split())
    name, _, value = (text if ":" in text else text.replace("=", ":", 1)).partition(":")
    label = {label.lower(): label for label in labels}.get(name.strip().lower())
    word = value.strip().rstrip(".,;").lower()
    if label is None or word not in _YES | _NO:
        return None
    return label, word in _YES


def frames(line: str, labels: Sequence[str]) -> bool:
    """Return whether a line only frames the others: a heading, the head of a table, a fence."""
    text = line.removeprefix(BYTE_ORDER_MARK).strip().lower()
    named = any(label.lower() in text for label in labels)
    return bool(_FRAME.fullmatch(text)) and not named


def score(calls: Mapping[str, bool], truth: Mapping[str, bool]) -> dict[str, float]:
    """Return accuracy and the counts of each outcome; what is not called is wrong.

    Args:
        calls: Lower-cased finding -> call.
        truth: Finding -> whether it is there.
    """
    counts = {"true_positive": 0, "true_negative": 0, "false_positive": 0, "false_negative": 0}
    missing = 0
    for label, present in truth.items():
        call = calls.get(label.lower())
        missing += call is None
        # The published per-trial counts put whatever is missing with the false negatives.
        positive = call if call is not None else not present
        if call is None:
            counts["false_negative"] += 1
        elif positive == present:
            counts["true_positive" if present else "true_negative"] += 1
        else:
            counts["false_positive" if positive else "false_negative"] += 1
    right = counts["true_positive"] + counts["true_negative"]
    return {
        "accuracy": right / len(truth) if truth else 0.0,
        "missing": float(missing),
        **{name: float(count) for name, count in counts.items()},
    }
