"""Whether a policy contradicts itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
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
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import AtLeast, Group, parts, walk
from healthgym.worlds.managed_care.policies.units import printed_units
from healthgym.worlds.managed_care.vocabulary.authorization import ItemOperator, RollUp

_ORDERED = (ItemOperator.LT, ItemOperator.LTE, ItemOperator.GT, ItemOperator.GTE)


def contradiction(policy: Policy) -> str:
    """Return the first thing in a policy that cannot be, with its place; empty if there is none."""
    return next(_problems(policy), "")


def _problems(policy: Policy) -> Iterator[str]:
    if policy.terminated is not None and policy.terminated < policy.effective:
        yield f"terminated: {policy.terminated} is before effective {policy.effective}."
    for name in ("procedures", "diagnosis_prefixes", "sites", "plans"):
        if not getattr(policy, name):
            yield f"{name}: at least one is needed."
    if policy.lanes.notification_only and policy.lanes.gold_card:
        yield "lanes: notification_only and gold_card exclude each other."
    nodes = list(walk(policy.criteria))
    repeated = [name for name, count in Counter(node.id for node in nodes).items() if count > 1]
    if repeated:
        yield f"criteria: the id {repeated[0]} is used twice."
    terms: dict[str, AnyCriterion] = {}
    for node in nodes:
        if isinstance(node, Group):
            if not parts(node):
                yield f"criteria {node.id}: a group needs parts."
            if isinstance(node, AtLeast) and not 1 <= node.n <= len(node.parts):
                yield f"criteria {node.id}: n is {node.n} of {len(node.parts)} parts."
            continue
        for problem in faults(node):
            yield f"criteria {node.id}: {problem}"
        # A page defines each term once, so a term must mean the same wherever it stands.
        known = terms.setdefault(node.display, node)
        if type(known) is type(node) and meaning(known) != meaning(node):
            yield f"criteria {node.id}: {node.display!r} means something else in {known.id}."


def meaning(criterion: AnyCriterion) -> tuple[object, ...]:
    """Return what a criterion's term stands for, as the page's table of terms says it."""
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            return ("measurement", criterion.code)
        case StepTherapyCriterion():
            return ("class", criterion.drug_class, criterion.excluded)
        case TherapyCriterion():
            return ("therapy", criterion.therapy)
        case FindingCriterion():
            return ("finding", criterion.key, criterion.scale)
        case DiagnosisCriterion():
            return ("diagnosis", criterion.prefixes, criterion.examples, criterion.near)
        case ProcedureCriterion():
            return ("procedure", criterion.codes)
        case ContraindicationCriterion():
            return ("substance", criterion.substances)
    return ("request",)


def faults(criterion: AnyCriterion) -> Iterator[str]:
    """Yield what is wrong inside one criterion; what its page or other criteria say is not seen."""
    months = getattr(criterion, "months", None)
    if months is not None and months < 1:
        yield f"months is {months}; at least 1 is needed."
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            yield from _faults_of_measure(criterion)
        case StepTherapyCriterion():
            yield from _faults_of_steps(criterion)
        case TherapyCriterion() if not (criterion.sessions or criterion.weeks):
            yield "neither sessions nor weeks are asked for."
        case FindingCriterion():
            if not criterion.accepted or not set(criterion.accepted) < set(criterion.scale):
                yield "accepted must be some, but not all, values of the scale."
        case DiagnosisCriterion():
            yield from _faults_of_diagnosis(criterion)
        case AgeCriterion() if not criterion.minimum < criterion.maximum:
            yield f"minimum {criterion.minimum} and maximum {criterion.maximum} leave no age."
        case ProcedureCriterion() if not criterion.codes:
            yield "codes is empty."
    wanted, absent = getattr(criterion, "wanted", True), RollUp.ANY_NOT_MET
    if not wanted and criterion.roll_up is not absent:
        yield "what must not be there needs the roll-up any_not_met, or silence would fail it."
    if wanted and criterion.roll_up is absent:
        yield "the roll-up any_not_met would let silence satisfy what must be there."


def _faults_of_measure(criterion: MeasurementCriterion | CountCriterion) -> Iterator[str]:
    if criterion.unit not in printed_units():
        yield f"the unit {criterion.unit!r} is not in data/units.json."
    if criterion.operator not in _ORDERED:
        yield f"the operator {criterion.operator} does not order values."
    if isinstance(criterion, CountCriterion) and criterion.minimum < 2:
        yield "minimum is below 2; a measurement criterion says that."


def _faults_of_steps(criterion: StepTherapyCriterion) -> Iterator[str]:
    if not 1 <= criterion.agents <= len(criterion.drugs):
        yield f"{criterion.agents} agents of {len(criterion.drugs)} drugs."
    if not criterion.reasons:
        yield "reasons is empty."
    if set(criterion.drugs) & set(criterion.excluded):
        yield "a drug is both listed and excluded."


def _faults_of_diagnosis(criterion: DiagnosisCriterion) -> Iterator[str]:
    if not all(code.startswith(criterion.prefixes) for code in criterion.examples):
        yield "an example does not begin with a prefix."
    if not criterion.examples:
        yield "at least one example is needed."
    if criterion.near.startswith(criterion.prefixes):
        yield f"near is {criterion.near}, which a prefix covers."
    if criterion.near and criterion.near[:3] not in {code[:3] for code in criterion.prefixes}:
        yield f"near is {criterion.near}, which is of another category."
