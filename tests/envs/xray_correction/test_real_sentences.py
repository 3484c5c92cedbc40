"""The reader on sentences of real reports, labelled before it was written.

The reports are Open-i's Indiana University chest radiographs (NLMCXR_reports.tgz, as the package
torchxrayvision carries it). None of their text is here: a label names its sentence by a hash. 220
sentences were drawn at random from the findings, 180 at random from those that name a side, a
change or a device; repeated ones and those with blanks were left out. `seen` marks the two fifths
that were looked at while the reader was mended.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.envs.xray_correction.labels import ARCHIVE, real_readings


def test_claims_of_real_sentences_are_read_right(data_dir: Path) -> None:
    archive = data_dir / "openi" / "NLMCXR_reports.tgz"
    if not archive.is_file():
        pytest.skip(f"needs {ARCHIVE}")
    readings = real_readings(archive)
    assert len(readings) >= 390
    assert sum(said == read for said, read, _ in readings) / len(readings) >= 0.92
