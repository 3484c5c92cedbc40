"""The kidney's measures, which follow from one another."""

from __future__ import annotations

from datetime import date

from healthgym.worlds.managed_care.records.chart import Patient


def creatinine_of(gfr: float, patient: Patient, day: date) -> float:
    """Return the serum creatinine that gives a filtration rate, in mg/dL.

    The CKD-EPI equation of 2021 without race, solved for a creatinine above the sex's threshold,
    as it is wherever the rate is reduced.

    Args:
        gfr: Estimated glomerular filtration rate, in mL/min/1.73 m².
        patient: Whose age and sex count.
        day: The day.
    """
    age = (day - patient.dob).days / 365.25
    female = patient.sex == "F"
    scale = 142 * 0.9938**age * (1.012 if female else 1.0)
    return float((0.7 if female else 0.9) * (scale / gfr) ** (1 / 1.2))
