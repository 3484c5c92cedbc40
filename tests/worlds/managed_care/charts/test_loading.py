"""A folder of charts is read whole, or nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from healthgym.core.borders import JsonDict
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.charts.loading import load_charts, save_charts
from healthgym.worlds.managed_care.population.drawing import Population

TODAY = date(2026, 3, 13)


@pytest.fixture
def folder(population: Population, tmp_path: Path) -> Path:
    save_charts(list(population.charts.values())[:3], tmp_path)
    return tmp_path


def test_what_was_saved_is_loaded(population: Population, folder: Path) -> None:
    library = load_charts(folder, TODAY)
    assert sorted(library) == ["PAT-0001", "PAT-0002", "PAT-0003"]
    for key, chart in library.items():
        assert chart == population.charts[key]


def _wrong_kind(rows: JsonDict) -> None:
    rows["documents"][1]["kind"] = "chart_nota"


def _no_name(rows: JsonDict) -> None:
    del rows["patient"]["last_name"]


def _foreign(rows: JsonDict) -> None:
    rows["conditions"][0]["patient_id"] = "PAT-0099"


def _value(rows: JsonDict) -> None:
    rows["observations"][2]["value_quantity"] = 1234.5


def _word(rows: JsonDict) -> None:
    rows["observations"][2]["value_quantity"] = "high"


def _naive(rows: JsonDict) -> None:
    rows["encounters"][0]["occurred_at"] = "2024-01-05T10:00:00"


def _date(rows: JsonDict) -> None:
    rows["patient"]["dob"] = "13 March 1961"


def _unborn(rows: JsonDict) -> None:
    rows["patient"]["dob"] = "2025-12-31"


def _key(rows: JsonDict) -> None:
    rows["patient"]["nickname"] = "Bo"


def _table(rows: JsonDict) -> None:
    rows["wounds"] = []


def _no_encounter(rows: JsonDict) -> None:
    rows["documents"][0]["encounter_id"] = "ENC-0001-999"


def _content(rows: JsonDict) -> None:
    rows["documents"][0]["content"] = "Nothing."


def _fact(rows: JsonDict) -> None:
    rows["facts"][0]["fact"] = "Rumor"


def _twice(rows: JsonDict) -> None:
    rows["encounters"][1]["id"] = rows["encounters"][0]["id"]


def _shown(rows: JsonDict) -> None:
    rows["shows"][rows["documents"][0]["id"]] = ["B-999"]


def _ended(rows: JsonDict) -> None:
    rows["coverages"][-1]["termination_date"] = "1999-01-01"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_wrong_kind, r"documents\[1\]\.kind: expected one of chart_note"),
        (_no_name, r"patient: the field last_name is missing"),
        (_foreign, r"conditions\[0\]\.patient_id: PAT-0099 is not PAT-0001"),
        (_value, r"observations\[2\]: OBS-0001-003 is not what the facts say"),
        (_word, r"observations\[2\]\.value_quantity: expected float, found 'high'"),
        (_naive, r"encounters\[0\]\.occurred_at: expected a time with its zone"),
        (_date, r"patient\.dob: expected a date in ISO form"),
        (_unborn, r"is before birth|is not between"),
        (_key, r"patient\.nickname: Patient has no such field"),
        (_table, r"wounds: a chart has patient, coverages"),
        (_no_encounter, r"documents\[0\]\.encounter_id: there is no encounter ENC-0001-999"),
        (_content, r"shows\.DOC-0001-\d+: the document does not state"),
        (_fact, r"facts\[0\]\.fact: expected one of Diagnosis"),
        (_twice, r"encounters\[1\]\.id: ENC-0001-001 is there twice"),
        (_shown, r"there is no fact B-999"),
        (_ended, r"termination_date: 1999-01-01 is before the effective date"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_damaged_chart_names_file_and_key(
    folder: Path, spoil: Callable[[JsonDict], None], message: str
) -> None:
    path = folder / "PAT-0001.json"
    rows = json.loads(path.read_text("utf-8"))
    spoil(rows)
    path.write_text(json.dumps(rows), "utf-8")
    with pytest.raises(DamagedDataError, match=message) as caught:
        load_charts(folder, TODAY)
    assert "PAT-0001.json" in str(caught.value)


def test_broken_json_names_its_line(folder: Path) -> None:
    (folder / "PAT-0002.json").write_text('{\n "patient": {\n', "utf-8")
    with pytest.raises(DamagedDataError, match=r"PAT-0002\.json, line 3"):
        load_charts(folder, TODAY)


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "PAT-0002.json").write_bytes(b'{"patient": "\xff"}')
    with pytest.raises(DamagedDataError, match="not UTF-8"):
        load_charts(folder, TODAY)


def test_two_files_of_one_patient_are_refused(folder: Path) -> None:
    (folder / "copy.json").write_bytes((folder / "PAT-0001.json").read_bytes())
    with pytest.raises(DamagedDataError, match=r"the id PAT-0001 is in PAT-0001\.json, too"):
        load_charts(folder, TODAY)


def test_an_empty_folder_is_missing_data(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="holds no charts"):
        load_charts(tmp_path, TODAY)
    with pytest.raises(MissingDataError, match="holds no charts"):
        load_charts(tmp_path / "nowhere", TODAY)
