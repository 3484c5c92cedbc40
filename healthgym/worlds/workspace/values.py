"""From Arrow to Python: whatever a database holds; as text, where Python has no value for it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from healthgym.core.borders import Json
from healthgym.worlds.workspace.optional import require

if TYPE_CHECKING:
    import pyarrow as pa

#: DuckDB writes infinite times as the largest number of their type, and as minus that.
_INFINITE = {32: 2**31 - 1, 64: 2**63 - 1}
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400
#: Days after which the calendar repeats, and the years that these are.
_ERA_DAYS, _ERA_YEARS = 146_097, 400
_EPOCH = date(1970, 1, 1)


def values(column: pa.ChunkedArray) -> list[Json]:
    """Return the values of a column.

    Days and times that Python's calendar does not reach, and infinite ones, are text as DuckDB
    writes it; so is the end of a day, and, in words, what Python has no value for at all. Times
    are Python's own, to the microsecond, and zones UTC: they mean the same in any process.
    """
    failures = _failures()
    if _direct(column.type):
        try:
            return list(column.to_pylist())
        except failures:
            pass
    return [_value(scalar, failures) for scalar in column]


def _direct(kind: pa.DataType) -> bool:
    """Return whether Arrow's own values will do: of times it needs pandas, or zones' files."""
    types = require("pyarrow").types
    if types.is_timestamp(kind):
        return kind.unit != "ns" and kind.tz is None
    if types.is_time(kind):
        return False
    return all(_direct(kind.field(place).type) for place in range(kind.num_fields))


def _failures() -> tuple[type[Exception], ...]:
    arrow: type[Exception] = require("pyarrow").ArrowException
    return ArithmeticError, ValueError, LookupError, TypeError, NotImplementedError, arrow


def _value(scalar: pa.Scalar, failures: tuple[type[Exception], ...]) -> Json:
    """Return one value; within lists and records only what has no value becomes text."""
    if not scalar.is_valid:
        return None
    types = require("pyarrow").types
    kind = scalar.type
    if types.is_timestamp(kind):
        return _moment(int(scalar.value), kind.unit, kind.tz)
    if types.is_time(kind):
        return _hour(int(scalar.value), kind.unit)
    if _direct(kind):
        try:
            return scalar.as_py()
        except failures:
            pass
    if types.is_date(kind):
        return _day(int(scalar.cast(require("pyarrow").int32()).as_py()))
    if types.is_struct(kind):
        # By place: two fields may have the same name, and then it is no dictionary.
        fields = [
            (str(field.name), _value(scalar[place], failures)) for place, field in enumerate(kind)
        ]
        return dict(fields) if len(dict(fields)) == len(fields) else fields
    if types.is_map(kind):
        return [tuple(_value(item[place], failures) for place in (0, 1)) for item in scalar.values]
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [_value(item, failures) for item in scalar.values]
    return f"(a value of type {kind})"


def _day(number: int) -> str:
    """Return a day, counted from 1970, as text.

    Args:
        number: Days; 32 bits.
    """
    if abs(number) == _INFINITE[32]:
        return "infinity" if number > 0 else "-infinity"
    era, day = divmod(number, _ERA_DAYS)
    found = _EPOCH + timedelta(days=day)
    year = found.year + era * _ERA_YEARS
    rest = f"{found:%m-%d}"
    # There is no year 0: what is counted as 0 is the year 1 before Christ.
    return f"{year:04d}-{rest}" if year > 0 else f"{1 - year:04d}-{rest} (BC)"


def _hour(number: int, unit: str) -> time | str:
    """Return a time of day; SQL's last one, 24:00, has none in Python."""
    since = timedelta(microseconds=number * 10**6 // _UNITS[unit])
    return (datetime.min + since).time() if since < timedelta(days=1) else "24:00:00"


def _moment(number: int, unit: str, zone: str | None) -> datetime | str:
    """Return a time, counted from 1970; as text where Python's calendar does not reach.

    Args:
        number: Time in units; 64 bits.
        unit: One of s, ms, us, ns.
        zone: Name of the time zone; the text is of UTC.
    """
    if abs(number) == _INFINITE[64]:
        return "infinity" if number > 0 else "-infinity"
    try:
        start = datetime(1970, 1, 1, tzinfo=UTC if zone else None)
        return start + timedelta(microseconds=number * 10**6 // _UNITS[unit])
    except OverflowError:
        pass
    seconds, part = divmod(number, _UNITS[unit])
    day, second = divmod(seconds, _DAY)
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    digits = f"{part:0{len(str(_UNITS[unit])) - 1}d}".rstrip("0") if part else ""
    return f"{_day(day)} {clock}{f'.{digits}' if digits else ''}{'+00' if zone else ''}"
