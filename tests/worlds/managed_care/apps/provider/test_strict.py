"""What a strict world refuses of a provider, and a compatible one carries out as its source did."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.records.case import SubmissionLineUpdate
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    MessageBox,
    MessageKind,
    UploadableDocumentKind,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import (
    CASE,
    GATHER,
    KEEP,
    ORDER,
    PORTAL,
    SUBMIT,
    Act,
    bundle,
    decide,
    fill,
    nothing,
    office,
    refused,
    send,
    strict_only,
    upload,
)

World = ManagedCareWorld
REQUEST_KEYS = forms.of_case(office(), CASE)[0].required
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()
OTHER = UploadableDocumentKind.OTHER


def order(**changes: Any) -> Act:
    return lambda world: world.cases.create_from_order(**{**ORDER, **changes})


def text(title: str = "Note", content: str | None = "text") -> Act:
    return lambda world: world.documents.upload_evidence(CASE, OTHER, title, content)


def file(mime: str, data: str, note: str | None = None, name: str = "a.bin") -> Act:
    return lambda world: world.documents.upload_evidence_file(
        CASE, OTHER, "File", name, mime, data, note
    )


def answer(**answers: str) -> Act:
    return lambda world: world.documents.save_form_response(CASE, answers)


def packet(*documents: str) -> Act:
    return lambda world: world.documents.create_submission_bundle(CASE, documents)


def finalize(action: Any, **more: Any) -> Act:
    return lambda world: world.authorizations.finalize(CASE, action, **more)


def submit(**more: Any) -> Act:
    return lambda world: world.authorizations.submit(CASE, PORTAL, **more)


def then(*acts: Act) -> Act:
    def play(world: World) -> None:
        for act in acts:
            act(world)

    return play


def post_internally(world: World) -> None:
    world.inbox.post(MessageKind.INTERNAL_NOTE, MessageBox.INTERNAL, CASE, "s", "b")


def read_internal(world: World) -> None:
    world.inbox.read_message(next(iter(world.inbox.messages)))


CREATION = {
    "diagnosis": (order(diagnosis_codes=["migraine"]), RefusalCode.BAD_ARGUMENT),
    "procedure": (order(procedure_code="MRI"), RefusalCode.BAD_ARGUMENT),
    "clerk": (order(ordering_practitioner_id="PR-3"), RefusalCode.ROLE_FORBIDDEN),
    "other-service": (order(source_order_id="SR-010"), RefusalCode.BAD_ARGUMENT),
    "long": (order(description="x" * 501), RefusalCode.LIMIT_REACHED),
    "past": (
        order(requested_date=datetime(2020, 1, 1, tzinfo=UTC)),
        RefusalCode.BAD_ARGUMENT,
    ),
    "far-ahead": (
        order(requested_date=datetime(2029, 1, 1, tzinfo=UTC)),
        RefusalCode.BAD_ARGUMENT,
    ),
    "asked-twice": (order(procedure_code="93653"), RefusalCode.DUPLICATE),
}
EVIDENCE = {
    "no-text": (text(content=None), RefusalCode.MISSING_TEXT),
    "blank-text": (text(content="  "), RefusalCode.MISSING_TEXT),
    "long-text": (text(content="x" * 20_001), RefusalCode.LIMIT_REACHED),
    "long-title": (text(title="x" * 201), RefusalCode.LIMIT_REACHED),
    "type": (file("application/zip", PNG), RefusalCode.BAD_ARGUMENT),
    "not-a-pdf": (file("application/pdf", PNG), RefusalCode.BAD_ARGUMENT),
    "broken-base64": (file("image/png", "%%%"), RefusalCode.BAD_ARGUMENT),
    "empty-file": (file("image/png", " "), RefusalCode.MISSING_TEXT),
    "no-text-file": (file("text/plain", PNG), RefusalCode.BAD_ARGUMENT),
    "no-name": (file("image/png", PNG, name=" "), RefusalCode.MISSING_TEXT),
    "long-note": (file("image/png", PNG, note="x" * 4_001), RefusalCode.LIMIT_REACHED),
    "large-file": (
        file("text/plain", "x" * (10 * (1 << 20) + 1)),
        RefusalCode.LIMIT_REACHED,
    ),
    "unknown-key": (answer(nope="1"), RefusalCode.BAD_ARGUMENT),
    "no-answers": (answer(), RefusalCode.MISSING_TEXT),
    "blank-answer": (answer(request_plan_name=" "), RefusalCode.MISSING_TEXT),
    "long-answer": (answer(request_plan_name="x" * 2_001), RefusalCode.LIMIT_REACHED),
    "document-twice": (packet("DOC-1", "DOC-1"), RefusalCode.DUPLICATE),
}
REPEATS = {
    "upload": (text(), text(), RefusalCode.DUPLICATE),
    "file": (file("image/png", PNG), file("image/png", PNG), RefusalCode.DUPLICATE),
    "answers": (fill, answer(request_plan_name="1"), RefusalCode.DUPLICATE),
    "packet": (bundle, bundle, RefusalCode.DUPLICATE),
    "packet-in-packet": (bundle, packet("DOC-BUNDLE-0001"), RefusalCode.BAD_ARGUMENT),
    "decision": (decide, finalize(SUBMIT), RefusalCode.DUPLICATE),
    "other-decision": (decide, finalize(GATHER, override_reason="x"), RefusalCode.DUPLICATE),
}
DECISIONS = {
    "gather-unnamed": (nothing, finalize(GATHER), RefusalCode.MISSING_TEXT),
    "keep-unnamed": (nothing, finalize(KEEP, override_reason=" "), RefusalCode.MISSING_TEXT),
    "long-reason": (
        nothing,
        finalize(KEEP, override_reason="x" * 4_001),
        RefusalCode.LIMIT_REACHED,
    ),
    "no-packet": (nothing, finalize(SUBMIT), RefusalCode.UNSUPPORTED_CLAIM),
    "foreign-line": (
        bundle,
        finalize(SUBMIT, line_updates=[{"line_id": "LINE-X"}]),
        RefusalCode.NOT_FOUND,
    ),
    "line-without-id": (
        bundle,
        finalize(SUBMIT, line_updates=[{"line_number": 1}]),
        RefusalCode.BAD_ARGUMENT,
    ),
}


@pytest.mark.parametrize("name", CREATION)
def test_an_order_that_no_office_takes_is_refused(name: str) -> None:
    act, code = CREATION[name]
    strict_only(nothing, act, code)


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_that_is_none_is_refused(name: str) -> None:
    act, code = EVIDENCE[name]
    strict_only(nothing, act, code)


@pytest.mark.parametrize("name", REPEATS)
def test_what_was_done_is_not_done_again(name: str) -> None:
    prepare, act, code = REPEATS[name]
    strict_only(prepare, act, code)


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_needs_its_grounds(name: str) -> None:
    prepare, act, code = DECISIONS[name]
    strict_only(prepare, act, code)


@pytest.mark.parametrize("kind", ["number", "boolean"])
def test_answers_have_the_type_that_is_asked_for(kind: str) -> None:
    question = {"key": "c1", "label": "How much?", "type": kind, "required": True}
    form = {"title": "Q", "sections": [{"title": "S", "questions": [question]}]}
    strict_only(nothing, answer(c1="some"), RefusalCode.BAD_ARGUMENT, form_definitions=(form,))
    world = office(form_definitions=(form,))
    for right in ("not documented", {"number": "32.5", "boolean": "yes"}[kind]):
        world.documents.save_form_response(CASE, {"c1": right})


def test_new_evidence_lets_the_provider_decide_again() -> None:
    world = office()
    world.authorizations.finalize(CASE, GATHER, "no progress note within 60 days")
    refused(world, finalize(SUBMIT))
    fill(world)
    bundle(world)
    world.authorizations.finalize(CASE, SUBMIT)
    assert [d.final_action for d in world.authorizations.determinations.values()] == [
        GATHER,
        SUBMIT,
    ]


def test_readiness_looks_into_the_packet() -> None:
    for strict, ready in ((False, True), (True, False)):
        world = office(Rules.STRICT if strict else Rules.COMPAT)
        fill(world)
        view = world.documents.create_submission_bundle(CASE, [])
        assert view["readiness"]["ready_to_submit"] is ready  # type: ignore[index]
        assert (world.cases.get(CASE).status is CaseStatus.READY_TO_SUBMIT) is ready


@pytest.mark.parametrize("status", [CaseStatus.DOCS_NEEDED, CaseStatus.READY_TO_SUBMIT])
def test_nothing_is_sent_that_nobody_decided_to_send(status: CaseStatus) -> None:
    strict_only(fill, submit(), RefusalCode.UNSUPPORTED_CLAIM, status=status)


def test_only_the_packet_that_was_decided_on_is_sent() -> None:
    later = then(decide, lambda world: bundle(world, "DOC-1"))
    strict_only(later, submit(bundle_document_id="DOC-BUNDLE-0002"), RefusalCode.UNSUPPORTED_CLAIM)


def test_forms_are_filled_before_sending() -> None:
    unfilled = then(bundle, finalize(SUBMIT))
    strict_only(unfilled, submit(), RefusalCode.UNSUPPORTED_CLAIM)


def test_answers_that_come_with_it_complete_the_forms() -> None:
    world = office(required_form_fields=["dose"])
    world.documents.save_form_response(CASE, dict.fromkeys(REQUEST_KEYS, "1"))
    bundle(world)
    world.authorizations.finalize(CASE, SUBMIT)
    refused(world, submit())
    refused(world, submit(questionnaire_answers={"dose": " "}))
    world.authorizations.submit(CASE, PORTAL, questionnaire_answers={"dose": "5"})
    assert world.cases.get(CASE).status is CaseStatus.SUBMITTED


def test_codes_are_updated_on_own_lines_only() -> None:
    update = SubmissionLineUpdate(line_id="LINE-X", diagnosis_codes=("I48.91",))
    strict_only(decide, submit(line_updates=[update]), RefusalCode.NOT_FOUND)
    world = office()
    decide(world)
    own = SubmissionLineUpdate(line_id=f"LINE-{CASE}", diagnosis_codes=("I48.91",))
    world.authorizations.submit(CASE, PORTAL, line_updates=[own])
    assert world.cases.line(CASE).diagnosis_codes == ("I48.91",)


def test_a_pend_is_answered_by_its_own_call() -> None:
    status = CaseStatus.PENDED_ACTION_REQUIRED
    strict_only(nothing, submit(), RefusalCode.WRONG_STATE, status=status)
    said = str(refused(office(status=status), submit()))
    assert "auth.respond_to_pend" in said


@pytest.mark.parametrize(
    ("note", "documents", "code"),
    [
        (" ", [], RefusalCode.MISSING_TEXT),
        ("x" * 4_001, [], RefusalCode.LIMIT_REACHED),
        ("here", ["DOC-1", "DOC-1"], RefusalCode.DUPLICATE),
    ],
    ids=["blank", "long", "twice"],
)
def test_an_answer_to_a_pend_says_something(
    note: str, documents: list[str], code: RefusalCode
) -> None:
    strict_only(
        nothing,
        lambda world: world.authorizations.respond_to_pend(CASE, note, documents),
        code,
        status=CaseStatus.PENDED_ACTION_REQUIRED,
    )


@pytest.mark.parametrize(
    ("rationale", "documents", "code"),
    [
        ("", [], RefusalCode.MISSING_TEXT),
        ("x" * 10_001, [], RefusalCode.LIMIT_REACHED),
        ("criterion 2 is met", ["DOC-1", "DOC-1"], RefusalCode.DUPLICATE),
    ],
    ids=["blank", "long", "twice"],
)
@pytest.mark.parametrize("level", ["internal", "external"])
def test_an_appeal_gives_its_reason(
    level: str, rationale: str, documents: list[str], code: RefusalCode
) -> None:
    external = level == "external"

    def act(world: World) -> object:
        desk = world.authorizations
        file_it = desk.file_external_appeal if external else desk.file_appeal
        return file_it(CASE, rationale, documents)

    status = CaseStatus.APPEAL_UPHELD if external else CaseStatus.DENIED
    strict_only(nothing, act, code, status=status)


def test_an_appeal_comes_within_its_time() -> None:
    def deny_and_wait(world: World) -> None:
        world.cases.move(CASE, CaseStatus.DENIED, "SYSTEM")
        world.clock.advance(timedelta(days=30, minutes=1))

    strict_only(
        deny_and_wait,
        lambda world: world.authorizations.file_appeal(CASE, "criterion 2 is met"),
        RefusalCode.ENDED,
        status=CaseStatus.UNDER_REVIEW,
    )


def test_a_status_does_not_follow_itself() -> None:
    strict_only(
        nothing,
        lambda world: world.cases.move(CASE, CaseStatus.DRAFT, "SYSTEM"),
        RefusalCode.ILLEGAL_TRANSITION,
    )


@pytest.mark.parametrize(
    "status", [CaseStatus.SUBMITTED, CaseStatus.APPROVED, CaseStatus.CLOSED], ids=str
)
@pytest.mark.parametrize(
    "act",
    [text(), packet("DOC-1"), answer(request_plan_name="1")],
    ids=["upload", "packet", "answer"],
)
def test_a_case_that_is_sent_or_closed_takes_no_evidence(status: CaseStatus, act: Act) -> None:
    strict_only(nothing, act, RefusalCode.WRONG_STATE, status=status)


def test_a_date_of_birth_is_a_date() -> None:
    strict_only(
        nothing,
        lambda world: world.chart.search_patients(dob="spring 1961"),
        RefusalCode.BAD_ARGUMENT,
    )
    for written in ("1961-04-02", "04/02/1961", "04-02-1961"):
        assert office().chart.search_patients(dob=written)["total"] == 1


def test_the_inbox_of_an_unknown_case_is_no_empty_inbox() -> None:
    strict_only(nothing, lambda world: world.inbox.list_messages("CASE-X"), RefusalCode.NOT_FOUND)


def test_what_the_payer_keeps_to_itself_is_not_read() -> None:
    strict_only(post_internally, read_internal, RefusalCode.NOT_FOUND)


def test_a_whole_case_goes_through() -> None:
    world = office()
    upload(world)
    send(world)
    case = world.cases.get(CASE)
    assert case.status is CaseStatus.SUBMITTED
    sent = world.authorizations.packet(CASE)
    assert sent is not None
    assert sent.attached_document_ids == ("DOC-1", "DOC-2")
    assert sent.payload["bundle_document_id"] == "DOC-BUNDLE-0001"
    assert case.payer_intake_case_id in world.intake.intakes


FINDINGS = ("chart_note", "progress_note", "imaging_report", "lab_summary", "lab_result")


@pytest.mark.parametrize("kind", FINDINGS)
def test_a_finding_is_not_invented(kind: str) -> None:
    strict_only(
        nothing,
        lambda world: world.documents.upload_evidence(
            CASE, UploadableDocumentKind(kind), "Report", "Everything that is required is met."
        ),
        RefusalCode.UNSUPPORTED_CLAIM,
    )


def test_a_finding_is_copied() -> None:
    world = office()
    note = world.documents.get("DOC-1")
    kind = UploadableDocumentKind(note.kind)
    made = world.documents.upload_evidence(CASE, kind, "Copy of the note", f" {note.content}\n")
    assert made.case_id == CASE
