"""Change one thing of a solved episode, and the check that is named for it fails, and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.task import (
    ReviewInstance,
)
from healthgym.envs.managed_care.utilization_management.verifier import ReviewVerifier
from tests.envs.managed_care.utilization_management.changes import (
    APPROVAL,
    CONFIRM,
    DATED,
    DENIED,
    DISPOSE,
    ESCALATED,
    INFORMED,
    INTAKE,
    LAX_DENIED,
    LAX_INTAKE,
    LAX_TRIAGE,
    MEASURED,
    NURSING,
    OPEN,
    OVERTURNED,
    PARTLY,
    PERMISSIVE,
    RETURNED,
    SUMMARY,
    UPHELD,
    beside,
    dated,
    early_call,
    entered,
    flipped,
    held,
    met,
    misread,
    named,
    not_looked_at,
    sourced,
    two_rounds,
    unread,
)
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    DELIVER,
    FINALIZE,
    FINISH,
    NOTIFY,
    NURSE,
    RECOMMEND,
    Script,
    after,
    before,
    changed,
    every,
    fails,
    finding,
    other_case,
    play,
    position,
    rows,
    solution,
    without,
)
from tests.envs.managed_care.utilization_management.test_appeal_mutations import (
    MUTATIONS as OF_APPEALS,
)
from tests.envs.managed_care.utilization_management.test_front_door import DOOR as OF_DOORS

_LATER = timedelta(days=40)

#: What is changed → the task, its script, and the checks that fail.
MUTATIONS: Mapping[str, tuple[ReviewInstance, Callable[[], Script], set[str]]] = {
    # intake_right
    "not eligible": (
        INTAKE,
        lambda: changed(solution(INTAKE), CONFIRM, member_eligible=False),
        {"intake_right"},
    ),
    "incomplete": (
        INTAKE,
        lambda: changed(solution(INTAKE), CONFIRM, request_complete=False),
        {"intake_right"},
    ),
    "not covered": (
        INTAKE,
        lambda: changed(solution(INTAKE), CONFIRM, service_covered=False),
        {"intake_right"},
    ),
    "another diagnosis": (
        INTAKE,
        lambda: entered(
            INTAKE,
            "save_diagnoses",
            data={"diagnoses": [{"name": "Down syndrome", "code": "Q90.9"}]},
        ),
        {"intake_right"},
    ),
    "another NPI": (
        INTAKE,
        lambda: entered(
            INTAKE,
            "save_requesting_provider",
            data={"provider_name": "Dr. Ines Park", "npi": "1234567893"},
        ),
        {"intake_right"},
    ),
    "a line more": (
        LAX_INTAKE,
        lambda: entered(
            LAX_INTAKE,
            "add_line_item",
            item_data={"line_number": 0, "procedures": [{"name": "Visit", "code": "99215"}]},
        ),
        {"intake_right"},
    ),
    "confirmed as before the reply": (
        INFORMED,
        lambda: changed(solution(INFORMED), CONFIRM, member_eligible=False),
        {"intake_right"},
    ),
    # triage_right
    "a limit of another urgency": (
        LAX_TRIAGE,
        lambda: changed(solution(LAX_TRIAGE), DISPOSE, sla_deadline="2026-12-31T12:00"),
        {"triage_right"},
    ),
    "other hours": (
        LAX_TRIAGE,
        lambda: changed(solution(LAX_TRIAGE), DISPOSE, sla_hours=1),
        {"triage_right"},
    ),
    "another rule": (
        LAX_TRIAGE,
        lambda: changed(solution(LAX_TRIAGE), DISPOSE, sla_rule_source="state:ZZ"),
        {"triage_right"},
    ),
    "a gold card": (
        LAX_TRIAGE,
        lambda: changed(
            solution(LAX_TRIAGE),
            DISPOSE,
            gold_card_eligible=not LAX_TRIAGE.reference.triage.gold_card,  # type: ignore[union-attr]
        ),
        {"triage_right"},
    ),
    "another lane": (
        LAX_TRIAGE,
        lambda: changed(
            solution(LAX_TRIAGE),
            "triage.route_case",
            override_target=next(
                lane
                for lane in ("standard_um", "specialty_program")
                if lane != str(LAX_TRIAGE.reference.triage.target)  # type: ignore[union-attr]
            ),
        ),
        {"triage_right"},
    ),
    # findings_right
    "a criterion misjudged": (DENIED, lambda: flipped(DENIED), {"findings_right"}),
    "a criterion misjudged by the nurse": (
        ESCALATED,
        lambda: flipped(ESCALATED),
        {"findings_right"},
    ),
    "a criterion left out": (
        ESCALATED,
        lambda: changed(solution(ESCALATED), NURSE, -1, evaluations=rows(solution(ESCALATED))[1:]),
        {"findings_right"},
    ),
    # values_observed
    "a value that is not there": (
        MEASURED,
        lambda: misread(MEASURED),
        {"values_observed"},
    ),
    "a value that is left out": (MEASURED, lambda: unread(MEASURED), {"values_observed"}),
    "a finding without its day": (
        DATED,
        lambda: finding(solution(DATED), dated(DATED)[0], notes="Seen."),
        {"values_observed"},
    ),
    "a finding of another day": (
        DATED,
        lambda: finding(solution(DATED), dated(DATED)[0], notes="On record: 1987-04-01."),
        {"values_observed", "words_sound"},
    ),
    # findings_sourced
    "a page that has no bearing": (
        NURSING,
        lambda: finding(
            solution(NURSING),
            sourced(NURSING)[0],
            source_refs_used=[beside(NURSING)],
            item_observations=[],
        ),
        {"findings_sourced"},
    ),
    "every page": (
        NURSING,
        lambda: every(solution(NURSING), source_refs_used=list(NURSING.reference.packet)),
        {"findings_sourced"},
    ),
    "no page": (
        PERMISSIVE,
        lambda: finding(
            solution(PERMISSIVE),
            sourced(PERMISSIVE)[0],
            source_refs_used=[],
            item_observations=[],
        ),
        {"findings_sourced"},
    ),
    "a page that there is not": (
        PERMISSIVE,
        lambda: finding(
            solution(PERMISSIVE), sourced(PERMISSIVE)[0], source_refs_used=["DOC-0000-001"]
        ),
        {"findings_sourced"},
    ),
    # information_right
    "a satisfied criterion asked about": (
        INFORMED,
        lambda: changed(
            solution(INFORMED),
            RECOMMEND,
            info_requested="\n".join(
                [f"A record on {name}" for name in sorted(INFORMED.reference.wanted)]
                + [f"A record on {held(INFORMED)}"]
            ),
        ),
        {"information_right"},
    ),
    "nothing named": (
        INFORMED,
        lambda: changed(solution(INFORMED), RECOMMEND, info_requested="Clinical information"),
        {"information_right"},
    ),
    # recommendation_right
    "handed on after the reply": (
        INFORMED,
        lambda: changed(
            solution(INFORMED), RECOMMEND, -1, recommendation="escalate", clinical_notes="Unsure."
        ),
        {
            "recommendation_right",
            "determination_right",
            "letters_right",
            "ends_right",
        },
    ),
    # physician_decision_right
    "no criterion in the rationale": (
        DENIED,
        lambda: changed(solution(DENIED), DECIDE, denial_rationale="Not medically necessary."),
        {"physician_decision_right"},
    ),
    "a satisfied criterion in the rationale": (
        DENIED,
        lambda: changed(solution(DENIED), DECIDE, denial_rationale=named(DENIED, met(DENIED)[0])),
        {"physician_decision_right"},
    ),
    "what the nurse alone found": (
        LAX_DENIED,
        lambda: not_looked_at(LAX_DENIED),
        {"physician_decision_right"},
    ),
    "a call without a criterion to be called about": (
        OPEN,
        lambda: changed(
            solution(OPEN), DECIDE, -1, determination_rationale="I would like to talk to them."
        ),
        {"physician_decision_right"},
    ),
    "other units": (
        PARTLY,
        lambda: changed(
            solution(PARTLY),
            DECIDE,
            line_item_decisions=[
                {
                    "line_number": 1,
                    "decision": "partial_approve",
                    "approved_units": (PARTLY.reference.units or 0) - 1,
                    "denial_rationale": solution(PARTLY)[
                        position(solution(PARTLY), DECIDE)
                    ].arguments["line_item_decisions"][0]["denial_rationale"],
                }
            ],
        ),
        {"physician_decision_right"},
    ),
    # call_right
    "nothing was asked": (OVERTURNED, early_call, {"call_right", "words_sound"}),
    "a summary that names nothing": (
        OVERTURNED,
        lambda: changed(solution(OVERTURNED), SUMMARY, summary="We spoke, and agreed."),
        {"call_right"},
    ),
    "an outcome that does not follow": (
        UPHELD,
        lambda: [
            each
            for each in changed(solution(UPHELD), SUMMARY, proposed_result="overturn_to_approval")
            if each.name
            in ("wait", "p2p.list", "p2p.offer_slots", "p2p.schedule", "finish", SUMMARY)
            or each.name.startswith("p2p_session.")
        ],
        {"call_right", "determination_right", "letters_right", "ends_right"},
    ),
    # letters_right
    "no notice": (NURSING, lambda: without(solution(NURSING), NOTIFY), {"letters_right"}),
    "not delivered": (NURSING, lambda: without(solution(NURSING), DELIVER), {"letters_right"}),
    "issued again": (
        NURSING,
        lambda: before(
            solution(NURSING),
            "finish",
            call("payer_letter_center.reissue", letter_id="LET-0001", reason="A copy."),
        ),
        {"letters_right"},
    ),
    "no letter of the pend": (
        INFORMED,
        lambda: without(
            without(solution(INFORMED), "payer_letter_center.generate_pend"),
            DELIVER,
            nth=0,
        ),
        {"letters_right"},
    ),
    "unfilled": (
        PERMISSIVE,
        lambda: changed(solution(PERMISSIVE), APPROVAL, body="Approved."),
        {"letters_right"},
    ),
    # roles_kept
    "by somebody unknown": (
        PERMISSIVE,
        lambda: changed(solution(PERMISSIVE), FINALIZE, actor="W-999"),
        {"roles_kept"},
    ),
    "an override": (
        LAX_DENIED,
        lambda: changed(
            changed(solution(LAX_DENIED), DECIDE, decision="approve"),
            FINALIZE,
            overridden=True,
            override_reason="On second thoughts.",
        ),
        {"physician_decision_right", "roles_kept", "letters_right"},
    ),
    # in_time
    "late": (
        PERMISSIVE,
        lambda: before(
            solution(PERMISSIVE),
            FINALIZE,
            call("wait", until=f"{PERMISSIVE.start.now + _LATER:%Y-%m-%dT15:00}"),
        ),
        {"in_time", "letters_right"},  # the letter's text has another day
    ),
    # others_untouched
    "another's intake": (
        PERMISSIVE,
        lambda: before(
            solution(PERMISSIVE),
            FINALIZE,
            call(
                "payer_intake_hub.save_auth_header",
                case_id=other_case(PERMISSIVE),
                data={"state": "NY"},
            ),
        ),
        {"others_untouched"},
    ),
    # no_step_twice
    "a second review": (PERMISSIVE, two_rounds, {"no_step_twice"}),
    "confirmed twice": (
        LAX_INTAKE,
        lambda: before(
            solution(LAX_INTAKE),
            CONFIRM,
            solution(LAX_INTAKE)[position(solution(LAX_INTAKE), CONFIRM)],
        ),
        {"no_step_twice"},
    ),
    # words_sound
    "notes that take themselves back": (
        NURSING,
        lambda: changed(solution(NURSING), RECOMMEND, clinical_notes="I made all of this up."),
        {"words_sound"},
    ),
    "notes with a number beyond all": (
        NURSING,
        lambda: changed(solution(NURSING), RECOMMEND, clinical_notes=f"At {'9' * 400} mmHg."),
        {"words_sound"},
    ),
    # nothing_decided
    "a denial of what is not to be decided": (
        RETURNED,
        lambda: after(
            solution(RETURNED),
            CONFIRM,
            call(
                "payer_letter_center.generate_notification",
                case_id=RETURNED.reference.case_id,
                notification_type="denial",
            ),
        ),
        set(),
    ),
    # determination_right, ends_right
    "left before the end": (
        NURSING,
        lambda: [*solution(NURSING)[: position(solution(NURSING), FINALIZE)], FINISH],
        {"determination_right", "letters_right", "ends_right"},
    ),
    "not handed in": (NURSING, lambda: solution(NURSING)[:-1], {"submitted"}),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_check_that_is_named_for_it_fails_and_no_other(name: str) -> None:
    instance, script, broken = MUTATIONS[name]
    assert fails(play(instance, script(), refused=True)) == broken


def test_every_check_has_a_mutation() -> None:
    every = (*MUTATIONS.values(), *OF_APPEALS.values())
    broken = {check for *_, checks in every for check in checks}
    broken |= {OF_DOORS}  # by each of the mutations there
    names = {check.name for check in ReviewVerifier().checks(Profile.STRICT)}
    assert names - broken == {"nothing_decided"}
