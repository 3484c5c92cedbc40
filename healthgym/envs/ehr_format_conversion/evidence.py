"""What both profiles look at: the files an episode left behind, read once."""

from __future__ import annotations

from functools import cached_property

import polars as pl

from healthgym.core.task import Task
from healthgym.core.verifier import Evidence
from healthgym.envs.ehr_format_conversion.task import ConversionReference
from healthgym.envs.ehr_format_conversion.wording import COHORT, CUSTOM_CONFIG
from healthgym.errors import ToolError
from healthgym.worlds.etl.config import EventConfig, parse_config
from healthgym.worlds.etl.hashes import read_parquet
from healthgym.worlds.etl.pipeline import Cohort
from healthgym.worlds.etl.world import EtlWorld

DATA = "data/"


class Handover:
    """The configuration and the cohort as they lie in the workspace, and those asked for.

    Args:
        evidence: The episode.
    """

    def __init__(self, evidence: Evidence[Task, ConversionReference, EtlWorld]) -> None:
        self.reference = evidence.reference
        self.world = evidence.after
        self.start = evidence.before.workspace.files
        self._frames: dict[str, pl.DataFrame | None] = {}

    def text(self, path: str) -> str | None:
        """Return a file as text, or None if it is not there or no text."""
        try:
            return self.world.read_text(path)
        except ToolError:
            return None

    def config(self, path: str = CUSTOM_CONFIG) -> tuple[EventConfig | None, str]:
        """Return a parsed configuration, or None and the reason."""
        text = self.text(path)
        if text is None:
            return None, f"{path} is not there"
        try:
            return parse_config(text), ""
        except ToolError as error:
            return None, str(error)

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The files of the cohort, by path below its folder."""
        start = f"{COHORT}/"
        return {
            path.removeprefix(start): contents
            for path, contents in self.world.written().items()
            if path.startswith(start)
        }

    @cached_property
    def expected(self) -> Cohort:
        """The cohort asked for.

        A run is a function of tables and configuration, so where the submitted text is the one
        asked for, the cohort it produces is the one asked for, and need not be made twice.
        """
        if self.text(CUSTOM_CONFIG) == self.reference.config and self.produced is not None:
            return self.produced
        return self.reference.cohort()

    @cached_property
    def produced(self) -> Cohort | None:
        """What the pipeline makes of the submitted configuration, run again; None if nothing."""
        text = self.text(CUSTOM_CONFIG)
        if text is None:
            return None
        try:
            return self.world.workspace.pipeline.run(text)
        except ToolError:
            return None

    def frame(self, path: str) -> pl.DataFrame | None:
        """Return a parquet file of the cohort, or None if it is none."""
        if path not in self._frames:
            try:
                self._frames[path] = read_parquet(self.files.get(path, b""))
            except ToolError:
                self._frames[path] = None
        return self._frames[path]

    def asked(self, path: str) -> pl.DataFrame:
        """Return a parquet file of the cohort asked for."""
        return read_parquet(self.expected.files[path])

    def same_bytes(self, path: str) -> bool:
        """Return whether a file is, byte by byte, the one asked for."""
        return self.files.get(path) == self.expected.files[path]

    def same_data(self) -> bool:
        """Return whether all events files are, byte by byte, those asked for."""
        paths = {path for path in (*self.files, *self.expected.files) if path.startswith(DATA)}
        return all(self.files.get(path) == self.expected.files.get(path) for path in paths)

    def codes(self) -> pl.DataFrame:
        """Return code and number of events of the cohort; empty where there is none."""
        return _counted([self.frame(path) for path in self.files if path.startswith(DATA)])

    def asked_codes(self) -> pl.DataFrame:
        """Return code and number of events of the cohort asked for."""
        paths = [path for path in self.expected.files if path.startswith(DATA)]
        return _counted([self.asked(path) for path in paths])

    def required_families(self) -> tuple[str, ...]:
        """Return the first parts of the codes that the request brings in."""
        wanted = parse_config(self.reference.config)
        default = parse_config(self.reference.default)
        new = {block.code[0] for block in wanted.blocks} - {
            block.code[0] for block in default.blocks
        }
        return tuple(sorted(part.text for part in new if not part.column))


def _counted(frames: list[pl.DataFrame | None]) -> pl.DataFrame:
    codes = [
        frame.select("code")
        for frame in frames
        if frame is not None and frame.schema.get("code") == pl.String
    ]
    empty = pl.DataFrame(schema={"code": pl.String})
    return pl.concat([empty, *codes]).group_by("code").len().sort("code")
