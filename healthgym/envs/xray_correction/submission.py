"""How the source reads what an agent hands in: JSON or plain text, with or without headers."""

from __future__ import annotations

import json
import re

_FINDINGS = re.compile(r"findings\s*:", re.IGNORECASE)
_IMPRESSION = re.compile(r"impression\s*:", re.IGNORECASE)
#: The reference report's findings: from a line-start header to the next section or the end.
_GOLD = re.compile(
    r"^[ \t]*FINDINGS:(?P<body>.*?)(?=^[ \t]*(?:IMPRESSION|NOTIFICATION|RECOMMENDATION)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_SALVAGE = re.compile(r'"final_answer"\s*:\s*"(?P<text>(?:[^"\\]|\\.)*)"', re.DOTALL)


def gold_findings(report: str) -> str:
    """Return the findings of a report, paragraphs kept, inner white space collapsed.

    From a line that begins with ``FINDINGS:`` to the next line that begins with IMPRESSION,
    NOTIFICATION or RECOMMENDATION; empty if there is no such section.
    """
    match = _GOLD.search(report)
    if match is None:
        return ""
    paragraphs = re.split(r"\n\s*\n", match["body"])
    return "\n\n".join(" ".join(part.split()) for part in paragraphs if part.strip())


def candidate_findings(text: str) -> str:
    """Return the findings of a submitted text.

    The text after the first ``findings:`` in any case and place, up to the next header; the text
    before ``impression:`` where that is the only header; else the whole text. (The paper says
    that a missing header fails; its evaluator is lenient, and so is this.)
    """
    found = _FINDINGS.search(text)
    if found:
        rest = text[found.end() :]
        ends = [m.start() for m in (_IMPRESSION.search(rest), _FINDINGS.search(rest)) if m]
        return rest[: min(ends)].strip() if ends else rest.strip()
    impression = _IMPRESSION.search(text)
    return (text[: impression.start()] if impression else text).strip()


def final_answer(text: str) -> str:
    """Return the report text of a submission: plain, or the source's JSON file.

    JSON is a list of objects, or one object, with ``final_answer``; from JSON that does not parse
    the first such pair is salvaged. Whatever is not JSON is the report itself.
    """
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        match = _SALVAGE.search(text)
        if match is None:
            return text
        try:
            return str(json.loads(f'"{match["text"]}"'))
        except ValueError:
            return match["text"]
    rows = data if isinstance(data, list) else [data]
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("final_answer"), str):
            return str(row["final_answer"])
    return ""
