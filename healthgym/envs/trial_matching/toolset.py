"""The agent's verbs: read, search, and keep a shortlist."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import islice
from typing import Literal

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.shortlist import all_named, read_lines, without
from healthgym.envs.trial_matching.task import MatchingWorld
from healthgym.errors import ToolError

_ROWS, _HITS = 25, 10
_NOTE_PAGE, _PAGE = 3000, 6000
_MOST_READ, _MOST_CRITERIA = 8, 1900
_MOST_TEXT = 60_000
_MOST_PROBLEMS = 3
_ID = re.compile(r"NCT\d{8}")


class MatchingToolset(Toolset[MatchingWorld]):
    """Read the note and the trials; write and submit the shortlist."""

    # -- reading -----------------------------------------------------------------------------

    @tool(ToolKind.READ)
    def read_note(self, page: int = 1) -> str:
        """Read the patient's admission note.

        Args:
            page: Page of the note, from 1.
        """
        return _page_of(self.world.note, page, _NOTE_PAGE)

    @tool(ToolKind.READ)
    def list_trials(self, page: int = 1) -> str:
        """List the pool, 25 trials a page: number | title | conditions | sex and ages.

        Args:
            page: Page of the list, from 1.
        """
        return self._rows(self.world.corpus.ids, page, _ROWS)

    @tool(ToolKind.READ)
    def search_trials(
        self,
        query: str,
        sex: Literal["", "Female", "Male"] = "",
        age: int = -1,
        page: int = 1,
    ) -> str:
        """Search titles, summaries, conditions and criteria of the pool by words, best first.

        Ten trials a page: number | title | conditions | sex and ages.

        Args:
            query: Words to look for, e.g. "type 2 diabetes metformin".
            sex: Only trials that admit this sex.
            age: Only trials that admit this age in whole years, e.g. 57; -1 for any age.
            page: Page of the results, from 1.
        """
        found = self.world.corpus.search(query[:2000])
        if sex or age >= 0:
            found = [id_ for id_ in found if self._record(id_).admits(sex, age)]
        if not found:
            return "No trial matches. Try other words."
        return self._rows(found, page, _HITS)

    @tool(ToolKind.READ)
    def read_trial(
        self,
        nct_id: str,
        section: Literal["overview", "description", "eligibility", "xml"] = "eligibility",
        page: int = 1,
    ) -> str:
        """Read one section of a trial's record.

        Args:
            nct_id: Registry number, e.g. "NCT01234567".
            section: The eligibility criteria; the overview (conditions, interventions, summary);
                the detailed description; or the whole record as XML.
            page: Page of the section, from 1.
        """
        return _page_of(self._record(nct_id).section(section), page, _PAGE)

    @tool(ToolKind.READ)
    def read_eligibility(self, nct_ids: list[str]) -> str:
        """Read the eligibility criteria of several trials at once.

        Args:
            nct_ids: One to eight registry numbers, e.g. ["NCT01234567", "NCT07654321"].
        """
        if not 1 <= len(nct_ids) <= _MOST_READ:
            raise ToolError(f"Name 1 to {_MOST_READ} trials, not {len(nct_ids)}.")
        texts = [self._record(id_).eligibility for id_ in nct_ids]
        return "\n\n".join(
            text
            if len(text) <= _MOST_CRITERIA
            else f"{text[:_MOST_CRITERIA]}\n(cut; read_trial shows the whole)"
            for text in texts
        )

    @tool(ToolKind.READ)
    def show_shortlist(self) -> str:
        """Show the shortlist in its order."""
        lines = self.world.draft
        shown = "\n".join(f"{n}. {_unranked(line, n)}" for n, line in enumerate(lines[:100], 1))
        more = f"\n({len(lines) - 100} more)" if len(lines) > 100 else ""
        return f"{shown}{more}" if lines else "The shortlist is empty."

    # -- writing -----------------------------------------------------------------------------

    @tool(ToolKind.WRITE)
    def add_to_shortlist(self, nct_ids: list[str], position: int = 0) -> str:
        """Put trials of the pool on the shortlist.

        Args:
            nct_ids: Registry numbers in order of confidence, e.g. ["NCT01234567"].
            position: Place of the first of them, from 1; 0 puts them at the end.
        """
        ids = self._known(nct_ids)
        lines = list(self.world.draft)
        listed = all_named(lines)
        again = [id_ for id_ in ids if id_ in listed]
        if again:
            raise ToolError(f"On the shortlist already: {', '.join(again[:8])}.")
        if not 0 <= position <= len(lines) + 1:
            raise ToolError(f"position lies between 0 and {len(lines) + 1}.")
        place = position - 1 if position else len(lines)
        self.world.write([*lines[:place], *ids, *lines[place:]])
        return self._count()

    @tool(ToolKind.WRITE)
    def remove_from_shortlist(self, nct_ids: list[str]) -> str:
        """Take trials off the shortlist.

        Args:
            nct_ids: Registry numbers, e.g. ["NCT01234567"].
        """
        wanted = [id_.strip().upper() for id_ in nct_ids]
        missing = self._missing(wanted)
        if missing or not wanted:
            raise ToolError(f"Not on the shortlist: {', '.join(missing)[:200] or 'nothing named'}.")
        self.world.write(without(self.world.draft, wanted))
        return self._count()

    @tool(ToolKind.WRITE)
    def reorder_shortlist(self, nct_ids: list[str]) -> str:
        """Bring trials to the top of the shortlist in the given order; the others follow.

        Args:
            nct_ids: Registry numbers on the shortlist, the most confident first.
        """
        wanted = list(dict.fromkeys(id_.strip().upper() for id_ in nct_ids))
        missing = self._missing(wanted)
        if missing:
            raise ToolError(f"Not on the shortlist: {', '.join(missing)[:200]}.")
        lines = [*wanted, *without(self.world.draft, wanted)]
        if tuple(lines) == self.world.draft:
            raise ToolError("The shortlist has that order already.")
        self.world.write(lines)
        return self._count()

    @tool(ToolKind.WRITE)
    def write_shortlist(self, text: str) -> str:
        """Replace the whole shortlist by a text, one registry number a line.

        Around a number may stand a bullet, a rank, the trial's own title, and that the patient
        fits ("meets all criteria", "no exclusions"); with any other words a line is not read.

        Args:
            text: Lines such as "NCT01234567", the most confident first.
        """
        if len(text) > _MOST_TEXT:
            raise ToolError(f"The text may have {_MOST_TEXT} characters, not {len(text)}.")
        lines = tuple(text.splitlines())
        if lines == self.world.draft:
            raise ToolError("The shortlist reads so already.")
        self.world.write(lines)
        return "\n".join([self._count(), *self._unreadable(lines)])

    @tool(ToolKind.SUBMIT)
    def submit(self) -> str:
        """Hand in the shortlist as it stands, and end the episode."""
        return "Submitted."

    # -- helpers -----------------------------------------------------------------------------

    def _record(self, nct_id: str) -> TrialRecord:
        id_ = nct_id.strip().upper()
        if id_ not in self.world.corpus:
            shape = "" if _ID.fullmatch(id_) else " A number reads NCT and eight digits."
            raise ToolError(f"There is no trial {nct_id[:40]!r} in this pool.{shape}")
        return self.world.corpus.document(id_)

    def _known(self, nct_ids: Sequence[str]) -> list[str]:
        if not nct_ids:
            raise ToolError("Name at least one trial.")
        ids = [self._record(id_).nct_id for id_ in nct_ids]
        if len(set(ids)) < len(ids):
            raise ToolError("A trial is named twice.")
        return ids

    def _missing(self, wanted: Sequence[str]) -> list[str]:
        listed = all_named(self.world.draft)
        return [id_ for id_ in wanted if id_ not in listed]

    def _unreadable(self, lines: Sequence[str]) -> list[str]:
        """Return why lines cannot be read, the first few of them."""

        def names(id_: str) -> tuple[str, ...]:
            return self._record(id_).names if id_ in self.world.corpus else ()

        problems = (
            f"Line {number} cannot be read: {problem}."
            for number, line in enumerate(read_lines(lines, names), 1)
            if (problem := line.problem)
        )
        return list(islice(problems, _MOST_PROBLEMS))

    def _count(self) -> str:
        count = len(self.world.draft)
        return f"The shortlist has {count} entr{'y' if count == 1 else 'ies'}."

    def _rows(self, ids: Sequence[str], page: int, size: int) -> str:
        pages = math.ceil(len(ids) / size)
        if not 1 <= page <= pages:
            raise ToolError(f"page lies between 1 and {pages}.")
        rows = [self._record(id_).row for id_ in ids[(page - 1) * size : page * size]]
        return "\n".join([*rows, f"(page {page} of {pages}, {len(ids)} trials)"])


def _unranked(line: str, place: int) -> str:
    """Return the beginning of a line, less the place in the list that it was written with."""
    return re.sub(rf"^\s*{place}[.)]\s+", "", line)[:200]


def _page_of(text: str, page: int, size: int) -> str:
    pages = max(math.ceil(len(text) / size), 1)
    if not 1 <= page <= pages:
        raise ToolError(f"page lies between 1 and {pages}.")
    shown = text[(page - 1) * size : page * size]
    return shown if pages == 1 else f"{shown}\n(page {page} of {pages})"
