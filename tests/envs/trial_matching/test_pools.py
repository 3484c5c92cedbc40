"""Pools: composition, grades by a second implementation, and splits that share nothing."""

import dataclasses
import itertools
from collections import Counter

import pytest

from healthgym.core.seeding import INDEX_BOUND, Split
from healthgym.envs.trial_matching import criteria as c
from healthgym.envs.trial_matching.chart import Chart
from healthgym.envs.trial_matching.family import TrialMatchingFamily
from healthgym.envs.trial_matching.generator import TrialMatchingGenerator, canonical_blueprints
from healthgym.envs.trial_matching.patients import split_of
from healthgym.envs.trial_matching.registry import split_of_id
from healthgym.envs.trial_matching.task import PRESETS
from healthgym.envs.trial_matching.vocabulary import read_data, vocabulary
from healthgym.errors import ConfigurationError
from healthgym.rewards.metrics import auroc
from tests.sized import some

CONCEPTS, DRUGS = read_data("concepts.json"), read_data("drugs.json")
EVENTS = read_data("general.json")["events"]
CLASS = {drug: key for key, entry in DRUGS.items() for drug in entry["members"]}


def falls_under(key, wanted, table):
    return key == wanted or any(
        falls_under(parent, wanted, table) for parent in table[key].get("parents", [])
    )


def says(item, patient):
    """What a criterion says of a patient, from the patient's facts one by one.

    Not known is 0.5, so that negation is 1 - x and the connectives are counts.
    """
    match item:
        case c.Has():
            for f in patient.findings:
                if not falls_under(f.concept, item.concept, CONCEPTS):
                    continue
                if (item.active and not f.active) or f.concept == item.other_than:
                    continue
                still = f.active and f.concept not in EVENTS
                if item.within is None or f.days <= item.within or still:
                    return 1
            return 0
        case c.Duration():
            ages = [f.days for f in patient.findings if f.concept == item.concept and f.active]
            return int(any(a >= item.days if item.at_least else a < item.days for a in ages))
        case c.AttributeIs():
            for f in patient.findings:
                if f.concept == item.concept and item.attribute in dict(f.attributes):
                    return int(dict(f.attributes)[item.attribute] in item.values)
            return 0.5
        case c.Value():
            for r in patient.readings:
                fresh = item.within is None or r.days <= item.within
                if r.measure == item.measure and fresh:
                    signs = {">=": (1, 1, 0), "<=": (0, 1, 1), ">": (1, 0, 0), "<": (0, 0, 1)}
                    place = 0 if r.value > item.threshold else 1 if r.value == item.threshold else 2
                    return signs[item.op][place]
            return 0.5
        case c.Takes():
            found = 0
            for use in patient.drugs:
                if falls_under(CLASS[use.drug], item.drug_class, DRUGS):
                    now = use.stopped is None
                    found |= {
                        "current": now,
                        "stable": now and use.started >= item.days,
                        "recent": now or (use.stopped or 0) <= item.days,
                        "ever": True,
                    }[item.use.value]
            return int(found)
        case c.Allergic():
            return int(any(falls_under(a, item.drug_class, DRUGS) for a in patient.allergies))
        case c.BySex():
            return says(item.female if patient.sex == "female" else item.male, patient)
        case c.Not():
            return 1 - says(item.part, patient)
        case c.IfThen():
            return max(1 - says(item.condition, patient), says(item.then, patient))
        case c.AtLeast():
            return sorted((says(part, patient) for part in item.parts), reverse=True)[
                item.count - 1
            ]
        case c.SexIs():
            return int(item.sex in ("", patient.sex))
        case c.Age():
            return int((item.low or 0) <= patient.age <= (item.high or 200))
    raise AssertionError(item)


def graded(trial, patient):
    if min(says(item, patient) for item in (trial.sex, trial.age, *trial.inclusion)) < 1:
        return 0
    return 1 if max([says(item, patient) for item in trial.exclusion], default=0) == 1 else 2


def pool_of(instance):
    return instance.start.corpus._load.__self__


