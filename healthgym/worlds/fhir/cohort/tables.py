"""The vocabulary as arrays: what sampling needs, computed once, so that a draw costs microseconds.

Index spaces: S signals (labs first, then vital channels), D diseases, P panels, R vital rounds,
M medications, C procedures, F findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.fhir.cohort.vocabulary import Medication, Panel, Vocabulary, vocabulary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

AGE_BANDS = (40, 65)
"""Lower limits of the second and third age band of disease prevalence."""
ALWAYS = -(2**62)
"""A first use before every chart."""


@dataclass(frozen=True, slots=True)
class SignalTables:
    """Per-signal arrays of length S; ``level`` is on the signal's own (linear or log) scale."""

    index: Mapping[str, int]
    level: Floats
    between: Floats
    within: Floats
    tau: Floats
    is_log: Bools
    floor: Floats
    ceiling: Floats
    rounding: Floats
    male_shift: Floats
    decade_slope: Floats
    anchor: Ints
    anchor_r: Floats
    own_r: Floats
    low: Floats
    high: Floats
    twins: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, slots=True)
class DiseaseTables:
    """Who gets which disease (``prevalence``: sex, age band, D) and what follows from it."""

    index: Mapping[str, int]
    prevalence: Mapping[str, tuple[Floats, Floats, Floats]]
    log_boost: Floats
    effects: Floats
    excludes: tuple[tuple[int, int], ...]
    panel_boost: Floats
    indications: Floats
    finding_required: Bools
    finding_requires: Bools


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of signals measured together: group g is ``members[start[g]:start[g] + size[g]]``.

    ``records`` counts the Observations of one measurement of each group and ``singles`` are the
    groups that make one Observation, used to fill up to an exact number.
    """

    members: Ints
    start: Ints
    size: Ints
    records: Ints
    singles: Ints


@dataclass(frozen=True, slots=True)
class Selection:
    """What may be written for a gender under a set of omissions; weights are zero elsewhere.

    Pairs of weights are for stays in hospital and for clinic visits.
    """

    signals: Bools
    vitals: tuple[bool, ...]
    forms: tuple[tuple[tuple[str, str], ...], ...]
    panels: tuple[Floats, Floats]
    rounds: tuple[Floats, Floats]
    findings: Floats
    medications: tuple[Floats, Floats]
    medication_mask: Floats
    procedures: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class FirstUse:
    """Epoch seconds before which a row of each table was not in use."""

    findings: Ints
    medications: Ints
    procedures: Ints


class _BySetting(Protocol):
    @property
    def inpatient(self) -> float: ...
    @property
    def outpatient(self) -> float: ...


class _Dated(Protocol):
    @property
    def since(self) -> date | None: ...


@cache
def signal_tables() -> SignalTables:
    """Return the per-signal arrays."""
    words = vocabulary()
    signals = words.signals
    index = {signal.name: i for i, signal in enumerate(signals)}
    mean = _floats(signal.mean for signal in signals)
    is_log = np.array([signal.scale == "log" for signal in signals])
    anchor_r = _floats(signal.anchor_r for signal in signals)
    low, high = np.full(len(signals), -np.inf), np.full(len(signals), np.inf)
    for i, lab in enumerate(words.labs):
        low[i], high[i] = lab.reference
    return SignalTables(
        index=index,
        level=np.log(mean, out=mean.copy(), where=is_log),
        between=_floats(signal.between for signal in signals),
        within=_floats(signal.within for signal in signals),
        tau=_floats(signal.tau_days * 86_400 for signal in signals),
        is_log=is_log,
        floor=_floats(signal.floor for signal in signals),
        ceiling=_floats(signal.ceiling for signal in signals),
        rounding=_floats(10.0**signal.decimals for signal in signals),
        male_shift=_floats(signal.male_shift for signal in signals),
        decade_slope=_floats(signal.decade_slope for signal in signals),
        anchor=np.array([index[signal.anchor or signal.name] for signal in signals]),
        anchor_r=anchor_r,
        own_r=np.sqrt(1 - anchor_r**2),
        low=low,
        high=high,
        twins=tuple((index[s.twin], index[s.name], s.twin_r) for s in signals if s.twin),
    )


@cache
def disease_tables() -> DiseaseTables:
    """Return the arrays that depend on which diseases a patient has."""
    words = vocabulary()
    diseases = words.diseases
    index = {disease.name: i for i, disease in enumerate(diseases)}
    signals = signal_tables().index
    log_boost = np.zeros((len(diseases), len(diseases)))
    effects = np.zeros((len(diseases), len(signals)))
    requires = np.zeros((len(diseases), len(words.findings)), dtype=np.bool_)
    for i, disease in enumerate(diseases):
        for cause, factor in disease.raised_by.items():
            log_boost[index[cause], i] = np.log(factor)
        for signal, shift in disease.effects.items():
            effects[i, signals[signal]] = shift
    for i, finding in enumerate(words.findings):
        requires[[index[name] for name in finding.requires], i] = True
    return DiseaseTables(
        index=index,
        prevalence={gender: _prevalence(words, gender) for gender in ("female", "male")},
        log_boost=log_boost,
        effects=effects,
        excludes=tuple(
            (index[disease.name], index[other])
            for disease in diseases
            for other in disease.excludes
        ),
        panel_boost=np.log(_factors(index, words.panels)),
        indications=_indications(index, words.medications),
        finding_required=np.array([bool(finding.requires) for finding in words.findings]),
        finding_requires=requires,
    )


@cache
def panel_groups() -> Groups:
    """Return the lab panels."""
    words, index = vocabulary(), signal_tables().index
    members = [[index[code] for code in panel.codes] for panel in words.panels]
    return _groups(members, [len(group) for group in members])


@cache
def round_groups() -> Groups:
    """Return the vital rounds."""
    words, index = vocabulary(), signal_tables().index
    channels = {v.name: [index[channel.name] for channel in v.channels] for v in words.vitals}
    members = [[i for name in turn.vitals for i in channels[name]] for turn in words.rounds]
    return _groups(members, [len(turn.vitals) for turn in words.rounds])


@cache
def first_use() -> FirstUse:
    """Return since when the rows are in use; :data:`ALWAYS` for most."""
    words = vocabulary()
    return FirstUse(
        findings=_since(words.findings),
        medications=_since(words.medications),
        procedures=_since(words.procedures),
    )


@lru_cache(maxsize=512)
def selection(omit: frozenset[str], gender: str) -> Selection:
    """Return what may be written for ``gender`` without the codes and tags in ``omit``."""
    words = vocabulary()
    barred = omit | {"male_only" if gender == "female" else "female_only"}

    def allowed(tags: frozenset[str], *names: str) -> bool:
        return not barred & tags and not any(name in barred for name in names)

    vitals = tuple(allowed(frozenset(), vital.name) for vital in words.vitals)
    signals = [allowed(lab.tags, lab.code) for lab in words.labs]
    signals += [ok for ok, vital in zip(vitals, words.vitals, strict=True) for _ in vital.channels]
    medications = [allowed(row.tags, row.text) for row in words.medications]
    procedures = [allowed(row.tags, row.code) for row in words.procedures]
    names = {signal.name for signal, ok in zip(words.signals, signals, strict=True) if ok}
    charted = {vital.name for vital, ok in zip(words.vitals, vitals, strict=True) if ok}
    panels = [not names.isdisjoint(panel.codes) for panel in words.panels]
    rounds = [not charted.isdisjoint(turn.vitals) for turn in words.rounds]
    return Selection(
        signals=np.array(signals),
        vitals=vitals,
        forms=tuple(
            tuple(
                (form.code, form.display)
                for form in disease.forms
                # Some charts put two codes in one field ("E11.59, I15.2"); either one counts.
                if allowed(disease.tags, disease.name, form.code, *form.code.split(", "))
            )
            for disease in words.diseases
        ),
        panels=_masked(_settings(words.panels), panels),
        rounds=_masked(_settings(words.rounds), rounds),
        findings=_floats(f.weight * allowed(f.tags, f.code) for f in words.findings),
        medications=_masked(_settings(words.medications), medications),
        medication_mask=np.array(medications, dtype=np.float64),
        procedures=_masked(_settings(words.procedures), procedures),
    )


def _floats(values: Iterable[float]) -> Floats:
    return np.fromiter(values, dtype=np.float64)


def _prevalence(words: Vocabulary, gender: str) -> tuple[Floats, Floats, Floats]:
    absent = "female_only" if gender == "male" else "male_only"
    factor = _floats(
        0.0 if absent in row.tags else row.male_factor if gender == "male" else 1.0
        for row in words.diseases
    )
    young, middle, old = (
        factor * _floats(row.prevalence[band] for row in words.diseases) for band in range(3)
    )
    return young, middle, old


def _factors(index: Mapping[str, int], panels: Sequence[Panel]) -> Floats:
    factors = np.ones((len(index), len(panels)))
    for i, panel in enumerate(panels):
        for name, factor in panel.boosts.items():
            factors[index[name], i] = factor
    return factors


def _indications(index: Mapping[str, int], medications: Sequence[Medication]) -> Floats:
    weights = np.zeros((len(index), len(medications)))
    for i, medication in enumerate(medications):
        for name, weight in medication.indications.items():
            weights[index[name], i] = weight
    return weights


def _groups(members: Sequence[Sequence[int]], records: Sequence[int]) -> Groups:
    size = np.array([len(group) for group in members])
    return Groups(
        members=np.concatenate([np.array(group) for group in members]),
        start=np.cumsum(size) - size,
        size=size,
        records=np.array(records),
        singles=np.flatnonzero(np.array(records) == 1),
    )


def _settings(rows: Sequence[_BySetting]) -> tuple[Floats, Floats]:
    return _floats(row.inpatient for row in rows), _floats(row.outpatient for row in rows)


def _since(rows: Sequence[_Dated]) -> Ints:
    epoch = date(1970, 1, 1)
    return np.array([(row.since - epoch).days * 86_400 if row.since else ALWAYS for row in rows])


def _masked(weights: tuple[Floats, Floats], allowed: Sequence[bool]) -> tuple[Floats, Floats]:
    mask = np.array(allowed, dtype=np.float64)
    return weights[0] * mask, weights[1] * mask
