"""What the agent is told first: who it is, what has come in, and the rules of the house."""

from __future__ import annotations

from healthgym.envs.managed_care.cases.patients import CasePatient
from healthgym.envs.managed_care.cases.situations import Situation
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import Urgency

#: Age from which somebody is no boy or girl, in years.
_GROWN_UP = 18
_RULES = (
    "Work the request through to its end. Decide from the patient's chart and the payer's policy "
    "that is in force, and record your decision: submit_pa, gather_more_evidence or "
    "do_not_submit; with the latter two, name the gaps or the reason as the handbook says. What "
    "you submit has to be complete and true, with no more of the chart than it takes. If the "
    "payer answers, see to it in time; wait lets time pass. Open one case, for this patient and "
    "this service, and leave the others alone. Nothing may be invented: what the chart does not "
    'say is "not documented". How the offices work is in the handbook, and its numbers are those '
    "that hold today. Call finish when nothing is left to do."
)


def brief(start: WorldStart, patient: CasePatient, drawn: Situation) -> str:
    """Return the instruction: a vignette without a name, and the rules."""
    worker = start.staff.workers[start.actor]
    asked = vignette(start, patient.chart.patient, patient.order)
    return (
        f"You are {worker.name}, prior authorization coordinator at {start.provider.name}; it is "
        f"{start.now:%A, %Y-%m-%d %H:%M} UTC. {asked}\n\n{_RULES}"
    )


def vignette(start: WorldStart, who: Patient, order: ServiceRequest) -> str:
    """Return who ordered what for whom, without a name of the patient or the procedure's code."""
    doctor = start.staff.workers[order.ordering_practitioner_id]
    person = _person(who.sex, age_on(who.dob, start.now.date()))
    urgent = " The order is marked expedited." if order.priority is Urgency.EXPEDITED else ""
    return (
        f"{person} from {who.address_city} has "
        f"seen {doctor.name} ({doctor.specialty}), who has ordered: {order.description}, "
        f"{str(order.site_of_service).replace('_', ' ')}, on {order.requested_date:%Y-%m-%d}."
        f"{urgent}"
    )


def _person(sex: str, age: int) -> str:
    """Return who somebody is by age and sex, with the article as the number is spoken."""
    article = "An" if age in (8, 11, 18) or 80 <= age <= 89 else "A"
    names = {"F": "girl", "M": "boy"} if age < _GROWN_UP else {"F": "woman", "M": "man"}
    return f"{article} {age}-year-old {names.get(sex, 'person')}"
