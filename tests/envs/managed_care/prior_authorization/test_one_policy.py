"""A policy is one object: one threshold of it changes everything that is made of it.

Each test looks at another thing: what is printed, asked, required, drawn, decided and judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.core.verifier import Evidence
from healthgym.envs.managed_care.cases.clinic import page_of
from healthgym.envs.managed_care.cases.situations import Course, situation
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.oracle import CASE, open_case
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationConfig,
    AuthorizationInstance,
    AuthorizationReference,
)
from healthgym.envs.managed_care.prior_authorization.verifier import AuthorizationVerifier
from healthgym.policies.scripted import ScriptPolicy
from healthgym.testing.play import ORACLE, actions_of
from healthgym.worlds.managed_care.apps.provider.forms import of_case
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.criteria import (
    MeasurementCriterion,
    QuantityCriterion,
)
from healthgym.worlds.managed_care.policies.documents import documents_for
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.policy import Policy, amend
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    ItemOperator,
    PlaceOfService,
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

CONFIG = AuthorizationConfig(criteria=(2, 20), courses=(Course.APPROVED,))
_UPWARD = (ItemOperator.GT, ItemOperator.GTE)


@dataclass(frozen=True)
class Played:
    """A task that the oracle solved, and its policy with one threshold moved past the patient."""

    env: PriorAuthorizationEnv
    instance: AuthorizationInstance
    criterion: str
    stricter: Policy

    @property
    def reference(self) -> AuthorizationReference:
        return self.instance.reference

    @property
    def policy(self) -> Policy:
        return self.reference.policy

    def world(self, policy: Policy) -> ManagedCareWorld:
        """Return the offices on that morning, under one version of the policy or the other."""
        start = self.instance.start
        assert start.policies is not None
        others = [each for each in start.policies.policies if each.id != policy.id]
        return ManagedCareWorld(replace(start, policies=PolicyBook([policy, *others])))

    def request(self) -> Request:
        patient = self.instance.start.charts[self.reference.patient_id].patient
        limits = [
            item.maximum
            for item in criteria(self.policy.criteria)
            if isinstance(item, QuantityCriterion)
        ]
        return Request(
            procedure_code=self.reference.procedure_code,
            diagnosis_codes=self.reference.diagnosis_codes,
            site=PlaceOfService(self.reference.site),
            quantity=min(limits, default=None),
            age=age_on(patient.dob, self.instance.start.now.date()),
            sex=patient.sex,
        )


def moved(reference: AuthorizationReference) -> tuple[str, Policy] | None:
    """Return a criterion and a policy under which the patient's value no longer reaches it."""
    for item in criteria(reference.policy.criteria):
        value = reference.answers.get(f"{item.id.lower()}_value")
        if not isinstance(item, MeasurementCriterion) or value is None:
            continue
        past = float(value) + (1 if item.operator in _UPWARD else -1)
        stricter = amend(reference.policy, item.id, threshold=past)
        if stricter.text(item.id) != reference.policy.text(item.id):
            return item.id, stricter
    return None


@pytest.fixture(scope="module")
def played() -> Played:
    env = PriorAuthorizationEnv(difficulty=CONFIG)
    for index in range(200):
        instance = env.family.generator.draw(Split.TRAIN, index)
        start, reference = instance.start, instance.reference
        found = moved(reference) if reference.course is Course.APPROVED else None
        if found is None:
            continue
        case = Played(env, instance, *found)
        facts = start.charts[reference.patient_id].facts
        judged = evaluate(found[1], facts, case.request(), start.now.date())
        if judged.determination is DeterminationDecision.DENIED:
            for action in actions_of(env, ScriptPolicy(ORACLE), Split.TRAIN, index):
                env.step(action)
            return case
    raise AssertionError("No task rests on a measured value.")


def test_the_page_says_so(played: Played) -> None:
    before, after = page_of(played.policy).text, page_of(played.stricter).text
    assert played.policy.text(played.criterion) in before
    assert played.stricter.text(played.criterion) in after
    assert played.policy.text(played.criterion) not in after


def test_the_questionnaire_asks_so(played: Played) -> None:
    asked = []
    for policy in (played.policy, played.stricter):
        world = played.world(policy)
        order = world.charts[played.reference.patient_id].orders[0]
        call = open_case(order)
        world.cases.create_from_order(**{**call.arguments, "priority": order.priority})
        questions = [each for form in of_case(world, CASE) for each in form.questions]
        asked.append({question.key: question.text for question in questions})
    key = f"{played.criterion.lower()}_value"
    assert asked[0][key] != asked[1][key]
    assert {k for k in asked[0] if asked[0][k] != asked[1][k]} == {key}


def test_the_documents_are_asked_for_so(played: Played) -> None:
    before, after = (
        {need.kind: need.text for need in documents_for(policy.id, policy.criteria)}
        for policy in (played.policy, played.stricter)
    )
    assert [kind for kind in before if before[kind] != after[kind]]


def test_cases_are_drawn_so(played: Played) -> None:
    today = played.instance.start.now.date()
    rng = np.random.default_rng(4)
    fit = {played.policy.version: 0, "stricter": 0}
    for name, policy in ((played.policy.version, played.policy), ("stricter", played.stricter)):
        for _ in range(12):
            drawn = situation(policy, Course.APPROVED, 1, played.request(), today, rng)
            found = evaluate(played.stricter, drawn.facts, drawn.request, today)
            fit[name] += found.posture is Posture.SATISFIED
    assert fit["stricter"] == 12
    assert fit[played.policy.version] < 12


def test_the_payer_decides_so(played: Played) -> None:
    start = played.instance.start
    chart = start.charts[played.reference.patient_id]
    decided = [
        evaluate(policy, chart.facts, played.request(), start.now.date()).determination
        for policy in (played.policy, played.stricter)
    ]
    assert decided == [DeterminationDecision.APPROVED, DeterminationDecision.DENIED]


def test_the_episode_is_judged_so(played: Played) -> None:
    episode, verifier = played.env.episode, AuthorizationVerifier()
    failed = []
    for policy in (played.policy, played.stricter):
        evidence = Evidence(
            task=episode.task,
            reference=replace(played.reference, policy=policy),
            before=ManagedCareWorld(played.instance.start),
            after=episode.world,
            events=(),
            submission=None,
        )
        judgement = verifier.judge(evidence, Profile.STRICT)
        failed.append({each.check.name for each in judgement.results if not each.passed})
    assert failed == [set(), {"packet_shows"}]
