"""Referrals as they come in: who sends somebody, why, and what claims and records show of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from importlib.resources import files

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.envs.managed_care.care_management.history import History
from healthgym.envs.managed_care.care_management.rulings import Known, is_behavioral
from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import (
    topic_of_code,
    written_number,
    written_unit,
)
from healthgym.worlds.managed_care.charts.prose import lower_first
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind
from healthgym.worlds.managed_care.control import Control, control_of
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.facts import Diagnosis, Measurement
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.population.staff import PRIMARY
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.vocabulary.care import CMProgram, CMReferralSource

#: Codes that a referral brings besides those that count, at most.
_OTHERS = 2
#: How often a referral has no score, and shares of the bands of the others.
_UNSCORED, _LOW, _MODERATE = 0.12, 0.46, 0.8
#: Stays that lead to a referral, by who sends it.
_CAUSES = {
    CMReferralSource.HOSPITAL_DISCHARGE: StayKind.INPATIENT,
    CMReferralSource.ED_VISIT: StayKind.EMERGENCY,
}
_STAYS = {
    StayKind.INPATIENT: "inpatient stay, discharged",
    StayKind.EMERGENCY: "emergency visit",
    StayKind.DAY_SURGERY: "planned one-day procedure without complication",
}


@cache
def _table() -> JsonObject:
    table: JsonObject = json.loads(
        (files(__package__) / "data" / "referrals.json").read_text("utf-8")
    )
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Referred:
    """A referral, and what it shows.

    Attributes:
        record: The referral.
        known: What it shows, as the handbook's pages ask for it.
    """

    record: CMReferral
    known: Known


def told_source(source: CMReferralSource) -> str:
    """Return how a sentence calls where a referral comes from."""
    return str(_table()["told"][source.value])


def draw_score(rules: OperatingRules, rng: np.random.Generator) -> float | None:
    """Draw a predicted risk from 0 to 1, near the bounds of the levels; None if not scored."""
    drawn, share = rng.random(), rng.random()
    if rng.random() < _UNSCORED:
        return None
    high, moderate = rules.high_risk_score, rules.moderate_risk_score
    if drawn < _LOW:
        low, most = max(moderate - 25, 3), moderate - 1
    elif drawn < _MODERATE:
        low, most = moderate, high - 1
    else:
        low, most = high, min(high + 18, 98)
    return round(low + share * (most - low)) / 100


def referred_codes(history: History, rng: np.random.Generator) -> tuple[str, ...]:
    """Return the codes of a referral: the main reason, what counts as chronic, some others."""
    others = [
        code
        for code in history.codes
        if control_of(code) is None and not code.startswith("Z") and not is_behavioral(code)
    ]
    some = [others[int(n)] for n in rng.permutation(len(others))[:_OTHERS]]
    chronic = [code for code in history.codes if control_of(code) is not None]
    return tuple(dict.fromkeys((history.main[0], *chronic, *some)))


class UnreadReferral(Deferred, CMReferral):
    """A referral of which the visit that led to it is looked up when somebody reads it."""

    __slots__ = ("_write",)

    plain = CMReferral
    late = ("source_encounter_id",)


def shown(history: History, *, score: float | None, safety: bool) -> Known:
    """Return what a referral shows: the stays that claims have, and values of the record."""
    chart = history.known(score=score, safety=safety)
    # How many medicines somebody takes is not on it.
    return replace(chart, stays=history.listed, medicines=0)


def ids_of(patient: Patient, day: date) -> tuple[str, str]:
    """Return the ids of a patient's referral of a day, and of the case that comes of it."""
    number = patient.id.removeprefix("PAT-")
    return f"REF-{day:%y%m}-{number}", f"CM-{day:%y%m}-{number}"


def draw_referral(
    history: History,
    program: CMProgram,
    chart: PatientChart,
    known: Known,
    rng: np.random.Generator,
) -> Referred:
    """Write the referral of a member.

    Args:
        history: What befell the member.
        program: The right programme, from which follows who refers.
        chart: The chart, whose visits it names.
        known: What it is to show.
        rng: Where chance comes from.
    """
    source = _source(program, history, rng)
    referral_id, case_id = ids_of(chart.patient, history.day)
    stay = _latest(history, _CAUSES[source]) if source in _CAUSES else None
    reason = _reason(source, history, rng)
    # The visit that led to it has an id when the chart is written.
    record = UnreadReferral.later(
        partial(_visit, stay, chart),
        referral_id=referral_id,
        case_id=case_id,
        patient_id=chart.patient.id,
        source=source,
        source_provider_id=_provider(source, history, rng),
        referral_date=history.day,
        reason=reason,
        diagnosis_codes=referred_codes(history, rng),
        utilization_flags=flags(history.listed),
        risk_score=known.score,
        notes=_notes(history, known, rng),
    )
    return Referred(record=record, known=known)


