"""The column tables of a chart, and what a search may learn from their columns alone.

What is declared here is only a shortcut: every condition could be checked on the built resource,
and a test compares both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from healthgym.worlds.fhir.search.criteria import Criterion
from healthgym.worlds.fhir.search.values import IMPLIED, Token
from healthgym.worlds.fhir.shapes import (
    CPT,
    ICD10,
    LABORATORY,
    LOINC,
    VITAL_SIGNS,
    Resource,
    condition_resource,
    lab_resource,
    medication_request_resource,
    procedure_resource,
    service_request_resource,
    vital_resource,
)


class FixedTokens(NamedTuple):
    """A token parameter that has the same values in every row of a table."""

    tokens: tuple[Token, ...]


class ColumnTokens(NamedTuple):
    """A token parameter whose values follow from one string column.

    Attributes:
        column: The column.
        tokens: From the string to the values it stands for.
        has_texts: Whether the texts are known too; if not (the display is in another column),
            ``:text`` is checked on the resource.
        has_system: Whether the system is known; if not (it is in another column), a condition
            that names one is checked on the resource.
    """

    column: str
    tokens: Callable[[str], tuple[Token, ...]]
    has_texts: bool = True
    has_system: bool = True

    def decides(self, criterion: Criterion) -> bool:
        """Say whether the column is enough to tell which rows meet ``criterion``."""
        if criterion.modifier == "text":
            return self.has_texts
        if self.has_system or criterion.modifier == "missing":
            return True
        return all(asked.system is None for asked in criterion.asked)


class DateColumns(NamedTuple):
    """A date parameter: the column of its start and, for periods, that of its end."""

    low: str
    high: str | None = None


@dataclass(frozen=True)
class TableSpec:
    """One table of the chart.

    Attributes:
        name: Name of the table and of its files.
        resource_type: Type of the resources its rows become.
        columns: Column names and numpy types, in the order of the builder's rows. The first is
            the patient; string columns hold positions in the base's string list.
        build: Completes a resource that has its id and meta, from ``(resource, strings, mrn,
            *row[1:])``.
        tokens: Token parameters that can be answered from the columns.
        dates: Date parameters that can be answered from the columns.
        others: Parameters that have values but are answered from the built resource. Every other
            parameter has no value in any row of this table.
    """

    name: str
    resource_type: str
    columns: Mapping[str, str]
    build: Callable[..., Resource]
    tokens: Mapping[str, FixedTokens | ColumnTokens] = field(default_factory=dict)
    dates: Mapping[str, DateColumns] = field(default_factory=dict)
    others: frozenset[str] = frozenset()


def _coded(system: str) -> Callable[[str], tuple[Token, ...]]:
    return lambda code: (Token(system, code, ()),)


def _named(system: str) -> Callable[[str], tuple[Token, ...]]:
    return lambda code: (Token(system, code, (code,)),)


def _primitive(code: str) -> tuple[Token, ...]:
    return (Token(IMPLIED, code, ()),) if code else ()


def _text_only(text: str) -> tuple[Token, ...]:
    return (Token(None, None, (text,)),)


_LAB_CODE = ColumnTokens("code", _named(LOINC))
_VITAL_NAME = ColumnTokens("code", _text_only)

#: The tables in the order in which their rows were uploaded, which is the order of ids.
TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        "condition",
        "Condition",
        {"patient": "i4", "code": "i4", "display": "i4", "time": "i8"},
        condition_resource,
        tokens={"code": ColumnTokens("code", _coded(ICD10), has_texts=False)},
        dates={"onset-date": DateColumns("time"), "recorded-date": DateColumns("time")},
    ),
    TableSpec(
        "lab",
        "Observation",
        {
            "patient": "i4",
            "code": "i4",
            "time": "i8",
            "value": "f8",
            "unit": "i4",
            "issued": "i8",
            "interpretation": "i4",
        },
        lab_resource,
        tokens={
            "category": FixedTokens((Token(*LABORATORY, ("Laboratory",)),)),
            "code": _LAB_CODE,
            "combo-code": _LAB_CODE,
            "status": FixedTokens((Token(IMPLIED, "final", ()),)),
        },
        dates={"date": DateColumns("time")},
        others=frozenset(
            {
                "code-value-quantity",
                "combo-code-value-quantity",
                "combo-value-quantity",
                "value-quantity",
            }
        ),
    ),
    TableSpec(
        "vital",
        "Observation",
        {"patient": "i4", "code": "i4", "time": "i8", "value": "i4"},
        vital_resource,
        tokens={
            "category": FixedTokens((Token(*VITAL_SIGNS, ("Vital Signs",)),)),
            "code": _VITAL_NAME,
            "combo-code": _VITAL_NAME,
        },
        dates={"date": DateColumns("time")},
        others=frozenset({"code-value-quantity", "combo-code-value-quantity", "value-string"}),
    ),
    TableSpec(
        "procedure",
        "Procedure",
        {"patient": "i4", "code": "i4", "display": "i4", "time": "i8", "end": "i8"},
        procedure_resource,
        tokens={"code": ColumnTokens("code", _coded(CPT), has_texts=False)},
        dates={"date": DateColumns("time", "end")},
    ),
    TableSpec(
        "medication_request",
        "MedicationRequest",
        {
            "patient": "i4",
            "code": "i4",
            "time": "i8",
            "timing": "i4",
            "route": "i4",
            "dose": "f8",
            "dose_unit": "i4",
            "status": "i4",
        },
        medication_request_resource,
        tokens={
            "code": ColumnTokens("code", _text_only),
            "status": ColumnTokens("status", _primitive),
            "intent": FixedTokens((Token(IMPLIED, "order", ()),)),
        },
        dates={"authoredon": DateColumns("time")},
    ),
    TableSpec(
        "service_request",
        "ServiceRequest",
        {
            "patient": "i4",
            "code": "i4",
            "system": "i4",
            "display": "i4",
            "time": "i8",
            "status": "i4",
            "intent": "i4",
            "priority": "i4",
            "occurrence": "i8",
            "note": "i4",
        },
        service_request_resource,
        tokens={
            "code": ColumnTokens("code", _coded(IMPLIED), has_texts=False, has_system=False),
            "status": ColumnTokens("status", _primitive),
            "intent": ColumnTokens("intent", _primitive),
            "priority": ColumnTokens("priority", _primitive),
        },
        dates={"authored": DateColumns("time"), "occurrence": DateColumns("occurrence")},
    ),
)
