"""What stands between a caller and the person of a task: drawn apart from everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.envs.managed_care.care_management.answers import SOCIAL, Answers
from healthgym.envs.managed_care.care_management.task import CareConfig, Ending
from healthgym.worlds.managed_care.conversation.persona import Circumstance, Persona
from healthgym.worlds.managed_care.conversation.replies import diagnosis
from healthgym.worlds.managed_care.conversation.surroundings import (
    Capacity,
    Emergency,
    Line,
    Manner,
    Mood,
    Proxy,
    Register,
    Relative,
    Sudden,
    Surroundings,
    Withdrawal,
)
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.voices import Disclosure, Topic

_T = TypeVar("_T")
#: Calls of a person's moods, after which they come round again.
_MOODS = 4
_MEDICINE = Topic.MEDICATION


@cache
def _table() -> JsonObject:
    table: JsonObject = json.loads((files(__package__) / "data" / "around.json").read_text("utf-8"))
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Minded:
    """Who looks after somebody, and what the referral says of it.

    Attributes:
        proxy: Who.
        note: What the referral says.
        able: Whether the person can decide all the same: a remark is no proof.
    """

    proxy: Proxy
    note: str
    able: bool = False


def draw_minded(
    config: CareConfig,
    ending: Ending,
    patient: Patient,
    lives: frozenset[Circumstance],
    rng: np.random.Generator,
) -> Minded | None:
    """Draw who looks after a person that cannot decide, or is said to; None where nobody is.

    Args:
        config: What people are like.
        ending: What is right in the end.
        patient: Who it is about.
        lives: How they live.
        rng: Where chance comes from.
    """
    drawn = rng.random()
    asked = ending in (Ending.PLANNED, Ending.DECLINED, Ending.BLOCKED)
    none = ending is Ending.UNABLE
    able = not none and drawn < 2 * config.proxies and not (asked and drawn < config.proxies)
    if not none and not able and not (asked and drawn < config.proxies):
        return None
    relation = _relation(lives, rng)
    sex = "f" if relation in _table()["women"] else "m"
    proxy = Proxy(
        name=f"{_one(_table()['firsts'][sex], rng)} {patient.last_name}",
        relation=relation,
        on_file=not none and not able,
    )
    options = _table()["notes"]["on_file" if proxy.on_file else "none"]
    note = _one(options, rng).format(proxy=proxy.name, relation=relation)
    return Minded(proxy=proxy, note=note, able=able)


def surrounded(
    persona: Persona,
    config: CareConfig,
    ending: Ending,
    answers: Answers,
    language: str,
    minded: Minded | None,
    asked: frozenset[Topic],
    rules: OperatingRules,
    rng: np.random.Generator,
) -> Persona:
    """Return a person with what stands between them and a caller.

    What takes calls is not piled up: as many may be made as the handbook says.

    Args:
        persona: The person as they would be by themselves.
        config: What people are like.
        ending: What is right in the end.
        answers: What they have to tell.
        language: Which language they prefer.
        minded: Who looks after them, if they cannot decide.
        asked: Subjects that the chart does not settle.
        rules: The task's numbers.
        rng: Where chance comes from.
    """
    chances = dict(zip(_CHANCES, rng.random(len(_CHANCES)), strict=True))
    able = {name for name, drawn in chances.items() if drawn < getattr(config, name)}
    cannot = minded is not None and not minded.able
    if cannot or ending is Ending.UNREACHABLE:
        able -= {"relatives", "hearing", "interpreters"}
    foreign = language != "English" and answers.barriers[Topic.LANGUAGE]
    if not foreign:
        able.discard("interpreters")
    if able & {"interpreters"}:
        able -= {"hearing", "plain_words", "tones"}
    if able & {"hearing"}:
        able -= {"unanswered", "relatives", "emergencies", "moods"}
    if able & {"unanswered"}:
        able -= {"relatives", "emergencies"}
    around = Surroundings(
        manner=_manner(able, rules, rng),
        line=_line(able, ending, rules, rng),
        relative=_relative(able, persona, rng),
        interpreter=language if "interpreters" in able else "",
        translates=_translates(able, persona, rng),
        capacity=Capacity.NONE if cannot else Capacity.OWN,
        proxy=minded.proxy if minded is not None and cannot else None,
        emergency=_emergency(able, ending, rng),
        withdrawal=_withdrawal(ending, rng),
        takes_back=_takes_back(able, answers, rng),
        denies=_denies(able, answers, rng),
    )
    busy = None if able & {"unanswered", "relatives", "hearing"} else persona.busy
    busy = None if ending is Ending.UNREACHABLE or cannot else busy
    only = frozenset({_part(answers, asked)}) if ending is Ending.PARTIAL else persona.only
    return replace(persona, around=around, busy=busy, only=only)


_CHANCES = (
    *("unanswered", "relatives", "interpreters", "tones", "hearing", "plain_words", "moods"),
    *("emergencies", "corrections"),
)


def _manner(able: set[str], rules: OperatingRules, rng: np.random.Generator) -> Manner:
    table = _table()
    register, hesitation = _one(table["registers"], rng), _one(table["hesitations"], rng)
    moods = tuple(Mood(_one(table["moods"], rng)) for _ in range(_MOODS))
    toned = "tones" in able
    return Manner(
        register=Register(register) if toned else Register.PLAIN,
        hesitation=hesitation if toned else 0.0,
        most_words=rules.spoken_words_most if "hearing" in able else 0,
        plain_words="plain_words" in able,
        moods=moods if "moods" in able else (),
    )


def _line(able: set[str], ending: Ending, rules: OperatingRules, rng: np.random.Generator) -> Line:
    shares, number = _table()["lines"], rules.outreach_line
    drawn, wrong, machine = rng.random(3)
    from_hour, to_hour = _one(_table()["windows"], rng)
    if ending is Ending.UNREACHABLE:
        return Line(
            never=True,
            wrong=bool(wrong < shares["wrong"] / 2),
            machine=bool(machine < shares["machine"]),
            number=number,
        )
    if "unanswered" not in able:
        return Line(number=number)
    window = drawn < shares["window"]
    return Line(
        wrong=bool(wrong < shares["wrong"] or not window),
        machine=bool(machine < shares["machine"]),
        from_hour=from_hour if window else 0,
        to_hour=to_hour if window else 24,
        number=number,
    )


def _relative(able: set[str], persona: Persona, rng: np.random.Generator) -> Relative | None:
    relation, fetches = _relation(persona.circumstances, rng), rng.random() < 0.5
    back = _one(_table()["backs"], rng)
    if "relatives" not in able:
        return None
    return Relative(relation=relation, back_from=0 if fetches else back)


def _translates(able: set[str], persona: Persona, rng: np.random.Generator) -> str:
    relation, drawn = _relation(persona.circumstances, rng), rng.random()
    return relation if "interpreters" in able and drawn < 0.5 else ""


def _emergency(able: set[str], ending: Ending, rng: np.random.Generator) -> Emergency | None:
    kind, after = _one(tuple(Sudden), rng), _one(_table()["after"], rng)
    if "emergencies" not in able or ending is not Ending.PLANNED:
        return None
    return Emergency(kind=kind, after=after)


def _withdrawal(ending: Ending, rng: np.random.Generator) -> Withdrawal | None:
    says, after = _one(_table()["withdrawals"], rng), _one(_table()["soon"], rng)
    return Withdrawal(after=after, says=says) if ending is Ending.WITHDRAWN else None


def _takes_back(
    able: set[str], answers: Answers, rng: np.random.Generator
) -> dict[str, Disclosure]:
    """Return a medicine of which they say at first that they take it as they should."""
    left_out = sorted(answers.untaken) + [n for n, missed in answers.missed.items() if missed > 1]
    if not left_out:
        return {}
    name = _one(left_out, rng)
    if "corrections" not in able:
        return {}
    return {name: Disclosure(topic=_MEDICINE, item=name, score=0)}


def _denies(able: set[str], answers: Answers, rng: np.random.Generator) -> str:
    known = [code for code in answers.diagnoses if diagnosis(code)]
    code = _one(known, rng) if known else ""
    return code if "corrections" in able else ""


def _part(answers: Answers, asked: frozenset[Topic]) -> Topic:
    """Return the subject for which alone somebody agrees: what worries them, if it is social."""
    able = [topic for topic in SOCIAL if topic in asked]
    if answers.worry in able:
        return answers.worry
    return next((topic for topic in able if answers.barriers[topic]), able[0])


def _relation(lives: frozenset[Circumstance], rng: np.random.Generator) -> str:
    known: Mapping[str, Sequence[str]] = _table()["relations"]
    fits = [each for name, listed in known.items() if not name or name in lives for each in listed]
    return _one(fits, rng)


def _one(options: Sequence[_T], rng: np.random.Generator) -> _T:
    return options[int(rng.integers(len(options)))]
