"""The pictures of a recording: those kept beside it, and those that playing it again shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from healthgym.cli.common import note
from healthgym.core.trajectory import Trajectory, picture_folder
from healthgym.errors import TrajectoryError
from healthgym.presentation.pictures import inline, png


class Pictures:
    """The pictures of recordings.

    Args:
        paths: The recordings; pictures that were kept are beside them.
        max_side: Most pixels of a picture's longer side in a data URL.
        replay: Whether to play an episode again for pictures that are not there.

    Attributes:
        missing: How many were asked for and not found.
    """

    def __init__(self, *paths: Path, max_side: int, replay: bool) -> None:
        self.missing = 0
        self._folders = [picture_folder(path) for path in paths]
        self._max_side = max_side
        self._replay = replay
        self._made: Mapping[str, bytes] = {}

    def of(self, run: Trajectory) -> None:
        """Get ready for the pictures of an episode."""
        self._made = {}
        names = {name for turn in run.turns for name in turn.pictures}
        if not self._replay or all(self._file(name) is not None for name in names):
            return
        from healthgym.testing.replay import replayed_pictures

        try:
            self._made = {name: png(image) for name, image in replayed_pictures(run).items()}
        except TrajectoryError as error:
            note(f"healthgym: no pictures: {error}")

    def read(self, name: str) -> bytes | None:
        """Return a picture by its fingerprint, as a PNG file; None if it is not at hand."""
        found = self._made.get(name)
        if found is None and (file := self._file(name)) is not None:
            found = file.read_bytes()
        self.missing += found is None
        return found

    def find(self, name: str) -> str | None:
        """Return a picture by its fingerprint, as a data URL; None if it is not at hand."""
        found = self.read(name)
        return None if found is None else inline(found, self._max_side)

    def _file(self, name: str) -> Path | None:
        # The name is data, and must not lead out of the folder.
        if not name.isalnum():
            raise TrajectoryError(f"{name[:80]!r} is no fingerprint of a picture.")
        files = (folder / f"{name}.png" for folder in self._folders)
        return next((file for file in files if file.is_file()), None)
