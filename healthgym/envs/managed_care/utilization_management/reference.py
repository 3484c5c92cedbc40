"""What the right handling of a case is: from the policy in force, what was sent, and the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.checks import expectation as paper
from healthgym.envs.managed_care.utilization_management.at_door import opened
from healthgym.envs.managed_care.utilization_management.chain import Chain, asked_before
from healthgym.envs.managed_care.utilization_management.packet import Sent, seen, turning
from healthgym.envs.managed_care.utilization_management.task import (
    WORDS,
    IntakeTruth,
    Path,
    ReviewReference,
    StartStage,
    TriageTruth,
)
from healthgym.worlds.managed_care.apps.payer import lanes
from healthgym.worlds.managed_care.charts.sheets import told_by
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.service_levels import triage_urgency
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    PeerToPeerOutcome,
    ProviderNetworkStatus,
    TriageDisposition,
)

_APPROVED, _DENIED = DeterminationDecision.APPROVED, DeterminationDecision.DENIED
_STATUSES = {
    _APPROVED: CaseStatus.APPROVED,
    DeterminationDecision.PARTIALLY_APPROVED: CaseStatus.PARTIALLY_APPROVED,
    _DENIED: CaseStatus.DENIED,
}
_LETTERS = {
    _APPROVED: (LetterType.APPROVAL, "approval"),
    DeterminationDecision.PARTIALLY_APPROVED: (LetterType.PARTIAL_APPROVAL, "approval"),
    _DENIED: (LetterType.DENIAL, "denial"),
}
_DECISIONS: Mapping[Path, MdReviewDecision] = {
    Path.PHYSICIAN_APPROVES: MdReviewDecision.APPROVE,
    Path.PARTLY: MdReviewDecision.PARTIAL_APPROVE,
    Path.DENIED: MdReviewDecision.DENY,
    Path.UNINFORMED: MdReviewDecision.DENY,
    Path.UPHELD: MdReviewDecision.P2P_REVIEW,
    Path.OVERTURNED: MdReviewDecision.P2P_REVIEW,
}
_OUTCOMES = {
    Path.UPHELD: PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION,
    Path.OVERTURNED: PeerToPeerOutcome.OVERTURN_TO_APPROVAL,
}
_ASKING = (Path.INFORMED, Path.UNINFORMED, Path.UPHELD, Path.OVERTURNED)
_ADVERSE = (Path.DENIED, Path.UNINFORMED, Path.UPHELD, Path.OVERTURNED)
_STAGES = tuple(StartStage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A case as the agent takes it over.

    Attributes:
        chain: How it came there.
        stage: The stage.
        path: How it is rightly decided.
        lapses: Whether a request for information is never answered.
        call: What the clinician on the other side of a call holds.
        on_request: Kinds of documents that are not sent before they are asked for, and are.
    """

    chain: Chain
    stage: StartStage
    path: Path
    lapses: bool
    call: PeerContract | None
    on_request: frozenset[str] = frozenset()

    @property
    def case(self) -> DrawnCase:
        """The case."""
        return self.chain.case

    @property
    def sent(self) -> Sent:
        """What was sent."""
        return self.chain.sent

    def comes(self, stage: StartStage) -> bool:
        """Return whether a stage is still to come, or is the one that is begun with."""
        return _STAGES.index(self.stage) <= _STAGES.index(stage)


