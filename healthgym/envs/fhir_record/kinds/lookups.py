"""Task types answered from the Patient resource alone.

Sources: MedAgentBench v1, tasks 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from healthgym.core.borders import JsonDict
from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.tables import record_number
from healthgym.envs.fhir_record.task import NOTHING, Decision, Facts, number, text
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.cohort import (
    PatientProfile,
    draw_mrn,
    draw_patient,
    namesake,
    partition_of,
)

#: What is answered where nobody fits the description; the published phrase.
NOT_FOUND = "Patient not found"

_FEBRUARY_29 = (2, 29)
_HALF_YEAR = 183


class PatientLookup(TaskKind):
    """v1-T1: the record number of the person with a name and a birth date."""

    name = "v1-t1"
    title = "patient look-up by name and birth date"
    branches = (
        Branch("found", False),
        Branch("found_among_namesakes", False),
        Branch("not_found_birth_date", False, share=0.04),
        Branch("not_found_name", False, share=0.04),
    )

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Ask for somebody who is there, or miss somebody by the birth date or by the name."""
        person = draft.patient
        family, given, born = person.family, person.given, person.birth_date
        if branch == "found":
            self._part_from_namesakes(draft)
        elif branch == "found_among_namesakes":
            self._add_namesake(draft)
        elif branch == "not_found_birth_date":
            born = self._missed_birth_date(draft)
        else:
            family, given = self._missed_name(draft)
        return Facts(
            draft.now,
            details={"family": family, "given": given, "birth_date": born.isoformat()},
        )

    @staticmethod
    def _part_from_namesakes(draft: Draft) -> None:
        """Give everybody of the same full name another given name, but keep the family name."""
        taken = {draft.patient.given}
        for place, other in enumerate(draft.others):
            if other.family == draft.patient.family and other.given in taken:
                fresh = _other_given(draft, draft.patient.family, taken)
                draft.others[place] = replace(other, given=fresh)

    @staticmethod
    def _add_namesake(draft: Draft) -> None:
        """See that one other person bears the same full name, with another birth date."""
        mrns = {draft.mrn, *(other.mrn for other in draft.others)}
        mrn = draft.mrn
        while mrn in mrns:
            mrn = draw_mrn(draft.rng, partition_of(draft.mrn))
        twin = namesake(draft.rng, draft.patient, mrn=mrn, now=draft.now)
        draft.others.append(replace(twin, given=draft.patient.given, gender=draft.patient.gender))

    @staticmethod
    def _missed_birth_date(draft: Draft) -> date:
        """Return a birth date that no bearer of the name has, often that of somebody else."""
        born = draft.patient.birth_date
        taken = {p.birth_date for p in _bearers(draft, draft.patient.family, draft.patient.given)}
        near = [p.birth_date for p in draft.others] + [
            born + timedelta(days=1),
            born - timedelta(days=1),
            _in_year(born, born.year + 1),
            _in_year(born, born.year - 10),
        ]
        if born.day <= 12 and born.day != born.month:
            near.append(date(born.year, born.day, born.month))
        choices = [day for day in near if day not in taken and day < draft.now.date()]
        return choices[draft.integer(0, len(choices) - 1)]

    @staticmethod
    def _missed_name(draft: Draft) -> tuple[str, str]:
        """Return a name that nobody bears; half of the time the family name is somebody's."""
        person = draft.patient
        taken = {(p.family, p.given) for p in (person, *draft.others)}
        if draft.chance(0.5):
            return person.family, _other_given(
                draft, person.family, {given for family, given in taken if family == person.family}
            )
        stranger = draw_patient(draft.rng, mrn=person.mrn, now=draft.now, avoid_names=taken)
        return stranger.family, stranger.given

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Compare whole names, case aside, and the whole birth date."""
        family, given = facts.details["family"], facts.details["given"]
        born = facts.details["birth_date"]
        bearers = [
            resource
            for resource in view.search("Patient", family=family, given=given)
            if bears_name(resource, family, given)
        ]
        found = [resource for resource in bearers if resource.get("birthDate") == born]
        if found:
            branch = "found_among_namesakes" if len(bearers) > 1 else "found"
            return Decision(branch, (text(record_number(found[0])),))
        branch = "not_found_birth_date" if bearers else "not_found_name"
        return Decision(branch, (text(NOT_FOUND),))

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Search by all that is known."""
        known = {name: facts.details[name] for name in ("family", "given", "birth_date")}
        return [call("search_patients", **known)]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Answer that nobody fits."""
        return [], [NOT_FOUND]


class PatientAge(TaskKind):
    """v1-T2: the age in completed years, -1 where the chart gives no full birth date."""

    name = "v1-t2"
    title = "patient age"
    branches = (
        Branch("birthday_passed", False),
        Branch("birthday_today", False),
        Branch("birthday_ahead", False),
    )

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Move the birthday to its side of today, often next to it, sometimes to a leap day.

        The sides meet half a year away, so that one may lie in the next calendar year, or the last.
        """
        draft.patient = replace(draft.patient, birth_date=self._birth_date(draft, branch))
        return self.facts(draft)

    @staticmethod
    def _birth_date(draft: Draft, branch: str) -> date:
        today, year = draft.now.date(), draft.patient.birth_date.year
        if branch == "birthday_today":
            return _in_year(today, year, leap_as_is=True)
        leap_year = year - year % 4
        if _is_leap(leap_year) and draft.chance(0.15):
            born = date(leap_year, *_FEBRUARY_29)
            if branch == birthday_branch(born, draft.now):
                return born
        distance = 1 if draft.chance(0.3) else draft.integer(1, _HALF_YEAR - 2)
        sign = -1 if branch == "birthday_passed" else 1
        return _in_year(today + timedelta(days=sign * distance), year)

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Count completed years on the day of the question; a leap day's child waits for March."""
        born = birth_date(view.patient(facts.patient))
        if born is None:
            return Decision("unknown", (NOTHING,))
        return Decision(
            birthday_branch(born, facts.now), (number(age_at(born, facts.now), unit="years"),)
        )

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Open the patient."""
        return [call("search_patients", mrn=facts.patient)]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Guess the middle of an adult hospital population."""
        return [], [60]


