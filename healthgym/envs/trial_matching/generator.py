"""Seed to patient, pool and grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from functools import lru_cache

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, TaskKey, require_index
from healthgym.envs.trial_matching.chart import Chart, Patient
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.note import write_note
from healthgym.envs.trial_matching.patients import Wanted, draw_patient
from healthgym.envs.trial_matching.phrasing import Style
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.registry import Registry, nct_id, registry
from healthgym.envs.trial_matching.render import render
from healthgym.envs.trial_matching.task import (
    ELIGIBLE,
    EXCLUDED,
    NOT_RELEVANT,
    MatchingInstance,
    MatchingReference,
    MatchingStart,
    MatchingTask,
    MatchingTaskGenerator,
    PoolConfig,
)
from healthgym.envs.trial_matching.trials import Aim, Trial, TrialDraw
from healthgym.envs.trial_matching.vocabulary import read_data, vocabulary
from healthgym.worlds.corpus import Corpus

#: Trials about a condition of the patient that is not what the admission is about.
_ABOUT_COMORBIDITY = 0.2
_GRADES = {Aim.ELIGIBLE: ELIGIBLE, Aim.EXCLUDED: EXCLUDED, Aim.UNMET: NOT_RELEVANT}
#: Tasks kept in memory; the rollouts of a group share one.
_KEPT = 4

INSTRUCTION = """\
Find the clinical trials that a patient can enter. An admission note (read_note) describes the \
patient; a pool of {size} registered trials can be listed, searched and read. Put every trial the \
patient is eligible for on the shortlist, most confident first, and nothing else; then submit.
A patient is eligible for a trial if sex and age fit its limits (both ends included), every \
inclusion criterion is met and no exclusion criterion is.{rules}"""

_RULES = """
How to read the note: it is dated, and that day counts as the day of screening. It names every \
condition, event, drug and allergy the patient has or had; what it does not mention, the patient \
does not have. A measured value, stage or type that it does not give is unknown: an inclusion \
criterion on it is not met, and an exclusion criterion on it does not apply. A value without a \
date was measured that day. A condition that the note does not call past or resolved is still \
present, an infection too. "History of" and "known" include the present; "current" and "active" do \
not include what is over. Within a time is what began or happened in it, and every condition that \
is still present. A condition falls under every wider term (a stroke is a cerebrovascular event), \
a drug under its class. The earliest date given for a condition counts as the date of its \
diagnosis. Only the patient's own facts count, not those of relatives, and not drugs that were \
never started."""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A patient to be drawn, and how many trials of each grade the pool has."""

    patient: Wanted
    eligible: int
    excluded: int
    not_relevant: int

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.eligible + self.excluded + self.not_relevant


@lru_cache(maxsize=1)
def canonical_blueprints() -> tuple[Blueprint, ...]:
    """Return the nine tasks of HealthAgentBench: patient, size and composition of the pool."""
    return tuple(
        Blueprint(
            Wanted(
                row["primary"],
                row["age"],
                row["sex"],
                tuple(row["findings"]),
                dict(row["attributes"]),
            ),
            row["eligible"],
            row["excluded"],
            row["not_relevant"],
        )
        for row in read_data("canonical.json")
    )


@dataclass(frozen=True)
class TrialMatchingGenerator(MatchingTaskGenerator):
    """Draws patients and pools of trials.

    Attributes:
        config: What pools are like.
        name: Family name in task ids.
        canonical: Whether the test split is the nine published tasks, in patient and composition.
    """

    config: PoolConfig
    name: str = "trial-matching"
    canonical: bool = False
    tests: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.canonical:
            object.__setattr__(self, "tests", len(canonical_blueprints()))

    def draw(self, split: Split, index: int) -> MatchingInstance:
        """Return a task; generators that are equal share it."""
        return _build(self, split, index)

    def kind(self, split: Split, index: int) -> str:
        """Return the kind of a task, the condition the admission is about.

        Raises:
            ConfigurationError: If the split has no such index.
        """
        require_index(self, split, index)
        return self.blueprint(split, index).patient.primary

    def patient(self, split: Split, index: int) -> Patient:
        """Return the patient of a task as the latent model holds one."""
        dice = Dice(task_rng(self.name, split, index, 1), 128)
        return draw_patient(dice, self.blueprint(split, index).patient, split)

    def blueprint(self, split: Split, index: int) -> Blueprint:
        """Return what is drawn first of a task: condition, size and composition of the pool."""
        if self.is_fixed(split):
            return canonical_blueprints()[index]
        config, dice = self.config, Dice(task_rng(self.name, split, index), 8)
        primary = dice.pick(tuple(vocabulary().conditions))
        size, eligible = dice.between(*config.size), dice.between(*config.eligible)
        low, high = config.excluded
        excluded = round((low + (high - low) * dice.uniform()) * size)
        return Blueprint(Wanted(primary), eligible, excluded, size - eligible - excluded)


