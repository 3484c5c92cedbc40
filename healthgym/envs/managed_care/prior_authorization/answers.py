"""Whether an answer in a form says what the chart says, in whatever words it says it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from healthgym.envs.managed_care.checks.normalize import place_of_service, service_type
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion, MeasurementCriterion
from healthgym.worlds.managed_care.policies.evidence import evidence_items, item_result
from healthgym.worlds.managed_care.policies.questionnaire import answer_key
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.policies.units import convert, printed_units
from healthgym.worlds.managed_care.records.review import ClinicalEvidenceItemTemplate
from healthgym.worlds.managed_care.stated import days_in
from healthgym.worlds.managed_care.world import ManagedCareWorld

_YES = frozenset({"yes", "y", "true", "present", "1"})
_NO = frozenset({"no", "n", "false", "absent", "none", "0"})
_UNKNOWN = frozenset({"not documented", "unknown", "not known", "n/a", "unclear", "not on file"})
_NUMBER = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?))\s*(.*)", re.DOTALL)
_SPLIT = re.compile(r"[\s,;]+")
#: Decimals that a chart gives; a value with more of them was carried over from another unit.
_CHARTED_DECIMALS = 2


def same_answer(
    expected: str | None,
    given: str,
    item: ClinicalEvidenceItemTemplate | None = None,
    code: str = "",
) -> bool:
    """Return whether an answer says what is expected.

    Numbers are compared as numbers, with their unit or without; one in another unit is carried
    over. A value that was carried over may be rounded, unless that puts it on the other side of
    what the policy asks for. Yes, no and days may be said in any usual way.

    Args:
        expected: What the chart says; None for what it does not say.
        given: What was answered.
        item: What is asked for, where it is asked for by a policy.
        code: Code of what was measured.
    """
    text = given.strip().rstrip(".").lower()
    if expected is None:
        return text in _UNKNOWN
    wanted = expected.strip().lower()
    if wanted in ("yes", "no"):
        first = re.split(r"[\s,;:.(]", text, maxsplit=1)[0]
        return first in (_YES if wanted == "yes" else _NO)
    day = days_in(wanted)
    if day:
        return days_in(text) == day
    number = _NUMBER.fullmatch(wanted)
    if number is None or number[2]:
        return " ".join(text.split()) == " ".join(wanted.split())
    return any(_same_number(float(number[1]), value, item) for value in _values(text, item, code))


def _values(text: str, item: ClinicalEvidenceItemTemplate | None, code: str) -> Iterator[str]:
    """Yield what a number with its unit may be, in the unit that is asked for."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return
    written, unit = found[1], " ".join(found[2].split())
    readings = {written.replace(",", ""), written.replace(",", ".")}
    units = {word.lower(): ucum for ucum, word in printed_units().items()}
    asked = item.threshold_unit if item else None
    if not unit or not asked or unit == asked.lower() or units.get(unit, asked) == asked:
        yield from (each for each in readings if each.count(".") < 2)
        return
    for each in readings:
        carried = convert(float(each), units[unit], asked, code)
        if carried is not None:
            yield f"{carried:.6f}"


def _same_number(ours: float, theirs: str, item: ClinicalEvidenceItemTemplate | None) -> bool:
    value = float(theirs)
    if math.isclose(ours, value, rel_tol=1e-6, abs_tol=0.005):
        return True
    if item is None or round(ours, _CHARTED_DECIMALS) == ours:
        return False
    decimals = len(theirs.partition(".")[2])
    close = abs(ours - value) <= 0.5 * 10.0**-decimals and math.isclose(ours, value, rel_tol=0.01)
    return close and item_result(item, value) == item_result(item, ours)