def bears_name(patient: JsonDict, family: str, given: str) -> bool:
    """Return whether a Patient has a name with exactly these parts, case aside."""
    wanted = family.casefold(), given.casefold()
    for name in patient.get("name") or []:
        if str(name.get("family", "")).casefold() == wanted[0]:
            givens = [str(part).casefold() for part in name.get("given") or []]
            if wanted[1] in (*givens, " ".join(givens)):
                return True
    return False


def birth_date(patient: JsonDict | None) -> date | None:
    """Return a Patient's full birth date; None if it is missing or has no day."""
    try:
        return date.fromisoformat(str((patient or {}).get("birthDate", "")))
    except ValueError:
        return None


def age_at(born: date, now: datetime) -> int:
    """Return the completed years on the day of ``now``."""
    return now.year - born.year - ((now.month, now.day) < (born.month, born.day))


def birthday_branch(born: date, now: datetime) -> str:
    """Return whether the nearest birthday is today, passed less than half a year ago, or ahead."""
    today = now.date()
    last = _birthday(born, today.year)
    if last > today:
        last = _birthday(born, today.year - 1)
    since = (today - last).days
    if since == 0 and (last.month, last.day) == (born.month, born.day):
        return "birthday_today"
    return "birthday_passed" if since < _HALF_YEAR else "birthday_ahead"


def _birthday(born: date, year: int) -> date:
    """Return the day of a year on which the age goes up; 1 March for a leap day's child."""
    if (born.month, born.day) == _FEBRUARY_29 and not _is_leap(year):
        return date(year, 3, 1)
    return born.replace(year=year)


def _bearers(draft: Draft, family: str, given: str) -> list[PatientProfile]:
    people = (draft.patient, *draft.others)
    return [p for p in people if (p.family, p.given) == (family, given)]


def _other_given(draft: Draft, family: str, taken: set[str]) -> str:
    """Return a given name that is not taken."""
    avoid = {(family, given) for given in taken}
    while True:
        given = draw_patient(draft.rng, mrn=draft.mrn, now=draft.now).given
        if (family, given) not in avoid:
            return given


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _in_year(day: date, year: int, *, leap_as_is: bool = False) -> date:
    """Return the same day of another year.

    Args:
        day: The day.
        year: The other year.
        leap_as_is: For 29 February: whether to take the leap year before rather than the 28th.
    """
    if (day.month, day.day) == _FEBRUARY_29 and not _is_leap(year):
        if not leap_as_is:
            return date(year, 2, 28)
        while not _is_leap(year):
            year -= 1
    return day.replace(year=year)
