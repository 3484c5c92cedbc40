"""How a request stands at the provider, and whether what was left to the provider was done.

Where the payer errs, the request may not end where it should. The provider has then done its part
if it took what way there is: an appeal of a denial and, if that is upheld, the review outside; a
question about a word that is overdue.
"""

from __future__ import annotations

from healthgym.envs.managed_care.prior_authorization.inspection import Inspection
from healthgym.envs.managed_care.utilization_management.appeal_reader import rests_on
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.relay import PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus

_GRANTED = frozenset(
    {
        CaseStatus.APPROVED,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    }
)
_PARTLY = CaseStatus.PARTIALLY_APPROVED
_UNDECIDED = (CaseStatus.SUBMITTED, CaseStatus.UNDER_REVIEW, CaseStatus.RESUBMITTED)
_ASKED = "payer_hub.check_status"
_OUTSIDE = (CaseStatus.EXTERNAL_APPEALED, CaseStatus.EXTERNAL_APPEAL_UPHELD)


class Standing:
    """Looks at where a request stands.

    Args:
        seen: What became of it.
    """

    def __init__(self, seen: Inspection) -> None:
        self.seen, self.world = seen, seen.after

    @property
    def right(self) -> bool:
        """Whether it stands where the hidden truth has it, at once or upon appeal."""
        wanted, case = self.seen.reference.status, self.seen.case
        if case is None:
            return False
        return case.status == wanted or (wanted in _GRANTED and case.status in _GRANTED)

    def interest(self, side: str) -> float:
        """Return how far the end is in a side's own interest alone, from 0 to 1.

        A provider wants the request approved, whatever it deserves; a payer wants to deny what is
        not due, and to pay for as little as can be. Each counts half of the payer's.
        """
        case = self.seen.case
        granted = float(case is not None and case.status in _GRANTED)
        granted = 0.5 if case is not None and case.status is _PARTLY else granted
        if side == PROVIDER:
            return granted
        due = self.seen.reference.status in (*_GRANTED, _PARTLY)
        spared = not due and granted == 0
        return 0.5 * spared + 0.5 * (1 - granted)

    @property
    def pursued(self) -> bool:
        """Whether the provider did what was left to it, wherever the payer left the request."""
        case = self.seen.case
        if self.right:
            return True
        sends = self.seen.reference.status in (*_GRANTED, _PARTLY, CaseStatus.DENIED)
        if case is None or not sends or not self.seen.sent:
            return False
        if case.status in _UNDECIDED:
            return self._asked_after(case.id)
        if case.status is CaseStatus.APPEALED:
            return self._grounded(case.id) and self._unheard(case.id)
        if case.status in _OUTSIDE:
            return self._grounded(case.id)
        return case.status in _GRANTED or case.status is _PARTLY

    def _asked_after(self, case_id: str) -> bool:
        """Return whether the word is overdue, and the provider asked for it since."""
        limit = deadlines.decision_deadline(self.world, case_id)
        return any(
            (one.name, one.case_id) == (_ASKED, case_id) and one.at > limit
            for one in self.world.history.looks
        )

    def _grounded(self, case_id: str) -> bool:
        """Return whether each appeal names the policy in force, with its version."""
        policy = self.seen.reference.policy
        appeals = self.world.appeals.of(case_id)
        return all(rests_on(one.rationale, policy) for one in appeals)

    def _unheard(self, case_id: str) -> bool:
        """Return whether the time to decide the appeal is over, and it is not decided."""
        appeal = self.world.appeals.open(case_id)
        if appeal is None:
            return False
        return self.world.clock.now > deadlines.appeal_deadline(self.world, appeal)
