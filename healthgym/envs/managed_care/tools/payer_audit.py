"""Compliance reports on a case; part of the extended surface."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset


class AuditToolset(OfficeToolset):
    """What an auditor asks of a case. Reports name the rule that was not kept."""

    namespace = "payer_audit"

    @tool(ToolKind.READ, takes=LOOK)
    def get_case_timeline(self, case_id: str) -> str:
        """Read what happened to a case, oldest first.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.timeline(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def get_sla_status(self, case_id: str) -> str:
        """Read where a case stands against its limit; time that it was pended does not count.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.clock(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def check_role_compliance(self, case_id: str) -> str:
        """Check whether everybody did only what the role allows.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.roles(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def check_reviewer_independence(self, case_id: str) -> str:
        """Check whether nurse, physician, peer and appeal reviewer are different people.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.independence(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def check_letter_completeness(self, case_id: str) -> str:
        """Check whether the letters of a case state everything that they must.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.letters(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def check_policy_citation_quality(self, case_id: str) -> str:
        """Check whether decisions and letters cite the policy of the case.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.citations(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def check_decision_consistency(self, case_id: str) -> str:
        """Check whether determination, status, letter and authorization number agree.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.consistency(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def summarize_case_quality(self, case_id: str) -> str:
        """Read how many findings each report has, and whether the case is clean.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.compliance.summary(case_id))
