"""From the result of a query to features and predictions, and what is said about those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from healthgym.envs.ehr_event_modelling.features import MOST_COLUMNS, FeatureSet, Matrix
from healthgym.envs.ehr_event_modelling.labels import Rows
from healthgym.envs.ehr_event_modelling.rerun import run_again
from healthgym.envs.ehr_event_modelling.task import Part, Predictions, Study
from healthgym.envs.ehr_event_modelling.timeline import DAY, Floats, Ints, minutes_of, moment_of
from healthgym.envs.ehr_event_modelling.world import ModellingWorld
from healthgym.errors import ToolError
from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.sql import SqlEngine
from healthgym.worlds.workspace.sql_process import SqlResult
from healthgym.worlds.workspace.values import values

_MOST_ROWS = 200_000
_KEYS = ("patient_id", "prediction_time")
_SCORE = "probability"
#: Keys are compared by the minute: what differs in seconds only is another key for the source.
_PART_OF_MINUTE = "prediction_time is a whole minute, as in test_examples."
_CALENDAR = "prediction_time lies between the years 1 and 9999."
_FIRST, _LAST = minutes_of(datetime.min), minutes_of(datetime.max)
_MOST_ID = 2**63 - 1


def features(world: ModellingWorld, query: str) -> FeatureSet:
    """Return the feature set that a query makes, and whether it looks past prediction times.

    Raises:
        ToolError: If the query fails, or its columns are not as they should be.
    """
    found = _Cells.read(_run(world.sql, query))
    made, matched = {}, 0
    for part in Part:
        keys = _row_keys(world.study, world.study.rows(part))
        matched += sum(key in found.place for key in keys)
        made[part] = found.rows(keys)
    if not matched:
        raise ToolError("No row of the result is a patient_id and prediction_time of all_rows.")
    return FeatureSet(
        found.names,
        made[Part.TRAIN],
        made[Part.VALIDATION],
        made[Part.TEST],
        _looks_ahead(world, query, found),
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """What a feature query says.

    Attributes:
        names: Names of the columns.
        place: Where each row stands, by patient id and time.
        values: Shape ``(rows + 1, columns)``; the last row is empty.
    """

    names: tuple[str, ...]
    place: Mapping[tuple[int, int], int]
    values: Matrix

    @classmethod
    def read(cls, found: SqlResult) -> _Cells:
        names = [name for name in found.columns if name not in _KEYS]
        if not names or len(set(names)) < len(names) or len(names) > MOST_COLUMNS:
            raise ToolError(f"Give 1 to {MOST_COLUMNS} feature columns with different names.")
        patient, time = _keys(found)
        # What float32 cannot hold becomes infinite, and is emptied.
        with np.errstate(over="ignore"):
            values = np.stack([_numbers(found, name) for name in names], axis=1).astype(np.float32)
        values[~np.isfinite(values)] = np.nan
        place: dict[tuple[int, int], int] = {}
        for number, key in enumerate(zip(patient.tolist(), time.tolist(), strict=True)):
            if place.setdefault(key, number) != number:
                raise ToolError(f"Patient {key[0]} has two rows at {moment_of(key[1])}.")
        blank = np.full((1, len(names)), np.nan, dtype=np.float32)
        return cls(tuple(names), place, np.vstack([values, blank]))

    def rows(self, keys: Sequence[tuple[int, int]]) -> Matrix:
        """Return the cells of some rows; empty ones where there is none."""
        return self.values[[self.place.get(key, len(self.values) - 1) for key in keys]]


def _looks_ahead(world: ModellingWorld, query: str, found: _Cells) -> bool:
    """Return whether a query says anything else of a row when the record ends there."""
    again: list[_Cells] = []
    cut = run_again(world, lambda engine: again.append(_Cells.read(_run(engine, query))))
    ids = world.study.timeline.patient_ids[cut.patient]
    keys = list(zip(ids.tolist(), cut.time.tolist(), strict=True))
    before, after = found.rows(keys), again[0].rows(keys)
    return found.names != again[0].names or not np.allclose(
        before, after, rtol=1e-4, atol=1e-6, equal_nan=True
    )


def predictions(world: ModellingWorld, query: str) -> Predictions:
    """Return the predictions that a query makes, as they are: nothing is checked for sense.

    Raises:
        ToolError: If the query fails, or lacks a column.
    """
    found = _run(world.sql, query)
    if _SCORE not in found.columns:
        raise ToolError(f"The result has no column {_SCORE}; it has {', '.join(found.columns)}.")
    patient, time = _keys(found)
    others = [name for name in found.columns if name not in (*_KEYS, _SCORE)]
    return Predictions(
        patient,
        time,
        _numbers(found, _SCORE),
        "a query",
        holes=any(found.data.column(name).null_count for name in others),
        as_written=_as_written(found),
    )


def align(made: Predictions, study: Study, part: Part) -> Floats:
    """Return the score of each row of a part.

    Raises:
        ToolError: If a row has no score, or two.
    """
    keys = zip(made.patient_id.tolist(), made.time.tolist(), strict=True)
    scores = dict(zip(keys, made.probability.tolist(), strict=True))
    if len(scores) < len(made):
        raise ToolError("A row has two scores.")
    found = np.array([scores.get(key, np.nan) for key in _row_keys(study, study.rows(part))])
    missing = int(np.isnan(found).sum())
    if missing:
        raise ToolError(f"{missing} of {len(found)} rows of {part} have no score.")
    return found


def summary(made: Predictions, study: Study) -> str:
    """Describe a draft: what is there and what is not, and nothing about how good it is."""
    wanted = set(_row_keys(study, study.test))
    given = list(zip(made.patient_id.tolist(), made.time.tolist(), strict=True))
    missing = len(wanted - set(given))
    lines = [f"Draft from {made.origin}: {len(made)} rows for {len(wanted)} test rows."]
    if missing:
        lines.append(f"{missing} test rows have no prediction.")
    if len(set(given)) < len(given):
        lines.append(f"{len(given) - len(set(given))} rows are double.")
    extra = len(set(given) - wanted)
    if extra:
        lines.append(f"{extra} rows are no test rows.")
    score = made.probability
    usable = score[np.isfinite(score)]
    if len(usable) < len(score):
        lines.append(f"{len(score) - len(usable)} probabilities are missing.")
    if len(usable):
        low, high = float(usable.min()), float(usable.max())
        lines.append(
            f"probabilities: {low:.4g} to {high:.4g}, mean {float(usable.mean()):.4g}, "
            f"{len(np.unique(usable))} different values"
        )
        if low < 0 or high > 1:
            lines.append("Some probabilities lie outside 0 to 1.")
    if made.peeks:
        lines.append("They come from features that look past the prediction time.")
    for (patient, time), value in list(zip(given, score.tolist(), strict=True))[:5]:
        lines.append(f"  {patient} | {moment_of(time)} | {value:.4g}")
    return "\n".join(lines)


def _row_keys(study: Study, rows: Rows) -> list[tuple[int, int]]:
    ids = study.timeline.patient_ids[rows.patient]
    return list(zip(ids.tolist(), rows.time.tolist(), strict=True))


def _run(engine: SqlEngine, query: str) -> SqlResult:
    found = engine.query(query, limits=replace(engine.limits, rows=_MOST_ROWS))
    if found.more:
        raise ToolError(f"The result has more than {_MOST_ROWS} rows.")
    missing = [name for name in _KEYS if name not in found.columns]
    if missing:
        raise ToolError(
            f"The result has no column {' and '.join(missing)}; it has {', '.join(found.columns)}."
        )
    if len(set(found.columns)) < len(found.columns):
        raise ToolError("Two columns of the result have the same name.")
    return found


def _patients(found: SqlResult) -> Ints:
    pa = require("pyarrow")
    column = found.data.column(_KEYS[0])
    if pa.types.is_integer(column.type) and not column.null_count:
        if column.length() and (column.to_numpy() > np.uint64(_MOST_ID)).any():
            raise ToolError("patient_id is out of range.")
        return np.asarray(column.to_numpy(), dtype=np.int64)
    return np.array([_patient(value) for value in values(column)], dtype=np.int64)


def _patient(value: object) -> int:
    """Return an id that is a text or a decimal, as it comes out of a file or a join."""
    text = value.strip().removesuffix(".0") if isinstance(value, str) else value
    try:
        number = int(text) if isinstance(text, str | float | Decimal) else None
    except (ValueError, OverflowError, InvalidOperation):
        number = None
    if number is None or (not isinstance(text, str) and number != text):
        raise ToolError("patient_id is a whole number, and never empty.")
    if abs(number) > _MOST_ID:
        raise ToolError("patient_id is out of range.")
    return number


def _keys(found: SqlResult) -> tuple[Ints, Ints]:
    pa = require("pyarrow")
    patient = _patients(found)
    moments = found.data.column(_KEYS[1])
    if pa.types.is_timestamp(moments.type) or pa.types.is_date(moments.type):
        if moments.null_count:
            raise ToolError("prediction_time is never empty.")
        try:
            exact = moments.cast(pa.timestamp("us")).to_numpy()
        except pa.ArrowInvalid:  # more than 64 bits hold
            raise ToolError(_CALENDAR) from None
        minutes, rest = np.divmod(exact.astype(np.int64), 60_000_000)
        if len(minutes) and not (minutes.min() >= _FIRST and minutes.max() <= _LAST):
            raise ToolError(_CALENDAR)
        if rest.any():
            raise ToolError(_PART_OF_MINUTE)
        return patient, _of_day(minutes)
    times = [_minutes(value) for value in values(moments)]
    return patient, _of_day(np.array(times, dtype=np.int64))


def _of_day(minutes: Ints) -> Ints:
    """Return the prediction times of days that are given without one: 23:59."""
    return np.where(minutes % DAY == 0, minutes + DAY - 1, minutes).astype(np.int64)


def _as_written(found: SqlResult) -> bool:
    """Return whether the times are those of test_examples and not days alone."""
    days = [str(value)[11:16] in ("", "00:00") for value in values(found.data.column(_KEYS[1]))]
    return not any(days)


def _minutes(value: object) -> int:
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip()).replace(tzinfo=None)
        except ValueError:
            pass
        else:
            if moment.second or moment.microsecond:
                raise ToolError(_PART_OF_MINUTE)
            return minutes_of(moment)
    raise ToolError(f"{str(value)[:60]!r} is no prediction_time, such as '2015-03-02 23:59:00'.")


def _numbers(found: SqlResult, name: str) -> NDArray[np.float64]:
    pa = require("pyarrow")
    column = found.data.column(name)
    kind = column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (numeric or text or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
        raise ToolError(f"{name} is {kind}, not a number.")
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    try:
        return np.array([np.nan if value is None else float(value) for value in values(column)])
    except ValueError:
        raise ToolError(f"{name} is text, not a number.") from None
