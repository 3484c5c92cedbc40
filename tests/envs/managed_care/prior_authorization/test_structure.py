"""Records of the practice in which one field contradicts the order, or leaves a choice."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.core.tool import call
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization.recorded import (
    alone_again,
    describes,
    has_grounds,
    of_version,
)
from healthgym.worlds.managed_care.vocabulary.authorization import UploadableDocumentKind
from tests.envs.managed_care.prior_authorization.changes import (
    BUNDLING,
    DECIDE,
    OPENING,
    SENT,
    Script,
)
from tests.envs.managed_care.prior_authorization.playing import (
    CASE,
    changed,
    chart_of,
    fails,
    first_of,
    play,
    position,
    solution,
)

OPEN = first_of(Gap.ABSENT, lambda each: len(each.reference.gaps) > 1)
LETTER = UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY
UNLISTED = first_of(Course.APPROVED, lambda each: LETTER not in each.reference.kinds)
EXTERNAL = first_of(Course.EXTERNAL, lambda each: "hip" not in each.reference.policy.title.lower())
ENDED = first_of(Bar.INACTIVE, lambda each: True)
FORM = "forms.save_form_response"
#: The request is of the first of March, and the right day of follow-up the eleventh.
TODAY, DAY = date(2026, 3, 1), date(2026, 3, 11)


@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ({"requested_date": "2026-12-24T09:00:00Z"}, False),
        ({"description": "Total hip replacement, left"}, False),
        ({"requested_date": SENT.start.now.isoformat()}, True),
    ],
    ids=["another day", "another service", "the day of the request"],
)
def test_the_case_repeats_the_order(fields: dict[str, str], right: bool) -> None:
    failed = fails(play(SENT, changed(solution(SENT), OPENING, **fields)))
    assert ("case_right" not in failed) is right


@pytest.mark.parametrize(
    ("reason", "right"),
    [
        ("MP-SUR-042: C2; again on 2026-03-11", True),
        ("MP-SUR-042: C2 (sessions end 2026-03-05); again on 2026-03-11.", True),
        ("C2, C3. Needed by 2026-03-07: the summary. To be taken up again 11 March 2026", True),
        ("again on 2026-03-11; C2 by 2026-03-09", True),
        ("coverage_inactive: ended 2026-02-28; follow-up 03/11/2026", True),
        ("MP-SUR-042: C2; again on 2026-03-10", False),
        ("MP-SUR-042: C2; again on 2026-03-10, 2026-03-11 or 2026-03-12", False),
        ("MP-SUR-042: C2; again on 2026-03-10; again on 2026-03-11", False),
        ("MP-SUR-042: C2; again on 2026-03-11; or on 2026-05-01", False),
        ("coverage_inactive: by 2026-03-04; by 2026-03-05; again on 2026-03-11", False),
    ],
)
def test_one_day_of_follow_up_is_named(reason: str, right: bool) -> None:
    assert alone_again(reason, DAY, TODAY) is right


def test_a_choice_of_days_is_no_follow_up() -> None:
    reason = str(solution(OPEN)[position(solution(OPEN), DECIDE)].arguments["override_reason"])
    days = ", ".join(f"2026-{month:02d}-{day:02d}" for month in (3, 4) for day in range(1, 31))
    script = changed(solution(OPEN), DECIDE, override_reason=f"{reason}, {days}")
    assert "followed_up" in fails(play(OPEN, script))


def test_a_version_that_is_no_longer_in_force_spoils_a_reason() -> None:
    reason = str(solution(OPEN)[position(solution(OPEN), DECIDE)].arguments["override_reason"])
    policy = OPEN.reference.policy
    for version, right in (("2024.1", False), (policy.version, True)):
        named = reason.replace(policy.id, f"{policy.id} {version}", 1)
        failed = fails(play(OPEN, changed(solution(OPEN), DECIDE, override_reason=named)))
        assert ("grounds_named" not in failed) is right
    assert of_version("MP-SUR-042 C2, ejection fraction 35.5; again on 2026-03-11", "2026.1")


@pytest.mark.parametrize("kind", ["letter_of_medical_necessity", "other"])
def test_a_letter_goes_only_where_the_policy_lists_one(kind: str) -> None:
    text = "We ask for the service. The attached documents show what the policy requires."
    written = call("docs.upload_evidence", case_id=CASE, kind=kind, title="Letter", content=text)
    assert "minimum_necessary" in fails(play(UNLISTED, _enclosing(written)))


def test_a_copy_goes_in_the_place_of_its_page_and_not_beside_it() -> None:
    name = _enclosed()[0]
    page = next(each for each in chart_of(UNLISTED).documents if each.id == name)
    copied = call(
        "docs.upload_evidence",
        case_id=CASE,
        kind=str(page.kind),
        title=page.title,
        content=page.content,
    )
    assert "minimum_necessary" in fails(play(UNLISTED, _enclosing(copied)))


def _enclosed() -> list[str]:
    script = solution(UNLISTED)
    held = script[position(script, BUNDLING)].arguments["document_ids"]
    assert isinstance(held, list)
    return [str(each) for each in held]


def _enclosing(written: object) -> Script:
    script = changed(solution(UNLISTED), BUNDLING, document_ids=[*_enclosed(), "DOC-UP-0001"])
    place = position(script, BUNDLING)
    return [*script[:place], written, *script[place:]]  # type: ignore[list-item]


def test_an_appeal_that_is_to_be_upheld_has_its_grounds_too() -> None:
    script = changed(solution(EXTERNAL), "auth.file_appeal", rationale="Please look again.")
    assert "ends_right" in fails(play(EXTERNAL, script))
    assert has_grounds("Go by mp-sur-042, version 2026.1.", "MP-SUR-042", "2026.1")
    assert not has_grounds("Go by MP-SUR-042.", "MP-SUR-042", "2026.1")


def test_a_description_may_be_shorter_and_not_another() -> None:
    order = "Physical therapy evaluation, high complexity"
    assert describes("PT eval, high complexity", order)
    assert not describes("Total hip replacement", order)
    assert not describes("MRI brain", "MRI lumbar spine without contrast")


def test_no_other_policy_is_mentioned_where_none_has_to_be() -> None:
    reason = str(solution(ENDED)[position(solution(ENDED), DECIDE)].arguments["override_reason"])
    other = f"{reason} (nor by MP-SUR-042, nor MP-ONC-010)"
    script = changed(solution(ENDED), DECIDE, override_reason=other)
    assert "grounds_named" in fails(play(ENDED, script))


def test_the_form_names_the_service_that_was_ordered() -> None:
    script = solution(EXTERNAL)
    answers = dict(script[position(script, FORM)].arguments["answers"])
    answers["request_description"] = "Total hip replacement"
    assert "forms_true" in fails(play(EXTERNAL, changed(script, FORM, answers=answers)))
