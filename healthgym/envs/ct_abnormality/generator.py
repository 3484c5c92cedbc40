"""Tasks from seeds: a patient, a scan, a list of findings, and which of them are there."""

from __future__ import annotations

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, TaskKey
from healthgym.envs.ct_abnormality.resources import published
from healthgym.envs.ct_abnormality.task import (
    CtConfig,
    CtInstance,
    CtReference,
    CtStart,
    CtTask,
    CtTaskGenerator,
)
from healthgym.envs.ct_abnormality.wording import instruction
from healthgym.worlds.volumes.disease import Finding
from healthgym.worlds.volumes.drawing import draw_disease
from healthgym.worlds.volumes.patient import draw_acquisition, draw_patient
from healthgym.worlds.volumes.volume import SyntheticVolume

#: Streams of one task: what is asked, what is true, who is scanned, and what it looks like.
_LIST, _TRUTH, _PATIENT, _LESIONS = range(4)


class CtGenerator(CtTaskGenerator):
    """Draws tasks.

    The list of findings comes from one stream and the coin for each from another, so that neither
    the list, nor its length, nor patient or scan say anything about what is there.

    Args:
        config: What scans are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        canonical: Whether the test split is the ten published tasks, in number of findings and of
            positives.
    """

    def __init__(
        self, config: CtConfig, difficulty: str, name: str, *, canonical: bool = False
    ) -> None:
        self.config, self.difficulty, self.name = config, difficulty, name
        self.tests = len(published()) if canonical else None

    def draw(self, split: Split, index: int) -> CtInstance:
        """Return a task."""
        list_rng, truth_rng, patient_rng, lesion_rng = (
            task_rng(self.name, split, index, stream)
            for stream in (_LIST, _TRUTH, _PATIENT, _LESIONS)
        )
        config = self.config
        pool = config.findings or tuple(Finding)
        if self.is_fixed(split):
            count, positives = published()[index]
            coins = np.arange(count) < positives
            truth_rng.shuffle(coins)
        else:
            count = int(list_rng.integers(config.labels[0], config.labels[1] + 1))
            coins = truth_rng.random(count) < 0.5
        asked = [pool[int(n)] for n in list_rng.permutation(len(pool))[:count]]
        truth = {finding: bool(coin) for finding, coin in zip(asked, coins, strict=True)}
        others = truth_rng.random(len(Finding)) < config.others
        present = {finding for finding, there in truth.items() if there} | {
            finding
            for finding, there in zip(Finding, others, strict=True)
            if there and finding not in truth
        }
        patient = draw_patient(patient_rng)
        scan = draw_acquisition(patient_rng, patient, config.slices, config.noise, config.size)
        disease = draw_disease(lesion_rng, patient, present, config.severities, config.mimics)
        labels = tuple(str(finding) for finding in asked)
        task = CtTask(
            TaskKey(self.name, split, index),
            f"findings-{count}",
            instruction(labels),
            {"difficulty": self.difficulty, "labels": list(labels)},
            labels=labels,
        )
        reference = CtReference({str(finding): there for finding, there in truth.items()})
        start = CtStart(SyntheticVolume(patient, disease, scan), labels)
        return Instance(task, reference, start)
