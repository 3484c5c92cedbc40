"""What a package or a submission is expected to hold."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from healthgym.envs.managed_care.checks.care_expectation import STRICT
from healthgym.worlds.managed_care.records.intake import IntakeProviderInfo
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ExpectedDocument:
    """A document that a submission must hold.

    Attributes:
        kind: Its kind.
        title: Its title; None for any.
        content: Its text; None for any.
        source_slot: The slot of the chart that it comes from; empty for one that the office wrote.
        role: What it is in the submission; empty for nothing in particular.
    """

    kind: DocumentKind
    title: str | None = None
    content: str | None = None
    source_slot: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CoverageExpectation:
    """The coverage that the request must name."""

    payer_name: str
    plan_name: str
    member_number: str
    group_number: str | None = None
    network_status: str = "in_network"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ExactOrder:
    """The order to the letter, apart from diagnoses, which may be more than the anchors."""

    service_type: str
    procedure_code: str
    description: str
    site_of_service: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class LineExpectation:
    """The first line of the request."""

    line_number: int = 1
    service_type: str | None = None
    line_type: str = "procedure"
    place_of_service: str | None = None
    requested_units: int | None = None
    same_as_requesting_provider: bool = False
    procedure_code: str
    procedure_name: str | None = None
    servicing_npi: str | None = None
    servicing_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SubmissionExpectation:
    """What a package or a submission must hold, under the contracts before the public one.

    Attributes:
        coverage: The coverage it names.
        service_request: The order it is for.
        requesting_provider: Who asks.
        anchor_diagnosis_codes: Diagnoses it must have at least.
        diagnosis_codes: Its diagnoses exactly, where there are no anchors.
        line: Its first line.
        documents: Documents it must hold.
        required_source_slots: Slots of the chart that its documents must cover.
        attach_document_kinds: Kinds of the attached documents exactly, as often as given.
        questionnaire_answers: Answers it must have, as key and answer.
        artifact_types: Sorts of artifacts that must be there.
        audit_actions: Actions that must be in the log.
    """

    coverage: CoverageExpectation | None = None
    service_request: ExactOrder | None = None
    requesting_provider: IntakeProviderInfo | None = None
    anchor_diagnosis_codes: tuple[str, ...] = ()
    diagnosis_codes: tuple[str, ...] = ()
    line: LineExpectation | None = None
    documents: tuple[ExpectedDocument, ...] = ()
    required_source_slots: tuple[str, ...] = ()
    attach_document_kinds: tuple[DocumentKind, ...] = ()
    questionnaire_answers: tuple[tuple[str, str], ...] = ()
    artifact_types: tuple[str, ...] = ()
    audit_actions: tuple[str, ...] = ()
