"""What is done to the raw tables before events are made, as MIMIC-IV-MEDS 0.0.7 does it.

Diagnoses and DRG codes get the discharge time of their stay, patients get a year of birth and a
time of death, and ICD codes get their dot.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from healthgym.errors import ToolError
from healthgym.worlds.etl.tables import RawTables


def _discharge_time(tables: RawTables, table: str) -> pl.DataFrame:
    stays = tables.prepared("hosp/admissions")
    times = stays.select("hadm_id", hadm_discharge_time="dischtime")
    return tables.prepared(table).join(times, on="hadm_id", how="left", maintain_order="left")


def _patients(tables: RawTables, table: str) -> pl.DataFrame:
    """Deaths in hospital are timed by the stay, others by the day; birth is known by year."""
    deaths = (
        tables.prepared("hosp/admissions").group_by("subject_id").agg(pl.col("deathtime").min())
    )
    people = tables.prepared(table).join(deaths, on="subject_id", how="left", maintain_order="left")
    born = (pl.col("anchor_year") - pl.col("anchor_age")).cast(pl.String)
    return people.select(
        "subject_id",
        dod=pl.coalesce("deathtime", "dod"),
        year_of_birth=born,
        gender="gender",
    )


def _dotted(code: pl.Expr, place: int) -> pl.Expr:
    split = code.str.slice(0, place) + "." + code.str.slice(place)
    return pl.when(code.str.len_chars() > place).then(split).otherwise(code)


def _icd(nine: pl.Expr, ten: pl.Expr) -> Callable[[RawTables, str], pl.DataFrame]:
    def prepare(tables: RawTables, table: str) -> pl.DataFrame:
        dotted = pl.when(pl.col("icd_version") == "9").then(nine).otherwise(ten)
        return tables.strings(table).with_columns(norm_icd_code=dotted)

    return prepare


_CODE = pl.col("icd_code")
_EXTERNAL = pl.when(_CODE.str.starts_with("E")).then(_dotted(_CODE, 4)).otherwise(_dotted(_CODE, 3))

_STEPS: dict[str, Callable[[RawTables, str], pl.DataFrame]] = {
    "hosp/diagnoses_icd": _discharge_time,
    "hosp/drgcodes": _discharge_time,
    "hosp/patients": _patients,
    "hosp/d_icd_diagnoses": _icd(_EXTERNAL, _dotted(_CODE, 3)),
    "hosp/d_icd_procedures": _icd(_dotted(_CODE, 2), _CODE),
}


class PreparedTables:
    """Raw tables after the step before the pipeline.

    Args:
        raw: The raw tables.
    """

    def __init__(self, raw: RawTables) -> None:
        self.raw = raw
        self._done: dict[str, pl.DataFrame] = {}

    def events(self, table: str) -> pl.DataFrame:
        """Return a table as event blocks read it.

        Raises:
            ToolError: If there is no such table, or it has no rows.
        """
        frame = self._prepared(table)
        if frame is None:
            frame = self.raw.events(table)
        if frame.height == 0:
            raise ToolError(f"Table {table} has no rows; leave it out of the configuration.")
        return frame

    def metadata(self, table: str) -> pl.DataFrame:
        """Return a table as code metadata reads it."""
        frame = self._prepared(table)
        return self.raw.strings(table) if frame is None else frame

    def _prepared(self, table: str) -> pl.DataFrame | None:
        if table not in _STEPS or table not in self.raw:
            return None
        if table not in self._done:
            self._done[table] = _STEPS[table](self.raw, table)
        return self._done[table]
