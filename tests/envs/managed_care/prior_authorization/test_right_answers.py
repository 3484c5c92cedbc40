"""Right work passes in whatever form it is done: the oracle's is one of many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Bar, Course
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.worlds.managed_care.policies.documents import documents_for
from healthgym.worlds.managed_care.rules import Rules
from tests.envs.managed_care.prior_authorization.changes import (
    AGAINST,
    APPEALED,
    BUNDLING,
    DECIDE,
    ENDED,
    FILE,
    GAP,
    GAPS,
    OUTSIDE,
    PENDED,
    POLICY,
    SENT,
    SUBMIT,
    UNNEEDED,
    UPLOAD,
    Script,
    answered,
    enclosing,
    letter,
    measured,
    reason,
    wrong_number,
)
from tests.envs.managed_care.prior_authorization.playing import (
    CASE,
    answering,
    before,
    changed,
    chart_of,
    fails,
    first_of,
    play,
    position,
    solution,
)

FORMS = "forms.save_form_response"
KEY = str(measured(SENT))
VALUE = SENT.reference.answers[KEY]


def looking(instance: AuthorizationInstance) -> Script:
    """Return a solution with a look before every step, at whatever there is."""
    looks = (
        call("cases.list_cases"),
        call("inbox.list_messages"),
        call("people.list_contacts"),
        call("handbook.search", query="naming gaps"),
        call("chart.search_patients", query="a"),
    )
    return [each for step, look in zip(solution(instance), looks * 3, strict=False)
            for each in (look, step)]  # fmt: skip


def patient_steps(instance: AuthorizationInstance) -> Script:
    """Return a solution that waits day by day and reads what arrives."""
    script = solution(instance)
    place = position(script, "wait")
    days = [
        call("wait", until=f"{instance.start.now + timedelta(days=day):%Y-%m-%dT%H:%M}")
        for day in (1, 2, 3, 7)
    ]
    status = call("auth.check_status", case_id=CASE, channel="portal")
    return [*script[:place], *days, status, *script[place:]]


def corrected() -> Script:
    """Return a solution whose first answers were wrong, and put right before packing."""
    right = call(FORMS, case_id=CASE, answers={KEY: VALUE})
    return before(wrong_number(), BUNDLING, right)


def packed_anew() -> Script:
    """Return a solution whose first packet was wrong, and was never sent."""
    script = solution(SENT)
    wrong = call(
        BUNDLING,
        case_id=CASE,
        document_ids=[document.id for document in chart_of(SENT).documents][:2],
    )
    script = before(script, BUNDLING, wrong)
    script = changed(script, DECIDE, bundle_document_id="DOC-BUNDLE-0002")
    return changed(script, SUBMIT, bundle_document_id="DOC-BUNDLE-0002")


def everything_that_bears() -> Script:
    """Return a solution that encloses each document with bearing."""
    script = solution(SENT)
    held = script[position(script, BUNDLING)].arguments["document_ids"]
    assert isinstance(held, list)
    more = [name for name in sorted(SENT.reference.documents) if name not in held]
    asked = set(SENT.reference.on_request)
    kinds = {document.id: str(document.kind) for document in chart_of(SENT).documents}
    return enclosing(SENT, *(name for name in more if kinds[name] not in asked))


def others_shown(instance: AuthorizationInstance) -> list[str]:
    """Return documents that show what is needed, those first that the oracle does not take."""
    script = solution(instance)
    held = script[position(script, BUNDLING)].arguments["document_ids"]
    assert isinstance(held, list)
    chart, wanted = chart_of(instance), instance.reference
    taken: list[str] = []
    left = set(wanted.needed)
    for document in sorted(chart.documents, key=lambda each: each.id in held):
        shown = chart.shows.get(document.id, frozenset()) & left
        if document.id in wanted.documents and shown:
            taken.append(document.id)
            left -= shown
    kinds = {str(document.kind) for document in chart.documents if document.id in taken}
    for document in chart.documents:
        if str(document.kind) in wanted.kinds - kinds and document.id in wanted.documents:
            taken.append(document.id)
            kinds.add(str(document.kind))
    own = [name for name in held if chart.documents and name.startswith("DOC-UP")]
    return [] if set(taken + own) == set(held) else [*taken, *own]


def other_documents() -> Script:
    """Return a solution that shows the same by documents that the oracle did not take."""
    less = solution(OTHERS)[position(solution(OTHERS), BUNDLING)].arguments["document_ids"]
    assert isinstance(less, list)
    return enclosing(OTHERS, *others_shown(OTHERS), less=len(less))


def true_letter() -> Script:
    """Return a solution whose letter tells much, all of it so."""
    chart, wanted = chart_of(SENT), SENT.reference
    seen = max(chart.observations, key=lambda each: each.observed_at)
    drug = chart.medications[0]
    condition = chart.conditions[0]
    visit = chart.encounters[-1].occurred_at
    coverage = chart.coverage
    assert coverage is not None
    return letter(
        f"To {coverage.payer_name}, plan {coverage.plan_name}, member {coverage.member_number}.\n"
        f"Re: {chart.patient.first_name} {chart.patient.last_name}, born "
        f"{chart.patient.dob:%B %d, %Y}; {chart.orders[0].description} "
        f"({wanted.procedure_code}, {', '.join(wanted.diagnosis_codes)}).\n\n"
        f"1. {condition.display} ({condition.code}) is on the problem list.\n"
        f"2. {seen.display} was {seen.value_quantity:g} {seen.value_unit} on "
        f"{seen.observed_at:%m/%d/%Y}.\n"
        f"3. {drug.medication_name} since {drug.authored_on:%Y-%m-%d}; last seen on "
        f"{visit.day} {visit:%B %Y}.\n\n"
        f"We attach 3 documents, as {wanted.policy.id} version {wanted.policy.version} requires "
        f"under C1. Written at 09:30 on {SENT.start.now:%Y-%m-%d}."
    )


OTHERS = first_of(Course.APPROVED, others_shown, "hard")


def bar_reason(instance: AuthorizationInstance) -> str:
    """Return the day on which a coverage ended, in words."""
    coverage = chart_of(instance).coverage
    assert coverage is not None
    assert coverage.termination_date is not None
    return f"{coverage.termination_date:%d %B %Y}"


#: In which form → the task and the script.
FORMS_OF_RIGHT: Mapping[str, tuple[AuthorizationInstance, Callable[[], Script]]] = {
    "with looks between": (SENT, lambda: looking(SENT)),
    "waiting day by day": (SENT, lambda: patient_steps(SENT)),
    "the letter before the forms": (
        SENT,
        lambda: before(
            [each for each in solution(SENT) if each.name != UPLOAD],
            FORMS,
            solution(SENT)[position(solution(SENT), UPLOAD)],
        ),
    ),
    "answers in several goes": (
        SENT,
        lambda: before(
            solution(SENT),
            FORMS,
            call(FORMS, case_id=CASE, answers={KEY: VALUE}),
        ),
    ),
    "answers put right before packing": (SENT, corrected),
    "a packet put right before sending": (SENT, packed_anew),
    "everything that bears": (SENT, everything_that_bears),
    "other documents that suffice": (OTHERS, other_documents),
    "a letter that tells the story": (SENT, true_letter),
    "a letter in other words": (
        SENT,
        lambda: changed(solution(SENT), UPLOAD, title="LMN", content="Please see enclosed."),
    ),
    "a number with zeros": (SENT, lambda: answered(KEY, f"{float(VALUE):.3f}")),
    "a birthday as on the card": (
        SENT,
        lambda: answered("request_patient_dob", f"{chart_of(SENT).patient.dob:%m/%d/%Y}"),
    ),
    "the family name first": (
        SENT,
        lambda: answered(
            "request_patient_name",
            f"{chart_of(SENT).patient.last_name.upper()}, {chart_of(SENT).patient.first_name}",
        ),
    ),
    "another clinician to do it": (
        SENT,
        lambda: answering(solution(SENT), **servicing(SENT)),
    ),
    "not documented who will do it": (
        SENT,
        lambda: answering(
            solution(SENT),
            request_servicing_provider_name="Not documented",
            request_servicing_provider_npi="not documented",
        ),
    ),
    "a further diagnosis of the patient's": (
        SENT,
        lambda: changed(
            solution(SENT),
            "cases.create_from_order",
            diagnosis_codes=[
                *SENT.reference.diagnosis_codes,
                next(
                    each.code
                    for each in chart_of(SENT).conditions
                    if each.code not in SENT.reference.diagnosis_codes
                ),
            ],
        ),
    ),
    "the pend answered in words": (
        PENDED,
        lambda: changed(
            solution(PENDED), "auth.respond_to_pend", note="Please find it enclosed; thank you."
        ),
    ),
    "the appeal in other words": (
        APPEALED,
        lambda: changed(
            solution(APPEALED),
            "auth.file_appeal",
            rationale=(
                f"Reviewed under the former version. In force: {APPEALED.reference.policy.id}, "
                f"version {APPEALED.reference.policy.version}; each criterion is shown."
            ),
        ),
    ),
    "gaps in prose": (
        GAP,
        lambda: reason(
            GAP,
            f"Under {POLICY.lower()} (2026.1) we still lack: "
            + " and ".join(name.lower() for name in reversed(GAPS))
            + ". Dr. asked on 03/02/2026 for records; ICD-10 C34.90 is not in question.",
        ),
    ),
    "gaps as a list": (
        GAP,
        lambda: reason(GAP, f"Policy {POLICY}:\n" + "\n".join(f"- {name}: open" for name in GAPS)),
    ),
    "a missing document in words": (
        FILE,
        lambda: reason(
            FILE,
            f"Not on file for {FILE.reference.policy.id}: the "
            + " and the ".join(kind.replace("_", " ") for kind in FILE.reference.missing),
        ),
    ),
    "a missing document, and what it would show": (
        FILE,
        lambda: reason(
            FILE,
            f"{FILE.reference.policy.id}: {', '.join(shown_by_missing())}; missing: "
            + ", ".join(sorted(FILE.reference.missing)),
        ),
    ),
    "coverage in words": (
        ENDED,
        lambda: reason(ENDED, f"Coverage inactive! It ended on {bar_reason(ENDED)}."),
    ),
    "network in words": (
        OUTSIDE,
        lambda: reason(
            OUTSIDE,
            f"{plan(OUTSIDE).upper()} lists us as out; {OUTSIDE.reference.policy.id} makes no "
            "exception (PROVIDER-OUT-OF-NETWORK).",
        ),
    ),
    "no authorization in words": (
        UNNEEDED,
        lambda: reason(
            UNNEEDED,
            f"CPT {UNNEEDED.reference.procedure_code}: service not PA required, see "
            f"{UNNEEDED.reference.policy.id}.",
        ),
    ),
    "one contradicted criterion": (
        AGAINST,
        lambda: reason(
            AGAINST,
            f"{min(AGAINST.reference.gaps)} of {AGAINST.reference.policy.id} fails: "
            f"{Bar.CONTRADICTED}",
        ),
    ),
}


def shown_by_missing() -> list[str]:
    """Return the criteria that the document would show that is not on file."""
    policy = FILE.reference.policy
    needs = documents_for(policy.id, policy.criteria)
    shown = [name for need in needs if need.kind in FILE.reference.missing
             for name in need.criteria]  # fmt: skip
    assert shown
    return shown


def plan(instance: AuthorizationInstance) -> str:
    """Return the name of a patient's plan."""
    coverage = chart_of(instance).coverage
    assert coverage is not None
    return coverage.plan_name


