"""Conditions that a request's headers put on it: RFC 9110, section 13, as FHIR R4 uses them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from healthgym.worlds.fhir.base import Resource
from healthgym.worlds.fhir.errors import FhirError, bad_request

_TAG = re.compile(r'\s*(?:W/)?"([A-Za-z0-9.-]{1,64})"\s*')


def header(headers: Mapping[str, str] | None, name: str) -> str | None:
    """Return a header by its name in small letters; an empty one is there, too."""
    return next((value for key, value in (headers or {}).items() if key.lower() == name), None)


def version_of(resource: Resource) -> str:
    """Return the version id of a resource; one that states none is the first."""
    meta = resource.get("meta")
    return str(meta.get("versionId", "1")) if isinstance(meta, dict) else "1"


def etag(resource: Resource) -> str:
    """Return the entity tag of a version of a resource, such as ``W/"3"``."""
    return f'W/"{version_of(resource)}"'


def is_unchanged(headers: Mapping[str, str] | None, current: Resource) -> bool:
    """Return whether a reader holds the current version already, as If-None-Match says."""
    stated = header(headers, "if-none-match")
    return stated is not None and _names("If-None-Match", stated, current)


def require_match(headers: Mapping[str, str] | None, current: Resource | None) -> None:
    """Return if a write may go on.

    Args:
        headers: Headers of the request; If-Match and If-None-Match are read.
        current: What the write would replace; None if there is nothing.

    Raises:
        FhirError: 412 if another version is the current one, or there is one where none may be;
            400 if a header cannot be read.
    """
    wanted, unwanted = header(headers, "if-match"), header(headers, "if-none-match")
    if wanted is not None and not _names("If-Match", wanted, current):
        now = "there is no such resource" if current is None else f"it is {etag(current)} now"
        raise _failed(f"If-Match names {wanted[:80]}, but {now}. Read it again, then write.")
    if unwanted is not None and _names("If-None-Match", unwanted, current):
        assert current is not None
        raise _failed(f"If-None-Match names {unwanted[:80]}, and there is {etag(current)} already.")


def several_match(search: str) -> FhirError:
    """Return the 412 of an If-None-Exist that more than one resource matches."""
    return _failed(f"More than one resource matches If-None-Exist: {search[:200]}.")


def _names(name: str, stated: str, current: Resource | None) -> bool:
    """Return whether a list of entity tags names a version; ``*`` names any there is."""
    if stated.strip() == "*":
        return current is not None
    tags = [_TAG.fullmatch(part) for part in stated.split(",")]
    if not all(tags):
        raise bad_request(f'{name} takes an entity tag such as W/"3", or *, not {stated[:80]!r}.')
    return current is not None and version_of(current) in {tag[1] for tag in tags if tag}


def _failed(diagnostics: str) -> FhirError:
    return FhirError(412, "conflict", diagnostics)
