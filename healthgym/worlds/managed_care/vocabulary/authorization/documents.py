"""Documents, letters and messages, and the ways they travel."""

from __future__ import annotations

from enum import StrEnum


class SubmissionChannel(StrEnum):
    """Way in which a request reaches the payer, and a letter the office."""

    PORTAL = "portal"
    API = "api"
    FAX = "fax"
    EDI = "edi"
    #: Listed, but refused for submission and status.
    FHIR = "fhir"
    PHONE = "phone"


class UploadableDocumentKind(StrEnum):
    """Kind of document that the office can put into a packet."""

    CHART_NOTE = "chart_note"
    PROGRESS_NOTE = "progress_note"
    IMAGING_REPORT = "imaging_report"
    LAB_SUMMARY = "lab_summary"
    LAB_RESULT = "lab_result"
    QUESTIONNAIRE_FORM = "questionnaire_form"
    LETTER_OF_MEDICAL_NECESSITY = "letter_of_medical_necessity"
    OTHER = "other"


class DocumentKind(StrEnum):
    """Kind of document in a chart or a case."""

    CHART_NOTE = "chart_note"
    PROGRESS_NOTE = "progress_note"
    IMAGING_REPORT = "imaging_report"
    LAB_SUMMARY = "lab_summary"
    LAB_RESULT = "lab_result"
    QUESTIONNAIRE_FORM = "questionnaire_form"
    LETTER_OF_MEDICAL_NECESSITY = "letter_of_medical_necessity"
    OTHER = "other"
    #: The assembled packet itself.
    SUBMISSION_BUNDLE = "submission_bundle"
    DISCHARGE_SUMMARY = "discharge_summary"
    SPECIALIST_CONSULT_NOTE = "specialist_consult_note"
    PCP_FOLLOW_UP_NOTE = "pcp_follow_up_note"
    SOCIAL_WORK_ASSESSMENT = "social_work_assessment"
    BEHAVIORAL_HEALTH_NOTE = "behavioral_health_note"


class LetterType(StrEnum):
    """Kind of letter to the office."""

    APPROVAL = "approval"
    PARTIAL_APPROVAL = "partial_approval"
    DENIAL = "denial"
    PEND = "pend"
    APPEAL_UPHELD = "appeal_upheld"
    APPEAL_OVERTURNED = "appeal_overturned"
    EXTERNAL_APPEAL_UPHELD = "external_appeal_upheld"
    EXTERNAL_APPEAL_OVERTURNED = "external_appeal_overturned"


class MemberNotification(StrEnum):
    """Kind of notice to the member."""

    APPROVAL = "approval"
    DENIAL = "denial"
    PEND = "pend"
    APPEAL_RIGHTS = "appeal_rights"
    APPEAL_OUTCOME = "appeal_outcome"


class MessageKind(StrEnum):
    """Sort of message between the sides, or inside of one."""

    PEND_REQUEST = "pend_request"
    PEER_TO_PEER = "peer_to_peer"
    MEMBER_NOTIFICATION = "member_notification"
    INTERNAL_NOTE = "internal_note"
    CALL_NOTE = "call_note"


class MessageBox(StrEnum):
    """Inbox that a message lies in."""

    PAYER = "payer"
    INTERNAL = "internal"


class WorkspaceArtifactScope(StrEnum):
    """Who sees a file of the workspace."""

    PAYER = "payer"
    PROVIDER = "provider"
    SHARED = "shared"