def reference_of(taken: Taken) -> ReviewReference:
    """Return the right handling.

    Args:
        taken: The case.
    """
    case, sent, path = taken.case, taken.sent, taken.path
    answered = asked_before(taken.stage, path)
    asked = path in _ASKING and not answered
    word = None if taken.lapses else WORDS[path]
    first, last = sent.found, _after(taken)
    letters, notices = _post(word, pends=asked)
    # In the source's offices nothing lapses.
    strict = taken.chain.world.rules is Rules.STRICT
    waits = CaseStatus.CLOSED if strict else CaseStatus.PENDED_ACTION_REQUIRED
    status = waits if taken.lapses else CaseStatus.SUBMITTED
    decision = None if taken.lapses or taken.stage is StartStage.PEER_TO_PEER else _decision(taken)
    return ReviewReference(
        case_id=taken.chain.case_id,
        stage=taken.stage,
        path=path,
        policy=case.book.in_force,
        postures={name: each.posture for name, each in first.criteria.items()},
        results={name: each.result for name, each in first.criteria.items()},
        final={name: each.result for name, each in last.criteria.items()},
        bearing=_bearing(taken, last),
        packet=(*sent.documents, *(taken.chain.answer.documents if answered else ())),
        void=case.patient.void.intersection(sent.documents),
        reply=taken.chain.answer.documents if asked else (),
        answered=answered,
        slipped=taken.chain.slip.wrong if taken.chain.slip else frozenset(),
        lapses=taken.lapses,
        door=taken.chain.door,
        intake=_intake(taken) if taken.comes(StartStage.INTAKE) else None,
        triage=_triage(taken) if _is_triaged(taken) else None,
        recommendation=_recommendation(taken),
        wanted=_wanted(taken) if asked else frozenset(),
        decision=decision,
        denied_on=frozenset(turning(case, last)) if path in _ADVERSE else frozenset(),
        units=last.approved_quantity if path is Path.PARTLY else None,
        call=taken.call,
        outcome=_OUTCOMES.get(path),
        determination=word,
        letters=letters,
        notices=notices,
        status=status if word is None else _STATUSES[word],
        paper=_paper(taken, word, letters, status if word is None else _STATUSES[word]),
    )


def _after(taken: Taken) -> PolicyAssessment:
    """Return what everything shows that is sent, with a reply or before."""
    if taken.path is not Path.INFORMED:
        return taken.sent.found
    own = {page.id for page in taken.sent.own}
    chart = [name for name in taken.sent.documents if name not in own]
    return seen(taken.case, (*chart, *taken.sent.held_back), taken.sent.own)


def _bearing(taken: Taken, found: PolicyAssessment) -> dict[str, frozenset[str]]:
    shows = taken.case.patient.chart.shows
    held = taken.sent.held_back if taken.path is Path.INFORMED else ()
    facts = {fact for each in found.criteria.values() for fact in each.facts}
    told = {name: told_by(shows, name, facts) for name in (*taken.sent.documents, *held)}
    return {
        criterion: frozenset(n for n, shown in told.items() if not shown.isdisjoint(each.facts))
        for criterion, each in found.criteria.items()
    }


def _intake(taken: Taken) -> IntakeTruth:
    request = taken.case.drawn.request
    network = ProviderNetworkStatus.IN_NETWORK
    if not request.in_network:
        network = ProviderNetworkStatus.OUT_OF_NETWORK
    return IntakeTruth(
        complete=not taken.sent.found.missing_documents,
        eligible=request.coverage_active,
        covered=True,
        network=network,
    )


def _is_triaged(taken: Taken) -> bool:
    return taken.comes(StartStage.TRIAGE) and taken.path is not Path.RETURNED


def _triage(taken: Taken) -> TriageTruth:
    world, case_id = opened(taken.chain.world, taken.chain.case_id), taken.chain.case_id
    intake = world.intake.get(case_id)
    urgency = triage_urgency(intake.level_of_urgency)
    level = world.triage.level(case_id, urgency)
    disposition = TriageDisposition.NURSE_REVIEW
    if taken.path is Path.LANE:
        disposition = TriageDisposition.AUTO_APPROVAL
    elif taken.chain.reserved:
        disposition = TriageDisposition.MD_REVIEW
    return TriageTruth(
        urgency=urgency,
        deadline=level.deadline(intake.received_at),
        gold_card=lanes.gold_card(world, case_id),
        disposition=disposition,
        target=lanes.lane(world, case_id),
    )


