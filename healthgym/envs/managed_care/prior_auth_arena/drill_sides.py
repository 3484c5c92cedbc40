"""Who sits at the desks of the drill: two who know the answer, and scripts that do not look.

What is right for the payer follows from what the provider sends, so each side looks at the world
when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.prior_auth_arena.drill_dealing import HELD
from healthgym.envs.managed_care.prior_auth_arena.drill_offices import DrillOffices
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance, ArenaReference
from healthgym.envs.managed_care.prior_auth_arena.truth import Received
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat, Table, Worker
from healthgym.envs.managed_care.prior_authorization.oracle import reason_of
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
    """Sends what the notes allow, and answers with the report."""

    def turn(self) -> None:
        """Decide, answer, or finish, by where the cases lie."""
        cases, parts = self.seat.world.cases, self.instance.reference.parts
        asked = [
            one
            for one in parts
            if cases.get(case_of(one)).status is CaseStatus.PENDED_ACTION_REQUIRED
        ]
        if self.begin():
            for one in parts:
                self.decide(one, sends=one.provider.action is _SENDS)
        elif asked:
            self.answer(asked[0])
        else:
            self.seat.do("finish")

    def decide(self, part: ArenaReference, *, sends: bool) -> None:
        """Decide a case, and send what is to be sent."""
        action = _SENDS if sends else ProviderDeterminationAction.DO_NOT_SUBMIT
        more = {} if sends else {"override_reason": self.reason(part)}
        self.seat.do(
            "auth.finalize_provider_determination",
            case_id=case_of(part),
            final_action=str(action),
            **more,
        )
        if sends:
            self.seat.do("auth.submit_authorization", case_id=case_of(part), channel="portal")

    def reason(self, part: ArenaReference) -> str:
        """Return why a case is not sent."""
        return reason_of(part.provider, part.case.patient.chart)

    def answer(self, part: ArenaReference) -> None:
        """Answer with the report."""
        self.reply(part, report_of(part))

    def reply(self, part: ArenaReference, *names: str) -> None:
        """Send documents in answer."""
        self.seat.do(
            "auth.respond_to_pend",
            case_id=case_of(part),
            note="As asked for.",
            document_ids=list(names),
        )


class Payer(Side):
    """Finds what was sent shows, and decides by it."""

    def __init__(self, seat: Seat, instance: ArenaInstance) -> None:
        super().__init__(seat, instance)
        #: Cases about which something was asked for.
        self.asked: set[str] = set()

    def turn(self) -> None:
        """Review what lies there; finish if nothing does."""
        waiting = cast(DrillOffices, self.seat.offices).waiting
        parts = {case_of(one): one for one in self.instance.reference.parts}
        if not waiting:
            self.seat.do("finish")
            return
        part, again = parts[waiting[0]], waiting[0] in self.asked
        self.begin()
        assessed = self.assessed(part)
        found = self.found(assessed)
        self.save(part, found, assessed)
        decision = self.decision(found, again=again)
        if decision is _ASK and again:
            decision = _DENY
        if decision is _ASK:
            self.asked.add(waiting[0])
        self.conclude(part, decision, found)

    def assessed(self, part: ArenaReference) -> PolicyAssessment:
        """Return what everything shows that was sent of a case so far."""
        world, name = self.seat.offices, case_of(part)
        received = Received(world.received[name], world, part.case, name)
        return received.shows((*received.packet, *received.reply))

    def found(self, assessed: PolicyAssessment) -> Found:
        """Return the findings."""
        return {name: each.result for name, each in assessed.criteria.items()}

    def decision(self, found: Found, *, again: bool) -> MdReviewDecision:
        """Return the decision that findings call for.

        Args:
            found: The findings.
            again: Whether something was asked for about the case before.
        """
        if _NOT_MET in found.values():
            return _DENY
        return _ASK if _UNCLEAR in found.values() else _APPROVE

    def save(self, part: ArenaReference, found: Found, assessed: PolicyAssessment) -> None:
        """Write the findings down, each with the document it rests on."""
        shows = part.case.patient.chart.shows
        sources = {
            name: [page for page, facts in shows.items() if facts & set(each.facts)]
            for name, each in assessed.criteria.items()
        }
        named = {name: sources[name] for name, result in found.items() if result is not _UNCLEAR}
        self.seat.do("review.save_md_review", **_saving(case_of(part), found, named))

    def conclude(self, part: ArenaReference, decision: MdReviewDecision, found: Found) -> None:
        """Decide, with the grounds that the decision needs."""
        against = [name for name, result in found.items() if result is not _MET]
        named = ", ".join(against) or "C1, C2"
        given = _concluding(case_of(part), decision, named)
        if decision is _ASK:
            given = {
                "case_id": case_of(part),
                "decision": str(_ASK),
                "info_requested": f"document on {named}",
                "info_deadline": f"{pends.due(self.seat.world):%Y-%m-%d}",
            }
        self.seat.do("review.submit_md_case_decision", **given)


def case_of(part: ArenaReference) -> str:
    """Return the id of the case that something is right about."""
    return part.provider.drilled


def report_of(part: ArenaReference) -> str:
    """Return the id of a case's report."""
    _, report = part.case.patient.chart.shows
    return report


