"""The written edition: a folder of markdown pages with places for the rules' numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache, partial
from importlib.resources import as_file, files
from pathlib import Path

from healthgym.core.records import replace
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.handbook.draws import decisive_fields, drawn_fields
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import Audience, Card, DeferredPage, Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, usual_rules
from healthgym.worlds.managed_care.handbook.wording import PLACEHOLDER, fields_of, wording

_FENCE = "---"
_CARD = fields(Card)
_REQUIRED = ("title", "version", "effective")
_OPTIONAL = ("supersedes", "amends", "audience")
_VERSION = re.compile(r"\d{4}\.\d+")


@dataclass(frozen=True, slots=True)
class Template:
    """A page as written, before the numbers are filled in.

    Attributes:
        page: The page, its text with placeholders.
        fields: The fields of the rules that it states.
        first_line: Line of the file on which its text begins.
    """

    page: Page
    fields: frozenset[str]
    first_line: int

    def fill(self, rules: OperatingRules) -> Page:
        """Return the page as it reads under some rules."""
        return replace(self.page, text=self._text(rules)) if self.fields else self.page

    def later(self, rules: OperatingRules) -> Page:
        """Return the page as it reads under some rules, its text made when it is first read."""
        card = {item.name: getattr(self.page, item.name) for item in _CARD}
        return DeferredPage.later(partial(self._text, rules), **card)

    def _text(self, rules: OperatingRules) -> str:
        return PLACEHOLDER.sub(lambda match: _said(rules, match[1]), self.page.text)


@dataclass(frozen=True, slots=True)
class Edition:
    """All templates by path.

    Attributes:
        templates: Path -> template.
        stating: Field of the rules -> paths of the pages that state it.
    """

    templates: Mapping[str, Template]
    stating: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        stating: dict[str, tuple[str, ...]] = {}
        for path, template in self.templates.items():
            for name in sorted(template.fields):
                stating[name] = (*stating.get(name, ()), path)
        object.__setattr__(self, "stating", stating)

    def pages(self, rules: OperatingRules) -> list[Page]:
        """Return all pages under some rules."""
        return [template.fill(rules) for template in self.templates.values()]

    def overlay(self, rules: OperatingRules) -> tuple[Page, ...]:
        """Return the pages that read otherwise under some rules than under the usual ones."""
        return tuple(self.templates[path].later(rules) for path in self._changed(rules))

    def within(self, rules: OperatingRules, most: int) -> OperatingRules:
        """Return rules that change so many pages at most, as near to some as that allows.

        Numbers on which nothing hangs are given their usual values again, the last name first.

        Args:
            rules: The rules.
            most: How many pages may read otherwise than usual.
        """
        names = [name for name in drawn_fields() if name not in decisive_fields()]
        for name in ("state_hours", *reversed(names)):
            if len(self._changed(rules)) <= most:
                break
            rules = replace(rules, **{name: getattr(_USUAL, name)})
        return rules

    def _changed(self, rules: OperatingRules) -> list[str]:
        changed = rules.changed_from(_USUAL)
        return sorted({path for name in changed for path in self.stating.get(name, ())})


_USUAL = usual_rules()


def _said(rules: OperatingRules, placeholder: str) -> str:
    """Return what stands in a placeholder's place; the usual words are made once."""
    if all(getattr(rules, name) is getattr(_USUAL, name) for name in fields_of(placeholder)):
        return _usually_said(placeholder)
    return wording(rules, placeholder)


@cache
def _usually_said(placeholder: str) -> str:
    return wording(_USUAL, placeholder)


@cache
def edition() -> Edition:
    """Return the edition that comes with the package."""
    with as_file(files(__package__) / "pages") as folder:
        return load_edition(folder)


@cache
def supplements() -> Edition:
    """Return the pages that stand in a handbook only where a task needs them."""
    with as_file(files(__package__) / "supplements") as folder:
        return load_edition(folder, edition().templates)


@cache
def written_library() -> Library:
    """Return the written pages under the usual rules; made once for all environments."""
    return Library.of(edition().pages(_USUAL))


