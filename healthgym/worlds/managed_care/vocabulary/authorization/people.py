"""Who takes part, and in which role."""

from __future__ import annotations

from enum import StrEnum


class OrganizationKind(StrEnum):
    """Which side an organization is on."""

    PROVIDER = "provider"
    PAYER = "payer"


class PayerMode(StrEnum):
    """Who decides for the payer."""

    #: A rule engine, at once.
    AUTO = "auto"
    #: An agent, through the payer's tools.
    AGENT = "agent"
    #: Treated like an agent almost everywhere.
    HYBRID = "hybrid"


class TaskActor(StrEnum):
    """Role that a task is given to."""

    PROVIDER = "provider"
    PAYER = "payer"
    CARE_MANAGER = "care_manager"


class PayerRole(StrEnum):
    """Role of a payer's worker."""

    INTAKE_COORDINATOR = "intake_coordinator"
    UM_NURSE = "um_nurse"
    PHYSICIAN_REVIEWER = "physician_reviewer"
    APPEALS_MEDICAL_DIRECTOR = "appeals_medical_director"
    EXTERNAL_REVIEW_COORDINATOR = "external_review_coordinator"
