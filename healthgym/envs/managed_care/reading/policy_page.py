"""A policy page read back: header, codes, criteria with every number, clocks.

This is a reader's parser: it knows how pages are built and sentences are worded, and no number that
is not on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from healthgym.envs.managed_care.reading.sentences import Term, criterion_from
from healthgym.errors import DataError
from healthgym.worlds.managed_care.policies.tree import AllOf, AnyOf, AtLeast, Node, Not, Unless
from healthgym.worlds.managed_care.policies.wording import wordings
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    ServiceTypeCategory,
    UploadableDocumentKind,
)

_ENTRY = re.compile(
    r"(?P<indent> *)- \*\*(?P<id>[CG]\d+)(?: · (?P<title>[^*]+?))?\.\*\* (?P<text>.+)"
)
_ROOT = re.compile(r"\*\*(?P<id>[CG]\d+)(?: · (?P<title>[^*]+?))?\.?\*\* (?P<text>.+)")
_HEADING = re.compile(r"### (?P<id>G\d+)(?: · (?P<title>.+?))?\.?")
_ROW = re.compile(r"\| (?P<id>C\d+) \| (?P<text>.+) \|")
_DOCUMENT = re.compile(r"- `(?P<kind>\w+)`(?P<alternative> \(alternative\))? ")
_CLOCKS = {
    "Decision, standard request": "standard_hours",
    "Decision, expedited request": "expedited_hours",
}


class UnreadablePageError(DataError):
    """A page is not built as policy pages are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReading:
    """What a policy page says.

    Attributes:
        id: Policy id.
        title: Its title.
        version: Its version.
        effective: First day in force.
        terminated: Last day; None if it has no end.
        plans: Plans it holds for.
        states: States it holds in; empty for all.
        category: Kind of service.
        authorization: Whether each code needs an authorization.
        diagnosis_prefixes: Code families a request may give.
        sites: Settings a request may give.
        criteria: The criteria.
        documents: Kinds of documents required in any case.
        clocks: Limits by name, in hours.
    """

    id: str
    title: str
    version: str
    effective: date
    terminated: date | None
    plans: tuple[str, ...]
    states: tuple[str, ...]
    category: ServiceTypeCategory
    authorization: Mapping[str, bool]
    diagnosis_prefixes: tuple[str, ...]
    sites: tuple[PlaceOfService, ...]
    criteria: Node
    documents: tuple[UploadableDocumentKind, ...]
    clocks: Mapping[str, int]

    def in_force(self, day: date) -> bool:
        """Return whether the page holds on a day."""
        return self.effective <= day and (self.terminated is None or day <= self.terminated)


@dataclass(frozen=True, slots=True)
class _Line:
    level: int
    id: str
    title: str
    text: str


def read_page(page: str) -> PageReading:
    """Return what a policy page says.

    Raises:
        UnreadablePageError: If it is not a policy page.
        UnreadableSentenceError: If one of its criteria cannot be read.
    """
    lines = page.splitlines()
    header = _table(lines, "| Policy |")
    if len(header) != 1 or not lines[0].startswith("# "):
        raise UnreadablePageError("A policy page has a title and a header of one row.")
    name, version, force, plans, states, category, _ = header[0]
    first, _, last = force.removesuffix(" onward").partition(" to ")
    terms = read_terms(page)
    return PageReading(
        id=name,
        title=lines[0].removeprefix("# "),
        version=version,
        effective=date.fromisoformat(first),
        terminated=date.fromisoformat(last) if last else None,
        plans=tuple(plans.split(", ")),
        states=() if states == "all" else tuple(states.split(", ")),
        category=ServiceTypeCategory(category),
        authorization={code: asked == "yes" for code, _, asked in _table(lines, "| Code |")},
        diagnosis_prefixes=_prefixes(lines),
        sites=_sites(lines),
        criteria=_tree(list(_entries(lines)), terms),
        documents=_documents(lines),
        clocks={
            _CLOCKS[clock]: int(limit.split()[0]) for clock, limit in _table(lines, "| Clock |")
        },
    )


def read_terms(page: str) -> tuple[Term, ...]:
    """Return a page's table of terms."""
    return tuple(Term(*row) for row in _table(page.splitlines(), "| Term |"))


def _table(lines: list[str], start: str) -> list[list[str]]:
    """Return the rows of the table whose head begins so; none if there is no such table."""
    for index, line in enumerate(lines):
        if line.startswith(start):
            rows = []
            for row in lines[index + 2 :]:
                if not row.startswith("|"):
                    break
                rows.append([cell.strip() for cell in row.strip("|").split(" | ")])
            return rows
    return []