@pytest.mark.parametrize("difficulty", list(PRESETS))
def test_every_pair_is_graded_as_a_second_implementation_grades_it(difficulty):
    generator = TrialMatchingGenerator(PRESETS[difficulty])
    grades = Counter()
    for split in Split:
        for index in range(4):
            patient = generator.patient(split, index)
            instance = generator.generate(split, index)
            pool = pool_of(instance)
            for id_, grade in instance.reference.grades.items():
                assert graded(pool.trial(id_), patient) == grade, f"{split} {index} {id_}"
                grades[grade] += 1
    assert min(grades[0], grades[1], grades[2]) > 20


@pytest.mark.parametrize("difficulty", ["medium", "hard"])
def test_no_grade_hangs_on_rounding(difficulty):
    generator = TrialMatchingGenerator(PRESETS[difficulty])
    for index in range(4):
        chart = Chart(generator.patient(Split.TRAIN, index))
        pool = pool_of(generator.generate(Split.TRAIN, index))
        for trial in pool._own.values():
            assert not any(c.is_fragile(i, chart) for i in (*trial.inclusion, *trial.exclusion))


def test_composition_is_as_configured():
    config = PRESETS["medium"]
    generator = TrialMatchingGenerator(config)
    kinds = set()
    for index in range(30):
        instance = generator.generate(Split.VALIDATION, index)
        count = Counter(instance.reference.grades.values())
        size = len(instance.start.corpus)
        kinds.add(instance.task.kind)
        assert config.size[0] <= size <= config.size[1]
        assert size == len(instance.reference.grades) == instance.task.pool_size
        assert config.eligible[0] <= count[2] <= config.eligible[1]
        assert config.excluded[0] * size - 1 <= count[1] <= config.excluded[1] * size + 1
        assert generator.kind(Split.VALIDATION, index) == instance.task.kind
    assert len(kinds) > 10


def test_place_in_the_list_and_number_tell_nothing():
    generator = TrialMatchingGenerator(PRESETS["medium"])
    places, numbers = [], []
    for index in range(40):
        instance = generator.generate(Split.TRAIN, index)
        ids = instance.start.corpus.ids
        by_number = sorted(ids)
        for id_ in instance.reference.eligible:
            places.append(ids.index(id_) / len(ids))
            numbers.append(by_number.index(id_) / len(ids))
    # Ranks of about 240 trials: the mean of as many uniform numbers is within 0.1 of a half.
    assert abs(sum(places) / len(places) - 0.5) < 0.1
    assert abs(sum(numbers) / len(numbers) - 0.5) < 0.1


@pytest.mark.parametrize("difficulty", ["medium", "hard"])
def test_make_up_of_a_trial_tells_nothing(difficulty):
    """Counts of criteria do not tell eligible trials from others about the same patient."""
    generator = TrialMatchingGenerator(PRESETS[difficulty])
    labels, counts = [], []
    for index in range(25):
        instance = generator.generate(Split.TRAIN, index)
        for trial in pool_of(instance)._own.values():
            labels.append(instance.reference.grades[trial.nct_id] == 2)
            items = [*trial.inclusion, *trial.exclusion]
            kinds = [c.Has, c.Value, c.Takes, c.Not, c.AtLeast, c.AttributeIs, c.Duration]
            counts.append(
                [
                    len(trial.inclusion),
                    len(trial.exclusion),
                    (trial.age.high or 100) - (trial.age.low or 0),
                    *(sum(isinstance(item, kind) for item in items) for kind in kinds),
                ]
            )
    for column in zip(*counts, strict=True):
        assert 0.37 < auroc(labels, column) < 0.63


def test_splits_share_no_patient_and_no_trial():
    generator = TrialMatchingGenerator(PRESETS["medium"])
    tried = {split: set() for split in Split}
    for split in Split:
        for index in range(some(25, 10)):
            assert split_of(generator.patient(split, index)) is split
            instance = generator.generate(split, index)
            pool = pool_of(instance)
            assert {split_of_id(id_) for id_ in instance.reference.grades} == {split}
            trials = [pool.trial(id_) for id_ in list(instance.reference.grades)[::4]]
            tried[split] |= {(trial.condition, trial.mechanism) for trial in trials}
    assert all(tried.values())
    assert not tried[Split.TRAIN] & (tried[Split.VALIDATION] | tried[Split.TEST])
    assert not tried[Split.VALIDATION] & tried[Split.TEST]


