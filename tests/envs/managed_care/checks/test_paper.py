"""Which checks are asked, what they add up to, and that judging changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.core.verdict import Check, Profile, Verdict
from healthgym.envs.managed_care.checks.expectation import Contract, Expectation, Stage
from healthgym.envs.managed_care.checks.paper import (
    NEVER_APPLY,
    RULES,
    checks_of,
    judge,
    score,
    stages,
)
from healthgym.envs.managed_care.checks.rule import FailureMode, catalog
from tests.envs.managed_care.checks.judged import (
    answers,
    begin,
    expectation_of,
    play,
    recorded,
)


def test_the_catalogue_and_the_rules_name_the_same_checks() -> None:
    listed = [name for names in catalog().values() for name in names]
    ruled = {rule.check.name for rules in RULES.values() for rule in rules}
    plain = {name for name in ruled if ".document_absent." not in name}
    assert plain | {"provider_pre_submission.document_absent"} == set(listed)
    assert len(listed) == len(set(listed)) == 167
    assert sum(map(len, NEVER_APPLY.values())) == 9


def test_every_check_has_a_failure_mode_and_a_sentence() -> None:
    for rules in RULES.values():
        for rule in rules:
            assert rule.check.failure_mode in set(FailureMode)
            assert rule.check.requirement.endswith(".")
            assert not rule.not_applicable or rule.not_applicable.endswith(".")


def test_nothing_that_applies_is_no_success() -> None:
    check = Check("x", "X holds.")
    assert score([]).success is False
    assert score([check.not_applicable()]).fraction == 0.0
    assert score([check.result(True), check.not_applicable()]).success is True
    assert score([check.result(True), check.result(False)]).fraction == 0.5


def test_one_failed_gate_leaves_nothing_of_the_score() -> None:
    check = Check("x", "X holds.")
    assert score([check.result(True), check.result(False)], Contract.CM3).fraction == 0.0


def test_the_first_editions_of_care_management_have_three_gates() -> None:
    row = recorded()["v-gate-02"]
    early = replace(expectation_of(row), contract=Contract.CM1)
    results = judge(play(row), early)
    assert len(results) == 3
    assert score(results, Contract.CM1).success


def test_stages_are_inferred_where_none_are_named() -> None:
    named = expectation_of(recorded()["v-um-01"])
    told = replace(named, stages=None)
    assert stages(told) == (Stage.TRIAGE, Stage.PHYSICIAN, Stage.OUTCOME, Stage.CROSS)
    assert stages(named)[-1] is Stage.CROSS
    bare = Expectation(contract=Contract.V3)
    assert stages(bare) == (Stage.OUTCOME, Stage.CROSS)
    call = replace(expectation_of(recorded()["v-um-24"]), stages=None)
    assert Stage.PEER in stages(call)
    pa = replace(expectation_of(recorded()["v-pa-01"]), stages=None)
    assert stages(pa) == (Stage.NEW_REFERRAL, Stage.OUTCOME, Stage.CROSS)
    criteria = replace(expectation_of(recorded()["v-um-19"]), stages=None, payer_route=None)
    assert stages(criteria) == (Stage.NURSE, Stage.OUTCOME, Stage.CROSS)


def test_a_world_is_only_read() -> None:
    for name in ("v-pa-01", "v-um-24", "v-e2e-12", "v-cm-01", "v-gate-01"):
        row = recorded()[name]
        world = play(row)
        before = world.digest()
        judge(world, expectation_of(row))
        assert world.digest() == before


@pytest.mark.parametrize("domain", ["pa_um", "care_management"])
def test_any_ending_can_be_judged_by_any_expectation(domain: str) -> None:
    rows = [row for row in recorded().values() if row["domain"] == domain]
    expected = {repr(expectation_of(row)): expectation_of(row) for row in rows}
    for row in rows:
        world = play(row)
        for one in expected.values():
            results = judge(world, one)
            names = {check.name for check in checks_of(one)}
            assert set(answers(results)) <= names


@pytest.mark.parametrize("name", ["v-pa-01", "v-pa-05", "v-um-01", "v-um-24", "v-cm-01"])
def test_doing_nothing_never_succeeds(name: str) -> None:
    row = recorded()[name]
    results = judge(begin(row), expectation_of(row))
    assert not score(results).success


def test_what_is_idle_passes_where_nothing_was_done() -> None:
    for name in ("v-pa-05", "v-um-01", "v-um-24", "v-cm-01"):
        row = recorded()[name]
        for result in judge(begin(row), expectation_of(row)):
            assert not result.check.idle or result.passed is not False, result.check.name


def test_a_verdict_tells_how_a_run_failed() -> None:
    row = recorded()["v-um-06"]
    verdict = Verdict.of(Profile.PAPER, judge(play(row), expectation_of(row)))
    assert not verdict.success
    assert verdict.failure_modes == (FailureMode.POLICY,)
    assert verdict.fraction == 36 / 39


def test_a_refusal_counts_only_where_somebody_called() -> None:
    row = recorded()["v-gate-24"]
    world = play(row)
    assert answers(judge(world, expectation_of(row)))["gate_consent_documented"] is True
    world.outreach.records.keep(())
    assert answers(judge(world, expectation_of(row)))["gate_consent_documented"] is False
