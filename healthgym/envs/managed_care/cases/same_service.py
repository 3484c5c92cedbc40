"""Orders of other patients for the service that a case is about.

With them neither the service nor a clinician's name finds the patient: age, sex, city, clinician
and day do, all of which the instruction tells, and which fit one patient together.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.hours import business_day, visit_start
from healthgym.worlds.managed_care.deferred import varied
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest
from healthgym.worlds.managed_care.vocabulary.authorization import Urgency

#: An order is entered so long after its visit began.
_ENTERED = timedelta(minutes=35)
#: How often another order is of the same day, and then of another clinician.
_SAME_DAY = 0.4
#: How many days earlier it is otherwise, at least and at most.
_EARLIER = (2, 16)
#: Patients at most who hold one.
_MOST = 2


def with_same_service(
    others: tuple[PatientChart, ...],
    patient: Patient,
    order: ServiceRequest,
    chance: float,
    rng: np.random.Generator,
) -> tuple[PatientChart, ...]:
    """Return the other patients' charts, to some of which an order for the same service is added.

    Who resembles the patient gets it first: of the same sex, and of nearly the same age.

    Args:
        others: The charts; what is shared between tasks stays as it is.
        patient: Who is meant.
        order: What is ordered for them.
        chance: How likely anybody else holds such an order.
        rng: Where chance comes from.
    """
    if not others or rng.random() >= chance:
        return others
    count = 1 + int(rng.integers(min(_MOST, len(others))))

    def unlike(place: int) -> tuple[bool, int]:
        who = others[place].patient
        return who.sex != patient.sex, abs((who.dob - patient.dob).days)

    charts = list(others)
    for place in sorted(range(len(others)), key=unlike)[:count]:
        chart = charts[place]
        charts[place] = varied(chart, orders=(*chart.orders, _other(chart, order, rng)))
    return tuple(charts)


def _other(chart: PatientChart, order: ServiceRequest, rng: np.random.Generator) -> ServiceRequest:
    """Return an order that differs in its day, or in who ordered."""
    who, staff = chart.patient, workforce()
    own = next(w for w in staff.workers if w.id == order.ordering_practitioner_id)
    colleagues = [w for w in staff.clinicians(own.specialty) if w.id != own.id]
    ordered = order.requested_date.date()
    doctor = own
    if colleagues and rng.random() < _SAME_DAY:
        doctor, day = colleagues[int(rng.integers(len(colleagues)))], ordered
    else:
        earlier = ordered - timedelta(days=int(rng.integers(*_EARLIER)))
        day = min(business_day(earlier, who.address_state or ""), ordered - timedelta(days=1))
        doctor = [own, *colleagues][int(rng.integers(len(colleagues) + 1))]
    tail = who.id.removeprefix("PAT-")
    return replace(
        order,
        id=f"SR-{tail}-{len(chart.orders) + 1}",
        patient_id=who.id,
        ordering_practitioner_id=doctor.id,
        priority=Urgency.STANDARD,
        requested_date=visit_start(who, day) + _ENTERED,
    )
