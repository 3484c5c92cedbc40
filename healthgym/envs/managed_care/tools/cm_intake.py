"""Care management: referrals, and the cases they open."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.care import CMPriority, CMProgram


class CareIntakeTools(OfficeToolset):
    """The referral queue of care management."""

    namespace = "cm_intake"

    @tool(ToolKind.READ, takes=LOOK)
    def list_referral_queue(self) -> str:
        """List the referrals to care management, each with who it is about and why it came."""
        return self.show(self.world.referrals.queue())

    @tool(ToolKind.READ, takes=LOOK)
    def get_referral(self, referral_id: str) -> str:
        """Read one referral: patient, reason, diagnoses, risk score, flags of utilization.

        Args:
            referral_id: Id of the referral, as in the queue, such as 'REF-1'.
        """
        return self.show(self.world.referrals.referral(referral_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def open_case(self, referral_id: str, priority: CMPriority, program: CMProgram) -> str:
        """Open the case that a referral asks for; each referral opens one case, once.

        Args:
            referral_id: Id of the referral, as in the queue, such as 'REF-1'.
            priority: How soon the patient needs it.
            program: Programme to which the patient's needs belong.
        """
        return self.show(self.world.referrals.open_case(referral_id, priority, program))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def disenroll_case(self, case_id: str, reason: str) -> str:
        """End a case before its care plan is done, for good: the patient declined, or cannot.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
            reason: Why, in words that the next reader understands, such as 'declined after the
                benefits were explained, wants no further calls'.
        """
        return self.show(self.world.referrals.disenroll(case_id, reason))