def papers_of(part: ArenaReference) -> tuple[str, ...]:
    """Return the ids of what is on file about a case besides its note."""
    return next(held.papers for held in HELD if held.case == case_of(part))


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


def first_named(part: ArenaReference) -> str:
    """Return a reason not to send a case, with the first criterion, whatever its note says."""
    return f"{Bar.CONTRADICTED}: {part.provider.policy.id}, C1"


def _withheld(instance: ArenaInstance, rng: np.random.Generator) -> Script:
    """Hold both back, with the first criterion for a reason."""
    held = [
        _finalized(one, "do_not_submit", override_reason=first_named(one))
        for one in instance.reference.parts
    ]
    return [*held, call("finish")]


def _sent(instance: ArenaInstance, rng: np.random.Generator) -> Script:
    """Send both, and all that is on file once something is asked."""
    parts = instance.reference.parts
    made: list[ToolCall] = []
    for one in parts:
        made.append(_finalized(one, "submit_pa"))
        made.append(call("auth.submit_authorization", case_id=case_of(one), channel="portal"))
    for one in parts:
        note = {"note": "As asked for.", "document_ids": list(papers_of(one))}
        made.append(call("auth.respond_to_pend", case_id=case_of(one), **note))
    return [*made, call("finish")]


def _finalized(part: ArenaReference, action: str, **more: object) -> ToolCall:
    return call(
        "auth.finalize_provider_determination",
        case_id=case_of(part),
        final_action=action,
        **more,
    )


def _decided(
    decision: MdReviewDecision, result: CriterionResult
) -> Baseline[Task, ArenaReference, WorldStart]:
    def script(instance: ArenaInstance, rng: np.random.Generator) -> Script:
        made: list[ToolCall] = []
        for one in instance.reference.parts:
            names, case = list(one.provider.postures), case_of(one)
            found = dict.fromkeys(names, result)
            made.append(call("review.save_md_review", **_saving(case, found, {})))
            concluding = _concluding(case, decision, ", ".join(names))
            made.append(call("review.submit_md_case_decision", **concluding))
        return [*made, call("finish")]

    return script


def _saving(case_id: str, found: Found, sources: Mapping[str, Sequence[str]]) -> dict[str, object]:
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
    return {"case_id": case_id, "line_number": 1, "evaluations": evaluations}


def _concluding(case_id: str, decision: MdReviewDecision, named: str) -> dict[str, object]:
    """Return the arguments that approve or deny, signed."""
    more = {"denial_rationale": named} if decision is _DENY else {}
    return {
        "case_id": case_id,
        "decision": str(decision),
        "determination_rationale": named,
        "signed_off": True,
        **more,
    }
