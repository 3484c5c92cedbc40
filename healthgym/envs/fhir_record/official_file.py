"""Reading the published task files of MedAgentBench: rows, typed once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.files import read_plain
from healthgym.envs.fhir_record.generator import BENCHMARK_NOW
from healthgym.envs.fhir_record.kinds.base import TaskKind
from healthgym.envs.fhir_record.paper.v2_history import DEFAULT_CLOCK
from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError

_ACCESS = (
    "The task files are part of the MedAgentBench repositories: test_data_v2.json holds the 300 "
    "tasks of v1, new_patient_tasks.json those of v2."
)
_ID = re.compile(r"task(\d+)_(\d+)")
_CLOCK = re.compile(r"\bIt'?s (\S+) now\b")
#: The time that the graders go by where the context states none that can be read.
_USUAL_CLOCKS: Mapping[str, datetime] = {"v1": BENCHMARK_NOW, "v2": DEFAULT_CLOCK}
#: Version 2 begins its questions with this word, version 1 never does.
#: Bytes of a file; the published ones have less than a tenth of it.
_MOST_BYTES = 64 << 20
_V2_PREFIX = "Instruction:"

#: Where the context states a code, by concept; a concept without an entry keeps its usual code.
_CODES: Mapping[str, re.Pattern[str]] = {
    "magnesium": re.compile(r"code for magnesium is \"(\w+)\""),
    "glucose": re.compile(r"code for CBG is \"(\w+)\""),
    "potassium": re.compile(r"code for potassium is \"(\w+)\""),
    "a1c": re.compile(r"code for HbA1C is \"(\w+)\""),
    "magnesium_ndc": re.compile(r"NDC for replacement IV magnesium is ([\d-]+)"),
    "potassium_ndc": re.compile(r"NDC for replacement potassium is ([\d-]+)"),
    "potassium_loinc": re.compile(r"LOINC code for serum potassium level is ([\d-]+)"),
    "a1c_loinc": re.compile(r"LOINC code for ordering HbA1C lab is:? ([\d-]+)"),
    "referral": re.compile(r"SNOMED code for orthopedic surgery referral is (\d+)"),
    "blood_pressure": re.compile(r"flowsheet ID for blood pressure is (\w+)"),
}

#: What the question itself says, by task type; a type with an entry must have all of it.
_DETAILS: Mapping[str, re.Pattern[str]] = {
    "v1-t1": re.compile(
        r"name (?P<given>.+) (?P<family>\S+) and DOB of (?P<birth_date>\d{4}-\d\d-\d\d)"
    ),
    "v1-t3": re.compile(r"\"(?P<reading>\d+/\d+ mmHg)\""),
    "v1-t8": re.compile(r"\"(?P<note>.+)\"", re.DOTALL),
    "v2-t1": re.compile(r"indication '(?P<indication>[^']+)'"),
}


@dataclass(frozen=True)
class OfficialRow:
    """One task of a published file.

    Attributes:
        id: Its id in the file, such as ``task5_3``.
        kind: The task type.
        text: Context and question, verbatim.
        patient: Record number of the patient; empty where finding it is the task.
        solution: The answer, where the file has one; None otherwise.
        now: The time of the question: the context's, or the one the benchmark's graders assume.
        clock_stated: Whether the context states a time that can be read.
        codes: Codes the context states, by concept.
        details: What the question states besides, by name.
        mrn: Record number in the row, also where finding it is the task; empty where there is
            nobody to be found.
    """

    id: str
    kind: str
    text: str
    patient: str
    solution: tuple[Any, ...] | None
    now: datetime
    clock_stated: bool
    codes: Mapping[str, str]
    details: Mapping[str, str]
    mrn: str


def read_rows(
    path: Path | str, kinds: Mapping[str, TaskKind], benchmark: str | None = None
) -> tuple[str, tuple[OfficialRow, ...]]:
    """Return the version and the rows of a task file.

    Args:
        path: The file: a JSON list of objects with id, instruction, context and eval_MRN; a
            look-up of somebody who is not there may lack the last.
        kinds: The task types, for the concepts each has codes for.
        benchmark: ``"v1"`` or ``"v2"``; told from the questions if None.

    Raises:
        MissingDataError: If there is no such file.
        DamagedDataError: If the file or a row is not what it should be; nothing is loaded.
        ConfigurationError: If ``benchmark`` is neither version.
    """
    if benchmark not in (None, "v1", "v2"):
        raise ConfigurationError(f"benchmark {benchmark!r} is not one of v1, v2.")
    path = Path(path)
    if not path.is_file():
        raise MissingDataError(f"There is no task file {path}. {_ACCESS}")
    try:
        rows = json.loads(read_plain(path, _MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedDataError(f"{path} is not JSON ({error}). {_ACCESS}") from error
    if not isinstance(rows, list) or not rows:
        raise DamagedDataError(f"{path} does not hold a list of tasks. {_ACCESS}")
    fields = [_fields(path, position, row) for position, row in enumerate(rows)]
    if benchmark is None:
        newer = all(row["instruction"].startswith(_V2_PREFIX) for row in fields)
        benchmark = "v2" if newer else "v1"
    return benchmark, tuple(_row(path, benchmark, row, kinds) for row in fields)


def _fields(path: Path, position: int, row: object) -> JsonDict:
    """Return a row after checking that it has what every row has."""
    where = f"{path}, row {position + 1}"
    if not isinstance(row, dict):
        raise DamagedDataError(f"{where} is not an object. {_ACCESS}")
    looked_up = _is_lookup(row)
    for name in ("id", "instruction", "context", "eval_MRN"):
        if name == "eval_MRN" and looked_up and row.get(name) is None:
            continue  # nobody is there to be found
        if not isinstance(row.get(name), str):
            raise DamagedDataError(f"{where} ({row.get('id')}) has no text '{name}'. {_ACCESS}")
    return row


def _is_lookup(row: JsonObject) -> bool:
    """Return whether a row asks who somebody is; version 2 has no such task."""
    key, question = row.get("id"), row.get("instruction")
    parsed = _ID.fullmatch(key) if isinstance(key, str) else None
    newer = isinstance(question, str) and question.startswith(_V2_PREFIX)
    return parsed is not None and parsed[1] == "1" and not newer


def _row(path: Path, benchmark: str, row: JsonObject, kinds: Mapping[str, TaskKind]) -> OfficialRow:
    where = f"{path}, {row['id']}"
    parsed = _ID.fullmatch(row["id"])
    kind = f"{benchmark}-t{parsed[1]}" if parsed else ""
    if kind not in kinds:
        raise DamagedDataError(f"{where}: the id names no task type of {benchmark}.")
    context, question = row["context"], row["instruction"]
    now = _clock(context)
    details: dict[str, str] = {}
    if kind in _DETAILS:
        found = _DETAILS[kind].search(question)
        if found is None:
            raise DamagedDataError(f"{where}: the question does not read as one of type {kind}.")
        details = found.groupdict()
    solution = row.get("sol")
    if solution is not None and not isinstance(solution, list):
        raise DamagedDataError(f"{where}: 'sol' is not a list.")
    stated = {name: _CODES[name].search(context) for name in kinds[kind].codes if name in _CODES}
    return OfficialRow(
        id=row["id"],
        kind=kind,
        text=f"{context}\n\n{question}" if context else question,
        patient="" if kind == "v1-t1" else row["eval_MRN"],
        solution=None if solution is None else tuple(solution),
        now=now or _USUAL_CLOCKS[benchmark],
        clock_stated=now is not None,
        codes={name: match[1] for name, match in stated.items() if match},
        details=details,
        mrn=row.get("eval_MRN") or "",
    )


def _clock(context: str) -> datetime | None:
    """Return the time a context states; None without one, or with one that cannot be read."""
    found = _CLOCK.search(context)
    try:
        now = datetime.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
    return now.replace(tzinfo=UTC) if now is not None and now.tzinfo is None else now
