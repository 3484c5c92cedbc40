"""Patients and their charts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from healthgym.worlds.managed_care.apps.provider.case_view import listed, summary_of
from healthgym.worlds.managed_care.apps.provider.office import ProviderApp, View, listing
from healthgym.worlds.managed_care.apps.provider.readiness import coverage_of
from healthgym.worlds.managed_care.charts.chart import PatientChart, PatientFilter
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

#: How many orders are listed with each patient that is found; the source's.
_RECENT = 5


class ChartReader(ProviderApp):
    """The charts, as the provider reads them."""

    name = "ehr"

    def search_patients(
        self,
        query: str | None = None,
        patient_id: str | None = None,
        member_id: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
        dob: str | None = None,
        limit: int = 25,
    ) -> View:
        """Return the patients that fit all that is given, by last name, first name and id.

        Names fit in part, ids and dates as a whole; the query fits in part whatever identifies a
        patient. What is in the chart is not searched.

        Args:
            query: Part of a name, a patient id, a member id or a date of birth.
            patient_id: The patient id.
            member_id: The member id.
            first_name: The first name or part of it.
            last_name: The last name or part of it.
            dob: The date of birth.
            limit: How many to list at most.

        Raises:
            Refusal: In a strict world, if the date of birth is no date.
        """
        born = _date(dob)
        if self.strict and dob and dob.strip() and born is None:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT, f"{dob[:40]!r} is no date; write it as in '1961-04-02'."
            )
        wanted = PatientFilter(
            query=query,
            patient_id=patient_id,
            member_id=member_id,
            first_name=first_name,
            last_name=last_name,
            dob=born.isoformat() if born else dob,
        )
        found = self.world.charts.search(wanted, limit)
        self.saw("ehr.search_patients")
        return {"total": found.total, "items": tuple(self._row(c.patient) for c in found.charts)}

    def get_patient_chart(self, patient_id: str) -> View:
        """Return everything on file about a patient; documents without their texts.

        Raises:
            Refusal: If there is no such patient.
        """
        chart = self._chart(patient_id)
        cases = [c for c in self.world.cases.cases.values() if c.patient_id == patient_id]
        own = [d for d in self.world.documents.documents.values() if d.patient_id == patient_id]
        self.saw("ehr.get_patient_chart")
        return {
            "patient": chart.patient,
            "coverage": chart.coverages,
            "encounters": chart.encounters,
            "conditions": chart.conditions,
            "observations": chart.observations,
            "procedures": chart.procedures,
            "medications": chart.medications,
            "allergies": chart.allergies,
            "documents": tuple(map(listed, (*chart.documents, *own))),
            "prior_authorizations": tuple(summary_of(self.world, case) for case in cases),
        }

    def list_candidate_orders(self, patient_id: str) -> View:
        """Return the orders of a patient, the newest first.

        Raises:
            Refusal: If there is no such patient.
        """
        self._chart(patient_id)
        self.saw("ehr.list_candidate_orders")
        return listing(self._orders(patient_id))

    def _chart(self, patient_id: str) -> PatientChart:
        found = self.world.charts.get(patient_id)
        if found is None:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"There is no patient {patient_id[:60]!r}; chart.search_patients finds them.",
            )
        return found

    def _orders(self, patient_id: str) -> tuple[ServiceRequest, ...]:
        orders = self.world.cases.orders_of(patient_id)
        return tuple(sorted(orders, key=lambda o: (o.requested_date, o.id), reverse=True))

    def _row(self, patient: Patient) -> View:
        orders = self._orders(patient.id)
        coverage = coverage_of(self.world, patient.id)
        return {
            "id": patient.id,
            "patient_name": f"{patient.first_name} {patient.last_name}",
            "dob": patient.dob,
            "sex": patient.sex,
            "member_id": patient.member_id,
            "coverage_id": coverage and coverage.id,
            "plan_name": coverage and coverage.plan_name,
            "order_count": len(orders),
            "recent_orders": tuple(
                f"{order.id} {order.procedure_code} {order.description}"
                for order in orders[:_RECENT]
            ),
        }


def _date(text: str | None) -> date | None:
    """Return a date in one of the three forms that the source takes; None if it is none."""
    # Most are asked without one, and to try three forms in vain takes longer than the search.
    return next(_dates(text.strip()), None) if text else None


def _dates(text: str) -> Iterator[date]:
    for form in ("%Y-%m-%d", "%m/%d/%Y", "%m-%d-%Y"):
        try:
            # The day alone is read; no zone plays a part in a date of birth.
            yield datetime.strptime(text, form).date()
        except ValueError:
            continue
