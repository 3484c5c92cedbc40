"""Values over time: an Ornstein-Uhlenbeck process around a level set by patient and disease.

A signal's level depends on age, sex, diseases and the patient's own offset; its deviations from
that level decay with the signal's own time constant, so that values an hour apart agree more than
values a year apart. Levels of related signals are correlated over patients (``anchor``), and
fluctuations of signals measured together may be correlated too (``twin``).
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.cohort.patients import PatientProfile
from healthgym.worlds.fhir.cohort.tables import Floats, Ints, disease_tables, signal_tables


def levels(patient: PatientProfile, on: date) -> Floats:
    """Return the patient's level of every signal, on the signal's own scale; shape (S,)."""
    tables = signal_tables()
    offsets = np.array(patient.offsets)
    mixed = tables.own_r * offsets + tables.anchor_r * offsets[tables.anchor]
    decades = ((on - patient.birth_date).days / 365.2425 - 50.0) / 10.0
    level: Floats = tables.level + tables.between * mixed + tables.decade_slope * decades
    if patient.gender == "male":
        level += tables.male_shift
    if patient.conditions:
        diseases = disease_tables()
        rows = [diseases.index[name] for name in patient.conditions]
        level += (0.5 + np.array(patient.severities)) @ diseases.effects[rows]
    return level


def fluctuations(rng: np.random.Generator, signals: Ints, times: Ints) -> Floats:
    """Draw standardized deviations for measurements sorted by signal, then by time.

    Args:
        rng: Source of randomness.
        signals: Signal index of each measurement, non-decreasing; shape (N,).
        times: Epoch seconds, non-decreasing within a signal; shape (N,).

    Returns:
        Deviations with mean 0 and variance 1; shape (N,).
    """
    tables = signal_tables()
    count = len(signals)
    keep = np.zeros(count)
    same = signals[1:] == signals[:-1]
    gaps = (times[1:] - times[:-1]) / tables.tau[signals[1:]]
    keep[1:] = np.exp(-np.where(same, gaps, np.inf))
    news = np.sqrt(1.0 - keep * keep) * rng.standard_normal(count)
    last = 0.0
    drawn = np.array(
        [last := k * last + n for k, n in zip(keep.tolist(), news.tolist(), strict=True)]
    )
    for parent, child, r in tables.twins:
        p0, p1, c0, c1 = signals.searchsorted([parent, parent + 1, child, child + 1]).tolist()
        if p1 > p0 and c1 > c0:
            nearest = np.minimum(times[p0:p1].searchsorted(times[c0:c1]), p1 - p0 - 1) + p0
            mixed = r * drawn[nearest] + (1.0 - r * r) ** 0.5 * drawn[c0:c1]
            drawn[c0:c1] = np.where(times[nearest] == times[c0:c1], mixed, drawn[c0:c1])
    return drawn


def measured(level: Floats, signals: Ints, deviations: Floats) -> Floats:
    """Turn deviations into reported values: clipped to what is survivable, and rounded.

    Args:
        level: Levels of all signals; shape (S,).
        signals: Signal index of each measurement; shape (N,).
        deviations: Standardized deviations; shape (N,).
    """
    tables = signal_tables()
    values = level[signals] + tables.within[signals] * deviations
    is_log = tables.is_log[signals]
    np.exp(values, out=values, where=is_log)
    np.clip(values, tables.floor[signals], tables.ceiling[signals], out=values)
    rounding = tables.rounding[signals]
    rounded: Floats = np.rint(values * rounding) / rounding
    return rounded


def lab_values(
    rng: np.random.Generator, patient: PatientProfile, code: str, times: np.ndarray
) -> Floats:
    """Draw plausible results of one lab for ``patient``, correlated over time.

    Args:
        rng: Source of randomness.
        patient: Whose results.
        code: The lab's base-name code, such as ``MG``.
        times: Collection times in epoch seconds, in any order; shape (N,).

    Returns:
        Values in the lab's unit, rounded to its decimals, in the order of ``times``; shape (N,).

    Raises:
        ConfigurationError: If the vocabulary has no such lab.
    """
    index = signal_tables().index.get(code)
    if index is None:
        raise ConfigurationError(f"The cohort's vocabulary has no lab {code!r}.")
    moments = np.asarray(times, dtype=np.int64)
    if not len(moments):
        return np.empty(0)
    order = moments.argsort(kind="stable")
    signals = np.full(len(moments), index)
    on = datetime.fromtimestamp(int(moments[order[-1]]), UTC).date()
    values = measured(levels(patient, on), signals, fluctuations(rng, signals, moments[order]))
    result = np.empty_like(values)
    result[order] = values
    return result