def load_edition(folder: Path, besides: Mapping[str, Template] | None = None) -> Edition:
    """Read a folder of pages. Anything wrong with one of them, and none is loaded.

    A page is a markdown file in UTF-8 with front matter: ``title``, ``version`` (``2026.1``) and
    ``effective`` (``2026-01-01``), and where they apply ``supersedes``, ``amends`` and
    ``audience``. Its path in the folder is its path in the library.

    Args:
        folder: The folder.
        besides: Pages that its references may lead to and that are not in it.

    Raises:
        MissingDataError: If there is no such folder, or no page in it.
        DamagedDataError: If front matter is broken, a placeholder or reference leads nowhere, two
            paths differ in case only, or a file is not UTF-8; it names file and line.
    """
    paths = sorted(folder.rglob("*.md")) if folder.is_dir() else []
    if not paths:
        raise MissingDataError(f"{folder} has no pages of a handbook (*.md).")
    templates: dict[str, Template] = {}
    folded: dict[str, str] = {}
    for path in paths:
        name = path.relative_to(folder).as_posix()
        other = folded.setdefault(name.lower(), name)
        if other != name:
            raise DamagedDataError(f"{path}:1: duplicate path, there is {other} already.")
        templates[name] = _read(path, name)
    known = {name: template.page for name, template in {**(besides or {}), **templates}.items()}
    check_references(known, {name: each.first_line for name, each in templates.items()}, folder)
    return Edition(templates)


def _read(path: Path, name: str) -> Template:
    data = path.read_bytes()
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DamagedDataError(f"{path}:{line}: not UTF-8 ({error.reason}).") from error
    if not lines or lines[0] != _FENCE:
        raise DamagedDataError(f"{path}:1: a page begins with front matter between lines of ---.")
    if _FENCE not in lines[1:]:
        raise DamagedDataError(f"{path}:{len(lines)}: the front matter has no end.")
    end = lines.index(_FENCE, 1)
    values = _front_matter(path, lines[1:end])
    text = "\n".join(lines[end + 1 :]).strip("\n") + "\n"
    first = next((n for n, line in enumerate(lines[end + 1 :], end + 2) if line), end + 1)
    if not text.startswith("# "):
        raise DamagedDataError(f"{path}:{first}: the text begins with its heading, '# ...'.")
    page = Page(
        path=name,
        title=values["title"],
        version=values["version"],
        effective=date.fromisoformat(values["effective"]),
        supersedes=values.get("supersedes", ""),
        amends=_names(values.get("amends", "")),
        audience=tuple(Audience(each) for each in _names(values.get("audience", ""))),
        text=text,
    )
    return Template(page, _checked_fields(path, text, first), first)


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _front_matter(path: Path, lines: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not value or key not in (*_REQUIRED, *_OPTIONAL) or key in values:
            raise DamagedDataError(
                f"{path}:{number}: no front matter that is known: {line[:60]!r}."
            )
        try:
            if key == "effective":
                date.fromisoformat(value)
            if key == "audience":
                _ = [Audience(each) for each in _names(value)]
        except ValueError as error:
            raise DamagedDataError(f"{path}:{number}: {error}.") from error
        if key == "version" and not _VERSION.fullmatch(value):
            raise DamagedDataError(
                f"{path}:{number}: a version is like 2026.1, not {value[:40]!r}."
            )
        values[key] = value
    missing = [key for key in _REQUIRED if key not in values]
    if missing:
        raise DamagedDataError(f"{path}:1: the front matter lacks {', '.join(missing)}.")
    return values


def _checked_fields(path: Path, text: str, first: int) -> frozenset[str]:
    """Return the fields that a text states, each of its placeholders tried."""
    names: set[str] = set()
    for match in PLACEHOLDER.finditer(text):
        try:
            wording(_USUAL, match[1])
        except KeyError as error:
            line = first + text.count("\n", 0, match.start())
            raise DamagedDataError(f"{path}:{line}: no rule is called {match[1]!r}.") from error
        names.update(fields_of(match[1]))
    return frozenset(names)


def check_references(
    pages: Mapping[str, Page], first_lines: Mapping[str, int], folder: Path
) -> None:
    """Make sure that every reference leads to a page and a heading, and every card to a page.

    Args:
        pages: All pages by path.
        first_lines: Line on which its text begins in the file of each page that is looked at.
        folder: Where the files are, for the message.

    Raises:
        DamagedDataError: If one does not; it names file and line.
    """
    anchors: dict[str, frozenset[str]] = {}
    for name in first_lines:
        page = pages[name]
        for other in filter(None, (page.supersedes, *page.amends)):
            if other not in pages:
                raise DamagedDataError(f"{folder / name}:1: front matter names {other}, no page.")
        for link in page.links():
            line = first_lines[name] + link.line - 1
            if link.path not in pages:
                raise DamagedDataError(f"{folder / name}:{line}: dead link to {link.path}.")
            if link.path not in anchors:
                anchors[link.path] = pages[link.path].anchors()
            if link.anchor and link.anchor not in anchors[link.path]:
                where = f"{link.path}#{link.anchor}"
                raise DamagedDataError(f"{folder / name}:{line}: dead link to {where}.")
