"""Several beginnings as one: cases that were drawn apart, in the offices of one world."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.desk_plan import DeskPlan
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.provider_plan import ProviderPlan
from healthgym.worlds.managed_care.start import WorldStart

Value = TypeVar("Value")


def _about(record: object) -> str:
    """Return the case that a record is of, or is; of what is no case's, its own id."""
    name: str | None = getattr(record, "case_id", None) or getattr(record, "id", None)
    return name or ""


def patients_of(records: Iterable[object]) -> Mapping[str, str]:
    """Return whom each case is about that is among some records, by case id."""
    found: dict[str, str] = {}
    for record in records:
        patient = getattr(record, "patient_id", None)
        if patient and _about(record):
            found[_about(record)] = patient
    return found


def confined(start: WorldStart, patients: Collection[str]) -> WorldStart:
    """Return a beginning in which nobody else has a chart, a case or a referral.

    Args:
        start: The beginning.
        patients: Ids of those who stay.
    """
    whose = patients_of(start.records)

    def stays(record: object) -> bool:
        patient: str | None = getattr(record, "patient_id", None)
        return (patient or whose.get(_about(record), "")) in patients

    return replace(
        start,
        charts=ChartLibrary([c for name, c in start.charts.items() if name in patients]),
        records=tuple(filter(stays, start.records)),
        history=tuple(e for e in start.history if whose.get(e.case_id, "") in patients),
    )


def merged(
    starts: Sequence[WorldStart],
    *,
    handbook: Library,
    policies: PolicyBook | None = None,
    counters: Mapping[str, int] | None = None,
) -> WorldStart:
    """Return the beginning of a world in which all of some beginnings lie side by side.

    It begins when the last of them does. Of somebody who has a chart in several the first one
    counts, with the cases that are there; who a case is about has to come before who stands
    around it.

    Args:
        starts: The beginnings: of the same offices, under the same rules and numbers, with records
            whose ids differ.
        handbook: The one handbook, with the pages of all.
        policies: The one library of policies; None where there is none.
        counters: First numbers of identifiers, by prefix; after the last of any if None.

    Raises:
        ConfigurationError: If the offices differ, or two records have one id.
    """
    first = starts[0]
    for name in ("provider", "payer", "staff", "rules", "operations", "payer_mode"):
        if any(getattr(each, name) != getattr(first, name) for each in starts):
            raise ConfigurationError(f"Beginnings that differ in {name} cannot lie side by side.")
    charts: dict[str, PatientChart] = {}
    for each in starts:
        charts |= {name: chart for name, chart in each.charts.items() if name not in charts}
    records = tuple(chain.from_iterable(each.records for each in starts))
    _require_apart(records)
    entries = sorted(chain.from_iterable(each.history for each in starts), key=lambda e: e.at)
    return replace(
        first,
        now=max(each.now for each in starts),
        charts=ChartLibrary(charts.values()),
        records=records,
        history=tuple(_numbered(entries)),
        contracts=_joined(each.contracts for each in starts),
        voices=_joined(each.voices for each in starts),
        counters=counters or _highest(each.counters for each in starts),
        handbook=handbook,
        policies=policies,
        desk=_desk([each.desk for each in starts if each.desk], policies),
        provider_desk=_practice([each.provider_desk for each in starts if each.provider_desk]),
    )


def _desk(plans: Sequence[DeskPlan], policies: PolicyBook | None) -> DeskPlan | None:
    if not plans:
        return None
    return replace(
        plans[0],
        policies=policies or plans[0].policies,
        on_request=_joined(plan.on_request for plan in plans),
        misread=_joined(plan.misread for plan in plans),
        stubborn=frozenset().union(*(plan.stubborn for plan in plans)),
        calls=_joined(plan.calls for plan in plans),
    )


def _practice(plans: Sequence[ProviderPlan]) -> ProviderPlan | None:
    if not plans:
        return None
    return replace(
        plans[0],
        answers=_joined(plan.answers for plan in plans),
        slot_rules=_joined(plan.slot_rules for plan in plans),
        appeals=frozenset().union(*(plan.appeals for plan in plans)),
    )


def _joined(parts: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for part in parts:
        both = found.keys() & part.keys()
        if both:
            raise ConfigurationError(f"Two beginnings say what holds for {min(both)}.")
        found |= part
    return found


def _highest(counters: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in counters:
        found |= {name: max(number, found.get(name, 1)) for name, number in each.items()}
    return found


def _numbered(entries: Iterable[Entry]) -> Iterator[Entry]:
    for number, entry in enumerate(entries, 1):
        yield entry if entry.number == number else replace(entry, number=number)


def _require_apart(records: Iterable[object]) -> None:
    """Refuse records of one kind of which two have one id."""
    known: set[tuple[str, str]] = set()
    for record in records:
        kind = type(record).__qualname__
        name = str(getattr(record, "id", "") or _about(record))
        key = (kind, name)
        if key in known:
            raise ConfigurationError(f"Two records of the kind {kind} have the id {name}.")
        known.add(key)
