"""A whole search request: its conditions and how the result is to be presented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from healthgym.worlds.fhir.errors import FhirError, bad_request
from healthgym.worlds.fhir.search.criteria import Criterion, parse_criterion
from healthgym.worlds.fhir.search.table import Kind, Parameter, parameter_table

__all__ = ["Criterion", "Include", "Query", "SortKey", "parse_query"]

#: Parameters about the result that every search accepts.
RESULT_PARAMETERS = (
    "_count",
    "_elements",
    "_format",
    "_include",
    "_pretty",
    "_revinclude",
    "_sort",
    "_summary",
    "_total",
)
_SUMMARIES = ("count", "data", "false", "text", "true")
_TOTALS = ("accurate", "estimate", "none")


@dataclass(frozen=True, slots=True)
class SortKey:
    """One sort key; missing values come last in either direction."""

    parameter: Parameter
    descending: bool


@dataclass(frozen=True, slots=True)
class Include:
    """``_include`` or ``_revinclude``: a reference parameter of ``source`` to follow.

    Attributes:
        source: Type of the resource that holds the reference.
        parameter: The reference parameter, or None for all of them (``*``).
        target: The only type to bring in, or None for any.
        reverse: Whether it is a ``_revinclude``.
        iterate: Whether to follow it from included resources too.
    """

    source: str
    parameter: Parameter | None
    target: str | None
    reverse: bool
    iterate: bool


@dataclass(frozen=True)
class Query:
    """A parsed search.

    Attributes:
        resource_type: The type searched.
        parameters: Names and values as asked, sorted by name as the self link shows them.
        criteria: Conditions, all of which must hold.
        sort: Sort keys, the first decides.
        count: Page size asked for, or None.
        want_total: Whether the total is wanted even if there are more pages.
        only_total: Whether only the total is wanted.
        elements: Top-level elements to keep; empty for all.
        includes: References to follow.
    """

    resource_type: str
    parameters: tuple[tuple[str, str], ...]
    criteria: tuple[Criterion, ...]
    sort: tuple[SortKey, ...]
    count: int | None
    want_total: bool
    only_total: bool
    elements: tuple[str, ...]
    includes: tuple[Include, ...]


def parse_query(resource_type: str, parameters: Sequence[tuple[str, str]]) -> Query:
    """Parse the decoded parameters of a search.

    Parameters with an empty value are ignored, as FHIR servers do.

    Raises:
        FhirError: 400, saying which parameter is wrong and what is accepted.
    """
    criteria: list[Criterion] = []
    sort: list[SortKey] = []
    includes: list[Include] = []
    single: dict[str, str] = {}
    elements: list[str] = []
    for name, value in parameters:
        if not value or not name:
            continue
        if name[0] == "_" and (base := name.partition(":")[0]) in RESULT_PARAMETERS:
            match base:
                case "_sort":
                    sort.extend(_parse_sort(resource_type, value))
                case "_include" | "_revinclude":
                    includes.append(_parse_include(name, value))
                case "_elements":
                    elements.extend(part.strip() for part in value.split(",") if part.strip())
                case _:
                    single[base] = value
            continue
        criterion = _parse_named(resource_type, name, value)
        if criterion.asked:
            criteria.append(criterion)
    count = _parse_count(single.get("_count"))
    summary = _one_of("_summary", single.get("_summary", "false"), _SUMMARIES)
    total = _one_of("_total", single.get("_total", "none"), _TOTALS)
    return Query(
        resource_type=resource_type,
        parameters=tuple(sorted(parameters, key=lambda pair: pair[0])),
        criteria=tuple(criteria),
        sort=tuple(sort),
        count=count,
        want_total=total != "none",
        only_total=summary == "count" or count == 0,
        elements=tuple(elements),
        includes=tuple(includes),
    )


def _parse_named(resource_type: str, name: str, value: str) -> Criterion:
    base, _, modifier = name.partition(":")
    if "." in name or base == "_has":
        raise FhirError(
            400,
            "not-supported",
            f"Chained and reverse-chained search ('{name}') is not supported. Find the referenced "
            "resource first, then search by its id, such as patient=ID.",
        )
    return parse_criterion(_parameter(resource_type, base), modifier, value)


def _parameter(resource_type: str, name: str) -> Parameter:
    entry = parameter_table().of(resource_type)
    parameter = entry.parameters.get(name)
    if parameter is None:
        valid = ", ".join(sorted((*entry.names, *RESULT_PARAMETERS)))
        raise FhirError(
            400,
            "processing",
            f"Unknown search parameter '{name}' for resource type '{resource_type}'. "
            f"Valid search parameters: {valid}.",
        )
    return parameter


def _parse_sort(resource_type: str, value: str) -> list[SortKey]:
    keys = []
    for part in value.split(","):
        if name := part.strip().removeprefix("-"):
            parameter = _parameter(resource_type, name)
            if parameter.kind is Kind.COMPOSITE:
                raise bad_request(f"Results cannot be sorted by the composite '{name}'.")
            keys.append(SortKey(parameter, part.strip().startswith("-")))
    return keys


def _parse_include(name: str, value: str) -> Include:
    base, _, modifier = name.partition(":")
    reverse = base == "_revinclude"
    if modifier not in ("", "iterate", "recurse"):
        raise bad_request(f"Modifier ':{modifier}' of {base} is not supported; use :iterate.")
    iterate = bool(modifier)
    source, _, rest = value.partition(":")
    parameter_name, _, target = rest.partition(":")
    if value == "*" and not reverse:
        return Include("*", None, None, reverse, iterate)
    if parameter_name == "*":
        return Include(source, None, target or None, reverse, iterate)
    parameter = parameter_table().of(source).parameters.get(parameter_name)
    if parameter is None or parameter.kind is not Kind.REFERENCE:
        raise bad_request(
            f"Invalid {base} '{value}'. Accepted: Type:parameter or Type:parameter:TargetType, "
            "where parameter is a reference parameter of Type, such as Observation:subject."
        )
    return Include(source, parameter, target or None, reverse, iterate)


def _parse_count(value: str | None) -> int | None:
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise bad_request(f"_count takes a whole number of at least 0, not '{value}'.")
    return int(value)


def _one_of(name: str, value: str, accepted: tuple[str, ...]) -> str:
    if value not in accepted:
        raise bad_request(f"{name} takes one of {', '.join(accepted)}, not '{value}'.")
    return value
