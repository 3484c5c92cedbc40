"""The vocabulary keeps to what a clinician would say, where a grade could hang on it."""

import itertools
import re

from healthgym.envs.trial_matching.vocabulary import vocabulary

TERMS = vocabulary()


def test_no_two_things_share_a_name():
    """A name stands for one finding, class or measure, in any case."""
    names: dict[str, set[str]] = {}
    for table in (
        TERMS.findings,
        TERMS.drug_classes,
        {k: m.names for k, m in TERMS.measures.items()},
    ):
        for key, texts in table.items():
            for text in texts:
                names.setdefault(text.lower(), set()).add(key)
    assert not {text for text, keys in names.items() if len(keys) > 1}


def test_a_drug_is_in_one_class():
    members = list(itertools.chain.from_iterable(TERMS.members.values()))
    assert len(set(members)) == len(members)


def test_every_cancer_is_a_malignancy():
    cancer = re.compile("cancer|carcinoma|leukemia|melanoma|myeloma|lymphoma", re.IGNORECASE)
    for key, names in TERMS.findings.items():
        if any(cancer.search(name) for name in names) and "metastases" not in key:
            assert "malignancy" in TERMS.wider[key], key


def test_complaints_name_no_finding():
    """What brings a patient in must not be a fact that a criterion asks about, and not on file."""
    for condition in TERMS.conditions.values():
        for complaint in condition.complaints:
            for key, names in TERMS.findings.items():
                named = [n for n in names if re.search(rf"\b{re.escape(n)}\b", complaint, re.I)]
                assert not named or key == condition.key, (complaint, key)
            assert not re.search(r"\b(bleed|bloody|fracture|seizure of)", complaint), complaint


def test_a_stage_is_no_other_finding():
    """METAVIR F4 is cirrhosis: as a stage, it would contradict a history without it."""
    stages = TERMS.conditions["hepatitis_c"].attributes[1].values
    assert list(stages) == ["0", "1", "2", "3"]