class FormReader:
    """Compares the forms of a case with chart, coverage and order.

    Args:
        world: The world.
        reference: The right handling.
    """

    def __init__(self, world: ManagedCareWorld, reference: AuthorizationReference) -> None:
        self.world, self.reference = world, reference
        self.chart = world.charts[reference.patient_id]

    def wrong(self, given: Mapping[str, str]) -> tuple[str, ...]:
        """Return the keys whose answers are not those of the chart.

        Args:
            given: What was answered, by key.
        """
        questions = self.reference.policy.form.questions
        keys = (question.key for question in questions)
        wrong = (key for key in keys if not self._right(key, given.get(key, "")))
        return (*wrong, *self._wrong_request(given))

    def _right(self, key: str, given: str) -> bool:
        if same_answer(self.reference.answers.get(key), given, *self._asked[key]):
            return True
        silent = key in self.reference.silent
        return silent and any(same_answer(said, given) for said in (None, "no"))

    @cached_property
    def _asked(self) -> Mapping[str, tuple[ClinicalEvidenceItemTemplate, str]]:
        """What each key of the policy's questions asks for."""
        return {
            answer_key(item.item_id): (item, _code(criterion))
            for criterion in criteria(self.reference.policy.criteria)
            for item in evidence_items(criterion)
        }

    def _wrong_request(self, given: Mapping[str, str]) -> Iterator[str]:
        """Yield the keys of the request form that name somebody or something else."""
        coverage, patient = self.chart.coverage, self.chart.patient
        doctor = self.world.staff.practitioners[self.reference.practitioner_id]
        plain = {
            "request_patient_dob": patient.dob.isoformat(),
            "request_member_number": coverage.member_number if coverage else None,
            "request_group_number": coverage.group_number if coverage else None,
            "request_payer_name": coverage.payer_name if coverage else None,
            "request_plan_name": coverage.plan_name if coverage else None,
            "request_requesting_provider_npi": doctor.npi,
            "request_procedure_code": self.reference.procedure_code,
        }
        for key, value in plain.items():
            if not same_text(value, given.get(key, "")):
                yield key
        name = f"{patient.first_name} {patient.last_name}"
        if _words(given.get("request_patient_name", "")) != _words(name):
            yield "request_patient_name"
        if not _names(given.get("request_requesting_provider_name", ""), doctor.name):
            yield "request_requesting_provider_name"
        yield from self._wrong_servicing(given)
        yield from self._wrong_service(given)

    def _wrong_servicing(self, given: Mapping[str, str]) -> Iterator[str]:
        """Yield the keys that name as who will carry it out nobody, or two different people."""
        name = given.get("request_servicing_provider_name", "")
        npi = given.get("request_servicing_provider_npi", "")
        if name.strip().lower() in _UNKNOWN and npi.strip().lower() in _UNKNOWN:
            return
        people = self.world.staff.practitioners.values()
        named = [one for one in people if _names(name, one.name)]
        if not named:
            yield "request_servicing_provider_name"
        elif not any(same_text(one.npi, npi) for one in named):
            yield "request_servicing_provider_npi"

    def _wrong_service(self, given: Mapping[str, str]) -> Iterator[str]:
        known = {condition.code for condition in self.chart.conditions}
        codes = {c.upper() for c in _SPLIT.split(given.get("request_diagnosis_codes", "")) if c}
        wanted = set(self.reference.diagnosis_codes)
        if not wanted <= codes <= wanted | known:
            yield "request_diagnosis_codes"
        site = given.get("request_site_of_service", "")
        if place_of_service(str(self.reference.site)) not in map(place_of_service, _spelled(site)):
            yield "request_site_of_service"
        kind = given.get("request_service_type", "")
        if service_type(str(self.reference.service_type)) not in map(service_type, _spelled(kind)):
            yield "request_service_type"


def same_text(expected: str | None, given: str) -> bool:
    """Return whether an answer is a text, or the same day; None stands for what is not on file."""
    if expected is None:
        return given.strip().rstrip(".").lower() in _UNKNOWN
    day = days_in(expected)
    if day:
        return days_in(given) == day
    return " ".join(given.lower().split()) == " ".join(expected.lower().split())


def _code(criterion: AnyCriterion) -> str:
    return criterion.code if isinstance(criterion, MeasurementCriterion) else ""


def _names(text: str, name: str) -> bool:
    """Return whether a text names somebody; titles do not matter."""
    return _words(text) >= _words(name.partition(",")[0])


def _spelled(text: str) -> tuple[str, str]:
    """Return a name with spaces, as people write it, and with underscores, as lists have it."""
    words = text.lower().split()
    return " ".join(words), "_".join(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.lower()))
