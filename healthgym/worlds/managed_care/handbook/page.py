"""A page of the handbook: its card, its text, and its parts by heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

_HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_SHOWN_HEADINGS = 30


class Audience(StrEnum):
    """Whom a page is written for."""

    PROVIDER = "provider"
    PAYER = "payer"
    CARE_MANAGER = "care_manager"


class Heading(NamedTuple):
    """A heading, its depth, and where its part of the text begins and ends."""

    depth: int
    title: str
    start: int
    end: int


class Link(NamedTuple):
    """A reference to a page, from the root of the library; the anchor may be empty."""

    path: str
    anchor: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known of a page without opening it.

    Attributes:
        path: From the root of the library, such as ``payer-um/01-workflow.md``.
        title: As the contents show it.
        version: Edition of the page, such as ``2026.1``.
        effective: First day on which it holds.
        supersedes: Path of the version that it replaces; empty if none is kept.
        amends: Paths of the pages some rule of which it changes.
        audience: Whom it is written for; empty stands for everybody.
    """

    path: str
    title: str
    version: str
    effective: date
    supersedes: str = ""
    amends: tuple[str, ...] = ()
    audience: tuple[Audience, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Card):
    """A page with its text.

    Attributes:
        text: Markdown, beginning with its first heading.
    """

    text: str

    def headings(self) -> tuple[Heading, ...]:
        """Return the headings in order, each with the span of its part, parts within included."""
        found = [(len(match[1]), match[2], match.start()) for match in _HEADING.finditer(self.text)]
        spans = []
        for number, (depth, title, start) in enumerate(found):
            later = (begin for other, _, begin in found[number + 1 :] if other <= depth)
            spans.append(Heading(depth, title, start, next(later, len(self.text))))
        return tuple(spans)

    def section(self, heading: str) -> str:
        """Return the part of the text under a heading, the heading's line included.

        Args:
            heading: The heading's words; case and punctuation do not matter. Any of its words
                that follow each other will do where they fit one heading only.

        Raises:
            Refusal: If the page has no such heading, or several.
        """
        headings = self.headings()
        fitting = _fitting(headings, slug(heading))
        titles = list(dict.fromkeys(each.title for each in fitting))
        if len(titles) == 1:
            return self.text[fitting[0].start : fitting[0].end].rstrip()
        if titles:
            known = "; ".join(titles[:_SHOWN_HEADINGS])
            said = f"has several headings that fit {heading[:80]!r}; name one of: {known}."
        else:
            known = "; ".join(each.title for each in headings[:_SHOWN_HEADINGS])
            said = f"has no heading {heading[:80]!r}; its headings are: {known}."
        raise Refusal(RefusalCode.NOT_FOUND, f"{self.path} {said}")

    def links(self) -> Iterator[Link]:
        """Yield the references to other pages and to headings, with their line in the text."""
        for match in _LINK.finditer(self.text):
            if "://" not in match[1]:
                path, _, anchor = match[1].partition("#")
                line = self.text.count("\n", 0, match.start()) + 1
                yield Link(path or self.path, anchor, line)

    def anchors(self) -> frozenset[str]:
        """Return what a reference may name after ``#``."""
        return frozenset(slug(match[2]) for match in _HEADING.finditer(self.text))


class DeferredPage(Deferred, Page):
    """A page whose text is made when somebody first reads or searches it."""

    __slots__ = ("_write",)

    plain = Page
    late = ("text",)


def _fitting(headings: tuple[Heading, ...], wanted: str) -> list[Heading]:
    """Return the headings that a reader means: those of these words, else those that hold them.

    Whole words go before parts of words, and the beginning of a heading before its middle.
    """
    if not wanted:
        return []
    tests: tuple[Callable[[str], bool], ...] = (
        lambda name: name == wanted,
        lambda name: name.startswith(wanted),
        lambda name: f"-{wanted}-" in f"-{name}-",
        lambda name: wanted in name,
    )
    for test in tests:
        found = [each for each in headings if test(slug(each.title))]
        if found:
            return found
    return []


def slug(heading: str) -> str:
    """Return a heading as references name it: lower case, words joined by hyphens."""
    return _NOT_IN_SLUG.sub("-", heading.lower()).strip("-")
