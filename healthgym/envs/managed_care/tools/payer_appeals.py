"""The payer's appeals desk; offered on the extended surface only."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import AppealOutcome


class AppealsToolset(OfficeToolset):
    """Internal appeals and external reviews: acknowledging, assigning, reading anew, deciding."""

    namespace = "payer_appeals"

    @tool(ToolKind.READ, name="list", takes=LOOK)
    def list_appeals(self, case_id: str | None = None) -> str:
        """List appeals, oldest first.

        Args:
            case_id: Only those of this case, such as "CASE-ACT-001".
        """
        return self.show(self.world.appeals.list_all(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def get(self, appeal_id: str) -> str:
        """Read an appeal.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
        """
        return self.show(self.world.appeals.get(appeal_id))

    @tool(ToolKind.READ, takes=LOOK)
    def get_file(self, appeal_id: str) -> str:
        """Read what belongs to an appeal: what came with it, the denial, findings, the limit.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
        """
        return self.show(self.world.appeals.data(appeal_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def acknowledge(self, appeal_id: str, actor: str = "SYSTEM") -> str:
        """Tell whoever appealed, once, that the appeal has come in.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
            actor: Id of the worker who acknowledges it, such as "W-052".
        """
        return self.show(self.world.appeals.acknowledge(appeal_id, actor))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def assign_reviewer(self, appeal_id: str, reviewer_id: str) -> str:
        """Give an internal appeal to an appeals director who had no part in the case.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
            reviewer_id: Id of the appeals medical director, such as "C-AMD".
        """
        appeals = self.world.appeals
        return self.show(appeals.assign_internal_appeal_reviewer(appeal_id, reviewer_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def save_review(
        self,
        appeal_id: str,
        reviewer_id: str,
        line_number: int,
        evaluations: tuple[NurseCriterionEvaluation, ...],
    ) -> str:
        """Write down, as the reviewer of an internal appeal, which criteria of a line are met.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
            reviewer_id: Id of the appeals medical director it was given to, such as "C-AMD".
            line_number: The line, from 1.
            evaluations: All findings on the line; they take the place of earlier ones.
        """
        appeals = self.world.appeals
        return self.show(appeals.save_review(appeal_id, reviewer_id, line_number, evaluations))

    @tool(ToolKind.WRITE, takes=DECISION)
    def decide(
        self, appeal_id: str, reviewer_id: str, outcome: AppealOutcome, rationale: str = ""
    ) -> str:
        """Decide an internal appeal, once; the letter to the practice goes out with it.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
            reviewer_id: Id of the appeals medical director it was given to, such as "C-AMD".
            outcome: appeal_upheld if the denial stands, appeal_overturned if not.
            rationale: Why, in a few sentences: policy and version, and the criteria that it rests
                on by their numbers, such as C3.
        """
        appeals = self.world.appeals
        return self.show(appeals.decide_internal_appeal(appeal_id, reviewer_id, outcome, rationale))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def assign_external(self, appeal_id: str, coordinator_id: str, vendor_name: str) -> str:
        """Hand an external review to an independent organization.

        Args:
            appeal_id: Id of the appeal, such as "APL-EXT-0001".
            coordinator_id: Id of the external-review coordinator, such as "C-EXT".
            vendor_name: The organization that reviews.
        """
        appeals = self.world.appeals
        return self.show(appeals.assign_external_review(appeal_id, coordinator_id, vendor_name))

    @tool(ToolKind.WRITE, takes=DECISION)
    def record_external_outcome(
        self, appeal_id: str, coordinator_id: str, outcome: AppealOutcome, rationale: str = ""
    ) -> str:
        """Record, once, what the independent organization decided; it binds the payer.

        Args:
            appeal_id: Id of the appeal, such as "APL-EXT-0001".
            coordinator_id: Id of the coordinator it was handed to, such as "C-EXT".
            outcome: external_appeal_upheld if the denial stands, external_appeal_overturned if not.
            rationale: Why, in a few sentences.
        """
        return self.show(
            self.world.appeals.record_external_review_outcome(
                appeal_id, coordinator_id, outcome, rationale
            )
        )

    @tool(ToolKind.READ, takes=LOOK)
    def validate_independence(self, appeal_id: str) -> str:
        """Check whether the reviewer of an appeal had no part in the case before.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
        """
        return self.show(self.world.appeals.validate_reviewer_independence(appeal_id))

    @tool(ToolKind.READ, takes=LOOK)
    def validate_timeliness(self, appeal_id: str) -> str:
        """Check whether an appeal was filed within its window.

        Args:
            appeal_id: Id of the appeal, such as "APL-0001".
        """
        return self.show(self.world.appeals.validate_appeal_timeliness(appeal_id))