@lru_cache(maxsize=_KEPT)
def _build(generator: TrialMatchingGenerator, split: Split, index: int) -> MatchingInstance:
    config, name = generator.config, generator.name
    blueprint, patient = generator.blueprint(split, index), generator.patient(split, index)
    note = write_note(patient, Dice(task_rng(name, split, index, 2), 256), config.style)
    pool = _Pool(Dice(task_rng(name, split, index, 3), 4096), Chart(patient), split, config)
    grades = pool.fill(blueprint)
    now = datetime.combine(patient.today, time(9), UTC)
    task = MatchingTask(
        TaskKey(name, split, index),
        patient.primary,
        INSTRUCTION.format(size=blueprint.size, rules=_RULES),
        {"pool_size": blueprint.size},
        pool_size=blueprint.size,
    )
    corpus = Corpus(tuple(grades), pool.record)
    topic = vocabulary().findings[patient.primary][0]
    start = MatchingStart(note, corpus, now, topic)
    return Instance(task, MatchingReference(grades), start)


class _Pool:
    """Puts a pool together, and words its trials when they are read."""

    def __init__(self, dice: Dice, chart: Chart, split: Split, config: PoolConfig) -> None:
        self._dice, self._split, self._config = dice, split, config
        self._style: Style = config.style
        self._registry: Registry = registry(split, config)
        self._own: dict[str, Trial] = {}
        self._chart: Chart | None = chart

    def fill(self, blueprint: Blueprint) -> Mapping[str, int]:
        """Return the registry numbers of the pool in the order of its list, with their grades."""
        dice, chart = self._dice, self._chart
        assert chart is not None
        near = round(blueprint.not_relevant * self._config.near)
        counts = {
            Aim.ELIGIBLE: blueprint.eligible,
            Aim.EXCLUDED: blueprint.excluded,
            Aim.UNMET: near,
        }
        draws = [self._draw(chart.patient.primary)]
        others = sorted(
            finding.concept
            for finding in chart.patient.findings[1:]
            if finding.active and self._suits(finding.concept, chart)
        )
        draws += [self._draw(name) for name in others]
        grades: dict[str, int] = {}
        for aim, count in counts.items():
            for _ in range(count):
                other = len(draws) > 1 and dice.chance(_ABOUT_COMORBIDITY)
                draw = dice.pick(draws[1:]) if other else draws[0]
                trial = draw.draw(self._new_id(), chart, aim)
                self._own[trial.nct_id] = trial
                grades[trial.nct_id] = _GRADES[aim]
        for id_ in self._far(chart, blueprint.not_relevant - near):
            grades[id_] = NOT_RELEVANT
        self._chart = None  # what is left of the patient is the note
        return {id_: grades[id_] for id_ in dice.shuffled(list(grades))}

    def trial(self, id_: str) -> Trial:
        """Return a trial of the pool as the latent model holds one."""
        return self._own.get(id_) or self._registry.trial(id_)

    def record(self, id_: str) -> TrialRecord:
        """Return the record of a trial of the pool."""
        own = self._own.get(id_)
        return self._registry.record(id_) if own is None else render(own, self._style)

    def _draw(self, condition: str) -> TrialDraw:
        return TrialDraw(
            self._dice,
            vocabulary().conditions[condition],
            self._split,
            composite=self._config.composite,
            units=self._style.varied,
            size=self._config.criteria,
        )

    def _suits(self, concept: str, chart: Chart) -> bool:
        condition = vocabulary().conditions.get(concept)
        return condition is not None and condition.sex in ("", chart.sex)

    def _new_id(self) -> str:
        id_ = nct_id(self._dice, self._split)
        while id_ in self._own or id_ in self._registry:
            id_ = nct_id(self._dice, self._split)
        return id_

    def _far(self, chart: Chart, count: int) -> list[str]:
        """Return trials about conditions the patient never had: grade 0, whatever else they say."""
        source = self._registry
        offset, step = self._dice.below(len(source)), _STEP
        found: list[str] = []
        for turn in range(len(source)):
            place = (offset + turn * step) % len(source)
            if len(found) == count:
                break
            if source.conditions[place] not in chart.findings:
                found.append(source.ids[place])
        return found


#: Steps through a registry; it shares no factor with the registry's size, so that no trial comes
#: twice, and is no multiple of the number of conditions, so that all of them come.
_STEP = 1237
