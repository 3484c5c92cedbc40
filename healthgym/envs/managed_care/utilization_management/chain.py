"""A case on its way through the payer's offices: the stages before the agent's.

The payer's people work it up through the same applications as anybody, each in their hours and
nobody twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

import numpy as np

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.utilization_management.packet import Sent
from healthgym.envs.managed_care.utilization_management.slips import Slip, draw_slip
from healthgym.envs.managed_care.utilization_management.task import Path, StartStage
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.policy import catalog
from healthgym.worlds.managed_care.policies.questionnaire import form_id
from healthgym.worlds.managed_care.provider_plan import PendAnswer
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    PriorAuthLine,
    QuestionnaireResponse,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.service_levels import service_level, triage_urgency
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    MdReviewDecision,
    NurseReviewRecommendation,
    ProviderNetworkStatus,
    SubmissionChannel,
    TriageDisposition,
    TriageUrgency,
    Urgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Minutes that a stage takes.
_OPENED, _INTAKE, _TRIAGE, _NURSE, _LETTER, _REPLY, _PHYSICIAN = -35, 25, 15, 45, 10, 70, 50


@dataclass(slots=True)
class Chain:
    """A case on its way through the payer's offices.

    Attributes:
        world: The world in which it is worked up.
        case: The case.
        sent: What the practice sent.
        case_id: Its id.
        path: How it is rightly decided.
        answer: What the practice answers when it is asked.
        rng: Where chance comes from: who does what.
        used: Who had a part in it.
        slips: Chance that a nurse errs who hands it on to the physician who begins.
        slip: How that nurse erred; None if not.
        door: The front door by which the request comes in and at which it waits; None if it is
            open at once.
    """

    world: ManagedCareWorld
    case: DrawnCase
    sent: Sent
    case_id: str
    path: Path
    answer: PendAnswer
    rng: np.random.Generator
    used: list[str] = field(default_factory=list)
    slips: float = 0.0
    slip: Slip | None = None
    door: SubmissionChannel | None = None

    # -- the practice ------------------------------------------------------------------------

    def submit(self) -> None:
        """Hand the request in, as somebody did who did not ask whether it was to be."""
        world, now = self.world, self.world.clock.now
        world.begin_with(self._file(now))
        world.cases.move(self.case_id, CaseStatus.SUBMITTED, world.actor)
        world.history.stage(self.case_id, "provider_submission", "submitted", world.actor)
        world.history.stage(self.case_id, "payer_intake", "received", world.actor)
        world.intake.receive(self.case_id, world.authorizations.packet(self.case_id))

    def _file(self, now: datetime) -> Iterator[object]:
        world, patient, order = self.world, self.case.patient.chart.patient, self.case.patient.order
        rules, policy = world.operations, self.case.book.in_force
        channel = self.door or rules.channel(order.priority, len(self.sent.documents))
        heard = order.priority is Urgency.EXPEDITED and rules.hastens(channel)
        urgency = TriageUrgency.URGENT if heard else TriageUrgency.ROUTINE
        level = service_level(rules, urgency, patient.address_state)
        quantity = self.case.drawn.request.quantity
        yield PriorAuthCase(
            id=self.case_id,
            external_case_id=self.case_id.replace("CASE-", "PA-"),
            patient_id=patient.id,
            service_request_id=order.id,
            status=CaseStatus.READY_TO_SUBMIT,
            urgency=order.priority,
            requested_by=order.ordering_practitioner_id,
            assigned_to=world.actor,
            created_at=now + timedelta(minutes=_OPENED),
            updated_at=now,
            decision_due_at=level.deadline(now),
            submission_channel=channel,
        )
        yield PriorAuthLine(
            id=f"LINE-{self.case_id}",
            case_id=self.case_id,
            line_number=1,
            procedure_code=order.procedure_code,
            diagnosis_codes=order.diagnosis_codes,
            site_of_service=order.site_of_service,
            requested_units=None if quantity is None else int(quantity),
        )
        yield self.case.book.book.card(policy, self.case_id, order.procedure_code)
        yield from self.sent.own
        if self.sent.answers:
            yield QuestionnaireResponse(
                id=world.documents.draw_id("QRESP-"),
                case_id=self.case_id,
                questionnaire_id=form_id(policy.id),
                answers=self.sent.answers,
                created_at=now + timedelta(minutes=_OPENED),
            )
        yield SubmissionPacket(
            id=world.authorizations.draw_id("SUB-"),
            case_id=self.case_id,
            channel=channel,
            payload={
                "bundle_document_id": None,
                "questionnaire_answers": self.sent.answers,
                "line_updates": {},
            },
            source_surface="provider_submission",
            attached_document_ids=self.sent.documents,
            submitted_at=now,
            status=str(CaseStatus.SUBMITTED),
        )

    def reply(self) -> None:
        """Answer a request for information, whose letter has gone out."""
        world = self.world
        clerk = self.next(WorkerRole.LETTER_SPECIALIST, _LETTER)
        channel = world.cases.get(self.case_id).letter_channel
        world.letters.deliver(world.letters.of(self.case_id)[-1].id, channel, clerk)
        self.pass_time(_REPLY)
        world.actor = world.cases.get(self.case_id).assigned_to
        world.authorizations.respond_to_pend(
            self.case_id, self.answer.sentence, self.answer.documents
        )

    # -- the payer ---------------------------------------------------------------------------

    def take_in(self) -> None:
        """Confirm what intake has to confirm."""
        world = self.world
        clerk = self.next(WorkerRole.INTAKE_COORDINATOR, _INTAKE)
        request = self.case.drawn.request
        network = ProviderNetworkStatus.IN_NETWORK
        if not request.in_network:
            network = ProviderNetworkStatus.OUT_OF_NETWORK
        world.actor = clerk
        world.intake.confirm(
            self.case_id,
            request_complete=not self.sent.found.missing_documents,
            member_eligible=request.coverage_active,
            service_covered=True,
            network=network,
        )

    def sort(self) -> None:
        """Triage and route."""
        worker = self.next(WorkerRole.INTAKE_COORDINATOR, _TRIAGE)
        triage, intake = self.world.triage, self.world.intake.get(self.case_id)
        urgency = triage_urgency(intake.level_of_urgency)
        level = triage.level(self.case_id, urgency)
        triage.set_disposition(
            self.case_id,
            urgency=urgency,
            deadline=level.deadline(intake.received_at).isoformat(),
            hours=level.hours,
            rule_source=level.rule_source,
            gold_card=triage.holds_gold_card(self.case_id),
            disposition=TriageDisposition.MD_REVIEW
            if self.reserved
            else TriageDisposition.NURSE_REVIEW,
            reason="By its policy.",
            actor=worker,
        )
        triage.route(self.case_id, worker, None)

    def ask(self) -> None:
        """Read the packet, and ask for what it leaves open."""
        seen = self.finding
        wanted = "\n".join(seen.wanted((), self.world.operations, self.case.today))
        if self.reserved:
            worker = self._evaluate_as_physician(seen)
            due = self.world.clock.now + timedelta(days=self.world.operations.pend_days)
            self.world.medical.submit(
                self.case_id,
                MdReviewDecision.REQUEST_INFO,
                clinical_notes="The packet leaves criteria open.",
                info_requested=wanted,
                info_deadline=f"{due:%Y-%m-%d}",
                reviewer_id=worker,
            )
            return
        worker = self._evaluate_as_nurse(seen.evaluations())
        self.world.nursing.submit(
            self.case_id,
            NurseReviewRecommendation.REQUEST_INFO,
            clinical_notes="The packet leaves criteria open.",
            info_requested=wanted,
            reviewer_id=worker,
        )

    def escalate(self, *, last: bool) -> None:
        """Read the packet, and hand it on to a physician; not always rightly.

        Args:
            last: Whether the agent goes on from here.
        """
        right = self.finding
        rng = self.rng.spawn(1)[0]
        if last and rng.random() < self.slips:
            answered = asked_before(StartStage.MD_REVIEW, self.path)
            self.slip = draw_slip(self.case, right, rng, answered=answered)
        slip = self.slip
        worker = self._evaluate_as_nurse((slip or right).evaluations())
        self.world.nursing.submit(
            self.case_id,
            NurseReviewRecommendation.ESCALATE,
            clinical_notes=(slip.finding if slip else right).summary(),
            reviewer_id=worker,
        )

    def want_call(self) -> None:
        """Have a physician ask for a call of peers before denying."""
        seen = self.finding
        worker, said = self._evaluate_as_physician(seen), seen.summary()
        self.world.medical.submit(
            self.case_id,
            MdReviewDecision.P2P_REVIEW,
            clinical_notes=said,
            determination_rationale=said,
            reviewer_id=worker,
        )

    def _evaluate_as_nurse(self, rows: tuple[NurseCriterionEvaluation, ...]) -> str:
        nursing, before = self.world.nursing, self._first(WorkerRole.UM_NURSE)
        worker = self.next(WorkerRole.UM_NURSE, _NURSE, before)
        nursing.save(self.case_id, 1, evaluations=rows, reviewer_id=worker)
        return worker

    def _evaluate_as_physician(self, seen: Finding) -> str:
        medical, before = self.world.medical, self._first(WorkerRole.PHYSICIAN_REVIEWER)
        worker = self.next(WorkerRole.PHYSICIAN_REVIEWER, _PHYSICIAN, before)
        medical.save(self.case_id, 1, evaluations=seen.evaluations(), reviewer_id=worker)
        return worker

    @property
    def reserved(self) -> bool:
        """Whether the policy leaves the service to a physician."""
        return not self.case.book.in_force.nurse_may_approve

    @property
    def finding(self) -> Finding:
        """What a reviewer sees in what was sent."""
        chart, policy = self.case.patient.chart, self.case.book.in_force
        sources: dict[str, tuple[str, ...]] = {}
        for name in self.sent.documents:
            for fact in sorted(chart.shows.get(name, ())):
                sources[fact] = (*sources.get(fact, ()), name)
        packet = Packet(
            documents=self.sent.documents,
            kinds=frozenset(str(page.kind) for page in self.world.intake.sent(self.case_id)),
            facts=tuple(fact for fact in chart.facts if fact.id in sources),
            sources=sources,
            request=self.case.drawn.request,
        )
        return Finding(policy, packet, self.sent.found)

    def set_catalog(self) -> None:
        """Say which criteria reviewers have to answer."""
        policy = self.case.book.in_force
        self.world.nursing.set_catalog(
            self.case_id, catalog(policy, "nurse_review"), policy.criteria
        )

    # -- who, and when -----------------------------------------------------------------------

    def next(self, role: WorkerRole, minutes: int, who: str = "") -> str:
        """Return who does what is next, when that person gets to it.

        Args:
            role: What somebody has to be.
            minutes: How long it takes.
            who: Somebody who has to do it; the one who is in first if empty.
        """
        self.pass_time(minutes)
        worker, at = self.in_first(role, who)
        self.world.clock.advance(at - self.world.clock.now)
        if worker not in self.used:
            self.used.append(worker)
        return worker

    def in_first(self, role: WorkerRole, who: str = "") -> tuple[str, datetime]:
        """Return who of a role is in first of those who had no part yet, and when."""
        staff = self.world.staff
        people = [who] if who else [p for p in staff.with_role(role) if p not in self.used]
        return in_first(self.world, people, self.rng)

    def pass_time(self, minutes: int) -> None:
        """Let time pass."""
        self.world.clock.advance(timedelta(minutes=minutes))

    def _first(self, role: WorkerRole) -> str:
        """Return who of a role has the case already; empty if nobody."""
        return next((one for one in self.used if self.world.staff.role_of(one) is role), "")


def work_up(chain: Chain, stage: StartStage) -> None:
    """Do what comes before a stage.

    Args:
        chain: The case.
        stage: The stage.
    """
    chain.submit()
    chain.set_catalog()
    if stage in (StartStage.FRONT_DOOR, StartStage.INTAKE):
        return
    chain.take_in()
    if stage is StartStage.TRIAGE:
        return
    chain.sort()
    if stage is StartStage.NURSE_REVIEW:
        return
    if asked_before(stage, chain.path):
        chain.ask()
        chain.reply()
        chain.take_in()
    if not chain.reserved:
        chain.escalate(last=stage is StartStage.MD_REVIEW)
    if stage is StartStage.PEER_TO_PEER:
        chain.want_call()


def asked_before(stage: StartStage, path: Path) -> bool:
    """Return whether information was asked for, and an answer came, before a stage."""
    late = stage in (StartStage.MD_REVIEW, StartStage.PEER_TO_PEER)
    return late and path in (Path.UNINFORMED, Path.UPHELD, Path.OVERTURNED)


def in_first(
    world: ManagedCareWorld, people: Sequence[str], rng: np.random.Generator
) -> tuple[str, datetime]:
    """Return which of some people is in first, any of those who are in at once, and when.

    Args:
        world: The world, at the time from which to look.
        people: Their ids.
        rng: Where chance comes from.
    """
    workers, now = world.staff.workers, world.clock.now
    # Of many people who work in the same hours.
    opens = cache(lambda region, hours: office_calendar(region, hours).next_opening(now))
    opening = {person: opens(workers[person].region, workers[person].hours) for person in people}
    at = min(opening.values())
    able = [person for person in people if opening[person] == at]
    return able[int(rng.integers(len(able)))], at
