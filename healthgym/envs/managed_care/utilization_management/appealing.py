"""A case on its way to an appeal: denied by the plan, disputed by the practice.

The payer's people and the practice's work it up through the same applications as anybody.
"""

from __future__ import annotations

from datetime import timedelta

from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.utilization_management.chain import Chain
from healthgym.envs.managed_care.utilization_management.disputes import (
    Dispute,
    Kind,
    asks_first,
)
from healthgym.envs.managed_care.utilization_management.slips import draw_slip
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    MemberNotification,
    Urgency,
)

#: Minutes that a physician's reading, its end, a letter and a notice take.
_PHYSICIAN, _FINAL, _LETTER, _NOTICE = 50, 10, 15, 5
#: Chance that a director of appeals stood in for the physician, where the rules let them sign.
_COVERS = 0.7
#: Hours after the denial at which it is appealed, at least and most: in a hurry, or not.
_HURRIED, _USUAL = (3, 20), (24, 240)
#: Business time that is left for the work when the agent begins, at least.
_LEFT = timedelta(hours=6)
#: How long the agent begins after the filing, at most.
_BEGINS = timedelta(hours=2)


def work_up_appeal(chain: Chain, dispute: Dispute) -> None:
    """Do what comes before an appeal is taken up: request, denial, letter, appeal.

    Args:
        chain: The case.
        dispute: What is disputed.

    Raises:
        ConfigurationError: If nobody could have erred as the dispute needs, or the times of the
            offices leave none for the work.
    """
    chain.submit()
    chain.set_catalog()
    chain.take_in()
    chain.sort()
    asked = asks_first(dispute)
    if asked:
        chain.ask()
        chain.reply()
        chain.take_in()
    _err(chain, dispute, answered=asked)
    chain.escalate(last=False)
    _deny(chain, chain.slip.finding if chain.slip else chain.finding)
    _appeal(chain, dispute)
    _require_time(chain)


def _err(chain: Chain, dispute: Dispute, *, answered: bool) -> None:
    """Have nurse and physician err where the denial rests on that, and where it stands anyhow.

    Without the second whoever copies the denial would be right wherever it stands.

    Raises:
        ConfigurationError: If no error would mislead.
    """
    rng = chain.rng.spawn(1)[0]
    if dispute.kind not in (Kind.STANDS, Kind.OVERLOOKED):
        return
    chain.slip = draw_slip(chain.case, chain.finding, rng, answered=answered, denies=True)
    if chain.slip is None:
        raise ConfigurationError("No error would mislead whoever reads the denial.")


def _deny(chain: Chain, found: Finding) -> None:
    """Deny as a physician does who follows the nurse, and tell everybody."""
    world, case = chain.world, chain.case_id
    role = WorkerRole.PHYSICIAN_REVIEWER
    if covered(world.operations) and chain.rng.random() < _COVERS:
        role = WorkerRole.APPEALS_MEDICAL_DIRECTOR
    doctor = chain.next(role, _PHYSICIAN)
    rows = chain.slip.evaluations() if chain.slip else found.evaluations(closed=True)
    world.medical.save(case, 1, evaluations=rows, reviewer_id=doctor)
    named = " and ".join(found.named())
    policy = f"{found.policy.id}, version {found.policy.version}"
    world.medical.submit(
        case,
        MdReviewDecision.DENY,
        clinical_notes="Read as the nurse has written it down.",
        determination_rationale=found.summary(),
        denial_rationale=f"{policy}: what was sent does not show {named}.",
        reviewer_id=doctor,
        signed_off=True,
    )
    chain.next(role, _FINAL, doctor)
    made = DeterminationDecision.DENIED
    world.determinations.finalize(case, made, actor=doctor)
    if world.clock.now > deadlines.decision_deadline(world, case):
        raise ConfigurationError(f"{case} could not be denied in time.")
    clerk = chain.next(WorkerRole.LETTER_SPECIALIST, _LETTER)
    world.letters.generate(case, LetterType.DENIAL, actor=clerk)
    channel = world.cases.get(case).letter_channel
    world.letters.deliver(world.letters.of(case)[-1].id, channel, clerk)
    chain.next(WorkerRole.LETTER_SPECIALIST, _NOTICE, clerk)
    world.letters.notify_member(case, MemberNotification.DENIAL, clerk)


def covered(rules: OperatingRules) -> bool:
    """Return whether directors of appeals may sign denials as well, under some rules."""
    director = str(WorkerRole.APPEALS_MEDICAL_DIRECTOR)
    return all(director in set(map(str, roles)) for roles in (rules.may_sign, rules.may_deny))


def _appeal(chain: Chain, dispute: Dispute) -> None:
    """File the appeal, as the coordinator does whose case it is."""
    world, case = chain.world, chain.world.cases.get(chain.case_id)
    hurried = case.urgency is Urgency.EXPEDITED
    hours = chain.rng.integers(*(_HURRIED if hurried else _USUAL))
    chain.pass_time(60 * int(hours))
    coordinator, at = chain.in_first(WorkerRole.PA_COORDINATOR, case.assigned_to)
    world.clock.advance(at - world.clock.now)
    world.actor = coordinator
    world.authorizations.file_appeal(case.id, _letter(chain, dispute), dispute.brought)


def _letter(chain: Chain, dispute: Dispute) -> str:
    """Return the words of an appeal: what it calls the policy, what it disputes, what it brings."""
    found = chain.slip.finding if chain.slip else chain.finding
    named = " and ".join(found.named())
    rule = f"By {dispute.policy}," if dispute.policy else "By your own policy,"
    shown = "the pages that were sent with the request show"
    if dispute.brought:
        shown = f"what we enclose ({', '.join(dispute.brought)}) and what was sent before show"
    return (
        f"We appeal the denial of {chain.case_id} and ask that somebody look at it who had no part "
        f"in it. {rule} the request is to be approved: {shown} {named}, on which the denial rests."
    )


def _require_time(chain: Chain) -> None:
    """Refuse an appeal whose limit leaves no time for the work.

    Raises:
        ConfigurationError: If it does not.
    """
    world = chain.world
    limit = deadlines.appeal_deadline(world, world.appeals.of(chain.case_id)[-1])
    begins = world.clock.now + _BEGINS
    if office_calendar(REGION).business_time(begins, limit) < _LEFT:
        raise ConfigurationError(f"The appeal of {chain.case_id} is due before it can be decided.")
