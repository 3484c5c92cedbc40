"""What the provider reads, and by which rules a new case is judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from importlib.resources import files
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.provider import forms, uploads
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.loading import load_policies
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    MessageBox,
    MessageKind,
    UploadableDocumentKind,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import (
    CASE,
    ORDER,
    bundle,
    fill,
    office,
    refused,
    send,
    upload,
)


def begun(world: ManagedCareWorld, **changes: Any) -> WorldStart:
    return replace(world.start, **changes)


def test_a_case_is_read_with_all_that_belongs_to_it() -> None:
    world = office()
    upload(world)
    send(world)
    view: Any = world.cases.get_case(CASE)
    assert view["case"].status is CaseStatus.SUBMITTED
    assert [row["id"] for row in view["documents"]][:3] == ["DOC-1", "DOC-2", "DOC-UP-0001"]
    assert [form["complete"] for form in view["forms"]] == [True]
    assert view["packets"][0].id == world.authorizations.packet(CASE).id  # type: ignore[union-attr]
    assert view["payer_intake"]["status"] == "in_progress"
    assert view["next_actions"] == ("auth.check_status",)
    assert "policy" not in view


def test_the_rule_card_is_never_shown() -> None:
    world = office(policy_summary="SECRET-RULE", required_questionnaire_answers={"q": "SECRET-A"})
    fill(world)
    shown = [
        world.cases.get_case(CASE),
        world.documents.list_required_forms(CASE),
        world.documents.create_submission_bundle(CASE, ["DOC-1"]),
        world.chart.get_patient_chart("P1"),
    ]
    assert "SECRET" not in repr(shown)


def test_the_work_list_has_expedited_cases_first() -> None:
    world = office()
    made: Any = world.cases.create_from_order(**ORDER)
    items: Any = world.cases.list_cases()["items"]
    assert [row["id"] for row in items] == [made["case"].id, CASE]
    assert world.cases.list_cases(CaseStatus.CLOSED)["items"] == ()


def test_an_order_of_the_chart_is_taken_over() -> None:
    world = office()
    world.cases.create_from_order(**ORDER, source_order_id="SR-011")
    assert world.cases.cases["CASE-ACT-001"].service_request_id == "SR-011"
    orders: Any = world.chart.list_candidate_orders("P1")["items"]
    assert [order.id for order in orders] == ["SR-011", "SR-010"]


def test_an_order_that_is_taken_over_keeps_its_date_in_a_strict_world() -> None:
    order = {**ORDER, "source_order_id": "SR-011"}
    strict, compatible = office(), office(Rules.COMPAT)
    own = strict.cases.order("SR-011").requested_date
    kept: Any = strict.cases.create_from_order(**order)
    assert kept["service_request"].requested_date == own != strict.clock.now
    usual: Any = compatible.cases.create_from_order(**order)
    assert usual["service_request"].requested_date == compatible.clock.now
    new: Any = office().cases.create_from_order(**ORDER)
    assert new["service_request"].requested_date == strict.clock.now


def test_the_date_of_an_order_on_file_is_not_too_old() -> None:
    start = office().start
    chart = start.charts["P1"]
    old = tuple(replace(one, requested_date=start.now - timedelta(90)) for one in chart.orders)
    world = ManagedCareWorld(replace(start, charts=ChartLibrary((replace(chart, orders=old),))))
    made: Any = world.cases.create_from_order(**ORDER, source_order_id="SR-011")
    assert made["service_request"].requested_date == start.now - timedelta(90)


def test_a_case_stays_with_the_coordinator_who_opens_it() -> None:
    start = office().start
    contacts = tuple(start.staff.contacts.values())
    second = replace(start.staff.contacts["C-PA"], id="C-PA2")
    staff = Staff((), (*contacts, second), tuple(start.staff.practitioners.values()))
    for rules, owner in ((Rules.STRICT, "C-PA2"), (Rules.COMPAT, "C-PA")):
        world = ManagedCareWorld(replace(start, staff=staff, actor="C-PA2", rules=rules))
        made: Any = world.cases.create_from_order(**ORDER)
        assert made["case"].assigned_to == owner


def test_a_case_that_was_sent_is_shown_at_the_payer() -> None:
    def stage(rules: Rules) -> str:
        start = office(rules).start
        sent = [
            replace(one, status=CaseStatus.SUBMITTED) if isinstance(one, PriorAuthCase) else one
            for one in start.records
        ]
        items: Any = ManagedCareWorld(replace(start, records=tuple(sent))).cases.list_cases()
        return str(items["items"][0]["stage"])

    assert stage(Rules.STRICT) == "payer_intake"
    assert stage(Rules.COMPAT) == "pre_submission"


@pytest.mark.parametrize(("rules", "name"), [(Rules.STRICT, ""), (Rules.COMPAT, "I48.0")], ids=str)
def test_a_diagnosis_that_the_chart_does_not_name_has_no_name(rules: Rules, name: str) -> None:
    start = office(rules).start
    bare = ChartLibrary((replace(start.charts["P1"], conditions=()),))
    world = ManagedCareWorld(replace(start, charts=bare))
    send(world)
    intake = world.intake.find(CASE)
    assert intake is not None
    assert [(one.name, one.code) for one in intake.diagnoses] == [(name, "I48.0")]


def test_a_card_that_was_filed_for_an_order_judges_its_case() -> None:
    world = office()
    card = world.cases.policy(CASE)
    assert card is not None
    filed = replace(card, id="POL-SR-011", case_id="SR-011", policy_summary="Imaging rule")
    world = ManagedCareWorld(begun(world, records=(*world.start.records, filed)))
    world.cases.create_from_order(**ORDER)
    found = world.cases.policy("CASE-ACT-001")
    assert found is not None
    assert (found.policy_summary, found.case_id) == ("Imaging rule", "CASE-ACT-001")
    other: Any = world.cases.create_from_order(**{**ORDER, "procedure_code": "70553"})
    usual = world.cases.policy(other["case"].id)
    assert usual is not None
    assert usual.required_documents == (
        UploadableDocumentKind.CHART_NOTE,
        UploadableDocumentKind.PROGRESS_NOTE,
    )


def test_answers_of_the_policy_become_a_document_of_the_packet() -> None:
    world = office(required_form_fields=["dose"])
    world.documents.save_form_response(CASE, {"dose": "5"})
    bundle(world, "DOC-1")
    bundle(world, "DOC-2")
    kinds = [str(doc.kind) for doc in world.documents.documents.values()]
    assert kinds == ["questionnaire_form", "submission_bundle", "submission_bundle"]
    assert "5" in world.documents.get("DOC-FORM-0001").content


def test_answers_stay_until_they_are_given_anew() -> None:
    world = office(required_form_fields=["dose", "weeks"])
    world.documents.save_form_response(CASE, {"dose": "5", "weeks": "6"})
    world.documents.save_form_response(CASE, {"dose": "9"})
    assert forms.all_answers(forms.of_case(world, CASE)) == {"dose": "9", "weeks": "6"}


def test_a_message_is_read_once() -> None:
    world = office()
    world.inbox.post(MessageKind.INTERNAL_NOTE, MessageBox.INTERNAL, CASE, "s", "b")
    world.inbox.post(MessageKind.PEND_REQUEST, MessageBox.PAYER, CASE, "s", "b", True)
    items: Any = world.inbox.list_messages(CASE)["items"]
    assert [message.kind for message in items] == ["pend_request"]
    first = world.inbox.read_message(items[0].id).read_at
    world.clock.advance(world.clock.now - world.clock.now)
    assert world.inbox.read_message(items[0].id).read_at == first


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda w: w.cases.get("CASE-X"), RefusalCode.NOT_FOUND),
        (lambda w: w.cases.order("SR-X"), RefusalCode.NOT_FOUND),
        (lambda w: w.cases.line("CASE-X"), RefusalCode.NOT_FOUND),
        (lambda w: w.documents.get("DOC-X"), RefusalCode.NOT_FOUND),
        (lambda w: w.documents.bundle(CASE, "DOC-1"), RefusalCode.WRONG_OWNER),
        (lambda w: w.chart.get_patient_chart("P9"), RefusalCode.NOT_FOUND),
        (lambda w: w.documents.validate_form(CASE, "FORM-X"), RefusalCode.NOT_FOUND),
        (lambda w: w.inbox.read_message("MSG-X"), RefusalCode.NOT_FOUND),
        (lambda w: w.authorizations.request_peer_to_peer(CASE), RefusalCode.WRONG_STATE),
        (
            lambda w: w.authorizations.respond_to_peer_to_peer(CASE, "P2P-X"),
            RefusalCode.MISSING_TEXT,
        ),
    ],
    ids=["case", "order", "line", "document", "packet", "chart", "form", "message", "p2p", "reply"],
)
@pytest.mark.parametrize("rules", Rules, ids=str)
def test_what_is_not_there_is_refused_by_name(rules: Rules, act: Any, code: RefusalCode) -> None:
    assert refused(office(rules), act).code is code


def test_base64_is_decoded_where_it_is_a_known_file() -> None:
    assert uploads.decoded("JVBERi0xLjQK") == b"%PDF-1.4\n"
    assert uploads.decoded("plain words") == b"plain words"
    with pytest.raises(Refusal):
        uploads.require_file("JVBERi0xLjQK", "image/png", 10)


def test_the_policy_in_force_judges_a_new_case() -> None:
    policies = load_policies(files("healthgym.worlds.managed_care.policies") / "library").values()
    policy = next(iter(policies))
    code = policy.procedures[0].code
    world = office()
    for plan, wanted in ((policy.plans[0], True), ("No such plan", False)):
        chart = world.charts["P1"]
        covered = replace(
            chart, coverages=tuple(replace(one, plan_name=plan) for one in chart.coverages)
        )
        book = PolicyBook([replace(policy, states=(), effective=date(2020, 1, 1), terminated=None)])
        other = ManagedCareWorld(
            begun(world, charts=world.charts.with_charts([covered]), policies=book)
        )
        other.cases.create_from_order(**{**ORDER, "procedure_code": code})
        card = other.cases.policy("CASE-ACT-001")
        assert card is not None
        assert (card.policy_family == policy.id) is wanted
        assert wanted or not card.authorization_required
