"""What is recorded at each encounter: codes, drugs and values, by what ails the patient."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from healthgym.envs.ehr_event_modelling.encounters import (
    INPATIENT,
    Encounters,
    Visits,
)
from healthgym.envs.ehr_event_modelling.people import People
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.envs.ehr_event_modelling.timeline import (
    DAY,
    NO_TIME,
    EventKind,
    Floats,
    RawEvents,
    Timeline,
    assemble,
)
from healthgym.envs.ehr_event_modelling.vocabulary import Disease, vocabulary

CONDITION, DRUG, MEASUREMENT = "condition_occurrence", "drug_exposure", "measurement"
_VISITS = ("Visit/IP", "Visit/OP", "Visit/ER", "Visit/ERIP")
_RACES = ("Race/5", "Race/3", "Race/2", "Race/Unknown", "Race/1")
#: Birth and death, as EHRSHOT codes them.
BIRTH, _DEATH = "SNOMED/3950001", "SNOMED/419620001"
#: How often a known condition is coded, its drugs are given, and what follows a target is done.
_CODED, _TREATED, _FOLLOWED = 0.3, 0.22, 0.3
#: A stay has several encounters; each of them is worth less than a visit.
_SHARE = np.array([0.5, 1.0, 1.0], dtype=np.float32)


@dataclass(slots=True)
class _Writer:
    """Collects events and numbers their kinds."""

    kinds: dict[EventKind, int] = field(default_factory=dict)
    parts: list[tuple[NDArray[np.generic], ...]] = field(default_factory=list)

    def add(
        self,
        kind: EventKind,
        patient: NDArray[np.integer],
        start: NDArray[np.int64],
        visit: NDArray[np.int64],
        *,
        value: Floats | None = None,
        end: NDArray[np.int64] | None = None,
    ) -> None:
        number = self.kinds.setdefault(kind, len(self.kinds))
        count = len(patient)
        self.parts.append(
            (
                patient,
                start,
                np.full(count, NO_TIME) if end is None else end,
                np.full(count, number),
                np.full(count, np.nan) if value is None else value,
                visit,
            )
        )

    def timeline(self, ids: NDArray[np.int64]) -> Timeline:
        columns = [np.concatenate([part[i] for part in self.parts]) for i in range(6)]
        patient, start, end, kind, value, visit = columns
        raw = RawEvents(
            patient.astype(np.int64),
            start.astype(np.int64),
            end.astype(np.int64),
            kind.astype(np.int64),
            value.astype(np.float64),
            visit.astype(np.int64),
        )
        return assemble(ids, raw, tuple(self.kinds))


@dataclass(frozen=True, slots=True)
class _Scene:
    """Encounters and the state of their patients at that time."""

    met: Encounters
    visit_id: NDArray[np.int64]
    ill: NDArray[np.bool_]  # (encounters, backgrounds)
    severity: NDArray[np.float32]  # (encounters, targets): 0 before, 1 at the diagnosis
    known: NDArray[np.bool_]  # (encounters, targets)
    weight: NDArray[np.float32]
    detail: float
    rng: np.random.Generator
    writer: _Writer

    def record(self, kind: EventKind, chance: NDArray[np.floating]) -> None:
        """Write an event wherever a draw falls below its chance."""
        self.write(
            kind, np.flatnonzero(self.rng.random(len(self.weight), dtype=np.float32) < chance)
        )

    def write(self, kind: EventKind, chosen: NDArray[np.int64]) -> None:
        """Write an event at some encounters, within the half hour."""
        met = self.met
        self.writer.add(kind, met.patient[chosen], met.time[chosen], self.visit_id[chosen])


def write_records(
    people: People, visits: Visits, met: Encounters, detail: float, rng: np.random.Generator
) -> Timeline:
    """Write the full records of a cohort; detail scales what does not matter."""
    writer = _Writer()
    _write_persons(writer, people)
    _write_visits(writer, visits, rng)
    time = met.time[:, None]
    diagnosis = people.diagnosis[met.patient]
    leads = np.array([vocabulary().targets[target].lead * DAY for target in Target])
    ramp = np.clip((time - (diagnosis - leads)) / leads, 0.0, 1.0) * people.shows[met.patient]
    known = diagnosis <= time
    scene = _Scene(
        met,
        visits.id[met.visit],
        people.backgrounds[met.patient] <= time,
        # Treated, a disease shows less.
        np.where(known, 0.5 * ramp, ramp).astype(np.float32),
        known,
        _SHARE[met.kind],
        detail,
        rng,
        writer,
    )
    _write_general(scene)
    _write_backgrounds(scene)
    for column, target in enumerate(Target):
        _write_target(scene, column, vocabulary().targets[target])
    _write_labs(scene, len(people))
    _write_deaths(writer, people, rng)
    return writer.timeline(people.ids)


def _write_persons(writer: _Writer, people: People) -> None:
    everyone, none = np.arange(len(people)), np.zeros(len(people), dtype=np.int64)
    writer.add(EventKind(BIRTH, "person", name="birth"), everyone, people.birth, none)
    for code, name, chosen in (
        ("Gender/M", "male", people.male),
        ("Gender/F", "female", ~people.male),
    ):
        who = everyone[chosen]
        writer.add(EventKind(code, "person", name=name), who, people.birth[who], none[who])
    for number, code in enumerate(_RACES):
        who = everyone[people.race == number]
        writer.add(EventKind(code, "person"), who, people.birth[who], none[who])


def _write_visits(writer: _Writer, visits: Visits, rng: np.random.Generator) -> None:
    through_emergency = (visits.kind == INPATIENT) & (rng.random(len(visits.kind)) < 0.4)
    code = np.where(through_emergency, 3, visits.kind)
    for number, name in enumerate(_VISITS):
        chosen = code == number
        writer.add(
            EventKind(name, "visit_occurrence"),
            visits.patient[chosen],
            visits.start[chosen],
            visits.id[chosen],
            end=visits.end[chosen],
        )


def _write_general(scene: _Scene) -> None:
    for event in vocabulary().general:
        rates = np.array(event.rates, dtype=np.float32) * scene.detail
        scene.record(EventKind(event.code, event.table, name=event.name), rates[scene.met.kind])


def _write_backgrounds(scene: _Scene) -> None:
    for column, condition in enumerate(vocabulary().backgrounds):
        ill = scene.ill[:, column] * scene.weight
        name = condition.name.replace("_", " ")
        table = "observation" if condition.name == "smoking" else CONDITION
        scene.record(EventKind(condition.code, table, name=name), _CODED * ill)
        for drug in condition.drugs:
            scene.record(EventKind(drug.code, DRUG, name=drug.name), _TREATED * ill)


def _write_target(scene: _Scene, column: int, disease: Disease) -> None:
    """Write what precedes a target, the diagnosis, and what follows it.

    The last is what leaks: it is in the records of train patients, after their prediction times.
    """
    names = [condition.name for condition in vocabulary().backgrounds]
    severity = scene.severity[:, column]
    for sign in disease.precursors:
        chance = sign.base + (sign.peak - sign.base) * severity
        for name, rate in sign.also.items():
            chance = chance + rate * scene.ill[:, names.index(name)]
        scene.record(EventKind(sign.code, sign.table, name=sign.name), chance * scene.weight)
    known = scene.known[:, column]
    first = scene.met.diagnosed == column
    again = known & ~first & (scene.rng.random(len(known)) < _CODED * scene.weight)
    diagnosis = EventKind(disease.code, CONDITION, name=disease.name)
    scene.write(diagnosis, np.flatnonzero(first | again))
    for item in disease.treatments:
        kind = EventKind(item.code, _table_of(item.code), name=item.name)
        # From the diagnosis on; not at the same moment, so that ties tell nothing.
        scene.record(kind, _FOLLOWED * scene.weight * (known & ~first))


def _table_of(code: str) -> str:
    prefix = code.partition("/")[0]
    return {"RxNorm": DRUG, "LOINC": MEASUREMENT, "CPT4": "procedure_occurrence"}[prefix]


def _write_labs(scene: _Scene, patients: int) -> None:
    words, rng, met = vocabulary(), scene.rng, scene.met
    count = len(met.time)
    habit = 0.5 * rng.standard_normal((patients, len(words.labs)), dtype=np.float32)
    drawn = {
        panel: rng.random(count) < scene.detail * np.array(rates)[met.kind]
        for panel, rates in words.panels.items()
        if panel != "single"
    }
    for number, lab in enumerate(words.labs):
        shift = np.zeros(count, dtype=np.float32)
        for column, condition in enumerate(words.backgrounds):
            if lab.name in condition.labs:
                shift += condition.labs[lab.name] * scene.ill[:, column]
        for column, target in enumerate(Target):
            if lab.name in words.targets[target].labs:
                shift += words.targets[target].labs[lab.name] * scene.severity[:, column]
        if lab.panel == "single":
            # What is abnormal is looked for more often.
            wanted = np.array(words.panels["single"])[met.kind] + 0.035 * np.abs(shift)
            chosen = np.flatnonzero(rng.random(count, dtype=np.float32) < wanted)
        else:
            chosen = np.flatnonzero(drawn[lab.panel])
        score = habit[met.patient[chosen], number] + 0.85 * rng.standard_normal(len(chosen))
        value = lab.mean + lab.sd * (score + shift[chosen])
        value = np.round(np.maximum(value, lab.mean * 0.1), lab.decimals)
        scene.writer.add(
            EventKind(lab.code, MEASUREMENT, lab.unit, lab.name.replace("_", " ")),
            met.patient[chosen],
            met.time[chosen] + 5,
            scene.visit_id[chosen],
            value=value,
        )


def _write_deaths(writer: _Writer, people: People, rng: np.random.Generator) -> None:
    age = (people.index - people.birth) / (365.25 * DAY)
    dead = np.flatnonzero((age > 60) & (rng.random(len(people)) < 0.12))
    when = people.index[dead] + people.follow_up[dead] * DAY + DAY
    writer.add(EventKind(_DEATH, "death", name="death"), dead, when, np.zeros(len(dead), np.int64))