def _recommendation(taken: Taken) -> NurseReviewRecommendation | None:
    if not taken.comes(StartStage.NURSE_REVIEW) or taken.chain.reserved:
        return None
    match taken.path:
        case Path.NURSE_APPROVES:
            return NurseReviewRecommendation.APPROVE
        case Path.LANE | Path.RETURNED:
            return None
        case Path.PARTLY | Path.DENIED:
            return NurseReviewRecommendation.ESCALATE
        case _:
            return NurseReviewRecommendation.REQUEST_INFO


def _decision(taken: Taken) -> MdReviewDecision | None:
    if taken.path is Path.INFORMED and taken.chain.reserved:
        return MdReviewDecision.APPROVE
    return _DECISIONS.get(taken.path)


def _wanted(taken: Taken) -> frozenset[str]:
    """Return the criteria, and the kinds of documents, that are to be asked for."""
    found = taken.sent.found
    kinds = {str(kind) for kind in found.missing_documents}
    return frozenset({*turning(taken.case, found), *kinds, *taken.on_request})


def _post(
    word: DeterminationDecision | None, *, pends: bool
) -> tuple[tuple[LetterType, ...], tuple[str, ...]]:
    letters, notices = ([LetterType.PEND], ["pend"]) if pends else ([], [])
    if word is not None:
        letter, notice = _LETTERS[word]
        letters, notices = [*letters, letter], [*notices, notice]
    return tuple(letters), tuple(notices)


# -- what the source's checks expect --------------------------------------------------------------


def _paper(
    taken: Taken,
    word: DeterminationDecision | None,
    letters: tuple[LetterType, ...],
    status: CaseStatus,
) -> paper.Expectation:
    """Return what the source's checks expect, stage by stage from where the case is taken over."""
    case, begins = taken.case, taken.comes(StartStage.INTAKE)
    world = taken.chain.world
    intake = _intake(taken)
    order = case.patient.order
    npi = world.staff.practitioners[order.ordering_practitioner_id].npi
    triage = _triage(taken) if _is_triaged(taken) else None
    return paper.Expectation(
        contract=paper.Contract.V3,
        target_case_id=taken.chain.case_id,
        stages=tuple(_stages(taken)),
        target_status=status,
        letter_types=tuple(map(str, letters)),
        payer_route=triage.target if triage else None,
        intake=paper.IntakeTruth(
            diagnosis_codes=order.diagnosis_codes,
            checks_provider=True,
            provider_npi=npi,
            # A reply opens the intake again, and what came with it counts.
            request_complete=not _after(taken).missing_documents,
            member_eligible=intake.eligible,
            service_covered=intake.covered,
        )
        if begins
        else paper.IntakeTruth(),
        triage=paper.TriageTruth(
            disposition=triage.disposition,
            urgency_level=triage.urgency,
            gold_card_eligible=triage.gold_card,
        )
        if triage
        else paper.TriageTruth(),
        nurse_recommendation=_recommendation(taken),
        physician_decision=_decision(taken),
        determination=None
        if word is None
        else paper.DeterminationArtifact(decision=word, rationale_present=True),
        call=paper.CallArtifact(
            outcome=_OUTCOMES[taken.path], scheduling_complete=True, notes_present=True
        )
        if taken.call is not None
        else None,
        peer=paper.PeerWorkflow(
            fixed_result=_OUTCOMES[taken.path],
            expected_decision=word,
            expected_case_status=status,
        )
        if taken.call is not None
        else None,
    )


def _stages(taken: Taken) -> list[paper.Stage]:
    """Return the stages that are judged: those that the agent does."""
    path = taken.path
    found = [paper.Stage.INTAKE] if taken.comes(StartStage.INTAKE) else []
    if path is Path.RETURNED:
        return found
    if taken.comes(StartStage.TRIAGE):
        found.append(paper.Stage.TRIAGE)
    if _recommendation(taken) is not None:
        found.append(paper.Stage.NURSE)
    if taken.stage is not StartStage.PEER_TO_PEER and not taken.lapses:
        decided = _decision(taken) is not None
        found += [paper.Stage.PHYSICIAN] if decided else []
    if taken.call is not None and not taken.lapses:
        found.append(paper.Stage.PEER)
    return [*found, paper.Stage.OUTCOME]
