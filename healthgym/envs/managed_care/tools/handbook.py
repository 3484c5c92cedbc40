"""The operations handbook: looking for pages, reading them, leafing through the contents."""

from __future__ import annotations

from collections.abc import Sequence

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset
from healthgym.worlds.managed_care.handbook.library import Entry, Hit
from healthgym.worlds.managed_care.policies.pages import BULLETINS
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

_LONGEST_QUERY = 400
_NO_BULLETIN = (
    "No medical bulletin is in force: the folder of bulletins beside the policies is empty."
)


class HandbookToolset(OfficeToolset):
    """The manual that says how the offices work, and under which criteria the plan pays."""

    namespace = "handbook"

    @tool(ToolKind.READ, takes=LOOK)
    def search(self, query: str, section: str | None = None) -> str:
        """Search the handbook and show the pages that fit best, the best first.

        Each line has path, title, version and first day in force, then a line of the page. Check
        version and day: earlier versions and other plans' pages are found as well.

        Args:
            query: A few words on the subject, e.g. "knee arthroplasty conservative treatment";
                endings and order do not matter.
            section: Folder to look in, e.g. "medical-library/drug-pa"; everywhere if left out.
        """
        if not query.strip() or len(query) > _LONGEST_QUERY:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT, f"query: a few words, at most {_LONGEST_QUERY} letters."
            )
        if section and self._unfilled(section):
            return _NO_BULLETIN
        if section:
            self.world.handbook.contents(section)
        hits = self.world.handbook.search(query, section or "")
        return "\n".join(map(_hit, hits)) or f"No page has a word of {query!r}."

    @tool(ToolKind.READ, takes=LOOK)
    def read(self, path: str, heading: str | None = None) -> str:
        """Read a page of the handbook, or the part of it under one heading.

        Args:
            path: Path of the page from the root, as search, contents and references give it, e.g.
                "payer-um/operational/letters.md".
            heading: Words of a heading, e.g. "Denial"; the whole page if left out.
        """
        page = self.world.handbook.read(path)
        card = f"{page.path} | version {page.version}, effective {page.effective.isoformat()}"
        return f"{card}\n\n{page.section(heading) if heading else page.text.rstrip()}"

    @tool(ToolKind.READ, takes=LOOK)
    def contents(self, path: str | None = None) -> str:
        """Show what stands in a folder of the handbook, or the headings of a page.

        Args:
            path: Folder or page from the root, e.g. "medical-library"; the root if left out.
        """
        library = self.world.handbook
        if path and path.strip().lstrip("/") in library:
            headings = library.read(path).headings()
            return "\n".join(f"{'  ' * (each.depth - 1)}{each.title}" for each in headings)
        if path and self._unfilled(path):
            return _NO_BULLETIN
        return _listing(library.contents(path or ""))

    def _unfilled(self, folder: str) -> bool:
        """Return whether a folder is that of medical bulletins, on a day that has none."""
        named = folder.strip().strip("/") == BULLETINS
        return named and not any(True for _ in self.world.handbook.paths(f"{BULLETINS}/"))


def _hit(hit: Hit) -> str:
    card = hit.card
    under = f"{hit.heading}: " if hit.heading and hit.heading != card.title else ""
    return (
        f"{card.path} | {card.title} | {card.version}, effective {card.effective.isoformat()}\n"
        f"    {under}{hit.snippet}"
    )


def _listing(entries: Sequence[Entry]) -> str:
    return "\n".join(
        f"{entry.path} | {entry.title} | {entry.version}, effective {entry.effective.isoformat()}"
        if entry.effective
        else " | ".join(filter(None, [entry.path, entry.title, _pages(entry.pages)]))
        for entry in entries
    )


def _pages(number: int) -> str:
    return "1 page" if number == 1 else f"{number} pages"
