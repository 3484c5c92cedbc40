"""Whether the package or the submission holds what it must: contracts 2 to 4 of the source.

None of the public tasks asks these, and no published run shows them. They follow the source's
one-line descriptions; where these leave something open, the stricter reading is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.normalize import place_of_service, service_type
from healthgym.envs.managed_care.checks.rule import Answer, Question, Rule, rule
from healthgym.envs.managed_care.checks.submission_expectation import (
    ExpectedDocument,
    LineExpectation,
    SubmissionExpectation,
)
from healthgym.worlds.managed_care.records.case import PriorAuthLine
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus

#: Slot of the chart that a document was taken from, how, and its role, in its provenance.
SLOT, SLOTS, RELATION, ROLE = "slot_key", "source_slot_keys", "derivation_relation", "role"
#: The relation of a document that is its source, word for word.
COPY = "copy"


def _expected(case: CaseFile) -> SubmissionExpectation:
    return case.expectation.submission or SubmissionExpectation()


def _bundle(case: CaseFile) -> DocumentReference | None:
    """Return the bundle that was sent, or else the newest."""
    named = case.packet.payload.get("bundle_document_id") if case.packet else None
    sent = [doc for doc in case.bundles if doc.id == named]
    found = sent or list(case.bundles)
    return found[-1] if found else None


def _bundled(case: CaseFile) -> tuple[DocumentReference, ...]:
    bundle = _bundle(case)
    return case.world.documents.included_in(bundle.id) if bundle else ()


def _own(case: CaseFile) -> tuple[DocumentReference, ...]:
    """Return what the office put on the case, bundles aside."""
    kept = case.of(case.world.documents.documents.values())
    return tuple(doc for doc in kept if doc not in case.bundles)


def _sent(case: CaseFile) -> tuple[DocumentReference, ...]:
    """Return what was attached, or else what the bundle holds: what the manifest names."""
    attached = set(case.packet.attached_document_ids) if case.packet else set()
    return tuple(doc for doc in case.documents if doc.id in attached) or _bundled(case)


# -- what is there -------------------------------------------------------------------------------


def _has_packet(case: CaseFile) -> Answer:
    return case.packet is not None


def _no_packet(case: CaseFile) -> Answer:
    return case.packet is None


def _has_case(case: CaseFile) -> Answer:
    return case.case is not None


def _ready(case: CaseFile) -> Answer:
    return None if case.case is None else case.case.status == CaseStatus.READY_TO_SUBMIT


def _has_bundle(case: CaseFile) -> Answer:
    return None if case.case is None else _bundle(case) is not None


def _has_manifest(case: CaseFile) -> Answer:
    return None if case.packet is None else bool(_sent(case))


def _has_package(case: CaseFile) -> Answer:
    return None if case.case is None else bool(case.bundles)


def _channel(case: CaseFile) -> Answer:
    if case.packet is None or case.case is None:
        return None
    return case.packet.channel == case.case.submission_channel


# -- whom and what it is for ---------------------------------------------------------------------


def _coverage(case: CaseFile) -> Answer:
    expected = _expected(case).coverage
    if expected is None or case.case is None:
        return None
    chart = case.world.charts.get(case.case.patient_id)
    return any(
        (one.payer_name, one.plan_name, one.member_number, one.group_number, one.network_status)
        == (
            expected.payer_name,
            expected.plan_name,
            expected.member_number,
            expected.group_number,
            expected.network_status,
        )
        for one in (chart.coverages if chart else ())
        if one.active
    )


def _order(case: CaseFile) -> Answer:
    expected, order = _expected(case).service_request, case.order
    if expected is None or order is None or case.case is None:
        return None
    exact = (order.service_type, order.procedure_code, order.description, order.site_of_service)
    return _codes_fit(case, order.diagnosis_codes) and exact == (
        expected.service_type,
        expected.procedure_code,
        expected.description,
        expected.site_of_service,
    )


def _provider(case: CaseFile) -> Answer:
    expected, order = _expected(case).requesting_provider, case.order
    if expected is None or order is None or case.case is None:
        return None
    one = case.world.staff.practitioners.get(order.ordering_practitioner_id)
    if one is None:
        return False
    specialty = (expected.provider_specialty or "").strip().lower()
    return (one.name, one.id, one.npi, case.world.start.provider.name, one.specialty.lower()) == (
        expected.provider_name,
        expected.provider_id,
        expected.npi,
        expected.provider_group_name,
        specialty,
    ) and _in_network(case) == expected.in_network


def _in_network(case: CaseFile) -> bool:
    chart = case.world.charts.get(case.case.patient_id) if case.case else None
    active = [one for one in (chart.coverages if chart else ()) if one.active]
    return bool(active) and active[0].network_status == "in_network"


def _codes_fit(case: CaseFile, codes: Sequence[str]) -> bool:
    expected = _expected(case)
    if expected.anchor_diagnosis_codes:
        return set(expected.anchor_diagnosis_codes) <= set(codes)
    return not expected.diagnosis_codes or set(codes) == set(expected.diagnosis_codes)


def _line(case: CaseFile) -> PriorAuthLine | None:
    lines = sorted(case.of(case.world.cases.lines.values()), key=lambda line: line.line_number)
    return lines[0] if lines else None


def _diagnoses(case: CaseFile) -> Answer:
    expected, line = _expected(case), _line(case)
    if line is None or not (expected.anchor_diagnosis_codes or expected.diagnosis_codes):
        return None
    return _codes_fit(case, line.diagnosis_codes)


def _lines(case: CaseFile) -> Answer:
    expected, line = _expected(case).line, _line(case)
    if expected is None or case.case is None:
        return None
    return line is not None and _line_fits(case, line, expected)


def _line_fits(case: CaseFile, line: PriorAuthLine, expected: LineExpectation) -> bool:
    ordered = service_type(case.order.service_type) if case.order else None
    place = expected.place_of_service
    servicing = line.servicing_provider
    return (
        line.line_number == expected.line_number
        and (expected.service_type is None or ordered == service_type(expected.service_type))
        and line.line_type == expected.line_type
        and (place is None or place_of_service(line.site_of_service) == place_of_service(place))
        and line.requested_units == expected.requested_units
        and line.same_as_requesting_provider == expected.same_as_requesting_provider
        and line.procedure_code == expected.procedure_code
        and line.procedure_name == expected.procedure_name
        and (servicing.npi if servicing else None) == expected.servicing_npi
        and (servicing.provider_name if servicing else None) == expected.servicing_name
    )


# -- documents -----------------------------------------------------------------------------------


def _slots(documents: Sequence[DocumentReference]) -> set[str]:
    found: set[str] = set()
    for doc in documents:
        found.update(doc.structured_data.get(SLOTS, ()))
        found.add(str(doc.structured_data.get(SLOT, "")))
    return found


def _covers(*, bundled: bool) -> Question:
    def ask(case: CaseFile) -> Answer:
        required = _expected(case).required_source_slots
        if not required or case.case is None:
            return None
        return set(required) <= _slots(_bundled(case) if bundled else case.documents)

    return ask


def _provenance(case: CaseFile) -> Answer:
    made = [doc for doc in _own(case) if "form_id" not in doc.structured_data]
    if not made or not _expected(case).required_source_slots:
        return None
    return all(
        (doc.structured_data.get(SLOT) or doc.structured_data.get(SLOTS))
        and doc.structured_data.get(RELATION)
        for doc in made
    )


def _roles(case: CaseFile) -> Answer:
    required = Counter(doc.role for doc in _expected(case).documents if doc.role)
    if not required or case.case is None:
        return None
    return required <= Counter(str(doc.structured_data.get(ROLE, "")) for doc in case.documents)


def _sources(case: CaseFile) -> Answer:
    copies = [doc for doc in _own(case) if doc.structured_data.get(RELATION) == COPY]
    if not copies:
        return None
    chart = case.world.charts.get(case.case.patient_id) if case.case else None
    texts = {
        str(doc.structured_data.get(SLOT, doc.id)): doc.content
        for doc in (chart.documents if chart else ())
    }
    return all(texts.get(str(doc.structured_data.get(SLOT))) == doc.content for doc in copies)


def _kinds(case: CaseFile) -> Answer:
    expected = _expected(case).attach_document_kinds
    if not expected or case.case is None:
        return None
    return Counter(doc.kind for doc in _sent(case)) == Counter(expected)


def _holds(document: DocumentReference, expected: ExpectedDocument) -> bool:
    return (
        document.kind == expected.kind
        and expected.title in (None, document.title)
        and expected.content in (None, document.content)
        and (not expected.source_slot or expected.source_slot in _slots((document,)))
    )


def _all_in(case: CaseFile, documents: Sequence[DocumentReference]) -> Answer:
    expected = _expected(case).documents
    if not expected:
        return None
    return all(any(_holds(doc, one) for doc in documents) for one in expected)


def _in_bundle(case: CaseFile) -> Answer:
    return None if _bundle(case) is None else _all_in(case, _bundled(case))


def _on_case(case: CaseFile) -> Answer:
    return None if case.case is None else _all_in(case, case.documents)


def _in_manifest(case: CaseFile) -> Answer:
    return None if case.packet is None else _all_in(case, _sent(case))


def _answers(case: CaseFile) -> Answer:
    expected = dict(_expected(case).questionnaire_answers)
    if not expected or case.case is None:
        return None
    given: dict[str, str] = {}
    for response in case.of(case.world.documents.responses.values()):
        given |= response.answers
    if case.packet is not None:
        given |= case.packet.payload.get("questionnaire_answers") or {}
    return expected.items() <= given.items()


def artifact_types(case: CaseFile) -> set[str]:
    """Return the sorts of artifacts that can be rendered from what the world holds of a case."""
    found = {str(doc.kind) for doc in _own(case)}
    if case.bundles:
        found |= {"submission_bundle", "submission_package"}
    if case.packet is not None:
        found.add("submission_manifest")
    return found


def _artifacts(case: CaseFile) -> Answer:
    expected = _expected(case).artifact_types
    if not expected or case.case is None:
        return None
    return artifact_types(case).issuperset(expected)


def _audit(case: CaseFile) -> Answer:
    expected = _expected(case).audit_actions
    return case.acted(*expected) if expected and case.case else None


_SHARED: tuple[Rule, ...] = (
    rule("provider.bundle_document_exists", _has_bundle),
    rule("provider.coverage_matches", _coverage),
    rule("provider.service_request_matches", _order),
    rule("provider.requesting_provider_matches", _provider),
    rule("provider.diagnoses_match", _diagnoses),
    rule("provider.line_items_match", _lines),
    rule("provider.required_source_slots_covered", _covers(bundled=False)),
    rule("provider.bundle_source_slots_covered", _covers(bundled=True)),
    rule("provider.provenance_complete", _provenance),
    rule("provider.required_submission_roles_present", _roles),
    rule("provider.source_documents_consistent", _sources),
    rule("provider.attach_document_kinds_match", _kinds),
    rule("provider.bundle_includes_expected_documents", _in_bundle),
    rule("provider.documents_match", _on_case),
    rule("provider.questionnaire_answers_match", _answers),
    rule("provider.workspace_artifacts", _artifacts),
    rule("provider.audit", _audit),
)
PACKAGE = (
    rule("provider.case_exists", _has_case),
    rule("provider.case_status_ready", _ready),
    rule("provider.packet_absent", _no_packet),
    rule("provider.package_artifact_exists", _has_package),
    *_SHARED,
)
SUBMISSION = (
    rule("provider.packet_exists", _has_packet),
    rule("provider.manifest_exists", _has_manifest),
    rule("provider.channel_consistent", _channel),
    rule("provider.manifest_documents_match", _in_manifest),
    *_SHARED,
)