def _entries(lines: list[str]) -> Iterator[_Line]:
    """Yield the numbered entries with their depth, in order."""
    under = False
    waiting: re.Match[str] | None = None
    for line in lines:
        if match := _HEADING.fullmatch(line):
            waiting, under = match, True
        elif line.startswith("## "):
            under = False
        elif waiting is not None and line:
            yield _Line(1, waiting["id"], waiting["title"] or "", line)
            waiting = None
        elif match := _ROOT.fullmatch(line):
            yield _Line(0, match["id"], match["title"] or "", match["text"])
        elif match := _ENTRY.fullmatch(line):
            level = len(match["indent"]) // 2 + (2 if under else 0)
            yield _Line(level, match["id"], match["title"] or "", match["text"])
        elif under and (match := _ROW.fullmatch(line)):
            yield _Line(2, match["id"], "", match["text"])


def _tree(entries: list[_Line], terms: tuple[Term, ...]) -> Node:
    if not entries:
        raise UnreadablePageError("The page has no numbered criteria.")
    node, used = _node(entries, 0, terms)
    if used != len(entries):
        raise UnreadablePageError(f"{entries[used].id} stands outside the tree of criteria.")
    return node


def _node(entries: list[_Line], at: int, terms: tuple[Term, ...]) -> tuple[Node, int]:
    """Return the node that begins at an entry, and the place after its last part."""
    entry = entries[at]
    if entry.id.startswith("C"):
        return criterion_from(entry.text, entry.id, terms), at + 1
    below: list[Node] = []
    at += 1
    while at < len(entries) and entries[at].level > entry.level:
        part, at = _node(entries, at, terms)
        below.append(part)
    return _group(entry, tuple(below)), at


def _group(entry: _Line, below: tuple[Node, ...]) -> Node:
    kind, n = _group_kind(entry)
    match kind, below:
        case "all", _:
            return AllOf(id=entry.id, title=entry.title, parts=below)
        case "any", _:
            return AnyOf(id=entry.id, title=entry.title, parts=below)
        case "at_least", _:
            return AtLeast(id=entry.id, title=entry.title, n=n, parts=below)
        case "not", (part,):
            return Not(id=entry.id, title=entry.title, part=part)
        case "unless", (requirement, exception):
            return Unless(
                id=entry.id, title=entry.title, requirement=requirement, exception=exception
            )
    raise UnreadablePageError(f"{entry.id} has {len(below)} parts, which does not fit {kind}.")


def _group_kind(entry: _Line) -> tuple[str, int]:
    tables = (wordings()["groups"], wordings()["titled_groups"])
    rows = [row for table in tables for row in table.items()]
    for kind, templates in rows:
        for template in templates:
            pattern = re.escape(template).replace(r"\{n\}", r"(\d+)")
            pattern = pattern.replace(r"\{topic\}", re.escape(f"*{entry.title}*"))
            if match := re.fullmatch(pattern, entry.text):
                return kind, int(match[1]) if match.groups() else 0
    raise UnreadablePageError(f"{entry.id}: {entry.text!r} does not say how many are needed.")


def _prefixes(lines: list[str]) -> tuple[str, ...]:
    """Return the code families of the sentence that lists nothing but ICD-10-CM codes."""
    code = r"[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]+)?"
    for line in lines:
        match = re.search(rf"(?<![\w.])((?:{code}, )*{code}(?: or {code})?)\.$", line)
        if match and not line.startswith(("-", "|")):
            return tuple(re.split(r", | or ", match[1]))
    return ()


def _sites(lines: list[str]) -> tuple[PlaceOfService, ...]:
    keys = {phrase: key for key, phrase in wordings()["sites"].items()}
    for line in lines:
        listed = line.rpartition(": ")[2].removesuffix(".")
        found = [keys.get(word) for word in re.split(r", | or ", listed)]
        if None not in found and not line.startswith(("-", "|")):
            return tuple(PlaceOfService(str(name)) for name in found)
    return ()


def _documents(lines: list[str]) -> tuple[UploadableDocumentKind, ...]:
    found = (_DOCUMENT.match(line) for line in lines)
    return tuple(
        UploadableDocumentKind(match["kind"])
        for match in found
        if match is not None and not match["alternative"]
    )
