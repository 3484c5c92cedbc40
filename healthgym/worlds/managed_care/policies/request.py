"""What is asked for, apart from what is true of the patient."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    UploadableDocumentKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A service asked for, with what roster and coverage say.

    Attributes:
        procedure_code: CPT or HCPCS code.
        diagnosis_codes: ICD-10-CM codes given as the reason.
        site: Where it is to be done.
        quantity: How much of it, in the policy's unit; None if the request does not say.
        age: The patient's age in completed years.
        sex: ``female`` or ``male``.
        coverage_active: Whether the patient is insured on the day.
        in_network: Whether the provider is in the plan's network.
        documents: Kinds of documents at hand; None if they are not to be looked at.
    """

    procedure_code: str
    diagnosis_codes: tuple[str, ...]
    site: PlaceOfService
    quantity: float | None = None
    age: int
    sex: str
    coverage_active: bool = True
    in_network: bool = True
    documents: tuple[UploadableDocumentKind, ...] | None = None
