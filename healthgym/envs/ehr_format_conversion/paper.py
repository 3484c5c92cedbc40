"""The source benchmark's grader, to the letter, for any request.

HealthAgentBench, task ``ehr_to_meds_etl``: seven steps, each evaluated only if nothing failed
before it. For the published request the values probed are the published ones; for another request
they are those that it touches. Its holes are part of it: the default configuration is probed
rather than compared, one row of a required family is enough until the hashes, and nobody asks how
the files were made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from healthgym.core.verdict import Check, CheckResult, Judgement
from healthgym.envs.ehr_format_conversion.clauses import Change, Op
from healthgym.envs.ehr_format_conversion.evidence import DATA, Handover
from healthgym.envs.ehr_format_conversion.repository import WIRING_LINE
from healthgym.envs.ehr_format_conversion.wording import DEFAULT_CONFIG, WIRING
from healthgym.worlds.etl.config import Block, EventConfig, parse_config
from healthgym.worlds.etl.hashes import keyed_hash, schema_of
from healthgym.worlds.etl.pipeline import CODES_FILE, DATASET_FILE, SPLITS_FILE

DEFAULT_KEPT = Check(
    "paper_default_kept",
    "The default configuration still has the values that the request touches, and the package "
    "still names it as the default.",
    idle=True,
)
CUSTOM_CONFIG = Check(
    "paper_custom_config",
    "The custom configuration parses; removed fields are gone, new events have exactly the code "
    "and time asked for, and prefixes are right.",
)
FILES = Check("paper_files", "Metadata files exist and the set of data files is the one due.")
FAMILIES = Check("paper_families", "Each required family of codes has at least one row.")
DATASET = Check(
    "paper_dataset",
    "dataset.json is equal, without its time and with its version cut at the colon.",
)
METADATA = Check("paper_metadata", "Code metadata and splits have the rows and hash due.")
SHARDS = Check("paper_shards", "Each shard has the rows and hash due.")

_KEYS: Mapping[str, tuple[str, ...]] = {CODES_FILE: ("code",), SPLITS_FILE: ("subject_id", "split")}
_EVENT_KEYS = ("subject_id", "time", "code")


def paper_judgement(handover: Handover, metrics: Mapping[str, float]) -> Judgement:
    """Return what the published grader finds."""
    results: list[CheckResult] = []
    fault = ""
    for check, examine in _STEPS:
        if fault:
            results.append(check.result(False, "not reached"))
            continue
        fault = examine(handover)
        results.append(check.result(not fault, fault))
    harmed = not results[0].passed
    done = sum(result.passed is True for result in results[1:]) / (len(results) - 1)
    # The published score is binary. The default copied and run gets as far as nothing asked for.
    progress = 0.0 if harmed else metrics["closeness"] * (0.6 + 0.4 * done)
    return Judgement.of(results, progress=progress, metrics=metrics)


# -- the steps -----------------------------------------------------------------------------------


def _default_fault(handover: Handover) -> str:
    found, reason = handover.config(DEFAULT_CONFIG)
    if found is None:
        return reason
    known = parse_config(handover.reference.default)
    for change in _changes(handover):
        before = _find(known, change.table, change.event)
        if before is None:  # a new event: the default has none to probe
            continue
        now = _find(found, change.table, change.event)
        if now is None or _probe(now, change) != _probe(before, change):
            return f"{change.table}.{change.event} differs in {change.key or 'being there'}"
    if WIRING_LINE not in (handover.text(WIRING) or ""):
        return f"{WIRING} does not name the default configuration"
    return ""


def _custom_fault(handover: Handover) -> str:
    config, reason = handover.config()
    if config is None:
        return reason
    wanted = parse_config(handover.reference.config)
    for change in _changes(handover):
        block = _find(config, change.table, change.event)
        due = _find(wanted, change.table, change.event)
        if change.op is Op.ADD_EVENT:
            # Found by code, as event names are free; the match of code and time is exact.
            assert due is not None
            same = [b for b in config.of_table(change.table) if b.code == due.code]
            if not any(other.time == due.time for other in same):
                return f"{change.table} has no event of code and time as asked for {change.event}"
        elif change.op is Op.DROP_EVENT:
            if block is not None:
                return f"{change.table}.{change.event} is still there"
        elif block is None or due is None:
            return f"{change.table}.{change.event} is not there"
        elif _probe(block, change) != _probe(due, change):
            return f"{change.table}.{change.event} is not as asked for in {change.key}"
    return ""


def _files_fault(handover: Handover) -> str:
    for path in (DATASET_FILE, CODES_FILE, SPLITS_FILE):
        if path not in handover.files:
            return f"{path} is not there"
    data = {path for path in handover.files if path.startswith(DATA) and path.endswith(".parquet")}
    due = {path for path in handover.expected.files if path.startswith(DATA)}
    return "" if data == due else f"data_file_mismatch: {sorted(data ^ due)}"


def _families_fault(handover: Handover) -> str:
    if handover.same_data():
        return ""
    found, asked = (
        set(codes["code"].str.split("//").list.first().to_list())
        for codes in (handover.codes(), handover.asked_codes())
    )
    missing = [name for name in handover.required_families() if name in asked - found]
    return f"no rows of {', '.join(missing)}" if missing else ""


def _dataset_fault(handover: Handover) -> str:
    found, due = (
        _dataset(files[DATASET_FILE]) for files in (handover.files, handover.expected.files)
    )
    return "" if found is not None and found == due else "dataset.json differs"


def _metadata_fault(handover: Handover) -> str:
    return _tables_fault(handover, (CODES_FILE, SPLITS_FILE))


def _shards_fault(handover: Handover) -> str:
    return _tables_fault(handover, [p for p in handover.expected.files if p.startswith(DATA)])


_STEPS: tuple[tuple[Check, Callable[[Handover], str]], ...] = (
    (DEFAULT_KEPT, _default_fault),
    (CUSTOM_CONFIG, _custom_fault),
    (FILES, _files_fault),
    (FAMILIES, _families_fault),
    (DATASET, _dataset_fault),
    (METADATA, _metadata_fault),
    (SHARDS, _shards_fault),
)
#: The checks, in the order in which they are made.
CHECKS = tuple(check for check, _ in _STEPS)


# -- what they are made of -----------------------------------------------------------------------


def _changes(handover: Handover) -> Iterator[Change]:
    for clause in handover.reference.clauses:
        yield from clause.changes


def _find(config: EventConfig, table: str, event: str) -> Block | None:
    return next((b for b in config.of_table(table) if b.name == event), None)


def _probe(block: Block, change: Change) -> object:
    """Return the value that the grader looks at: of codes, only the first part."""
    if change.op in (Op.ADD_EVENT, Op.DROP_EVENT):
        return True
    match change.key:
        case "code":
            return block.code[0]
        case "time":
            return block.time
        case "time_format":
            return None
        case column:
            return column in dict(block.columns)


def _dataset(contents: bytes) -> Any:
    try:
        facts = json.loads(contents)
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, dict):
        return None
    facts.pop("created_at", None)
    facts["dataset_version"] = str(facts.get("dataset_version", "")).split(":")[0]
    return facts


def _tables_fault(handover: Handover, paths: Any) -> str:
    for path in paths:
        if handover.same_bytes(path):
            continue
        frame, due = handover.frame(path), handover.asked(path)
        if frame is None:
            return f"{path} cannot be read"
        if frame.height != due.height:
            return f"{path} has {frame.height} rows"
        if schema_of(frame) != schema_of(due):
            return f"{path} has other columns"
        keys = _KEYS.get(path, _EVENT_KEYS)
        if _hash(frame, keys) != _hash(due, keys):
            return f"{path} has other contents"
    return ""


def _hash(frame: pl.DataFrame, keys: tuple[str, ...]) -> str:
    try:
        return keyed_hash(frame, keys)
    except TypeError:  # keys of a type that has no order; such a file equals none of ours
        return "unordered"
