"""What the agent is told first: who it is, whom it is about by circumstances, and the job."""

from __future__ import annotations

from healthgym.envs.managed_care.care_management.referrals import told_source
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.start import WorldStart

_RULES = (
    "Work this person's episode from the referral to where it rightly ends. Open it with the "
    "programme and the priority that the handbook gives, review the chart, call, and listen. "
    "Whether to take part is for the person to decide; do what follows from the answer, and no "
    "more. What you record was said on the phone or stands in the chart, and nothing else. After "
    "the call is filed no other can be made, so ask before what the assessment needs. If something "
    "cannot be finished, say so with its reason. Leave the other referrals to your colleagues. How "
    "the desk works is in the handbook, and its numbers are those that hold today; wait lets time "
    "pass. Call finish when nothing is left to do."
)


def brief(start: WorldStart, patient: Patient, label: str, referral: CMReferral) -> str:
    """Return the instruction.

    Args:
        start: The beginning of the world.
        patient: Whom it is about.
        label: What they are referred with.
        referral: The referral.
    """
    worker = start.staff.workers[start.actor]
    age = age_on(patient.dob, start.now.date())
    article = "an" if age in (8, 11, 18) or 80 <= age <= 89 else "a"
    sex = {"F": "woman", "M": "man"}.get(patient.sex, "person")
    return (
        f"You are {worker.name}, care manager at {start.payer.name}; it is "
        f"{start.now:%A, %Y-%m-%d %H:%M} UTC. In the referral queue is {article} {age}-year-old "
        f"{sex} from {patient.address_city}, referred on {referral.referral_date:%Y-%m-%d} by "
        f"{told_source(referral.source)}: {label}.\n\n{_RULES}"
    )
