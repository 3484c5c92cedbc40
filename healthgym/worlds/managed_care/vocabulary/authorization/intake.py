"""Intake and triage at the payer."""

from __future__ import annotations

from enum import StrEnum


class IntakeStatus(StrEnum):
    """How far data entry of a request has come."""

    NEW = "new"
    IN_PROGRESS = "in_progress"
    COMPLETE = "complete"


class RequestSource(StrEnum):
    """Where a request came from, as intake notes it."""

    FAX = "fax"
    PHONE = "phone"
    PORTAL = "portal"
    EDI = "edi"
    MAIL = "mail"
    EMAIL = "email"


class RequestMethod(StrEnum):
    """How a request was received, as intake notes it."""

    FAX = "fax"
    PHONE = "phone"
    PORTAL = "portal"
    EDI = "edi"
    EMAIL = "email"
    MAIL = "mail"


class UrgencyLevel(StrEnum):
    """Urgency of a request, as intake notes it."""

    STANDARD = "standard"
    URGENT = "urgent"
    EMERGENT = "emergent"
    #: The service has been given already.
    RETROSPECTIVE = "retrospective"


class DiagnosisType(StrEnum):
    """Whether a request is medical or behavioral."""

    MEDICAL = "medical"
    BEHAVIORAL = "behavioral"


class ProviderNetworkStatus(StrEnum):
    """Standing of a provider with the plan."""

    IN_NETWORK = "in_network"
    OUT_OF_NETWORK = "out_of_network"
    NOT_FOUND = "not_found"


class CoverageStatus(StrEnum):
    """Whether a member is covered."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    NOT_FOUND = "not_found"


class TriageUrgency(StrEnum):
    """How fast a request must be decided, as triage judges it."""

    STAT = "stat"
    URGENT = "urgent"
    ROUTINE = "routine"


class TriageDisposition(StrEnum):
    """Who reviews a request after triage."""

    AUTO_APPROVAL = "auto_approval"
    NURSE_REVIEW = "nurse_review"
    MD_REVIEW = "md_review"


class PayerRouteTarget(StrEnum):
    """Lane of review that a request is sent down."""

    STANDARD_UM = "standard_um"
    #: An entity that reviews on the plan's behalf.
    DELEGATE = "delegate"
    SPECIALTY_PROGRAM = "specialty_program"
    #: Approved without review, for trusted providers.
    GOLD_CARD_LANE = "gold_card_lane"
    #: Approved without review, since telling the payer is enough.
    NOTIFICATION_ONLY_LANE = "notification_only_lane"
    EXTERNAL_VENDOR = "external_vendor"
