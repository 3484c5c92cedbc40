"""What a policy may ask of a patient or of a request: the leaves of a criteria tree.

A criterion holds parameters and no sentence. Its text, its question, its evidence items, the facts
that are planted for it and how they are read are all made from the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from healthgym.worlds.managed_care.facts import StopReason
from healthgym.worlds.managed_care.policies.keeping import Keeping
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    ItemOperator,
    PlaceOfService,
    RollUp,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion(Keeping):
    """A requirement that is not divided further.

    Attributes:
        id: Unique within the policy, such as ``C3``.
        display: What it is about, as a term of the page: ``hemoglobin A1c``.
        roll_up: How the results of its items make its result. `RollUp.ANY_NOT_MET` lets silence
            pass: what nobody wrote about counts as met.
        documented_in: Kinds of documents that usually show it; empty takes those of its kind.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: str
    display: str
    roll_up: RollUp = RollUp.ALL_ITEMS
    documented_in: tuple[DocumentKind, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementCriterion(Criterion):
    """A measured value on the right side of a threshold.

    Attributes:
        code: LOINC code, or the code of a score as in `Measurement.code`.
        operator: ``lt``, ``lte``, ``gt`` or ``gte``.
        threshold: In ``unit``.
        unit: UCUM unit.
        months: How old a value may be; its day counts.
        recency: ``latest``: the newest value within the window decides; ``any``: one is enough.
    """

    kind: Literal["measurement"] = "measurement"
    code: str
    operator: ItemOperator
    threshold: float
    unit: str
    months: int
    recency: Literal["latest", "any"] = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCriterion(Criterion):
    """Enough measured values on different days on the right side of a threshold.

    Attributes:
        code: LOINC code.
        operator: ``lt``, ``lte``, ``gt`` or ``gte``.
        threshold: In ``unit``.
        unit: UCUM unit.
        minimum: How many days.
        months: How old they may be.
    """

    kind: Literal["count"] = "count"
    code: str
    operator: ItemOperator
    threshold: float
    unit: str
    minimum: int
    months: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTherapyCriterion(Criterion):
    """Other medicines tried first, for long enough, and stopped for a good reason.

    ``display`` names the class. A course counts if its medicine is listed, and it was stopped for
    an accepted reason after ``weeks``, or at any time for one of ``early``.

    Attributes:
        drug_class: As in `MedicationCourse.drug_class`.
        drugs: Generic names that count.
        excluded: Generic names of the class that do not.
        agents: How many different medicines.
        weeks: How long each must have been taken.
        reasons: Accepted reasons for stopping.
        early: Reasons that make a shorter course count.
    """

    kind: Literal["step_therapy"] = "step_therapy"
    drug_class: str
    drugs: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    agents: int = 1
    weeks: int
    reasons: tuple[StopReason, ...]
    early: tuple[StopReason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContraindicationCriterion(Criterion):
    """A reason never to give something is on record, or is not.

    Attributes:
        substances: Generic names or drug classes, as in `Intolerance.substance`.
        wanted: Whether the contraindication must be there, or must not.
    """

    kind: Literal["contraindication"] = "contraindication"
    substances: tuple[str, ...]
    wanted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCriterion(Criterion):
    """Something seen, and how bad it was.

    Attributes:
        key: As in `Finding.key`.
        scale: Values it can take, from least to worst. Other values decide nothing.
        accepted: Those that meet the criterion.
        months: How old the finding may be; None for any age.
    """

    kind: Literal["finding"] = "finding"
    key: str
    scale: tuple[str, ...] = ("absent", "present")
    accepted: tuple[str, ...] = ("present",)
    months: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisCriterion(Criterion):
    """A condition within a set of codes is on the problem list, or is not.

    Attributes:
        prefixes: ICD-10-CM codes or their beginnings.
        examples: Complete codes that begin so.
        near: A code of the same category that does not; empty for none.
        wanted: Whether an active one must be there, or must not.
    """

    kind: Literal["diagnosis"] = "diagnosis"
    prefixes: tuple[str, ...]
    examples: tuple[str, ...]
    near: str = ""
    wanted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TherapyCriterion(Criterion):
    """A treatment without medicines, for long enough.

    Attributes:
        therapy: As in `TherapyCourse.kind`.
        sessions: Sessions attended within the window, or nights; 0 asks for none.
        weeks: Length of the longest course; 0 asks for none.
        months: A course counts if it went on within this many months.
    """

    kind: Literal["therapy"] = "therapy"
    therapy: str
    sessions: int = 0
    weeks: int = 0
    months: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureCriterion(Criterion):
    """A procedure was done within a time, or was not.

    Attributes:
        codes: CPT or HCPCS codes.
        months: The time.
        wanted: Whether it must have been done, or must not.
    """

    kind: Literal["procedure"] = "procedure"
    codes: tuple[str, ...]
    months: int
    wanted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteCriterion(Criterion):
    """The service is asked for at an accepted place.

    Attributes:
        sites: Accepted places of service.
    """

    kind: Literal["site"] = "site"
    sites: tuple[PlaceOfService, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantityCriterion(Criterion):
    """No more is asked for than a limit.

    Attributes:
        maximum: Most that may be asked for in one request.
        unit: What is counted, in the plural: ``visits``.
    """

    kind: Literal["quantity"] = "quantity"
    maximum: int
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeCriterion(Criterion):
    """The patient's age on the day of review.

    Attributes:
        minimum: Youngest age in completed years; 0 for none.
        maximum: Oldest age in completed years; 120 for none.
    """

    kind: Literal["age"] = "age"
    minimum: int = 0
    maximum: int = 120


AnyCriterion = (
    MeasurementCriterion
    | CountCriterion
    | StepTherapyCriterion
    | ContraindicationCriterion
    | FindingCriterion
    | DiagnosisCriterion
    | TherapyCriterion
    | ProcedureCriterion
    | SiteCriterion
    | QuantityCriterion
    | AgeCriterion
)

#: Criteria that are read from the request and the roster, not from the chart.
REQUEST_KINDS = (SiteCriterion, QuantityCriterion, AgeCriterion)
