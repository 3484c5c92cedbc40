"""Who answers the phone: a persona that fits the chart and is drawn apart from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.envs.managed_care.care_management.answers import SOCIAL, Answers
from healthgym.envs.managed_care.care_management.circumstances import circumstances_of
from healthgym.envs.managed_care.care_management.task import Ending, Strength
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.persona import (
    BlockedBecause,
    Break,
    Busy,
    Circumstance,
    Concern,
    Mark,
    Persona,
    PersonaKind,
    Trigger,
    Willingness,
)
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.vocabulary.care import MotivationStage, TriggerKind
from healthgym.worlds.managed_care.voices import Topic

_USUAL = frozenset({Mark.PRESSURE, Mark.REFRAMING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """What somebody is like on the phone, whoever it is.

    Attributes:
        kind: What they are like.
        strength: How much it takes to win them.
        ending: What is right in the end.
        busy: Chance of a first call at a bad time.
        concerns: Most worries they have.
    """

    kind: PersonaKind
    strength: Strength
    ending: Ending
    busy: float
    concerns: int


@cache
def _table() -> JsonObject:
    table: JsonObject = json.loads(
        (files(__package__) / "data" / "personas.json").read_text("utf-8")
    )
    return table


@cache
def unlisted() -> Mapping[str, str]:
    """Return what people take that no chart has, each with what stands on its label."""
    bought: Mapping[str, str] = _table()["unlisted"]
    return bought


def draw_persona(
    character: Character,
    patient: Patient,
    answers: Answers,
    asked: frozenset[Topic],
    today: date,
    rng: np.random.Generator,
) -> Persona:
    """Draw who answers the phone.

    Args:
        character: What they are like.
        patient: Who it is.
        answers: What they have to tell.
        asked: Subjects that the assessment has to ask about; one may be what they break off at.
        today: The day of the task.
        rng: Where chance comes from.
    """
    table, kind = _table(), character.kind
    lives = circumstances_of(patient, today)
    if answers.followed_up:
        lives |= {Circumstance.FOLLOWED_UP}
    concerns = _concerns(character, rng)
    hint = _one(table["hints"][answers.worry.value], rng)
    busy = _busy(lives, rng) if rng.random() < character.busy else None
    breaks = _break(asked, answers.worry, rng)
    strength = character.strength
    lean = {Strength.LOW: 1, Strength.MODERATE: 0, Strength.HARD: -1}[strength]
    return Persona(
        kind=kind,
        willingness=_willingness(character),
        patient_name=f"{patient.first_name} {patient.last_name}",
        birth_date=patient.dob.isoformat(),
        concerns=concerns,
        triggers=_triggers(character, concerns, answers.worry, rng),
        anti_triggers=_USUAL | {Mark(name) for name in table["resents"][kind.value]},
        tells=answers.tells,
        adherence=answers.missed,
        rhythms=answers.rhythms,
        doses=answers.doses,
        hint=hint,
        hint_topic=answers.worry,
        circumstances=lives,
        trust=int(table["trust"][kind.value]) + lean,
        patience=int(table["patience"][kind.value]) + max(lean, 0),
        busy=busy,
        breaks=breaks if character.ending is Ending.BLOCKED else None,
        seed=int(rng.integers(2**31)),
        readiness=_readiness(answers, rng),
    )


def _readiness(answers: Answers, rng: np.random.Generator) -> MotivationStage:
    """Return what somebody says they will do; who leaves medicines out has not begun."""
    stages = tuple(MotivationStage)
    begun = (MotivationStage.ACTION, MotivationStage.MAINTENANCE)
    able = [stage for stage in stages if stage not in begun] if answers.careless else stages
    return able[int(rng.integers(len(able)))]


def _one(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]


def _willingness(character: Character) -> Willingness:
    if character.ending is Ending.DECLINED:
        return Willingness.REFUSES
    if character.kind is PersonaKind.REFUSING:
        return Willingness.INITIALLY_REFUSES
    hard = character.strength is Strength.HARD
    if character.kind is PersonaKind.RELUCTANT and hard:
        return Willingness.INITIALLY_REFUSES
    easy = character.strength is Strength.LOW
    if character.kind is PersonaKind.LOW_COOPERATION and easy:
        return Willingness.READY
    return Willingness.HESITANT


def _concerns(character: Character, rng: np.random.Generator) -> tuple[Concern, ...]:
    known = _table()["concerns"][character.kind.value]
    count = min(1 + int(rng.integers(character.concerns)), len(known))
    return tuple(Concern(known[int(n)]) for n in rng.permutation(len(known))[:count])


def _triggers(
    character: Character, concerns: Sequence[Concern], worry: Topic, rng: np.random.Generator
) -> tuple[Trigger, ...]:
    """Return what has to happen: good manners, then what suits the person, then the worry."""
    suits = tuple(map(Act, _table()["suits"][character.kind.value]))
    found = [
        Trigger(kind=TriggerKind.BASIC_RAPPORT, acts=(Act.ACKNOWLEDGE, Act.ASK_TIME)),
        Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=suits),
        Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act.ANSWER_CONCERN,), concern=concerns[0]),
        Trigger(
            kind=TriggerKind.SIGNAL_INFERENCE,
            # Whether one may ask is how one asks about what is private.
            acts=(Act.ASK_TOPIC, Act.ASK_PERMISSION),
            topic=worry,
            after_hint=True,
        ),
    ]
    hears = rng.random() < 0.5
    if character.strength is Strength.LOW:
        return tuple(found[:1])
    if character.strength is Strength.MODERATE:
        return (*found[:2], found[3]) if hears else tuple(found[:3])
    return tuple(found)


def _busy(lives: frozenset[Circumstance], rng: np.random.Generator) -> Busy:
    rows = [row for row in _table()["busy"] if row.get("fits") in {None, *lives}]
    row = rows[int(rng.integers(len(rows)))]
    return Busy(says=row["says"], free_from=row["free_from"], free_days=row["free_days"])


def _break(asked: frozenset[Topic], worry: Topic, rng: np.random.Generator) -> Break:
    """Return where somebody breaks off: at no barrier that they tell as their worry themselves."""
    known: Mapping[str, Sequence[Mapping[str, str]]] = _table()["breaks"]
    able = [topic for topic in Topic if topic in asked and topic.value in known]
    place = int(rng.integers(len(able)))
    nth = int(rng.integers(len(known[able[place].value])))
    if able[place] is worry and worry in SOCIAL:
        place -= 1  # nothing more is drawn, so that what is drawn next stays what it was
    before = able[place]
    rows = known[before.value]
    row = rows[nth % len(rows)]
    kind = BlockedBecause(row["kind"])
    return Break(before=before, says=row["says"], reason=row["reason"], kind=kind)
