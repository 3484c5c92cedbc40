"""Referrals, and the episodes they open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from operator import attrgetter

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App, find
from healthgym.worlds.managed_care.apps.care_management.wording import require_reason
from healthgym.worlds.managed_care.machines import care_edges, require_edge
from healthgym.worlds.managed_care.records.care import CMCase, CMReferral
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.care import CMCaseStatus, CMPriority, CMProgram

#: What a referral says itself.
_TOLD = tuple(item.name for item in fields(CMReferral))
_read = attrgetter(*_TOLD)
_HINT = "cm_intake.list_referral_queue names the referrals"
_CASE_HINT = "cm_intake.open_case opens a case and returns its id"


class CareIntake(App):
    """Referrals and episodes.

    Attributes:
        referrals: Referrals, by id.
        cases: Episodes, by id.
    """

    name = "cm_intake"
    referrals = table[str, CMReferral]()
    cases = table[str, CMCase]()

    def queue(self) -> tuple[Mapping[str, object], ...]:
        """Return the referrals, each with who it is about, as they came in."""
        return tuple(map(self._enriched, self.referrals.values()))

    def referral(self, referral_id: str) -> Mapping[str, object]:
        """Return a referral, with who it is about.

        Raises:
            Refusal: If there is none.
        """
        return self._enriched(find(self.referrals, referral_id, "referral", _HINT))

    def case(self, case_id: str) -> CMCase:
        """Return an episode.

        Raises:
            Refusal: If there is none.
        """
        return find(self.cases, case_id, "care-management case", _CASE_HINT)

    def open_case(self, referral_id: str, priority: CMPriority, program: CMProgram) -> CMCase:
        """Open the episode that a referral asks for.

        Raises:
            Refusal: If there is no such referral, it names no patient, or its episode is open.
        """
        referral = find(self.referrals, referral_id, "referral", _HINT)
        if referral.patient_id is None:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"Referral {referral_id} names no patient; only one that does can be opened.",
            )
        case_id = referral.case_id or f"CM-{referral.referral_id}"
        if case_id in self.cases:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Referral {referral_id} was opened already, as case {case_id}; go on with that.",
            )
        made = CMCase(
            case_id=case_id,
            patient_id=referral.patient_id,
            referral_source=referral.source,
            referral_reason=referral.reason,
            status=CMCaseStatus.NEW,
            priority=priority,
            program=program,
            assigned_to=self.world.actor,
            opened_at=self.world.clock.now,
            risk_score=referral.risk_score,
            risk_factors=referral.utilization_flags,
        )
        self.cases[case_id] = made
        self.audit("open_case", case_id)
        return self.move(case_id, CMCaseStatus.INTAKE_COMPLETE)

    def disenroll(self, case_id: str, reason: str) -> CMCase:
        """End an episode before its plan is done.

        Raises:
            Refusal: If the episode is over; under strict rules also without a reason of
                substance, twice, or while the person is on the phone.
        """
        self.case(case_id)
        if self.strict:
            require_reason(reason, "disenrolment")
            self.world.outreach.require_no_call(case_id)
        moved = self.move(case_id, CMCaseStatus.DISENROLLED)
        self.world.history.audit(
            self.name, "case_disenrolled", case_id, self.world.actor, reason=reason
        )
        return moved

    def move(
        self,
        case_id: str,
        to: CMCaseStatus,
        actor: str = "",
        *,
        as_from: CMCaseStatus | None = None,
    ) -> CMCase:
        """Change an episode's status; nothing else does.

        The source lets a status follow itself, and two of its tools move an episode from wherever
        it is while the log says that it was being assessed. A strict world does neither.

        Args:
            case_id: The episode.
            to: The status that is to follow.
            actor: Who moves it; who uses the tools if empty.
            as_from: The status that those two tools take it to have.

        Returns:
            The episode as it is now.

        Raises:
            Refusal: If the table has no such edge.
        """
        case = self.case(case_id)
        source = case.status
        if self.strict:
            require_edge(care_edges(), source, to, f"Case {case_id}")
        elif as_from is not None:
            source = as_from
        elif source != to:
            require_edge(care_edges(), source, to, f"Case {case_id}")
        closes = to is CMCaseStatus.DISENROLLED or (self.strict and to is CMCaseStatus.CLOSED)
        closed_at = self.world.clock.now if closes else case.closed_at
        moved = self.cases[case_id] = replace(case, status=to, closed_at=closed_at)
        self.world.history.moved(case_id, source, to, actor or self.world.actor, app="cm_case")
        return moved

    def require_status(self, case_id: str, *accepted: CMCaseStatus) -> CMCase:
        """Return an episode, if it has one of these statuses.

        Raises:
            Refusal: If there is none, or it has another status.
        """
        case = self.case(case_id)
        if case.status not in accepted:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} is {case.status}; accepted is {' or '.join(accepted)}.",
            )
        return case

    def _enriched(self, referral: CMReferral) -> Mapping[str, object]:
        row = dict(zip(_TOLD, _read(referral), strict=True))
        chart = self.world.charts.get(referral.patient_id or "")
        person = None if chart is None else chart.patient
        today = self.world.clock.now.date()
        return row | {
            "patient_name": person and f"{person.first_name} {person.last_name}",
            "patient_first_name": person and person.first_name,
            "patient_last_name": person and person.last_name,
            "patient_dob": person and person.dob,
            "patient_sex": person and person.sex,
            "patient_age": person and _years(person.dob, today),
        }


def _years(born: date, today: date) -> int:
    """Return somebody's age in whole years."""
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
