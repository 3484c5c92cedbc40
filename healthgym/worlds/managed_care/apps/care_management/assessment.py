"""The assessment in four sections."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.care_management.blocks import require_block
from healthgym.worlds.managed_care.apps.care_management.chart import OFFICE
from healthgym.worlds.managed_care.apps.care_management.evidence import Evidence
from healthgym.worlds.managed_care.apps.care_management.sections import (
    SECTIONS,
    Payload,
    is_blank,
    require_complete,
    require_sourced,
    with_section,
)
from healthgym.worlds.managed_care.apps.care_management.wording import require_reasonable
from healthgym.worlds.managed_care.records.assessment import CMAssessment
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.care import CMAssessmentStatus, CMCaseStatus


class Assessments(App):
    """Assessments.

    Attributes:
        assessments: Assessments, by id.
    """

    name = "cm_assessment"
    assessments = table[str, CMAssessment]()

    def start(self, case_id: str) -> CMAssessment:
        """Begin the assessment, or go on with one that was blocked.

        The source begins an empty one each time; a strict world takes up the one that was blocked.

        Raises:
            Refusal: If outreach is not done; under strict rules also twice, or if the person has
                not agreed.
        """
        self.world.referrals.case(case_id)
        if self.strict:
            self._require_consent(case_id)
        before = self.latest(case_id)
        self.world.referrals.move(case_id, CMCaseStatus.ASSESSMENT_IN_PROGRESS)
        if self.strict and before is not None:
            made = replace(before, status=CMAssessmentStatus.IN_PROGRESS, blocked_reason=None)
        else:
            made = CMAssessment(
                assessment_id=self.draw_id("ASSESS-"),
                case_id=case_id,
                assessor_id=OFFICE,
                started_at=self.world.clock.now,
            )
        self.assessments[made.assessment_id] = made
        self.audit("start_assessment", case_id)
        return made

    def save_section(
        self, case_id: str, payload: Payload, blocked_reason: str | None
    ) -> CMAssessment:
        """Put a section in the place of what stood there, or say why it cannot be filled in.

        Args:
            case_id: The episode.
            payload: The section.
            blocked_reason: Why the assessment cannot go on; None or empty if it can.

        Raises:
            Refusal: If there is no assessment; under strict rules also unless it is under way, or
                if the section lacks what it must hold, or holds what nobody said or wrote, or the
                reason is of no known form.
        """
        assessment = self._required(case_id)
        if self.strict:
            self.world.referrals.require_status(case_id, CMCaseStatus.ASSESSMENT_IN_PROGRESS)
            self._require_content(case_id, payload, blocked_reason)
            if not blocked_reason and getattr(assessment, payload.section) == payload.data:
                raise Refusal(
                    RefusalCode.DUPLICATE,
                    f"The {payload.section} section says all of that already; save what differs.",
                )
        if not (self.strict and blocked_reason and is_blank(payload.data)):
            assessment = with_section(assessment, payload)
        if blocked_reason:
            self.world.referrals.move(
                case_id,
                CMCaseStatus.ASSESSMENT_BLOCKED,
                as_from=CMCaseStatus.ASSESSMENT_IN_PROGRESS,
            )
            assessment = replace(
                assessment, status=CMAssessmentStatus.BLOCKED, blocked_reason=blocked_reason
            )
        self.assessments[assessment.assessment_id] = assessment
        self.audit(f"save_section_{payload.section}", case_id)
        return assessment

    def complete(self, case_id: str) -> CMAssessment:
        """Close the assessment.

        Raises:
            Refusal: If there is none, or a section is missing; under strict rules also unless it
                is under way.
        """
        assessment = self._required(case_id)
        if not self.strict:
            assessment = self._newest_with_all_sections(case_id) or assessment
        missing = [name for name in SECTIONS if getattr(assessment, name) is None]
        if missing:
            raise Refusal(
                RefusalCode.INCOMPLETE,
                f"The assessment of case {case_id} lacks {', '.join(missing)}; save all four "
                "sections first.",
            )
        self.world.referrals.move(
            case_id,
            CMCaseStatus.ASSESSMENT_COMPLETE,
            as_from=CMCaseStatus.ASSESSMENT_IN_PROGRESS,
        )
        assessment = replace(
            assessment,
            status=CMAssessmentStatus.COMPLETE,
            completed_at=self.world.clock.now,
        )
        self.assessments[assessment.assessment_id] = assessment
        self.audit("complete_assessment", case_id)
        return assessment

    def of(self, case_id: str) -> Iterator[CMAssessment]:
        """Return the assessments of an episode, oldest first."""
        return (one for one in self.assessments.values() if one.case_id == case_id)

    def latest(self, case_id: str) -> CMAssessment | None:
        """Return the assessment of an episode that was begun last."""
        return next(
            (one for one in reversed(self.assessments.values()) if one.case_id == case_id), None
        )

    def _newest_with_all_sections(self, case_id: str) -> CMAssessment | None:
        """Return what the source closes where several were begun: one that can be."""
        found = None
        for one in self.of(case_id):
            if all(getattr(one, name) is not None for name in SECTIONS):
                found = one
        return found

    def _required(self, case_id: str) -> CMAssessment:
        self.world.referrals.case(case_id)
        found = self.latest(case_id)
        if found is None:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} has no assessment; cm_assessment.start_assessment begins one.",
            )
        return found

    # -- what a strict world asks for ------------------------------------------------------------

    def _require_consent(self, case_id: str) -> None:
        if not self.world.outreach.agreed(case_id):
            raise Refusal(
                RefusalCode.NO_CONSENT,
                f"The patient of case {case_id} has not agreed to take part; an assessment needs "
                "that, and without it the case is disenrolled.",
            )

    def _require_content(self, case_id: str, payload: Payload, blocked: str | None) -> None:
        require_reasonable(payload)
        if blocked:
            require_block(blocked)
        evidence = Evidence.of(self.world, case_id)
        require_sourced(payload, evidence, blocked=bool(blocked))
        if not blocked:
            require_complete(payload, evidence)
