"""The benefit check: who is covered on a day, and whether a service needs an authorization.

It answers from the payer's own records: the coverage history, and the policy that is in force for
the member's plan and state. It says nothing of criteria.
"""

from __future__ import annotations

from datetime import date

from healthgym.worlds.managed_care.apps.provider.office import ProviderApp, View
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.dates import normalized_day
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode


class BenefitCheck(ProviderApp):
    """The benefit check. It keeps nothing."""

    name = "coverage"

    def eligibility(self, patient_id: str, service_date: str | None = None) -> View:
        """Return under which plan a patient is covered on a day, and who is in its network.

        Args:
            patient_id: The patient.
            service_date: The day; today if left out.

        Raises:
            Refusal: If there is no such patient, or it is no day.
        """
        chart, day = self._chart(patient_id), self._day(service_date)
        found = chart.coverage_on(day)
        self.looked("check_eligibility")
        if found is None or not found.active:
            last = chart.coverage
            ended = last.termination_date if last else None
            return {"patient_id": patient_id, "on": day, "eligible": False, "ended_on": ended}
        return {
            "patient_id": patient_id,
            "on": day,
            "eligible": True,
            "payer_name": found.payer_name,
            "plan_name": found.plan_name,
            "member_number": found.member_number,
            "network_status": found.network_status,
            "effective_date": found.effective_date,
        }

    def requirement(
        self, patient_id: str, procedure_code: str, service_date: str | None = None
    ) -> View:
        """Return whether a service needs an authorization under the patient's plan.

        Args:
            patient_id: The patient.
            procedure_code: CPT or HCPCS code.
            service_date: The day; today if left out.

        Raises:
            Refusal: If there is no such patient, it is no day, the patient has no plan, or the
                payer has no policy on the service.
        """
        chart, day = self._chart(patient_id), self._day(service_date)
        book, coverage = self.world.start.policies, chart.coverage
        code = procedure_code.strip().upper()
        policy = (
            book.in_force(code, coverage.plan_name, chart.patient.address_state, day)
            if book and coverage
            else None
        )
        if policy is None:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"The payer has no policy on {procedure_code[:40]!r} for this plan on {day}; "
                "accepted are codes as orders give them, such as '27447'.",
            )
        self.looked("check_pa_requirement")
        return {
            "patient_id": patient_id,
            "procedure_code": code,
            "on": day,
            "authorization_required": policy.requires_authorization(code),
            "policy_id": policy.id,
            "policy_version": policy.version,
        }

    def _chart(self, patient_id: str) -> PatientChart:
        found = self.world.charts.get(patient_id)
        if found is None:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"There is no patient {patient_id[:60]!r}; the case names whom it is about.",
            )
        return found

    def _day(self, text: str | None) -> date:
        day = normalized_day(text, "service_date")
        return date.fromisoformat(day) if day else self.world.clock.now.date()
