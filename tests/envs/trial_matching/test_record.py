"""Records and their XML, ours and the registry's."""

import os
import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.trial_matching.generator import TrialMatchingGenerator
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.task import PRESETS


@pytest.mark.parametrize("difficulty", list(PRESETS))
def test_xml_round_trip(difficulty):
    corpus = TrialMatchingGenerator(PRESETS[difficulty]).generate(Split.TEST, 0).start.corpus
    for id_ in corpus.ids[:60]:
        record = corpus.document(id_)
        assert TrialRecord.from_xml(record.to_xml().encode()) == record


def test_layout_is_the_registry_s(trec_folder):
    with tarfile.open(trec_folder / "trials_xml.tar.xz") as archive:
        member = next(m for m in archive if m.name.endswith("NCT00002630.xml"))
        real = ET.fromstring(archive.extractfile(member).read())
    corpus = TrialMatchingGenerator(PRESETS["hard"]).generate(Split.TEST, 0).start.corpus
    ours = ET.fromstring(corpus.document(corpus.ids[0]).to_xml())

    def paths(node, prefix=""):
        for child in node:
            yield f"{prefix}/{child.tag}"
            yield from paths(child, f"{prefix}/{child.tag}")

    ours_paths, real_paths = list(dict.fromkeys(paths(ours))), list(dict.fromkeys(paths(real)))
    extra = set(ours_paths) - set(real_paths)
    assert extra <= {"/primary_outcome", "/primary_outcome/measure"}  # that trial has none
    kept = [path for path in real_paths if path in ours_paths]
    assert [path for path in ours_paths if path not in extra] == kept  # in the same order


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not XML"),
        ("<clinical_study>", "not XML"),
        ("<html/>", "not a ClinicalTrials.gov record"),
        ("<clinical_study><brief_title>x</brief_title></clinical_study>", "not a ClinicalTrials"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><clinical_study/>', "declares a document type"),
        ('<?xml version="1.0" encoding="no-such"?><clinical_study/>', "not XML"),
    ],
)
def test_what_is_no_record_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        TrialRecord.from_xml(text.encode())


def test_a_declaration_in_another_encoding_is_refused():
    text = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "b">]><clinical_study/>'
    with pytest.raises(ValueError, match="declares a document type"):
        TrialRecord.from_xml(text.encode("utf-16"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_records_in_other_encodings(encoding):
    record = TrialRecord("NCT00000001", "Sjögren’s syndrome" if "utf" in encoding else "Sjögren")
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>\n'
    assert TrialRecord.from_xml((head + record.to_xml()).encode(encoding)) == record


def test_limits():
    record = TrialRecord("NCT00000001", "t", gender="Female", minimum_age="18 Years")
    assert record.admits("Female", 18)
    assert record.admits("", -1)
    assert not record.admits("Male", 30)
    assert not record.admits("Female", 17)
    infants = TrialRecord("NCT00000001", "t", minimum_age="6 Months", maximum_age="2 Years")
    assert infants.admits("Male", 2)
    assert not infants.admits("Male", 0)
    assert not infants.admits("Male", 3)


def test_data_folder_is_found_or_skipped(trec_folder):
    assert isinstance(trec_folder, Path)
    assert os.listdir(trec_folder)
