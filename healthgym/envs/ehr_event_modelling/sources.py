"""Tasks on real cohorts.

The test split is the data set's own: models are fitted on its train patients, and its test patients
are predicted. The train and validation splits never see those: each of their tasks parts the
data set's train (or validation) patients anew, so that there is an unlimited number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from healthgym.core.cache import BuildCache
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import TaskKey, require_index
from healthgym.envs.ehr_event_modelling.cohort import Prepared, cut_study, prepare
from healthgym.envs.ehr_event_modelling.generator import instance_of
from healthgym.envs.ehr_event_modelling.labels import Rows, label_rows
from healthgym.envs.ehr_event_modelling.readers import RealCohort
from healthgym.envs.ehr_event_modelling.task import EventInstance, EventTaskGenerator, Target
from healthgym.envs.ehr_event_modelling.vocabulary import published, vocabulary
from healthgym.errors import DataError

#: Patients with and without the outcome that each part needs at the least.
_FEWEST = 2


class RealGenerator(EventTaskGenerator):
    """Prediction tasks on a real cohort; the test split has one for each target.

    Args:
        source: The cohort.
        targets: The targets wanted; those that the cohort has no data for are left out.
        name: Family name in task ids.

    Raises:
        DataError: If no target has enough patients.
    """

    lasting = False

    def __init__(self, source: RealCohort, targets: Sequence[Target], *, name: str) -> None:
        self.name = name
        self._source = source
        self._rows = {target: self._label(target) for target in targets}
        self._possible = {
            split: tuple(t for t in targets if not self._lacks(split, t)) for split in Split
        }
        if not self._possible[Split.TEST]:
            reasons = "; ".join(f"{t}: {self._lacks(Split.TEST, t)}" for t in targets)
            raise DataError(
                f"This {source.name} cohort of {len(source.cohort.part)} patients is too small for "
                f"a task. {reasons}."
            )
        self.tests = len(self._possible[Split.TEST])
        self._studies: BuildCache[Prepared] = BuildCache.pooled()

    def kind(self, split: Split, index: int) -> str:
        """Return the target of a task.

        Raises:
            ConfigurationError: If the split has no such index.
            DataError: If the split has no target with enough patients.
        """
        require_index(self, split, index)
        return self._target(split, index)

    def draw(self, split: Split, index: int) -> EventInstance:
        """Return a task.

        Raises:
            DataError: If the split has no target with enough patients.
        """
        target = self._target(split, index)
        number = index // len(self._possible[split])
        prepared = self._studies.get(
            (split, number, target), lambda: self._prepare(split, number, target)
        )
        figures = published()[target]
        own = split is Split.TEST and self._source.name == "EHRSHOT"
        return instance_of(
            TaskKey(self.name, split, index),
            target,
            prepared,
            "real",
            "published" if split is Split.TEST else "short",
            seed_name=f"{self.name}/{prepared.study.content_hash()}",
            published=figures.bar if own and len(prepared.labels) == figures.rows else 0.0,
        )

    def _target(self, split: Split, index: int) -> Target:
        possible = self._possible[split]
        if not possible:
            raise DataError(f"The {split} part of this {self._source.name} cohort is too small.")
        return possible[index % len(possible)]

    def _label(self, target: Target) -> Rows:
        if target in self._source.rows:
            return self._source.rows[target]
        cohort, codes = self._source.cohort, self._source.outcomes[target]
        return label_rows(cohort.timeline, cohort.timeline.kinds_of(codes), cohort.ends)

    def _lacks(self, split: Split, target: Target) -> str:
        """Return what a target lacks in a split; empty if nothing."""
        rows, part = self._rows[target], self._source.cohort.part
        if split is Split.TEST:
            needs = [(rows.where(part[rows.patient] == which), _FEWEST) for which in (0, 2)]
            needs[1] = (needs[1][0].first(), _FEWEST)
        else:
            which = 0 if split is Split.TRAIN else 1
            needs = [(rows.where(part[rows.patient] == which).first(), 3 * _FEWEST)]
        for found, least in needs:
            hit = len(np.unique(found.patient[found.label]))
            free = len(np.unique(found.patient[~found.label]))
            if hit < least or free < least:
                return (
                    f"{hit} patients with and {free} without the outcome where {least} are needed"
                )
        return ""

    def _prepare(self, split: Split, number: int, target: Target) -> Prepared:
        rows, cohort = self._rows[target], self._source.cohort
        if split is not Split.TEST:
            which = 0 if split is Split.TRAIN else 1
            rows = rows.where(cohort.part[rows.patient] == which)
            rng = task_rng(f"{self.name}/{target}", split, number)
            cohort = replace(cohort, part=_repart(rows, len(cohort.part), rng))
        codes = self._source.outcomes[target] or (vocabulary().targets[target].code,)
        return prepare(*cut_study(cohort, vocabulary().targets[target].name, codes, rows))


def _repart(rows: Rows, patients: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Part patients anew: 45% train, 20% validation, 35% test, each with its share of positives."""
    part = np.zeros(patients, dtype=np.int8)
    first = rows.first()
    for label in (True, False):
        members = rng.permutation(first.patient[first.label == label])
        edges = [round(0.45 * len(members)), round(0.65 * len(members))]
        part[members[edges[0] : edges[1]]] = 1
        part[members[edges[1] :]] = 2
    return part
