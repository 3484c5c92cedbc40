"""Who sits at the desks of the drill: two who know the answer, and scripts that do not look.

What is right for the payer follows from what the provider sends, so each side looks at the world
when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.drills import CASE, NOTE
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.prior_auth_arena.drill import PAPERS
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance, ArenaReference
from healthgym.envs.managed_care.prior_auth_arena.truth import Received
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat, Table, Worker
from healthgym.envs.managed_care.prior_authorization.oracle import reason_of
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    MdReviewDecision,
    ProviderDeterminationAction,
)

_SENDS = ProviderDeterminationAction.SUBMIT_PA
_APPROVE, _DENY = MdReviewDecision.APPROVE, MdReviewDecision.DENY
_ASK = MdReviewDecision.REQUEST_INFO
_MET, _NOT_MET, _UNCLEAR = (
    CriterionResult.MET,
    CriterionResult.NOT_MET,
    CriterionResult.UNCLEAR,
)
#: What is found on each criterion, by id.
Found = Mapping[str, CriterionResult]
#: Makes somebody who sits at a desk.
Making = Callable[[Seat, ArenaInstance], Worker]


class Side(Worker):
    """Somebody who knows the answer, at one desk of the drill.

    Args:
        seat: The desk.
        instance: The task.
    """

    def __init__(self, seat: Seat, instance: ArenaInstance) -> None:
        super().__init__(seat)
        self.instance, self._begun = instance, False

    def begin(self) -> bool:
        """Read the policy before all else; return whether that was now."""
        if self._begun:
            return False
        self._begun = True
        self.seat.do("handbook.read", path=page_path(self.instance.reference.provider.policy.id))
        return True


class Provider(Side):
    """Sends what the note allows, and answers with the report."""

    def turn(self) -> None:
        """Decide, answer, or finish, by where the case lies."""
        if self.begin():
            self.decide(sends=self.wanted.action is _SENDS)
        elif self._status is CaseStatus.PENDED_ACTION_REQUIRED:
            self.answer()
        else:
            self.seat.do("finish")

    @property
    def wanted(self) -> AuthorizationReference:
        """What is right."""
        return self.instance.reference.provider

    @property
    def report(self) -> str:
        """Id of the report."""
        shows = self.instance.reference.case.patient.chart.shows
        return next(name for name in shows if name != NOTE)

    @property
    def blank(self) -> str:
        """Id of the paper that shows nothing."""
        return next(name for name in PAPERS if name != self.report)

    @property
    def _status(self) -> CaseStatus:
        return self.seat.world.cases.get(CASE).status

    def decide(self, *, sends: bool) -> None:
        """Decide, and send what is to be sent."""
        action = _SENDS if sends else ProviderDeterminationAction.DO_NOT_SUBMIT
        chart = self.instance.reference.case.patient.chart
        more = {} if sends else {"override_reason": reason_of(self.wanted, chart)}
        self.seat.do(
            "auth.finalize_provider_determination",
            case_id=CASE,
            final_action=str(action),
            **more,
        )
        if sends:
            self.seat.do("auth.submit_authorization", case_id=CASE, channel="portal")

    def answer(self) -> None:
        """Answer with the report."""
        self.reply(self.report)

    def reply(self, *names: str) -> None:
        """Send documents in answer."""
        self.seat.do(
            "auth.respond_to_pend", case_id=CASE, note="As asked for.", document_ids=list(names)
        )


class Payer(Side):
    """Finds what was sent shows, and decides by it."""

    #: Whether something was asked for.
    asked = False

    def turn(self) -> None:
        """Review what lies there; finish if nothing does."""
        assessed = self.assessed()
        if assessed is None:
            self.seat.do("finish")
            return
        self.begin()
        found = self.found(assessed)
        self.save(found, assessed)
        decision = self.decision(found)
        if decision is _ASK and self.asked:
            decision = _DENY
        self.conclude(decision, found)
        if decision is _ASK:
            self.asked = True
        else:
            self.seat.do("finish")

    def assessed(self) -> PolicyAssessment | None:
        """Return what everything shows that was sent so far; None if nothing was."""
        world = self.seat.offices
        for case_id, before in world.received.items():
            received = Received(before, world, self.instance.reference.case, case_id)
            return received.shows((*received.packet, *received.reply))
        return None

    def found(self, assessed: PolicyAssessment) -> Found:
        """Return the findings."""
        return {name: each.result for name, each in assessed.criteria.items()}

    def decision(self, found: Found) -> MdReviewDecision:
        """Return the decision that findings call for."""
        if _NOT_MET in found.values():
            return _DENY
        return _ASK if _UNCLEAR in found.values() else _APPROVE

    def save(self, found: Found, assessed: PolicyAssessment) -> None:
        """Write the findings down, each with the document it rests on."""
        shows = self.instance.reference.case.patient.chart.shows
        sources = {
            name: [page for page, facts in shows.items() if facts & set(each.facts)]
            for name, each in assessed.criteria.items()
        }
        named = {name: sources[name] for name, result in found.items() if result is not _UNCLEAR}
        self.seat.do("review.save_md_review", **_saving(found, named))

    def conclude(self, decision: MdReviewDecision, found: Found) -> None:
        """Decide, with the grounds that the decision needs."""
        against = [name for name, result in found.items() if result is not _MET]
        named = ", ".join(against) or "C1, C2"
        given = _concluding(decision, named)
        if decision is _ASK:
            given = {
                "case_id": CASE,
                "decision": str(_ASK),
                "info_requested": f"document on {named}",
                "info_deadline": f"{pends.due(self.seat.world):%Y-%m-%d}",
            }
        self.seat.do("review.submit_md_case_decision", **given)


class Listening(Seat):
    """A seat that takes what it was told as news before it acts, as models do."""

    def do(self, name: str, /, **arguments: object) -> bool:
        """Read the news, then call a tool."""
        if not self.episode.done(self.role):
            self.table.news(self.role)
        return super().do(name, **arguments)


KNOWING: Mapping[str, Making] = {PROVIDER: Provider, PAYER: Payer}


def seated(
    episode: ArenaEpisode, instance: ArenaInstance, sides: Mapping[str, Making], seed: int = 0
) -> Table:
    """Return a table with workers at some seats of an episode of the drill.

    Args:
        episode: The episode, at its beginning.
        instance: Its task.
        sides: Makes who sits where, by role.
        seed: Of what workers leave to chance.
    """
    table = Table(episode)
    for number, (role, make) in enumerate(sides.items()):
        rng = np.random.default_rng((seed, number))
        table.workers[role] = make(Listening(episode, rng, role, table.others), instance)
    return table


def play(
    episode: ArenaEpisode, instance: ArenaInstance, sides: Mapping[str, Making], seed: int = 0
) -> ArenaEpisode:
    """Play an episode of the drill to its end, a worker on each side, and return it.

    Args:
        episode: The episode, at its beginning.
        instance: Its task.
        sides: Makes who sits where, by role.
        seed: Of what workers leave to chance.
    """
    seated(episode, instance, sides, seed).play()
    for role in episode.roles:
        if not episode.done(role):
            episode.stop(role)
    return episode


def baselines(role: str) -> Mapping[str, Baseline[Task, ArenaReference, WorldStart]]:
    """Return the scripts of a seat that do not read what decides.

    Args:
        role: The seat.
    """
    if role == PAYER:
        return {
            "prior": _decided(_DENY, _NOT_MET),
            "flood": _decided(_APPROVE, _MET),
        }
    return {"prior": _withheld, "flood": _sent}


def _withheld(instance: ArenaInstance, rng: np.random.Generator) -> Script:
    """Hold it back, with the first criterion for a reason."""
    reason = f"{Bar.CONTRADICTED}: {instance.reference.provider.policy.id}, C1"
    return [_finalized("do_not_submit", override_reason=reason), call("finish")]


def _sent(instance: ArenaInstance, rng: np.random.Generator) -> Script:
    """Send it, and all that is on file once something is asked."""
    note = {"note": "As asked for.", "document_ids": list(PAPERS)}
    return [
        _finalized("submit_pa"),
        call("auth.submit_authorization", case_id=CASE, channel="portal"),
        call("auth.respond_to_pend", case_id=CASE, **note),
        call("finish"),
    ]


def _finalized(action: str, **more: object) -> ToolCall:
    return call("auth.finalize_provider_determination", case_id=CASE, final_action=action, **more)


def _decided(
    decision: MdReviewDecision, result: CriterionResult
) -> Baseline[Task, ArenaReference, WorldStart]:
    def script(instance: ArenaInstance, rng: np.random.Generator) -> Script:
        names = list(instance.reference.provider.postures)
        return [
            call("review.save_md_review", **_saving(dict.fromkeys(names, result), {})),
            call("review.submit_md_case_decision", **_concluding(decision, ", ".join(names))),
            call("finish"),
        ]

    return script


def _saving(found: Found, sources: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return the arguments that write findings down."""
    evaluations = [
        {
            "criterion_id": name,
            "criterion_text": "",
            "result": str(result),
            "source_refs_used": list(sources.get(name, ())),
        }
        for name, result in found.items()
    ]
    return {"case_id": CASE, "line_number": 1, "evaluations": evaluations}


def _concluding(decision: MdReviewDecision, named: str) -> dict[str, object]:
    """Return the arguments that approve or deny, signed."""
    more = {"denial_rationale": named} if decision is _DENY else {}
    return {
        "case_id": CASE,
        "decision": str(decision),
        "determination_rationale": named,
        "signed_off": True,
        **more,
    }
