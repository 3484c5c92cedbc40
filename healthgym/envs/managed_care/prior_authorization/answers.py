"""Whether an answer in a form says what the chart says, in whatever words it says it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from healthgym.envs.managed_care.checks.normalize import place_of_service
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.world import ManagedCareWorld

_YES = frozenset({"yes", "y", "true", "present", "1"})
_NO = frozenset({"no", "n", "false", "absent", "none", "0"})
_UNKNOWN = frozenset({"not documented", "unknown", "not known", "n/a", "unclear", "not on file"})
_NUMBER = re.compile(r"^\s*([+-]?\d+(?:[.,]\d+)?)\s*(\S.*)?$")
_SPLIT = re.compile(r"[\s,;]+")


def same_answer(expected: str | None, given: str) -> bool:
    """Return whether an answer says what is expected.

    Numbers are compared as numbers, with or without their unit; yes and no in any usual word.

    Args:
        expected: What the chart says; None for what it does not say.
        given: What was answered.
    """
    text = given.strip().lower()
    if expected is None:
        return text in _UNKNOWN
    wanted = expected.strip().lower()
    if wanted in _YES | _NO and not _is_number(wanted):
        return text in (_YES if wanted in _YES else _NO)
    ours, theirs = _number(wanted), _number(text)
    if ours is not None:
        return theirs is not None and math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=0.005)
    return " ".join(text.split()) == " ".join(wanted.split())


def wrong_answers(
    world: ManagedCareWorld, case_id: str, reference: AuthorizationReference
) -> tuple[str, ...]:
    """Return the keys of the forms whose saved answers are not those of the chart."""
    given: dict[str, str] = {}
    for response in world.documents.responses.values():
        if response.case_id == case_id:
            given |= response.answers
    for packet in world.authorizations.packets.values():
        if packet.case_id == case_id:
            given |= packet.payload.get("questionnaire_answers") or {}
    expected: Mapping[str, str | None] = {
        question.key: reference.answers.get(question.key)
        for question in reference.policy.form.questions
    }
    wrong = [key for key, value in expected.items() if not same_answer(value, given.get(key, ""))]
    return (*wrong, *_wrong_request(world, given, reference))


def _wrong_request(
    world: ManagedCareWorld, given: Mapping[str, str], reference: AuthorizationReference
) -> list[str]:
    """Return the keys of the request form that name somebody or something else."""
    chart = world.charts[reference.patient_id]
    patient, coverage = chart.patient, chart.coverage
    doctor = world.staff.practitioners[reference.practitioner_id]
    names = {_words(f"{patient.first_name} {patient.last_name}")}
    plain = {
        "request_patient_dob": patient.dob.isoformat(),
        "request_member_number": coverage.member_number if coverage else "",
        "request_payer_name": coverage.payer_name if coverage else "",
        "request_plan_name": coverage.plan_name if coverage else "",
        "request_requesting_provider_npi": doctor.npi or "",
        "request_procedure_code": reference.procedure_code,
    }
    wrong = [key for key, value in plain.items() if _flat(given.get(key, "")) != _flat(value)]
    if _words(given.get("request_patient_name", "")) not in names:
        wrong.append("request_patient_name")
    if not _words(given.get("request_requesting_provider_name", "")) >= _words(
        doctor.name.partition(",")[0]
    ):
        wrong.append("request_requesting_provider_name")
    codes = {code for code in _SPLIT.split(given.get("request_diagnosis_codes", "")) if code}
    if not set(reference.diagnosis_codes) <= codes:
        wrong.append("request_diagnosis_codes")
    site = given.get("request_site_of_service", "").strip().lower()
    if place_of_service(site.replace(" ", "_")) != place_of_service(str(reference.site)):
        wrong.append("request_site_of_service")
    return wrong


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.lower()))


def _flat(text: str) -> str:
    return " ".join(text.lower().split())


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _number(text: str) -> float | None:
    found = _NUMBER.match(text)
    return float(found[1].replace(",", ".")) if found else None