def _source(program: CMProgram, history: History, rng: np.random.Generator) -> CMReferralSource:
    rows = _table()["sources"][program.value]
    drawn = rng.random()
    late = [stay for stay in history.listed if stay.kind is StayKind.EMERGENCY]
    if late and program is not CMProgram.TRANSITIONS_OF_CARE and rng.random() < 0.15:
        return CMReferralSource.ED_VISIT
    stayed = any(stay.kind is StayKind.INPATIENT for stay in history.listed)
    if stayed and program is not CMProgram.TRANSITIONS_OF_CARE and rng.random() < 0.12:
        return CMReferralSource.HOSPITAL_DISCHARGE
    for name, share in rows:
        if drawn < share:
            return CMReferralSource(name)
        drawn -= share
    return CMReferralSource(rows[0][0])


def _latest(history: History, kind: StayKind) -> Stay | None:
    found = [stay for stay in history.listed if stay.kind is kind]
    return max(found, key=lambda stay: stay.ended) if found else None


def _visit(stay: Stay | None, chart: PatientChart) -> str | None:
    """Return the visit that led to a referral, by its id in the chart."""
    if stay is None:
        return None
    begun, kind = stay.begun, stay.kind.value
    visits = (each for each in chart.encounters if each.encounter_type == kind)
    return next((each.id for each in visits if each.occurred_at.date() == begun), None)


def _provider(source: CMReferralSource, history: History, rng: np.random.Generator) -> str | None:
    """Return which clinician refers, by id; None where a list of the plan's does."""
    topic = topic_of_code(history.main[0])
    specialties = {
        CMReferralSource.HOSPITAL_DISCHARGE: "Hospital Medicine",
        CMReferralSource.ED_VISIT: "Hospital Medicine",
        CMReferralSource.PCP_REFERRAL: PRIMARY[0],
        CMReferralSource.SPECIALIST_REFERRAL: topic.specialty if topic else PRIMARY[0],
    }
    if source not in specialties:
        return None
    known = workforce().clinicians(specialties[source])
    return known[int(rng.integers(len(known)))].id


def _reason(source: CMReferralSource, history: History, rng: np.random.Generator) -> str:
    options: Sequence[str] = _table()["reasons"][source.value]
    text = options[int(rng.integers(len(options)))]
    label = history.condition.label
    stay = _latest(history, StayKind.INPATIENT)
    return text.format(
        label=label,
        Label=label[:1].upper() + label[1:],
        left=stay.ended if stay else "",
        what=lower_first(stay.name) if stay else label,
    )


def flags(stays: Sequence[Stay]) -> tuple[str, ...]:
    """Return stays as claims have them, the latest first."""
    ordered = sorted(stays, key=lambda stay: stay.ended, reverse=True)
    return tuple(f"{_STAYS[stay.kind]} {stay.ended}: {lower_first(stay.name)}" for stay in ordered)


def _notes(history: History, known: Known, rng: np.random.Generator) -> str:
    table = _table()
    told = [_values(history, known.day)]
    if known.safety:
        options = table["safety"]
    elif not history.condition.behavioral and rng.random() < 0.3:
        options = table["beside"]
    else:
        options = table["plain"]
    told.append(options[int(rng.integers(len(options)))])
    return " ".join(filter(None, told))


def _values(history: History, day: date) -> str:
    """Return the latest value of each condition that counts, with its day."""
    latest: dict[str, Measurement] = {}
    rows: dict[str, Control] = {}
    for fact in sorted(history.facts, key=lambda one: one.id):
        if isinstance(fact, Diagnosis) and fact.active:
            row = control_of(fact.code)
            if row is not None:
                rows.setdefault(row.loinc, row)
    for fact in history.measured:
        if fact.code in rows and fact.taken <= day:
            before = latest.get(fact.code)
            if before is None or fact.taken >= before.taken:
                latest[fact.code] = fact
    told = [_told(rows[code], fact) for code, fact in sorted(latest.items())]
    return f"Latest values: {'; '.join(told)}." if told else "No values came with the referral."


def _told(row: Control, fact: Measurement) -> str:
    unit = "" if fact.unit == "d" else written_unit(fact.unit)
    unit = f" {unit}" if unit not in ("", "%") else unit
    name = row.measure[:1].upper() + row.measure[1:]
    return f"{name}: {written_number(fact.value, row.decimals)}{unit} ({fact.taken})"
