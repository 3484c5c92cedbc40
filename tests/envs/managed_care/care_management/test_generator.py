"""Tasks of care management: what is drawn, and what can be seen of it before the call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.choices import (
    canonical_episodes,
    draw_choice,
    ways,
)
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    USUAL_ENDINGS,
    CareConfig,
    CareInstance,
    Ending,
    Strength,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.conversation.persona import PersonaKind, Willingness
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.vocabulary.care import (
    CMCaseStatus,
    CMPriority,
    CMProgram,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.care_management.drawing import chart_of, drawn, generator, meant


def test_a_task_is_the_same_whoever_draws_it() -> None:
    for index in (0, 7):
        one, other = (generator().generate(Split.TRAIN, index) for _ in range(2))
        assert one.task == other.task
        assert one.reference == other.reference
        assert one.start.content_hash() == other.start.content_hash()
    first, second = drawn(Split.TRAIN, 2)
    assert first.start.content_hash() != second.start.content_hash()


def test_the_kind_of_a_task_is_known_without_drawing_it() -> None:
    for canonical in (False, True):
        made = generator(canonical=canonical)
        for split in Split:
            assert made.kind(split, 3) == made.generate(split, 3).task.kind


def test_splits_share_no_patient_and_no_start() -> None:
    people: dict[Split, set[str]] = {}
    hashes: dict[Split, set[str]] = {}
    for split in Split:
        found = drawn(split, 60)
        people[split] = {str(chart.patient.id) for x in found for chart in x.start.charts.values()}
        # A start is read in full for it, every note of every chart.
        hashes[split] = {x.start.content_hash() for x in found[:8]}
        assert len(hashes[split]) == 8
    for one, other in ((Split.TRAIN, Split.TEST), (Split.TRAIN, Split.VALIDATION)):
        assert not people[one] & people[other]
        assert not hashes[one] & hashes[other]


def test_everything_that_is_possible_is_drawn() -> None:
    found = drawn(Split.TRAIN, 400)
    seen = {(x.reference.program, x.task.kind) for x in found}
    possible = {(program, name) for program, names in ways(PRESETS["medium"]) for name in names}
    assert seen == possible
    assert {name for _, name in possible} == set(care_conditions())
    pairs = {(x.reference.persona.kind, x.reference.ending) for x in found}
    assert pairs == set(product(PersonaKind, USUAL_ENDINGS))


@pytest.mark.parametrize(
    ("program", "condition"),
    [(program, name) for program, names in ways(CareConfig()) for name in names],
    ids=str,
)
def test_each_programme_is_right_where_it_is_asked_for(program: CMProgram, condition: str) -> None:
    config = CareConfig(programs=(program,), conditions=(condition,))
    for index, kind in enumerate(PersonaKind):
        ending = list(Ending)[index % 3]
        made = generator(replace(config, kinds=(kind,), endings=(ending,)))
        reference = made.generate(Split.TEST, index).reference
        assert (reference.program, reference.persona.kind) == (program, kind)
        assert reference.ending is ending


def test_programmes_kinds_and_endings_have_their_shares() -> None:
    found = [x.reference for x in drawn(Split.TRAIN, 400)]
    endings = Counter(x.ending for x in found)
    # Three standard deviations of shares of 0.6, 0.15 and 0.25 of 400.
    assert abs(endings[Ending.PLANNED] - 240) < 30
    assert abs(endings[Ending.DECLINED] - 60) < 22
    assert abs(endings[Ending.BLOCKED] - 100) < 26
    assert min(Counter(x.program for x in found).values()) > 70
    assert min(Counter(x.persona.kind for x in found).values()) > 55
    levels = Counter(x.risk_level for x in found)
    assert min(levels.values()) > 20, levels
    priorities = Counter(x.priority for x in found)
    assert min(priorities.values()) > 35, priorities


def test_of_the_refusals_a_share_is_kept_and_all_else_stays() -> None:
    easy, counted = PRESETS["easy"], Counter[tuple[Ending, Ending]]()
    for seed in range(600):
        kept, whole, none = (
            draw_choice(replace(easy, declined=share), np.random.default_rng(seed))
            for share in (easy.declined, 1.0, 0.0)
        )
        assert replace(kept, ending=none.ending) == none
        counted[whole.ending, kept.ending] += 1
    stayed, went = (counted[Ending.DECLINED, new] for new in (Ending.DECLINED, Ending.PLANNED))
    assert {old for old, new in counted if old is not new} == {Ending.DECLINED}
    # Three standard deviations of a share of 0.3 of some 150.
    assert abs(stayed - easy.declined * (stayed + went)) < 18


def test_who_refuses_for_good_and_who_breaks_off_is_as_the_ending_says() -> None:
    for reference in (x.reference for x in drawn(Split.TRAIN, 200)):
        persona = reference.persona
        refuses = persona.willingness is Willingness.REFUSES
        assert refuses is (reference.ending is Ending.DECLINED)
        assert (persona.breaks is not None) is (reference.ending is Ending.BLOCKED)
        assert (reference.needs is not None) is (reference.ending is Ending.PLANNED)
        if persona.breaks is not None:
            assert persona.breaks.before in reference.asked
        assert (
            reference.status
            is {
                Ending.PLANNED: CMCaseStatus.CLOSED,
                Ending.DECLINED: CMCaseStatus.DISENROLLED,
                Ending.BLOCKED: CMCaseStatus.ASSESSMENT_BLOCKED,
            }[reference.ending]
        )


def test_canonical_episodes_are_composed_like_the_published_ones() -> None:
    made = generator(canonical=True)
    assert made.size(Split.TEST) == len(canonical_episodes()) == 25
    found = [made.generate(Split.TEST, index) for index in range(25)]
    kinds = Counter((row.kind, row.strength) for row in canonical_episodes())
    assert kinds == {
        (PersonaKind.REFUSING, Strength.HARD): 15,
        (PersonaKind.ANXIOUS, Strength.MODERATE): 4,
        (PersonaKind.LOW_COOPERATION, Strength.LOW): 2,
        (PersonaKind.TENTATIVE, Strength.MODERATE): 2,
        (PersonaKind.TENTATIVE, Strength.LOW): 1,
        (PersonaKind.RELUCTANT, Strength.MODERATE): 1,
    }
    conditions = Counter(row.condition for row in canonical_episodes())
    assert set(conditions) == set(care_conditions())
    assert {name: n for name, n in conditions.items() if n > 1} == {"dm": 3, "mdd": 2}
    assert {x.reference.ending for x in found} == {Ending.PLANNED}
    hard = [x for x in found if x.reference.persona.kind is PersonaKind.REFUSING]
    assert {x.reference.persona.willingness for x in hard} == {Willingness.INITIALLY_REFUSES}
    for row, x in zip(canonical_episodes(), found, strict=True):
        assert x.task.kind == row.condition
        assert x.reference.persona.kind is row.kind


# -- what can be seen before the call -------------------------------------------------------------


def test_the_instruction_means_one_referral_and_names_nobody() -> None:
    for x in drawn(Split.TRAIN, 80, "hard"):
        referral, chart = meant(x), chart_of(x)
        text = x.task.instruction
        for name in (chart.patient.id, referral.referral_id, chart.patient.last_name):
            assert name not in text
        for program in CMProgram:
            assert program.value not in text
        assert f"{referral.referral_date}" in text
        fitting = [
            record
            for record in x.start.records
            if isinstance(record, CMReferral)
            and record.referral_date == referral.referral_date
            and x.start.charts[record.patient_id or ""].patient.sex == chart.patient.sex
            and x.start.charts[record.patient_id or ""].patient.address_city
            == chart.patient.address_city
        ]
        assert fitting == [referral]


def features(x: CareInstance) -> list[float]:
    """Return what can be counted of a task before the call."""
    referral, chart = meant(x), chart_of(x)
    return [
        1.0,
        referral.risk_score or 0.0,
        len(referral.utilization_flags),
        len(referral.diagnosis_codes),
        len(referral.notes or ""),
        len(referral.reason),
        len(chart.encounters),
        len(chart.conditions),
        len(chart.medications),
        len(chart.documents),
        (x.start.now.date() - chart.patient.dob).days / 365,
        float(chart.patient.sex == "F"),
        len(x.task.instruction),
        x.start.now.hour,
        *(float(x.reference.program is each) for each in list(CMProgram)[1:]),
        *(float(x.reference.priority is each) for each in list(CMPriority)[1:]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [Ending.DECLINED, Ending.BLOCKED])
def test_nothing_before_the_call_tells_how_it_will_end(ending: Ending) -> None:
    found = [*drawn(Split.TRAIN, 800), *drawn(Split.TEST, 800)]
    rows = np.array([features(x) for x in found])
    spread = rows.std(axis=0)
    scaled = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scaled[:, 0] = 1.0
    wanted = np.array([x.reference.ending is ending for x in found], dtype=float)
    # Least squares on the first 800, judged on as many people whom it has not seen.
    weights, *_ = np.linalg.lstsq(scaled[:800], wanted[:800], rcond=None)
    guess = scaled[800:] @ weights
    yes, no = guess[wanted[800:] == 1], guess[wanted[800:] == 0]
    area = np.mean([np.mean(one > no) for one in yes])
    assert 0.42 < area < 0.58, area


def test_the_same_start_goes_with_every_ending() -> None:
    for index in range(12):
        starts = {
            generator(CareConfig(endings=(ending,)))
            .generate(Split.TRAIN, index)
            .start.content_hash()
            for ending in USUAL_ENDINGS
        }
        assert len(starts) == 1


def test_a_world_opens_with_the_queue() -> None:
    for x in drawn(Split.TEST, 5):
        world = ManagedCareWorld(x.start)
        queue = world.referrals.queue()
        assert len(queue) == PRESETS["medium"].referrals + 1
        assert len({row["patient_id"] for row in queue}) == len(queue)
        assert x.reference.case_id in x.start.voices
        assert CMCaseStatus.NEW not in {case.status for case in world.referrals.cases.values()}


def bad() -> Iterator[tuple[dict[str, object], str]]:
    yield {"conditions": ("scurvy",)}, "scurvy"
    yield {"conditions": "dm"}, "no list"
    yield {"programs": ()}, "programs holds at least one"
    yield {"twins": 6}, "twins are among"
    yield {"busy": 1.5}, "busy is a probability"
    yield {"concerns": 0}, "concerns lies between"
    yield {"referrals": 40}, "referrals lies between"
    yield {"kinds": ("rude",)}, "kinds:"


@pytest.mark.parametrize(("change", "message"), list(bad()))
def test_a_configuration_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        CareConfig(**change)  # type: ignore[arg-type]


def test_a_programme_without_a_condition_is_refused() -> None:
    config = CareConfig(programs=(CMProgram.BEHAVIORAL_HEALTH,), conditions=("dm",))
    with pytest.raises(ConfigurationError, match="right for none of dm"):
        generator(config)
