"""What an episode did to the world, as the checks ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property

from healthgym.envs.managed_care.reading.reasons import read_reason
from healthgym.envs.managed_care.utilization_management import roles, steps
from healthgym.envs.managed_care.utilization_management.appealed import Appealed
from healthgym.envs.managed_care.utilization_management.at_door import opened, taken_in_wrongly
from healthgym.envs.managed_care.utilization_management.calls import Call
from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.envs.managed_care.utilization_management.intake_entries import misentered
from healthgym.envs.managed_care.utilization_management.posted import Posted
from healthgym.envs.managed_care.utilization_management.requests import Asked, Wanted, asked
from healthgym.envs.managed_care.utilization_management.strangers import changed_elsewhere
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.envs.managed_care.utilization_management.worded import Worded
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.policies.naming import criteria_conceded
from healthgym.worlds.managed_care.policies.postures import decisive, failing, favourable
from healthgym.worlds.managed_care.records.decision import DeterminationRecord
from healthgym.worlds.managed_care.records.intake import IntakeProcedure
from healthgym.worlds.managed_care.records.review import MdCaseDecision, NurseCaseRecommendation
from healthgym.worlds.managed_care.service_levels import case_timers, service_level
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationSource,
    IntakeStatus,
    MdReviewDecision,
    NurseReviewRecommendation,
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_ASKS = NurseReviewRecommendation.REQUEST_INFO
_PHYSICIAN_ASKS = MdReviewDecision.REQUEST_INFO
_CONFIRMED = "payer_intake_hub.confirm_intake_decisions"


class Inspection:
    """Looks at a world after an episode, beside the same world before it.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling.
    """

    def __init__(
        self, before: ManagedCareWorld, after: ManagedCareWorld, reference: ReviewReference
    ) -> None:
        self.before, self.after, self.reference = before, after, reference
        self.case_id = reference.case_id

    @property
    def status(self) -> CaseStatus:
        """Where the case stands."""
        return self.after.cases.get(self.case_id).status

    @cached_property
    def findings(self) -> Findings:
        """What reviewers found."""
        return Findings(self.before, self.after, self.reference)

    @cached_property
    def worded(self) -> Worded:
        """What was written in somebody's own words."""
        return Worded(self.findings)

    # -- intake and triage -----------------------------------------------------------------------

    @cached_property
    def door_wrong(self) -> str:
        """What is wrong with how the request was taken in at its front door; empty if nothing."""
        return taken_in_wrongly(self.before, self.after, self.case_id)

    @cached_property
    def reopened(self) -> bool:
        """Whether a reply of the provider's opened the intake again."""
        return steps.replies(self.before, self.after, self.case_id) > 0

    @cached_property
    def intake_right(self) -> bool:
        """Whether the intake says what was asked for, by whom, and is rightly confirmed."""
        intake = self.after.intake.find(self.case_id)
        if intake is None or intake.status is not IntakeStatus.COMPLETE:
            return False
        order = self.before.cases.order(self.before.cases.get(self.case_id).service_request_id)
        clinician = self.before.staff.practitioners.get(order.ordering_practitioner_id)
        asked_for = self.before.cases.line(self.case_id)
        named = intake.requesting_provider
        codes = [one.code for one in intake.diagnoses]
        lines = [code for item in intake.line_items for code in _codes(item.procedures)]
        return (
            self._decided()
            and sorted(codes) == sorted(asked_for.diagnosis_codes)
            and (clinician is None or (named is not None and named.npi == clinician.npi))
            and lines == [order.procedure_code]
            and not misentered(opened(self.before, self.case_id), self.after, intake)
        )

    def _decided(self) -> bool:
        """Return whether the four decisions are right; after a reply, for all that came."""
        found, wanted = self.after.intake.get(self.case_id), self.reference.intake
        given = (
            found.decision_request_complete,
            found.decision_member_eligible,
            found.decision_service_covered,
            found.decision_provider_network_status,
        )
        earlier = self.before.intake.get(self.case_id)
        complete = wanted.complete if wanted else earlier.decision_request_complete
        if self.reopened:
            complete = not self.findings.shown.missing_documents
        if wanted is not None:
            return given == (complete, wanted.eligible, wanted.covered, wanted.network)
        return given == (
            complete,
            earlier.decision_member_eligible,
            earlier.decision_service_covered,
            earlier.decision_provider_network_status,
        )

    @cached_property
    def triage_right(self) -> bool:
        """Whether urgency, limit, gold card, disposition and lane are those of the rules."""
        wanted, found = self.reference.triage, self.after.triage.of(self.case_id)
        routed = self.after.triage.routing_of(self.case_id)
        if wanted is None or found is None or routed is None or found.sla_deadline is None:
            return False
        state = self.before.intake.member_state(self.case_id)
        level = service_level(self.after.operations, wanted.urgency, state)
        late = abs(found.sla_deadline - wanted.deadline)
        return (
            found.urgency_level is wanted.urgency
            and late < timedelta(minutes=1)
            and found.sla_hours == level.hours
            and found.sla_rule_source == level.rule_source
            and found.gold_card_eligible == wanted.gold_card
            and found.disposition is wanted.disposition
            and routed.recommended_target is wanted.target
            and self.worded.disposition_right
        )

    # -- review ----------------------------------------------------------------------------------

    @cached_property
    def requests(self) -> tuple[Asked, ...]:
        """The requests for information of the episode."""
        return asked(self.before, self.after, self.case_id)

    @cached_property
    def information_right(self) -> bool:
        """Whether what is missing was asked for, nothing else, with the day of the rules."""
        postures = {name: one.posture for name, one in self.findings.shown_first.criteria.items()}
        pend = case_timers(self.after.operations).pend
        return (
            Wanted(self.reference, postures).right(self.requests)
            and len(self.requests) <= self.after.operations.pends_most
            and all(one.in_time(pend) for one in self.requests)
        )

    @cached_property
    def recommended(self) -> tuple[NurseReviewRecommendation, ...]:
        """What nurses recommended in the episode, oldest first."""
        return tuple(one.recommendation for one in self._recommendations)

    @cached_property
    def _recommendations(self) -> tuple[NurseCaseRecommendation, ...]:
        known = self.before.nursing.recommendations
        return tuple(one for one in self.after.nursing.of(self.case_id) if one.id not in known)

    @property
    def recommendation_right(self) -> bool:
        """Whether nurses recommended what the findings call for, first and in the end."""
        wanted = self.reference.recommendation
        if wanted is None or not self.recommended or self.recommended[0] is not wanted:
            return False
        if wanted is not _ASKS:
            return len(self.recommended) == 1
        rest = tuple(one for one in self.recommended if one is not _ASKS)
        return rest == self._in_the_end

    @property
    def _in_the_end(self) -> tuple[NurseReviewRecommendation, ...]:
        """What a nurse recommends once a question is answered; nothing where it never is."""
        if self.reference.determination is None:
            return ()
        if self.reference.decision is None:
            return (NurseReviewRecommendation.APPROVE,)
        return (NurseReviewRecommendation.ESCALATE,)

    @cached_property
    def decided(self) -> tuple[MdCaseDecision, ...]:
        """What physicians decided in the episode, oldest first."""
        known = self.before.medical.decisions
        return tuple(one for one in self.after.medical.of(self.case_id) if one.id not in known)

    @property
    def physician_right(self) -> bool:
        """Whether the physician decided rightly, with units, grounds and signature."""
        asks = [one for one in self.decided if one.decision is _PHYSICIAN_ASKS]
        ends = [one for one in self.decided if one.decision is not _PHYSICIAN_ASKS]
        if asks and not self.reference.wanted:
            return False
        if self.reference.uncalled:
            first, ends = ends[:1], ends[1:]
            called = [one for one in first if one.decision is MdReviewDecision.P2P_REVIEW]
            if not all(map(self._grounds, called)) or called != first:
                return False
        if len(ends) != 1 or ends[0].decision is not self.reference.decision:
            return False
        made = ends[0]
        if made.decision is MdReviewDecision.P2P_REVIEW:
            return self._grounds(made)
        return made.signed_off and self._units(made) and self._grounds(made)

    def _units(self, made: MdCaseDecision) -> bool:
        if made.decision is not MdReviewDecision.PARTIAL_APPROVE:
            return True
        return [one.approved_units for one in made.line_item_decisions] == [self.reference.units]

    def _grounds(self, made: MdCaseDecision) -> bool:
        """Return whether an adverse decision rests on what the physician found against it.

        It names what it rests on, and nothing that is shown, or that the physician did not look at.
        """
        if made.decision is MdReviewDecision.APPROVE:
            return True
        reasons = [read_reason(text) for text in _said(made)]
        named = frozenset(
            name for one in reasons for name in one.criteria - criteria_conceded(one.text)
        )
        against = self._unfavourable & self.findings.held_against
        # A call is about what would turn the decision; a denial may say which branch failed.
        call = made.decision is MdReviewDecision.P2P_REVIEW
        grounds = self._turning if call else self._turning | self._failing
        return bool(named & grounds) and named <= against

    @property
    def _turning(self) -> frozenset[str]:
        """Criteria that an adverse decision rests on: those whose change would turn it."""
        return self.reference.denied_on | frozenset(
            decisive(self.reference.policy.criteria, self._shown)
        )

    @property
    def _failing(self) -> frozenset[str]:
        """Criteria on the parts of the policy that the packet does not carry."""
        return frozenset(failing(self.reference.policy.criteria, self._shown))

    @property
    def _shown(self) -> Mapping[str, Posture]:
        return {name: one.posture for name, one in self.findings.shown.criteria.items()}

    @property
    def _unfavourable(self) -> frozenset[str]:
        """Criteria that the packet does not show in favour of the request."""
        good = favourable(self.reference.policy.criteria)
        shown = self.findings.shown.criteria
        return frozenset(name for name, one in shown.items() if one.posture is not good[name])

    # -- the call --------------------------------------------------------------------------------

    @cached_property
    def call_right(self) -> bool:
        """Whether the call was held, asked what matters, and ended as it must."""
        contract = self.reference.call
        if contract is None:
            return False
        first = self.findings.shown_first.criteria
        postures: Mapping[str, Posture] = {name: one.posture for name, one in first.items()}
        disputed = frozenset(decisive(self.reference.policy.criteria, postures))
        return Call(self.after, self.reference, contract, disputed | self.reference.denied_on).right

    # -- the appeal ------------------------------------------------------------------------------

    @cached_property
    def appealed(self) -> Appealed | None:
        """What became of the appeal; None where there is none."""
        truth = self.reference.appeal
        if truth is None:
            return None
        return Appealed(self.before, self.after, self.reference, truth, self.findings)

    # -- the end ---------------------------------------------------------------------------------

    @cached_property
    def determination(self) -> DeterminationRecord | None:
        """The payer's word that counts."""
        return self.after.determinations.active(self.case_id)

    @property
    def determination_right(self) -> bool:
        """Whether the word is the right one, and rests on whose it is."""
        made, wanted = self.determination, self.reference
        if made is None:
            return wanted.determination is None
        lane = made.source == DeterminationSource.TRIAGE_AUTO_APPROVE
        waived = wanted.recommendation is None and wanted.decision is None and wanted.call is None
        return made.final_decision is wanted.determination and lane is waived

    @property
    def undecided(self) -> bool:
        """Whether nothing was determined; nor sorted, reviewed or sent, unless that is due."""
        if self.determination is not None:
            return False
        idle = not (self.posted.letters or self.posted.notices)
        return bool(self.reference.letters) or (idle and self.ended)

    @cached_property
    def posted(self) -> Posted:
        """The letters and notices of the episode."""
        return Posted(self.before, self.after, self.reference, self.requests)

    @cached_property
    def misplaced(self) -> tuple[str, ...]:
        """What was done by somebody who may not do it."""
        return roles.misplaced(self.before, self.after, self.case_id)

    @property
    def late(self) -> bool:
        """Whether the limit for the decision passed before there was one."""
        if self.appealed is not None:
            return self.appealed.late
        events = self.after.history.of(self.case_id, EntryKind.EVENT)
        overdue = [entry for entry in events if entry.action == deadlines.DECISION_OVERDUE]
        if overdue:
            return not self._turned_away(overdue[0].at)
        made = self.determination
        limit = deadlines.decision_deadline(self.after, self.case_id)
        return made is not None and made.created_at > limit

    def _turned_away(self, at: datetime) -> bool:
        """Return whether intake had ended the case before a time; then no word is owed."""
        wanted = self.reference
        if wanted.determination is not None or wanted.letters or wanted.intake is None:
            return False
        done = steps.taken(self.before, self.after, self.case_id, EntryKind.AUDIT)
        return any(entry.name == _CONFIRMED and entry.at < at for entry in done)

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Cases of others that were changed."""
        own = {self.case_id, *self.reference.beside}
        return changed_elsewhere(self.before, self.after, own)

    @property
    def ended(self) -> bool:
        """Whether the case stands where the right work leads."""
        return self.status is self.reference.status

    @cached_property
    def repeated(self) -> tuple[str, ...]:
        """Steps that were finished, and taken again; a strict world refuses each of them."""
        return steps.repeated(self.before, self.after, self.case_id)


def _codes(procedures: Iterable[IntakeProcedure]) -> Iterator[str]:
    return (one.code for one in procedures)


def _said(made: MdCaseDecision) -> list[str]:
    """Return why less is granted than was asked for, in the words that go into the letter."""
    match made.decision:
        case MdReviewDecision.PARTIAL_APPROVE:
            return [one.denial_rationale for one in made.line_item_decisions]
        case MdReviewDecision.P2P_REVIEW:
            said = (made.denial_rationale, made.determination_rationale, made.clinical_notes)
            return [text for text in said if text.strip()][:1]
    return [made.denial_rationale]
