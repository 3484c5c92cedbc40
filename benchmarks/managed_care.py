"""Measure PriorAuthorization-v0 and its world into results/managed_care.json.

    python benchmarks/managed_care.py                               every figure
    python benchmarks/managed_care.py --only reset --only calls     only these

The full handbook is written into a temporary folder (its own figures are those of handbook.py).
Times are medians of tasks not seen before in the process, at the clinic's patients written, unless
a name says otherwise. Calls are timed as an agent makes them, through ``gym.make(...).step``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from _harness import (
    Figures,
    Run,
    Suite,
    Timing,
    at_least,
    at_most,
    make,
    once,
    reference_work,
    resident_mib,
    timed,
    with_prefix,
)
from pydantic import TypeAdapter

from healthgym.core.env import HealthEnv
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
from healthgym.rewards import resolve
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

ENV_ID = "HealthAgent/PriorAuthorization-v0"
SIZES = ("compact", "full")
#: Tasks of any difficulty that bring every patient of the clinic into the process.
SEEN = range(20_000, 20_060)

suite = Suite("managed_care", __doc__)


@contextmanager
def cache_folder() -> Iterator[None]:
    """Let what is written once be written into a folder that is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        yield


def _open(env: Any, index: int) -> None:
    env.reset(options={"index": index})


# -- resets --------------------------------------------------------------------------------------


@suite.measure(bounds={"import_make_reset_ms": at_most(1000), "reset_ms": at_most(1000)})
def cold(run: Run) -> Figures:
    """Make the environment and open its first task, in a process that has done nothing else."""
    env, made = once(lambda: make(ENV_ID))
    _, opened = once(lambda: _open(env, 0))
    _, searched = once(lambda: env.step(call("handbook.search", query="days to answer a pend")))
    return {
        "make_ms": made.median(),
        "reset_ms": opened.median(),
        "import_make_reset_ms": made.median() + opened.median(),
        "first_search_ms": searched.median(),
    }


@suite.measure(bounds={f"{name}.{size}_ms": at_most(5) for name in PRESETS for size in SIZES})
def reset(run: Run) -> Figures:
    """Open new tasks of each difficulty, with each handbook."""
    figures: Figures = {}
    with cache_folder():
        for name in PRESETS:
            envs = {size: make(ENV_ID, difficulty=name, handbook=size) for size in SIZES}
            for size, env in envs.items():
                numbers = range(run.repeats(300))
                taken = timed(partial(_open, env), numbers, warm_up=SEEN[: run.repeats(60)])
                named = {**taken.figures(size), **taken.spread(size)}
                figures |= with_prefix(name, {**named, f"{size}_best_ms": 1e3 * min(taken.wall)})
    return figures


@suite.measure()
def clinic(run: Run) -> Figures:
    """Write the clinic's patients, whom all tasks of a process share."""
    from healthgym.envs.managed_care.cases.clinic import ALIKE, GROUPS, chart

    before = resident_mib()
    everybody = [(group, place) for group in range(GROUPS) for place in range(ALIKE)]
    taken = timed(lambda each: chart(*each), everybody[: run.repeats(len(everybody))])
    held = resident_mib() - before
    read = timed(
        lambda each: [document.content for document in chart(*each).documents],
        everybody[: run.repeats(len(everybody))],
    )
    return {
        "patients": len(everybody),
        **taken.figures("chart"),
        **read.figures("all_texts_of_a_chart"),
        "all_s": sum(taken.wall),
        "all_mib": held,
        "all_with_texts_mib": resident_mib() - before,
    }


# -- calls ---------------------------------------------------------------------------------------


def _family(env: Any) -> AuthorizationFamily:
    family: AuthorizationFamily = env.unwrapped.family
    return family


def _calls(env: Any, indices: Iterable[int]) -> dict[str, list[Timing]]:
    """Time every call of the oracle's episodes, by tool; beside each, the reference."""
    taken: dict[str, list[Timing]] = {"reference": []}
    for index in indices:
        _open(env, index)
        script = _family(env).oracle(env.unwrapped.episode._instance, np.random.default_rng(index))
        for action in script:
            timing = timed(env.step, [action])
            taken.setdefault(action.name, []).append(timing)
            taken["reference"].append(timed(lambda _: reference_work(), range(1)))
    return taken