def test_mechanisms_are_divided_among_the_splits():
    for condition in vocabulary().conditions.values():
        parts = [condition.mechanisms_of(split) for split in Split]
        assert sorted(name for part in parts for name in part) == sorted(condition.mechanisms)
        assert all(parts)


def test_canonical_tasks_have_the_published_composition():
    generator = TrialMatchingGenerator(PRESETS["medium"], "canonical", canonical=True)
    assert generator.size(Split.TEST) == 9
    sizes, gold = [], []
    for index, blueprint in enumerate(canonical_blueprints()):
        instance = generator.generate(Split.TEST, index)
        patient = generator.patient(Split.TEST, index)
        count = Counter(instance.reference.grades.values())
        sizes.append(len(instance.start.corpus))
        gold.append(count[2])
        assert (count[1], count[0]) == (blueprint.excluded, blueprint.not_relevant)
        assert (patient.age, patient.sex) == (blueprint.patient.age, blueprint.patient.sex)
        have = {finding.concept for finding in patient.findings}
        assert have >= {patient.primary, *blueprint.patient.findings}
    # HealthAgentBench topics 6, 8, 19, 26, 27, 29, 35, 45, 75.
    assert sizes == [416, 426, 301, 375, 451, 407, 363, 343, 422]
    assert gold == [4, 3, 4, 5, 6, 4, 4, 4, 9]
    with pytest.raises(ConfigurationError, match="9 tasks"):
        generator.generate(Split.TEST, 9)


def test_pools_of_one_split_share_their_records():
    generator = TrialMatchingGenerator(PRESETS["medium"])
    pools = [generator.generate(Split.TRAIN, index).start.corpus for index in range(6)]
    shared = [
        (one, other, id_)
        for one, other in itertools.combinations(pools, 2)
        for id_ in set(one.ids) & set(other.ids)
    ]
    assert len(shared) > 100
    assert all(one.document(id_) is other.document(id_) for one, other, id_ in shared)
    twin = TrialMatchingGenerator(PRESETS["medium"])
    assert twin.generate(Split.TRAIN, 1).start.corpus is pools[1]


def test_weighted_difficulties_keep_their_tasks_and_take_the_size_of_the_pool():
    weights = {"easy": 1, "medium": 2}
    mixed = TrialMatchingFamily(weights, pool_size=30).generator
    single = {name: TrialMatchingFamily(name, pool_size=30).generator for name in weights}
    drawn = Counter()
    for index in range(12):
        instance = mixed.generate(Split.TRAIN, index)
        assert instance.task.pool_size == len(instance.start.corpus) == 30
        notes = {
            name: generator.generate(Split.TRAIN, index).start.note
            for name, generator in single.items()
        }
        (level,) = (name for name, note in notes.items() if note == instance.start.note)
        drawn[level] += 1
        assert instance.task == single[level].generate(Split.TRAIN, index).task
        assert mixed.kind(Split.TRAIN, index) == instance.task.kind
    assert set(drawn) == set(weights)
    with pytest.raises(ConfigurationError, match="pool_size"):
        TrialMatchingFamily(weights, pool_size=4)


@pytest.mark.parametrize("index", [-1, INDEX_BOUND])
def test_the_kind_of_no_task_is_refused(index):
    with pytest.raises(ConfigurationError, match="no number"):
        TrialMatchingGenerator(PRESETS["easy"]).kind(Split.TRAIN, index)


def test_sizes():
    config = PRESETS["medium"].sized(12)
    instance = TrialMatchingGenerator(config).generate(Split.TRAIN, 3)
    assert len(instance.start.corpus) == 12
    assert 1 <= len(instance.reference.eligible) <= 3
    assert PRESETS["hard"].sized((40, 60)).size == (40, 60)
    for wrong in (4, 1001, True, (9, 8), (1, 2, 3), "ten"):
        with pytest.raises(ConfigurationError, match="pool_size"):
            PRESETS["easy"].sized(wrong)
    with pytest.raises(ConfigurationError, match="difficulty"):
        TrialMatchingFamily("absurd")
    assert dataclasses.replace(config) == config
