"""Patients, their admissions and their stays in intensive care."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.envs.ehr_data_quality.corpus import CorpusConfig, choose, ragged, seconds
from healthgym.envs.ehr_data_quality.frames import NO_TIME, Frame, Text

_DAY = 86_400
_UNITS = (
    "Medical Intensive Care Unit (MICU)",
    "Surgical Intensive Care Unit (SICU)",
    "Cardiac Vascular Intensive Care Unit (CVICU)",
    "Coronary Care Unit (CCU)",
    "Neuro Intermediate",
)


@dataclass(frozen=True, slots=True)
class People:
    """The patients of a hospital, sorted by id.

    Attributes:
        ids: Shape ``(n,)``: subject ids.
        male: Shape ``(n,)``: whether each is a man.
        age: Shape ``(n,)``: age in years in the anchor year.
        frame: The table ``patients``.
    """

    ids: NDArray[np.int64]
    male: NDArray[np.bool_]
    age: NDArray[np.int64]
    frame: Frame


@dataclass(frozen=True, slots=True)
class Stays:
    """Admissions, or stays in intensive care, sorted by patient and time.

    Attributes:
        who: Row of the patient.
        ids: ``hadm_id`` or ``stay_id``.
        admission: Row of the admission each belongs to.
        start: When each begins.
        end: When each ends.
        frame: The table ``admissions`` or ``icustays``.
        died: Whether each ends with the patient's death.
    """

    who: NDArray[np.int64]
    ids: NDArray[np.int64]
    admission: NDArray[np.int64]
    start: NDArray[np.datetime64]
    end: NDArray[np.datetime64]
    frame: Frame
    died: NDArray[np.bool_]

    @property
    def hours(self) -> NDArray[np.float64]:
        """Lengths in hours."""
        return (self.end - self.start).astype(np.int64) / 3600


def draw_ids(low: int, high: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``n`` distinct ids from ``low`` to ``high``, in no order."""
    span = high - low
    if span < 8 * n:
        return low + rng.permutation(span)[:n]
    # A quarter more than asked for leaves enough once the few that are drawn twice are gone.
    drawn = np.unique(rng.integers(0, span, n + n // 4 + 64))
    return low + rng.permutation(drawn)[:n]


def draw_people(config: CorpusConfig, rng: np.random.Generator) -> People:
    """Draw the patients."""
    n = config.patients
    ids = np.sort(draw_ids(10_000_000, 19_999_999, n, rng))
    male = rng.random(n) < 0.55
    adult = np.clip(rng.normal(64, 16, n), 18, 89).astype(np.int64)
    adult[(adult == 89) & (rng.random(n) < 0.7)] = 91
    child = rng.integers(2, 18, n)
    age = np.where(rng.random(n) < config.children, child, adult)
    year = rng.integers(2110, 2200, n)
    groups = ("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019")
    frame = Frame(
        {
            "subject_id": ids,
            "gender": Text(male.astype(np.int32), ("F", "M")),
            "anchor_age": age,
            "anchor_year": year,
            "anchor_year_group": choose(groups, (4, 3, 2, 1), n, rng),
            "dod": np.full(n, NO_TIME),
        }
    )
    return People(ids, male, age, frame)


def draw_admissions(people: People, config: CorpusConfig, rng: np.random.Generator) -> Stays:
    """Draw admissions; the last of some patients ends with their death."""
    counts = np.clip(1 + rng.poisson(config.admissions - 1, len(people.ids)), 1, 8)
    who, rank = ragged(counts)
    n = len(who)
    year = people.frame.array("anchor_year")[who]
    new_year = (year - 1970).astype("datetime64[Y]").astype("datetime64[s]")
    # A year and a half apart at most, and never so close that one runs into the next.
    start = new_year + seconds((120 * rank + rng.uniform(0, 60, n)) * _DAY)
    length = np.clip(rng.lognormal(np.log(config.stay_days), 0.6, n), 0.5, 40)
    end = start + seconds(np.rint(length * _DAY / 60) * 60)
    start = start.astype("datetime64[m]").astype("datetime64[s]")
    last = rank == counts[who] - 1
    died = last & (rng.random(n) < 0.1)
    people.frame.array("dod")[who[died]] = end[died].astype("datetime64[D]").astype("datetime64[s]")
    emergency = rng.random(n) < 0.6
    arrival = start - seconds(rng.uniform(1, 9, n) * 3600)
    # A clerk's habit: the emergency department is sometimes left in the books after admission.
    leaving = start + seconds(rng.normal(0, 1, n) * 3600)
    # Natural anomaly: a discharge filed before the admission, when the latter was entered late.
    shown_end = end.copy()
    odd = (rng.random(n) < 0.02 * config.anomalies) & ~died
    shown_end[odd] = start[odd] - seconds(rng.uniform(1, 6, int(odd.sum())) * 3600)
    ids = draw_ids(20_000_000, 29_999_999, n, rng)
    races = ("WHITE", "BLACK/AFRICAN AMERICAN", "HISPANIC/LATINO", "ASIAN", "UNKNOWN", "OTHER")
    homes = ("HOME", "HOME HEALTH CARE", "SKILLED NURSING FACILITY", "REHAB")
    discharge = choose(homes, (4, 3, 2, 1), n, rng)
    frame = Frame(
        {
            "subject_id": people.ids[who],
            "hadm_id": ids,
            "admittime": start,
            "dischtime": shown_end,
            "deathtime": np.where(died, end, NO_TIME),
            "admission_type": choose(
                ("EW EMER.", "URGENT", "OBSERVATION ADMIT", "ELECTIVE"), (5, 2, 2, 1), n, rng
            ),
            "admission_location": choose(
                ("EMERGENCY ROOM", "PHYSICIAN REFERRAL", "TRANSFER FROM HOSPITAL"),
                (5, 2, 2),
                n,
                rng,
            ),
            "discharge_location": Text(
                np.where(died, 4, discharge.codes).astype(np.int32), (*homes, "DIED")
            ),
            "insurance": choose(("Medicare", "Medicaid", "Other"), (5, 2, 3), n, rng),
            "language": choose(("ENGLISH", "?"), (9, 1), n, rng),
            "marital_status": _per_patient(
                ("MARRIED", "SINGLE", "WIDOWED", "DIVORCED"), (5, 4, 2, 1), who, rng
            ),
            "race": _per_patient(races, (12, 4, 2, 1, 1, 1), who, rng),
            "edregtime": np.where(emergency, arrival, NO_TIME),
            "edouttime": np.where(emergency, leaving, NO_TIME),
            "hospital_expire_flag": died.astype(np.int64),
        }
    )
    return Stays(who, ids, np.arange(n), start, end, frame, died)


def draw_icu(
    people: People, admissions: Stays, config: CorpusConfig, rng: np.random.Generator
) -> Stays:
    """Draw stays in intensive care; there is at least one."""
    chosen = rng.random(len(admissions.who)) < config.icu_share
    chosen[int(rng.integers(len(chosen)))] = True
    rows = np.flatnonzero(chosen)
    n = len(rows)
    hours = admissions.hours[rows]
    begin = rng.uniform(0, 0.15, n) * hours
    length = rng.uniform(0.5, 0.8, n) * hours
    start = admissions.start[rows] + seconds(begin * 3600)
    died = admissions.died[rows]
    end = np.where(died, admissions.end[rows], start + seconds(length * 3600))
    ids = draw_ids(30_000_000, 39_999_999, n, rng)
    unit = choose(_UNITS, (4, 2, 2, 2, 1), n, rng)
    who = admissions.who[rows]
    frame = Frame(
        {
            "subject_id": people.ids[who],
            "hadm_id": admissions.ids[rows],
            "stay_id": ids,
            "first_careunit": unit,
            "last_careunit": unit,
            "intime": start,
            "outtime": end,
            "los": np.round((end - start).astype(np.int64) / _DAY, 4),
        }
    )
    return Stays(who, ids, rows, start, end, frame, died)


def _per_patient(
    values: tuple[str, ...], weights: object, who: NDArray[np.int64], rng: np.random.Generator
) -> Text:
    cells = choose(values, weights, int(who.max()) + 1, rng)
    return Text(cells.codes[who], cells.values)
