"""A request at both desks, for managed_care.py: one agent is the provider, then the payer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import TypeAdapter

from healthgym.core.family import EpisodeConfig, Evidence, Family, HandIn, Role, Script, Verifier
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.core.verbs import Verb
from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import (
    PRESETS,
    AuthorizationInstance,
    AuthorizationReference,
)
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.cases import CasesToolset
from healthgym.envs.managed_care.tools.chart import ChartToolset
from healthgym.envs.managed_care.tools.determination import DeterminationToolset
from healthgym.envs.managed_care.tools.docs import DocsToolset
from healthgym.envs.managed_care.tools.forms import FormsToolset
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.envs.managed_care.tools.inbox import InboxToolset
from healthgym.envs.managed_care.tools.payer_audit import AuditToolset
from healthgym.envs.managed_care.tools.payer_intake_hub import IntakeHubToolset
from healthgym.envs.managed_care.tools.payer_letter_center import LetterCenterToolset
from healthgym.envs.managed_care.tools.review import ReviewToolset
from healthgym.envs.managed_care.tools.triage import TriageToolset
from healthgym.worlds.managed_care.duty import is_in
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.policy import catalog
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.service_levels import triage_urgency
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld


class BothDesks(Family[Task, AuthorizationReference, WorldStart, ManagedCareWorld]):
    """One agent at the provider's desk and at the payer's, where nobody else works."""

    name: ClassVar[str] = "bench-both-desks"
    roles: Mapping[str, Role] = {AGENT: Role((
        ChartToolset, CasesToolset, DocsToolset, FormsToolset, AuthToolset, HandbookToolset,
        InboxToolset, IntakeHubToolset, TriageToolset, ReviewToolset, DeterminationToolset,
        LetterCenterToolset, AuditToolset,
    ), frozenset({Verb.FINISH}))}  # fmt: skip
    rules = EpisodeConfig(max_turns=60)
    hand_in = HandIn("finish", paper=False, withheld=False)

    def __init__(self) -> None:
        inner = AuthorizationFamily(replace(PRESETS["medium"], courses=(Course.APPROVED,)))
        self.generator = inner.generator

    class Approved(Verifier[Task, AuthorizationReference, ManagedCareWorld]):
        """Wants the provider to have been told."""

        check = Check("told", "The approval has been delivered.")

        def checks(self, profile: Profile) -> tuple[Check, ...]:
            """Return the only check."""
            return (self.check,)

        def judge(
            self,
            evidence: Evidence[Task, AuthorizationReference, ManagedCareWorld],
            profile: Profile,
        ) -> Judgement:
            """Return whether a letter went out."""
            sent = any(each.delivered_at for each in evidence.after.letters.letters.values())
            return Judgement.of([self.check.result(sent)])

    verifier = Approved()

    def open(self, instance: AuthorizationInstance) -> ManagedCareWorld:
        """Return the offices, the payer's empty."""
        return ManagedCareWorld(replace(instance.start, desk=None))

    def oracle(self, instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
        """Not played: what the payer does depends on what has been sent."""
        return []


def provider_calls(instance: AuthorizationInstance, rng: np.random.Generator) -> list[ToolCall]:
    """Return what the provider does until the request is sent."""
    script = [
        each for each in AuthorizationFamily().oracle(instance, rng) if isinstance(each, ToolCall)
    ]
    sent = next(n for n, each in enumerate(script) if each.name == "auth.submit_authorization")
    return script[: sent + 1]


def payer_calls(world: ManagedCareWorld) -> Iterator[ToolCall]:
    """Yield what the payer does with the request, told by what has been sent."""
    case = oracle.CASE

    def somebody(*roles: WorkerRole) -> str:
        return next(name for name in world.staff.with_role(*roles) if is_in(world, name))

    yield call("payer_intake_hub.list_intake_queue")
    yield call("payer_intake_hub.get_intake_case", case_id=case)
    yield call("payer_intake_hub.list_documents", case_id=case)
    yield call(
        "payer_intake_hub.confirm_decisions",
        case_id=case,
        request_complete=True,
        member_eligible=True,
        service_covered=True,
        provider_network_status="in_network",
    )
    intake = world.intake.get(case)
    urgency = triage_urgency(intake.level_of_urgency)
    level = world.triage.level(case, urgency)
    clerk = somebody(WorkerRole.INTAKE_COORDINATOR, WorkerRole.UM_NURSE)
    yield call("triage.get", case_id=case)
    yield call("triage.calculate_sla", case_id=case, urgency_level=str(urgency))
    yield call("triage.check_gold_card", case_id=case)
    yield call(
        "triage.set_disposition",
        case_id=case,
        urgency_level=str(urgency),
        sla_deadline=level.deadline(intake.received_at).isoformat(),
        sla_hours=level.hours,
        sla_rule_source=str(level.rule_source),
        disposition_reason="Reviewed against the policy.",
        actor=clerk,
    )
    yield call("triage.route_case", case_id=case, actor=clerk)
    found = finding_of(world, case)
    # As a world begins that is given to reviewers: with the policy's criteria at hand.
    world.nursing.set_catalog(case, catalog(found.policy, "nurse_review"), found.policy.criteria)
    nurse = somebody(WorkerRole.UM_NURSE)
    yield call("review.get_nurse_review_data", case_id=case)
    yield call(
        "review.save_criteria_evaluation",
        case_id=case,
        line_number=1,
        evaluations=json.loads(_EVALUATIONS.dump_json(found.evaluations())),
        reviewer_id=nurse,
    )
    yield call(
        "review.submit_nurse_case_recommendation",
        case_id=case,
        recommendation="approve",
        clinical_notes=found.summary(),
        reviewer_id=nurse,
    )
    yield call("determination.get_summary", case_id=case)
    yield call("determination.finalize", case_id=case, decision="approved", actor=nurse)
    yield call(
        "payer_letter_center.generate_approval",
        case_id=case,
        actor=nurse,
        supporting_basis=found.summary(),
    )
    letter = world.letters.of(case)[-1].id
    yield call("payer_letter_center.audit_completeness", letter_id=letter)
    yield call("payer_letter_center.deliver", letter_id=letter, channel="portal")
    yield call("payer_audit.summarize_case_quality", case_id=case)
    yield call("inbox.list_messages", case_id=case)
    yield call("cases.get_case", case_id=case)


_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])


def finding_of(world: ManagedCareWorld, case_id: str) -> Finding:
    """Return what the packet shows of the policy in force."""
    case, order = (
        world.cases.get(case_id),
        world.cases.order(world.cases.get(case_id).service_request_id),
    )
    patient_chart = world.charts[case.patient_id]
    day = case.created_at.date()
    plan = patient_chart.coverage.plan_name if patient_chart.coverage else ""
    state = patient_chart.patient.address_state
    book = world.start.policies
    policy = book.in_force(order.procedure_code, plan, state, day) if book else None
    assert policy is not None
    packet = read_packet(world, case_id, policy, day)
    return Finding(policy, packet, evaluate(policy, packet.facts, packet.request, day))