@suite.measure(bounds={f"{size}.call_us": at_most(150) for size in SIZES})
def calls(run: Run) -> Figures:
    """Make the calls of the oracle's episodes: all, each tool's, and each as a ratio."""
    figures: Figures = {}
    with cache_folder():
        for size in SIZES:
            env = make(ENV_ID, handbook=size)
            _calls(env, SEEN[: run.repeats(30)])
            taken = _calls(env, range(run.repeats(120)))
            reference = Timing.join(taken.pop("reference"))
            whole = Timing.join(timing for each in taken.values() for timing in each)
            each = {name: Timing.join(timings).median("us") for name, timings in taken.items()}
            figures[size] = {
                **whole.spread("call", "us"),
                "calls": len(whole.wall),
                "episodes": run.repeats(120),
                "call_over_reference_ratio": whole.over(reference),
                "by_tool": {f"{name}_us": value for name, value in sorted(each.items())},
            }
    return figures


# -- both desks ----------------------------------------------------------------------------------


class BothDesks(Family[Task, AuthorizationReference, WorldStart, ManagedCareWorld]):
    """One agent at the provider's desk and at the payer's, where nobody else works."""

    name: ClassVar[str] = "bench-both-desks"
    roles: ClassVar = {AGENT: Role((
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


def _provider(instance: AuthorizationInstance, rng: np.random.Generator) -> list[ToolCall]:
    """Return what the provider does until the request is sent."""
    script = list(oracle.solve(instance, rng))
    sent = next(n for n, each in enumerate(script) if each.name == "auth.submit_authorization")
    return script[: sent + 1]


def _payer(world: ManagedCareWorld) -> Iterator[ToolCall]:
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
    found = _finding(world, case)
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


def _finding(world: ManagedCareWorld, case_id: str) -> Finding:
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


def _approved(env: HealthEnv, indices: Iterable[int]) -> Iterator[tuple[int, list[ToolCall]]]:
    """Yield tasks that end in an approval, opened, with what the provider does in each."""
    for index in indices:
        _open(env, index)
        instance = env.episode._instance
        if instance.reference.course is Course.APPROVED:
            yield index, _provider(instance, np.random.default_rng(index))


def _played(env: HealthEnv, script: Sequence[ToolCall]) -> Timing:
    """Play an opened task at both desks, each call timed."""
    taken = [timed(env.step, [action]) for action in script]
    taken += [timed(env.step, [action]) for action in _payer(env.episode.world)]
    return Timing.join(taken)


@suite.measure(bounds={"episode_ms": at_most(25), "told_share": at_least(1)})
def both_desks(run: Run) -> Figures:
    """Take requests from the order to the delivered letter, at the provider's and the payer's."""
    env = HealthEnv(BothDesks(), resolve("sparse", None))
    # About one task in ten is an approval.
    tasks = _approved(env, range(run.repeats(300)))
    episodes, told, sizes, reference = [], [], [], []
    for number, (_, script) in enumerate(tasks):
        taken = _played(env, script)
        env.step(call("finish"))
        if number >= 3 or run.quick:
            episodes.append(taken)
            told.append(env.episode.verdict().success)
            sizes.append(len(taken.wall))
            reference.append(timed(lambda _: reference_work(), range(20)))
    whole = [sum(each.wall) for each in episodes]
    calls_of_all = Timing.join(episodes)
    return {
        "episodes": len(episodes),
        "calls_of_one": float(np.median(sizes)),
        "told_share": float(np.mean(told)),
        "episode_ms": 1e3 * float(np.median(whole)),
        "episode_cpu_ms": 1e3 * float(np.median([sum(each.cpu) for each in episodes])),
        "episode_best_ms": 1e3 * min(whole),
        **calls_of_all.spread("call", "us"),
        "call_over_reference_ratio": calls_of_all.over(Timing.join(reference)),
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())
