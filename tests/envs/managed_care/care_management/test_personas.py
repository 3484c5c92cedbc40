"""Who answers the phone: agrees with the chart, and takes what the difficulty says."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from functools import cache
from itertools import product

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.personas import _break
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    CareConfig,
    CareInstance,
    Ending,
    Strength,
)
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.echo import echoes
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.persona import (
    Circumstance,
    Mark,
    Persona,
    PersonaKind,
    Willingness,
)
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    EscalationReason,
    MotivationStage,
    TriggerKind,
)
from healthgym.worlds.managed_care.voices import Topic


def made(config: CareConfig) -> CareGenerator:
    return CareGenerator(config, "medium", "care-management", Rules.STRICT)


@cache
def drawn(count: int = 200) -> tuple[CareInstance, ...]:
    generator = made(PRESETS["hard"])
    return tuple(generator.generate(Split.VALIDATION, index) for index in range(count))


def personas() -> list[Persona]:
    return [x.reference.persona for x in drawn()]


@pytest.mark.parametrize(
    ("kind", "strength"), list(product(PersonaKind, Strength)), ids=lambda each: each.value
)
def test_how_somebody_meets_the_offer_follows_from_what_they_are_like(
    kind: PersonaKind, strength: Strength
) -> None:
    config = CareConfig(kinds=(kind,), strengths=(strength,), endings=(Ending.PLANNED,))
    persona = made(config).generate(Split.TRAIN, 5).reference.persona
    expected = Willingness.HESITANT
    if kind is PersonaKind.REFUSING or (kind, strength) == (PersonaKind.RELUCTANT, Strength.HARD):
        expected = Willingness.INITIALLY_REFUSES
    elif (kind, strength) == (PersonaKind.LOW_COOPERATION, Strength.LOW):
        expected = Willingness.READY
    assert persona.willingness is expected
    counts = {Strength.LOW: {1}, Strength.MODERATE: {3}, Strength.HARD: {4}}
    assert len(persona.triggers) in counts[strength]
    assert persona.triggers[0].kind is TriggerKind.BASIC_RAPPORT
    assert -2 <= persona.trust <= 2
    assert persona.patience >= 8


def test_the_same_person_refuses_for_good_or_can_be_won_by_the_ending_alone() -> None:
    for index in range(6):
        one, other = (
            made(CareConfig(endings=(ending,))).generate(Split.TRAIN, index).reference.persona
            for ending in (Ending.PLANNED, Ending.DECLINED)
        )
        apart = {"willingness", "breaks"}
        for item in fields(Persona):
            if item.name not in apart:
                assert getattr(one, item.name) == getattr(other, item.name), item.name


def test_what_is_hinted_at_is_what_worries_them() -> None:
    topics: Counter[Topic] = Counter()
    for persona in personas():
        assert persona.hint
        assert persona.hint_topic is not None
        topics[persona.hint_topic] += 1
        told = persona.tells[persona.hint_topic]
        if persona.hint_topic not in (Topic.MEDICATION, Topic.DIAGNOSIS):
            assert told[0].present
        for trigger in persona.triggers:
            if trigger.kind is TriggerKind.SIGNAL_INFERENCE:
                assert trigger.topic is persona.hint_topic
                assert trigger.after_hint
            if trigger.acts == (Act.ANSWER_CONCERN,):
                assert trigger.concern is persona.concerns[0]
    assert len(topics) >= 8


def test_people_are_as_many_as_their_worries() -> None:
    found = personas()
    assert len({persona.concerns for persona in found}) > 20
    assert {len(persona.concerns) for persona in found} == {1, 2, 3}
    assert len({persona.hint for persona in found}) > 20
    assert 30 < sum(persona.busy is not None for persona in found) < 90
    for persona in found:
        assert {Mark.PRESSURE, Mark.REFRAMING} <= persona.anti_triggers
        if persona.busy is not None:
            assert 8 < persona.busy.free_from < 20


def test_doses_that_are_missed_are_told_as_levels() -> None:
    levels: Counter[AdherenceLevel] = Counter()
    for x in drawn():
        persona, adherence = x.reference.persona, x.reference.adherence
        for each in persona.tells[Topic.MEDICATION]:
            if each.item not in adherence:
                assert each.item in x.reference.discrepancies
                continue
            missed = each.score or 0
            assert missed == persona.adherence.get(each.item, 7)
            assert each.present is (missed < 7)
            expected = AdherenceLevel.ADHERENT
            if missed >= 2:
                expected = AdherenceLevel.PARTIAL if missed < 5 else AdherenceLevel.NON_ADHERENT
            assert adherence[each.item] is expected
        levels.update(adherence.values())
    total = sum(levels.values())
    assert 0.7 < levels[AdherenceLevel.ADHERENT] / total < 0.95
    assert min(levels.values()) > 20


def test_a_concern_about_safety_on_the_referral_is_one_on_the_phone() -> None:
    stated = 0
    for x in drawn():
        referral = next(
            each
            for each in x.start.records
            if isinstance(each, CMReferral) and each.referral_id == x.reference.referral_id
        )
        words = ("ending it all", "better off alone", "not wanting to wake up")
        if any(each in (referral.notes or "") for each in words):
            stated += 1
            assert x.reference.persona.tells[Topic.SAFETY][0].present
            if x.reference.needs is not None:
                assert x.reference.needs.escalation is EscalationReason.SAFETY
    assert stated > 10


def test_the_one_who_answers_is_the_one_of_the_reference() -> None:
    for x in drawn()[:20]:
        voice = x.start.voices[x.reference.case_id]
        assert isinstance(voice, Person)
        assert voice.persona is x.reference.persona
        patient = x.start.charts[x.reference.patient_id].patient
        assert voice.persona.patient_name == f"{patient.first_name} {patient.last_name}"
        assert voice.persona.birth_date == patient.dob.isoformat()
        assert set(x.start.voices) == {x.reference.case_id}


def test_every_hint_can_be_said_back() -> None:
    for hint in {persona.hint for persona in personas()}:
        assert echoes(f"You mentioned: {hint}", hint), hint
        assert not echoes("That sounds hard. How are you otherwise?", hint), hint


def test_what_is_said_of_work_and_family_agrees_with_the_chart() -> None:
    met: Counter[Circumstance] = Counter()
    for x in drawn():
        persona = x.reference.persona
        patient = x.start.charts[x.reference.patient_id].patient
        met.update(persona.circumstances)
        retired = Circumstance.RETIRED in persona.circumstances
        assert retired == (patient.dob.year <= 1959)
        assert retired != (Circumstance.WORKING in persona.circumstances)
        assert not (retired and x.reference.barriers[Topic.WORK])
        if persona.busy is not None and "at work" in persona.busy.says:
            assert not retired
        alone = Circumstance.ALONE in persona.circumstances
        assert alone != (patient.marital_status in {"married", "partnered"})
    assert set(met) == set(Circumstance)


def test_who_leaves_medicines_out_has_not_begun_to_change() -> None:
    stages: Counter[MotivationStage] = Counter()
    for x in drawn():
        stage = x.reference.persona.readiness
        assert stage is not None
        stages[stage] += 1
        if stage in (MotivationStage.ACTION, MotivationStage.MAINTENANCE):
            assert set(x.reference.adherence.values()) <= {AdherenceLevel.ADHERENT}
    assert set(stages) == set(MotivationStage)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_breaks_off_at_the_barrier_that_they_tell_as_their_worry(seed: int) -> None:
    rng, asked = np.random.default_rng(seed), frozenset({Topic.FOOD, Topic.HOUSING, Topic.GAD7})
    met = {_break(asked, Topic.FOOD, rng).before for _ in range(20)}
    assert met == asked - {Topic.FOOD}