def servicing(instance: AuthorizationInstance) -> dict[str, str]:
    """Return the answers that name another clinician to carry it out."""
    doctor = next(
        each
        for each in instance.start.staff.practitioners.values()
        if each.npi and each.id != instance.reference.practitioner_id
    )
    return {
        "request_servicing_provider_name": doctor.name,
        "request_servicing_provider_npi": str(doctor.npi),
    }


@pytest.mark.parametrize("name", FORMS_OF_RIGHT)
def test_it_passes_in_this_form_too(name: str) -> None:
    instance, script = FORMS_OF_RIGHT[name]
    episode = play(instance, script())
    for profile in Profile:
        assert fails(episode, profile) == set()
        assert episode.verdict(profile=profile).success


def test_answers_with_units_and_in_words_pass_where_the_office_takes_them() -> None:
    permissive = replace(SENT, start=replace(SENT.start, rules=Rules.COMPAT))
    words = {"yes": "Yes, see the note", "no": "No.", "not documented": "Not documented."}
    script = solution(permissive)
    answers = script[position(script, FORMS)].arguments["answers"]
    assert isinstance(answers, dict)
    said = {key: words.get(value, value) for key, value in answers.items()}
    units = {q.key: q.unit for q in SENT.reference.policy.form.questions}
    said[KEY] = f"{VALUE} {units[KEY]}"
    assert fails(play(permissive, answering(script, **said))) == set()


def test_answers_sent_along_count_with_the_saved_ones() -> None:
    assert fails(play(SENT, changed(solution(SENT), SUBMIT, questionnaire_answers={KEY: VALUE}))) \
        == set()  # fmt: skip
    other = changed(solution(SENT), SUBMIT, questionnaire_answers={KEY: "7319"})
    assert fails(play(SENT, other)) == {"forms_true"}
