"""Whether an intake record says what the request says, field by field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import fields, replace

from healthgym.worlds.managed_care.apps.payer.intake_handoff import refreshed
from healthgym.worlds.managed_care.apps.payer.reviewers import PAYER_STAFF
from healthgym.worlds.managed_care.records.intake import (
    IntakeAuthHeaderData,
    IntakeCase,
    IntakeLineItem,
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_Part = IntakeCase | IntakeLineItem | IntakeProviderInfo
#: What a clerk adds that no request has: who is in charge, and that somebody looked.
_CLERKS = frozenset({"owner", "member_eligibility_verified", "state_date"})
_HEAD = tuple(one.name for one in fields(IntakeAuthHeaderData) if one.name not in _CLERKS)
#: What is compared in ways of its own, or elsewhere, or may be added.
_LINE_FREE = frozenset(
    {"line_number", "procedures", "servicing_provider", "start_date", "end_date"}
    | {"requested_units", "applied_eligibility"}
)
_PROVIDER_FREE = frozenset({"npi", "auth_specific_contact"})
#: What a line must say where the request says it; the rest may be left out.
_ASKED = ("requested_units", "place_of_service")
#: What names somebody, of whom the surname will do.
_NAMES = frozenset({"provider_name", "urgency_requested_by"})
_TITLES = frozenset({"dr", "md", "do", "np", "pa", "rn", "phd"})
_NAME = re.compile(r"[^\W\d_]{2,}")
_WORD = re.compile(r"[^\W\d_]{4,}")


def misentered(
    before: ManagedCareWorld, after: ManagedCareWorld, intake: IntakeCase
) -> tuple[str, ...]:
    """Return the fields of an intake record that say something else than the request.

    Codes of diagnoses and procedures and the provider's NPI are compared elsewhere.

    Args:
        before: The world as it began.
        after: The world now.
        intake: The record as it is now.
    """
    begun = before.intake.find(intake.case_id)
    packet = after.authorizations.packet(intake.case_id) if begun is None else None
    asked = begun or refreshed(after, intake, packet, reply=False)
    # Under the source's rules nobody is asked for the state, and a clerk enters the member's.
    asked = replace(asked, state=asked.state or after.intake.member_state(intake.case_id))
    asked = _by_name(after, asked, intake)
    found = [name for name in _HEAD if _differs(intake, asked, name)]
    owner, entered = intake.owner, intake.state_date
    if owner and owner != asked.owner and after.staff.role_of(owner) not in PAYER_STAFF:
        found.append("owner")
    if entered and entered != asked.state_date and entered < (asked.request_date or ""):
        found.append("state_date")
    return (*found, *_diagnoses(intake, asked), *_lines(intake, asked), *_provider(intake, asked))


def _by_name(world: ManagedCareWorld, asked: IntakeCase, intake: IntakeCase) -> IntakeCase:
    """Return a request that names who asked for its urgency where a clerk enters the name.

    The request itself has the id.
    """

    def called(person: str | None, said: str | None) -> str | None:
        worker = world.staff.workers.get(person or "")
        return worker.name if worker is not None and said != person else person

    lines = zip(asked.line_items, intake.line_items, strict=False)
    named = tuple(
        replace(
            each, urgency_requested_by=called(each.urgency_requested_by, said.urgency_requested_by)
        )
        for each, said in lines
    )
    by = called(asked.urgency_requested_by, intake.urgency_requested_by)
    rest = asked.line_items[len(named) :]
    return replace(asked, urgency_requested_by=by, line_items=(*named, *rest))


def _diagnoses(intake: IntakeCase, asked: IntakeCase) -> Iterator[str]:
    if _differs(intake, asked, "diagnosis_type"):
        yield "diagnosis_type"
    names = {one.code: one.name for one in asked.diagnoses}
    leading = {one.code for one in asked.diagnoses if one.is_primary}
    for one in intake.diagnoses:
        if _other_thing(one.name, names.get(one.code, "")):
            yield f"name of {one.code}"
        if one.is_primary and one.code not in leading:
            yield f"{one.code} leads"


def _lines(intake: IntakeCase, asked: IntakeCase) -> Iterator[str]:
    named = {intake.requesting_provider, asked.requesting_provider} - {None}
    for line, wanted in zip(intake.line_items, asked.line_items, strict=False):
        yield from _strange(line, wanted, _LINE_FREE)
        for name in _ASKED:
            given, right = getattr(line, name), getattr(wanted, name)
            if given != right and (right is not None or given not in (None, 1)):
                yield name
        days = {None, wanted.request_date, wanted.start_date, wanted.end_date}
        yield from (name for name in ("start_date", "end_date") if getattr(line, name) not in days)
        performing = {one.npi for one in (*named, wanted.servicing_provider) if one is not None}
        if line.servicing_provider and line.servicing_provider.npi not in performing:
            yield "servicing_provider"
        shown = " ".join(each.name for each in wanted.procedures)
        if any(_other_thing(each.name, shown) for each in line.procedures):
            yield "name of the procedure"
        systems = {"cpt", "hcpcs", *(each.code_set.casefold() for each in wanted.procedures)}
        if any(each.code_set.casefold() not in systems for each in line.procedures):
            yield "code_set of the procedure"


def _provider(intake: IntakeCase, asked: IntakeCase) -> Iterator[str]:
    named, wanted = intake.requesting_provider, asked.requesting_provider
    if named is not None and wanted is not None:
        yield from _strange(named, wanted, _PROVIDER_FREE)


def _strange(given: _Part, wanted: _Part, free: Collection[str]) -> Iterator[str]:
    """Yield the fields of a part that are filled with something else than the request has."""
    for name in (one.name for one in fields(given)):
        if name not in free and _differs(given, wanted, name):
            yield name


def _differs(given: _Part, wanted: _Part, name: str) -> bool:
    said, right = getattr(given, name), getattr(wanted, name)
    if said is None or said == "" or said == right:
        return False
    if name in _NAMES:
        return not _names(str(said)) & _names(str(right or ""))
    if name == "unit_type" and right is None:
        return False
    return str(said).strip().casefold() != str(right).strip().casefold()


def _other_thing(said: str, right: str) -> bool:
    """Return whether two names have no word in common."""
    one, other = _words(said), _words(right)
    return bool(one and other) and not one & other


def _names(text: str) -> frozenset[str]:
    """Return the names in how somebody is called; a title is none."""
    return frozenset(_NAME.findall(text.casefold())) - _TITLES


def _words(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in _WORD.findall(text.casefold()))
