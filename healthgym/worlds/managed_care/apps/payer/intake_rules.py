"""What the intake desk of a strict world refuses; the source's takes everything.

Each function names what it requires and refuses with one sentence. None says what the right
decision is: whether a request is complete is for the clerk to judge, whether the record has been
filled in at all is not.
"""

from __future__ import annotations

from enum import StrEnum

from healthgym.worlds.managed_care.calendar import is_state
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.intake import (
    IntakeAuthHeaderData,
    IntakeCase,
    IntakeLineItem,
    IntakeProviderInfo,
    SaveDiagnosesPayload,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.service_levels import normalized_state
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DiagnosisType,
    IntakeStatus,
    LineItemType,
    PlaceOfService,
    RequestMethod,
    RequestSource,
    ServiceTypeCategory,
    SubmissionChannel,
    UnitType,
    UrgencyLevel,
)

#: The statuses in which a request is with the payer and undecided.
WITH_PAYER = (CaseStatus.SUBMITTED, CaseStatus.RESUBMITTED, CaseStatus.UNDER_REVIEW)
_REQUIRED_HEADER = ("request_date", "state", "request_source", "method", "level_of_urgency")


def require_submitted(case: PriorAuthCase) -> None:
    """Refuse to open a record for a case that nobody handed in."""
    if case.status not in WITH_PAYER:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case.id} is {case.status} and not with the payer; an intake record is opened "
            f"for a case that is {_or(WITH_PAYER)}.",
        )


def require_withdrawable(case: PriorAuthCase) -> None:
    """Refuse to withdraw what was never handed in, or is decided; in every world."""
    open_ones = (*WITH_PAYER, CaseStatus.PENDED_ACTION_REQUIRED)
    if case.status not in open_ones:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case.id} is {case.status}; a request can be withdrawn while it is "
            f"{_or(open_ones)}.",
        )


def require_first(known: IntakeCase | None) -> None:
    """Refuse a second record of a case."""
    if known is not None:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"Case {known.case_id} has intake record {known.id} already; "
            "payer_intake_hub.get_intake_case shows it.",
        )


def require_open(intake: IntakeCase, case: PriorAuthCase) -> None:
    """Refuse to change, or confirm again, what is confirmed, and to work on what is over."""
    if case.status is CaseStatus.CLOSED:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case.id} is closed; the intake of cases that are with the payer is worked on.",
        )
    if intake.status is IntakeStatus.COMPLETE:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"The intake of case {intake.case_id} is complete; only a resubmission or a reply to "
            "a request for information opens it again.",
        )


def require_header_words(data: IntakeAuthHeaderData) -> None:
    """Refuse words that the header's lists do not have, and states that are none."""
    _require_word("request_source", data.request_source, RequestSource)
    _require_word("method", data.method, RequestMethod, SubmissionChannel)
    _require_word("level_of_urgency", data.level_of_urgency, UrgencyLevel)
    state = normalized_state(data.state)
    if state is not None and not is_state(state):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"state is {str(data.state)[:40]!r}; accepted is a state's two letters, such as TX.",
        )


def require_diagnoses(data: SaveDiagnosesPayload) -> None:
    """Refuse diagnoses without a code, and a type that there is not."""
    _require_word("diagnosis_type", data.diagnosis_type, DiagnosisType)
    if not all(one.code.strip() and one.name.strip() for one in data.diagnoses):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            "A diagnosis lacks its name or code; accepted is, for instance, name 'Migraine' and "
            "code 'G43.909'.",
        )


def require_npi(data: IntakeProviderInfo) -> None:
    """Refuse a National Provider Identifier that is not of ten digits."""
    npi = data.npi
    if npi and not (npi.isascii() and npi.isdigit() and len(npi) == 10):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT, f"npi is {npi[:40]!r}; accepted are exactly ten digits."
        )


def require_line_words(line: IntakeLineItem) -> None:
    """Refuse words that a line's lists do not have, counts below one, and days out of order."""
    _require_word("service_type", line.service_type, ServiceTypeCategory)
    _require_word("line_item_type", line.line_item_type, LineItemType)
    _require_word("level_of_urgency", line.level_of_urgency, UrgencyLevel)
    _require_word("place_of_service", line.place_of_service, PlaceOfService)
    _require_word("unit_type", line.unit_type, UnitType)
    if line.requested_units is not None and line.requested_units < 1:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"requested_units is {line.requested_units}; accepted are whole numbers from 1.",
        )
    if line.start_date and line.end_date and line.end_date < line.start_date:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"end_date {line.end_date} is before start_date {line.start_date}; accepted is a day "
            "on or after it.",
        )


def require_free_number(intake: IntakeCase, line_number: int) -> None:
    """Refuse a second line with a number."""
    if any(line.line_number == line_number for line in intake.line_items):
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"Line {line_number} of case {intake.case_id} is there already; update_line_item "
            "changes it, and number 0 adds the next one.",
        )


def require_line(intake: IntakeCase, line_number: int) -> None:
    """Refuse a line number that the record does not have."""
    numbers = [line.line_number for line in intake.line_items]
    if line_number not in numbers:
        there = ", ".join(map(str, numbers)) or "none"
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"The intake of case {intake.case_id} has no line {line_number}; its lines: {there}.",
        )


def require_entries(intake: IntakeCase) -> None:
    """Refuse to confirm a record in which fields stand empty that every request has."""
    missing = [name for name in _REQUIRED_HEADER if not getattr(intake, name)]
    if not intake.diagnoses:
        missing.append("diagnoses")
    provider = intake.requesting_provider
    if provider is None or not provider.npi:
        missing.append("requesting_provider.npi")
    if not intake.line_items:
        missing.append("line_items")
    missing += [
        f"line_items[{line.line_number}].procedures"
        for line in intake.line_items
        if not line.procedures
    ]
    if missing:
        raise Refusal(
            RefusalCode.INTAKE_INCOMPLETE,
            f"The intake of case {intake.case_id} cannot be confirmed: {', '.join(missing)} "
            "stand empty; enter them first.",
        )


def _require_word(name: str, word: str | None, *kinds: type[StrEnum]) -> None:
    accepted = dict.fromkeys(str(member) for kind in kinds for member in kind)
    if word and word not in accepted:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{name} is {word[:40]!r}; accepted are {', '.join(accepted)}.",
        )


def _or(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}"
