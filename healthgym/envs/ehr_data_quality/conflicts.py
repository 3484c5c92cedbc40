"""Results that contradict each other: within a table, and between laboratory and bedside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import JsonDict
from healthgym.envs.ehr_data_quality.catalogue import catalogue
from healthgym.envs.ehr_data_quality.frames import NO_INT
from healthgym.envs.ehr_data_quality.impossible import written
from healthgym.envs.ehr_data_quality.ledger import Leak, Ledger, stratified
from healthgym.envs.ehr_data_quality.task import ErrorFamily, SubType

#: Minutes a duplicate may be off.
_JITTER = 5
#: Differences below these occur naturally, and would not show: as a share, and in last digits.
_SHARE, _DIGITS = 0.08, 2
#: Laboratory items of which a charted copy may be planted. Glucose is left out: finger stick and
#: laboratory disagree naturally, by up to a fifth.
_PAIRS = (50983, 50912, 51222)


def plant_conflicts(
    ledger: Ledger, scope: NDArray[np.int64], count: int, rng: np.random.Generator
) -> None:
    """Plant ``count`` duplicates in labevents, and ``count`` conflicts in chartevents.

    Of the latter half are duplicates, and half are copies of a laboratory result.
    """
    rows = {
        table: np.flatnonzero(np.isin(ledger.corpus.frames[table].array("subject_id"), scope))
        for table in ("labevents", "chartevents")
    }
    _in_table(ledger, "labevents", rows["labevents"], count, rng)
    _in_table(ledger, "chartevents", rows["chartevents"], count - count // 2, rng)
    _cross_table(ledger, rows["labevents"], count // 2, rng)


def _shows(ledger: Ledger, itemid: int, old: float, new: float) -> bool:
    digit = 10.0 ** -ledger.corpus.decimals(itemid)
    return abs(new - old) >= max(_SHARE * abs(old), (_DIGITS + 0.5) * digit)


def _in_table(
    ledger: Ledger,
    table: str,
    rows: NDArray[np.int64],
    count: int,
    rng: np.random.Generator,
) -> None:
    """Add a copy of a row, a few minutes off, with a value 10 to 50 % higher."""
    frame = ledger.corpus.frames[table]
    items, values = frame.array("itemid"), frame.array("valuenum")
    fit = np.nan_to_num(np.abs(values[rows])) > 1e-6
    fresh = _Fresh(ledger, rng)
    for row in stratified(rows[fit], items, count, rng):
        if count < 1:
            return
        itemid, value = int(items[row]), float(values[row])
        new = written(ledger, itemid, value * rng.uniform(1.1, 1.5))
        shift = np.timedelta64(60 * int(rng.integers(-_JITTER, _JITTER + 1)), "s")
        if not ledger.free(table, row) or not _shows(ledger, itemid, value, new["valuenum"]):
            continue
        cells = {name: frame.cell(name, row) for name in frame.columns}
        cells |= new | {"charttime": cells["charttime"] + shift}
        cells |= fresh.lab(cells) if table == "labevents" else fresh.chart(cells)
        if table == "labevents":
            cells["flag"] = _flag(cells)
        added = ledger.add(table, cells)
        ledger.touch((table, row))
        ledger.plant(ErrorFamily.INCONSISTENCY, SubType.IN_TABLE, [(table, row), added])
        count -= 1


def _flag(cells: JsonDict) -> str | None:
    low, high, value = (cells[key] for key in ("ref_range_lower", "ref_range_upper", "valuenum"))
    if low is None or high is None:
        return str(cells["flag"]) if cells["flag"] is not None else None
    return None if low <= value <= high else "abnormal"


class _Fresh:
    """What a row of its own would have: an id, a tube, a time of storage."""

    def __init__(self, ledger: Ledger, rng: np.random.Generator) -> None:
        self._rng = rng
        self._copied = Leak.COPIED_COLUMNS in ledger.leaks
        labs = ledger.corpus.frames["labevents"]
        self._taken = {name: labs.array(name) for name in ("labevent_id", "specimen_id")}
        self._given: set[int] = set()

    def _draw(self, column: str) -> int:
        taken = self._taken[column]
        low, high = int(taken.min()), int(taken.max())
        while True:
            number = int(self._rng.integers(low, high + 1))
            if number not in self._given and not np.any(taken == number):
                self._given.add(number)
                return number

    def lab(self, cells: JsonDict) -> JsonDict:
        """Return cells of a duplicate in labevents."""
        own: JsonDict = {"labevent_id": self._draw("labevent_id")}
        if not self._copied:
            own["specimen_id"] = self._draw("specimen_id")
            own["storetime"] = self._stored(cells, 15, 180)
        return own

    def chart(self, cells: JsonDict) -> JsonDict:
        """Return cells of a duplicate in chartevents."""
        return {} if self._copied else {"storetime": self._stored(cells, 0, 50)}

    def _stored(self, cells: JsonDict, low: int, high: int) -> Any:
        if cells.get("storetime") is None:
            return None
        return cells["charttime"] + np.timedelta64(60 * int(self._rng.integers(low, high)), "s")


def _cross_table(
    ledger: Ledger, rows: NDArray[np.int64], count: int, rng: np.random.Generator
) -> None:
    """Chart a copy of a laboratory result, 30 to 70 % higher.

    Only of results that nobody charted: beside a true copy it would be a conflict in the table.
    """
    labs, charts = ledger.corpus.frames["labevents"], ledger.corpus.frames["chartevents"]
    mirrors = {mirror.lab: mirror for mirror in catalogue().mirrors}
    items, values = labs.array("itemid"), labs.array("valuenum")
    fit = np.isin(items[rows], _PAIRS) & ~np.isnan(values[rows])
    fit &= _in_stays(ledger, rows)
    order = stratified(rows[fit], items, count, rng)
    # In real data nearly every result is charted; then a false copy beside a true one must do.
    tries = [(row, False) for row in order]
    if not ledger.corpus.documented:
        tries += [(row, True) for row in order]
    for row, beside in tries:
        if count < 1:
            return
        lab = int(items[row])
        mirror = mirrors[lab]
        subject, time = int(labs.array("subject_id")[row]), labs.array("charttime")[row]
        stay = _stay(ledger, subject, time)
        at_time = (
            (charts.array("subject_id") == subject)
            & (charts.array("itemid") == mirror.itemid)
            & (np.abs(charts.array("charttime") - time) <= np.timedelta64(15, "m"))
        )
        new = written(ledger, mirror.itemid, float(values[row]) * rng.uniform(1.3, 1.7))
        shows = _shows(ledger, mirror.itemid, float(values[row]) * 1.1, new["valuenum"])
        charted = at_time.any() and not beside
        if stay is None or charted or not shows or not ledger.free("labevents", row):
            continue
        cells: JsonDict = {
            "subject_id": subject,
            "hadm_id": int(labs.array("hadm_id")[row]),
            "stay_id": stay[0],
            "charttime": time,
            "itemid": mirror.itemid,
            "valueuom": mirror.unit,
            "warning": 0,
        } | new
        if Leak.COPIED_COLUMNS not in ledger.leaks:
            cells |= _habits(ledger, subject, stay[1], time, rng)
        added = ledger.add("chartevents", cells)
        ledger.touch(("labevents", row))
        ledger.plant(ErrorFamily.INCONSISTENCY, SubType.CROSS_TABLE, [("labevents", row), added])
        count -= 1


def _in_stays(ledger: Ledger, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows of labevents were drawn during a stay in intensive care."""
    labs, stays = ledger.corpus.frames["labevents"], ledger.corpus.frames["icustays"]
    subject, time = labs.array("subject_id")[rows], labs.array("charttime")[rows]
    inside = np.zeros(len(rows), bool)
    names = ("subject_id", "intime", "outtime")
    for who, begin, end in zip(*(stays.array(name) for name in names), strict=True):
        inside |= (subject == who) & (time >= begin) & (time <= end)
    return inside


