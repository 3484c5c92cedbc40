"""Checking what is written, at three levels of strictness."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from healthgym.core.borders import JsonDict
from healthgym.core.optional import require
from healthgym.worlds.fhir.errors import FhirError
from healthgym.worlds.fhir.search.table import parameter_table
from healthgym.worlds.fhir.search.values import split_reference

_MAX_DEPTH = 64
_MAX_REPORTED = 10
#: Whole numbers from which on there is no decimal of them: R4 has neither so large.
_ENDLESS = 10**300


class ValidationLevel(StrEnum):
    """How strictly a write is checked.

    ``OFF`` asks only for a JSON object with a known ``resourceType``. ``STRUCTURAL`` also asks for
    the elements that R4 requires and for a subject that exists. ``R4`` also checks every element
    against the R4B models of the package fhir.resources.
    """

    OFF = "off"
    STRUCTURAL = "structural"
    R4 = "r4"


@dataclass(frozen=True, slots=True)
class R4Compat:
    """Shapes that R4 forbids and the graders of MedAgentBench v1 ask for.

    Attributes:
        route_as_string: Let ``dosageInstruction.route`` be a bare string.
        note_as_object: Let ``note`` be one Annotation instead of a list.
    """

    route_as_string: bool = False
    note_as_object: bool = False


class Validator:
    """Refuses resources that must not be stored.

    Args:
        level: How much is checked.
        compat: Exceptions from ``ValidationLevel.R4``.

    Raises:
        MissingDependencyError: If ``R4`` is asked for and fhir.resources is not installed.
    """

    def __init__(self, level: ValidationLevel, compat: R4Compat) -> None:
        self.level = level
        self._compat = compat
        self._model_of = _models() if level is ValidationLevel.R4 else None

    def check(
        self, resource: object, types: Collection[str], exists: Callable[[str, str], bool]
    ) -> None:
        """Raise if ``resource`` must not be stored.

        Args:
            resource: What the agent sent.
            types: Resource types that may be stored.
            exists: Says whether a resource of a type and id exists.

        Raises:
            FhirError: 400 if it is not a resource of a known type, 422 if it breaks a rule.
        """
        if not isinstance(resource, dict):
            raise FhirError(400, "structure", "The body must be one JSON object: a FHIR resource.")
        kind = resource.get("resourceType")
        if not isinstance(kind, str) or kind not in types:
            raise FhirError(
                400,
                "structure",
                f"'resourceType' must be one of {', '.join(types)}; it is {str(kind)[:100]!r}.",
                ("resourceType",),
            )
        _check_json(resource, kind, 0)
        if self.level is ValidationLevel.OFF:
            return
        self._check_required(resource, kind)
        self._check_subject(resource, kind, exists)
        if self._model_of is not None:
            self._check_model(resource, kind)

    @staticmethod
    def _check_required(resource: JsonDict, kind: str) -> None:
        missing = []
        for name in parameter_table().of(kind).required:
            stem = name.removesuffix("[x]")
            present = [key for key in resource if _is_choice_of(key, name, stem)]
            if not any(resource[key] not in (None, "", [], {}) for key in present):
                missing.append(name)
        if missing:
            raise FhirError(
                422,
                "required",
                f"{kind} lacks required elements: {', '.join(missing)}.",
                tuple(f"{kind}.{name}" for name in missing),
            )

    @staticmethod
    def _check_subject(resource: JsonDict, kind: str, exists: Callable[[str, str], bool]) -> None:
        for name in ("subject", "patient"):
            element = resource.get(name)
            if element is None:
                continue
            reference = element.get("reference") if isinstance(element, dict) else None
            path = f"{kind}.{name}"
            if not isinstance(reference, str):
                message = f'{path} must be an object such as {{"reference": "Patient/ID"}}.'
                raise FhirError(422, "structure", message, (path,))
            local = split_reference(reference)
            if local is None or not exists(*local):
                message = f"Resource {reference[:200]} is not known; it is named in {path}."
                raise FhirError(422, "not-found", message, (f"{path}.reference",))

    def _check_model(self, resource: JsonDict, kind: str) -> None:
        from pydantic import ValidationError

        assert self._model_of is not None
        try:
            model = self._model_of(kind)
        except (KeyError, LookupError):
            raise FhirError(400, "not-supported", f"There is no R4 model of {kind}.") from None
        try:
            model.model_validate(self._adapted(resource))
        except ValidationError as error:
            faults = [
                (".".join([kind, *(str(part) for part in fault["loc"])]), fault["msg"])
                for fault in error.errors(include_url=False, include_context=False)
            ][:_MAX_REPORTED]
            text = "; ".join(f"{path}: {message}" for path, message in faults)
            paths = tuple(path for path, _ in faults)
            raise FhirError(422, "invalid", f"Not a valid FHIR R4 {kind}. {text}", paths) from None

    def _adapted(self, resource: JsonDict) -> JsonDict:
        """Return the resource with the permitted exceptions put into their R4 form."""
        adapted = dict(resource)
        dosages = adapted.get("dosageInstruction")
        if self._compat.route_as_string and isinstance(dosages, list):
            adapted["dosageInstruction"] = [
                {**dosage, "route": {"text": dosage["route"]}}
                if isinstance(dosage, dict) and isinstance(dosage.get("route"), str)
                else dosage
                for dosage in dosages
            ]
        if self._compat.note_as_object and isinstance(adapted.get("note"), dict):
            adapted["note"] = [adapted["note"]]
        return adapted


def _is_choice_of(key: str, name: str, stem: str) -> bool:
    if stem == name:
        return key == name
    return key.startswith(stem) and key[len(stem) : len(stem) + 1].isupper()


def _check_json(value: object, path: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise FhirError(
            400, "structure", f"The resource is nested deeper than {_MAX_DEPTH} levels."
        )
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise FhirError(400, "structure", f"{path} has a key that is not text.", (path,))
            _check_text(key, f"A key of {path}", path)
            _check_json(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _check_json(item, f"{path}[{position}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise FhirError(400, "value", f"{path} is not a finite number.", (path,))
    elif isinstance(value, int) and abs(value) >= _ENDLESS:
        raise FhirError(400, "value", f"{path} is too large a number.", (path,))
    elif isinstance(value, str):
        _check_text(value, path, path)
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise FhirError(400, "structure", f"{path} is not a JSON value.", (path,))


def _check_text(text: str, what: str, path: str) -> None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise FhirError(400, "value", f"{what} is not valid Unicode text.", (path[:200],))


def _models() -> Callable[[str], Any]:
    resources = require("fhir.resources.R4B", extra="fhir", purpose="ValidationLevel.R4")
    model_of: Callable[[str], Any] = resources.get_fhir_model_class
    return model_of
