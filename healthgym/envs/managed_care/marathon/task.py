"""Both halves of a marathon's task: a queue, and each of its cases as a task of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.verifier import Evidence, Verifier
from healthgym.worlds.managed_care.queue import QueueStart
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: One case, alone: with the reference of the desk's own family; what it leaves to be judged, and
#: who judges it.
CaseInstance = Instance[Task, Any, WorldStart]
CaseEvidence = Evidence[Task, Any, ManagedCareWorld]
CaseVerifier = Verifier[Task, Any, ManagedCareWorld]


class Piece:
    """One case of a queue: the task that it is by itself, and the world in which it would be alone.

    Args:
        key: Name of the case in verdicts.
        patient_id: Whom it is about.
        instance: The task with its reference; its world begins when the queue's does, and holds
            whom the case is about and who stands around.
    """

    def __init__(self, key: str, patient_id: str, instance: CaseInstance) -> None:
        self.key, self.patient_id, self.instance = key, patient_id, instance

    @cached_property
    def before(self) -> ManagedCareWorld:
        """The world in which it would be alone, at the beginning; never changed."""
        return ManagedCareWorld(self.instance.start)

    def content_hash(self) -> str:
        """Return the digest of the world in which it would be alone."""
        return self.instance.start.content_hash()


@dataclass(frozen=True, slots=True, kw_only=True)
class MarathonReference(Reference):
    """What is right, case by case.

    Attributes:
        pieces: The cases, in the order of the queue, by name.
    """

    pieces: Mapping[str, Piece]


MarathonInstance = Instance[Task, MarathonReference, QueueStart]
MarathonTaskGenerator = TaskGenerator[Task, MarathonReference, QueueStart]
