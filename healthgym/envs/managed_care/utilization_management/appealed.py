"""What became of an appeal in an episode, and whether that is right."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from healthgym.envs.managed_care.reading.reasons import Reason, read_reason
from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.envs.managed_care.utilization_management.task import AppealTruth, ReviewReference
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.payer import appeal_rules
from healthgym.worlds.managed_care.apps.payer.reviewers import PAYER_STAFF
from healthgym.worlds.managed_care.policies.naming import criteria_conceded, criteria_left
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import decisive, favourable
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    DeterminationDecision,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld


class Appealed:
    """Looks at the appeal of a case.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling, of a case that was appealed.
        truth: How the appeal is to be decided.
        findings: What reviewers found.
    """

    def __init__(
        self,
        before: ManagedCareWorld,
        after: ManagedCareWorld,
        reference: ReviewReference,
        truth: AppealTruth,
        findings: Findings,
    ) -> None:
        self.before, self.after, self.reference = before, after, reference
        self.truth, self.findings = truth, findings

    @cached_property
    def appeal(self) -> Appeal:
        """The appeal that was open when the episode began, as it stands now."""
        (known,) = (one for one in self.before.appeals.of(self._case) if one.outcome is None)
        return self.after.appeals.appeals[known.id]

    @property
    def acknowledged(self) -> bool:
        """Whether somebody of the plan's acknowledged it within the business days of the rules."""
        receipt = self.after.appeals.receipt_of(self.appeal.id)
        if receipt is None:
            return False
        due = deadlines.receipt_deadline(self.after, self.appeal)
        role = self.after.staff.role_of(receipt.acknowledged_by)
        return receipt.acknowledged_at <= due and role in PAYER_STAFF

    @property
    def independent(self) -> bool:
        """Whether one person read and decided it, who may, and had no part in what is appealed."""
        person = self.appeal.assigned_reviewer_id
        if person is None or self.appeal.outcome is None:
            return False
        may = set(map(str, self.after.operations.may_decide_appeal))
        return (
            str(self.after.staff.role_of(person)) in may
            and not appeal_rules.had_part(self.before, self.appeal, person)
            and {one.reviewer_id for one in self.findings.appeal_reviews} <= {person}
        )

    @property
    def read_first(self) -> bool:
        """Whether findings were written down before it was decided."""
        decided = self.appeal.decided_at
        written = [one.updated_at for one in self.findings.appeal_reviews]
        return bool(written) and (decided is None or max(written) <= decided)

    @property
    def decided_right(self) -> bool:
        """Whether it ended as it must, for the reasons that the file gives."""
        made, wanted = self.appeal, self.truth
        if made.outcome is not wanted.outcome or not self._stands:
            return False
        reason = read_reason(made.outcome_reason or "", self._policies)
        policy = self.reference.policy
        if policy.id not in reason.policies or not reason.names(policy.version):
            return False
        return not wanted.grounded or self._rests(reason)

    def _rests(self, reason: Reason) -> bool:
        """Return whether a reason names criteria that the outcome rests on, and no other side's."""
        good = favourable(self.reference.policy.criteria)
        shown = {n: one.posture for n, one in self.findings.shown.criteria.items()}
        for_it = frozenset(name for name, each in shown.items() if each is good[name])
        if self.truth.outcome is AppealOutcome.APPEAL_OVERTURNED:
            said = reason.criteria - (criteria_left(reason.text) - for_it)
            return bool(said & self.truth.turned) and said <= for_it
        turning = self.reference.denied_on | frozenset(
            decisive(self.reference.policy.criteria, shown)
        )
        # What a reviewer grants the appeal may be named, if it is said to be shown.
        against = reason.criteria - criteria_conceded(reason.text)
        return bool(against & turning) and not against & for_it

    @property
    def _stands(self) -> bool:
        """Return whether the payer's word is what the outcome makes of it."""
        made, known = (w.determinations.active(self._case) for w in (self.after, self.before))
        if made is None or known is None:
            return False
        overturned = self.truth.outcome is AppealOutcome.APPEAL_OVERTURNED
        if not overturned or self.after.rules is Rules.COMPAT:
            # In the source the denial stays active even where it is overturned.
            return made == known
        return made.final_decision is DeterminationDecision.APPROVED and not made.overridden

    @property
    def late(self) -> bool:
        """Whether the limit for the decision passed before there was one."""
        limit = deadlines.appeal_deadline(self.after, self.appeal)
        return (self.appeal.decided_at or self.after.clock.now) > limit

    @property
    def _policies(self) -> Iterable[str]:
        book = self.before.start.policies
        known: tuple[Policy, ...] = book.policies if book is not None else ()
        return {self.reference.policy.id, *(policy.id for policy in known)}

    @property
    def _case(self) -> str:
        return self.reference.case_id
