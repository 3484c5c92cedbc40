"""That tasks differ: between difficulties and splits, in their service, and by whom they mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.situations import Gap
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.lookups import read_brief
from healthgym.envs.managed_care.prior_authorization.task import PRESETS, AuthorizationInstance
from healthgym.envs.managed_care.prior_authorization.wording import _person
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.facts import Finding, TherapyCourse
from healthgym.worlds.managed_care.policies.postures import settles
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory
from tests.sized import first_ones, some

COUNT = some(300, 120)


@cache
def drawn(difficulty: str, split: Split = Split.TEST, count: int = COUNT) -> tuple[Seen, ...]:
    generator = AuthorizationFamily(difficulty).generator
    return tuple(Seen(generator.generate(split, index)) for index in range(count))


class Seen:
    """What the tests compare of a task; the task itself is too large to keep hundreds of."""

    def __init__(self, instance: AuthorizationInstance) -> None:
        wanted, start = instance.reference, instance.start
        chart = start.charts[wanted.patient_id]
        self.kind = instance.task.kind
        self.day = start.now.date()
        self.patient = wanted.patient_id
        self.policy = wanted.policy.id
        self.category = wanted.service_type
        self.chart = hash((chart.patient, tuple(page.id for page in chart.documents), chart.orders))
        self.brief = read_brief(instance.task.instruction)
        self.fitting = tuple(_fitting(instance))
        self.unique = (
            sum(
                order.procedure_code == wanted.procedure_code
                for each in start.charts.values()
                for order in each.orders
            )
            == 1
        )


def _fitting(instance: AuthorizationInstance) -> Iterator[str]:
    """Yield the patients of the roster whom every particular of an instruction fits."""
    told = read_brief(instance.task.instruction)
    start = instance.start
    for chart in start.charts.values():
        who = chart.patient
        if (age_on(who.dob, told.today), who.sex, who.address_city) != (
            told.age,
            told.sex,
            told.city,
        ):
            continue
        for order in chart.orders:
            doctor = start.staff.workers[order.ordering_practitioner_id].name
            day = f"{order.requested_date:%Y-%m-%d}"
            if (order.description, doctor, day) == (told.what, told.doctor, told.day):
                yield who.id


# -- difficulties and splits -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), list(combinations(PRESETS, 2)), ids=str)
def test_tasks_of_one_index_are_other_tasks_at_another_difficulty(one: str, other: str) -> None:
    pairs = list(zip(drawn(one), drawn(other), strict=True))
    # Chance alone: one of 24 days, one of some 80 patients, endings of which one has up to a tenth.
    assert sum(a.day == b.day for a, b in pairs) < 0.12 * COUNT
    assert sum(a.patient == b.patient for a, b in pairs) < 0.06 * COUNT
    assert sum(a.kind == b.kind for a, b in pairs) < 0.2 * COUNT


@pytest.mark.parametrize("difficulty", first_ones(PRESETS))
def test_splits_share_no_patient_who_is_meant_and_no_chart(difficulty: str) -> None:
    for one, other in combinations(Split, 2):
        first, second = drawn(difficulty, one), drawn(difficulty, other)
        assert not {a.patient for a in first} & {b.patient for b in second}
        assert not {a.chart for a in first} & {b.chart for b in second}
    assert len({each.patient for each in drawn(difficulty)}) > COUNT / 5


# -- services --------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", PRESETS)
def test_every_kind_of_service_occurs_and_no_policy_prevails(difficulty: str) -> None:
    tasks = drawn(difficulty)
    assert {each.category for each in tasks} == set(ServiceTypeCategory)
    ((_, most),) = Counter(each.policy for each in tasks).most_common(1)
    assert most < 0.15 * COUNT


# -- who is meant ----------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", PRESETS)
def test_what_is_told_fits_one_patient_of_the_roster(difficulty: str) -> None:
    for each in drawn(difficulty):
        assert each.fitting == (each.patient,)


@pytest.mark.parametrize(
    ("difficulty", "least", "most"),
    [("easy", 0.45, 0.7), ("medium", 0.35, 0.6), ("hard", 0.1, 0.35)],
)
def test_the_service_alone_often_does_not_find_the_patient(
    difficulty: str, least: float, most: float
) -> None:
    share = sum(each.unique for each in drawn(difficulty)) / COUNT
    assert least < share < most


@pytest.mark.parametrize(
    ("sex", "age", "said"),
    [
        ("F", 8, "An 8-year-old girl"),
        ("M", 11, "An 11-year-old boy"),
        ("M", 17, "A 17-year-old boy"),
        ("F", 18, "An 18-year-old woman"),
        ("M", 79, "A 79-year-old man"),
        ("F", 80, "An 80-year-old woman"),
        ("M", 89, "An 89-year-old man"),
        ("", 90, "A 90-year-old person"),
    ],
)
def test_a_person_is_told_with_the_article_that_is_spoken(sex: str, age: int, said: str) -> None:
    assert _person(sex, age) == said


def test_instructions_say_so() -> None:
    said = re.compile(r" (?:A|An) \d+-year-old (?:girl|boy|woman|man) from ")
    generator = AuthorizationFamily("medium").generator
    for index in range(40):
        assert said.search(generator.generate(Split.TRAIN, index).task.instruction)


# -- documents that are missing --------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", PRESETS)
def test_what_a_missing_document_alone_would_show_is_open(difficulty: str) -> None:
    """The defect: a finding that stood nowhere was held to be proven."""
    generator = AuthorizationFamily(difficulty).generator
    kinds = [index for index, each in enumerate(drawn(difficulty)) if each.kind.endswith(_DOCUMENT)]
    hidden, left = 0, []
    for index in kinds[:25]:
        instance = generator.generate(Split.TEST, index)
        wanted = instance.reference
        chart = instance.start.charts[wanted.patient_id]
        told = {
            fact.id
            for fact in chart.facts
            if isinstance(fact, Finding | TherapyCourse) and fact.noted_in
        }
        shown = {fact for facts in chart.shows.values() for fact in facts}
        assert wanted.needed <= {fact.id for fact in chart.facts} - (told - shown)
        assert not wanted.missing & {str(page.kind) for page in chart.documents}
        tree = wanted.policy.criteria
        assert settles(tree, wanted.postures, wanted.gaps)
        hidden += bool(wanted.gaps)
        left.append(len(chart.documents))
    assert hidden >= 5
    # Earlier visits keep their notes: only what the case is about is missing.
    assert sorted(left)[len(left) // 2] >= 14


_DOCUMENT = f"-{Gap.DOCUMENT}"
