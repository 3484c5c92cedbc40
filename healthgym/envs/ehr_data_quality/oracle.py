"""From what was planted to the calls of an auditor who finds it."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.core.tool import ToolCall, call
from healthgym.envs.ehr_data_quality.task import AuditReference, SubType

_LOOKS = {
    "labevents": ("valuenum", "itemid"),
    "chartevents": ("valuenum", "itemid"),
    "prescriptions": ("dose_val_rx", "drug"),
    "patients": ("gender", ""),
}
_REASONS = {
    SubType.RANGE: "outside what is physiologically possible",
    SubType.DECIMAL: "decimal point astray",
    SubType.DECIMAL_RX: "a hundred times the usual dose",
    SubType.UNIT: "number in another unit",
    SubType.UNIT_LABEL: "wrong unit label",
    SubType.IN_TABLE: "contradicts a result minutes away",
    SubType.CROSS_TABLE: "contradicts the laboratory",
    SubType.GENDER_PATIENT: "sex contradicts drugs and ranges",
    SubType.GENDER_DRUG: "drug for the other sex",
    SubType.GENDER_RANGE: "reference range of the other sex",
    SubType.AGE: "age contradicts the drugs",
}


def solve(reference: AuditReference) -> Iterator[ToolCall]:
    """Yield the calls: read on, look at the tables concerned, flag, review, hand in."""
    yield call("read_file", path="README.md")
    yield call("list_tables")
    wrong: dict[tuple[str, SubType], list[str]] = {}
    for cluster in reference.clusters:
        for table, row in sorted(cluster.anchors):
            wrong.setdefault((table, cluster.subtype), []).append(row)
    for table in dict.fromkeys(table for table, _ in wrong):
        column, by = _LOOKS[table]
        yield call("profile_column", table=table, column=column, by=by, limit=40)
    for (table, subtype), rows in wrong.items():
        yield call("flag_rows", table=table, row_ids=rows, reason=_REASONS[subtype])
    yield call("review_flags")
    yield call("submit")
