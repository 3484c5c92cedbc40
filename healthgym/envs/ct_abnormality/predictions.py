"""The text of predictions: how it is written, and how the published evaluator reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from healthgym.core.files import BYTE_ORDER_MARK

#: Values the published evaluator understands, after lower-casing and up to the first comma.
TRUE_TOKENS = frozenset({"yes", "y", "true", "t", "1", "positive", "pos"})
FALSE_TOKENS = frozenset({"no", "n", "false", "f", "0", "negative", "neg"})
_YES = TRUE_TOKENS | {"present", "seen", "detected", "identified"}
_NO = FALSE_TOKENS | {"absent", "none"}
_NO |= {f"not {seen}" for seen in ("present", "seen", "detected", "identified")}

_LISTED = re.compile(r"^(?:[-*+\u2022]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
#: A row of a table, with its number before it or without.
_ROW = re.compile(r"^\|\s*(?:\d{1,2}\s*\|\s*)?([^|]+?)\s*\|\s*([^|]+?)\s*\|$")
_MARKS = re.compile(r"\*+|[\"'`\u2018\u2019\u201c\u201d]")
#: What stands between a finding and its call, and the call, be it said twice in other words. A
#: number is none behind a space alone, nor behind a hyphen that may be its sign.
_CALL = re.compile(
    r"(?:[ \t]*(?::|=>?|-+>|\u2192|,|\||\t)[ \t]*| [-\u2013\u2014] | (?:is )?(?=[a-z]{2}))"
    r"(?P<word>[a-z0-9]+(?: [a-z]+)?)(?: \((?P<same>[a-z0-9]+(?: [a-z]+)?)\))?[ \t]*[.,;]*"
)
_FENCE = re.compile(r"```\w*")
#: Nothing of the rule below a table's head is given back: a rule is cut in one way only.
_FRAME = re.compile(
    r"(?:\|? ?(?:#|rank) ?[|,\t] ?)?\|? ?(?:findings?|abnormality|label) ?[|,:\t] ?"
    r"(?:answer|present|call|prediction|value|result)\?? ?\|?"
    r"|\|?(?: ?:?-{3,}+:? ?\|?)++|[{}]"
)
#: Words that announce a list; none of them can take it back.
_ANNOUNCING = (
    "(?:heres?|are|is|i|my|the|final|predictions?|findings?|answers?|calls?|results?|reading|for|of|"
    "this|these|each|chest|ct|scan|list|below|follows|following|as|requested|abnormalit(?:y|ies)|"
    "labels?)"
)
_HEADING = re.compile(rf"#* ?{_ANNOUNCING}(?: {_ANNOUNCING}){{0,11}}:?")
#: Keys of a JSON text: what holds the calls; of one call, what names the finding and the answer.
_HOLDERS = frozenset({"predictions", "findings", "answers", "calls", "results"})
_NAMES = frozenset({"finding", "label", "abnormality", "name"})
_ANSWERS = frozenset({"answer", "present", "call", "prediction", "value", "result"})


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


def spread(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a text, with one line for each call of what is written as JSON.

    A JSON object has the findings as its keys, or is one call: ``{"finding": ..., "answer": ...}``.
    What is no call in it is a line that cannot be read, and a key that comes twice is
    two lines: nothing is lost.

    Args:
        lines: The lines as written.
    """
    bare = [line for line in lines if not _FENCE.fullmatch(line.strip())]
    whole = _of_json("\n".join(bare))
    if whole is not None:
        return tuple(whole)
    each = ((line, _of_json(line)) for line in lines)
    return tuple(one for line, calls in each for one in ([line] if calls is None else calls))


def _of_json(text: str) -> list[str] | None:
    text = text.removeprefix(BYTE_ORDER_MARK).strip()
    if not (text.startswith(("{", "[")) and text.endswith(("}", "]"))):
        return None
    try:
        # An object is read as a tuple of its pairs, which keeps what comes twice.
        return list(_entries(json.loads(text, object_pairs_hook=tuple)))
    except (ValueError, RecursionError):
        return None


def _entries(data: object) -> Iterator[str]:
    """Yield a line for each entry of JSON."""
    if isinstance(data, tuple) and len(data) == 1 and data[0][0].lower() in _HOLDERS:
        data = data[0][1]
    for entry in data if isinstance(data, list) else [data]:
        if not isinstance(entry, tuple):
            yield entry if isinstance(entry, str) else json.dumps(entry)
            continue
        by_key = {key.lower(): value for key, value in entry}
        named, said = by_key.keys() & _NAMES, by_key.keys() & _ANSWERS
        if len(entry) == 2 and len(named) == len(said) == 1:
            entry = ((by_key[named.pop()], by_key[said.pop()]),)
        for name, value in entry:
            yield f"{name}: {_said(value)}"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value)


def parse_plain(line: str, labels: Sequence[str]) -> tuple[str, bool] | None:
    """Return the call of a line that says one thing, such as ``finding: yes``.

    Case, spaces and underscores are free; the line may be numbered or stand in a list, in a row of
    a table, in bold or in quotes, and end with a point or comma. A dash, an arrow, a comma, a tab
    or nothing may take the place of the colon. The value is any word that the published evaluator
    understands, or that says that something is seen or not; only the same in another word may
    stand beside it, in brackets.

    Args:
        line: The line as written.
        labels: The findings asked for.

    Returns:
        Finding and call; None for anything else.
    """
    text = _ROW.sub(r"\1: \2", _LISTED.sub("", line.removeprefix(BYTE_ORDER_MARK).strip()))
    text = re.sub(r"[^\S\t]+", " ", _MARKS.sub("", text).replace("_", " ")).strip().lower()
    longest = sorted(labels, key=len, reverse=True)
    label = next((label for label in longest if text.startswith(label.lower())), "")
    found = _CALL.fullmatch(text[len(label) :]) if label else None
    if found is None:
        return None
    words = {word for word in found.groups() if word is not None}
    if not (words <= _YES or words <= _NO):
        return None
    return label, words <= _YES


def frames(line: str, labels: Sequence[str]) -> bool:
    """Return whether a line only frames the others: a heading, the head of a table, a fence."""
    bare = line.removeprefix(BYTE_ORDER_MARK).strip().lower()
    text = _MARKS.sub("", bare).strip()
    if _FENCE.fullmatch(bare) or any(label.lower() in text for label in labels):
        return bool(_FENCE.fullmatch(bare))
    return bool(_HEADING.fullmatch(text) or _FRAME.fullmatch(text))


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
