"""Whether an intake record says what the request says, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.apps.payer.intake_handoff import refreshed
from healthgym.worlds.managed_care.apps.payer.reviewers import PAYER_STAFF
from healthgym.worlds.managed_care.records.intake import (
    IntakeCase,
    IntakeLineItem,
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What the head of a record takes from the request; who looked something up may say so besides.
_HEAD = (
    *("request_date", "state", "request_source", "method", "level_of_urgency"),
    *("continuity_of_care", "court_ordered", "single_case_agreement"),
)
#: What a line must say where the request says it.
_ASKED = ("requested_units", "place_of_service")
#: What a line may leave out, and say no other.
_MORE = ("unit_type", "service_type", "line_item_type", "level_of_urgency", "request_date")
#: Of the service itself the request has no days but that for which it is wanted.
_DAYS = ("start_date", "end_date")
_PROVIDER = ("in_network", "provider_group_name", "provider_specialty")
_TITLES = frozenset({"dr", "md", "do", "np", "pa", "rn", "phd"})
_NAME = re.compile(r"[^\W\d_]{2,}")
_WORD = re.compile(r"[^\W\d_]{4,}")


def misentered(
    before: ManagedCareWorld, after: ManagedCareWorld, intake: IntakeCase
) -> tuple[str, ...]:
    """Return the fields of an intake record that say something else than the request.

    Codes of diagnoses and procedures and the provider's NPI are compared elsewhere. What the
    request leaves open may be filled in, but for what would change how it is handled.

    Args:
        before: The world as it began.
        after: The world now.
        intake: The record as it is now.
    """
    begun = before.intake.find(intake.case_id)
    packet = after.authorizations.packet(intake.case_id) if begun is None else None
    asked = begun or refreshed(after, intake, packet, reply=False)
    found = [f"{name} of the header" for name in _HEAD if _differs(intake, asked, name)]
    owner = intake.owner
    if owner and owner != asked.owner and after.staff.role_of(owner) not in PAYER_STAFF:
        found.append("owner")
    return (*found, *_diagnoses(intake, asked), *_lines(intake, asked), *_provider(intake, asked))


def _diagnoses(intake: IntakeCase, asked: IntakeCase) -> Iterator[str]:
    if intake.diagnosis_type and _differs(intake, asked, "diagnosis_type"):
        yield "diagnosis_type"
    names = {one.code: one.name for one in asked.diagnoses}
    leading = {one.code for one in asked.diagnoses if one.is_primary}
    for one in intake.diagnoses:
        known, said = _words(names.get(one.code, "")), _words(one.name)
        if known and said and not known & said:
            yield f"name of {one.code}"
        if one.is_primary and one.code not in leading:
            yield f"{one.code} leads"


def _lines(intake: IntakeCase, asked: IntakeCase) -> Iterator[str]:
    for line, wanted in zip(intake.line_items, asked.line_items, strict=False):
        for name in (*_ASKED, *_MORE):
            left_out = name in _MORE and not getattr(line, name)
            if not left_out and _differs(line, wanted, name):
                yield f"{name} of the line"
        if wanted.requested_units is None and line.requested_units not in (None, 1):
            yield "requested_units of the line"
        wanted_on = {None, wanted.request_date, wanted.start_date, wanted.end_date}
        yield from (f"{name} of the line" for name in _DAYS if getattr(line, name) not in wanted_on)


def _provider(intake: IntakeCase, asked: IntakeCase) -> Iterator[str]:
    named, wanted = intake.requesting_provider, asked.requesting_provider
    if named is None or wanted is None:
        return
    said, known = _names(named.provider_name), _names(wanted.provider_name)
    if said and known and not said & known:
        yield "name of the provider"
    for name in _PROVIDER:
        if getattr(named, name) is not None and _differs(named, wanted, name):
            yield f"{name} of the provider"


def _differs(
    one: IntakeCase | IntakeLineItem | IntakeProviderInfo,
    other: IntakeCase | IntakeLineItem | IntakeProviderInfo,
    name: str,
) -> bool:
    """Return whether a field says something else than where it is filled."""
    wanted: Json = getattr(other, name)
    return wanted not in (None, "") and _plain(getattr(one, name)) != _plain(wanted)


def _plain(value: Json) -> Json | Mapping[str, Json]:
    return value.strip().casefold() if isinstance(value, str) else value


def _names(text: str | None) -> frozenset[str]:
    """Return the names in how somebody is called; a title is none."""
    return frozenset(_NAME.findall((text or "").casefold())) - _TITLES


def _words(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in _WORD.findall(text.casefold()))
