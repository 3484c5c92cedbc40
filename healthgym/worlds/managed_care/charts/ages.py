"""How old somebody is, and what notes call people of that age."""

from __future__ import annotations

from datetime import date

from healthgym.worlds.managed_care.records.chart import Patient

#: How patients are addressed, and called, by sex.
_TITLE = {"F": "Ms. ", "M": "Mr. "}
_SEX = {"F": "woman", "M": "man"}
_CHILD = {"F": "girl", "M": "boy"}
#: The age from which somebody is no child any more.
_GROWN = 13


def age_on(born: date, day: date) -> int:
    """Return completed years of age."""
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def aged(years: int) -> str:
    """Return an age behind its article, such as ``an 82``."""
    article = "an" if years in (8, 11, 18) or 80 <= years <= 89 else "a"
    return f"{article} {years}"


def is_child(patient: Patient, day: date) -> bool:
    """Return whether somebody is one for whom a parent speaks."""
    return age_on(patient.dob, day) < _GROWN


def called(patient: Patient, day: date) -> dict[str, str]:
    """Return what somebody is called in a note: by name, by age, by sex; a child by first name."""
    age = age_on(patient.dob, day)
    child = is_child(patient, day)
    addressed = f"{_TITLE.get(patient.sex, '')}{patient.last_name}"
    return {
        "name": patient.first_name if child else addressed,
        "age": str(age),
        "aged": aged(age),
        "sex": (_CHILD if child else _SEX).get(patient.sex, "child" if child else "person"),
    }
