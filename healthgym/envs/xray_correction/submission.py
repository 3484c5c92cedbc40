"""How the source reads what an agent hands in: JSON or plain text, with or without headers."""

from __future__ import annotations

import json
import re

from healthgym.core.files import BYTE_ORDER_MARK

_HEADER = re.compile(r"\b(findings|impression)\s*:\s*", re.IGNORECASE)
_BOILERPLATE = re.compile(r"^\s*final report\s*", re.IGNORECASE)
#: The reference report's findings: from a line-start header to the next section or the end.
_GOLD = re.compile(
    r"^[ \t]*FINDINGS:(?P<body>.*?)(?=^[ \t]*(?:IMPRESSION|NOTIFICATION|RECOMMENDATION)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(?P<text>\S.*)")
_FENCE = re.compile(r"\s*```\w*\s*")
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


def unmarked(text: str) -> str:
    """Return a text without what sets it out and says nothing.

    That is a byte order mark, a fence, bold type and, where every line is an item, the bullets and
    numbers of a list: each item is then a sentence.
    """
    bare = text.removeprefix(BYTE_ORDER_MARK).replace("**", "")
    lines = [line for line in bare.splitlines() if line.strip() and not _FENCE.fullmatch(line)]
    if not all(_ITEM.fullmatch(line) or _HEADER.search(line) for line in lines):
        return "\n".join(lines)
    return "\n".join(_ITEM.sub(_sentence, line) for line in lines)


def _sentence(item: re.Match[str]) -> str:
    text = item["text"].strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def candidate_findings(text: str) -> str:
    """Return the findings of a submitted text.

    A leading "FINAL REPORT" is dropped. The text after the first ``findings:`` in any case and
    place, up to the next header; where ``impression:`` is the only header the text before it, or
    all of it if there is none before; without a header the whole text. (The paper says that a
    missing header fails; its evaluator is lenient, and so is this.)
    """
    text = _BOILERPLATE.sub("", text.strip())
    headers = list(_HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=False):
        if header[1].lower() == "findings":
            return text[header.end() : end].strip()
    before = text[: headers[0].start()].strip() if headers else ""
    return before or text.strip()


def final_answer(text: str) -> str:
    """Return the report text of a submission: plain, or the source's JSON file.

    JSON is a list of objects, or one object, with ``final_answer``; from JSON that does not parse
    the first such pair is salvaged. The source asks every row to be right, and there is one task:
    rows for several, or with several reports, hold no report, as if one had been empty. Whatever
    is not JSON is the report itself.
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
    if not rows or not all(isinstance(row, dict) for row in rows):
        return ""
    tasks = {str(row.get("task_id", "")) for row in rows}
    answers = {str(row.get("final_answer", "")) for row in rows}
    return answers.pop() if len(tasks) == len(answers) == 1 else ""