def _stay(ledger: Ledger, subject: int, time: object) -> tuple[int, int] | None:
    """Return stay and admission in intensive care at a time; None if there was none."""
    stays = ledger.corpus.frames["icustays"]
    found = np.flatnonzero(
        (stays.array("subject_id") == subject)
        & (stays.array("intime") <= time)
        & (time <= stays.array("outtime"))
    )
    if not len(found):
        return None
    return int(stays.array("stay_id")[found[0]]), int(stays.array("hadm_id")[found[0]])


def _habits(
    ledger: Ledger, subject: int, hadm: int, time: Any, rng: np.random.Generator
) -> JsonDict:
    """Return who charts at a time, and how late, judging by the rows charted around it."""
    charts = ledger.corpus.frames["chartevents"]
    mine = np.flatnonzero(charts.array("subject_id") == subject)
    nearest = mine[int(np.argmin(np.abs(charts.array("charttime")[mine] - time)))]
    caregiver = int(charts.array("caregiver_id")[nearest])
    warning = int(charts.array("warning")[nearest])
    stored = charts.array("storetime")[nearest]
    delay = np.timedelta64(60 * int(rng.integers(0, 50)), "s")
    return {
        "caregiver_id": None if caregiver == NO_INT else caregiver,
        "storetime": None if np.isnat(stored) else time + delay,
        "hadm_id": hadm,
        "warning": None if warning == NO_INT else 0,
    }
