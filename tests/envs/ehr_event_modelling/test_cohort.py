from collections import Counter

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.ehr_event_modelling.cohort import Cohort, cut_study, synthetic_cohort
from healthgym.envs.ehr_event_modelling.labels import label_rows
from healthgym.envs.ehr_event_modelling.sizes import FULL, SOURCE_TEST, CohortConfig
from healthgym.envs.ehr_event_modelling.task import Part, Study, Target
from healthgym.envs.ehr_event_modelling.timeline import NO_TIME
from healthgym.envs.ehr_event_modelling.vocabulary import published, vocabulary
from healthgym.rewards.metrics import auroc


@pytest.fixture(scope="module")
def cohort(tiny_config: CohortConfig) -> Cohort:
    return synthetic_cohort(tiny_config, "tests", Split.TRAIN, 3)


def study_of(cohort: Cohort, target: Target) -> tuple[Study, np.ndarray]:
    disease = vocabulary().targets[target]
    return cut_study(cohort, disease.name, (disease.code,))


@pytest.mark.parametrize("target", Target)
def test_composition_is_as_configured(
    cohort: Cohort, tiny_config: CohortConfig, target: Target
) -> None:
    _, labels = study_of(cohort, target)
    positive, known = tiny_config.composition(target, tiny_config.patients[2])
    assert (int(labels.sum()), len(labels)) == (positive, tiny_config.patients[2] - known)


@pytest.mark.parametrize("target", Target)
def test_full_size_has_the_published_rows_and_positives(target: Target) -> None:
    figures = published()[target]
    positive, known = FULL.composition(target, SOURCE_TEST)
    assert (positive, SOURCE_TEST - known) == (figures.positives, figures.rows)


@pytest.mark.parametrize("target", Target)
def test_nothing_of_a_test_patient_is_later_than_the_prediction(
    cohort: Cohort, target: Target
) -> None:
    study, _ = study_of(cohort, target)
    timeline = study.timeline
    limit = np.full(len(timeline.patient_ids), np.iinfo(np.int64).max)
    limit[study.test.patient] = study.test.time
    assert (timeline.start < limit[timeline.patient]).all()
    assert ((timeline.end == NO_TIME) | (timeline.end < limit[timeline.patient])).all()
    outcome = timeline.kinds_of({vocabulary().targets[target].code})[timeline.kind]
    assert not np.isin(timeline.patient[outcome], study.test.patient).any()


def test_train_patients_keep_their_future(cohort: Cohort) -> None:
    study, _ = study_of(cohort, Target.LUPUS)
    timeline, train = study.timeline, study.train
    treated = timeline.kinds_of(
        {item.code for item in vocabulary().targets[Target.LUPUS].treatments}
    )[timeline.kind]
    followed = np.isin(train.patient, timeline.patient[treated])
    # What leaks: most positives are treated later, and only those who have it ever are.
    assert auroc(train.label, followed.astype(float)) > 0.8


def test_parts_share_no_patient_and_hold_only_those_with_rows(cohort: Cohort) -> None:
    study, _ = study_of(cohort, Target.HYPERTENSION)
    members = [set(study.rows(part).patient.tolist()) for part in Part]
    assert len(set.union(*members)) == sum(map(len, members)) == len(study.timeline.patient_ids)


def test_a_test_patient_has_the_first_row_only(cohort: Cohort) -> None:
    study, _ = study_of(cohort, Target.LUPUS)
    code = vocabulary().targets[Target.LUPUS].code
    rows = label_rows(cohort.timeline, cohort.timeline.kinds_of({code}))
    held_out = rows.where(cohort.part[rows.patient] == 2)
    assert len(held_out) > len(held_out.first()) == len(study.test)
    ids = cohort.timeline.patient_ids[held_out.patient]
    earliest = dict(zip(ids[::-1].tolist(), held_out.time[::-1].tolist(), strict=True))
    shown = study.timeline.patient_ids[study.test.patient].tolist()
    assert earliest == dict(zip(shown, study.test.time.tolist(), strict=True))


def test_test_rows_carry_no_labels(cohort: Cohort) -> None:
    study, _ = study_of(cohort, Target.LUPUS)
    assert len(study.test.label) == 0


def test_ids_and_order_say_nothing(tiny_config: CohortConfig) -> None:
    by_id, by_last_digits = [], []
    for index in range(4):
        study, labels = study_of(
            synthetic_cohort(tiny_config, "ids", Split.TRAIN, index), Target.ACUTE_MI
        )
        ids = study.timeline.patient_ids[study.test.patient]
        by_id.append(auroc(labels, ids.astype(float)))
        by_last_digits.append(auroc(labels, (ids % 1000).astype(float)))
    assert abs(np.mean(by_id) - 0.5) < 0.06
    assert abs(np.mean(by_last_digits) - 0.5) < 0.06


def test_records_have_the_sources_tables_and_codes(cohort: Cohort) -> None:
    tables = Counter(kind.table for kind in cohort.timeline.kinds)
    assert {
        "condition_occurrence",
        "drug_exposure",
        "measurement",
        "procedure_occurrence",
        "visit_occurrence",
        "observation",
        "note",
        "device_exposure",
        "death",
        "person",
    } <= set(tables)
    prefixes = {kind.code.partition("/")[0] for kind in cohort.timeline.kinds}
    assert {"SNOMED", "LOINC", "RxNorm", "CPT4", "CVX", "Gender", "Race", "Visit"} <= prefixes


def test_same_index_same_records_other_index_others(tiny_config: CohortConfig) -> None:
    def drawn(split: Split, index: int) -> str:
        return synthetic_cohort(tiny_config, "tests", split, index).timeline.content_hash()

    assert drawn(Split.TRAIN, 3) == drawn(Split.TRAIN, 3)
    assert len({drawn(split, index) for split in Split for index in (0, 3)}) == 6
