"""Change one thing of a solved episode, and the check that is named for it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.envs.managed_care.prior_authorization.verifier import AuthorizationVerifier
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderDeterminationAction as Action,
)
from tests.envs.managed_care.prior_authorization.changes import (
    AGAINST,
    APPEALED,
    BUNDLING,
    DECIDE,
    ENDED,
    FILE,
    GAP,
    GAPS,
    OPENING,
    OUTSIDE,
    PENDED,
    POLICY,
    PROVEN,
    SENT,
    SUBMIT,
    UPLOAD,
    Script,
    answered,
    chart_document,
    drug,
    enclosing,
    flipped,
    foreign_case,
    holds,
    late_evidence,
    letter,
    measured,
    measurement,
    needless,
    overdue,
    reason,
    second_case,
    sent_anyway,
    stranger,
    twin,
    wrong_number,
)
from tests.envs.managed_care.prior_authorization.playing import (
    CASE,
    FINISH,
    before,
    changed,
    chart_of,
    fails,
    play,
    solution,
    without,
)

#: Answers of the request form that are somebody else's.
WRONG = {
    "birthday": ("request_patient_dob", "1950-01-01"),
    "member": ("request_member_number", "CHP000000000"),
    "group": ("request_group_number", "HMO-0000"),
    "plan": ("request_plan_name", "Prairie Gold POS"),
    "patient": ("request_patient_name", stranger(SENT)[1]),
    "NPI": ("request_requesting_provider_npi", "1000000000"),
}
#: What is changed → the task, its script, the checks that fail, and those of the source that do.
MUTATIONS: Mapping[str, tuple[AuthorizationInstance, Callable[[], Script], set[str], set[str]]] = {
    # case_right
    "another urgency": (
        SENT,
        lambda: changed(
            solution(SENT),
            OPENING,
            priority="standard" if SENT.reference.urgency == "expedited" else "expedited",
        ),
        {"case_right"},
        set(),
    ),
    "another site": (
        SENT,
        lambda: changed(solution(SENT), OPENING, site_of_service="telehealth"),
        {"case_right"},
        {"new_referral.site_of_service"},
    ),
    "a diagnosis that nobody made": (
        SENT,
        lambda: changed(
            solution(SENT), OPENING, diagnosis_codes=[*SENT.reference.diagnosis_codes, "Q90.9"]
        ),
        {"case_right"},
        set(),
    ),
    "another category": (
        SENT,
        lambda: changed(
            solution(SENT),
            OPENING,
            service_type="dme" if SENT.reference.service_type != "dme" else "surgical",
        ),
        {"case_right"},
        {"new_referral.service_type"},
    ),
    # decision_right
    "gathered for, though everything is there": (
        SENT,
        lambda: [
            *solution(SENT)[:1],
            oracle.decide(Action.GATHER_MORE_EVIDENCE, override_reason="C1"),
            FINISH,
        ],
        {"decision_right", "forms_true", "packet_shows", "channel_right", "ends_right"},
        {
            "new_referral.case_status",
            "provider_pre_submission.required_documents_present",
        },
    ),
    "given up, though evidence is missing": (
        GAP,
        lambda: changed(solution(GAP), DECIDE, final_action=str(Action.DO_NOT_SUBMIT)),
        {"decision_right", "ends_right"},
        {"new_referral.case_status", "provider_pre_submission.final_action"},
    ),
    "gathered for, though it fails": (
        AGAINST,
        lambda: changed(solution(AGAINST), DECIDE, final_action=str(Action.GATHER_MORE_EVIDENCE)),
        {"decision_right", "ends_right"},
        {
            "new_referral.case_status",
            "provider_pre_submission.final_action",
            "cross.closed_backed_by_provider_determination",
        },
    ),
    # grounds_named
    "a gap unnamed": (
        GAP, lambda: reason(GAP, f"{POLICY}: {GAPS[0]}"), {"grounds_named"}, set()
    ),
    "a proven criterion named": (
        GAP,
        lambda: reason(GAP, f"{POLICY}: {', '.join([*GAPS, PROVEN])}"),
        {"grounds_named"},
        set(),
    ),
    "no policy named": (GAP, lambda: reason(GAP, ", ".join(GAPS)), {"grounds_named"}, set()),
    "another plan's policy named": (
        GAP,
        lambda: reason(GAP, f"{twin(GAP)}: {', '.join(GAPS)}"),
        {"grounds_named"},
        set(),
    ),
    "two policies named": (
        GAP,
        lambda: reason(GAP, f"{POLICY} or {twin(GAP)}: {', '.join(GAPS)}"),
        {"grounds_named"},
        set(),
    ),
    "another document missing": (
        FILE,
        lambda: reason(FILE, f"{FILE.reference.policy.id}: missing: appeal_letter, referral_form"),
        {"grounds_named"},
        set(),
    ),
    "every code": (
        ENDED,
        lambda: reason(
            ENDED, f"{' '.join(Bar)} {oracle.reason_of(ENDED.reference, chart_of(ENDED))}"
        ),
        {"grounds_named"},
        set(),
    ),
    "no day": (ENDED, lambda: reason(ENDED, "coverage_inactive"), {"grounds_named"}, set()),
    "today's day": (
        ENDED,
        lambda: reason(ENDED, f"coverage_inactive: {ENDED.start.now:%Y-%m-%d}"),
        {"grounds_named"},
        set(),
    ),
    "no plan": (
        OUTSIDE,
        lambda: reason(OUTSIDE, f"provider_out_of_network: {OUTSIDE.reference.policy.id}"),
        {"grounds_named"},
        set(),
    ),
    "no criterion": (
        AGAINST,
        lambda: reason(AGAINST, f"{Bar.CONTRADICTED}: {AGAINST.reference.policy.id}"),
        {"grounds_named"},
        set(),
    ),
    "a criterion that holds": (
        AGAINST,
        lambda: reason(
            AGAINST,
            oracle.reason_of(AGAINST.reference, chart_of(AGAINST)) + f", {holds(AGAINST)}",
        ),
        {"grounds_named"},
        set(),
    ),
    # followed_up
    "put away for good": (
        GAP,
        lambda: changed(
            solution(GAP),
            DECIDE,
            override_reason=oracle.reason_of(GAP.reference, chart_of(GAP)),
        ),
        {"followed_up"},
        set(),
    ),
    # forms_true
    "another number": (SENT, wrong_number, {"forms_true"}, set()),
    "the contrary": (SENT, flipped, {"forms_true"}, set()),
    **{
        f"another {what}": (SENT, partial(answered, key, value), {"forms_true"}, set())
        for what, (key, value) in WRONG.items()
    },
    "somebody unknown to do it": (
        SENT,
        lambda: answered("request_servicing_provider_name", "Nobody Inparticular, MD"),
        {"forms_true"},
        set(),
    ),
    "a diagnosis on the form only": (
        SENT,
        lambda: answered(
            "request_diagnosis_codes", ", ".join([*SENT.reference.diagnosis_codes, "Q90.9"])
        ),
        {"forms_true"},
        set(),
    ),
    "corrected after it was packed": (
        SENT,
        lambda: before(
            wrong_number(),
            DECIDE,
            call(
                "forms.save_form_response",
                case_id=CASE,
                answers={
                    str(measured(SENT)): SENT.reference.answers[str(measured(SENT))]
                },
            ),
        ),
        {"forms_true"},
        set(),
    ),
    # packet_shows
    "shown only when asked": (PENDED, late_evidence, {"packet_shows"}, set()),
    # channel_right
    "by another channel": (
        SENT,
        lambda: changed(solution(SENT), SUBMIT, channel="phone"),
        {"channel_right"},
        set(),
    ),
    # minimum_necessary
    "a document without bearing": (
        SENT, lambda: enclosing(SENT, needless(SENT)), {"minimum_necessary"}, set()
    ),
    "a note copied into the letter": (
        SENT,
        lambda: letter(chart_document(SENT, needless(SENT))),
        {"minimum_necessary"},
        set(),
    ),
    # nothing_invented
    "an invented day": (
        SENT, lambda: letter("Seen again on 14 July 1987."), {"nothing_invented"}, set()
    ),
    "an invented value": (
        SENT, lambda: letter("The result was 7319.25."), {"nothing_invented"}, set()
    ),
    "another value of what was measured": (
        SENT, lambda: letter(f"{measurement(SENT)} was 7."), {"nothing_invented"}, set()
    ),
    "another drug": (
        SENT, lambda: letter(f"Treated with {drug(SENT)}."), {"nothing_invented"}, set()
    ),
    "another diagnosis": (
        SENT, lambda: letter("Known Q90.9 since birth."), {"nothing_invented"}, set()
    ),
    "another patient": (
        SENT,
        lambda: letter(f"As in the case of {stranger(SENT)[1]}."),
        {"nothing_invented"},
        set(),
    ),
    "an invented day in the answer to a pend": (
        PENDED,
        lambda: changed(
            solution(PENDED), "auth.respond_to_pend", note="It is of 14 July 1987."
        ),
        {"nothing_invented"},
        set(),
    ),
    # others_untouched
    "a letter on another's case": (
        SENT,
        lambda: before(
            solution(SENT),
            DECIDE,
            call(
                UPLOAD,
                case_id=foreign_case(SENT),
                kind="other",
                title="Note",
                content="Called.",
            ),
        ),
        {"others_untouched"},
        set(),
    ),
    "a second case": (
        SENT,
        lambda: before(solution(SENT), DECIDE, second_case(SENT)),
        {"case_right", "others_untouched"},
        set(),
    ),
    # nothing_sent
    "a packet for what is not sent": (
        GAP,
        lambda: before(
            solution(GAP),
            DECIDE,
            call(BUNDLING, case_id=CASE, document_ids=[chart_of(GAP).documents[0].id]),
        ),
        {"no_packet_made"},
        {"provider_pre_submission.packet_absent"},
    ),
    "sent, though evidence is missing": (
        GAP,
        lambda: [*sent_anyway(GAP), *solution(GAP)[-1:]],
        {
            "decision_right",
            "grounds_named",
            "followed_up",
            "nothing_sent",
            "no_packet_made",
            "ends_right",
        },
        {
            "new_referral.case_status",
            "provider_pre_submission.final_action",
            "provider_pre_submission.packet_absent",
        },
    ),
    # in_time
    "a pend that nobody answers": (
        PENDED,
        lambda: overdue(PENDED, "auth.respond_to_pend"),
        {"in_time", "ends_right"},
        {"new_referral.case_status"},
    ),
    "an appeal that nobody files": (
        APPEALED,
        lambda: overdue(APPEALED, "auth.file_appeal"),
        {"in_time", "ends_right"},
        {"new_referral.case_status"},
    ),
    # ends_right
    "left before the answer": (
        SENT,
        lambda: without(solution(SENT), "wait"),
        {"ends_right"},
        {"new_referral.case_status"},
    ),
    "not handed in": (SENT, lambda: solution(SENT)[:-1], {"submitted"}, set()),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_one_change_fails_the_check_that_is_named_for_it(name: str) -> None:
    instance, script, strict, paper = MUTATIONS[name]
    assert fails(play(instance, solution(instance))) == set()
    episode = play(instance, script())
    assert fails(episode) == strict
    assert fails(episode, Profile.PAPER) == paper


def test_every_check_of_the_strict_profile_is_failed_by_some_change() -> None:
    named = {check.name for check in AuthorizationVerifier().checks(Profile.STRICT)}
    failed = {name for *_, strict, _ in MUTATIONS.values() for name in strict}
    # A strict world refuses to take a step twice; `test_exploits` does it in a permissive one.
    assert failed == named - {"no_step_twice"} | {"submitted"}
