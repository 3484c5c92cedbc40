"""How an appeal is rightly decided: by the policy in force, all that was sent, its grounds."""

from __future__ import annotations

from healthgym.envs.managed_care.checks import expectation as paper
from healthgym.envs.managed_care.utilization_management.chain import Chain
from healthgym.envs.managed_care.utilization_management.disputes import Dispute
from healthgym.envs.managed_care.utilization_management.packet import turning
from healthgym.envs.managed_care.utilization_management.task import (
    AppealTruth,
    Path,
    ReviewReference,
    StartStage,
)
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    DeterminationDecision,
    LetterType,
    MemberNotification,
)


def appeal_reference(chain: Chain, dispute: Dispute, path: Path) -> ReviewReference:
    """Return the right handling of an appeal.

    Args:
        chain: The case, denied and appealed.
        dispute: What is disputed.
        path: How the appeal is rightly decided.
    """
    case, after = chain.case, dispute.after
    overturned = path is Path.APPEAL_OVERTURNED
    outcome = AppealOutcome(str(path))
    status, letter = CaseStatus(str(path)), LetterType(str(path))
    good = favourable(case.book.in_force.criteria)
    denial = (chain.slip.finding if chain.slip else chain.finding).assessment.criteria
    documents = tuple(dict.fromkeys((*dispute.sent.documents, *dispute.brought)))
    shows = case.patient.chart.shows
    results = {name: each.result for name, each in after.criteria.items()}
    return ReviewReference(
        case_id=chain.case_id,
        stage=StartStage.APPEAL,
        path=path,
        policy=case.book.in_force,
        postures={name: each.posture for name, each in after.criteria.items()},
        results=results,
        final=results,
        bearing={
            name: frozenset(n for n in documents if shows.get(n, frozenset()) & set(each.facts))
            for name, each in after.criteria.items()
        },
        packet=documents,
        void=case.patient.void.intersection(documents),
        slipped=chain.slip.wrong if chain.slip else frozenset(),
        denied_on=frozenset() if overturned else frozenset(turning(case, after)),
        appeal=AppealTruth(
            outcome=outcome,
            grounded=dispute.grounded,
            turned=frozenset(
                name
                for name, each in after.criteria.items()
                if each.posture is good[name] and denial[name].posture is not good[name]
            ),
            brought=dispute.brought,
        ),
        determination=DeterminationDecision.APPROVED
        if overturned
        else DeterminationDecision.DENIED,
        letters=(letter,),
        notices=(str(MemberNotification.APPEAL_OUTCOME),),
        status=status,
        paper=paper.Expectation(
            contract=paper.Contract.V3,
            target_case_id=chain.case_id,
            stages=(paper.Stage.OUTCOME, paper.Stage.APPEAL),
            target_status=status,
            letter_types=(str(letter),),
            appeal_outcome=outcome,
        ),
    )
