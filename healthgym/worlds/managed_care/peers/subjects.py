"""What a criterion is about, in the words that people have for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from healthgym.worlds.managed_care.contracts import PeerSubject
from healthgym.worlds.managed_care.peers.words import stems
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.units import printed

#: Units that say nothing of what is measured.
_COMMON = frozenset({"%", "points", "in number", "cm", "mm", "kg", "lb", "mg", "days", "m"})


def subjects_of(criteria: Iterable[AnyCriterion]) -> tuple[PeerSubject, ...]:
    """Return the subjects of a policy's criteria, each with the terms that raise it.

    Args:
        criteria: The criteria of one policy.
    """
    listed = tuple(criteria)
    units = [_unit(item) for item in listed]
    return tuple(
        PeerSubject(
            id=item.id,
            title=titled(item),
            terms=tuple(
                dict.fromkeys([*_terms(item), *([unit] if unit and units.count(unit) == 1 else [])])
            ),
            again=isinstance(item, ProcedureCriterion) and not item.wanted,
        )
        for item, unit in zip(listed, units, strict=True)
    )


def titled(item: AnyCriterion) -> str:
    """Return what a criterion is called in a sentence: of a limit, what is counted."""
    return f"the number of {item.unit}" if isinstance(item, QuantityCriterion) else item.display


def _terms(item: AnyCriterion) -> Iterator[str]:
    yield item.display
    yield from spoken().get(item.display, ())
    match item:
        case StepTherapyCriterion():
            yield from (*item.drugs, *item.excluded, item.drug_class.replace("_", " "))
        case ContraindicationCriterion():
            yield from (name.replace("_", " ") for name in item.substances)
        case DiagnosisCriterion():
            yield from (*item.examples, *(code for code in item.prefixes if len(code) > 2))
        case ProcedureCriterion():
            yield from item.codes
        case QuantityCriterion():
            yield from (f"how many {item.unit}", f"number of {item.unit}", "quantity", "units")
        case MeasurementCriterion() | CountCriterion():
            yield item.code.lower()


def _unit(item: AnyCriterion) -> str:
    """Return a unit by which a measurement is known; empty for a common one."""
    if not isinstance(item, MeasurementCriterion | CountCriterion):
        return ""
    unit = printed(item.unit)
    return "" if unit in _COMMON or not stems(unit) else unit


@cache
def spoken() -> Mapping[str, tuple[str, ...]]:
    """Return what clinicians call the terms of policy pages."""
    read: Mapping[str, list[str]] = json.loads(
        (files(__package__) / "data" / "subjects.json").read_text("utf-8")
    )
    return {display: tuple(terms) for display, terms in read.items()}
