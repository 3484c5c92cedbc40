"""Raw tables and an event configuration in, a MEDS cohort out."""

from __future__ import annotations

import io
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from healthgym.core.seeding import content_hash
from healthgym.errors import ToolError
from healthgym.worlds.etl.codes import code_metadata
from healthgym.worlds.etl.config import EventConfig, parse_config
from healthgym.worlds.etl.events import SUBJECT, table_events
from healthgym.worlds.etl.premeds import PreparedTables
from healthgym.worlds.etl.splits import shard_subjects
from healthgym.worlds.etl.tables import RawTables

#: Leading columns of an events file, with their types.
_LEADING: Mapping[str, pl.DataType] = {
    SUBJECT: pl.Int64(),
    "time": pl.Datetime("us"),
    "code": pl.String(),
    "numeric_value": pl.Float32(),
}
#: Arrow types of the columns that the MEDS schemas fix and polars would write otherwise.
_EVENT_TYPES: Mapping[str, pa.DataType] = {"code": pa.string()}
_CODE_TYPES: Mapping[str, pa.DataType] = {
    "code": pa.string(),
    "description": pa.string(),
    "parent_codes": pa.list_(pa.string()),
}
_SPLIT_TYPES: Mapping[str, pa.DataType] = {"split": pa.string()}
DATASET_FILE = "metadata/dataset.json"
CODES_FILE = "metadata/codes.parquet"
SPLITS_FILE = "metadata/subject_splits.parquet"
#: Most cohorts of one set of tables that are kept for the next run of the same configuration.
_KEPT = 4
#: Most events a run may make for each raw row, so that a configuration cannot exhaust memory.
_MAX_EVENTS = 40


@dataclass(frozen=True, slots=True)
class Dataset:
    """What ``dataset.json`` says about a cohort.

    Attributes:
        name: Name of the data set.
        version: Its version and that of the ETL, joined by a colon.
        created: When it was made; a constant, as a world has no other clock here.
    """

    name: str = "MIMIC-IV"
    version: str = "3.1:0.0.7"
    created: str = "2150-01-01T00:00:00"

    def to_json(self) -> bytes:
        """Return the file."""
        facts = {
            "dataset_name": self.name,
            "dataset_version": self.version,
            "etl_name": "MEDS_transforms",
            "etl_version": "0.2.4",
            "meds_version": "0.3.3",
            "created_at": self.created,
        }
        return json.dumps(facts).encode()


@dataclass(frozen=True, slots=True)
class Cohort:
    """A MEDS data set, as the files of its folder.

    Attributes:
        files: Contents by path below the folder.
        rows: Number of events in each shard ``split/number``.
    """

    files: Mapping[str, bytes]
    rows: Mapping[str, int]


class Pipeline:
    """The ETL over one set of raw tables. Runs are pure, and the last ones are remembered.

    Args:
        raw: The raw tables.
        dataset: What to write into ``dataset.json``.
        per_shard: Most subjects in a shard.
    """

    def __init__(
        self, raw: RawTables, dataset: Dataset | None = None, *, per_shard: int = 1000
    ) -> None:
        self.raw = raw
        self.tables = PreparedTables(raw)
        self.dataset = dataset or Dataset()
        self._per_shard = per_shard
        self._kept: OrderedDict[str, Cohort] = OrderedDict()

    def run(self, config_text: str) -> Cohort:
        """Return the cohort that a configuration makes of the tables.

        Raises:
            ToolError: If the configuration is not valid for these tables.
        """
        key = content_hash(config_text)
        cohort = self._kept.get(key)
        if cohort is None:
            try:
                cohort = self._run(parse_config(config_text))
            except pl.exceptions.PolarsError as error:
                reason = " ".join(str(error).split())[:300]
                raise ToolError(f"The pipeline stopped: {reason}") from None
            self._kept[key] = cohort
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return cohort

    def events(self, config: EventConfig) -> pl.DataFrame:
        """Return all events, sorted by subject and time, ties in the order of the configuration.

        Raises:
            ToolError: If the configuration does not fit the tables.
            PolarsError: If a value does not fit its use.
        """
        self._check_size(config)
        parts = [
            table_events(self.tables.events(table), config.of_table(table), subject)
            for table, subject in config.subjects.items()
        ]
        merged = pl.concat(parts, how="diagonal_relaxed").unique(maintain_order=True)
        return merged.sort([SUBJECT, "time"], maintain_order=True).collect()

    def _check_size(self, config: EventConfig) -> None:
        rows = {table: self.tables.events(table).height for table in config.subjects}
        events = sum(rows[block.table] for block in config.blocks)
        if events > _MAX_EVENTS * sum(rows.values()):
            raise ToolError("The configuration makes too many events of each row.")

    def _subjects(self, config: EventConfig) -> dict[str, list[int]]:
        people = [
            self.tables.events(table).get_column(subject).drop_nulls().unique().cast(pl.Int64)
            for table, subject in config.subjects.items()
        ]
        return shard_subjects(pl.concat(people).to_numpy(), per_shard=self._per_shard)

    def _run(self, config: EventConfig) -> Cohort:
        events = _finalized(self.events(config))
        shards = self._subjects(config)
        files: dict[str, bytes] = {}
        rows: dict[str, int] = {}
        for shard, people in shards.items():
            chosen = events.filter(pl.col(SUBJECT).is_in(people))
            rows[shard] = chosen.height
            files[f"data/{shard}.parquet"] = _parquet(chosen, _EVENT_TYPES)
        codes = code_metadata(config, self.tables, events.get_column("code").unique().to_list())
        files[CODES_FILE] = _parquet(codes, _CODE_TYPES)
        files[DATASET_FILE] = self.dataset.to_json()
        files[SPLITS_FILE] = _parquet(_splits(shards), _SPLIT_TYPES)
        return Cohort(files, rows)


def _finalized(events: pl.DataFrame) -> pl.DataFrame:
    """Return events with the four leading columns of MEDS, in their types."""
    leading = [
        pl.col(name).cast(dtype, strict=False)
        if name in events.columns
        else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in _LEADING.items()
    ]
    return events.select(*leading, *(name for name in events.columns if name not in _LEADING))


def _splits(shards: Mapping[str, list[int]]) -> pl.DataFrame:
    pairs = [
        (person, shard.rpartition("/")[0]) for shard, people in shards.items() for person in people
    ]
    return pl.DataFrame(pairs, schema={SUBJECT: pl.Int64, "split": pl.String}, orient="row")


def _parquet(frame: pl.DataFrame, types: Mapping[str, pa.DataType]) -> bytes:
    """Return a table as parquet: the columns of the MEDS schema in its types, others in polars'."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    fields = [pa.field(f.name, types.get(f.name, f.type)) for f in table.schema]
    sink = io.BytesIO()
    pq.write_table(table.cast(pa.schema(fields)), sink)
    return sink.getvalue()
