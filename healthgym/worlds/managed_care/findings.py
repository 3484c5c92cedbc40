"""What a reviewer finds in a packet, in the forms in which it is written down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult, Posture

_OPEN, _NOT_SHOWN = CriterionResult.UNCLEAR, CriterionResult.NOT_MET


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reviewer sees in a packet."""

    policy: Policy
    packet: Packet
    assessment: PolicyAssessment

    @property
    def carried(self) -> bool:
        """Whether the packet shows everything that the policy asks for."""
        return (
            self.assessment.posture is Posture.SATISFIED
            and not self.assessment.missing_documents
            and self.policy.covers_diagnosis(self.packet.request.diagnosis_codes)
        )

    def evaluations(self, *, closed: bool = False) -> tuple[NurseCriterionEvaluation, ...]:
        """Return the findings, each with the documents it rests on.

        Args:
            closed: Whether nothing more is awaited: what is still open is not met, then.
        """
        return tuple(
            NurseCriterionEvaluation(
                criterion_id=name,
                criterion_text=self.policy.text(name),
                criteria_source=self.policy.id,
                criteria_version=self.policy.version,
                result=_NOT_SHOWN if closed and one.result is _OPEN else one.result,
                source_refs_used=self._sources(one.facts),
                item_observations=one.items,
            )
            for name, one in self.assessment.criteria.items()
        )

    def _sources(self, facts: Iterable[str]) -> tuple[str, ...]:
        found = [name for fact in facts for name in self.packet.sources.get(fact, ())]
        # What is read from the request itself rests on the packet as a whole.
        return tuple(dict.fromkeys(found)) or self.packet.documents[:1]

    def open_ones(self) -> tuple[str, ...]:
        """Return the criteria that the packet leaves open."""
        postures = (Posture.INSUFFICIENT, Posture.ABSENT)
        found = self.assessment
        return tuple(name for name, one in found.criteria.items() if one.posture in postures)

    def named(self) -> tuple[str, ...]:
        """Return the criteria that stand against it; those left open where none does."""
        return self.assessment.against or (() if self.carried else self.open_ones())

    def summary(self) -> str:
        """Return the finding in one paragraph."""
        head = f"{self.policy.id}, version {self.policy.version}: "
        if self.carried:
            return head + "every criterion is met by the documents on file."
        return head + " ".join(f"{name}: {self.policy.text(name)}" for name in self.named())
