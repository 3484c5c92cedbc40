"""Each check of the source that is asked here can fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.worlds.managed_care.rules import Rules
from tests.envs.managed_care.prior_authorization.changes import (
    AGAINST,
    DECIDE,
    GAP,
    OPENING,
    SENT,
    Script,
)
from tests.envs.managed_care.prior_authorization.playing import (
    FINISH,
    before,
    changed,
    chart_of,
    fails,
    play,
    solution,
)
from tests.envs.managed_care.prior_authorization.test_mutations import MUTATIONS


def anew(instance: AuthorizationInstance) -> ToolCall:
    """Return the call that opens a case on an order of the agent's own."""
    taken_over = oracle.open_case(chart_of(instance).orders[0])
    return changed([taken_over], OPENING, source_order_id=None)[0]


COMPAT = replace(SENT, start=replace(SENT.start, rules=Rules.COMPAT))
GAP_COMPAT = replace(GAP, start=replace(GAP.start, rules=Rules.COMPAT))
AGAINST_COMPAT = replace(AGAINST, start=replace(AGAINST.start, rules=Rules.COMPAT))
#: Checks of the source: the task, and a script that fails them all and no other.
BY_SOURCE: Mapping[str, tuple[AuthorizationInstance, Callable[[], Script], set[str]]] = {
    "a second order": (
        COMPAT,
        lambda: before(solution(COMPAT), DECIDE, anew(COMPAT)),
        {
            "new_referral.service_request_created",
            "new_referral.procedure_code",
            "new_referral.required_diagnosis_codes",
            "new_referral.service_type",
            "new_referral.site_of_service",
            "new_referral.case_created",
            "new_referral.case_status",
            "provider_pre_submission.required_documents_present",
            "cross.forward_transitions",
        },
    ),
    "another service": (
        COMPAT,
        lambda: changed(solution(COMPAT), OPENING, procedure_code="99999")[:1],
        {
            "new_referral.procedure_code",
            "new_referral.case_status",
            "provider_pre_submission.required_documents_present",
        },
    ),
    "another diagnosis": (
        COMPAT,
        lambda: changed(solution(COMPAT), OPENING, diagnosis_codes=["Q90.9"])[:1],
        {
            "new_referral.required_diagnosis_codes",
            "new_referral.case_status",
            "provider_pre_submission.required_documents_present",
        },
    ),
    "no case": (
        GAP_COMPAT,
        lambda: [FINISH],
        {
            "new_referral.case_created",
            "new_referral.case_status",
            "provider_pre_submission.provider_determination_present",
            "provider_pre_submission.final_action",
            "cross.forward_transitions",
        },
    ),
    "no decision": (
        AGAINST_COMPAT,
        lambda: solution(AGAINST_COMPAT)[:1],
        {
            "new_referral.case_status",
            "provider_pre_submission.provider_determination_present",
            "provider_pre_submission.final_action",
            "cross.closed_backed_by_provider_determination",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_SOURCE)
def test_the_source_s_checks_fail_where_they_should(name: str) -> None:
    instance, script, expected = BY_SOURCE[name]
    assert fails(play(instance, script()), Profile.PAPER) == expected


def test_every_check_of_the_source_that_is_asked_can_fail() -> None:
    asked = set()
    for instance in (SENT, GAP, AGAINST):
        verdict = play(instance, solution(instance)).verdict(profile=Profile.PAPER)
        asked |= {result.check.name for result in verdict.checks}
    failed = {name for *_, paper in MUTATIONS.values() for name in paper}
    failed |= {name for *_, paper in BY_SOURCE.values() for name in paper}
    assert failed == asked


@pytest.mark.parametrize("rules", Rules)
def test_a_request_on_an_order_of_the_agents_own_is_judged(rules: Rules) -> None:
    """Through to what the payer makes of it: nothing stands on record of such an order before."""
    sent = replace(SENT, start=replace(SENT.start, rules=rules))
    script = changed(solution(sent), OPENING, source_order_id=None)
    episode = play(sent, script, refused=True)
    made = [one.service_request_id for one in episode.world.cases.cases.values()]
    assert set(made) & episode.world.cases.orders.keys()
    assert fails(episode) == {"case_right"}
