"""What a case is about, and what a background therefore must not speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import filterfalse

from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.tree import Node, criteria

#: LOINC codes that say the same by calculation: with the height, a weight is a body mass index.
_CALCULATED = {"39156-5": ("29463-7",), "29463-7": ("39156-5",)}


_DONE = (Measurement, ProcedureDone)
_CENTRAL = (Diagnosis, MedicationCourse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """What a case is about, and a background must keep silent on.

    Attributes:
        codes: Codes of diagnoses, measures and procedures; a diagnosis is touched by the
            beginning of its code, too, so that ``M17`` touches ``M17.11``.
        keys: Keys of findings and kinds of therapies; their beginnings count.
        classes: Drug classes and generic names of medicines, for courses and intolerances.
    """

    codes: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()

    def touching(self) -> Callable[[AnyFact], bool]:
        """Return what tells whether a fact is about one of these."""
        codes, classes = self.codes, self.classes
        openings, keys = tuple(codes), tuple(self.keys)

        def touch(fact: AnyFact) -> bool:
            # The most frequent kinds first: a chart has hundreds of facts.
            if isinstance(fact, _DONE):
                return fact.code in codes
            if isinstance(fact, MedicationCourse):
                return fact.drug_class in classes or fact.medication in classes
            if isinstance(fact, Diagnosis):
                return fact.code.startswith(openings)
            if isinstance(fact, Intolerance):
                return fact.substance in classes
            key = fact.key if isinstance(fact, Finding) else fact.kind
            return key.startswith(keys)

        return touch

    def __or__(self, other: Subjects) -> Subjects:
        return Subjects(
            codes=self.codes | other.codes,
            keys=self.keys | other.keys,
            classes=self.classes | other.classes,
        )


def subjects_of(facts: Iterable[AnyFact]) -> Subjects:
    """Return what facts are about: their codes, keys and kinds, drug classes and substances."""
    codes: set[str] = set()
    keys: set[str] = set()
    classes: set[str] = set()
    for fact in facts:
        if isinstance(fact, Diagnosis | Measurement | ProcedureDone):
            codes.update((fact.code, *_CALCULATED.get(fact.code, ())))
        elif isinstance(fact, MedicationCourse):
            classes.update((fact.drug_class, fact.medication))
        elif isinstance(fact, Intolerance):
            classes.add(fact.substance)
        else:
            keys.add(fact.key if isinstance(fact, Finding) else fact.kind)
    return Subjects(codes=frozenset(codes), keys=frozenset(keys), classes=frozenset(classes))


def without(facts: Iterable[AnyFact], subjects: Subjects) -> tuple[AnyFact, ...]:
    """Return the facts that touch none of the subjects."""
    return tuple(filterfalse(subjects.touching(), facts))


def quiet(diseases: Mapping[str, tuple[AnyFact, ...]], subjects: Subjects) -> tuple[AnyFact, ...]:
    """Return the facts of diseases that have nothing to do with the subjects.

    A disease is left out as a whole if its diagnosis or one of its medicines is touched: its
    treatment without it, or it without its treatment, would be odd. Of the others, and of the
    body, only the facts that are touched.

    Args:
        diseases: A background's facts by disease.
        subjects: What the case is about.
    """
    kept: list[AnyFact] = []
    touch = subjects.touching()
    for facts in diseases.values():
        central = (x for x in facts if isinstance(x, _CENTRAL))
        if not any(map(touch, central)):
            kept += filterfalse(touch, facts)
    return tuple(kept)


@kept
def asked_of(tree: Node) -> Subjects:
    """Return what the criteria of a policy ask for; no other fact changes what is found of them."""
    return subjects_of_criteria(criteria(tree))


def subjects_of_criteria(asked: Iterable[AnyCriterion]) -> Subjects:
    """Return what criteria ask for: whatever could make one of them true or false."""
    codes: set[str] = set()
    keys: set[str] = set()
    classes: set[str] = set()
    for each in asked:
        match each:
            case MeasurementCriterion() | CountCriterion():
                codes.update((each.code, *_CALCULATED.get(each.code, ())))
            case DiagnosisCriterion():
                # A neighbor in the category makes the criterion insufficient rather than absent.
                codes.update(code[:3] for code in (*each.prefixes, each.near) if code)
            case ProcedureCriterion():
                codes.update(each.codes)
            case StepTherapyCriterion():
                classes.update((each.drug_class, *each.drugs, *each.excluded))
            case ContraindicationCriterion():
                classes.update(each.substances)
            case FindingCriterion():
                keys.add(each.key)
            case TherapyCriterion():
                keys.add(each.therapy)
            case _:
                pass  # asked of the request, not of the chart
    return Subjects(codes=frozenset(codes), keys=frozenset(keys), classes=frozenset(classes))
