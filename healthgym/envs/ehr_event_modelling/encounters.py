"""When patients meet the health system: visits, irregular and clustered, and days within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.envs.ehr_event_modelling.people import NEVER, People
from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.envs.ehr_event_modelling.timeline import DAY, Ints
from healthgym.envs.ehr_event_modelling.vocabulary import vocabulary

INPATIENT, OUTPATIENT, EMERGENCY = 0, 1, 2
#: Later admissions and emergency visits a year, and the share of visits with another soon after.
_ADMISSIONS, _EMERGENCIES, _AGAIN = 0.45, 0.35, 0.3
#: Additional visits a year at the height of a prodrome.
_COMPLAINTS = 1.0


@dataclass(frozen=True, eq=False)
class Visits:
    """Visits of all patients, in no order.

    Attributes:
        patient: Index of the patient, shape ``(visits,)`` as all below.
        start: Beginning, in minutes.
        end: End, in minutes.
        kind: 0 inpatient, 1 outpatient, 2 emergency.
        id: Visit id, unrelated to anything else.
    """

    patient: Ints
    start: Ints
    end: Ints
    kind: NDArray[np.int8]
    id: Ints


@dataclass(frozen=True, eq=False)
class Encounters:
    """Occasions on which something is recorded: an outpatient visit, or a day in hospital.

    Attributes:
        visit: Index of the visit, shape ``(encounters,)`` as all below.
        patient: Index of the patient.
        time: When, in minutes.
        kind: As that of the visit.
        diagnosed: Index of the target diagnosed here; -1 for none.
    """

    visit: Ints
    patient: Ints
    time: Ints
    kind: NDArray[np.int8]
    diagnosed: NDArray[np.int8]


def draw_visits(
    people: People, config: CohortConfig, rng: np.random.Generator
) -> tuple[Visits, Encounters]:
    """Draw all visits of a cohort and the encounters they consist of."""
    parts = [
        _index_stays(people, rng),
        *_routine(people, config, rng),
        _prodromes(people, rng),
        _closing(people, rng),
    ]
    diagnoses, targets = _diagnoses(people, rng)
    parts.append(diagnoses)
    patient, start, end = (np.concatenate([part[i] for part in parts]) for i in range(3))
    kind = np.concatenate([np.full(len(part[0]), part[3], dtype=np.int8) for part in parts[:-1]])
    kind = np.concatenate([kind, diagnoses[3]])
    diagnosed = np.full(len(patient), -1, dtype=np.int8)
    diagnosed[len(patient) - len(targets) :] = targets
    inside = (start > people.index[patient] - people.history[patient] * DAY - 30 * DAY) & (
        end <= people.index[patient] + people.follow_up[patient] * DAY + DAY
    )
    keep = inside | (diagnosed >= 0)
    patient, start, end, kind, diagnosed = (
        column[keep] for column in (patient, start, end, kind, diagnosed)
    )
    ids = rng.choice(899_999_999, len(patient), replace=False) + 100_000_000
    visits = Visits(patient, start, end, kind, ids.astype(np.int64))
    most = 6 if config.detail == 1.0 else 3
    return visits, _encounters(visits, diagnosed, most, rng)


_Part = tuple[Ints, Ints, Ints, "int | NDArray[np.int8]"]


def _index_stays(people: People, rng: np.random.Generator) -> _Part:
    count = len(people)
    end = people.index - rng.integers(6 * 60, 14 * 60, count)
    start = end - _length(count, rng)
    return np.arange(count), start, end, INPATIENT


def _length(count: int, rng: np.random.Generator) -> Ints:
    """Draw lengths of stay: one to nine days, most of them short."""
    return np.minimum(DAY + rng.exponential(2.2 * DAY, count), 9 * DAY).astype(np.int64)


def _routine(people: People, config: CohortConfig, rng: np.random.Generator) -> list[_Part]:
    first = people.index - people.history * DAY
    years = (people.history + people.follow_up) / 365.0
    who, when = _poisson(people.use * config.visits * years, first, years, rng)
    again = rng.random(len(who)) < _AGAIN
    soon = when[again] + rng.integers(3, 15, int(again.sum())) * DAY
    who, when = np.concatenate([who, who[again]]), np.concatenate([when, soon])
    when = _office_hours(when, rng)
    outpatient = (who, when, when + rng.integers(20, 90, len(who)), OUTPATIENT)
    who, when = _poisson(people.use * _EMERGENCIES * years, first, years, rng)
    emergency = (who, when, when + rng.integers(120, 600, len(who)), EMERGENCY)
    after = people.follow_up / 365.0
    who, when = _poisson(people.use * _ADMISSIONS * after, people.index + 14 * DAY, after, rng)
    admission = (who, when, when + _length(len(who), rng), INPATIENT)
    return [outpatient, emergency, admission]


def _poisson(
    mean: NDArray[np.float64], first: Ints, years: NDArray[np.float64], rng: np.random.Generator
) -> tuple[Ints, Ints]:
    who = np.repeat(np.arange(len(mean)), rng.poisson(mean))
    offset = rng.random(len(who)) * years[who] * 365 * DAY
    return who, first[who] + offset.astype(np.int64)


def _office_hours(when: Ints, rng: np.random.Generator) -> Ints:
    return when - when % DAY + rng.integers(8 * 60, 17 * 60, len(when))


def _prodromes(people: People, rng: np.random.Generator) -> _Part:
    """Return visits for complaints that nobody has explained yet."""
    leads = np.array([vocabulary().targets[target].lead for target in Target])
    who, target = np.nonzero((people.diagnosis < NEVER) & (people.shows > 0))
    number = rng.poisson(_COMPLAINTS * leads[target] / 365.0)
    who, target = np.repeat(who, number), np.repeat(target, number)
    # The square root: more of them the closer the diagnosis is.
    before = (1 - np.sqrt(rng.random(len(who)))) * leads[target] * DAY
    when = _office_hours(people.diagnosis[who, target] - before.astype(np.int64) - DAY, rng)
    return who, when, when + rng.integers(20, 90, len(who)), OUTPATIENT


def _closing(people: People, rng: np.random.Generator) -> _Part:
    """Return the last contact of each patient, where the record is censored."""
    count = len(people)
    when = _office_hours(people.index + people.follow_up * DAY, rng)
    return np.arange(count), when, when + rng.integers(20, 90, count), OUTPATIENT


def _diagnoses(
    people: People, rng: np.random.Generator
) -> tuple[tuple[Ints, Ints, Ints, NDArray[np.int8]], NDArray[np.int8]]:
    stays = np.array([vocabulary().targets[target].inpatient for target in Target])
    first = people.index - people.history * DAY
    last = people.index + people.follow_up * DAY
    inside = (people.diagnosis > first[:, None]) & (people.diagnosis < last[:, None])
    # A known diagnosis may be older than the record; it is then noted when the record begins.
    inside |= people.diagnosis <= first[:, None]
    who, target = np.nonzero(inside)
    when = np.maximum(people.diagnosis[who, target], first[who] + 10 * 60)
    inpatient = (rng.random(len(who)) < stays[target]) & (when > people.index[who])
    end = np.where(inpatient, when + _length(len(who), rng), when + rng.integers(20, 90, len(who)))
    kind = np.where(inpatient, INPATIENT, OUTPATIENT).astype(np.int8)
    return (who, when, end, kind), target.astype(np.int8)


def _encounters(
    visits: Visits, diagnosed: NDArray[np.int8], most: int, rng: np.random.Generator
) -> Encounters:
    lasting = (visits.end - visits.start) // DAY + 1
    days = np.where(visits.kind == INPATIENT, np.minimum(lasting, most), 1)
    visit = np.repeat(np.arange(len(days)), days)
    day = np.arange(len(visit)) - np.repeat(np.cumsum(days) - days, days)
    later = np.where(day > 0, rng.integers(0, 240, len(visit)), 0)
    time = np.minimum(visits.start[visit] + day * DAY + later, visits.end[visit])
    found = np.where(day == 0, diagnosed[visit], -1).astype(np.int8)
    return Encounters(visit, visits.patient[visit], time, visits.kind[visit], found)
