"""Criteria, and how a chart stands to them."""

from __future__ import annotations

from enum import StrEnum


class Posture(StrEnum):
    """How the chart stands to a criterion."""

    SATISFIED = "satisfied"
    #: Something is there, but not enough.
    INSUFFICIENT = "insufficient"
    CONTRADICTS = "contradicts"
    #: Nothing is there.
    ABSENT = "absent"


class CriterionResult(StrEnum):
    """Whether the record shows that a criterion is met."""

    MET = "met"
    NOT_MET = "not_met"
    #: The record does not say.
    UNCLEAR = "unclear"


class RollUp(StrEnum):
    """How the findings on a criterion's items make its result."""

    #: Met if all items are met.
    ALL_ITEMS = "all_items"
    #: Not met if any item is not met; an unclear one counts as met.
    ANY_NOT_MET = "any_not_met"
    #: Not met if any item is unclear or not met.
    ANY_UNCLEAR_OR_NOT_MET = "any_unclear_or_not_met"


class ItemMode(StrEnum):
    """How a value found in the record is compared with the policy's."""

    SCALAR = "scalar"
    ENUM = "enum"
    BOOLEAN = "boolean"
    SET = "set"
    #: Whether there is any value.
    PRESENCE = "presence"
    #: No value, only the reviewer's result.
    RESULT_ONLY = "result_only"


class ItemOperator(StrEnum):
    """Comparison of a value with a threshold."""

    EQ = "eq"
    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    PRESENT = "present"
    ABSENT = "absent"
