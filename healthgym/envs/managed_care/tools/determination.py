"""The payer's final decision, as whoever makes it uses it."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, LOOK, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import DeterminationDecision


class DeterminationToolset(OfficeToolset):
    """What a decision can rest on, and making it final."""

    namespace = "determination"

    @tool(ToolKind.READ, takes=LOOK)
    def get_summary(self, case_id: str) -> str:
        """Read what a final decision can rest on, what still blocks it, and the criteria tally.

        Each criterion counts once, a physician's finding before a nurse's. documentation_gaps
        counts those that are not met or unclear; an alternative in the policy can make them
        needless.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.determinations.summary(case_id))

    @tool(ToolKind.WRITE, takes=DECISION)
    def finalize(
        self,
        case_id: str,
        decision: DeterminationDecision,
        overridden: bool = False,
        override_reason: str = "",
        actor: str = "SYSTEM",
    ) -> str:
        """Make the decision on a case final; it is recorded once and moves the case.

        It follows the nurse's recommendation or the physician's decision. To depart from that takes
        overridden and a reason. Intake must be complete and nothing may be awaited.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            decision: The decision.
            overridden: Whether you depart from what was recommended.
            override_reason: Why you do, in a sentence.
            actor: Id of the nurse or physician who makes it final, such as "C-MD"; whoever
                recommended it if left out.
        """
        return self.show(
            self.world.determinations.finalize(
                case_id,
                decision,
                overridden=overridden,
                override_reason=override_reason,
                actor=actor,
            )
        )
