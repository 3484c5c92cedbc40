"""The evidence items of a criterion: what a reviewer looks up, and against which threshold."""

from __future__ import annotations

from collections.abc import Sequence

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    SiteCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.units import printed
from healthgym.worlds.managed_care.records.review import ClinicalEvidenceItemTemplate
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    ItemMode,
    ItemOperator,
    RollUp,
)

Items = tuple[ClinicalEvidenceItemTemplate, ...]


@kept
def evidence_items(criterion: AnyCriterion) -> Items:
    """Return the items of a criterion; their ids begin with the criterion's."""
    match criterion:
        case MeasurementCriterion():
            return (_measured(criterion),)
        case CountCriterion():
            return (_counted(criterion),)
        case StepTherapyCriterion():
            return _tried_drugs(criterion)
        case TherapyCriterion():
            return _tried_therapy(criterion)
        case FindingCriterion():
            return (_seen(criterion),)
        case AgeCriterion():
            return _age(criterion)
        case QuantityCriterion():
            label = f"{criterion.display}: {criterion.unit} requested"
            return (
                _scalar(criterion, "quantity", label, "lte", criterion.maximum, criterion.unit),
            )
        case SiteCriterion():
            names = " or ".join(site.value for site in criterion.sites)
            return (_truth(criterion, "site", f"Requested site is {names}", True),)
        case ContraindicationCriterion() | DiagnosisCriterion():
            return (_on_record(criterion, "", criterion.wanted),)
        case ProcedureCriterion():
            return (
                _on_record(
                    criterion, f" in the last {_months(criterion.months)}", criterion.wanted
                ),
            )


def item_result(item: ClinicalEvidenceItemTemplate, value: Json | None) -> CriterionResult:
    """Return what a value says of an item; nothing observed leaves it unclear."""
    if value is None:
        return CriterionResult.UNCLEAR
    expected = item.threshold_value
    match item.operator:
        case ItemOperator.GTE:
            met = value >= expected
        case ItemOperator.GT:
            met = value > expected
        case ItemOperator.LTE:
            met = value <= expected
        case ItemOperator.LT:
            met = value < expected
        case ItemOperator.PRESENT:
            met = value is True
        case _:
            met = value == expected
    return CriterionResult.MET if met else CriterionResult.NOT_MET


def roll_up(rule: RollUp, results: Sequence[CriterionResult]) -> CriterionResult:
    """Return a criterion's result from those of its items, by the published rules."""
    if CriterionResult.NOT_MET in results:
        return CriterionResult.NOT_MET
    if rule is RollUp.ANY_NOT_MET:
        return CriterionResult.MET
    if CriterionResult.UNCLEAR in results or (rule is RollUp.ALL_ITEMS and not results):
        return CriterionResult.UNCLEAR
    return CriterionResult.MET


def _months(count: int) -> str:
    return "1 month" if count == 1 else f"{count} months"


def _scalar(
    criterion: AnyCriterion, name: str, label: str, operator: str, threshold: float, unit: str
) -> ClinicalEvidenceItemTemplate:
    return ClinicalEvidenceItemTemplate(
        item_id=f"{criterion.id}.{name}",
        label=label,
        comparison_mode=ItemMode.SCALAR,
        operator=ItemOperator(operator),
        threshold_value=threshold,
        threshold_unit=unit,
    )


def _truth(
    criterion: AnyCriterion, name: str, label: str, expected: bool
) -> ClinicalEvidenceItemTemplate:
    return ClinicalEvidenceItemTemplate(
        item_id=f"{criterion.id}.{name}",
        label=label,
        comparison_mode=ItemMode.BOOLEAN,
        operator=ItemOperator.EQ,
        threshold_value=expected,
    )


def _on_record(criterion: AnyCriterion, when: str, wanted: bool) -> ClinicalEvidenceItemTemplate:
    label = f"On record{when}: {criterion.display}"
    if not wanted:
        return _truth(criterion, "record", label, False)
    return ClinicalEvidenceItemTemplate(
        item_id=f"{criterion.id}.record",
        label=label,
        comparison_mode=ItemMode.PRESENCE,
        operator=ItemOperator.PRESENT,
        threshold_value=True,
    )


def _measured(criterion: MeasurementCriterion) -> ClinicalEvidenceItemTemplate:
    which = "Latest" if criterion.recency == "latest" else "Any"
    label = f"{which} {criterion.display} of the last {_months(criterion.months)}"
    operator = criterion.operator
    return _scalar(criterion, "value", label, operator, criterion.threshold, criterion.unit)


def _counted(criterion: CountCriterion) -> ClinicalEvidenceItemTemplate:
    bound = f"{criterion.operator} {criterion.threshold:g} {printed(criterion.unit)}"
    label = f"Days with {criterion.display} {bound} in the last {_months(criterion.months)}"
    return _scalar(criterion, "days", label, "gte", criterion.minimum, "days")


def _tried_drugs(criterion: StepTherapyCriterion) -> Items:
    label = (
        f"Different {criterion.display} tried for {criterion.weeks} weeks and stopped as allowed"
    )
    items = [
        _scalar(criterion, "agents", label, "gte", criterion.agents, "agents"),
        _truth(criterion, "reason", f"{criterion.display}: reason for stopping is accepted", True),
    ]
    # Where a reason makes a shorter course count, its length alone decides nothing.
    if not criterion.early:
        weeks = f"{criterion.display}: weeks of each trial"
        items.append(_scalar(criterion, "weeks", weeks, "gte", criterion.weeks, "weeks"))
    return tuple(items)


def _tried_therapy(criterion: TherapyCriterion) -> Items:
    when = f"in the last {_months(criterion.months)}"
    items = []
    if criterion.sessions:
        label = f"{criterion.display}: sessions attended {when}"
        items.append(_scalar(criterion, "sessions", label, "gte", criterion.sessions, "sessions"))
    if criterion.weeks:
        label = f"{criterion.display}: weeks of the longest course {when}"
        items.append(_scalar(criterion, "weeks", label, "gte", criterion.weeks, "weeks"))
    return tuple(items)


def _seen(criterion: FindingCriterion) -> ClinicalEvidenceItemTemplate:
    when = f" of the last {_months(criterion.months)}" if criterion.months else ""
    if len(criterion.accepted) > 1 or criterion.scale == ("absent", "present"):
        words = " or ".join(criterion.accepted)
        expected = f"{criterion.display}{when} is {words}"
        return _truth(criterion, "finding", expected, True)
    return ClinicalEvidenceItemTemplate(
        item_id=f"{criterion.id}.finding",
        label=f"{criterion.display}{when}",
        comparison_mode=ItemMode.ENUM,
        operator=ItemOperator.EQ,
        threshold_value=criterion.accepted[0],
    )


def _age(criterion: AgeCriterion) -> Items:
    items = []
    if criterion.minimum:
        items.append(_scalar(criterion, "minimum", "Age", "gte", criterion.minimum, "years"))
    if criterion.maximum < 120:
        items.append(_scalar(criterion, "maximum", "Age", "lte", criterion.maximum, "years"))
    return tuple(items)
