"""A reading room: a patient's radiographs and reports, and the text of findings in work."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from healthgym.core.clock import Clock
from healthgym.core.state import state
from healthgym.core.world import World
from healthgym.worlds.radiography.archive import Radiographs


class ReadingRoom(World):
    """What a radiologist has in front of them.

    Args:
        radiographs: The studies; shared, never changed.
        header: Sections of the last study's report before its findings.
        draft: Sentences of the findings as they were drafted.
        clock: The clock.
        limits: What to tell of the limits by which a measurement is judged, by its name, and
            after ``compare`` for a change of it; nothing where nobody has calibrated it.

    Attributes:
        sentences: Sentences of the findings as they stand.
    """

    sentences = state[tuple[str, ...]](())

    def __init__(
        self,
        radiographs: Radiographs,
        header: str,
        draft: tuple[str, ...],
        clock: Clock,
        limits: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.radiographs = radiographs
        self.header = header
        self.draft = draft
        self.sentences = draft
        self.clock = clock
        self.limits = limits

    @property
    def findings(self) -> str:
        """The findings as they stand, as one text."""
        return " ".join(sentence for sentence in self.sentences if sentence.strip())

    def rewrite(self, sentences: tuple[str, ...]) -> None:
        """Replace the sentences."""
        self.sentences = sentences
